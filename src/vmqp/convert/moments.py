"""Dates and times at the door: what a person has them in becomes the clock on the wall, and the instant in UTC.

>>> moments = read_moments(["2024-07-01T12:00+02:00", None], "times")
>>> moments.wall.astype(str).tolist(), moments.instant.astype(str).tolist()
(['2024-07-01T12:00:00.000000', 'NaT'], ['2024-07-01T10:00:00.000000', 'NaT'])
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from vmqp.errors import InputError
from vmqp.tables.cells import sort_of
from vmqp.tables.delimited import MISSING
from vmqp.tables.words import nearest, shown

__all__ = ["Moments", "read_moments", "read_zone"]

_ISO = re.compile(r"\d{4}-?\d\d-?\d\d([T ].*)?")
_MISSING = {*MISSING, "NaT"}
_EXAMPLE = (
    "give times such as '2024-03-01 06:30', or read them first with pandas.to_datetime and its `format`."
)


@dataclass(frozen=True, eq=False)
class Moments:
    """Times, in microseconds; NaT where one is missing."""

    wall: NDArray[np.datetime64]
    """What their own clock shows."""
    instant: NDArray[np.datetime64]
    """What a clock in UTC shows; where no offset is known, their own clock."""
    aware: bool | None
    """Whether they know their offset from UTC; None where all are missing."""

    def in_zone(self, zone: tzinfo) -> NDArray[np.datetime64]:
        """Return what a clock in the zone shows.

        >>> moments = read_moments("2024-01-01T23:30Z", "times")
        >>> moments.in_zone(read_zone("Asia/Tokyo")).astype("datetime64[m]").item().isoformat()
        '2024-01-02T08:30:00'
        """
        utc = pd.DatetimeIndex(self.instant.ravel()).tz_localize("UTC")
        return _microseconds(utc.tz_convert(zone).tz_localize(None)).reshape(self.instant.shape)


def read_moments(times: Any, name: str) -> Moments:
    """Read one time or many: texts as in ISO 8601, datetime objects, datetime64, pandas or polars columns.

    >>> read_moments([2024], "times")
    Traceback (most recent call last):
    vmqp.errors.InputError: times holds 2024 at index 0, where a date and time is needed: ...
    """
    if isinstance(times, np.ma.MaskedArray):
        hidden, times = np.ma.getmaskarray(times), np.array(times.data)
        times = times if times.dtype.kind == "M" else times.astype(object)
        times[hidden] = None
    if isinstance(times, pd.Series | pd.Index):
        index = pd.Index(times)
        if isinstance(index, pd.DatetimeIndex):
            return _from_index(index)
        cells = np.array([*index.tolist(), None], dtype=object)[:-1]
    elif getattr(getattr(times, "dtype", None), "kind", "") == "M":
        clock = _from_datetime64(np.asarray(times), name)
        return Moments(clock, clock, False if not np.isnat(clock).all() else None)
    elif isinstance(times, np.ndarray):
        cells = times.astype(object)
    elif isinstance(times, str | date) or not hasattr(times, "__iter__"):
        cells = np.empty((), dtype=object)
        cells[()] = times
    else:
        # A polars column has `to_list`, whose times keep their zone.
        values = list(times.to_list() if hasattr(times, "to_list") else times)
        cells = np.empty(len(values), dtype=object)
        cells[:] = values
    return _from_cells(cells, name)


def read_zone(timezone: Any) -> tzinfo:
    """Return the time zone of a name such as "Europe/Berlin".

    >>> read_zone("Europe/Berlim")
    Traceback (most recent call last):
    vmqp.errors.InputError: timezone is 'Europe/Berlim', which is not known: did you mean 'Europe/Berlin'?
    """
    if isinstance(timezone, tzinfo):
        return timezone
    try:
        return ZoneInfo(timezone)
    except (KeyError, ValueError, TypeError, OSError):
        near = nearest(timezone, sorted(available_timezones())) if isinstance(timezone, str) else "UTC"
        raise InputError(
            f"timezone is {shown(timezone)}, which is not known: did you mean {near!r}?"
        ) from None


def _from_datetime64(times: NDArray[Any], name: str) -> NDArray[np.datetime64]:
    """Return times of any unit in microseconds; what has no unit or does not fit is refused."""
    if np.datetime_data(times.dtype)[0] == "generic" and not np.isnat(times).all():
        raise InputError(f"{name} are of type {times.dtype}, which has no unit: {_EXAMPLE}")
    clock = times.astype("datetime64[us]")
    years = times[~np.isnat(times)].astype("datetime64[Y]").astype(np.int64) + 1970
    if years.size and (years.min() < 1 or years.max() > 9999):
        raise InputError(
            f"{name} are in the years {years.min()} to {years.max()}: give years from 1 to 9999."
        )
    return clock


def _from_index(index: pd.DatetimeIndex) -> Moments:
    empty = bool(index.isna().all())
    if index.tz is None:
        clock = _microseconds(index)
        return Moments(clock, clock, None if empty else False)
    return Moments(
        _microseconds(index.tz_localize(None)),
        _microseconds(index.tz_convert("UTC").tz_localize(None)),
        None if empty else True,
    )


def _from_cells(cells: NDArray[Any], name: str) -> Moments:
    wall = np.full(cells.shape, "NaT", dtype="datetime64[us]")
    instant = wall.copy()
    first: dict[bool, Any] = {}
    for place in np.ndindex(cells.shape):
        time = _read_cell(cells[place], name, place)
        if time is None:
            continue
        aware = time.utcoffset() is not None
        first.setdefault(aware, cells[place])
        wall[place] = time.replace(tzinfo=None)
        try:
            instant[place] = time.astimezone(UTC).replace(tzinfo=None) if aware else wall[place]
        except OverflowError:
            raise InputError(f"{name} holds {shown(cells[place])}, whose year is out of reach.") from None
    if len(first) == 2:
        raise InputError(
            f"{name} holds {shown(first[True])}, which has an offset from UTC, and {shown(first[False])}, which has "
            "none: give all of them with an offset, or none."
        )
    return Moments(wall, instant, next(iter(first), None))


def _read_cell(cell: Any, name: str, place: tuple[int, ...]) -> datetime | None:
    """Return one time, None where it is missing."""
    if isinstance(cell, np.datetime64):
        cell = cell.astype("datetime64[us]").item()
    if isinstance(cell, pd.Timestamp):
        cell = cell.floor("us").to_pydatetime() if cell.nanosecond else cell.to_pydatetime()
    if isinstance(cell, datetime) and not pd.isna(cell):
        return cell
    if isinstance(cell, date) and not pd.isna(cell):
        return datetime(cell.year, cell.month, cell.day)
    if isinstance(cell, str):
        text = cell.strip()
        if text in _MISSING:
            return None
        if _ISO.fullmatch(text):
            with suppress(ValueError):
                return datetime.fromisoformat(text)
    elif sort_of(cell) == "missing":
        return None
    where = f" at index {place[0] if len(place) == 1 else place}" if place else ""
    raise InputError(f"{name} holds {shown(cell)}{where}, where a date and time is needed: {_EXAMPLE}")


def _microseconds(index: pd.DatetimeIndex) -> NDArray[np.datetime64]:
    return np.asarray(index.to_numpy()).astype("datetime64[us]")
