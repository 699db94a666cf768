"""Dates and times as numbers: where in the day, the week or the year, and how long since a first one."""

from typing import Any, Literal

import numpy as np

from vmqp.circle import FloatArray, FloatOrArray, as_result, wrapped
from vmqp.convert.moments import Moments, read_moments, read_zone
from vmqp.convert.numbers import read_numbers
from vmqp.errors import InputError
from vmqp.tables.periods import read_period
from vmqp.tables.words import listed, nearest, shown

__all__ = ["clock", "elapsed", "phase"]

_CYCLES = {"day": 24.0, "week": 7.0, "year": 365.25}
_SECONDS = {
    "seconds": 1.0,
    "minutes": 60.0,
    "hours": 3_600.0,
    "days": 86_400.0,
    "weeks": 604_800.0,
    "years": 365.25 * 86_400.0,
}
_THURSDAY = 3  # days from Monday: 1970 began on a Thursday


def phase(
    times: Any,
    cycle: Literal["day", "week", "year"] = "day",
    *,
    timezone: Any = None,
    period: Any = None,
) -> FloatOrArray:
    """Return where in a cycle times are, from 0 to below the period.

    ======  ==========================================  ======
    cycle   what is counted                             period
    ======  ==========================================  ======
    "day"   hours since midnight                        24
    "week"  days since Monday, 0:00                     7
    "year"  the part of the calendar year, × 365.25     365.25
    ======  ==========================================  ======

    A year goes round once, with or without a 29th of February: its days are a little longer or shorter than 1. Another
    `period`, such as 1, 360 or "radians", rescales. Give `regress` the same one as its ``period``.

    Times are texts as in ISO 8601 ("2024-03-01 06:30"), `datetime` objects, NumPy's datetime64, or a pandas Series or
    index of them. The clock on the wall counts. Times that know their offset from UTC keep their own clock, or are
    converted to a `timezone` by name, with its summer time: there the hour that comes twice has the same phase twice.
    Times without an offset are taken as they stand, and a `timezone` for them is an error.

    >>> from vmqp.convert import phase
    >>> phase("2024-07-01T22:15+00:00", "day", timezone="Europe/Berlin")
    0.25
    >>> phase(["2024-03-04", "2024-03-06 12:00", None], "week")  # a Monday and a Wednesday
    array([0. , 2.5, nan])
    >>> phase(["2023-07-02 12:00", "2024-07-02"], "year", period=1)  # the middles of a year and of a leap year
    array([0.5, 0.5])
    >>> phase(["2024-03-01 06:30"], "day", timezone="Europe/Berlin")
    Traceback (most recent call last):
    vmqp.errors.InputError: timezone is 'Europe/Berlin' but the times have no offset from UTC, so that they cannot be
    converted: ...
    """
    if not isinstance(cycle, str) or cycle not in _CYCLES:
        raise InputError(f"cycle is {shown(cycle)}: give one of {listed(_CYCLES)}.")
    length = _CYCLES[cycle] if period is None else read_period(period)[0]
    zone = None if timezone is None else read_zone(timezone)
    moments = read_moments(times, "times")
    if zone is not None and moments.aware is False:
        raise InputError(
            f"timezone is {shown(timezone)} but the times have no offset from UTC, so that they cannot be converted: "
            "leave timezone out if they are local already, or say first what they are, as in "
            'pandas.DatetimeIndex(times).tz_localize("UTC").'
        )
    wall = moments.wall if zone is None else moments.in_zone(zone)
    turns = _turns(wall, cycle)
    return as_result(wrapped(turns * length, length, 0.0))


