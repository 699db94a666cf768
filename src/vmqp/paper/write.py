"""An outcome on disk: PNG and SVG pictures, CSV numbers, NAME.md to read and NAME.json for machines.

Every file is whole or not there. NAME.json is taken away first and written last, so that where it is, all files
beside it belong to one run.
"""

import io
import json
import math
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vmqp._version import __version__
from vmqp.errors import InputError
from vmqp.paper.catalogue import Item
from vmqp.paper.frame import Outcome, Setting
from vmqp.run.files import write_whole

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["unwritable", "versions", "write_outcome"]

_DPI = 150
_SHOWN = 40, 12  # rows and columns; a larger table is only linked


def write_outcome(name: str, item: Item, outcome: Outcome, setting: Setting, seconds: float) -> list[Path]:
    """Write all files of an item into ``setting.out`` and return their paths, the text first."""
    text, facts = setting.out / f"{name}.md", setting.out / f"{name}.json"
    made: dict[Path, bytes] = {}
    for stem, figure in outcome.figures.items():
        for kind in ("png", "svg"):
            made[setting.out / f"{stem}.{kind}"] = _picture(figure, kind)
    for stem, table in outcome.tables.items():
        made[setting.out / f"{stem}.csv"] = table.to_csv(index=False, lineterminator="\n").encode()
    made[text] = _words(item, outcome, setting, seconds).encode()
    record = _record(name, item, outcome, setting, seconds, [path.name for path in made])
    made[facts] = (json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    try:
        facts.unlink(missing_ok=True)
        for path, content in made.items():
            write_whole(path, lambda file, content=content: file.write(content))  # type: ignore[misc]
    except OSError as error:
        raise unwritable(setting.out, error) from error
    return [text, *(path for path in made if path != text)]


def unwritable(folder: Path, error: OSError) -> InputError:
    """Say that a directory cannot be written to."""
    return InputError(
        f"{str(folder)!r} cannot be written to ({error.strerror or error}): give another directory with --out."
    )


def versions() -> dict[str, str]:
    """The versions that decide the numbers.

    >>> list(versions())
    ['vmqp', 'python', 'numpy', 'scipy', 'numba']
    """
    others = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {"vmqp": __version__, "python": platform.python_version(), **others}


def _picture(figure: "Figure", kind: str) -> bytes:
    """A figure as a file that is the same for the same figure: no date, no random identifiers."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": "vmqp"}
    with rc_context({"svg.hashsalt": "vmqp"}):
        figure.savefig(buffer, format=kind, dpi=_DPI, metadata=metadata)
    return buffer.getvalue()


def _words(item: Item, outcome: Outcome, setting: Setting, seconds: float) -> str:
    parts = [f"# {item.title}"]
    if setting.quick:
        parts.append("*A short run (`--quick`): its numbers are rougher than those of a full one.*")
    parts += [f"![{stem}]({stem}.png)" for stem in outcome.figures]
    parts += [
        f"**What the paper shows.** {outcome.paper}",
        f"**What we got.** {outcome.ours}",
        f"**Do they agree?** {outcome.agrees}",
        f"**Length.** {outcome.length}",
    ]
    for stem, table in outcome.tables.items():
        parts.append(f"Numbers: [{stem}.csv]({stem}.csv)")
        if table.shape[0] <= _SHOWN[0] and table.shape[1] <= _SHOWN[1]:
            parts.append(_markdown(table))
    made = ", ".join(f"{name} {number}" for name, number in versions().items())
    parts.append(f"Made in {seconds:.0f} s with {made}; seed {setting.seed}.")
    return "\n\n".join(parts) + "\n"


def _markdown(table: "pd.DataFrame") -> str:
    """A table as markdown.

    >>> import pandas as pd
    >>> print(_markdown(pd.DataFrame({"m": [5], "l": [0.123456]})))
    | m | l |
    | ---: | ---: |
    | 5 | 0.1235 |
    """
    rows = [[str(column) for column in table.columns], ["---:"] * len(table.columns)]
    rows += [[_cell(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "–"
    return str(value).replace("|", "\\|")


def _record(
    name: str, item: Item, outcome: Outcome, setting: Setting, seconds: float, files: list[str]
) -> dict[str, Any]:
    return {
        "name": name,
        "title": item.title,
        "quick": setting.quick,
        "seed": setting.seed,
        "seconds": round(seconds, 2),
        "versions": versions(),
        "agrees": outcome.agrees,
        "length": outcome.length,
        "facts": _plain(outcome.facts),
        "files": files,
    }


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as JSON knows them: NumPy's numbers as Python's, and none for what is not finite."""
    plain = {key: value.item() if hasattr(value, "item") else value for key, value in facts.items()}
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in plain.items()
    }
