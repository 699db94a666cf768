"""Conversions: known facts, ways there and back, and times with their zones."""

import math
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vmqp import circle, kernels
from vmqp.convert import (
    clock,
    compass_to_math,
    components,
    direction_and_speed,
    elapsed,
    math_to_compass,
    opposite,
    phase,
    rescale,
)
from vmqp.errors import InputError

CONVENTIONS = ("from", "to", "math")
PERIODS = (360.0, 2 * math.pi, 24.0, 1.0)
angles = st.floats(-1e6, 1e6)
some_period = st.sampled_from(PERIODS)


def apart(a, b, period):
    return np.abs(circle.difference(a, b, period=period))


# Directions


@pytest.mark.parametrize(
    ("compass", "mathematical"), [(0, 90), (90, 0), (180, 270), (270, 180), (45, 45), (360, 90), (-45, 135)]
)
def test_compass_and_mathematical_directions(compass, mathematical):
    assert compass_to_math(compass) == mathematical
    assert math_to_compass(mathematical) == compass % 360


@given(angles, some_period)
def test_conventions_there_and_back(angle, period):
    for one, other in (
        (compass_to_math, math_to_compass),
        (math_to_compass, compass_to_math),
        (opposite, opposite),
    ):
        there = one(angle, period=period)
        assert 0 <= there < period
        assert apart(other(there, period=period), angle, period) < 1e-9 * period


@given(angles, some_period)
def test_opposite_is_half_a_turn(angle, period):
    assert apart(opposite(angle, period=period), angle, period) == pytest.approx(period / 2)


def test_large_angles_lose_no_digits():
    assert compass_to_math(360.0 * 2**40 + 10.0) == 80.0
    assert opposite(360.0 * 2**40 + 10.0) == 190.0


@pytest.mark.parametrize("convert", [compass_to_math, math_to_compass, opposite])
def test_what_is_missing_stays_missing(convert):
    for values in (
        [np.nan, 90],
        [None, 90],
        pd.Series([None, 90.0], index=[5, 7]),
        pd.Series([pd.NA, 90], dtype="Int64"),
        pl.Series([None, 90.0]),
        np.ma.masked_array([1.0, 90.0], [True, False]),
    ):
        result = convert(values)
        assert type(result) is np.ndarray
        assert result[0] != result[0]
        assert result[1] == convert(90.0)


def test_shapes_are_kept():
    assert compass_to_math(np.zeros((2, 3))).shape == (2, 3)
    assert isinstance(compass_to_math(np.float32(5)), float)
    assert compass_to_math([]).shape == (0,)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["north"], "angle must be numbers"),
        ([1.0, math.inf], "angle is infinite at index 1"),
        (np.array([1 + 2j]), "angle must be numbers"),
        (np.array(["2024-01-01"], dtype="M8[D]"), "angle must be numbers"),
    ],
)
def test_angles_that_are_refused(values, message):
    for convert in (compass_to_math, opposite):
        with pytest.raises(InputError, match=message):
            convert(values)


def test_periods_by_name_and_wrong_ones():
    assert opposite(1.0, period="hours") == 13.0
    assert compass_to_math(0.0, period="radians") == math.pi / 2
    with pytest.raises(InputError, match="did you mean 'degrees'"):
        opposite(1.0, period="degreees")
    with pytest.raises(InputError, match="period must be a positive number"):
        rescale(1.0, 360, 0)


def test_rescale():
    assert rescale(180, "degrees", "radians") == math.pi
    assert rescale(6, "hours", "degrees") == 90.0
    assert rescale([-90, 720], 360, 24).tolist() == [-6.0, 48.0]
    assert rescale(0.1, 7, 7) == 0.1
    assert math.isnan(rescale(np.nan, 360, 1))


@given(angles, some_period, some_period)
def test_rescale_there_and_back(angle, one, other):
    assert rescale(rescale(angle, one, other), other, one) == pytest.approx(angle, rel=1e-12, abs=1e-300)


# Components


def test_a_west_wind_blows_to_the_east():
    assert components(270, 5.0, convention="from") == (5.0, 0.0)
    assert components(90, 5.0, convention="to") == (5.0, 0.0)
    assert components(0, 5.0, convention="math") == (5.0, 0.0)
    assert components(0, 5.0, convention="from") == (0.0, -5.0)


def test_components_are_the_formulas():
    d, s = np.array([17.0, 123.0, 275.0]), np.array([1.0, 2.5, 9.0])
    sine, cosine = s * np.sin(np.radians(d)), s * np.cos(np.radians(d))
    for convention, u, v in (("from", -sine, -cosine), ("to", sine, cosine), ("math", cosine, sine)):
        np.testing.assert_allclose(components(d, s, convention=convention), (u, v), rtol=1e-14)


