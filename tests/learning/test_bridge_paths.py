"""Bridging with the compiled code: reversible steps, the sum along a path, and the ratio of normalisers.

A step is reversible if (x_0, x_1) is exchangeable where x_0 is an exact draw: E g(x_0) h(x_1) = E h(x_0) g(x_1).

False alarms: each statistical comparison fails by chance with the probability RATE = 1e-6; with fixed seeds none
flickers. The faults that are planted have p-values below RATE.
"""

import math
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from bridges import FORMS, ends, parts
from references import RATE, chain_moments, exact_draws, exact_moments, log_density, p_value, size
from vmqp import model
from vmqp.learning.bridging import AugmentedBridge, HeatBathBridge, cross, mixture
from vmqp.sampling import make_target, seed_streams
from vmqp.sampling.angle import angles_of
from vmqp.sampling.augmented import augmentation
from vmqp.sampling.heatbath import sweeps, there_and_back
from vmqp.sampling.sampler import unit_vectors

# The compiled code


@cache
def streams(chains):
    return seed_streams(5, chains)


def functions(angles):
    """Functions of each of the angles (C, d), and of their differences: (C, S)."""
    d = angles.shape[1]
    pairs = [np.sin(angles[:, i] - angles[:, j]) for i in range(d) for j in range(i)]
    return np.column_stack([np.cos(angles), np.sin(angles), *pairs])


def reversibility(before, after):
    """A p-value for the exchangeability of the two: g(x_0)h(x_1) − h(x_0)g(x_1) has the mean 0 for all g and h."""
    g, h = functions(before), functions(after)
    a, b = np.triu_indices(g.shape[1], 1)
    change = g[:, a] * h[:, b] - g[:, b] * h[:, a]
    return p_value(change, np.zeros(len(a)))


@cache
def starts(d):
    """Exact draws of the density a quarter of the way."""
    return exact_draws(*parts(mixture(*ends(d), 0.25)), size(20_000), seed=d)


def moved(d, step):
    """The exact draws and where a step of all chains takes them."""
    before = starts(d)
    x = unit_vectors(before)
    step(streams(len(before)).copy(), x)
    return before, angles_of(x)


def heat_bath_step(d, form, overrelax):
    coupling, field = parts(mixture(*ends(d), 0.25))
    target = make_target(form(coupling), field)
    return lambda rng, x: there_and_back(rng, target, x, overrelax)


def heat_bath_bridge(d):
    first, second = ends(d)
    return lambda rng, x: HeatBathBridge(first, second).step(rng, 0.25, x)


def augmented_bridge(d):
    first, second = ends(d)
    roots = augmentation(first, "scalar"), augmentation(second, "scalar")
    return lambda rng, x: AugmentedBridge(first, second, roots).step(rng, 0.25, x)


STEPS = {
    "dense": lambda d: heat_bath_step(d, np.asarray, 0),
    "dense, reflections": lambda d: heat_bath_step(d, np.asarray, 1),
    "sparse": lambda d: heat_bath_step(d, sparse.csr_array, 0),
    "sparse, reflections": lambda d: heat_bath_step(d, sparse.csr_array, 1),
    "heat-bath bridge": heat_bath_bridge,
    "augmented bridge": augmented_bridge,
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("d", [2, 3])
def test_a_step_is_reversible_and_leaves_its_density_unchanged(d, name):
    before, after = moved(d, STEPS[name](d))
    assert np.abs(after - before).mean() > 0.1, "a step that does not move would pass"
    assert reversibility(before, after) > RATE
    exact = exact_moments(*parts(mixture(*ends(d), 0.25)))
    assert p_value(chain_moments(after[:, None]), exact) > RATE


@pytest.mark.statistical
@FORMS
@pytest.mark.parametrize("d", [2, 3])
def test_a_plain_sweep_is_seen_not_to_be_reversible(d, form):
    """The first angle is renewed with the old second, the second with the new first."""
    coupling, field = parts(mixture(*ends(d), 0.25))
    target = make_target(form(coupling), field)
    before, after = moved(d, lambda rng, x: sweeps(rng, target, x, 0, 1))
    assert p_value(chain_moments(after[:, None]), exact_moments(coupling, field)) > RATE
    assert reversibility(before, after) < RATE


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["heat-bath bridge", "augmented bridge"])
def test_a_step_for_another_density_is_seen(name):
    """At 0.6 in place of 0.25 of the way."""
    first, second = ends(3)
    roots = augmentation(first, "scalar"), augmentation(second, "scalar")
    bridge = (
        HeatBathBridge(first, second) if name == "heat-bath bridge" else AugmentedBridge(first, second, roots)
    )
    _, after = moved(3, lambda rng, x: bridge.step(rng, 0.6, x))
    assert p_value(chain_moments(after[:, None]), exact_moments(*parts(mixture(first, second, 0.25)))) < RATE


# The path and its sum


class Told:
    """A transition that goes where it is told, and remembers the shares that it was asked for."""

    def __init__(self, path):
        self.path, self.shares = iter(path), []

    def step(self, rng, share, x):
        self.shares.append(share)
        x[:] = next(self.path)


def path_of(d, steps):
    return [unit_vectors(row[None]) for row in np.random.default_rng(4).uniform(-np.pi, np.pi, (steps, d))]


