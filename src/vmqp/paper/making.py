"""One item from its name to its files."""

import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from vmqp.errors import InputError, InterruptedWarning
from vmqp.paper.catalogue import find
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.sources import sort_files
from vmqp.paper.write import unwritable, write_outcome
from vmqp.run.files import make_writable

__all__ = ["make"]


def make(
    name: str,
    *,
    out: str | os.PathLike[str],
    quick: bool = False,
    engine: Any = None,
    data: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    progress: bool | None = None,
    seed: int = 0,
) -> Outcome:
    """Make a figure or table of the paper and write it into ``out/name``.

    **Parameters**

    name
        One of `list_items`.
    out
        A directory; it is made if it is not there. The files are pictures (PNG and SVG), numbers (CSV), ``name.md``
        with what the paper shows, what we got and whether they agree, and ``name.json`` with seed, versions and time.
    quick
        A short run of under 90 s on two cores, whose text says so.
    engine
        Where chains run: "threads", "processes", "dask://host:port" or an executor; None chooses.
    data
        A file of winds or of gaits, or one of each, for the items that take them. Without, the wind data are downloaded
        (a quick run generates them) and the gait is generated.
    progress
        Show the chains' progress; None does so in a terminal.
    seed
        The same seed gives the same numbers, times aside.

    ``make("fig1", out="paper", quick=True)`` makes a first picture. A name that is not there is refused:

    >>> make("figg1", out="paper")
    Traceback (most recent call last):
    vmqp.errors.InputError: 'figg1' is not in the paper: did you mean 'fig1'? There are fig1, ...
    """
    item = find(name)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed is {seed!r}: give a whole number of at least 0.")
    files = sort_files(data)
    for kind, file in files.items():
        if kind not in item.data:
            takes = f"takes a table of {' or '.join(item.data)}" if item.data else "takes no data"
            raise InputError(f"{name} {takes}, and {file.name} is one of {kind}: leave it out.")
    folder = Path(out) / name
    if quick and _holds_full_run(folder / f"{name}.json"):
        raise InputError(
            f"{folder} holds a full run, which a short one would replace: give another directory with --out."
        )
    _make_folder(folder)
    setting = Setting(out=folder, quick=quick, engine=engine, progress=progress, seed=seed, **files)
    begin = time.perf_counter()
    outcome = _made(item.maker(), setting)
    write_outcome(name, item, outcome, setting, time.perf_counter() - begin)
    return outcome


def _holds_full_run(record: Path) -> bool:
    try:
        return json.loads(record.read_text(encoding="utf-8"))["quick"] is False
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _made(maker: Callable[[Setting], Outcome], setting: Setting) -> Outcome:
    """Draw in matplotlib's own style, whatever the user's, so that the pictures are the same everywhere.

    Chains that Ctrl-C stopped return what they have; a figure made of it would pass for a whole one.
    """
    import matplotlib.style

    with matplotlib.style.context("default"), warnings.catch_warnings():
        warnings.simplefilter("error", InterruptedWarning)
        try:
            return maker(setting)
        except InterruptedWarning as stopped:
            raise KeyboardInterrupt from stopped


def _make_folder(folder: Path) -> None:
    try:
        make_writable(folder)
    except OSError as error:
        raise unwritable(folder, error) from error