@given(angles, st.floats(1e-6, 1e6), st.sampled_from(CONVENTIONS), some_period)
def test_components_there_and_back(angle, speed, convention, period):
    u, v = components(angle, speed, convention=convention, period=period)
    direction, size = direction_and_speed(u, v, convention=convention, period=period)
    assert 0 <= direction < period
    assert size == pytest.approx(speed)
    assert apart(direction, angle, period) < 1e-9 * period


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_calm_has_no_direction(convention):
    direction, speed = direction_and_speed([0.0, -0.0], [0.0, 0.0], convention=convention)
    assert np.isnan(direction).all()
    assert speed.tolist() == [0.0, 0.0]
    u, v = components(direction, speed, convention=convention)
    assert u.tolist() == v.tolist() == [0.0, 0.0]


def test_missing_components():
    direction, speed = direction_and_speed([np.nan, 1.0], [1.0, np.nan], convention="to")
    assert np.isnan(direction).all()
    assert np.isnan(speed).all()
    u, v = components([np.nan, 10.0], [1.0, np.nan], convention="to")
    assert np.isnan([u, v]).all()


def test_a_speed_for_all_and_frames():
    frame = pd.DataFrame({"d": [0.0, 90.0], "s": [1.0, 2.0]}, index=[3, 4])
    u, v = components(frame["d"], frame["s"], convention="to")
    assert type(u) is np.ndarray
    assert (u.tolist(), v.tolist()) == ([0.0, 2.0], [1.0, 0.0])
    assert components([0.0, 90.0], convention="to")[1].tolist() == [1.0, 0.0]


def test_components_that_are_refused():
    with pytest.raises(TypeError, match="convention"):
        components(90.0)
    with pytest.raises(TypeError, match="convention"):
        direction_and_speed(1.0, 1.0)
    with pytest.raises(InputError, match="convention is 'fro'"):
        components(90.0, convention="fro")
    with pytest.raises(InputError, match="convention is None"):
        direction_and_speed(1.0, 1.0, convention=None)
    with pytest.raises(InputError, match="speed is -1"):
        components([0.0, 1.0], [1.0, -1.0], convention="to")
    with pytest.raises(InputError, match=r"direction and speed have shapes \(2,\) and \(3,\)"):
        components([0.0, 1.0], [1.0, 1.0, 1.0], convention="to")


# Phases


TIMES = ["2024-02-29 06:30", "2023-12-31 23:59:59.5", "1969-12-31 12:00"]


@pytest.mark.parametrize(
    "given_as",
    [
        TIMES,
        tuple(TIMES),
        np.array(TIMES),
        np.array(TIMES, dtype="datetime64[ms]"),
        np.array(TIMES, dtype=object),
        pd.Series(TIMES, index=[9, 8, 7]),
        pd.Series([datetime.fromisoformat(one) for one in TIMES]),
        pd.Series([datetime.fromisoformat(one) for one in TIMES], dtype="datetime64[ns]"),
        pd.Series([datetime.fromisoformat(one) for one in TIMES], dtype="timestamp[us][pyarrow]"),
        pd.DatetimeIndex(TIMES, dtype="datetime64[ns]"),
        [datetime.fromisoformat(one) for one in TIMES],
        [pd.Timestamp(one) for one in TIMES],
        [np.datetime64(one) for one in TIMES],
        pl.Series([datetime.fromisoformat(one) for one in TIMES]),
    ],
    ids=lambda one: f"{type(one).__name__} of {type(next(iter(one))).__name__}",
)
def test_times_of_every_kind(given_as):
    result = phase(given_as, "day")
    assert type(result) is np.ndarray
    np.testing.assert_allclose(result, [6.5, 24 - 0.5 / 3600, 12.0], rtol=1e-14)


@pytest.mark.parametrize(
    "one", ["2024-02-29 06:30", datetime(2024, 2, 29, 6, 30), np.datetime64("2024-02-29T06:30")]
)
def test_one_time_gives_a_float(one):
    assert phase(one) == 6.5
    assert isinstance(phase(one), float)


def test_shapes_of_times_are_kept():
    table = np.array([["2024-01-01", "2024-01-02"]], dtype="datetime64[h]")
    assert phase(table).shape == phase(table.astype(str)).shape == (1, 2)
    assert phase([]).shape == (0,)


