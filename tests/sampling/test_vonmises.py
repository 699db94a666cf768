"""The von Mises draw from concentration 0 to 1e200.

False alarms: every comparison fails by chance with the probability 1e-7; there are below 100, so the file fails by
chance with a probability below 1e-5. Seeds are fixed.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.special import i0e, i1e

from references import size
from vmqp.sampling import sample_vonmises

pytestmark = pytest.mark.statistical

RATE = 1e-7
CONCENTRATIONS = [
    0.0,
    1e-300,
    1e-8,
    0.1,
    0.999,
    1.0,
    1.001,
    1.999,
    2.0,
    2.001,
    5.0,
    20.0,
    1e3,
    1e6,
    1e12,
    1e200,
]
DRAWS = size(200_000)


@pytest.fixture(scope="module", params=CONCENTRATIONS)
def drawn(request):
    """The concentration and its draws."""
    return request.param, sample_vonmises(request.param, DRAWS, seed=CONCENTRATIONS.index(request.param))


def mean_deviation(k):
    """E[1 − cos t] = 1 − I₁(k)/I₀(k); by its asymptotic series where the difference would cancel."""
    if k < 100.0:
        return (i0e(k) - i1e(k)) / i0e(k)
    return 1 / (2 * k) + 1 / (8 * k) / k + 1 / (8 * k) / k / k + 25 / (128 * k) / k / k / k


def cdf(k, t):
    """By quadrature, at a resolution of 1e-4 deviations."""
    half = np.pi if k < 10.0 else min(np.pi, 14.0 / np.sqrt(k))
    grid = np.linspace(-half, half, 200_001)
    density = np.exp(-2.0 * k * np.sin(0.5 * grid) ** 2)
    total = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    return np.interp(t, grid, total / total[-1])


def test_series_meets_the_bessel_functions():
    exact = (i0e(100.0) - i1e(100.0)) / i0e(100.0)
    assert abs(mean_deviation(100.0) / exact - 1.0) < 1e-8


def test_finite_in_range_and_no_spike(drawn):
    _, t = drawn
    assert np.isfinite(t).all()
    assert t.min() > -np.pi
    assert t.max() <= np.pi
    assert len(np.unique(t)) > 0.9999 * len(t)


def test_mean_resultant_length(drawn):
    """E[1 − cos t] against 1 − I₁/I₀, relative to its own size, so that no digits are lost at large k."""
    k, t = drawn
    deviation = 2.0 * np.sin(0.5 * t) ** 2 / mean_deviation(k)
    z = (deviation.mean() - 1.0) / stats.sem(deviation)
    assert 2.0 * stats.norm.sf(abs(z)) > RATE


def test_symmetric(drawn):
    k, t = drawn
    scaled = np.sin(t) / np.sqrt(mean_deviation(k))
    z = scaled.mean() / stats.sem(scaled)
    assert 2.0 * stats.norm.sf(abs(z)) > RATE
    positive = int((t > 0.0).sum())
    assert stats.binomtest(positive, len(t)).pvalue > RATE
    # The sign is independent of the size.
    both = np.corrcoef(np.sign(t), np.abs(t) / np.abs(t).max())[0, 1]
    assert 2.0 * stats.norm.sf(abs(both) * np.sqrt(len(t))) > RATE


def test_distribution(drawn):
    """Kolmogorov and Smirnov, on the scale of the draw's own deviation."""
    k, t = drawn
    if k <= 1e6:
        assert stats.kstest(t, lambda t: cdf(k, t)).pvalue > RATE
    else:  # Gaussian to a relative error of 1/k
        assert stats.kstest(t * np.sqrt(k), "norm").pvalue > RATE


@pytest.mark.parametrize("k", [0.1, 1.0, 1.999, 2.0, 2.001, 5.0, 20.0])
def test_distribution_by_scipy(k):
    """Another implementation of the distribution function."""
    assert stats.kstest(sample_vonmises(k, DRAWS, seed=77), stats.vonmises(k).cdf).pvalue > RATE


@pytest.mark.parametrize("k", [1.0, 2.0, 3.0, 6.0])
def test_far_side_of_the_circle(k):
    """Frequencies of sectors, the rare ones opposite the mean among them, where the envelopes change over."""
    edges = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.1, 2.2, 2.24, 2.3, 2.5, 2.8, np.pi])
    n = 5 * DRAWS
    edges = np.append(
        edges[:-1][2.0 * n * cdf(k, -edges[:-1]) > 100.0], np.pi
    )  # at least 100 draws in the last
    counts, _ = np.histogram(np.abs(sample_vonmises(k, n, seed=9)), edges)
    shares = np.diff(2.0 * cdf(k, edges) - 1.0)
    assert stats.chisquare(counts, shares * n).pvalue > RATE


def test_draws_are_independent_in_sequence():
    t = sample_vonmises(3.0, DRAWS, seed=5)
    for lag in (1, 2, 3, 7):
        r = np.corrcoef(t[lag:], t[:-lag])[0, 1]
        assert 2.0 * stats.norm.sf(abs(r) * np.sqrt(len(t) - lag)) > RATE
