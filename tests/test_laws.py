"""Laws on the circle that come from the line and the plane: against sums and integrals of what they stand for."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from vmqp.laws import projected_moment, projected_normal, wrapped_normal

GRID = np.linspace(-np.pi, np.pi, 4096, endpoint=False)
SPACING = 2.0 * np.pi / len(GRID)

# Wrapped normal

VARIANCES = [1e-12, 1e-4, 0.3, 2.0, 3.14, 3.1415, 3.1416, 3.15, 8.0, 60.0, 1e3]


def summed(gap, variance, turns=60):
    """Log of the sum over whole turns of a normal density."""
    k = np.arange(-turns, turns + 1)
    logs = stats.norm.logpdf(np.subtract.outer(gap, 2.0 * np.pi * k), scale=np.sqrt(variance))
    return np.logaddexp.reduce(logs, axis=-1)


@pytest.mark.parametrize("variance", VARIANCES)
def test_wrapped_normal_is_a_sum_over_turns(variance):
    gaps = np.array([0.0, 1e-6, 0.1, 1.0, 3.0, np.pi, -np.pi, -2.0])
    np.testing.assert_allclose(
        wrapped_normal(gaps, 0.0, variance), summed(gaps, variance), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("variance", [v for v in VARIANCES if v >= 1e-4])
def test_wrapped_normal_has_mass_one(variance):
    np.testing.assert_allclose(np.exp(wrapped_normal(GRID, 1.234, variance)).sum() * SPACING, 1.0, rtol=1e-12)


def test_whole_turns_make_no_difference():
    turns = 2.0 * np.pi * np.arange(-3, 4)
    values = wrapped_normal(0.4 + turns, 1.1 - turns[::-1], 0.7)
    np.testing.assert_allclose(values, values[0], rtol=1e-12)


@pytest.mark.parametrize("variance", [0.0, 1e-300, 1e-30, 1e30])
def test_wrapped_normal_at_the_ends_of_what_a_variance_can_be(variance):
    values = wrapped_normal([0.0, 1.0, -np.pi], 0.0, variance)
    assert not np.isnan(values).any()
    assert np.isfinite(values[0])


# Projected normal

COVARIANCES = {
    "round": (1.0, 0.0, 1.0),
    "small": (1e-12, 0.0, 1e-12),
    "narrow": (0.01, 0.0, 0.01),
    "large": (1e3, 0.0, 1e3),
    "stretched": (4.0, 1.5, 0.8),
    "needle": (2.0, 1.999, 2.0),
    "tilted": (0.5, -0.6, 1.7),
}
MEANS = [(0.0, 0.0), (0.3, -0.2), (-1.0, 2.0), (5.0, 5.0), (-30.0, 1.0)]


NODES, WEIGHTS = np.polynomial.legendre.leggauss(120)


def integrated(angle, x, y, xx, xy, yy):
    """Log of ∫ r N₂(r u; m, Σ) dr by quadrature on panels about the largest value."""
    S, m, u = np.array([[xx, xy], [xy, yy]]), np.array([x, y]), np.array([np.cos(angle), np.sin(angle)])
    own, pull = u @ np.linalg.solve(S, u), u @ np.linalg.solve(S, m)
    top = 0.5 * (pull + np.sqrt(pull**2 + 4.0 * own)) / own
    wide = 1.0 / np.sqrt(own + 1.0 / top**2)
    ends = [max(0.0, top - 12.0 * wide), top, top + 12.0 * wide, top + 40.0 * wide]
    parts = []
    for low, high in pairwise(ends):
        r = low + 0.5 * (high - low) * (NODES + 1.0)
        logs = np.log(r) + stats.multivariate_normal(m, S).logpdf(r[:, None] * u)
        parts.append(np.log(WEIGHTS * 0.5 * (high - low)) + logs)
    return np.logaddexp.reduce(np.concatenate(parts))


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("mean", MEANS)
def test_projected_normal_is_an_integral_over_the_radius(mean, covariance):
    spread = COVARIANCES[covariance]
    scale = np.sqrt(spread[0])  # lengths in units of the process
    mean = (mean[0] * scale, mean[1] * scale)
    for angle in (0.0, 0.7, 2.0, -2.5, np.pi):
        expected = integrated(angle, *mean, *spread)
        np.testing.assert_allclose(projected_normal(angle, *mean, *spread), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("length", [0.0, 1e-3, 1.0, 30.0, 1e3])
def test_projected_normal_has_mass_one(length, covariance):
    """On a grid about the peak that is as fine as the law is narrow."""
    a, b, c = COVARIANCES[covariance]
    x, y = length * np.sqrt(a) * np.array([np.cos(0.8), np.sin(0.8)])
    wide = min(np.pi, 60.0 / max(length, 1e-9))
    angles = 0.8 + np.linspace(-wide, wide, 40_001)
    values = np.exp(projected_normal(angles, x, y, a, b, c))
    np.testing.assert_allclose(integrate.trapezoid(values, angles), 1.0, rtol=1e-6)


def test_projected_normal_follows_the_distance_behind_smoothly():
    """With Σ = 1 and the mean straight ahead or behind, D is the mean's part along the direction.

    The law is compared with the integral over r ≥ 0 of r exp(−½ r² + D r), and its second differences see a step
    that is far below those of the comparison, also where one formula takes over from the other.
    """
    D = np.linspace(-150.0, 60.0, 21_001)
    values = projected_normal(0.0, D, 0.0, 1.0, 0.0, 1.0)
    assert np.isfinite(values).all()
    bend = np.diff(values, 2) / (D[1] - D[0]) ** 2
    assert np.abs(np.diff(bend)).max() < 0.02
    for d in (-149.0, -101.0, -99.0, -60.0, -30.01, -29.99, -3.0, -1e-9, 1e-9, 3.0, 60.0):
        expected = integrated(0.0, d, 0.0, 1.0, 0.0, 1.0)
        np.testing.assert_allclose(projected_normal(0.0, d, 0.0, 1.0, 0.0, 1.0), expected, rtol=1e-10)


def test_projected_normal_turns_with_its_vector():
    turn = 1.1
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    S, m = np.array([[2.0, 0.7], [0.7, 0.9]]), np.array([0.4, -1.3])
    turned, moved = R @ S @ R.T, R @ m
    np.testing.assert_allclose(
        projected_normal(GRID + turn, *moved, turned[0, 0], turned[0, 1], turned[1, 1]),
        projected_normal(GRID, *m, S[0, 0], S[0, 1], S[1, 1]),
        rtol=1e-11,
    )


def test_the_length_of_the_vector_makes_no_difference():
    one = projected_normal(GRID, 0.5, 1.0, 2.0, 0.3, 1.0)
    for c in (1e-3, 1e3):
        other = projected_normal(GRID, 0.5 * c, c, 2.0 * c * c, 0.3 * c * c, c * c)
        np.testing.assert_allclose(other, one, rtol=1e-11)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("mean", MEANS)
def test_moment_of_a_projected_normal(mean, covariance):
    """Against the density on a grid; of the needle both know nine digits."""
    a, b, c = COVARIANCES[covariance]
    x, y = np.sqrt(a) * np.array(mean)
    angles = np.linspace(-np.pi, np.pi, 400_000, endpoint=False)
    density = np.exp(projected_normal(angles, x, y, a, b, c))
    expected = (density * np.exp(1j * angles)).sum() / density.sum()
    np.testing.assert_allclose(projected_moment(x, y, a, b, c), expected, atol=1e-9)


def test_moment_of_a_projected_normal_without_width():
    found = projected_moment([3.0, -1e-5, 0.0], [4.0, 0.0, 0.0], *(np.zeros(3),) * 3)
    np.testing.assert_allclose(found, [0.6 + 0.8j, -1.0, 0.0], atol=1e-12)
