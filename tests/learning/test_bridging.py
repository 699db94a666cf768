"""Bridging: transitions that are reversible for the densities in between, and the ratio of normalisers along them.

Reversibility, not only invariance, is what the exchange algorithm's ratio rests on (``eq_ap:detailed_balance``). It is
shown twice. On a circle of a few points the transition matrix is built from what the code does (the order of its
sites, the law of its fields) and detailed balance holds to rounding. On the true circle, with the compiled code,
(x_0, x_1) has to be exchangeable where x_0 is an exact draw: E g(x_0) h(x_1) = E h(x_0) g(x_1).

False alarms: each statistical comparison fails by chance with the probability RATE = 1e-6; with fixed seeds none
flickers. The faults that are planted have p-values below RATE.
"""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from references import RATE, chain_moments, exact_draws, exact_moments, grid, log_density, p_value, size
from vmqp import model
from vmqp.learning import bridging
from vmqp.learning.bridging import AugmentedBridge, HeatBathBridge, cross, mixture
from vmqp.sampling import heatbath, make_target, seed_streams
from vmqp.sampling.angle import angles_of
from vmqp.sampling.augmented import augmentation
from vmqp.sampling.factor import apply_root, apply_root_transposed
from vmqp.sampling.heatbath import sweeps, there_and_back
from vmqp.sampling.sampler import unit_vectors
from vmqp.sampling.target import Dense, Target

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
CLOSE = 1e-12


def coupling_and_field(d, strength, seed):
    """A positive definite coupling whose entries have both signs, and a field without symmetry."""
    rng = np.random.default_rng([d, seed])
    root = rng.normal(size=(d, d))
    return strength * (root @ root.T / d + 0.2 * np.eye(d)), strength * rng.normal(size=(d, 2))


def ends(d, strength=1.0):
    """Two targets, the second with a scale of its own, as points that share a factorisation have."""
    first = make_target(*coupling_and_field(d, strength, 1))
    second = make_target(*coupling_and_field(d, strength, 2))
    scale = 0.7
    return first, Target(Dense(second.coupling.matrix / scale, scale), second.diagonal, second.field)


def parts(target):
    """The hollow coupling, and the field by rows: what the references take."""
    return np.asarray(target.matrix()), target.field.T


def imbalance(transitions, weights):
    """The largest |π_i T_ij − π_j T_ji| relative to the largest flow."""
    flow = weights[:, None] * transitions
    return np.abs(flow - flow.T).max() / flow.max()


# The order of the sites


def recorded(monkeypatch, form, coupling, field, move, x=None):
    """Run a move of the heat bath without the compiler: its updates (kind, field) in the order that the code takes.

    Each update sets its site to the next of a list of directions, the same at every call.
    """
    updates, directions = [], iter(np.random.default_rng(0).uniform(-np.pi, np.pi, 1000))

    def renew(streams, k, hc, hs):
        turn = next(directions)
        updates.append(("renew", hc, hs, turn))
        return math.cos(turn), math.sin(turn)

    def reflect(hc, hs, c, s):
        turn = next(directions)
        updates.append(("reflect", hc, hs, turn))
        return math.cos(turn), math.sin(turn)

    with monkeypatch.context() as patch:
        patch.setattr(heatbath, "renew", renew)
        patch.setattr(heatbath, "_reflect", reflect)
        for name in (
            "_dense_sweep",
            "_sparse_sweep",
            "_there_and_back_dense",
            "_there_and_back_sparse",
            "_run_dense",
            "_run_sparse",
        ):
            patch.setattr(heatbath, name, getattr(heatbath, name).py_func)
        x = np.ones((2, 1, len(field))) if x is None else x
        move(make_target(form(coupling), field), x)
    return updates


def order(monkeypatch, form, d, move):
    """Kinds and sites of a move: without coupling the field tells the site."""
    field = np.stack([np.arange(d), np.ones(d)], axis=1)
    updates = recorded(monkeypatch, form, np.zeros((d, d)), field, move)
    return [(kind, round(hc)) for kind, hc, _, _ in updates]


def palindrome(overrelax):
    return lambda target, x: there_and_back(None, target, x, overrelax)


def plain_sweep(target, x):
    sweeps(None, target, x, 0, 1)


