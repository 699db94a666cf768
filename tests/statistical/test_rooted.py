"""Samplers on a coupling by its root against exact laws, and broken ones that the same comparisons have to reject.

False alarms: each comparison fails by chance with the probability RATE = 1e-6 (``references.p_value``). There are about
100 of them in this file, so new seeds would make it fail by chance once in 10,000 runs; the seeds are fixed.
"""

from functools import partial

import numpy as np
import pytest

import vmqp
from references import RATE, chain_moments, exact_draws, exact_moments, p_value, size
from small_laws import CASES, expected, moved, stiff_p_value, suite_p_value
from vmqp.precision import make_graph, vecchia
from vmqp.sampling import SAMPLERS, Sampler, make_target
from vmqp.sampling.heatbath import HeatBath
from vmqp.sampling.hmc import WhitenedHmc
from vmqp.sampling.hybrid import Hybrid
from vmqp.sampling.sampler import Info, unit_vectors

pytestmark = pytest.mark.statistical

TRUE_SAMPLERS = {name: (name, {}) for name in ("heatbath", "hmc-whitened", "hybrid")} | {
    "heatbath-plain": ("heatbath", {"overrelax": 0}),
    "heatbath-3": ("heatbath", {"overrelax": 3}),
}


def rooted(coupling, above=1.0):
    """U of the coupling with its diagonal raised until the smallest eigenvalue is `above`: the law is the same."""
    d = len(coupling)
    raised = coupling + (above - np.linalg.eigvalsh(coupling)[0]) * np.eye(d)
    K = np.linalg.inv(raised)
    places = np.random.default_rng(d).uniform(size=(d, 1))  # so that the rows are not in their order
    return vecchia(lambda i, j: 0.5 * (K[i, j] + K[j, i]), make_graph(places, k=max(1, d - 1)))


def hollow_rooted(coupling, above=1.0):
    """The same without the diagonal that was given: it does not matter either."""
    return rooted(coupling - np.diag(np.diag(coupling)), above)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_moments_are_those_of_quadrature(sampler, name):
    assert suite_p_value(name, *TRUE_SAMPLERS[sampler], form=hollow_rooted) > RATE


@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_the_diagonal_does_not_matter(sampler):
    """Ten times the largest coupling: the term of the angle itself is then most of every sum."""
    assert (
        suite_p_value("3-mixed-signs", *TRUE_SAMPLERS[sampler], form=partial(hollow_rooted, above=20.0))
        > RATE
    )


@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_with_one_neighbour_the_law_is_that_of_the_approximation(sampler):
    """Not that of the kernel: what is sampled is exactly U Uᵀ, whatever it is near to."""
    X = np.array([[0.0, 0.0], [1.0, 0.1], [0.4, 0.7]])
    precision = vecchia(
        lambda i, j: 0.4 * np.exp(-np.linalg.norm(X[i] - X[j], axis=1)), make_graph(X, n=1, k=1)
    )
    M = (precision.U @ precision.U.T).toarray()
    field = np.array([[1.0, 0.0], [0.0, 0.5], [-0.4, 0.2]])
    kind, options = TRUE_SAMPLERS[sampler]
    settings = {"chains": 256, "draws": size(150), "warmup": 100, "sampler": kind, "seed": 2}
    angles = vmqp.sample_angles_batch(precision, field, **settings, **options)
    assert p_value(chain_moments(angles), exact_moments(M, field)) > RATE


@pytest.mark.parametrize("steps", [1, 10])
@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_exact_draws_stay_exact(sampler, steps):
    """One exact draw for each chain, so the test does not depend on how fast the sampler mixes."""
    coupling, field = CASES["3-strong-field"]
    starts = exact_draws(coupling, field, size(4000), seed=5)
    ends = moved(make_target(hollow_rooted(coupling), field), *TRUE_SAMPLERS[sampler], starts, steps)
    assert p_value(chain_moments(ends[:, None]), expected("3-strong-field")) > RATE


# Stiff: condition number 1e6


@pytest.mark.parametrize("steps", [1, 10])
@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_a_stiff_law_is_unchanged(sampler, steps):
    assert stiff_p_value("3-two-scales", *TRUE_SAMPLERS[sampler], steps, form=rooted) > RATE


# Broken samplers


class NoSelfTerm(HeatBath):
    """The field of an angle holds Q_ii x_i, its own term."""

    name = "no-self-term"

    def __init__(self, target):
        coupling = target.coupling._replace(diagonal=np.zeros(target.size))
        super().__init__(target._replace(coupling=coupling))


class NoSelfTermHybrid(Hybrid):
    """The same, where every other move is right."""

    name = "no-self-term-hybrid"

    def __init__(self, target):
        super().__init__(target)
        coupling = target.coupling._replace(diagonal=np.zeros(target.size))
        self.target = target._replace(coupling=coupling)


class WrongOrder(WhitenedHmc):
    """Systems solved from the wrong end: velocities that do not fit the momenta."""

    name = "wrong-order"

    def __init__(self, target):
        super().__init__(target, step_size=0.5)
        self.mass = self.mass._replace(order=self.mass.order[::-1].copy())


class PlainRooted(Sampler):
    """A heat bath in NumPy that keeps t = Uᵀx, right unless a subclass breaks it."""

    name = "plain-rooted"
    forgets = False

    def step(self, rng, state):
        random = np.random.default_rng(rng.ravel())
        rng[:] = random.integers(1, 2**63, rng.shape, dtype=np.uint64)
        starts, columns, values, diagonal, _ = self.target.coupling
        U = np.zeros((self.target.size, self.target.size))
        for i in range(self.target.size):
            row = slice(starts[i], starts[i + 1])
            U[i, columns[row]] = values[row]
        x = state.x.copy()
        t = x @ U
        for i in range(self.target.size):
            h = self.target.field[:, i, None] - t @ U[i] + diagonal[i] * x[:, :, i]
            new = unit_vectors(np.arctan2(h[1], h[0]) + random.vonmises(0.0, np.hypot(*h)))
            if not self.forgets:
                t += (new - x[:, :, i])[:, :, None] * U[i]
            x[:, :, i] = new
        return state._replace(x=x, steps=state.steps + 1), Info(np.ones(rng.shape[0]))


class StaleSums(PlainRooted):
    """A new angle does not change the sums."""

    name = "stale-sums"
    forgets = True


WITNESSES = ["2-repulsion-field", "3-mixed-signs", "3-strong-field"]


@pytest.mark.parametrize("name", WITNESSES)
def test_right_plain_sampler_passes(monkeypatch, name):
    """So what is rejected below is the fault that was put into it."""
    monkeypatch.setitem(SAMPLERS, PlainRooted.name, PlainRooted)
    assert suite_p_value(name, PlainRooted.name, {}, form=hollow_rooted) > RATE


@pytest.mark.parametrize("name", WITNESSES)
@pytest.mark.parametrize(
    "kind", [NoSelfTerm, NoSelfTermHybrid, WrongOrder, StaleSums], ids=lambda kind: kind.name
)
def test_broken_sampler_is_rejected(monkeypatch, kind, name):
    monkeypatch.setitem(SAMPLERS, kind.name, kind)
    assert suite_p_value(name, kind.name, {}, form=hollow_rooted) < RATE


@pytest.mark.parametrize("kind", [NoSelfTerm, StaleSums], ids=lambda kind: kind.name)
def test_broken_sampler_is_rejected_on_a_stiff_target(monkeypatch, kind):
    monkeypatch.setitem(SAMPLERS, kind.name, kind)
    assert stiff_p_value("3-two-scales", kind.name, {}, 1, form=rooted) < RATE
