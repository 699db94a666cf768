"""Bridging: transitions that are reversible for the densities in between, on a circle of a few points.

Reversibility, not only invariance, is what the exchange algorithm's ratio rests on (``eq_ap:detailed_balance``). Here
the transition matrix is built from what the code does (the order of its sites, the law of its fields), and detailed
balance holds to rounding.
"""

import itertools
import math

import numpy as np
import pytest

from bridges import CLOSE, FORMS, coupling_and_field, ends, imbalance, parts, plain_sweep
from references import grid, log_density
from vmqp import model
from vmqp.learning import bridging
from vmqp.learning.bridging import AugmentedBridge, mixture
from vmqp.sampling import heatbath, make_target
from vmqp.sampling.angle import angles_of
from vmqp.sampling.augmented import augmentation
from vmqp.sampling.factor import apply_root, apply_root_transposed
from vmqp.sampling.heatbath import there_and_back
from vmqp.sampling.sampler import unit_vectors

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