def elapsed(
    times: Any,
    unit: Literal["seconds", "minutes", "hours", "days", "weeks", "years"] = "days",
    *,
    since: Any = None,
) -> FloatOrArray:
    """Return how long times are after `since`, or after the earliest of them: numbers for a column of the inputs.

    Give the same `since` for the observations and for the places to predict, so that both count from one time. Times
    are those of `phase`. Between times that know their offset from UTC what counts is the time that passed, and a day
    on which summer time begins has 23 hours; between others, the difference of the clocks. A year is 365.25 days.

    In days, a daily cycle is a periodic kernel of period 1, and a yearly one of period 365.25:

    >>> from vmqp.convert import elapsed
    >>> from vmqp import kernels
    >>> days = elapsed(["2024-03-01 06:00", "2024-03-01 18:00", "2024-03-03 06:00"], "days", since="2024-03-01")
    >>> days
    array([0.25, 0.75, 2.25])
    >>> kernels.Periodic(1.0, period=1.0).bind(days[:, None]).covariance({}).round(3).tolist()[0]
    [1.0, 0.135, 1.0]

    Multiply it with ``kernels.Exponential(30.0)``, for example, if days that are far apart are less alike.
    """
    if not isinstance(unit, str) or unit not in _SECONDS:
        near = nearest(unit, _SECONDS) if isinstance(unit, str) else "days"
        raise InputError(f"unit is {shown(unit)}: did you mean {near!r}? The units are {listed(_SECONDS)}.")
    moments = read_moments(times, "times")
    start = _earliest(moments) if since is None else _start(since, moments)
    return as_result(_microseconds(moments.instant - start) / (1e6 * _SECONDS[unit]))


def clock(hours: Any, *, period: Any = 24) -> Any:
    """Write hours of the day as on a clock, to the minute: a text, or a list of texts; "" for what is missing.

    >>> from vmqp.convert import clock
    >>> clock(23.75)
    '23:45'
    >>> clock([6.5, 23.9999, -1.0, float("nan")])
    ['06:30', '00:00', '23:00', '']
    >>> clock(0.5, period=1)  # noon, as a part of the day
    '12:00'
    """
    length, _ = read_period(period)
    minutes = np.round(wrapped(read_numbers(hours, "hours"), length, 0.0) / length * 1440.0)
    if minutes.ndim > 1:
        raise InputError(f"hours have the shape {minutes.shape}: give one number or one row of them.")
    texts = [
        "" if np.isnan(one) else f"{int(one) // 60 % 24:02d}:{int(one) % 60:02d}" for one in minutes.flat
    ]
    return texts if minutes.ndim else texts[0]


def _turns(wall: Any, cycle: str) -> FloatArray:
    """Return the part of the cycle, in [0, 1), and nan for NaT."""
    if cycle == "year":
        start = wall.astype("datetime64[Y]")
        return _microseconds(wall - start) / _microseconds(
            start + np.timedelta64(1, "Y") - start.astype(wall.dtype)
        )
    day = wall.astype("datetime64[D]")
    of_day = _microseconds(wall - day) / 86_400e6
    if cycle == "day":
        return of_day
    number = np.where(np.isnat(day), np.nan, day.astype(np.int64))
    return np.asarray((np.mod(number + _THURSDAY, 7.0) + of_day) / 7.0)


def _microseconds(difference: Any) -> FloatArray:
    """Return differences of times in microseconds, nan for NaT."""
    exact = np.asarray(difference).astype("timedelta64[us]")
    return np.where(np.isnat(exact), np.nan, exact.astype(np.int64).astype(float))


def _earliest(moments: Moments) -> Any:
    there = moments.instant[~np.isnat(moments.instant)]
    return there.min() if there.size else np.datetime64("NaT", "us")


def _start(since: Any, moments: Moments) -> Any:
    first = read_moments(since, "since")
    if first.instant.ndim or np.isnat(first.instant):
        raise InputError(f"since is {shown(since)}: give one time, such as '2024-01-01'.")
    if moments.aware is not None and moments.aware != first.aware:
        found = (
            "since has an offset from UTC and the times have"
            if first.aware
            else "the times have an offset from UTC and since has"
        )
        raise InputError(f"{found} none: give both with an offset from UTC, or both without.")
    return first.instant
