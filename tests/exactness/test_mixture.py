"""Summaries of a mixture against brute-force draws from it, for each family of components.

Each comparison of a mean over 200,000 independent draws is made at six standard errors: by chance one fails with a
probability of 2e-9, and all of some hundred with less than 1e-6. Shortest arcs and regions are compared by the mass
that they hold, and by their width with what the draws give (their scatter there was measured: 0.8 % at most).
"""

import numpy as np
import pytest

from vmqp import arcs, scores
from vmqp.circle import TWO_PI, wrap
from vmqp.posterior import mixture
from vmqp.posterior.components import ProjectedNormal, VonMises, WrappedNormal

SETS, COUNT = 41, 41 * 4900
LIMIT = 6.0


def families():
    rng = np.random.default_rng(1)
    m = 8
    about = rng.uniform(-np.pi, np.pi, m)
    direction = rng.normal(0.0, 0.3, (SETS, m)) + about
    two_modes = np.where(rng.uniform(size=(SETS, 1)) < 0.4, direction + 2.5, direction)
    strength = rng.gamma(5.0, 1.0, (SETS, m)) * np.exp(np.linspace(-3.0, 6.0, m))
    chi = rng.gamma(5.0, 2.0, (SETS, 1))
    spread = np.full((SETS, m), 0.5)
    return {
        "von Mises": VonMises(direction, strength),
        "two modes": VonMises(two_modes, strength),
        "noise": VonMises(direction, strength, chi),
        "noise by location": VonMises(direction, strength, np.broadcast_to(chi, (SETS, m))),
        "wrapped": WrappedNormal(direction, 1.0 / strength),
        "projected": ProjectedNormal(
            2.0 * np.cos(direction), 2.0 * np.sin(direction), spread, 0.2 * spread, 0.7 * spread
        ),
        "long vectors": ProjectedNormal(
            200.0 * np.cos(direction), 200.0 * np.sin(direction), spread, 0.2 * spread, 0.7 * spread
        ),
    }


FAMILIES = families()