def test_missing_times_are_nan():
    for cycle in ("day", "week", "year"):
        for values in (
            [None, "2024-01-01", "NaT", "", np.nan],
            pd.to_datetime(pd.Series([None, "2024-01-01", None, None, None])),
            np.array(["NaT", "2024-01-01", "NaT", "NaT", "NaT"], dtype="M8[s]"),
        ):
            assert np.isnan(phase(values, cycle)).tolist() == [True, False, True, True, True]
    assert math.isnan(phase(pd.NaT))
    assert np.isnan(phase([None, None], timezone="UTC")).all()


def test_weeks_begin_on_monday():
    assert phase(["2024-01-01", "2024-01-07 18:00", "1970-01-01", "1969-12-29"], "week").tolist() == [
        0,
        6.75,
        3,
        0,
    ]


@given(st.datetimes(datetime(1900, 1, 1), datetime(2199, 12, 31)))
def test_phases_are_those_of_the_calendar(time):
    of_day = time - datetime(time.year, time.month, time.day)
    assert phase(time) == pytest.approx(of_day / timedelta(hours=1), abs=1e-9)
    assert phase(time, "week") == pytest.approx(time.weekday() + of_day / timedelta(days=1), abs=1e-9)
    year = datetime(time.year + 1, 1, 1) - datetime(time.year, 1, 1)
    assert phase(time, "year", period=1) == pytest.approx(
        (time - datetime(time.year, 1, 1)) / year, abs=1e-12
    )
    for cycle, period in (("day", 24), ("week", 7), ("year", 365.25)):
        assert 0 <= phase(time, cycle) < period
        assert phase(time, cycle, period=360) == pytest.approx(phase(time, cycle) / period * 360)


def test_a_leap_year_goes_round_once():
    assert phase(["2023-01-01", "2024-01-01"], "year").tolist() == [0.0, 0.0]
    assert phase("2024-12-31 12:00", "year") == pytest.approx(365.5 / 366 * 365.25)
    assert phase("2023-12-31 12:00", "year") == pytest.approx(364.5 / 365 * 365.25)


BERLIN = "Europe/Berlin"


@pytest.mark.parametrize(
    "make",
    [
        lambda texts: [one + "+00:00" for one in texts],
        lambda texts: [datetime.fromisoformat(one).replace(tzinfo=UTC) for one in texts],
        lambda texts: pd.to_datetime(pd.Series(texts)).dt.tz_localize("UTC"),
        lambda texts: pl.Series(texts).str.to_datetime().dt.replace_time_zone("UTC"),
        lambda texts: [
            datetime.fromisoformat(one).replace(tzinfo=UTC).astimezone(timezone(timedelta(hours=-5)))
            for one in texts
        ],
    ],
)
def test_times_are_converted_to_a_zone_with_its_summer_time(make):
    """On 2024-03-31 the clocks of Berlin went from 2 to 3, on 2024-10-27 from 3 to 2, both at 1:00 UTC."""
    spring = make(["2024-03-31 00:59", "2024-03-31 01:00"])
    assert phase(spring, timezone=BERLIN) == pytest.approx([1 + 59 / 60, 3.0])
    autumn = make(["2024-10-27 00:30", "2024-10-27 01:30"])
    assert phase(autumn, timezone=ZoneInfo(BERLIN)).tolist() == [2.5, 2.5]
    assert elapsed(autumn, "hours").tolist() == [0.0, 1.0]


def test_aware_times_keep_their_own_clock():
    assert phase(["2024-01-01T08:00+09:00", "2024-01-01T08:00-05:00", "2024-01-01T08:00Z"]).tolist() == [
        8,
        8,
        8,
    ]
    local = pd.Series(pd.to_datetime(["2024-07-01 08:00"])).dt.tz_localize(BERLIN)
    assert phase(local).tolist() == [8.0]
    assert phase(local, timezone="UTC").tolist() == [6.0]
    # The hour that comes twice, by its fold.
    twice = [datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo(BERLIN), fold=fold) for fold in (0, 1)]
    assert phase(twice).tolist() == [2.5, 2.5]
    assert elapsed(twice, "minutes").tolist() == [0.0, 60.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: phase(["2024-01-01"], timezone=BERLIN), r"have no offset from UTC.*tz_localize"),
        (lambda: phase(np.array(["2024-01-01"], "M8[D]"), timezone=BERLIN), "have no offset from UTC"),
        (lambda: phase(["2024-01-01T00Z"], timezone="Berlin"), "did you mean 'Europe/Berlin'"),
        (lambda: phase(["2024-01-01T00Z"], timezone=5), "timezone is 5"),
        (lambda: phase(["2024-01-01", "2024-01-01T00Z"]), "all of them with an offset, or none"),
        (lambda: phase(["2024-01-01", "2024-13-01"]), "times holds '2024-13-01' at index 1"),
        (lambda: phase(["01/02/2024"]), "pandas.to_datetime"),
        (lambda: phase(["20240101123"]), "pandas.to_datetime"),  # Python reads 2024-01-01 23:00
        (lambda: phase(["2024-W05-1"]), "pandas.to_datetime"),
        (lambda: phase([12.5]), "times holds 12.5 at index 0"),
        (lambda: phase(pd.Series([1, 2])), "times holds 1 at index 0"),
        (lambda: phase(["2024-01-01"], "month"), "cycle is 'month'"),
        (lambda: phase(["2024-01-01"], ["day"]), "cycle is"),
        (lambda: phase(["2024-01-01"], period="hour of day"), "period is 'hour of day'"),
        (lambda: elapsed(["2024-01-01"], "day"), "did you mean 'days'"),
        (lambda: elapsed(["2024-01-01"], since="2024-01-01T00Z"), "both with an offset"),
        (lambda: elapsed(["2024-01-01T00Z"], since="2024-01-01"), "both with an offset"),
        (lambda: elapsed(["2024-01-01"], since=["2024-01-01"]), "give one time"),
        (lambda: elapsed(["2024-01-01"], since=pd.NaT), "give one time"),
        (lambda: clock([["1"]]), "one row"),
    ],
)
def test_times_that_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


