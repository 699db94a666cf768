"""The wind at all stations at one time, as a table that `vmqp predict` takes."""

import os
from collections.abc import Iterable
from typing import Any, Literal

import pandas as pd

from vmqp.datasets.dwd.clock import said, stamp_of, ten_minutes
from vmqp.datasets.dwd.names import Source, source_of
from vmqp.datasets.dwd.server import kinds_for, may_have_grown, open_server
from vmqp.datasets.dwd.shelf import Gathered, files_in, gather, span, stations_in
from vmqp.datasets.dwd.wanted import only, wanted_stations
from vmqp.datasets.dwd.wind import CALM, MISSING, VARIABLE, understood
from vmqp.errors import InputError
from vmqp.tables.words import shown

__all__ = ["snapshot"]

_COLUMNS = ["station", "lon", "lat", "elevation", "speed", "direction"]


def snapshot(
    time: Any,
    *,
    folder: str | os.PathLike[str] | None = None,
    stations: Iterable[str | int] | str | int | None = None,
    url: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    calm: Literal["drop", "keep"] = "drop",
    skip_broken: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Return the wind at one time: station, lon, lat, elevation (m), speed (m/s), direction.

    Directions are in degrees, 0 ≤ d < 360, clockwise from north, and say where the wind comes from. Calm, variable and
    missing wind has none and is left out; ``calm="keep"`` keeps calm and variable wind, with a blank direction.
    ``attrs["left_out"]`` of the table counts what was left out, by reason, and ``attrs["broken"]`` has a sentence for
    each file that was passed over.

    `time` is text, a datetime or a Timestamp, in UTC if it has no zone, and a multiple of ten minutes. `stations`
    limits the answer to some numbers. With `folder`, files that you have are read: archives or unpacked products, and
    a list of stations, at any depth. Without, they are fetched from `url` (None is the environment variable
    VMQP_DWD_URL, or else the weather service's own server) into the user's cache, or the folder `cache`; that needs the
    package pooch (``pip install "vmqp[data]"``). A file that cannot be read is an error; ``skip_broken=True`` goes on
    without. `progress` True shows a bar of the downloads, False none, None one on a terminal.

    Where several files of a station have the time, one in a folder is the historical before the recent before today's.
    A download goes by size: today's and recent archives are asked first, and the historical for what they lack.

    >>> import tempfile
    >>> from vmqp.datasets.dwd import snapshot, write_example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_example(folder, "2024-05-01T12:00", stations=30)
    ...     table = snapshot("2024-05-01T14:00+02:00", folder=folder)
    >>> table.columns.tolist()
    ['station', 'lon', 'lat', 'elevation', 'speed', 'direction']
    >>> len(table), table.attrs["left_out"]["calm"]
    (27, 1)
    """
    moment = ten_minutes(time)
    if calm not in ("drop", "keep"):
        raise InputError(f"calm is {shown(calm)}: give 'drop' or 'keep'.")
    wanted = wanted_stations(stations)
    stamp = stamp_of(moment)
    if stamp is None:
        raise InputError(
            f"time is {said(moment)}, which the files cannot tell: they go from UTC+1 to UTC at the turn to 2000. Give "
            "a time up to 1999-12-31T22:50Z or from 2000-01-01T00:00Z."
        )
    if folder is not None:
        table, gathered = _from_folder(folder, stamp, wanted, skip_broken)
        place = os.fspath(folder)
    else:
        table, gathered = _from_server(moment, stamp, wanted, url, cache, skip_broken, progress)
        place = "the server"
    if not gathered.rows and gathered.broken:
        raise next(iter(gathered.broken.values()))
    if not gathered.rows:
        raise InputError(
            f"no file in {place} has a row at {said(moment)}: {span(gathered.reach.values())}. Give a time within."
        )
    return _joined(moment, table, gathered, wanted, calm)


def _from_folder(
    folder: str | os.PathLike[str], stamp: str, wanted: set[str] | None, skip_broken: bool
) -> tuple[pd.DataFrame, Gathered]:
    lists, sources = files_in(folder)
    if not sources:
        raise InputError(
            f"{os.fspath(folder)} has no files of 10-minute wind: put archives such as "
            "10minutenwerte_wind_00003_akt.zip there, or the files produkt_zehn_min_ff_....txt in them."
        )
    table, gathered = stations_in(lists, folder), Gathered()
    gather(only(wanted, sources, table["station"]), stamp, gathered, skip_broken=skip_broken)
    return table, gathered


def _from_server(
    moment: pd.Timestamp,
    stamp: str,
    wanted: set[str] | None,
    url: str | None,
    cache: str | os.PathLike[str] | None,
    skip_broken: bool,
    progress: bool | None,
) -> tuple[pd.DataFrame, Gathered]:
    kinds, server, gathered = kinds_for(moment), open_server(url, cache), Gathered()
    table = server.stations(kinds)
    for kind in kinds:
        sources = [
            one for one in only(wanted, server.sources(kind), table["station"]) if one.may_hold(stamp, stamp)
        ]
        sources = [one for one in sources if one.station not in gathered.rows]
        have = {one for one in sources if server.has(one)}
        gather(sorted(have, key=lambda one: one.path), stamp, gathered, skip_broken=skip_broken)
        missing = [one for one in sources if one.station not in gathered.rows]
        need = [one for one in missing if one not in have or _may_have_grown(one, stamp, moment, gathered)]
        failed = server.fetch(need, progress=progress, skip_broken=skip_broken)
        gathered.broken |= failed
        gather([one for one in need if one.path not in failed], stamp, gathered, skip_broken=skip_broken)
    return table, gathered


def _may_have_grown(source: Source, stamp: str, moment: pd.Timestamp, gathered: Gathered) -> bool:
    _, last = gathered.reach.get(source.path, ("", ""))
    return last < stamp and may_have_grown(source, moment)


def _joined(
    moment: pd.Timestamp, table: pd.DataFrame, gathered: Gathered, wanted: set[str] | None, calm: str
) -> pd.DataFrame:
    rows = pd.DataFrame(
        [(station, *wind) for station, wind in gathered.rows.items()], columns=["station", "ff", "dd"]
    )
    rows = pd.concat([rows[["station"]], understood(rows["ff"], rows["dd"])], axis=1)
    day = moment.floor("D")
    # An end is the day up to which rows are there; the last may not be in the list yet.
    running = table[(table["begin"] <= day) & ~(table["end"] + pd.Timedelta(days=1) < day)]["station"]
    expected = gathered.asked | (set(running) if wanted is None else set(running) & wanted)
    known = rows["station"].isin(table["station"])
    dropped = (MISSING,) if calm == "keep" else (CALM, VARIABLE, MISSING)
    left_out = {
        note: int((known & (rows["note"] == note)).sum()) if note in dropped else 0
        for note in (CALM, VARIABLE, MISSING)
    }
    lost = {one.station for path in gathered.broken if (one := source_of(path)) is not None}
    left_out["no file at that time"] = len(expected - lost - set(rows["station"]))
    left_out["not in the station list"] = int((~known).sum())
    left_out["broken file"] = len(lost - set(rows["station"]))
    kept = rows[known & ~rows["note"].isin(dropped)].merge(table, on="station").sort_values("station")
    answer = kept[_COLUMNS].reset_index(drop=True)
    answer.attrs = {
        "time": said(moment),
        "left_out": left_out,
        "broken": [str(error) for error in gathered.broken.values()],
    }
    return answer
