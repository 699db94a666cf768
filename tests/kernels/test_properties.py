"""One suite of properties for all kernels, against the formulas in plain loops."""

import math
import pickle

import numpy as np
import pytest

from vmqp import kernels
from vmqp.kernels.metrics import EARTH_RADIUS
from vmqp.priors import HalfNormal, Uniform

H = HalfNormal(1)


def distance(a, b):
    return math.dist(a, b)


def angle_on_earth(a, b):
    """The angle between two places from their unit vectors."""
    u, v = (
        np.array([math.cos(p) * math.cos(q), math.cos(p) * math.sin(q), math.sin(p)])
        for q, p in (np.radians(a), np.radians(b))
    )
    return math.atan2(np.linalg.norm(np.cross(u, v)), u @ v)


def great_circle(a, b):
    return EARTH_RADIUS * angle_on_earth(a, b)


def chord(a, b):
    return 2 * EARTH_RADIUS * math.sin(angle_on_earth(a, b) / 2)


def gaussian(r, l):  # noqa: E741
    return math.exp(-(r**2) / (2 * l**2))


def exponential(r, l):  # noqa: E741
    return math.exp(-r / l)


def matern32(r, l):  # noqa: E741
    return (1 + math.sqrt(3) * r / l) * math.exp(-math.sqrt(3) * r / l)


def matern52(r, l):  # noqa: E741
    return (1 + math.sqrt(5) * r / l + 5 * r**2 / (3 * l**2)) * math.exp(-math.sqrt(5) * r / l)


def rational_quadratic(r, l, a):  # noqa: E741
    return (1 + r**2 / (2 * a * l**2)) ** (-a)


def periodic(a, b, l, p):  # noqa: E741
    return math.exp(-2 * sum(math.sin(math.pi * (x - y) / p) ** 2 for x, y in zip(a, b, strict=True)) / l**2)


def triangle(a, b, width):
    return np.maximum(0.0, 1.0 - np.abs(a[:, 0] - b[:, 0]) / width)


def scaled(a, b, lengths):
    return math.sqrt(sum(((x - y) / length) ** 2 for x, y, length in zip(a, b, lengths, strict=True)))


def plane(seed=0, d=25, p=2):
    return np.random.default_rng(seed).normal(size=(d, p))


def earth():
    """Places all over, with some near the poles and on both sides of the date line."""
    rng = np.random.default_rng(3)
    scattered = np.column_stack((rng.uniform(-180, 180, 18), np.degrees(np.arcsin(rng.uniform(-1, 1, 18)))))
    special = [[0, 90], [77, 89.9], [-120, 89.8], [10, -90], [179.9, 5], [-179.9, 5], [180, -40], [0, 40]]
    return np.vstack((scattered, special)).astype(float)


def codes():
    return np.random.default_rng(4).integers(0, 4, size=(25, 2)).astype(float)


L, LS = {"lengthscale": 0.7}, {"lengthscale_0": 0.7, "lengthscale_1": 1.9}
KM = {"lengthscale": 2500.0}

