"""The order of places, who is whose neighbour, and the graph of both."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from places import ODD, TWICE, scattered
from vmqp.errors import InputError
from vmqp.precision import make_graph
from vmqp.precision.neighbours import earlier_neighbours
from vmqp.precision.ordering import coarse_to_fine

COLUMNS = pytest.mark.parametrize("p", [1, 2, 4])

# The order


def spacings(points, order):
    """The smallest distance among the first j places, for j = 2 … d."""
    ranked = points[order]
    distances = cdist(ranked, ranked)
    nearest = [distances[j, :j].min() for j in range(1, len(points))]
    return np.minimum.accumulate(nearest)


def greedy(points):
    """The exact order: from the middle on, always the place that is farthest from all before it."""
    order = [int(np.argmin(cdist(points, points.mean(axis=0)[None])))]
    away = cdist(points, points[order])[:, 0]
    while len(order) < len(points):
        order.append(int(np.argmax(away)))
        away = np.minimum(away, cdist(points, points[order[-1:]])[:, 0])
    return order


@pytest.mark.parametrize("first", [0, 1, 17, 50])
@COLUMNS
def test_an_order_is_a_permutation_with_observed_places_first(p, first):
    order = coarse_to_fine(scattered(50, p), first)
    assert order.dtype == np.int32
    assert sorted(order[:first].tolist()) == list(range(first))
    assert sorted(order.tolist()) == list(range(50))


def test_observed_places_have_the_order_that_they_have_alone():
    """And new ones fill the gaps that those leave: the first of them is not next to an observed one."""
    points = scattered(300)
    points[:150, 0] *= 0.5  # the observed ones lie in one half
    order = coarse_to_fine(points, 150)
    shape = spacings(points[:150], order[:150])
    assert (shape >= 0.55 * spacings(points[:150], greedy(points[:150]))).all()
    first_new = points[order[150:155]]
    assert cdist(first_new, points[:150]).min() > 0.1


@pytest.mark.parametrize("seed", range(5))
@COLUMNS
def test_places_come_from_coarse_to_fine(p, seed):
    """Near a greedy search, at every length; 0.4 can be proved, and more is found."""
    points = scattered(200, p, seed)
    exact = spacings(points, greedy(points))
    share = spacings(points, coarse_to_fine(points)) / exact
    assert share.min() > 0.55
    assert np.median(share) > 0.85
    # The comparison sees an order that is none.
    shuffled = np.random.default_rng(seed).permutation(200)
    assert (spacings(points, shuffled) / exact).min() < 0.3


def test_the_order_does_not_depend_on_where_the_places_are_nor_on_their_unit():
    """Spacing, not the order itself: places of one pass are equally good."""
    points = scattered(150)
    exact = spacings(points, greedy(points))
    for moved in (points + 1e6, points - 1e3, points[:, ::-1]):
        assert (spacings(points, coarse_to_fine(moved)) >= 0.55 * exact).all()
    for factor in (1e-100, 1e-9, 1e9, 1e140):
        order = coarse_to_fine(factor * points)
        assert (spacings(points, order) >= 0.55 * exact).all()


@pytest.mark.parametrize("name", ODD)
def test_odd_places_are_ordered(name):
    points = ODD[name]
    for first in {0, len(points) // 2, len(points)}:
        order = coarse_to_fine(points, first)
        assert sorted(order[:first].tolist()) == list(range(first))
        assert sorted(order.tolist()) == list(range(len(points)))


def test_of_equal_places_all_but_one_come_last():
    order = coarse_to_fine(TWICE)
    assert len(np.unique(TWICE[order[:30]], axis=0)) == 30


@pytest.mark.parametrize("points", [np.zeros((5000, 2)), np.repeat(scattered(5), 1000, axis=0)], ids=len)
def test_many_equal_places(points):
    graph = make_graph(points, k=3)
    assert sorted(graph.pattern.order.tolist()) == list(range(len(points)))


# Neighbours


def brute_force(points, order, k):
    """Distances to the k nearest earlier places, nearest first, infinite where there are fewer."""
    distances = np.full((len(points), k), np.inf)
    for rank, place in enumerate(order):
        away = np.sort(cdist(points[place][None], points[order[:rank]])[0])[:k]
        distances[place, : len(away)] = away
    return distances


def check_neighbours(points, order, k, found):
    """By distances, since among equally near places any will do."""
    neighbours, counts = found
    rank = np.argsort(order)
    np.testing.assert_array_equal(counts, np.minimum(rank, k))
    expected = brute_force(points, order, k)
    for place, (row, count) in enumerate(zip(neighbours, counts, strict=True)):
        assert (row[count:] == place).all()
        assert len(set(row[:count].tolist())) == count
        assert (rank[row[:count]] < rank[place]).all()
        away = cdist(points[place][None], points[row[:count]])[0]
        np.testing.assert_allclose(away, expected[place, :count], rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("k", [1, 5, 20])
@COLUMNS
def test_neighbours_are_the_nearest_that_come_earlier(p, k):
    points = scattered(300, p)
    for order in (coarse_to_fine(points, 40), np.arange(300, dtype=np.int32)):
        check_neighbours(points, order, k, earlier_neighbours(points, order, k))


@pytest.mark.parametrize("name", [name for name in ODD if name != "no column"])
def test_neighbours_of_odd_places(name):
    points = ODD[name]
    for k in (1, 4, len(points) - 1, len(points), 60):
        order = coarse_to_fine(points, len(points) // 2)
        check_neighbours(points, order, k, earlier_neighbours(points, order, k))


def test_neighbours_are_the_same_with_several_workers():
    points, order = scattered(500), coarse_to_fine(scattered(500))
    one, two = (earlier_neighbours(points, order, 6, workers) for workers in (1, 2))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_wrong_neighbours_are_seen():
    points = scattered(60)
    order = coarse_to_fine(points)
    neighbours, counts = earlier_neighbours(points, order, 4)
    late, farther = neighbours.copy(), neighbours.copy()
    late[order[10], 0] = order[11]
    farther[order[50], 3] = next(place for place in order[:50] if place not in neighbours[order[50]])
    for wrong in (late, farther):
        with pytest.raises(AssertionError):
            check_neighbours(points, order, 4, (wrong, counts))


# The graph


def check_graph(graph):
    """The order in which systems are solved, and rows of U with the diagonal first."""
    pattern = graph.pattern
    assert pattern.size == graph.d
    assert sorted(pattern.order.tolist()) == list(range(graph.d))
    rank = np.argsort(pattern.order)
    for place in range(graph.d):
        near = graph.neighbours[place, : graph.counts[place]]
        assert (rank[near] < rank[place]).all()
        assert (near < graph.n).all() or place >= graph.n
        assert (pattern.columns[graph.slots[place, : graph.counts[place]]] == place).all()
        row = pattern.columns[pattern.starts[place] : pattern.starts[place + 1]]
        assert row[0] == place
        assert graph.slots[place, -1] == pattern.starts[place]
        assert (rank[row[1:]] > rank[place]).all()
    assert pattern.starts[-1] == len(pattern.columns) == graph.d + graph.counts.sum()


@pytest.mark.parametrize(("n", "k"), [(0, 1), (0, 6), (25, 6), (60, 6), (25, 59), (25, 200)])
@COLUMNS
def test_each_place_comes_after_its_neighbours(p, n, k):
    graph = make_graph(scattered(60, p), n, k)
    assert graph.k == min(k, 59)
    assert graph.d == 60
    check_graph(graph)
    assert sorted(graph.new.order.tolist()) == list(range(60 - n))
    rank = np.argsort(graph.new.order)
    for row in range(60 - n):
        columns = graph.new.columns[graph.new.starts[row] : graph.new.starts[row + 1]]
        assert columns[0] == row
        assert (rank[columns[1:]] > rank[row]).all()


@pytest.mark.parametrize("name", [name for name in ODD if name != "no column"])
def test_graphs_of_odd_places(name):
    for n in {0, len(ODD[name]) // 2, len(ODD[name])}:
        check_graph(make_graph(ODD[name], n, 5))


@pytest.mark.parametrize(
    ("points", "options", "message"),
    [
        (np.zeros(5), {}, r"shape \(5,\).*\(d, p\)"),
        (np.zeros((0, 2)), {}, r"shape \(0, 2\)"),
        ([["a"]], {}, "array of numbers"),
        ([[0.0], [np.nan]], {}, "row 1 of points"),
        (np.zeros((5, 2)), {"n": 6}, "n is 6, but there are 5 points"),
        (np.zeros((5, 2)), {"n": -1}, "observed places"),
        (np.zeros((5, 2)), {"k": 0}, "neighbours of a place"),
        (np.zeros((5, 2)), {"k": 2.5}, "neighbours of a place"),
    ],
)
def test_points_that_are_none(points, options, message):
    with pytest.raises(InputError, match=message):
        make_graph(points, **options)


def test_neighbours_that_come_later_are_seen():
    graph = make_graph(scattered(60), 25, 6)
    late = graph.neighbours.copy()
    first, last = graph.pattern.order[[20, -1]]
    late[first, 0] = last
    with pytest.raises(AssertionError):
        check_graph(replace(graph, neighbours=late))
    backward = replace(graph.pattern, order=graph.pattern.order[::-1].copy())
    with pytest.raises(AssertionError):
        check_graph(replace(graph, pattern=backward))
