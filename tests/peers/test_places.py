"""Kernels at observed and new places: conditioning against the whole kernel matrix."""

import pickle

import numpy as np
import pytest

from vmqp import kernels
from vmqp.learning import make_problem
from vmqp.peers.places import Places, nearest_first, solved
from vmqp.precision import factorise
from vmqp.priors import LogNormal

BROAD = LogNormal(0.0, 1.0)
RNG = np.random.default_rng(2)
X, NEW = RNG.uniform(0, 3, (7, 2)), RNG.uniform(0, 3, (4, 2))
KERNEL = BROAD * kernels.Exponential(BROAD) + kernels.Nugget(LogNormal(-2, 1))


@pytest.fixture
def places():
    return Places(make_problem(X, np.zeros(7), NEW, kernel=KERNEL, concentration=0.0))


def named(places, numbers=(1.7, 0.8, 0.05)):
    return dict(zip(places.observed.exchanged, numbers, strict=True))


def test_conditioning_is_that_of_the_whole_matrix(places):
    values = named(places)
    K = places.problem.bound.covariance(values)
    factor = places.factor(values)
    np.testing.assert_allclose(factor.L @ factor.L.T, K[:7, :7], rtol=1e-12)
    np.testing.assert_allclose(factor.M, np.linalg.inv(K[:7, :7]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(places.covariance(values), K[:7, :7], rtol=1e-12)
    given = places.conditional(values, factor.L)
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


def test_the_nugget_is_part_of_a_new_observation_at_an_observed_place():
    problem = make_problem(X, np.zeros(7), X[:1], kernel=KERNEL, concentration=0.0)
    places = Places(problem)
    values = named(places)
    variance = places.conditional(values, places.factor(values).L).variances[0]
    assert 0.05 < variance < 0.1


def test_a_place_that_is_all_but_known_has_a_law_with_some_width():
    """A smooth kernel leaves nothing but rounding between close places."""
    line = np.linspace(0, 1, 8)[:, None]
    problem = make_problem(
        line, np.zeros(8), line[:5] + 1e-9, kernel=1.0 * kernels.Gaussian(BROAD), concentration=0.0
    )
    places = Places(problem)
    values = {"lengthscale": 0.4}
    given = places.conditional(values, places.factor(values).L)
    assert (given.variances > 0.0).all()
    assert (given.variances < 1e-9).all()
    assert np.isfinite(given.root).all()
    assert (given.root.diagonal() > 0.0).all()


def test_a_worker_gets_no_geometry(places):
    values = named(places)
    places.conditional(values, places.factor(values).L)
    again = pickle.loads(pickle.dumps(places))
    assert set(vars(again)) == {"problem"}
    np.testing.assert_array_equal(again.factor(values).L, places.factor(values).L)


def test_values_without_a_factor_are_refused(places):
    assert places.factor(named(places, (1.0, np.inf, 0.0))) is None
    assert places.factor(named(places, (np.inf, 1.0, 0.1))) is None


def test_nearness_is_by_the_kernel(places):
    distance = np.linalg.norm(X[:, None] - X, axis=-1)
    np.testing.assert_array_equal(places.nearness, np.argsort(distance, axis=1))
    uneven = np.array([[1.0, 0.5, 0.1], [0.5, 4.0, 0.1], [0.1, 0.1, 1.0]])
    assert nearest_first(uneven)[0].tolist() == [0, 2, 1], "by the variance of the difference"