# name: (kernel with every parameter learned, inputs, values, the formula for two rows)
CASES = {
    "gaussian": (kernels.Gaussian(H), plane(), L, lambda a, b: gaussian(distance(a, b), 0.7)),
    "exponential": (kernels.Exponential(H), plane(), L, lambda a, b: exponential(distance(a, b), 0.7)),
    "matern32": (kernels.Matern32(H), plane(), L, lambda a, b: matern32(distance(a, b), 0.7)),
    "matern52": (kernels.Matern52(H), plane(), L, lambda a, b: matern52(distance(a, b), 0.7)),
    "rational quadratic": (
        kernels.RationalQuadratic(H, H),
        plane(),
        L | {"shape": 1.3},
        lambda a, b: rational_quadratic(distance(a, b), 0.7, 1.3),
    ),
    "gaussian, each column": (
        kernels.Gaussian([H, H]),
        plane(),
        LS,
        lambda a, b: gaussian(scaled(a, b, (0.7, 1.9)), 1),
    ),
    "exponential, each column": (
        kernels.Exponential([H, H]),
        plane(),
        LS,
        lambda a, b: exponential(scaled(a, b, (0.7, 1.9)), 1),
    ),
    "gaussian, earth": (
        kernels.Gaussian(H, metric="geographic"),
        earth(),
        KM,
        lambda a, b: gaussian(chord(a, b), 2500),
    ),
    "exponential, earth": (
        kernels.Exponential(H, metric="geographic"),
        earth(),
        KM,
        lambda a, b: exponential(great_circle(a, b), 2500),
    ),
    "matern32, earth": (
        kernels.Matern32(H, metric="geographic"),
        earth(),
        KM,
        lambda a, b: matern32(chord(a, b), 2500),
    ),
    "matern52, earth": (
        kernels.Matern52(H, metric="geographic"),
        earth(),
        KM,
        lambda a, b: matern52(chord(a, b), 2500),
    ),
    "rational quadratic, earth": (
        kernels.RationalQuadratic(H, H, metric="geographic"),
        earth(),
        KM | {"shape": 1.3},
        lambda a, b: rational_quadratic(chord(a, b), 2500, 1.3),
    ),
    "periodic": (
        kernels.Periodic(H, H),
        plane(p=1),
        L | {"period": 1.1},
        lambda a, b: periodic(a, b, 0.7, 1.1),
    ),
    "periodic, fixed period": (
        kernels.Periodic(H, 1.1),
        plane(),
        L,
        lambda a, b: periodic(a, b, 0.7, 1.1),
    ),
    "periodic, each column": (
        kernels.Periodic([H, H], 1.1),
        plane(),
        LS,
        lambda a, b: periodic(a[:1], b[:1], 0.7, 1.1) * periodic(a[1:], b[1:], 1.9, 1.1),
    ),
    "categorical": (
        kernels.Categorical(Uniform(0, 1)),
        codes(),
        {"correlation": 0.4},
        lambda a, b: 0.4 ** float(np.sum(a != b)),
    ),
    "categorical, each column": (
        kernels.Categorical([Uniform(0, 1), 0.1]),
        codes(),
        {"correlation_0": 0.4},
        lambda a, b: (1 if a[0] == b[0] else 0.4) * (1 if a[1] == b[1] else 0.1),
    ),
    "linear": (kernels.Linear(), plane(), {}, lambda a, b: a[0] * b[0] + a[1] * b[1]),
    "linear, learned center": (
        kernels.Linear(Uniform(-2, 2)),
        plane(),
        {"center": -0.5},
        lambda a, b: (a[0] + 0.5) * (b[0] + 0.5) + (a[1] + 0.5) * (b[1] + 0.5),
    ),
    "constant": (kernels.Constant(H), plane(), {"variance": 2.5}, lambda a, b: 2.5),
    "custom": (
        kernels.Custom(triangle, width=H, columns=[1]),
        plane(),
        {"width": 1.5},
        lambda a, b: max(0.0, 1 - abs(a[1] - b[1]) / 1.5),
    ),
}
NAMES = list(CASES)


@pytest.mark.parametrize("name", NAMES)
def test_matches_the_formula(name):
    kernel, X, values, formula = CASES[name]
    K = kernel.bind(X).covariance(values)
    naive = np.array([[formula(a, b) for b in X] for a in X])
    np.testing.assert_allclose(K, naive, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_symmetric_and_positive_semidefinite(name):
    kernel, X, values, _ = CASES[name]
    K = kernel.bind(X).covariance(values)
    assert K.dtype == np.float64
    assert K.flags.c_contiguous
    np.testing.assert_array_equal(K, K.T)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-12 * eigenvalues[-1]


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("linear")])
def test_the_variance_is_on_the_diagonal(name):
    kernel, X, values, _ = CASES[name]
    K = (H * kernel).bind(X)
    names = [key for key in K.parameters if key.startswith("variance")]
    matrix = K.covariance(
        {("variance_2" if len(names) == 2 else k): v for k, v in values.items()} | {names[0]: 3.0}
    )
    np.testing.assert_array_equal(matrix.diagonal(), 7.5 if name == "constant" else 3.0)


@pytest.mark.parametrize("name", NAMES)
def test_any_pairs_agree_with_the_matrix(name):
    kernel, X, values, _ = CASES[name]
    kernel = kernel + kernels.Nugget(0.3)
    K = kernel.bind(X).covariance(values)
    rng = np.random.default_rng(5)
    for shape in ((), (1,), (40,), (3, 4, 5), (0,)):
        rows, cols = rng.integers(0, len(X), size=(2, *shape))
        pairs = kernel.bind_pairs(X, rows, cols).values(values)
        assert pairs.shape == shape
        np.testing.assert_allclose(pairs, K[rows, cols], rtol=1e-14)


