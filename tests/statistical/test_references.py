"""The references themselves: against closed forms, against each other, and the checks against known errors."""

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.special import i0e, ive

from references import (
    RATE,
    StiffTarget,
    chain_moments,
    energy,
    exact_draws,
    exact_moments,
    lattice,
    magnetisation,
    p_value,
    sample_wolff,
    two_sample_p_value,
)

COUPLING = np.array([[1.0, -4.0, 2.0], [-4.0, 0.0, -1.0], [2.0, -1.0, -3.0]])
FIELD = np.array([[1.0, 0.5], [0.0, -2.0], [0.3, 0.0]])


def test_quadrature_of_one_angle():
    moments = exact_moments(np.array([[7.0]]), np.array([[0.0, 3.0]]))
    one, two = ive(1, 3.0) / i0e(3.0), ive(2, 3.0) / i0e(3.0)
    np.testing.assert_allclose(moments, [0.0, one, 0.5 - 0.5 * two, 0.0, 0.5 + 0.5 * two], atol=1e-14)


def test_quadrature_of_a_pair():
    """Without field the difference is von Mises and the common angle uniform."""
    moments = exact_moments(np.array([[0.0, -5.0], [-5.0, 0.0]]), np.zeros((2, 2)))
    a = 0.5 * ive(1, 5.0) / i0e(5.0)
    np.testing.assert_allclose(moments, [0, 0, 0, 0, 0.5, a, 0, 0, 0.5, 0, 0, 0.5, a, 0.5], atol=1e-14)


def test_quadrature_has_converged():
    coarse, fine = (exact_moments(COUPLING, FIELD, points) for points in (72, 90))
    np.testing.assert_allclose(coarse, fine, atol=1e-13)


@pytest.mark.statistical
def test_exact_draws_against_quadrature():
    draws = exact_draws(COUPLING, FIELD, 50_000, seed=1)
    assert p_value(chain_moments(draws[:, None]), exact_moments(COUPLING, FIELD)) > RATE


def test_stiff_quadrature_meets_the_torus():
    """Where both work: couplings of about 300 on a fine grid."""
    coupling = np.array([[0.0, -300.0, 10.0], [-300.0, 0.0, -320.0], [10.0, -320.0, 0.0]])
    moments = exact_moments(coupling, FIELD, 144)
    np.testing.assert_allclose(
        StiffTarget(coupling, FIELD).expectations()[: len(moments)], moments, atol=1e-11
    )


@pytest.mark.statistical
def test_wolff_on_a_triangle():
    """Three angles that attract each other: energy, its square and the magnetisation by quadrature."""
    beta = 0.8
    triangle = sparse.csr_array(-beta * (np.ones((3, 3)) - np.eye(3)))
    angles = sample_wolff(triangle, chains=200, draws=300, warmup=20, clusters=3, seed=1)
    means = np.stack([energy(triangle, angles), magnetisation(angles)], axis=-1).mean(axis=1)
    x = np.linspace(-np.pi, np.pi, 60, endpoint=False)
    a, b = np.meshgrid(x, x)
    bonds = np.cos(a) + np.cos(b) + np.cos(a - b)
    weights = np.exp(beta * bonds)
    mean = (weights * bonds).sum() / weights.sum()
    assert p_value(means, np.array([-beta * mean / 3.0, (3.0 + 2.0 * mean) / 9.0])) > RATE


@pytest.mark.statistical
def test_wolff_at_infinite_temperature():
    angles = sample_wolff(lattice((4, 4), 1e-9), chains=50, draws=200, warmup=20, clusters=32, seed=1)
    assert p_value(magnetisation(angles).mean(axis=1)[:, None], np.array([1.0 / 16.0])) > RATE


@pytest.mark.statistical
def test_p_values_are_uniform_for_right_means():
    """One statistic, 2,000 sets of 30 chains: Kolmogorov and Smirnov at 1e-6."""
    rng = np.random.default_rng(0)
    single = [p_value(rng.normal(1.0, 2.0, (30, 1)), np.ones(1)) for _ in range(2000)]
    assert stats.kstest(single, "uniform").pvalue > RATE
    double = [two_sample_p_value(rng.normal(size=(30, 1)), rng.normal(0, 3, (20, 1))) for _ in range(2000)]
    assert stats.kstest(double, "uniform").pvalue > RATE


def test_checks_see_wrong_means():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(100, 20))
    assert p_value(means, np.zeros(20)) > 1e-3
    shifted = means + 1.0 * (np.arange(20) == 7)
    assert p_value(shifted, np.zeros(20)) < RATE
    assert two_sample_p_value(shifted, rng.normal(size=(100, 20))) < RATE
    constant = np.full((10, 1), 0.25)
    assert p_value(constant, np.array([0.25])) == 1.0
    assert p_value(constant, np.array([0.26])) == 0.0