@pytest.mark.parametrize("d", [1, 2, 5])
def test_a_mixture_mixes_log_densities(d):
    first, second = ends(d)
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, (20, d))
    for share in (0.0, 0.3, 1.0):
        between = mixture(first, second, share)
        expected = (1.0 - share) * log_density(*parts(first), angles)
        expected += share * log_density(*parts(second), angles)
        np.testing.assert_allclose(log_density(*parts(between), angles), expected, rtol=1e-13, atol=1e-13)
        diagonal = (1.0 - share) * first.diagonal + share * second.diagonal
        np.testing.assert_allclose(between.diagonal, diagonal, rtol=1e-14)


def test_a_mixture_writes_into_the_room_that_it_is_given():
    first, second = ends(3)
    room = np.full((3, 3), np.nan)
    between = mixture(first, second, 0.3, room)
    assert between.coupling.matrix is room
    np.testing.assert_array_equal(room, mixture(first, second, 0.3).coupling.matrix)


def test_without_densities_in_between_it_is_the_plain_difference():
    first, second = ends(3)
    (x,) = path_of(3, 1)
    before = x.copy()
    total, plain = cross(None, first, second, x, 0, None)
    expected = log_density(*parts(second), angles_of(x)[0]) - log_density(*parts(first), angles_of(x)[0])
    assert total == plain == pytest.approx(expected, rel=1e-13)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("between", [1, 2, 5])
def test_the_sum_along_a_path_is_the_product_of_the_papers_ratio(between):
    """Of log f_{k+1}(x_k) − log f_k(x_k), each from its own mixture, ``eq_ap:bridging_MH``."""
    first, second = ends(3)
    path = path_of(3, between + 1)
    told = Told(path[1:])
    x = path[0].copy()
    total, plain = cross(None, first, second, x, between, told)
    shares = np.arange(between + 2) / (between + 1.0)
    np.testing.assert_allclose(told.shares, shares[1:-1], rtol=1e-15)
    logs = np.array(
        [[log_density(*parts(mixture(first, second, s)), angles_of(y)[0]) for s in shares] for y in path]
    )
    steps = np.diag(logs[:, 1:]) - np.diag(logs)
    assert total == pytest.approx(steps.sum(), rel=1e-12)
    assert plain == pytest.approx((between + 1) * steps[0], rel=1e-12)
    np.testing.assert_array_equal(x, path[-1])


@pytest.mark.parametrize("between", [1, 2, 5])
def test_the_way_back_has_the_same_densities_and_the_opposite_sum(between):
    """``eq_ap:symmetry_T``: without it the ratio would not be that of Metropolis and Hastings."""
    first, second = ends(3)
    path = path_of(3, between + 1)
    there, back = Told(path[1:]), Told(path[-2::-1])
    forth, _ = cross(None, first, second, path[0].copy(), between, there)
    reverse, _ = cross(None, second, first, path[-1].copy(), between, back)
    assert forth == pytest.approx(-reverse, rel=1e-13)
    for share, other in zip(there.shares, back.shares[::-1], strict=True):
        one, same = mixture(first, second, share), mixture(second, first, other)
        np.testing.assert_allclose(parts(one)[0], parts(same)[0], rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(one.field, same.field, rtol=1e-13, atol=1e-15)


# The ratio of normalisers


@cache
def first_draws(d):
    return exact_draws(*parts(ends(d)[0]), size(3000), seed=10 + d)


def bridge_of(kind, first, second):
    if kind == "heat bath":
        return HeatBathBridge(first, second)
    return AugmentedBridge(first, second, (augmentation(first, "scalar"), augmentation(second, "scalar")))


@cache
def crossings(d, kind, between):
    """Sums along paths from exact draws of the first density, one chain after the other."""
    first, second = ends(d)
    bridge, rng = bridge_of(kind, first, second), seed_streams(6, 1)
    return np.array(
        [cross(rng, first, second, unit_vectors(row[None]), between, bridge)[0] for row in first_draws(d)]
    )


def exact_ratio(d):
    first, second = (model.log_normaliser_quadrature(*parts(target)) for target in ends(d))
    return math.exp(second - first)


KINDS = pytest.mark.parametrize("kind", ["heat bath", "augmented"])


@pytest.mark.statistical
@KINDS
@pytest.mark.parametrize("between", [1, 5])
@pytest.mark.parametrize("d", [2, 3])
def test_paths_from_exact_draws_estimate_the_ratio_of_normalisers(d, between, kind):
    """E exp(sum) = Z_second/Z_first, whatever K is, ``eq_ap:AIC``."""
    ratios = np.exp(crossings(d, kind, between))
    assert p_value(ratios[:, None], np.array([exact_ratio(d)])) > RATE


@pytest.mark.statistical
@KINDS
@pytest.mark.parametrize("d", [2, 3])
def test_more_densities_in_between_make_the_estimate_less_noisy(d, kind):
    """A variance of 3000 sums is known to some 5 %, so the margins are beyond any chance."""
    none, one, five = (crossings(d, kind, between).var() for between in (0, 1, 5))
    assert one < 0.8 * none
    assert five < 0.7 * one


class Ahead:
    """A fault: each step is made for the density of the step after it."""

    def __init__(self, bridge, between):
        self.bridge, self.between = bridge, between

    def step(self, rng, share, x):
        self.bridge.step(rng, min(1.0, share + 1.0 / (self.between + 1.0)), x)


@pytest.mark.statistical
@KINDS
def test_a_schedule_that_is_one_ahead_is_caught(kind):
    first, second = ends(3)
    bridge, rng = Ahead(bridge_of(kind, first, second), 1), seed_streams(6, 1)
    sums = [cross(rng, first, second, unit_vectors(row[None]), 1, bridge)[0] for row in first_draws(3)]
    assert p_value(np.exp(sums)[:, None], np.array([exact_ratio(3)])) < RATE