@pytest.mark.parametrize("extreme", [0.0, 5e-324, 1e-300, 1e-160, 1e160, 1e300, 1.7e308, np.inf])
@pytest.mark.parametrize(
    "name", [name for name in NAMES if name.split(",")[0] not in ("linear", "categorical")]
)
def test_extreme_parameters_neither_warn_nor_make_nan(name, extreme):
    """Warnings are errors in this suite, so a warning fails too."""
    kernel, X, values, _ = CASES[name]
    if name == "custom":
        kernel = kernels.Gaussian([H, 1.0]) * kernels.Periodic(H, H)
        values = {"lengthscale_1_0": 1.0, "lengthscale_2": 1.0, "period": 1.0}
    bound = (kernel + kernels.Nugget(0.0)).bind(X)
    for key in values:
        K = bound.covariance(values | {key: extreme})
        assert not np.isnan(K).any()
        if key != "variance":
            assert (np.abs(K) <= 1.0).all()
            np.testing.assert_array_equal(K.diagonal(), 1.0)


def test_extreme_inputs():
    X = np.array([[1e200], [-1e200], [0.0], [1e-200]])
    for kernel in (kernels.Gaussian(1.0), kernels.Exponential([1.0]), kernels.Matern52(1.0)):
        np.testing.assert_allclose(
            kernel.bind(X).covariance({}), np.eye(4) + np.eye(4)[:, [0, 1, 3, 2]] * [0, 0, 1, 1]
        )


def test_limits_of_the_length_scale():
    X = plane()
    for kind in (kernels.Gaussian, kernels.Exponential, kernels.Matern32, kernels.Matern52):
        np.testing.assert_array_equal(kind(1e-300).bind(X).covariance({}), np.eye(25))
        np.testing.assert_array_equal(kind(1e300).bind(X).covariance({}), 1.0)


@pytest.mark.parametrize(
    "kind",
    [kernels.Gaussian, kernels.Exponential, kernels.Matern32, kernels.Matern52, kernels.RationalQuadratic],
)
def test_a_length_scale_for_each_column_is_a_scaling_of_the_columns(kind):
    X, lengths = plane(p=3), [0.5, 2.0, 3.0]
    extra = {"shape": 0.8} if kind is kernels.RationalQuadratic else {}
    each = kind(lengths, **extra).bind(X).covariance({})
    one = kind(1.0, **extra).bind(X / lengths).covariance({})
    np.testing.assert_allclose(each, one, rtol=1e-12, atol=1e-15)


def test_a_rational_quadratic_of_large_shape_is_gaussian():
    X = plane()
    K = kernels.RationalQuadratic(0.7, 1e12).bind(X).covariance({})
    np.testing.assert_allclose(K, kernels.Gaussian(0.7).bind(X).covariance({}), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("period", [24.0, H])
def test_periodic_does_not_see_whole_periods(period):
    X = np.random.default_rng(0).uniform(0, 24, size=(12, 1))
    shifted = X + 24.0 * np.arange(12)[:, None]
    first, second = (kernels.Periodic(1.0, period).bind(Z).covariance({"period": 24.0}) for Z in (X, shifted))
    np.testing.assert_allclose(first, second, atol=1e-12)


def test_periodic_is_the_gaussian_kernel_on_the_unit_circle():
    X = plane(p=1)
    circle = np.column_stack((np.cos(2 * np.pi * X[:, 0] / 5), np.sin(2 * np.pi * X[:, 0] / 5)))
    np.testing.assert_allclose(
        kernels.Periodic(0.7, 5.0).bind(X).covariance({}),
        kernels.Gaussian(0.7).bind(circle).covariance({}),
        rtol=1e-12,
    )


def test_the_nugget_is_by_row_also_where_places_repeat():
    X = np.array([[1.0], [1.0], [2.0], [1.0]])
    K = (kernels.Gaussian(1.0) + kernels.Nugget(H)).bind(X).covariance({"nugget": 0.25})
    np.testing.assert_array_equal(K - kernels.Gaussian(1.0).bind(X).covariance({}), 0.25 * np.eye(4))
    np.linalg.cholesky(K)


@pytest.mark.parametrize("name", NAMES)
def test_a_bound_kernel_pickles(name):
    kernel, X, values, _ = CASES[name]
    bound = kernel.bind(X)
    copy = pickle.loads(pickle.dumps(bound))
    np.testing.assert_array_equal(copy.covariance(values), bound.covariance(values))
    assert copy.parameters == bound.parameters


@pytest.mark.parametrize("name", NAMES)
def test_evaluating_twice_gives_the_same(name):
    """Evaluation works in place on its own arrays only."""
    kernel, X, values, _ = CASES[name]
    kernel = 2.0 * kernel * kernel if not values else 2.0 * kernel
    bound = kernel.bind(X)
    values = {("variance_2" if key == "variance" else key): value for key, value in values.items()}
    first = bound.covariance(values)
    kept = first.copy()
    second = bound.covariance(values)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", NAMES)
def test_one_row(name):
    kernel, X, values, formula = CASES[name]
    assert kernel.bind(X[:1]).covariance(values) == pytest.approx(formula(X[0], X[0]))
