"""The generated hours of sleep: their shape, their truth, and that the draws have its law."""

import math

import numpy as np
import pytest
from scipy import stats

from vmqp import circle
from vmqp.datasets import CircadianTimes, circadian_times
from vmqp.datasets.noise import concentration
from vmqp.errors import InputError

SLEEP = circadian_times()
RATE = 1e-6


def residuals(sleep):
    """Radians from the true mean to the hours, of all nights to learn from."""
    rows = sleep.frame
    true = sleep.truth(rows["day_of_year"], rows["light"], rows["subject"])
    return circle.difference(rows["hour"], true, period=24) / 24 * 2 * math.pi


def test_shape():
    assert list(SLEEP.frame) == ["subject", "day_of_year", "light", "hour"]
    assert list(SLEEP.held_out) == ["subject", "day_of_year", "light", "hour", "true_hour"]
    assert (len(SLEEP.frame), len(SLEEP.held_out)) == (200, 80)
    assert (SLEEP.frame.groupby("subject").size() == 10).all()
    assert (SLEEP.held_out.groupby("subject").size() == 4).all()
    for table in (SLEEP.frame, SLEEP.held_out):
        assert table["hour"].between(0, 24, inclusive="left").all()
        assert table["day_of_year"].between(1, 365).all()
        assert table["light"].between(0, 5).all()
    assert repr(SLEEP) == f"CircadianTimes(noise_sd=0.75, concentration={SLEEP.concentration}, seed=1)"
    assert isinstance(SLEEP, CircadianTimes)


def test_the_truth_of_held_out_nights():
    rows = SLEEP.held_out
    true = SLEEP.truth(rows["day_of_year"], rows["light"], rows["subject"])
    np.testing.assert_allclose(true, rows["true_hour"], rtol=1e-14)


def test_the_truth_is_the_sum_of_its_parts():
    def formula(day, light, own):
        return (
            23.5 + 0.75 * math.cos(2 * math.pi * (day - 172) / 365.25) + 2 * math.tanh(light / 1.5) + own
        ) % 24

    for subject, own in SLEEP.chronotypes.items():
        assert SLEEP.truth(20, 1.7, subject) == pytest.approx(formula(20, 1.7, own))
    assert SLEEP.truth(300, 0.4) == pytest.approx(formula(300, 0.4, 0.0))
    assert SLEEP.truth([[1], [200]], [0.0, 1.0, 2.0]).shape == (2, 3)


@pytest.mark.parametrize("deviation", [0.5, 2.0])
def test_the_truth_is_the_law_of_the_draws(deviation):
    """Kolmogorov-Smirnov test of 4,000 hours: a false alarm at the rate RATE."""
    sleep = circadian_times(subjects=200, nights=20, noise_sd=deviation, seed=4)
    assert sleep.concentration == concentration(deviation / 24 * 2 * math.pi)
    off = residuals(sleep)
    assert stats.kstest(off, stats.vonmises(sleep.concentration).cdf).pvalue > RATE


def test_the_test_of_the_law_sees_another_concentration():
    sleep = circadian_times(subjects=200, nights=20, noise_sd=0.5, seed=4)
    wrong = stats.vonmises(concentration(0.6 / 24 * 2 * math.pi))
    assert stats.kstest(residuals(sleep), wrong.cdf).pvalue < RATE


def test_chronotypes_are_normal():
    """Kolmogorov-Smirnov test of 2,000 people, rounded to 0.01 h: a false alarm at about the rate RATE."""
    own = circadian_times(subjects=2000, nights=1, held_out=0, seed=2).chronotypes
    assert stats.kstest(own, stats.norm(0.0, 0.8).cdf).pvalue > RATE


def test_without_noise_the_hours_are_the_truth():
    sleep = circadian_times(noise_sd=0, seed=2)
    assert sleep.concentration == math.inf
    np.testing.assert_allclose(residuals(sleep), 0.0, atol=1e-12)


def test_noise_too_small_for_a_square_is_none():
    calm = circadian_times(noise_sd=1e-170, seed=1)
    assert np.array_equal(calm.frame["hour"], circadian_times(noise_sd=0.0, seed=1).frame["hour"])


def test_hours_lie_on_both_sides_of_midnight():
    hours = SLEEP.frame["hour"]
    assert (hours > 22).sum() > 30
    assert (hours < 2).sum() > 30


def test_equal_seeds_give_equal_data_and_others_do_not():
    assert circadian_times(seed=np.int64(1)).frame.equals(SLEEP.frame)
    assert not circadian_times(seed=2).frame.equals(SLEEP.frame)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subjects": 0}, "subjects is 0"),
        ({"nights": 1.5}, "nights is 1.5"),
        ({"held_out": -1}, "held_out is -1"),
        ({"noise_sd": -1}, "noise_sd must lie between 0 and 8 hours"),
        ({"noise_sd": "much"}, "noise_sd must lie"),
        ({"seed": None}, "seed is None"),
    ],
)
def test_refused(options, message):
    with pytest.raises(InputError, match=message):
        circadian_times(**options)


def test_truths_that_are_refused():
    with pytest.raises(InputError, match="there is no subject 'X'"):
        SLEEP.truth(1, 0.0, "X")
    with pytest.raises(InputError, match="light is -1"):
        SLEEP.truth(1, -1.0)
    with pytest.raises(InputError, match="one of each for a row"):
        SLEEP.truth([1, 2], [0.0, 1.0, 2.0])