# Elapsed


def test_elapsed_counts_from_the_earliest_or_the_given_time():
    times = ["2024-03-02", None, "2024-03-01", "2024-03-01 12:00"]
    np.testing.assert_array_equal(elapsed(times), [1.0, np.nan, 0.0, 0.5])
    np.testing.assert_array_equal(
        elapsed(times, "hours", since="2024-03-01 06:00"), [18.0, np.nan, -6.0, 6.0]
    )
    np.testing.assert_array_equal(elapsed(times, since=date(2024, 2, 29)), [2.0, np.nan, 1.0, 1.5])
    assert elapsed("2024-03-01", since="2023-03-01", unit="years") == pytest.approx(366 / 365.25)
    assert np.isnan(elapsed([None])).all()
    assert elapsed([None], since="2024-01-01T00Z").shape == (1,)


def test_the_day_on_which_summer_time_begins_has_23_hours():
    days = pd.Series(pd.to_datetime(["2024-03-31", "2024-04-01"]))
    assert elapsed(days.dt.tz_localize(BERLIN), "hours").tolist() == [0.0, 23.0]
    assert elapsed(days, "hours").tolist() == [0.0, 24.0]


def test_days_make_a_daily_cycle():
    days = elapsed(["2024-01-01 06:00", "2024-05-17 06:00", "2024-05-17 18:00"])
    K = kernels.Periodic(1.0, period=1.0).bind(days[:, None]).covariance({})
    assert K[0, 1] == pytest.approx(1.0, abs=1e-12)
    assert K[1, 2] == pytest.approx(math.exp(-2.0), abs=1e-12)


def test_clock():
    assert clock(0) == "00:00"
    assert clock([23.99, 23.995, -0.5, 48.0]) == ["23:59", "00:00", "23:30", "00:00"]
    assert clock(np.pi, period="radians") == "12:00"
    assert clock(np.nan) == ""
    assert clock([]) == []


@given(st.integers(0, 1439))
def test_the_clock_shows_the_time(minutes):
    text = clock(phase(datetime(2024, 5, 1) + timedelta(minutes=minutes)))
    assert text == f"{minutes // 60:02d}:{minutes % 60:02d}"


def test_times_that_are_masked_are_missing():
    times = np.ma.masked_array(
        np.array(["2024-01-01T06:00", "2024-01-01T12:00"], dtype="M8[s]"), [True, False]
    )
    for each in (
        times,
        times.astype("M8[ns]"),
        times.astype(object),
        np.ma.masked_array(["", "2024-01-01T12:00"], [True, False]),
    ):
        np.testing.assert_array_equal(phase(each), [np.nan, 12.0])
        np.testing.assert_array_equal(elapsed(each), [np.nan, 0.0])


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (np.array([5]).view("M8"), "has no unit"),
        (np.array(["300000-01-01"], dtype="M8[Y]"), "years 300000 to 300000"),
        (np.array([-30000], dtype="M8[Y]"), "give years from 1 to 9999"),
    ],
)
def test_times_that_numpy_alone_takes(times, said):
    with pytest.raises(InputError, match=said):
        phase(times)


def test_numbers_that_are_too_large_for_a_float():
    with pytest.raises(InputError, match="angle must be numbers"):
        compass_to_math(10**400)