@pytest.mark.parametrize("overrelax", [0, 1, 2])
@FORMS
@pytest.mark.parametrize("d", range(1, 14))
def test_there_and_back_is_a_palindrome(monkeypatch, d, form, overrelax):
    """Of all sites, in blocks of four or not; the reflections stand outside, where they do not cancel."""
    updates = order(monkeypatch, form, d, palindrome(overrelax))
    assert updates == updates[::-1]
    half = updates[: len(updates) // 2]
    sites = list(range(d))
    assert half == [("reflect", i) for i in sites * overrelax] + [("renew", i) for i in sites]


@FORMS
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 11])
def test_every_update_sees_the_angles_as_they_are(monkeypatch, d, form):
    """The field of a site that is summed ahead has to be corrected for what has moved since, in both directions."""
    coupling, field = coupling_and_field(d, 1.0, 3)
    x = unit_vectors(np.random.default_rng(d).uniform(-np.pi, np.pi, (1, d)))
    angles = angles_of(x)[0]
    sites = [site for _, site in order(monkeypatch, form, d, palindrome(1))]
    updates = recorded(monkeypatch, form, coupling, field, palindrome(1), x)
    for site, (_, hc, hs, turn) in zip(sites, updates, strict=True):
        np.testing.assert_allclose(
            [hc, hs], model.local_field(angles, coupling, field)[site], rtol=1e-12, atol=1e-12
        )
        angles[site] = turn
    np.testing.assert_allclose(x[:, 0], [np.cos(angles), np.sin(angles)], atol=1e-14)


# Detailed balance on a circle of a few points


def heat_bath_matrix(weights, shape, site):
    """The transition matrix of one angle's heat bath on the grid: all states that differ in that angle only."""
    states = list(np.ndindex(*shape))
    rest = [state[:site] + state[site + 1 :] for state in states]
    same = np.array([[a == b for b in rest] for a in rest])
    matrix = same * weights
    return matrix / matrix.sum(axis=1, keepdims=True)


def product_of(monkeypatch, move, d, weights, points):
    """The matrix of a whole move, its sites in the order that the code takes them."""
    single = [heat_bath_matrix(weights, (points,) * d, site) for site in range(d)]
    result = np.eye(points**d)
    for kind, site in order(monkeypatch, np.asarray, d, move):
        assert kind == "renew"
        result = result @ single[site]
    return result


@pytest.mark.parametrize("share", [0.25, 0.5])
@pytest.mark.parametrize("d", [2, 3])
def test_heat_bath_there_and_back_has_detailed_balance(monkeypatch, d, share):
    """And a plain sweep, which leaves the same density unchanged, has not."""
    coupling, field = parts(mixture(*ends(d), share))
    logs = log_density(coupling, field, grid(d, 6))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    both = product_of(monkeypatch, palindrome(0), d, weights, 6)
    np.testing.assert_allclose(both.sum(axis=1), 1.0, rtol=1e-13)
    assert imbalance(both, weights) < CLOSE
    one = product_of(monkeypatch, plain_sweep, d, weights, 6)
    np.testing.assert_allclose(weights @ one, weights, rtol=1e-12, atol=1e-15)
    assert imbalance(one, weights) > 1e-3


