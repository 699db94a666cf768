"""Files in a folder of one's own, and what they say about a time: the station's best file that holds it is believed."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pandas as pd

from vmqp.datasets.dwd.clock import said, stamps_to_utc
from vmqp.datasets.dwd.names import KINDS, LISTS, Source, is_list, source_of
from vmqp.datasets.dwd.product import find_row
from vmqp.datasets.dwd.station_list import latest, read_list
from vmqp.datasets.kept import TEMPORARY
from vmqp.errors import InputError

__all__ = ["Gathered", "best_first", "files_in", "gather", "remedy", "span", "stations_in"]


_DAY = len("20240501")


@dataclass
class Gathered:
    """What was found about a time."""

    rows: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Of each station with a row: FF_10 and DD_10."""
    reach: dict[Path, tuple[str, str]] = field(default_factory=dict)
    """First and last stamp of each file that has rows; of one that was not read, the days of its name."""
    asked: set[str] = field(default_factory=set)
    """Stations with files."""
    broken: dict[Path, InputError] = field(default_factory=dict)
    """Files that could not be read or fetched and were passed over, and why."""


def files_in(folder: str | os.PathLike[str]) -> tuple[list[Path], list[Source]]:
    """Find the lists and the files with rows in a folder, at any depth, best first."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError(
            f"folder is {os.fspath(folder)!r}, which is no folder: give one with the weather service's files."
        )
    # What another process is receiving is not there yet.
    found = sorted(path for path in root.rglob("*.*") if not path.parent.name.startswith(TEMPORARY))
    lists = [path for path in found if is_list(path.name)]
    sources = [source for path in found if (source := source_of(path)) is not None]
    return lists, best_first(sources)


def best_first(sources: Iterable[Source]) -> list[Source]:
    """Put files in the order in which they are believed."""
    return sorted(sources, key=lambda one: (KINDS.index(one.kind), one.path.suffix != ".zip"))


def stations_in(lists: list[Path], folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Read the lists of a folder as one."""
    if not lists:
        raise InputError(
            f"{os.fspath(folder)} has no list of stations: put {' or '.join(sorted(set(LISTS.values())))} there, which "
            "is beside the archives on the weather service's server."
        )
    return latest(map(read_list, lists))


def gather(sources: Iterable[Source], stamp: str, into: Gathered, *, skip_broken: bool) -> None:
    """Add the rows of a stamp, of stations that have none yet; only files that can hold it are read."""
    for source in sources:
        into.asked.add(source.station)
        if source.station in into.rows:
            continue
        if not source.may_hold(stamp, stamp):
            into.reach[source.path] = (str(source.begin), str(source.end))
            continue
        try:
            found = find_row(source, stamp)
        except InputError as error:
            if not skip_broken:
                raise remedy(error) from error
            into.broken[source.path] = error
            continue
        if found.first is not None and found.last is not None:
            into.reach[source.path] = (found.first, found.last)
        if found.row is not None:
            into.rows[source.station] = found.row


def remedy(error: InputError) -> InputError:
    """Add to an error about one file what can be done about it."""
    return InputError(
        f"{error} Get the file again, remove it, or give skip_broken=True to go on without such files."
    )


def span(reach: Iterable[tuple[str, str]]) -> str:
    """Say from when to when files reach, by their first and last stamps, or days where only a name tells."""
    ends = pd.Series([stamp for pair in reach for stamp in pair], dtype=str)
    times = stamps_to_utc(ends).dropna()
    days = pd.to_datetime(ends[ends.str.len() == _DAY], format="%Y%m%d", errors="coerce").dropna()
    if times.empty and days.empty:
        return "none was read that has rows"
    return f"the files reach from {_end(times, days, 'min')} to {_end(times, days, 'max')}"


def _end(times: pd.Series, days: pd.Series, side: Literal["min", "max"]) -> str:
    """The first or last time that was read, or the day of a name that reaches further."""
    read, named = (getattr(part, side)() for part in (times.dt.floor("D"), days))
    further = named < read if side == "min" else named > read
    if times.empty or further:
        return f"{named:%Y-%m-%d}"
    return said(getattr(times, side)())
