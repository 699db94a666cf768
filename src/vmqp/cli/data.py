"""What `vmqp data` does: get a table, write it whole or not at all, and say how to predict from it."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.table import Table
from rich.text import Text

from vmqp.cli.data_catalogue import DWD_FILES, MADE, READ
from vmqp.cli.errors import DONE, INTERRUPTED, in_shell_words, said
from vmqp.cli.options import at_least
from vmqp.cli.output import Terminal
from vmqp.errors import InputError
from vmqp.run.files import write_whole
from vmqp.tables.words import listed, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Given", "print_list", "write_dwd", "write_grid", "write_made", "write_ndbc"]

_ANGLES = {"wind": "direction", "waves": "wave_direction"}
_PLACES = "--inputs lon,lat --period 360 --metric geographic --compass --holdout 0.2"


@dataclass(frozen=True)
class Given:
    """Where the table goes, and where notes go."""

    out: str
    overwrite: bool
    terminal: Terminal


def print_list(terminal: Terminal) -> int:
    """Print what there is."""
    table = Table("command", "what", "angle and period", box=None, pad_edge=False)
    for name, what, angle in READ:
        table.add_row(Text(f"vmqp data {name}"), Text(what), Text(angle))
    for name, made in MADE.items():
        table.add_row(Text(f"vmqp data make {name}"), Text(made.what), Text(made.angle))
    table.add_row(
        Text(f"vmqp data make {DWD_FILES}"), Text("generated files in the format of vmqp data dwd"), Text("")
    )
    terminal.print_table(table)
    return DONE


def write_dwd(
    given: Given,
    at: str,
    folder: str | None,
    *,
    stations: Sequence[str] | None,
    keep_calm: bool,
    skip_broken: bool,
    url: str | None,
    cache: str | None,
) -> int:
    """Write the wind of the German stations at one time."""
    from vmqp.datasets import dwd

    if folder is not None and (url is not None or cache is not None):
        raise InputError(
            "--folder reads files that are there, --url and --cache are for downloads: give either."
        )
    more: dict[str, Any] = {"skip_broken": skip_broken, "calm": "keep" if keep_calm else "drop"}
    if url is not None:
        more["url"] = url

    def get() -> pd.DataFrame:
        return dwd.snapshot(
            at, folder=folder, stations=stations, cache=cache, progress=given.terminal.progress, **more
        )

    return _write(given, get, f"--angle direction {_PLACES}")


def write_ndbc(given: Given, file: str | None, angle: str, *, url: str | None, cache: str | None) -> int:
    """Write the newest wind or waves of NOAA's buoys."""
    from vmqp.datasets import ndbc

    if angle not in _ANGLES:
        near = nearest(angle, _ANGLES)
        raise InputError(f"--angle {angle!r} is not known: did you mean {near}? Give wind or waves.")
    if file is not None and (url is not None or cache is not None):
        raise InputError("a FILE is read as it is, --url and --cache are for downloads: give either.")
    column = _ANGLES[angle]

    def get() -> pd.DataFrame:
        if file is not None:
            frame = ndbc.read_latest(file)
        else:
            frame = ndbc.latest(cache=cache) if url is None else ndbc.latest(url=url, cache=cache)
        whole = frame.dropna(subset=[column]).reset_index(drop=True)
        whole.attrs["left_out"] = {f"no direction of {angle}": len(frame) - len(whole)}
        return whole

    return _write(given, get, f"--angle {column} {_PLACES}")


def write_grid(
    given: Given,
    file: str,
    at: str | None,
    *,
    names: Mapping[str, str | None],
    convention: str,
    every: int,
    select: Sequence[str],
) -> int:
    """Write directions and speeds of gridded components; `names` are those of u, v, lon and lat."""
    from vmqp.datasets import gridded

    at_least(every, 1, "--every", "it is a step along the grid")
    chosen = dict(_read_choice(text) for text in select)

    def get() -> pd.DataFrame:
        more: dict[str, Any] = {"convention": convention, **names}
        frame = gridded.wind_table(file, time=at, every=every, select=chosen, **more)
        whole = frame.dropna(subset=["direction"]).reset_index(drop=True)
        whole.attrs["left_out"] = {"no wind, or nothing at the point": len(frame) - len(whole)}
        return whole

    places = _PLACES if convention != "math" else _PLACES.replace(" --compass", "")
    return _write(given, get, f"--angle direction {places}")


