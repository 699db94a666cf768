"""Options whose text has a meaning of its own: lists of columns, grids, shares, times, engines.

Each function returns the value, or raises an error that names the option, what was given and what to give instead.
"""

import csv
import math
import re

from vmqp.errors import InputError

__all__ = [
    "at_least",
    "engine_for",
    "number_or_name",
    "read_columns",
    "read_engine",
    "read_grid",
    "read_seconds",
    "read_share",
]

_GRID = re.compile(r"\s*(\d{1,6})\s*[xX×]\s*(\d{1,6})\s*")
_TIME = re.compile(r"(?:(\d+(?:\.\d*)?)h)?(?:(\d+(?:\.\d*)?)m(?:in)?)?(?:(\d+(?:\.\d*)?)s?)?")
_MANY = 100  # places, from which an iteration takes longer than threads can share
_DASK = re.compile(r"(?:dask|tcp)://\S+:\d+")


def read_columns(text: str, option: str = "--inputs") -> list[str]:
    """Read the names of columns with commas between; a name with a comma in it stands in quotation marks.

    >>> read_columns('lon, lat,"height, m"')
    ['lon', 'lat', 'height, m']
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise InputError(
            f"{option} {text!r} cannot be read ({error}): give names with commas between."
        ) from error
    names = [name.strip() for row in rows for name in row]
    if not names or not all(names):
        raise InputError(
            f"{option} {text!r} has a name that is empty: give names with commas between, as in lon,lat."
        )
    return names


def number_or_name(text: str) -> float | str:
    """Read a period: a number, or else the name of a unit as it is.

    >>> number_or_name("360"), number_or_name("hours")
    (360.0, 'hours')
    """
    try:
        return float(text)
    except ValueError:
        return text


def read_grid(text: str) -> tuple[int, int]:
    """Read the size of a grid: places along the first input, and along the second.

    >>> read_grid("60x40")
    (60, 40)
    """
    match = _GRID.fullmatch(text)
    sizes = (int(match[1]), int(match[2])) if match else (0, 0)
    if min(sizes) < 2:
        raise InputError(
            f"--grid {text!r} is not a size: give two numbers of at least 2 with an x between, as in --grid 60x40 for "
            "60 places along the first input and 40 along the second."
        )
    return sizes


def read_share(text: str, option: str) -> float:
    """Read a share of the rows, between 0 and 1.

    >>> read_share("0.2", "--holdout")
    0.2
    """
    share = _number(text)
    if 0.0 < share < 1.0:
        return share
    likely = f"{share / 100:g}" if 1.0 <= share < 100.0 else "0.2"
    raise InputError(
        f"{option} {text!r} is not a share of the rows: give a number between 0 and 1, as in {option} {likely}."
    )


def read_seconds(text: str) -> float:
    """Read a time: seconds, or hours, minutes and seconds with their letters.

    >>> read_seconds("90"), read_seconds("10m"), read_seconds("1h30m")
    (90.0, 600.0, 5400.0)
    """
    match = _TIME.fullmatch(text.replace(" ", ""))
    parts = [float(part or 0.0) for part in match.groups()] if match else [0.0]
    seconds = sum(part * unit for part, unit in zip(parts, (3600.0, 60.0, 1.0), strict=False))
    if not 0.0 < seconds < 1e9:
        raise InputError(f"--time-limit {text!r} is not a time: give seconds, as in 600, or 10m, or 1h30m.")
    return seconds


def read_engine(text: str) -> str:
    """Read where chains are run.

    >>> read_engine("dask://localhost:8786")
    'dask://localhost:8786'
    """
    if text in ("auto", "threads", "processes") or _DASK.fullmatch(text):
        return text
    raise InputError(
        f"--engine {text!r} is not known: give auto, threads, processes, or dask://host:port of a scheduler."
    )


def engine_for(engine: str, places: int) -> str:
    """Choose an engine where that was left to us: processes do not wait for each other, but take seconds to start.

    >>> engine_for("auto", 50), engine_for("auto", 500), engine_for("threads", 500)
    ('threads', 'processes', 'threads')
    """
    if engine != "auto":
        return engine
    return "processes" if places >= _MANY else "threads"


def at_least(value: float, least: float, option: str, why: str) -> None:
    """Refuse a number that is too small.

    >>> at_least(1, 2, "--chains", "chains are compared with each other")
    Traceback (most recent call last):
    vmqp.errors.InputError: --chains is 1, but chains are compared with each other: give 2 or more.
    """
    if not (math.isfinite(value) and value >= least):
        raise InputError(f"{option} is {value:g}, but {why}: give {least:g} or more.")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
