"""Winding numbers: draws against exact probabilities.

Each χ² test fails by chance with the probability RATE = 1e-6; seeds are fixed. A draw that is cut short, a wrong
precision and a stale product have p-values below it.
"""

import itertools

import numpy as np
import pytest
from scipy import stats

from references import RATE
from vmqp.peers.windings import discrete_normal, turn_groups, turn_places
from vmqp.sampling import seed_streams

TWO_PI = 2.0 * np.pi


def chi_square(counts, probabilities):
    """The p-value of counts; cells that are hardly ever hit are taken together."""
    counts, expected = np.asarray(counts, float), counts.sum() * np.asarray(probabilities)
    order = np.argsort(-expected)
    counts, expected = counts[order], expected[order]
    few = int((expected >= 10.0).sum())
    counts = np.append(counts[:few], counts[few:].sum())
    expected = np.append(expected[:few], expected[few:].sum())
    if expected[-1] < 1e-6 * expected.sum():
        assert counts[-1] == 0
        counts, expected = counts[:-1], expected[:-1]
    return float(stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), max(len(counts) - 1, 1)))


# One number


def p_value_of(draw, centre, deviation, draws=5000):
    reach = int(np.ceil(10.0 * deviation)) + 2
    cells = np.arange(round(centre) - reach, round(centre) + reach + 1)
    logs = -0.5 * ((cells - centre) / deviation) ** 2
    probabilities = np.exp(logs - logs.max())
    drawn = np.array([draw(centre, deviation) for _ in range(draws)])
    assert (drawn == np.round(drawn)).all()
    counts = np.bincount((drawn - cells[0]).astype(int), minlength=len(cells))
    return chi_square(counts, probabilities / probabilities.sum())


@pytest.mark.parametrize("centre", [0.0, 0.3, -1.5, 1234.25, -0.999])
@pytest.mark.parametrize("deviation", [0.02, 0.2, 0.5, 1.0, 4.0, 19.0, 21.0, 300.0])
def test_a_number_has_its_probabilities(centre, deviation):
    streams = seed_streams(7, 1)
    assert p_value_of(lambda *law: discrete_normal(streams, *law), centre, deviation) > RATE


def test_a_wide_law_takes_no_longer():
    streams = seed_streams(7, 1)
    drawn = np.array([discrete_normal(streams, 0.3, 1e12) for _ in range(2000)])
    assert stats.kstest(drawn / 1e12, "norm").pvalue > RATE


def test_a_law_without_width_gives_the_nearest():
    streams = seed_streams(7, 1)
    assert [discrete_normal(streams, centre, 1e-200) for centre in (0.2, 0.6, -1.4, 5.0)] == [0, 1, -1, 5]


@pytest.mark.parametrize("deviation", [1.0, 4.0])
def test_a_draw_that_is_cut_short_is_caught(deviation):
    rng = np.random.default_rng(1)

    def short(centre, deviation):
        cells = np.array([-1, 0, 1])
        weights = np.exp(-0.5 * ((cells - centre) / deviation) ** 2)
        return rng.choice(cells, p=weights / weights.sum())

    assert p_value_of(short, 0.3, deviation) < RATE


# All windings, whose law is known up to a common turn

CASES = {
    "2-wide": (np.array([[30.0, 5.0], [5.0, 20.0]]), [0.3, 2.9]),
    "2-narrow": (np.array([[3.0, 1.0], [1.0, 4.0]]), [0.2, -2.8]),
    "3-wide": (np.array([[40.0, 12.0, 4.0], [12.0, 30.0, 9.0], [4.0, 9.0, 25.0]]), [0.3, 2.9, -1.0]),
    "3-narrow": (np.array([[6.0, 4.0, 0.5], [4.0, 6.0, 1.0], [0.5, 1.0, 9.0]]), [-3.0, 3.0, 1.5]),
}


