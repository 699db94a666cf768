"""A sparse precision by neighbours: U against dense matrices."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from places import TWICE, scattered
from vmqp import kernels
from vmqp.errors import InputError, NotPositiveDefiniteError
from vmqp.kernels.inputs import Inputs
from vmqp.precision import KernelOnGraph, VecchiaPrecision, factorise, make_graph, vecchia
from vmqp.precision.neighbours import earlier_neighbours
from vmqp.precision.vecchia import Pattern
from vmqp.priors import HalfNormal, Uniform

H = HalfNormal(1)
MODULE = importlib.import_module("vmqp.precision.vecchia")  # the package has a function of that name too

# All earlier places as neighbours: exact


def triangle(a, b, width):
    return np.maximum(0.0, 1.0 - np.abs(a[:, 0] - b[:, 0]) / width)


def earth(d):
    """Places all over, near a pole, and on both sides of the date line."""
    rng = np.random.default_rng(3)
    some = np.column_stack((rng.uniform(-180, 180, d), np.degrees(np.arcsin(rng.uniform(-1, 1, d)))))
    some[:4] = [[0, 90], [77, 89.0], [179.5, 5], [-179.5, 5]]
    return some


PLANE, LINE = 4.0 * scattered(25), 10.0 * scattered(25, 1)
CODES = np.random.default_rng(4).integers(0, 3, (25, 2)).astype(float)
SPACE_TIME = np.column_stack([earth(25), 24.0 * scattered(25, 1)])
SMALL = kernels.Nugget(0.05)

# name: (kernel, inputs, values of what is learned)
CASES = {
    "gaussian": (kernels.Gaussian(H) + SMALL, PLANE, {"lengthscale": 0.7}),
    "exponential": (H * kernels.Exponential(H), PLANE, {"variance": 2.5, "lengthscale": 0.7}),
    "matern32": (kernels.Matern32(H), PLANE, {"lengthscale": 0.5}),
    "matern52": (kernels.Matern52(H) + SMALL, PLANE, {"lengthscale": 0.9}),
    "rational quadratic": (
        kernels.RationalQuadratic(H, H) + SMALL,
        PLANE,
        {"lengthscale": 0.7, "shape": 1.3},
    ),
    "each column": (kernels.Exponential([H, H]), PLANE, {"lengthscale_0": 0.4, "lengthscale_1": 1.9}),
    "exponential, earth": (
        H * kernels.Exponential(H, metric="geographic"),
        earth(25),
        {"variance": 0.8, "lengthscale": 2500.0},
    ),
    "matern52, earth": (
        kernels.Matern52(H, metric="geographic") + SMALL,
        earth(25),
        {"lengthscale": 2500.0},
    ),
    "periodic": (kernels.Periodic(H, H) + SMALL, LINE, {"lengthscale": 0.7, "period": 3.1}),
    "periodic, fixed": (kernels.Periodic(H, 3.1) + SMALL, LINE, {"lengthscale": 0.7}),
    "categorical": (kernels.Categorical(Uniform(0, 1)) + SMALL, CODES, {"correlation": 0.4}),
    "linear": (
        H * kernels.Linear() + kernels.Constant(H) + kernels.Nugget(H),
        PLANE,
        {"variance_1": 0.7, "variance_2": 1.4, "nugget": 0.3},
    ),
    "constant": (kernels.Constant(2.0) + kernels.Nugget(H), PLANE, {"nugget": 0.3}),
    "nugget": (kernels.Nugget(H), PLANE, {"nugget": 0.3}),
    "custom": (kernels.Custom(triangle, width=H) + SMALL, LINE, {"width": 1.5}),
    "sum": (
        kernels.Gaussian(H, name="smooth") + H * kernels.Exponential(3.0, name="rough") + SMALL,
        PLANE,
        {"lengthscale_smooth": 0.5, "variance": 0.2},
    ),
    "space and time": (
        kernels.Exponential(H, columns=[0, 1], metric="geographic") * kernels.Matern32(5.0, columns=[2]),
        SPACE_TIME,
        {"lengthscale_1": 3000.0},
    ),
}


def precision_of(kernel, X, values, n=10, k=None):
    on_graph = KernelOnGraph(kernel, Inputs.check(X, None), n, len(X) - 1 if k is None else k)
    root = on_graph.root(values)
    assert root is not None
    return VecchiaPrecision(on_graph.graph.pattern, root)


def matrix_of(precision):
    return (precision.U @ precision.U.T).toarray()


def relative_error(precision, K):
    """Of M, in the Frobenius norm."""
    exact = np.linalg.inv(K)
    return np.linalg.norm(matrix_of(precision) - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("n", [0, 10, 25])
@pytest.mark.parametrize("name", CASES)
def test_with_all_earlier_places_it_is_the_dense_precision(name, n):
    kernel, X, values = CASES[name]
    K = kernel.bind(X).covariance(values)
    dense, precision = factorise(K), precision_of(kernel, X, values, n)
    assert precision.d == 25
    assert relative_error(precision, K) < 1e-9
    np.testing.assert_allclose(precision.diagonal, dense.M.diagonal(), rtol=1e-8)
    assert precision.log_determinant == pytest.approx(dense.log_determinant, rel=1e-9, abs=1e-9)
    for shape in ((25,), (25, 3)):
        v = np.random.default_rng(1).normal(size=shape)
        np.testing.assert_allclose(
            precision.product(v), dense.product(v), rtol=1e-7, atol=1e-9 * np.abs(dense.M).max()
        )


def test_parameters_that_are_not_given_are_typical():
    kernel = H * kernels.Exponential(0.7)
    on_graph = KernelOnGraph(kernel, Inputs.check(PLANE, None), 0, 5)
    np.testing.assert_array_equal(on_graph.root({}), on_graph.root({"variance": H.typical()}))


def test_one_and_two_places():
    one = vecchia(lambda i, j: np.full(i.shape, 4.0), make_graph(np.zeros((1, 1))))
    assert (one.values.tolist(), one.diagonal.tolist()) == ([0.5], [0.25])
    assert one.log_determinant == pytest.approx(np.log(4.0))
    K = np.array([[2.0, 1.0], [1.0, 3.0]])
    two = vecchia(lambda i, j: K[i, j], make_graph(np.array([[0.0], [1.0]])))
    np.testing.assert_allclose(matrix_of(two), np.linalg.inv(K), rtol=1e-14)


def test_covariances_may_be_those_of_any_matrix():
    """Whoever the neighbours are, all of them make it exact."""
    root = np.random.default_rng(5).normal(size=(30, 30))
    K = root @ root.T + np.eye(30)
    precision = vecchia(lambda i, j: K[i, j], make_graph(scattered(30), k=29))
    assert relative_error(precision, K) < 1e-9


# Fewer neighbours


def divergence(precision, K):
    """Kullback-Leibler, of the exact Gaussian from the approximation."""
    trace = np.vdot(matrix_of(precision), K)
    return 0.5 * (trace - len(K) + precision.log_determinant - np.linalg.slogdet(K)[1])


FEWER = ("gaussian", "exponential", "matern52", "rational quadratic", "exponential, earth", "space and time")


@pytest.mark.parametrize("name", FEWER)
def test_more_neighbours_bring_it_closer(name):
    """Sets of neighbours are nested, so that the divergence can only fall."""
    kernel, X, values = CASES[name]
    K = kernel.bind(X).covariance(values)
    found = [precision_of(kernel, X, values, k=k) for k in (1, 2, 4, 8, 16, 24)]
    apart = np.array([divergence(precision, K) for precision in found])
    assert apart[0] > 1e-2
    assert (np.diff(apart) <= 1e-12).all()
    assert apart[3] < 0.2 * apart[0]
    assert abs(apart[-1]) < 1e-9
    errors = [relative_error(precision, K) for precision in found]
    assert errors[0] > errors[2] > errors[4] > errors[5]
    for precision in found:  # each conditional variance is exact, so the trace is
        assert np.vdot(matrix_of(precision), K) == pytest.approx(len(X), rel=1e-9)


def test_columns_are_regressions_on_the_neighbours():
    """U_ii = 1/√v and U_ji = −b_j/√v, with the numbers of a plain solver."""
    K = kernels.Matern32(0.5).bind(PLANE).covariance({})
    graph = make_graph(PLANE, 10, 4)
    U = vecchia(lambda i, j: K[i, j], graph).U.toarray()
    for i in range(25):
        near = graph.neighbours[i, : graph.counts[i]]
        b = np.linalg.solve(K[np.ix_(near, near)], K[near, i])
        variance = K[i, i] - b @ K[near, i]
        expected = np.zeros(25)
        expected[i], expected[near] = 1.0, -b
        np.testing.assert_allclose(U[:, i], expected / np.sqrt(variance), rtol=1e-10, atol=1e-12)


def test_spread_out_places_first_and_near_neighbours_are_worth_it():
    """Against an order at random, and against neighbours that are any earlier places."""
    X = scattered(150)
    K = np.exp(-2.0 * cdist(X, X))
    graph, rng = make_graph(X, k=5), np.random.default_rng(2)
    good = divergence(vecchia(lambda i, j: K[i, j], graph), K)
    shuffled = rng.permutation(150).astype(np.int32)
    other_order = graph_from(*earlier_neighbours(X, shuffled, 5))
    assert 1.5 * good < divergence(vecchia(lambda i, j: K[i, j], other_order), K)
    some, rank = graph.neighbours.copy(), np.argsort(graph.pattern.order)
    for place in range(150):
        count = graph.counts[place]
        some[place, :count] = rng.choice(np.flatnonzero(rank < rank[place]), count, replace=False)
    others = graph_from(some, graph.counts)
    assert 10.0 * good < divergence(vecchia(lambda i, j: K[i, j], others), K)


def graph_from(neighbours, counts):
    starts, columns, slots = MODULE._layout(neighbours, counts)
    pattern = Pattern(starts, columns, MODULE._needs_first(neighbours, counts))
    return MODULE.Graph(0, neighbours, counts, pattern, slots)


def test_a_shuffled_column_of_neighbours_is_seen():
    """The same comparison as above, where covariances belong to other places than the entries of U."""
    kernel, X, values = CASES["exponential"]
    K = kernel.bind(X).covariance(values)
    graph = make_graph(X, 10, 24)
    assert relative_error(vecchia(lambda i, j: K[i, j], graph), K) < 1e-9
    shuffled, full = graph.neighbours.copy(), graph.counts >= 2
    shuffled[full, :2] = shuffled[full, 1::-1]
    wrong = vecchia(lambda i, j: K[i, j], replace(graph, neighbours=shuffled))
    assert relative_error(wrong, K) > 1e-2


# New places


@pytest.mark.parametrize("k", [3, 24])
@pytest.mark.parametrize("n", [0, 1, 10, 24, 25])
def test_the_block_of_new_places_is_a_root_of_their_precision(n, k):
    kernel, X, values = CASES["exponential"]
    precision = precision_of(kernel, X, values, n, k)
    graph = make_graph(X / values["lengthscale"], n, k)
    block = VecchiaPrecision(graph.new, precision.values[graph.pattern.starts[n] :])
    assert block.d == 25 - n
    M = matrix_of(precision)
    np.testing.assert_allclose(matrix_of(block), M[n:, n:], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(block.diagonal, M.diagonal()[n:], rtol=1e-12)
    # What comes first does not see what comes later: U₁₁ is all that the observed places have.
    np.testing.assert_array_equal(precision.U.toarray()[n:, :n], 0.0)
    if k == 24 and n < 25:
        K = kernel.bind(X).covariance(values)
        schur = K[n:, n:] - K[n:, :n] @ np.linalg.solve(K[:n, :n], K[:n, n:])
        np.testing.assert_allclose(matrix_of(block) @ schur, np.eye(25 - n), atol=1e-9)


def test_new_places_leave_the_observed_ones_as_they_are():
    """Their marginal law is the same with and without new places: U of n places alone is that of the first n."""
    kernel, X, values = CASES["matern32"]
    alone, all_of_them = precision_of(kernel, X[:10], values, 10, 4), precision_of(kernel, X, values, 10, 4)
    inverse = np.linalg.inv(matrix_of(all_of_them))[:10, :10]
    np.testing.assert_allclose(inverse @ matrix_of(alone), np.eye(10), atol=1e-9)


# Parts, threads and what is kept


@pytest.mark.parametrize("kept", [True, False], ids=["geometry kept", "geometry anew"])
@pytest.mark.parametrize("name", ["matern32", "periodic", "categorical", "custom", "space and time"])
def test_parts_and_threads_do_not_change_a_bit(monkeypatch, name, kept):
    kernel, X, values = CASES[name]
    whole = precision_of(kernel, X, values, k=6).values
    monkeypatch.setattr(MODULE, "_CHUNK", 100)
    if not kept:
        monkeypatch.setattr("vmqp.precision.on_graph._KEPT", 0)
    on_graph = KernelOnGraph(kernel, Inputs.check(X, None), 10, 6)
    assert len(on_graph.graph.parts) == 9
    assert [part.start for part in on_graph.graph.parts[1:]] == [p.stop for p in on_graph.graph.parts[:-1]]
    for workers in (1, 2, 2):  # the last time from what was kept
        np.testing.assert_array_equal(on_graph.root(values, workers=workers), whole)
    first = precision_of(kernel, X, values, k=6).values
    np.testing.assert_array_equal(first, whole)


def test_workers_of_a_precision_from_a_function():
    X = scattered(3000)
    graphs = [make_graph(X, 0, 30, workers) for workers in (1, 2)]
    np.testing.assert_array_equal(graphs[0].neighbours, graphs[1].neighbours)
    assert len(graphs[0].parts) > 1

    def covariance(i, j):
        return np.exp(-np.linalg.norm(X[i] - X[j], axis=1))

    one, two = (vecchia(covariance, graphs[0], workers) for workers in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)


def test_only_the_first_columns(monkeypatch):
    kernel, X, values = CASES["exponential"]
    monkeypatch.setattr(MODULE, "_CHUNK", 100)
    on_graph = KernelOnGraph(kernel, Inputs.check(X, None), 10, 4)
    some, whole = on_graph.root(values, rows=10), on_graph.root(values)
    own = on_graph.graph.slots[:10]
    used = own[own >= 0]
    np.testing.assert_array_equal(some[used], whole[used])


# Where there is no factor


def test_equal_places_need_a_nugget():
    kernel, values = H * kernels.Exponential(0.5), {"variance": 2.0}
    with_nugget = kernel + kernels.Nugget(0.1)
    inputs = Inputs.check(TWICE, None)
    assert KernelOnGraph(kernel, inputs, 20, 5).root(values) is None
    K = with_nugget.bind(TWICE).covariance(values)
    assert relative_error(precision_of(with_nugget, TWICE, values, 20), K) < 1e-8
    plain = kernel.bind(TWICE).covariance(values)
    with pytest.raises(
        NotPositiveDefiniteError, match=r"60 places is not positive definite.*Nugget"
    ) as caught:
        vecchia(lambda i, j: plain[i, j], make_graph(TWICE))
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("place", [0, 13, 24])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0, 0.0])
def test_a_variance_that_is_none(monkeypatch, value, place, workers):
    monkeypatch.setattr(MODULE, "_CHUNK", 100)
    K = np.exp(-cdist(PLANE, PLANE))
    K[place, place] = value
    with pytest.raises(NotPositiveDefiniteError):
        vecchia(lambda i, j: K[i, j], make_graph(PLANE, 10, 4), workers)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1.5])
def test_a_covariance_that_is_none(value):
    K = np.exp(-cdist(PLANE, PLANE))
    graph = make_graph(PLANE, 10, 4)
    other = graph.neighbours[20, 0]
    K[20, other] = K[other, 20] = value
    with pytest.raises(NotPositiveDefiniteError):
        vecchia(lambda i, j: K[i, j], graph)


def test_a_function_that_gives_too_few_covariances():
    with pytest.raises(InputError, match=r"shape \(3,\) for \d+ pairs of rows"):
        vecchia(lambda i, j: np.ones(3), make_graph(PLANE, 10, 4))


@pytest.mark.parametrize("scale", [1e-290, 1e-100, 1e100, 1e290])
def test_extreme_but_well_conditioned_scales(scale):
    K = np.exp(-cdist(PLANE, PLANE))
    graph = make_graph(PLANE, 10, 4)
    plain, scaled = (vecchia(lambda i, j, c=c: c * K[i, j], graph) for c in (1.0, scale))
    np.testing.assert_allclose(np.sqrt(scale) * scaled.values, plain.values, rtol=1e-9)


def test_extreme_length_scales_have_a_factor_or_none():
    """Warnings are errors in this suite, so a warning fails too."""
    on_graph = KernelOnGraph(kernels.Exponential(H), Inputs.check(PLANE, None), 10, 4)
    np.testing.assert_allclose(on_graph.root({"lengthscale": 1e-300})[on_graph.graph.slots[:, -1]], 1.0)
    assert on_graph.root({"lengthscale": 1e300}) is None
