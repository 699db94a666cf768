"""Wrapping, units, moments and quantiles of angles."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from vmqp import circle
from vmqp.errors import InputError

TWO_PI = 2 * np.pi

reproducible = settings(max_examples=150, deadline=None, derandomize=True, database=None)
any_angle = st.floats(allow_nan=False, allow_infinity=False)
periods = st.sampled_from([TWO_PI, 360.0, 24.0, 1.0, 0.1, 1e6]) | st.floats(1e-3, 1e6)
origins = st.sampled_from([0.0, -np.pi, -180.0, 5.0]) | st.floats(-1e3, 1e3)
seeds = st.integers(0, 2**32 - 1)


def around(angle, target, period, tolerance=1e-9):
    """Whether two angles agree on the circle, within a share of the period."""
    return np.all(np.abs(circle.difference(angle, target, period)) <= tolerance * period)


@given(any_angle, periods)
@reproducible
def test_centred_wrap_is_exact_and_in_range(angle, period):
    result = circle.wrap(angle, period)
    assert isinstance(result, float)
    assert -period / 2 < result <= period / 2
    assert circle.wrap(result, period) == result
    assert ((Fraction(angle) - Fraction(result)) / Fraction(period)).denominator == 1


@given(any_angle, periods, origins)
@reproducible
def test_wrap_to_an_origin_is_in_range_and_the_same_angle(angle, period, origin):
    result = circle.wrap(angle, period, origin)
    assert origin <= result < origin + period
    assert circle.wrap(result, period, origin) == result
    turns = (Fraction(angle) - Fraction(result)) / Fraction(period)
    rounding = 1e-15 * (1 + (abs(origin) + period) / period)
    assert abs(turns - round(turns)) <= rounding


@given(st.floats(0, 1, exclude_max=True), periods, origins)
@reproducible
def test_an_angle_in_the_range_comes_back_unchanged(share, period, origin):
    angle = origin + share * period
    if origin <= angle < origin + period:
        assert circle.wrap(angle, period, origin) == angle


@pytest.mark.parametrize("period", [TWO_PI, 360.0, 24.0, 1.0, 0.1])
def test_wrap_at_the_edges(period):
    half = period / 2
    assert circle.wrap(half, period) == half
    assert circle.wrap(-half, period) == half
    beyond = np.nextafter(half, np.inf)
    assert -half < circle.wrap(beyond, period) == beyond - period
    for tiny in (-5e-324, -1e-300, -1e-20, -1e-17 * period):
        assert circle.wrap(tiny, period, origin=0) == 0
        assert circle.wrap(tiny, period) == tiny
    assert circle.wrap(period, period, origin=0) == 0
    assert circle.wrap(-period, period, origin=0) == 0
    below = np.nextafter(period, 0)
    assert circle.wrap(below, period, origin=0) == below
    assert circle.wrap(-half, period, origin=-half) == -half
    assert circle.wrap(half, period, origin=-half) == -half


def test_wrap_keeps_shapes_and_kinds():
    assert circle.wrap(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert circle.wrap(np.full((2, 3), 7.0)).shape == (2, 3)
    assert type(circle.wrap(np.float64(7))) is float
    assert type(circle.wrap(np.array(7))) is float
    given_values = np.array([10.0, -10.0])
    circle.wrap(given_values)
    assert given_values.tolist() == [10.0, -10.0]


@given(any_angle, periods)
@reproducible
def test_radians_there_and_back(angle, period):
    radians = circle.to_radians(angle, period)
    assert -np.pi < radians <= np.pi
    assert around(circle.from_radians(radians, period), angle, period, 1e-15)
    assert 0 <= circle.from_radians(radians, period, origin=0) < period


def test_radians_of_known_angles():
    np.testing.assert_array_equal(circle.to_radians([0, 180, -180, 540], 360), [0, np.pi, np.pi, np.pi])
    np.testing.assert_allclose(circle.to_radians([90, 270], 360), [np.pi / 2, -np.pi / 2], rtol=1e-15)
    assert circle.from_radians(np.pi, 360) == 180
    assert circle.from_radians(-np.pi, 360) == 180


@given(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4), periods)
@reproducible
def test_difference_is_the_shortest_way(a, b, period):
    d = circle.difference(a, b, period)
    assert -period / 2 < d <= period / 2
    assert around(b + d, a, period, 1e-9 * (1 + 1e4 / period))
    assert circle.difference(a, a, period) == 0
    back = circle.difference(b, a, period)
    assert back == -d or (back == d == period / 2)


def test_difference_broadcasts():
    assert circle.difference(np.zeros((3, 1)), np.ones(4)).shape == (3, 4)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2)])
@pytest.mark.parametrize("period", [TWO_PI, 360.0])
def test_moments_agree_with_scipy(axis, period):
    angles = np.random.default_rng(1).uniform(-period, 2 * period, (4, 5, 6))
    if isinstance(axis, tuple):
        flat, flat_axis = np.moveaxis(angles, 1, 0).reshape(5, -1), 1
    else:
        flat, flat_axis = angles, axis
    half = period / 2
    expected = stats.circmean(flat, high=half, low=-half, axis=flat_axis)
    assert np.shape(circle.mean(angles, axis, period=period)) == np.shape(expected)
    assert around(circle.mean(angles, axis, period=period), expected, period, 1e-12)
    expected = stats.circvar(flat, high=half, low=-half, axis=flat_axis)
    np.testing.assert_allclose(circle.variance(angles, axis, period=period), expected, rtol=1e-12)
    np.testing.assert_allclose(circle.resultant_length(angles, axis, period=period), 1 - expected, rtol=1e-11)
    expected = stats.circstd(flat, high=half, low=-half, axis=flat_axis)
    np.testing.assert_allclose(circle.standard_deviation(angles, axis, period=period), expected, rtol=1e-11)


@given(seeds, st.floats(-10, 10), periods, st.floats(0.01, 3))
@reproducible
def test_moments_turn_with_the_angles_and_scale_with_the_period(seed, turn, period, spread):
    angles = np.random.default_rng(seed).normal(0, spread, 30)
    if circle.resultant_length(angles) < 1e-3:
        return
    scaled = (angles + turn) / TWO_PI * period
    turned = circle.from_radians(circle.mean(angles) + turn, period)
    assert around(circle.mean(scaled, period=period), turned, period, 1e-10)
    np.testing.assert_allclose(circle.variance(scaled, period=period), circle.variance(angles), rtol=1e-9)
    np.testing.assert_allclose(
        circle.standard_deviation(scaled, period=period) / period,
        circle.standard_deviation(angles) / TWO_PI,
        rtol=1e-9,
    )


@given(hnp.arrays(float, st.integers(1, 20), elements=st.floats(-1e3, 1e3)), periods)
@reproducible
def test_variance_and_length_stay_in_their_range(angles, period):
    v, r = circle.variance(angles, period=period), circle.resultant_length(angles, period=period)
    assert 0 <= v <= 1
    assert 0 <= r <= 1
    assert abs(v + r - 1) < 1e-13
    assert circle.standard_deviation(angles, period=period) >= 0


def test_integer_weights_repeat_the_angles():
    rng = np.random.default_rng(2)
    angles, weights = rng.uniform(-3, 3, 20), rng.integers(1, 5, 20)
    repeated = np.repeat(angles, weights)
    for statistic in (circle.mean, circle.variance, circle.resultant_length, circle.standard_deviation):
        np.testing.assert_allclose(statistic(angles, weights=weights), statistic(repeated), rtol=1e-12)
    table = rng.uniform(-3, 3, (20, 4))
    by_row = circle.mean(table, axis=0, weights=weights[:, None])
    np.testing.assert_allclose(by_row, [circle.mean(c, weights=weights) for c in table.T], rtol=1e-12)


@pytest.mark.parametrize("angles", [[0, 180], [0, 120, 240], [10, 100, 190, 280], list(range(0, 360, 7 * 8))])
def test_no_mean_direction_is_nan_without_a_warning(angles):
    cancels = circle.resultant_length(angles, period=360) == 0
    assert np.isnan(circle.mean(angles, period=360)) == cancels
    assert np.isnan(circle.mean(angles, period=360, origin=0)) == cancels
    assert np.isnan(circle.quantile(angles, 0.5, period=360)) == cancels
    if cancels:
        assert circle.variance(angles, period=360) == 1
        assert circle.standard_deviation(angles, period=360) == np.inf


def test_evenly_spaced_angles_have_no_direction_at_any_number():
    for n in (2, 3, 7, 360, 100_000):
        assert np.isnan(circle.mean(np.arange(n) * (360 / n) + 0.3, period=360)), n


def test_one_cancelling_column_leaves_the_others():
    angles = np.array([[0.0, 10.0], [180.0, 20.0]])
    np.testing.assert_allclose(circle.mean(angles, axis=0, period=360), [np.nan, 15])
    np.testing.assert_allclose(circle.quantile(angles, 0.5, axis=0, period=360), [np.nan, 15])


def test_concentrated_angles_keep_their_digits():
    z = np.random.default_rng(3).standard_normal(10_000)
    expected = np.std(z)
    for sd in (1e-3, 1e-6, 1e-9):
        np.testing.assert_allclose(circle.standard_deviation(sd * z) / sd, expected, rtol=1e-5)
        np.testing.assert_allclose(2 * circle.variance(sd * z) / sd**2, expected**2, rtol=1e-5)


def test_quantiles_are_linear_away_from_the_cut():
    rng = np.random.default_rng(4)
    angles = rng.normal(170, 20, (500, 3))
    q = [0.05, 0.5, 0.95]
    result = circle.quantile(angles, q, axis=0, period=360, origin=0)
    assert result.shape == (3, 3)
    np.testing.assert_allclose(result, np.quantile(angles, q, axis=0), rtol=1e-12)
    crossing = circle.quantile(angles + 180, q, axis=0, period=360)
    np.testing.assert_allclose(crossing, np.quantile(angles - 180, q, axis=0), rtol=1e-10, atol=1e-10)
    chains = circle.quantile(angles.reshape(5, 100, 3), q, axis=(0, 1), period=360, origin=0)
    np.testing.assert_allclose(chains, result, rtol=1e-12)
    assert isinstance(circle.quantile(angles, 0.5, period=360), float)


@given(seeds, st.floats(-10, 10), periods)
@reproducible
def test_quantiles_turn_with_the_angles_and_scale_with_the_period(seed, turn, period):
    angles = np.random.default_rng(seed).normal(0, 0.7, 40)
    q = np.array([0.1, 0.5, 0.8])
    scaled = circle.quantile((angles + turn) / TWO_PI * period, q, period=period)
    assert around(scaled, circle.from_radians(circle.quantile(angles, q) + turn, period), period, 1e-10)


@pytest.mark.parametrize("period", [0, -360, np.nan, np.inf, "turn", None])
def test_a_bad_period_is_named(period):
    for call in (
        lambda: circle.wrap(1.0, period),
        lambda: circle.to_radians(1.0, period),
        lambda: circle.from_radians(1.0, period),
        lambda: circle.difference(1.0, 2.0, period),
        lambda: circle.mean([1.0], period=period),
        lambda: circle.standard_deviation([1.0], period=period),
        lambda: circle.quantile([1.0], 0.5, period=period),
    ):
        with pytest.raises(InputError, match="period must be positive"):
            call()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_angles_that_are_not_finite_are_named(bad):
    with pytest.raises(InputError, match=r"angles must be finite but 1 of 4 .* index \(1, 0\)"):
        circle.mean([[1.0, 2.0], [bad, 3.0]])
    for function in (circle.wrap, circle.variance, circle.resultant_length, circle.standard_deviation):
        with pytest.raises(InputError, match="angles must be finite"):
            function(bad)
    with pytest.raises(InputError, match="b must be finite"):
        circle.difference(0.0, bad)
    with pytest.raises(InputError, match="radians must be finite"):
        circle.from_radians(bad, 360)
    with pytest.raises(InputError, match="origin must be a finite number"):
        circle.wrap(0.0, origin=bad)


def test_other_bad_arguments_are_named():
    with pytest.raises(InputError, match="at least one angle"):
        circle.mean([])
    with pytest.raises(InputError, match="must be numbers"):
        circle.wrap("north")
    with pytest.raises(InputError, match=r"q must lie in \[0, 1\]"):
        circle.quantile([1.0, 2.0], 5)
    with pytest.raises(InputError, match="weights must be finite and not negative"):
        circle.mean([1.0, 2.0], weights=[1, -1])
    with pytest.raises(InputError, match="weights must have a positive sum"):
        circle.mean([1.0, 2.0], weights=[0, 0])
    with pytest.raises(InputError, match="weights must broadcast"):
        circle.mean([1.0, 2.0], weights=[1, 1, 1])
