"""Kernels at observed and new locations: conditioning against the whole kernel matrix."""

import numpy as np
import pytest

from vmqp import kernels
from vmqp.errors import NotPositiveDefiniteError
from vmqp.learning import make_problem
from vmqp.peers.locations import NewLocations, factor_of, learned_factor, nearest_first, solved
from vmqp.peers.wrapped import WrappedTask
from vmqp.precision import factorise
from vmqp.priors import LogNormal

BROAD = LogNormal(0.0, 1.0)
RNG = np.random.default_rng(2)
X, NEW = RNG.uniform(0, 3, (7, 2)), RNG.uniform(0, 3, (4, 2))
KERNEL = BROAD * kernels.Exponential(BROAD) + kernels.Nugget(LogNormal(-2, 1))
VALUES = {"variance": 1.7, "lengthscale": 0.8, "nugget": 0.05}


@pytest.fixture
def problem():
    return make_problem(X, np.zeros(7), kernel=KERNEL, concentration=0.0)


def test_conditioning_is_that_of_the_whole_matrix(problem):
    K = KERNEL.bind(np.concatenate([X, NEW])).covariance(VALUES)
    factor = factor_of(problem, VALUES)
    np.testing.assert_allclose(factor.L @ factor.L.T, K[:7, :7], rtol=1e-12)
    np.testing.assert_allclose(factor.M, np.linalg.inv(K[:7, :7]), rtol=1e-9, atol=1e-12)
    given = NewLocations(problem, NEW).given(VALUES)
    np.testing.assert_array_equal(given.L, factor.L)
    precision = factorise(K).M[7:, 7:]
    covariance = np.linalg.inv(precision)
    np.testing.assert_allclose(given.root @ given.root.T, covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(given.variances, covariance.diagonal(), rtol=1e-9)
    z = RNG.normal(size=7)
    np.testing.assert_allclose(
        given.weights.T @ solved(factor.L, z[:, None])[:, 0],
        -covariance @ factorise(K).M[7:, :7] @ z,
        rtol=1e-9,
        atol=1e-12,
    )


def test_the_nugget_is_part_of_a_new_observation_at_an_observed_location(problem):
    variance = NewLocations(problem, X[:1]).given(VALUES).variances[0]
    assert 0.05 < variance < 0.1


def test_a_location_that_is_all_but_known_has_a_distribution_with_some_width():
    """A smooth kernel leaves nothing but rounding between close locations."""
    line = np.linspace(0, 1, 8)[:, None]
    problem = make_problem(line, np.zeros(8), kernel=1.0 * kernels.Gaussian(BROAD), concentration=0.0)
    given = NewLocations(problem, line[:5] + 1e-9).given({"lengthscale": 0.4})
    assert (given.variances > 0.0).all()
    assert (given.variances < 1e-9).all()
    assert np.isfinite(given.root).all()
    assert (given.root.diagonal() > 0.0).all()


def test_values_without_a_factor_are_refused(problem):
    assert factor_of(problem, VALUES | {"lengthscale": np.inf, "nugget": 0.0}) is None
    assert factor_of(problem, VALUES | {"variance": np.inf}) is None
    with pytest.raises(NotPositiveDefiniteError, match=r"7 observed locations has no factor.*Nugget"):
        learned_factor(problem, VALUES | {"lengthscale": np.inf, "nugget": 0.0})


def test_nearness_is_by_the_kernel(problem):
    distance = np.linalg.norm(X[:, None] - X, axis=-1)
    np.testing.assert_array_equal(WrappedTask(problem).nearness, np.argsort(distance, axis=1))
    uneven = np.array([[1.0, 0.5, 0.1], [0.5, 4.0, 0.1], [0.1, 0.1, 1.0]])
    assert nearest_first(uneven)[0].tolist() == [0, 2, 1], "by the variance of the difference"
