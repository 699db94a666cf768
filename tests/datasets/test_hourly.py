"""The generated hours of wind: their shape, that they are the same again, their gaps, and what they are made of."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from vmqp import circle
from vmqp.datasets import HourlyWind, hourly_wind
from vmqp.datasets.hourly import _correlated, _sea_breeze
from vmqp.errors import InputError

YEAR = hourly_wind()


def lengths(wind):
    """Lengths of all gaps, counted hour by hour."""
    found, run = [], 0
    for missing in [*wind.frame["direction"].isna(), False]:
        if not missing and run:
            found.append(run)
        run = run + 1 if missing else 0
    return np.array(found)


def test_shape():
    assert list(YEAR.frame) == ["hour", "direction"]
    assert YEAR.frame["hour"].tolist() == list(map(float, range(8760)))
    assert YEAR.truth.shape == (8760,)
    assert (YEAR.truth >= 0).all()
    assert (YEAR.truth < 360).all()
    with pytest.raises(dataclasses.FrozenInstanceError):
        YEAR.seed = 2


def test_observed_and_gaps_are_the_two_parts():
    observed, gaps = YEAR.observed, YEAR.gaps
    assert list(observed) == ["hour", "direction"]
    assert list(gaps) == ["hour", "gap", "length", "true_direction"]
    for table, name in ((observed, "direction"), (gaps, "true_direction")):
        assert table.index.equals(pd.RangeIndex(len(table)))
        np.testing.assert_array_equal(table[name], YEAR.truth[table["hour"].astype(int)])
    assert sorted([*observed["hour"], *gaps["hour"]]) == YEAR.frame["hour"].tolist()
    assert YEAR.frame["direction"].isna()[gaps["hour"].astype(int)].all()


def test_gaps_are_numbered_and_measured():
    gaps = YEAR.gaps
    first = gaps.groupby("gap").first()
    assert first.index.tolist() == list(range(len(first)))
    np.testing.assert_array_equal(first["length"], lengths(YEAR))
    np.testing.assert_array_equal(gaps.groupby("gap").size(), first["length"])


def test_there_are_single_hours_runs_and_outages():
    missing = lengths(YEAR)
    assert missing.sum() == round(0.15 * 8760)
    assert (missing == 1).sum() == pytest.approx(0.3 * missing.sum(), abs=2)
    assert missing[(missing > 1) & (missing < 24)].sum() == pytest.approx(0.4 * missing.sum(), abs=24)
    assert missing[missing >= 24].sum() == pytest.approx(0.3 * missing.sum(), abs=24)
    assert missing.max() <= 72


@pytest.mark.parametrize("hours", [24, 25, 100, 601])
@pytest.mark.parametrize("share", [0, 0.01, 0.15, 0.5])
def test_gaps_are_parted_by_observed_hours(hours, share):
    for seed in range(10):
        wind = hourly_wind(hours, share, seed)
        assert len(wind.gaps) == round(share * hours)
        assert len(wind.observed) == hours - len(wind.gaps)
        assert wind.frame["direction"].iloc[[0, -1]].notna().all()


def test_equal_seeds_give_equal_data_and_others_do_not():
    again = hourly_wind(seed=np.int64(0))
    assert again.frame.equals(YEAR.frame)
    np.testing.assert_array_equal(again.truth, YEAR.truth)
    assert not hourly_wind(seed=1).frame.equals(YEAR.frame)


def test_the_wind_depends_on_the_seed_only():
    np.testing.assert_array_equal(hourly_wind(300, 0.4).truth, YEAR.truth[:300])


def test_the_data_of_seed_0_are_what_they_were():
    """Documents name numbers of this series. A NumPy with other random streams changes it."""
    assert YEAR.truth[[0, 8759]] == pytest.approx([282.757556, 334.57465], abs=1e-6)
    assert YEAR.gaps["hour"].iloc[:4].tolist() == [4.0, 5.0, 28.0, 36.0]


def test_components_have_their_variance_and_decorrelation_time():
    """Over 200 processes of 40 times; 5 standard errors, measured: a false alarm in a million runs."""
    numbers = np.random.default_rng(1).standard_normal((960, 200))
    wind = _correlated(numbers, 24.0)
    for lag in (0, 1, 24, 48):
        products = (wind[lag:] * wind[: len(wind) - lag]).mean(axis=0)
        error = products.std(ddof=1) / math.sqrt(len(products))
        assert abs(products.mean() - math.exp(-lag / 24.0)) < 5 * error
    assert wind[0].std() == pytest.approx(1.0, abs=0.25)  # from the start: 5 standard errors


def test_the_breeze_turns_once_a_day_and_is_strong_in_summer():
    summer, winter = _sea_breeze(4700.0 + np.arange(25.0)), _sea_breeze(np.arange(25.0))
    for day in (summer, winter):
        steps = np.diff(np.unwrap(np.arctan2(day[:, 1], day[:, 0])))
        assert steps.sum() == pytest.approx(-2 * np.pi, abs=0.05)
        assert (steps < 0).all()
    afternoon = _sea_breeze(np.array([24 * 196 + 15.0]))[0]
    assert math.degrees(math.atan2(afternoon[1], afternoon[0])) == pytest.approx(60.0, abs=1e-9)
    assert np.hypot(*summer.T).max() > 5 * np.hypot(*winter.T).max()


def test_the_wind_is_mostly_steady_and_turns_in_lulls():
    steps = np.abs(circle.difference(YEAR.truth[1:], YEAR.truth[:-1], period=360))
    assert 5 < np.median(steps) < 15
    assert np.quantile(steps, 0.99) > 60
    assert np.histogram(YEAR.truth, 8, (0, 360))[0].min() > 200
    assert abs(circle.difference(circle.mean(YEAR.truth, period=360), 243.0, period=360)) < 45


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hours": 23}, "hours is 23"),
        ({"hours": 100.5}, "hours is 100.5"),
        ({"gap_share": -0.1}, "gap_share must lie"),
        ({"gap_share": 0.6}, "gap_share must lie"),
        ({"gap_share": math.nan}, "gap_share must lie"),
        ({"gap_share": "some"}, "gap_share must lie"),
        ({"gap_share": None}, "gap_share must lie"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": None}, "seed is None"),
    ],
)
def test_refused(options, message):
    with pytest.raises(InputError, match=message):
        hourly_wind(**options)


def test_it_says_what_it_is():
    assert isinstance(YEAR, HourlyWind)
    assert repr(YEAR) == "HourlyWind(gap_share=0.15, seed=0)"
