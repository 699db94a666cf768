"""Content to one HTML file that needs nothing else: no network, no fonts, no scripts but its own.

The page carries a Content-Security-Policy that names the hash of its one script and of its one style sheet, so a
browser runs and loads nothing else, whatever the data hold.
"""

import base64
import hashlib
import os
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from vmqp.errors import InputError
from vmqp.report.content import Column, Content, Picture
from vmqp.run.files import write_whole

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["render", "write"]


def render(content: Content) -> str:
    """The page as text.

    >>> from vmqp.report.content import Column, Predictions, Verdict
    >>> table = Predictions((Column("<b>", digits=0),), ((35.2,),))
    >>> page = render(Content("Wind", (), Verdict(True, "These predictions can be trusted"), table))
    >>> page.startswith("<!doctype html>"), "&lt;b&gt;" in page, "<b>" in page
    (True, True, False)
    """
    from markupsafe import Markup

    style, script = _part("page.css") + _alignment(content.predictions.columns), _part("page.js")
    policy = "; ".join(
        [
            "default-src 'none'",
            "img-src data:",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    # Both files are our own, and neither holds an end tag: they are the only text that is not escaped.
    return _template().render(
        content=content, policy=policy, style=Markup(style), script=Markup(script), address=_address
    )


def write(content: Content, path: str | os.PathLike[str]) -> Path:
    """Write the page: the file is whole or not there.

    >>> import tempfile
    >>> from vmqp.report.content import Column, Predictions, Verdict
    >>> table = Predictions((Column("mean"),), ((35.2,),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Content("Wind", (), Verdict(False, "Not yet"), table), Path(folder, "report.html")).name
    'report.html'
    """
    target = Path(path)
    check_writable(target)
    page = render(content).encode("utf-8", errors="replace")
    try:
        write_whole(target, lambda file: file.write(page))
    except OSError as error:
        raise InputError(_refusal(target, error.strerror or str(error))) from error
    return target


def check_writable(path: Path) -> None:
    """Refuse a path that cannot be a file, before any work is done for it."""
    if path.is_dir():
        raise InputError(_refusal(path, "it is a directory"))
    if not path.parent.is_dir():
        raise InputError(_refusal(path, f"there is no directory {str(path.parent)!r}"))


def _refusal(path: Path, reason: str) -> str:
    return (
        f"The report cannot be written to {str(path)!r} ({reason}); "
        "give the path of a file in a directory that exists and can be written to."
    )


@cache
def _part(name: str) -> str:
    """A file of this room; its line ends are those that a browser hashes."""
    return resources.files("vmqp.report").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_part("page.html.jinja"))


def _alignment(columns: tuple[Column, ...]) -> str:
    """Rules that put numbers to the right; a class in each of many cells would weigh more than all of them."""
    table = "#predictions-table"
    cells = [
        # The script puts the dials into the second column.
        f"{table}:not(.dialled) td:nth-child({place}), {table}.dialled td:nth-child({place + (place > 1)})"
        for place, column in enumerate(columns, 1)
        if column.numeric
    ]
    return f"{', '.join(cells)} {{ text-align: right; white-space: nowrap; }}\n" if cells else ""


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _address(picture: Picture) -> str:
    """The picture itself, as an address."""
    return f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode()}"
