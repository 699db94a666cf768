"""Times of the 10-minute product: UTC from the year 2000 on, one hour ahead of it (UTC+1) before.

A file stamps a row with ``YYYYMMDDhhmm``. Where the clock was changed, at the turn to 2000, one hour has no stamp.
"""

from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd

from vmqp.errors import InputError
from vmqp.tables.words import shown

__all__ = ["FORMAT", "said", "stamp_of", "stamps_to_utc", "ten_minutes", "utc"]

FORMAT = "%Y%m%d%H%M"
_FIRST_YEAR, _LAST_YEAR = 1800, 2199  # between which every reader of times agrees on them
_CHANGE = pd.Timestamp("2000-01-01")
_AHEAD = pd.Timedelta(hours=1)
_STEP = pd.Timedelta(minutes=10)


def utc(time: Any, name: str = "time") -> pd.Timestamp:
    """Read a time as UTC, without a zone: text, a datetime or a pandas Timestamp; one without a zone is in UTC.

    >>> utc("2024-05-01T14:00+02:00"), utc("2024-05-01 12:00")
    (Timestamp('2024-05-01 12:00:00'), Timestamp('2024-05-01 12:00:00'))
    """
    try:
        if isinstance(time, str):
            moment = pd.Timestamp(datetime.fromisoformat(time.strip()))
        elif isinstance(time, date | np.datetime64):
            moment = pd.Timestamp(time)
        else:
            raise TypeError
        if pd.isna(moment) or not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
            raise ValueError
        return moment if moment.tz is None else moment.tz_convert("UTC").tz_localize(None)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{name} is {shown(time)}: give a time such as '2024-05-01T12:00' (UTC), '2024-05-01T14:00+02:00', or a "
            "datetime."
        ) from None


def ten_minutes(time: Any) -> pd.Timestamp:
    """Read a time that is a multiple of ten minutes, as the rows of the product are.

    >>> ten_minutes("2024-05-01T12:05")
    Traceback (most recent call last):
    vmqp.errors.InputError: time is 2024-05-01T12:05Z, ...: give 2024-05-01T12:00Z or 2024-05-01T12:10Z.
    """
    moment = utc(time)
    before = moment.floor(_STEP)
    if moment != before:
        raise InputError(
            f"time is {said(moment)}, but there is a row every ten minutes: give {said(before)} or "
            f"{said(before + _STEP)}."
        )
    return moment


def stamp_of(moment: pd.Timestamp) -> str | None:
    """Return the stamp of a time in the files; None in the hour before 2000, which has none.

    >>> stamp_of(pd.Timestamp("1999-07-01 12:00")), stamp_of(pd.Timestamp("2000-01-01 00:00"))
    ('199907011300', '200001010000')
    >>> stamp_of(pd.Timestamp("1999-12-31 23:10"))
    """
    if moment >= _CHANGE:
        return str(moment.strftime(FORMAT))
    ahead = moment + _AHEAD
    return str(ahead.strftime(FORMAT)) if ahead < _CHANGE else None


def stamps_to_utc(stamps: pd.Series) -> pd.Series:
    """Turn stamps into UTC times without a zone; what is no stamp becomes NaT.

    >>> stamps_to_utc(pd.Series(["199907011300", "202405011200", "2024"])).tolist()
    [Timestamp('1999-07-01 12:00:00'), Timestamp('2024-05-01 12:00:00'), NaT]
    """
    # Shorter text could be read as another time: 2024050112 has no minutes.
    times = pd.to_datetime(stamps.where(stamps.str.len() == 12), format=FORMAT, errors="coerce")
    return times.where(~(times < _CHANGE), times - _AHEAD)


def said(moment: pd.Timestamp) -> str:
    """Return a time in words, in UTC."""
    whole = moment.second == 0 and moment.microsecond == 0
    return str(moment.strftime("%Y-%m-%dT%H:%MZ" if whole else "%Y-%m-%dT%H:%M:%SZ"))