class PullOfTheCode:
    """The law of the fields that the double augmentation draws its angles with, from its own Python.

    Its normal numbers are replaced by given ones: fields are then an affine function of them, and one call for each
    number finds it. ``into`` and ``out`` are factors that plant a wrong scaling of the second root, in y's mean and
    in the pull that y exerts.
    """

    def __init__(self, monkeypatch, into=1.0, out=1.0):
        self.monkeypatch, self.into, self.out = monkeypatch, into, out

    def _fields(self, first, second, roots, share, x, numbers):
        fields, given = [], iter(numbers)

        def draw_auxiliary(streams, factor, scaled, y):
            wrong = self.into if factor is roots[1] else 1.0
            apply_root(factor, wrong * scaled, y)
            y += next(given)

        def transposed(factor, y, out):
            apply_root_transposed(factor, y, out)
            out *= self.out if factor is roots[1] else 1.0

        def renew(streams, k, hc, hs):
            fields.append((hc, hs))
            return 1.0, 0.0

        with self.monkeypatch.context() as patch:
            patch.setattr(bridging, "draw_auxiliary", draw_auxiliary)
            patch.setattr(bridging, "apply_root_transposed", transposed)
            patch.setattr(bridging, "renew", renew)
            patch.setattr(bridging, "_double_augmentation", bridging._double_augmentation.py_func)
            AugmentedBridge(first, second, roots).step(None, share, x.copy())
        return np.array(fields)

    def law(self, first, second, roots, share, angles):
        """Mean of the fields, (d, 2), and a root of their covariance, (d, d), the same for both columns."""
        x, d = unit_vectors(angles[None]), len(angles)
        none = np.zeros((2, 2, 1, d))  # root, (cos, sin), chain, site
        mean = self._fields(first, second, roots, share, x, none)
        columns = []
        for root, site in itertools.product(range(2), range(d)):
            numbers = none.copy()
            numbers[root, 0, 0, site] = 1.0
            change = self._fields(first, second, roots, share, x, numbers) - mean
            np.testing.assert_array_equal(change[:, 1], 0.0)
            numbers[root] = numbers[root, ::-1].copy()
            other = self._fields(first, second, roots, share, x, numbers) - mean
            np.testing.assert_allclose(other[:, 1], change[:, 0], atol=1e-13)
            columns.append(change[:, 0])
        values, vectors = np.linalg.eigh(np.array(columns).T @ np.array(columns))
        return mean, vectors * np.sqrt(np.maximum(values, 0.0))

    def matrix(self, first, second, roots, share, points, nodes):
        """T(ξ'|ξ) on the grid: given the fields angles are independent, and the fields are integrated out.

        The rule of Gauss and Hermite is centred at the mean of the fields at each ξ, so its error is of the order
        of the 2·nodes-th power of the fields' spread.
        """
        d = first.size
        line, weights = np.polynomial.hermite_e.hermegauss(nodes)
        places = np.stack(np.meshgrid(*[line] * (2 * d), indexing="ij"), axis=-1).reshape(-1, d, 2)
        masses = np.prod(np.meshgrid(*[weights / weights.sum()] * (2 * d), indexing="ij"), axis=0).ravel()
        keep = masses > 1e-20
        places, masses = places[keep], masses[keep]
        circle = grid(1, points)[:, 0]
        ways = np.stack([np.cos(circle), np.sin(circle)])
        rows = []
        for angles in grid(d, points):
            mean, root = self.law(first, second, roots, share, angles)
            fields = mean + root @ places
            chances = np.exp(fields @ ways)
            chances /= chances.sum(axis=2, keepdims=True)
            joint = masses[:, None] * chances[:, 0]
            rows.append((joint.T @ chances[:, 1]).ravel() if d == 2 else joint.sum(axis=0))
        return np.array(rows)


def augmented_case(d):
    """Ends with roots from the code; for one angle λ is given, or next to nothing of the coupling would be left."""
    first, second = ends(d, 0.12)
    lams = (None, None) if d > 1 else (first.diagonal[0] + 0.2, second.diagonal[0] + 0.3)
    roots = tuple(
        augmentation(target, "scalar", lam) for target, lam in zip((first, second), lams, strict=True)
    )
    return first, second, roots


def grid_weights(target, points):
    logs = log_density(*parts(target), grid(target.size, points))
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


NODES = {1: 24, 2: 18}


@pytest.mark.parametrize("share", [0.25, 0.5])
@pytest.mark.parametrize("d", [1, 2])
def test_double_augmentation_has_detailed_balance(monkeypatch, d, share):
    """With respect to the density in between, ``eq_ap:von_Mises_k``."""
    first, second, roots = augmented_case(d)
    weights = grid_weights(mixture(first, second, share), 5)
    matrix = PullOfTheCode(monkeypatch).matrix(first, second, roots, share, 5, NODES[d])
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-12)
    assert imbalance(matrix, weights) < CLOSE


@pytest.mark.parametrize("place", ["into", "out"])
@pytest.mark.parametrize("d", [1, 2])
def test_a_wrong_scaling_of_the_augmentation_has_no_detailed_balance(monkeypatch, d, place):
    """β in place of √β, where y is drawn or where it pulls."""
    first, second, roots = augmented_case(d)
    weights = grid_weights(mixture(first, second, 0.25), 5)
    wrong = PullOfTheCode(monkeypatch, **{place: math.sqrt(0.25)})
    matrix = wrong.matrix(first, second, roots, 0.25, 5, NODES[d])
    assert imbalance(matrix, weights) > 1e-4
    assert np.abs(weights @ matrix - weights).max() > 1e-5


def test_the_augmented_transition_is_the_same_from_either_end(monkeypatch):
    """T_k for (w, w') is T_{K+1−k} for (w', w), ``eq_ap:symmetry_T``."""
    first, second, (one, other) = augmented_case(2)
    pull = PullOfTheCode(monkeypatch)
    there = pull.matrix(first, second, (one, other), 1.0 / 6.0, 4, 8)
    back = pull.matrix(second, first, (other, one), 5.0 / 6.0, 4, 8)
    np.testing.assert_allclose(there, back, rtol=CLOSE)


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