@pytest.fixture(scope="module", params=list(FAMILIES))
def case(request):
    components = FAMILIES[request.param]
    rng = np.random.default_rng(3)
    draws = components.sample(rng, np.tile(np.arange(SETS), COUNT // SETS), noise=True)
    truth = draws[17] + 0.2
    return components, draws, truth


def within(found, values, mean=None):
    """Whether a number is the mean of draws, (draws, m), within their scatter."""
    expected = values.mean(axis=0) if mean is None else mean
    error = values.std(axis=0) / np.sqrt(len(values))
    return np.abs(found - expected) <= LIMIT * error + 1e-12


def test_moment(case):
    components, draws, _ = case
    moment = components.moment().mean(axis=0)
    assert within(moment.real, np.cos(draws)).all()
    assert within(moment.imag, np.sin(draws)).all()


def test_distribution_function_and_transform(case):
    components, draws, truth = case
    found = mixture.cdf(components, truth[:, None])[:, 0]
    cut = np.angle(components.moment().mean(axis=0)) - np.pi
    before = np.mod(draws - cut, TWO_PI) < np.mod(truth - cut, TWO_PI)
    assert within(found, before).all()
    np.testing.assert_allclose(found, scores.pit(draws, truth), atol=0.01)


def test_density_adds_up_to_the_distribution_function(case):
    components, _, _ = case
    start = np.angle(components.moment().mean(axis=0))
    points = np.linspace(0.0, 1.0, 20_001)
    for row in range(2):
        own = components.at(slice(row, row + 1))
        density = mixture.density(own, start[row] + points)[0]
        mass = ((density[1:] + density[:-1]) * 0.5 * np.diff(points)).sum()
        ends = mixture.cdf(own, start[row] + np.array([[0.0, 1.0]]))[0]
        np.testing.assert_allclose(mass, ends[1] - ends[0], atol=2e-6)


def test_log_density(case):
    components, _, truth = case
    found = mixture.log_density(components, truth)
    one = [mixture.density(components.at(slice(i, i + 1)), truth[i : i + 1])[0, 0] for i in range(len(truth))]
    np.testing.assert_allclose(found, np.log(one), rtol=1e-9)


@pytest.mark.parametrize("probability", [0.5, 0.9, 0.99])
def test_shortest_arcs(case, probability):
    components, draws, _ = case
    lower, upper = mixture.shortest_arcs(components, probability).T
    inside = arcs.in_arc(draws, lower, upper)
    assert within(probability, inside).all()
    brute = np.asarray(arcs.shortest_arc(draws, probability, axis=0))
    width = arcs.arc_width(brute[:, 0], brute[:, 1])
    np.testing.assert_allclose(upper - lower, width, rtol=0.012)


def test_regions(case):
    components, draws, _ = case
    for row, found in enumerate(mixture.top_arcs(components, 0.9)):
        assert (found[:, 1] > found[:, 0]).all()
        inside = np.zeros(COUNT, dtype=bool)
        for lower, upper in found:
            inside |= np.mod(draws[:, row] - lower, TWO_PI) <= upper - lower
        # The density between the points of a table is taken for linear here: 0.3 % of mass at most.
        assert abs(inside.mean() - 0.9) < 0.003 + LIMIT * np.sqrt(0.09 / COUNT)
        one = mixture.shortest_arcs(components.at(slice(row, row + 1)), 0.9)[0]
        assert (found[:, 1] - found[:, 0]).sum() < (one[1] - one[0]) * 1.01


def test_scores(case):
    components, draws, truth = case
    moment = components.moment().mean(axis=0)
    closed = 0.5 * np.abs(moment - np.exp(1j * truth)) ** 2
    np.testing.assert_allclose(closed, scores.crps(draws, truth), atol=0.012)
    assert np.abs(closed - scores.crps(draws, truth)).mean() < 0.003
    by_arc = mixture.arc_score(components, truth)
    np.testing.assert_allclose(by_arc, scores.crps(draws, truth, distance="arc"), atol=0.02)


@pytest.mark.parametrize("strength", [0.0, 1e-3, 0.7, 5.0, 400.0, 1e5, 1e9])
def test_one_von_mises_distribution(strength):
    """The table is fine enough: against a long sum."""
    one = VonMises(np.array([[1.0]]), np.array([[strength]]))
    lower, upper = mixture.shortest_arcs(one, 0.9)[0]
    if strength > 0.1:
        assert wrap(0.5 * (lower + upper) - 1.0) == pytest.approx(0.0, abs=1e-6 * (upper - lower))
    half = 0.5 * (upper - lower)
    reach = min(np.pi, 14.0 / np.sqrt(max(strength, 1e-12)))
    points = np.linspace(-reach, reach, 400_001)
    weight = np.exp(-2.0 * strength * np.sin(0.5 * points) ** 2)
    steps = 0.5 * (weight[1:] + weight[:-1])
    inside = np.interp([-half, half], points, np.append(0.0, np.cumsum(steps)))
    assert np.diff(inside)[0] / steps.sum() == pytest.approx(0.9, abs=2e-6)
    if strength == 0.0:
        return  # there is no mean direction to cut opposite of
    assert mixture.cdf(one, np.array([[1.0]]))[0, 0] == pytest.approx(0.5, abs=1e-9)


def test_planted_fault_is_seen(case):
    """Components that are a tenth too narrow: the distribution function and the arcs show it."""
    components, draws, _ = case
    if not isinstance(components, VonMises) or components.noise is not None:
        pytest.skip("the fault is planted in the strength of plain von Mises components")
    narrow = components._replace(strength=1.2 * components.strength)
    lower, upper = mixture.shortest_arcs(narrow, 0.9).T
    assert not within(0.9, arcs.in_arc(draws, lower, upper)).all()
