"""Learning with thousands of places: the maximum of the pseudo-likelihood, and iterations."""

from functools import cache

import numpy as np
import pytest

from learners import BROAD
from sparse_problems import unit_vectors
from vmqp import kernels
from vmqp.learning import Learner, Method, make_problem
from vmqp.learning.objective import observed_angles
from vmqp.learning.pseudolikelihood import maximize
from vmqp.precision import make_graph, vecchia
from vmqp.sampling import sample_angles

MANY, VARIANCE, LENGTH = 2500, 0.3, 0.1


@cache
def many_angles():
    """Places in the plane, and a draw of their angles without a drift."""
    places = np.random.default_rng(1).uniform(size=(MANY, 2))

    def covariance(i, j):
        return VARIANCE * np.exp(-np.linalg.norm(places[i] - places[j], axis=1) / LENGTH)

    precision = vecchia(covariance, make_graph(places, k=10))
    angles = sample_angles(precision, np.zeros((MANY, 2)), draws=1, warmup=100, seed=3)[0]
    return places, angles


def many(noise=None, **options):
    places, angles = many_angles()
    kernel = BROAD * kernels.Exponential(LENGTH)
    settings = {"kernel": kernel, "concentration": 0.0, "neighbors": 10, "noise": noise} | options
    return make_problem(places, angles, **settings)


def test_the_maximum_of_many_places():
    maximum = maximize(many())
    assert maximum.converged
    assert maximum.values["variance"] == pytest.approx(VARIANCE, rel=0.3)
    assert maximum.covariance.shape == (1, 1)
    dense = maximize(many(neighbors=None))
    assert dense.values == maximum.values, "it depends on the places, not on the precision"


def test_the_maximum_of_many_places_with_a_noise_for_each():
    """Rows of the part that is looked at keep their own."""
    noise = np.random.default_rng(4).uniform(20.0, 200.0, MANY)
    maximum = maximize(many(noise))
    assert maximum.converged
    assert 0.1 < maximum.values["variance"] < 1.0


def test_some_groups_of_near_places_stand_for_many():
    noise = np.arange(1.0, MANY + 1.0)
    given = many(noise)
    part = observed_angles(given).clustered(800)
    places, angles = many_angles()
    assert 300 < len(part.X) <= 800
    assert len(np.unique(part.rows)) == len(part.rows)
    np.testing.assert_array_equal(part.X, places[part.rows])
    np.testing.assert_allclose(part.x[:, 0], unit_vectors(angles)[:, 0, part.rows])
    K = part.covariance(np.zeros(1))
    np.testing.assert_allclose(np.diag(K), 1.0 + 1.0 / noise[part.rows])
    again = part.thinned(3)
    np.testing.assert_array_equal(again.rows, part.rows[::3])
    np.testing.assert_allclose(np.diag(again.covariance(np.zeros(1))), 1.0 + 1.0 / noise[part.rows[::3]])
    # Both short and long distances are among them.
    nearest = np.sort(np.linalg.norm(part.X[:, None] - part.X, axis=-1), axis=1)[:, 1]
    of_all = np.sort(np.linalg.norm(places[:500, None] - places, axis=-1), axis=1)[:, 1]
    assert np.median(nearest) < 1.5 * np.median(of_all)
    assert np.ptp(part.X, axis=0).min() > 0.8


def test_a_learner_of_many_places_advances():
    """Places that a dense precision could still do, but not in this time."""
    task = Learner(many(np.full(MANY, 100.0), neighbors=6), Method(inner_steps=2, outer_steps=2), warmup=2)
    state, chunk = task.advance(task.start(1, 0), 4)
    assert chunk.angles["latent"].shape == (2, MANY)
    assert np.isfinite(chunk.stats["energy"]).all()
    assert state["x"].shape == (2, 1, MANY)