def law_of(name, scale=1.0, window=9):
    """P, angles, the windings relative to those of the first place, (cells, n − 1), and their probabilities.

    The differences to the first place are normal with a covariance that has nothing to do with P.
    """
    K, angles = CASES[name][0], np.array(CASES[name][1])
    n = len(angles)
    M = np.linalg.inv(K)
    weights = M.sum(axis=1)
    P = M - np.outer(weights, weights) / weights.sum()
    cells = np.array(list(itertools.product(range(-window, window + 1), repeat=n - 1)))
    D = np.concatenate([-np.ones((n - 1, 1)), np.eye(n - 1)], axis=1)
    gaps = angles[1:] - angles[0] + TWO_PI * cells
    logs = stats.multivariate_normal(np.zeros(n - 1), scale * D @ K @ D.T).logpdf(gaps)
    probabilities = np.exp(logs - np.logaddexp.reduce(np.atleast_1d(logs)))
    return P, angles, cells, probabilities, window


def turned_p_value(name, move, draws=6000, scale=1.7):
    """Exact draws stay exact under `move(streams, y, P, scale, product)`."""
    P, angles, cells, probabilities, window = law_of(name, scale)
    rng, streams = np.random.default_rng(3), seed_streams(4, 1)
    starts = cells[rng.choice(len(cells), size=draws, p=probabilities)]
    ends = angles + TWO_PI * (rng.integers(-5, 6, (draws, 1)) + np.pad(starts, ((0, 0), (1, 0))))
    products = ends @ P
    for y, product in zip(ends, products, strict=True):
        move(streams, y, P, scale, product)
    np.testing.assert_allclose(products, ends @ P, atol=1e-9)
    return chi_square(counted(ends, angles, window), probabilities)


def counted(ends, angles, window):
    """How often each cell was hit; all ends are whole turns away from the angles."""
    k = np.round((ends - angles) / TWO_PI).astype(int)
    np.testing.assert_allclose(ends, angles + TWO_PI * k, atol=1e-9)
    apart = k[:, 1:] - k[:, :1] + window
    shape = (2 * window + 1,) * apart.shape[1]
    return np.bincount(np.ravel_multi_index(tuple(apart.T), shape), minlength=np.prod(shape))


def order_of(y):
    n = len(y)
    return np.array([[(i + j) % n for j in range(n)] for i in range(n)])


def places(streams, y, P, scale, product):
    turn_places(streams, y, P, scale, product)


def groups(streams, y, P, scale, product):
    turn_groups(streams, y, P, scale, product, order_of(y), 3)


@pytest.mark.parametrize("name", CASES)
def test_turns_of_places_leave_the_law_as_it_is(name):
    assert turned_p_value(name, places) > RATE


@pytest.mark.parametrize("name", ["3-wide", "3-narrow"])
def test_turns_of_groups_leave_the_law_as_it_is(name):
    assert turned_p_value(name, groups) > RATE


def test_turns_find_the_law_from_anywhere():
    """One long chain from a start far out, every fourth sweep."""
    P, angles, _, probabilities, window = law_of("3-wide")
    streams, order, y = seed_streams(5, 1), order_of(angles), angles + TWO_PI * np.array([0, 8, -8])
    ends = []
    for sweep in range(12_000):
        product = P @ y
        turn_places(streams, y, P, 1.0, product)
        turn_groups(streams, y, P, 1.0, product, order, 3)
        if sweep >= 50 and sweep % 4 == 0:
            ends.append(y.copy())
    assert chi_square(counted(np.array(ends), angles, window), probabilities) > RATE


def test_one_place_has_nothing_to_turn():
    y, product = np.array([2.0]), np.zeros(1)
    turn_places(seed_streams(1, 1), y, np.zeros((1, 1)), 1.0, product)
    turn_groups(seed_streams(1, 1), y, np.zeros((1, 1)), 1.0, product, np.zeros((1, 1), int), 5)
    assert y == 2.0


# Faults


def wrong_scale(streams, y, P, scale, product):
    turn_places(streams, y, P, 0.5 * scale, product)


def cut_short(streams, y, P, scale, product):
    """The windings before the move are lost where one is beyond a turn of the first."""
    turn_places(streams, y, P, scale, product)
    k = np.round((y - y[0]) / TWO_PI)
    y -= TWO_PI * np.sign(k) * np.maximum(np.abs(k) - 1, 0)
    product[:] = P @ y


@pytest.mark.parametrize("fault", [wrong_scale, cut_short])
def test_wrong_turns_are_caught(fault):
    assert turned_p_value("3-wide", fault) < RATE