def _read_choice(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; the value is a number if it can be."""
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (name and sign and value):
        raise InputError(f"--select {text!r} is no choice: give NAME=VALUE, such as level=850.")
    try:
        return name, float(value)
    except ValueError:
        return name, value


def write_made(given: Given, name: str, seed: int) -> int:
    """Write generated data, a classical set, or generated files of the German weather service."""
    at_least(seed, 0, "--seed", "it numbers a stream of random numbers")
    if name == DWD_FILES:
        return _write_files(given, seed)
    if name not in MADE:
        names = [*MADE, DWD_FILES]
        raise InputError(
            f"there is no generated data {name!r}: did you mean {nearest(name, names)!r}? The names are "
            f"{listed(names)}."
        )
    return _write(given, lambda: MADE[name].frame(seed), MADE[name].predict)


def _write_files(given: Given, seed: int) -> int:
    from vmqp.datasets import dwd

    if not given.overwrite and Path(given.out).is_dir() and any(Path(given.out).iterdir()):
        raise InputError(
            f"--out {given.out!r} is there already: give --overwrite to replace an earlier example in it, or another "
            "name."
        )
    time = "2024-05-01T12:00"
    dwd.write_example(given.out, time, seed=seed)
    table = f"vmqp data dwd --folder {shlex.quote(given.out)} --at {time} --out snapshot.csv"
    if given.terminal.as_json:
        given.terminal.print_json({"exit_code": DONE, "folder": given.out, "next": table})
    given.terminal.say(
        f"{given.out}: generated files of invented stations, around {time} UTC.", f"next: {table}"
    )
    return DONE


def _write(given: Given, get: "Callable[[], pd.DataFrame]", predict: str) -> int:
    """Get a table and write it; what is wrong with the place is said before the work begins."""
    with _writable(given.out):
        out = _checked_place(given.out, given.overwrite)
    try:
        with said():
            frame = get()
    except KeyboardInterrupt:
        given.terminal.fail(f"stopped; {given.out} was not written.", INTERRUPTED)
        return INTERRUPTED
    if frame.empty:
        raise InputError(
            f"nothing is left to write, and {given.out} was not written. Left out: {_left_out(frame)}."
        )
    digits = frame.select_dtypes("float").round(6)
    text = frame.assign(**digits).to_csv(index=False, lineterminator="\n").encode()
    with _writable(given.out):
        write_whole(out, lambda file: file.write(text))
    _tell(given, frame, predict)
    return DONE


def _tell(given: Given, frame: pd.DataFrame, predict: str) -> None:
    """Say what was written, what was not, and what can be done with it."""
    terminal = given.terminal
    # Stations report at times of their own; on a grid several times are several maps.
    times = frame["time"].nunique() if "time" in frame and "station" not in frame else 1
    command = f"vmqp predict {shlex.quote(given.out)} {predict}" if predict and times == 1 else None
    broken: Sequence[str] = frame.attrs.get("broken", [])
    if terminal.as_json:
        told: dict[str, Any] = {"exit_code": DONE, "file": given.out, "rows": len(frame)}
        terminal.print_json({**told, "left_out": _missed(frame), "broken": broken, "next": command})
    rows = "1 row" if len(frame) == 1 else f"{len(frame)} rows"
    terminal.say(f"{given.out}: {rows} of {', '.join(map(str, frame.columns))}.")
    if _missed(frame):
        terminal.say(f"left out: {_left_out(frame)}.")
    terminal.say(*(f"passed over: {in_shell_words(sentence)}" for sentence in broken))
    if times > 1:
        terminal.say(
            f"there are {times} times: give --at TIME for a map of one, or make numbers of the times for an input."
        )
    if command:
        terminal.say(f"next: {command}")


def _missed(frame: pd.DataFrame) -> dict[str, int]:
    """How many rows were left out, by reason."""
    return {reason: count for reason, count in frame.attrs.get("left_out", {}).items() if count}


def _left_out(frame: pd.DataFrame) -> str:
    return ", ".join(f"{reason} ({count})" for reason, count in _missed(frame).items())


@contextmanager
def _writable(place: str) -> Iterator[None]:
    """Say what is wrong with a place in which nothing can be written."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"--out {place!r} cannot be written ({error.strerror or error}): give another place."
        ) from error


def _checked_place(text: str, overwrite: bool) -> Path:
    """The file to write: a .csv in a directory that is there."""
    path = Path(text)
    if path.suffix.lower() != ".csv":
        raise InputError(f"--out {text!r} is no name of a table: give one that ends in .csv.")
    if path.is_dir():
        raise InputError(f"--out {text!r} is a directory: give the name of a file in it.")
    if not path.parent.is_dir():
        raise InputError(f"--out {text!r}: there is no directory {str(path.parent)!r}; make it first.")
    if path.exists() and not overwrite:
        raise InputError(f"--out {text!r} is there already: give --overwrite to replace it, or another name.")
    return path
