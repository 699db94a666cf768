"""The wind at one station over time, and the list of stations."""

import os
from pathlib import Path
from typing import Any

import pandas as pd

from vmqp.datasets.dwd.clock import FORMAT, said, utc
from vmqp.datasets.dwd.names import KINDS, Source
from vmqp.datasets.dwd.product import read_rows
from vmqp.datasets.dwd.server import kinds_for, may_have_grown, open_server, utc_now
from vmqp.datasets.dwd.shelf import best_first, files_in, remedy, stations_in
from vmqp.datasets.dwd.wanted import station_number
from vmqp.datasets.dwd.wind import understood
from vmqp.errors import InputError
from vmqp.tables.words import nearest

__all__ = ["series", "stations"]

_LONG_AGO, _FAR_OFF = pd.Timestamp("1900-01-01"), pd.Timestamp("2200-01-01")


def stations(
    folder: str | os.PathLike[str] | None = None,
    *,
    url: str | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    """Return the list of stations: station, name, state, lon, lat, elevation (m), begin, end (NaT where it is missing).

    From the lists in a folder, at any depth, or else from the server, as in `snapshot`. A station that several lists
    have is as the one says that reaches furthest.

    >>> import tempfile
    >>> from vmqp.datasets.dwd import stations, write_example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_example(folder, stations=30)
    ...     stations(folder).columns.tolist()
    ['station', 'name', 'state', 'lon', 'lat', 'elevation', 'begin', 'end']
    """
    if folder is None:
        return open_server(url, cache).stations(["hist"])
    lists, _ = files_in(folder)
    return stations_in(lists, folder)


def series(
    station: str | int,
    start: Any = None,
    end: Any = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    url: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    skip_broken: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Return the wind at one station: time (UTC), speed (m/s), direction, note; a row for each ten minutes there are.

    Directions are as in `snapshot`; where there is none it is blank and `note` is 'calm', 'variable' or 'missing', and
    else ''. `start` and `end` are times as in `snapshot`, both included; without them all is read that there is. The
    other arguments are those of `snapshot`.

    >>> import tempfile
    >>> from vmqp.datasets.dwd import series, write_example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_example(folder, "2024-05-01T12:00", stations=30)
    ...     wind = series(90001, "2024-05-01T11:30", "2024-05-01T12:00", folder=folder)
    >>> wind.columns.tolist(), len(wind)
    (['time', 'speed', 'direction', 'note'], 4)
    """
    number = station_number(station)
    first = _LONG_AGO if start is None else utc(start, "start")
    last = _FAR_OFF if end is None else utc(end, "end")
    if first > last:
        raise InputError(f"start is {said(first)} and end {said(last)}: give a start before the end.")
    broken: dict[Path, InputError] = {}
    if folder is not None:
        place, sources = os.fspath(folder), files_in(folder)[1]
        sources = _of_station(sources, number, first, last, place)
    else:
        place = "the server's folders"
        sources, broken = _from_server(number, first, last, url, cache, skip_broken, progress)
    tables, spans = [], []
    for source in sources:
        if source.path in broken:
            continue
        try:
            rows = read_rows(source)
        except InputError as error:
            if not skip_broken:
                raise remedy(error) from error
            continue
        if len(rows):
            spans += [rows["time"].min(), rows["time"].max()]
            tables.append(rows[rows["time"].between(first, last)])
    # Files of the better kind come first, and of two rows of one time the first is kept.
    joined = pd.concat(tables).drop_duplicates("time").sort_values("time") if tables else pd.DataFrame()
    if joined.empty and broken:
        raise next(iter(broken.values()))
    if joined.empty:
        reach = (
            f"its files there reach from {said(min(spans))} to {said(max(spans))}"
            if spans
            else "none was read"
        )
        raise InputError(
            f"no file in {place} has a row of station {number} within the times asked for: {reach}."
        )
    joined = joined.reset_index(drop=True)
    wind = understood(joined["ff"], joined["dd"])
    wind.insert(0, "time", joined["time"].dt.tz_localize("UTC"))
    return wind


def _of_station(
    sources: list[Source], number: str, first: pd.Timestamp, last: pd.Timestamp, place: str
) -> list[Source]:
    """The files of a station that can hold a time between two."""
    own = [one for one in sources if one.station == number]
    if not own:
        every = sorted({one.station for one in sources})
        near = f": did you mean {nearest(number, every)!r}?" if every else "."
        raise InputError(f"{place} has no file of station {number}{near}")
    # The names are in the clock of the stamps, which is within the day that may_hold allows.
    return [one for one in own if one.may_hold(first.strftime(FORMAT), last.strftime(FORMAT))]


def _from_server(
    number: str,
    first: pd.Timestamp,
    last: pd.Timestamp,
    url: str | None,
    cache: str | os.PathLike[str] | None,
    skip_broken: bool,
    progress: bool | None,
) -> tuple[list[Source], dict[Path, InputError]]:
    """Fetch what is not kept; return all files of the station for the times, and why some could not be fetched."""
    server, now = open_server(url, cache), utc_now()
    kinds = {kind for moment in (first, min(last, now)) for kind in kinds_for(moment)}
    # Between a time that old archives hold and one that today's hold, there are those of the recent.
    sources = best_first(
        one for kind in KINDS if kind in kinds or kind == "akt" for one in server.sources(kind)
    )
    sources = _of_station(sources, number, first, last, server.url)
    need = [one for one in sources if not server.has(one) or may_have_grown(one, min(last, now))]
    return sources, server.fetch(need, progress=progress, skip_broken=skip_broken)
