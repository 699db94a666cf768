"""Periods, the range of the results, and the observed and true angles."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from vmqp import circle
from vmqp.errors import InputError
from vmqp.tables import AngleRange, find_missing, read_angles, read_period, read_truth

TWO_PI = 2 * math.pi


@pytest.mark.parametrize(
    ("given", "period", "unit"),
    [
        (TWO_PI, TWO_PI, "radians"),
        (6.2832, 6.2832, "radians"),
        (math.pi, math.pi, "radians (axes)"),
        (360, 360.0, "degrees"),
        (np.float32(360), 360.0, "degrees"),
        (np.int64(24), 24.0, "hours"),
        (np.array(24), 24.0, "hours"),
        (Fraction(100), 100.0, "percent"),
        (Decimal(180), 180.0, "degrees (axes)"),
        (365.25, 365.25, ""),
        ("radians", TWO_PI, "radians"),
        ("2π", TWO_PI, "radians"),
        (" Degrees ", 360.0, "degrees"),
        ("degree", 360.0, "degrees"),
        ("°", 360.0, "degrees"),
        ("HOUR", 24.0, "hours"),
        ("minutes", 60.0, "minutes"),
        ("percent", 100.0, "percent"),
        ("axial", 180.0, "degrees (axes)"),
        ("axes", 180.0, "degrees (axes)"),
        ("months", 12.0, "months"),
        ("weekday", 7.0, "weekdays"),
        ("days  of year", 366.0, "days of year"),
        ("turns", 1.0, "turns"),
        ("gon", 400.0, "gradians"),
        ("360", 360.0, "degrees"),
        ("24.0", 24.0, "hours"),
    ],
)
def test_periods(given, period, unit):
    assert read_period(given) == (period, unit)


@pytest.mark.parametrize(
    "period",
    [0, -1, math.nan, math.inf, 1e-200, 1e200, 10**400, True, None, [360], np.ones(1), 1j, b"360", "0"],
)
def test_bad_periods(period):
    with pytest.raises(InputError, match="positive number or the name of a unit"):
        read_period(period)


@pytest.mark.parametrize(
    ("text", "near"), [("degres", "degrees"), ("hors", "hours"), ("Radian s", "radians")]
)
def test_unknown_names_of_periods_are_told_the_nearest(text, near):
    with pytest.raises(InputError, match=f"did you mean '{near}'.*'radians', 'degrees', .*'days of year'"):
        read_period(text)


@pytest.mark.parametrize(
    ("y", "period", "centred"),
    [
        ([0, 90, 359], 360, False),
        ([0, 360], 360, False),
        ([-180, 180], 360, True),
        ([-0.001, 300], 360, True),
        ([-10, 200], 360, True),
        ([0, 0], 360, False),
        ([-np.pi, np.pi], TWO_PI, True),
        (np.array([-np.pi, np.pi], dtype=np.float32), TWO_PI, True),
        ([-3.142, 3.142], TWO_PI, True),
        ([0, 6.2832], TWO_PI, False),
        ([1, 366], "days of year", False),
    ],
)
def test_values_in_the_period_are_accepted_and_set_the_range(y, period, centred):
    radians, angle_range = read_angles(y, period)
    length = read_period(period)[0]
    assert angle_range.centred == centred
    assert angle_range.origin == (None if centred else 0.0)
    expected = np.asarray(y, dtype=float) * TWO_PI / length
    assert np.allclose(np.exp(1j * radians), np.exp(1j * expected), atol=1e-6)
    assert ((radians > -np.pi) & (radians <= np.pi)).all()


@pytest.mark.parametrize(
    "y",
    [
        [10, 350, 90],
        (10, 350, 90),
        np.array([[10], [350], [90]]),
        [[10], [350], [90]],
        np.array([10, 350, 90], dtype=object),
        np.array([10, 350, 90], dtype=np.uint16),
        np.ma.array([10, 350, 90]),
        pd.Series([10, 350, 90], index=[5, 5, 6], name="dir"),
        pd.Series([10, 350, 90], dtype="Int64"),
        pd.DataFrame({"dir": [10, 350, 90]}),
        pl.Series("dir", [10, 350, 90]),
        pl.DataFrame({"dir": [10, 350, 90]}),
    ],
)
def test_vectors_and_single_columns_of_every_kind(y):
    radians, angle_range = read_angles(y, 360, count=3)
    assert np.allclose(np.degrees(radians), [10, -10, 90])
    assert angle_range == AngleRange(360.0, False, "degrees")


@pytest.mark.parametrize(
    ("y", "period", "words"),
    [
        ([0, 355], TWO_PI, "y has values up to 355, outside a period of 6.283: did you mean period=360[?]"),
        ([-170.5, 170], TWO_PI, "up to 170, .*period=360[?]"),
        ([-170.5, 1], TWO_PI, "down to -170.5, .*period=360[?]"),
        ([0, 23.5], TWO_PI, r"period=24[?]"),
        ([1, 12], TWO_PI, r"period=24 \(or 12 for months\)"),
        ([1.5, 12], TWO_PI, r"period=24[?]"),
        ([0, 95], TWO_PI, r"period=360 \(or 100 for percent\)"),
        ([0, 175], TWO_PI, r"period=360 \(or 180 for axes\)"),
        ([0, 355], 24, "outside a period of 24: did you mean period=360"),
        ([0, 200], 180, "did you mean period=360"),
        ([0, 6.1], 1, r"period=2 \* pi"),
        ([0, 720], TWO_PI, "y % 360 with period=360"),
        ([0, 370], 360, "up to 370, outside a period of 360: give y % 360"),
        ([-200, 10], 360, "down to -200, .*give y % 360"),
        ([-170, 355], 360, "from -170 to 355, more than one turn of 360: give y % 360"),
        ([-1e308, 1e308], 360, "outside a period"),
    ],
)
def test_values_outside_the_period_suggest_one(y, period, words):
    with pytest.raises(InputError, match=words):
        read_angles(y, period)


DAY = datetime.datetime(2020, 1, 1)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1.0, np.nan], "row 1 of y holds NaN"),
        ([1.0, None], "row 1 of y holds None"),
        (pd.Series([1, None], dtype="Int64"), "row 1 of y holds NaN"),
        (pl.Series([1, None]), "row 1 of y holds NaN"),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "row 1 of y"),
        ([1.0, np.inf], "row 1 of y holds inf"),
        ([1.0, "north"], "row 1 of y holds 'north'"),
        (["1", "2"], "row 0 of y holds '1'"),
        (np.array(["a", "b"]), "row 0 of y holds 'a'"),
        ([True, False], "True and False"),
        (np.array([True, False]), "True and False"),
        (pd.Series([True, False]), "True and False"),
        (pd.Series(["a", "b"], dtype="category"), "categories"),
        ([DAY, DAY], "the hour with period=24"),
        (np.array(["2020-01-01"] * 2, dtype="datetime64[s]"), "the hour with period=24"),
        (pl.Series([DAY, DAY]), "the hour with period=24"),
        ([1j, 2j], "Complex data not supported"),
        (np.array([1j, 2j]), "Complex data not supported"),
        ([[1.0, 2.0], [3.0, 4.0]], "y has 2 columns"),
        (pd.DataFrame({"a": [1.0], "b": [2.0]}), r"y has 2 columns \('a', 'b'\)"),
        (np.ones((2, 1, 1)), "3 dimensions"),
        (3.0, "not a table"),
        (None, "requires y to be passed, but the target y is None"),
        ([], "y has no rows"),
        (pd.Series([], dtype=float), "y has no rows"),
        ([1.0], "1 sample, but at least 2 observed angles"),
        ([10**400, 1], "too large"),
    ],
)
def test_refused(y, words):
    with pytest.raises(InputError, match=words):
        read_angles(y)


def test_row_numbers_must_agree():
    with pytest.raises(InputError, match="X has 10 rows and y has 9"):
        read_angles(np.zeros(9), count=10)
    with pytest.raises(InputError, match="X has 1 rows and angle has 2"):
        read_angles([1, 2], name="angle", count=1)


def test_truth_is_wrapped_into_the_period():
    angle_range = AngleRange(360.0, False, "degrees")
    assert np.allclose(np.degrees(read_truth([-10, 730, 180, -180], angle_range, 4)), [-10, 10, 180, 180])
    assert read_truth([5], angle_range).shape == (1,)


@pytest.mark.parametrize(
    "y_true",
    [
        [10.0, np.nan, 20.0],
        [10.0, None, 20],
        [10.0, "", 20.0],
        np.ma.array([10.0, 2.0, 20.0], mask=[0, 1, 0]),
        pd.Series([10, None, 20], dtype="Int64"),
        pl.Series([10, None, 20]),
    ],
)
def test_a_truth_that_is_missing_is_nan(y_true):
    found = np.degrees(read_truth(y_true, AngleRange(360.0, False, "degrees"), 3))
    np.testing.assert_allclose(found, [10.0, np.nan, 20.0])
    assert find_missing(y_true).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("y_true", "words"),
    [
        ([np.nan, None], "all 2 values of y_true are missing"),
        ([None, "north"], "row 1 of y_true holds 'north'"),
        ([1.0, np.inf], "row 1 of y_true holds inf"),
        ([1.0], "2 predicted places and y_true has 1 rows"),
        ([], "no rows"),
        (["a", "b"], "row 0 of y_true holds 'a'"),
    ],
)
def test_bad_truths(y_true, words):
    with pytest.raises(InputError, match=words):
        read_truth(y_true, AngleRange(360.0, True, "degrees"), 2)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("period", [TWO_PI, 360.0, 24.0, 0.1])
def test_range_agrees_with_the_circle(centred, period):
    angle_range = AngleRange(period, centred, "")
    radians = np.random.default_rng(1).uniform(-20, 20, size=(7, 5))
    expected = circle.from_radians(radians, period, angle_range.origin)
    assert np.array_equal(angle_range.from_radians(radians), expected)
    assert angle_range.from_radians(0.5) == circle.from_radians(0.5, period)


def test_a_mean_that_does_not_exist_stays_nan():
    assert np.isnan(AngleRange(360.0, False, "").from_radians([np.nan])).all()
