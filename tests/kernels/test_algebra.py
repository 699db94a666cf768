"""The algebra of kernels: names of parameters, sums, products, scales, columns, errors."""

import numpy as np
import pytest

from vmqp import kernels, priors
from vmqp.errors import InputError
from vmqp.kernels import (
    Categorical,
    Constant,
    Custom,
    Exponential,
    Gaussian,
    Linear,
    Matern32,
    Matern52,
    Nugget,
    Periodic,
    RationalQuadratic,
)
from vmqp.priors import HalfNormal, LogNormal, Squared, Uniform

H = HalfNormal(1)
X = np.random.default_rng(0).normal(size=(9, 3))
ABC = ["east", "north", "height"]


def triangle(a, b, width):
    return np.maximum(0.0, 1.0 - np.abs(a[:, 0] - b[:, 0]) / width)


def matrix(kernel, values=None):
    return kernel.bind(X).covariance(values or {})


def names(kernel, column_names=ABC):
    return list(kernel.bind(X, column_names).parameters)


def test_the_kernel_of_the_design():
    # fmt: off
    kernel = priors.HalfNormal(1) * kernels.Gaussian(lengthscale=priors.LogNormal(0, 1), columns=["hip", "knee", "ankle"]) \
           * kernels.Gaussian(lengthscale=priors.HalfNormal(10), columns=["gradient"]) + kernels.Nugget(priors.HalfNormal(0.1))  # noqa: E501
    # fmt: on
    X = np.random.default_rng(1).normal(size=(6, 4))
    bound = kernel.bind(X, ["gradient", "hip", "knee", "ankle"])
    assert bound.parameters == {
        "variance": HalfNormal(1),
        "lengthscale_1": LogNormal(0, 1),
        "lengthscale_2": HalfNormal(10),
        "nugget": HalfNormal(0.1),
    }
    assert list(bound.parameters) == ["variance", "lengthscale_1", "lengthscale_2", "nugget"]
    assert bound.scale_parameters == ("variance", "nugget")
    K = bound.covariance({"variance": 2.0, "lengthscale_1": 0.8, "lengthscale_2": 3.0, "nugget": 0.1})
    for i in range(6):
        for j in range(6):
            a, s = X[i, 1:] - X[j, 1:], X[i, 0] - X[j, 0]
            expected = 2.0 * np.exp(-a @ a / (2 * 0.8**2) - s**2 / (2 * 3.0**2))  # eq:gait_kernel
            assert K[i, j] == pytest.approx(expected + 0.1 * (i == j), rel=1e-12)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Gaussian(1.0), ["lengthscale"]),
        (Gaussian(H, name="coast"), ["lengthscale"]),
        (H * Gaussian(H) + Nugget(H), ["variance", "lengthscale", "nugget"]),
        (Gaussian(H) + Exponential(1.0), ["lengthscale_1", "lengthscale_2"]),
        (Gaussian(H, name="coast") + Exponential(H, name="land"), ["lengthscale_coast", "lengthscale_land"]),
        (Gaussian(H) + Exponential(H, name="land"), ["lengthscale_1", "lengthscale_land"]),
        (Exponential(H, name="land") + Gaussian(H), ["lengthscale_land", "lengthscale_2"]),
        (
            H * Gaussian(H, name="coast") + 2.0 * Exponential(H, name="land"),
            ["variance_coast", "lengthscale_coast", "variance_land", "lengthscale_land"],
        ),
        (H * Gaussian(H) + Constant(H), ["variance_1", "lengthscale", "variance_2"]),
        (H * (Gaussian(H) * Linear() + Nugget(0.1)), ["variance", "lengthscale", "center", "nugget"]),
        (Gaussian([1.0, H, H]), ["lengthscale_east", "lengthscale_north", "lengthscale_height"]),
        (Gaussian([H, H], columns=["height", 0]), ["lengthscale_height", "lengthscale_east"]),
        (Gaussian({"north": H, "east": H}), ["lengthscale_north", "lengthscale_east"]),
        (Gaussian([H], columns="north"), ["lengthscale_north"]),
        (
            Gaussian([H, H], columns=[0, 1]) + Exponential(H, columns=2),
            ["lengthscale_1_east", "lengthscale_1_north", "lengthscale_2"],
        ),
        (
            Gaussian([H], columns=[0], name="coast") + Exponential(H, columns=2),
            ["lengthscale_coast_east", "lengthscale_2"],
        ),
        (RationalQuadratic(H, H) * Periodic(H, 24.0), ["lengthscale_1", "shape", "lengthscale_2", "period"]),
        (Categorical(Uniform(0, 1)) + Custom(triangle, width=H), ["correlation", "width"]),
        (Custom(triangle, width=H) * Custom(triangle, width=1.0, name="b"), ["width_1", "width_b"]),
        (Nugget(H) + Nugget(H), ["nugget_1", "nugget_2"]),
        (Nugget(H, name="wet") + Nugget(H, name="dry"), ["nugget_wet", "nugget_dry"]),
    ],
)
def test_names_of_parameters(kernel, expected):
    assert names(kernel) == expected


def test_columns_without_names_are_numbered():
    assert names(Gaussian([H, H], columns=[2, 0]), None) == ["lengthscale_2", "lengthscale_0"]
    assert names(Gaussian([H, H, H]), None) == ["lengthscale_0", "lengthscale_1", "lengthscale_2"]


def test_two_kernels_of_one_name():
    with pytest.raises(InputError, match=r"'lengthscale_a'.*different name="):
        (Gaussian(H, name="a") + Exponential(H, name="a")).bind(X)


A, B, C = Gaussian(0.8), Exponential(1.5, columns=[0]), Matern32(0.6, columns=[1, 2])


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (A + B, matrix(A) + matrix(B)),
        (A * B, matrix(A) * matrix(B)),
        (A + B + C, matrix(A) + matrix(B) + matrix(C)),
        (A + (B + C), matrix(A) + matrix(B) + matrix(C)),
        (A * (B + C), matrix(A) * (matrix(B) + matrix(C))),
        ((A + B) * C, (matrix(A) + matrix(B)) * matrix(C)),
        (2 * A, 2 * matrix(A)),
        (A * 2, 2 * matrix(A)),
        (np.float64(2.0) * A, 2 * matrix(A)),
        (np.int64(2) * A * B, 2 * matrix(A) * matrix(B)),
        (2 * (A + 3 * B), 2 * (matrix(A) + 3 * matrix(B))),
        (2 * A * (3 * B) * (C + 4 * A), 2 * matrix(A) * 3 * matrix(B) * (matrix(C) + 4 * matrix(A))),
        (sum([A, B, C]), matrix(A) + matrix(B) + matrix(C)),
        (A + Constant(0.5), matrix(A) + 0.5),
        (A + Nugget(0), matrix(A)),
    ],
)
def test_sums_and_products(kernel, expected):
    np.testing.assert_allclose(matrix(kernel), expected, rtol=1e-13)
    rows, cols = np.array([3, 1]), np.array([2, 1])
    np.testing.assert_allclose(kernel.bind_pairs(X, rows, cols).values({}), expected[rows, cols], rtol=1e-13)


def test_columns_are_chosen_by_name_or_position():
    by_name = Gaussian(1.0, columns=["height", "east"]).bind(X, ABC).covariance({})
    by_place = Gaussian(1.0, columns=[2, 0]).bind(X).covariance({})
    alone = Gaussian(1.0).bind(X[:, [2, 0]]).covariance({})
    np.testing.assert_array_equal(by_name, by_place)
    np.testing.assert_array_equal(by_name, alone)
    of_arrays = Gaussian(np.array([1.0, 2.0]), columns=np.array([2, 0]))
    assert of_arrays == Gaussian([1.0, 2.0], columns=[2, 0])


def test_a_mapping_of_length_scales_follows_the_columns():
    kernel = Gaussian({"east": 1.0, "height": 2.0}, columns=["height", "east"])
    assert kernel == Gaussian([2.0, 1.0], columns=["height", "east"])
    np.testing.assert_allclose(
        kernel.bind(X, ABC).covariance({}), Gaussian(1.0).bind(X[:, [0, 2]] / [1.0, 2.0]).covariance({})
    )


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Gaussian(H), None),
        (2.0 * Gaussian(H), None),
        (H * Gaussian(H), ("variance",)),
        (H * Gaussian(H) + Nugget(H), ("variance", "nugget")),
        (H * Gaussian(H) + Nugget(0.1), None),
        (H * Gaussian(H) + Exponential(H), None),
        (H * Gaussian(H) + Constant(H) + Nugget(H), ("variance_1", "variance_2", "nugget")),
        (H * Gaussian(H) * Exponential(H), ("variance",)),
        (Gaussian(H) * (H * Exponential(H)), ("variance",)),
        (H * Gaussian(H) * (H * Exponential(H)), ("variance_1",)),
        (Gaussian(H) * (H * Exponential(H) + Nugget(H)), ("variance", "nugget")),
        (H * (Gaussian(H) + Nugget(0.1)), ("variance",)),
        (2.0 * (H * Gaussian(H) + Nugget(H)), ("variance_2", "nugget")),
        (H * (H * Gaussian(H)), ("variance_1",)),
        (Nugget(H), ("nugget",)),
        (Custom(triangle, width=H), None),
    ],
)
def test_scale_parameters(kernel, expected):
    bound = kernel.bind(X)
    assert bound.scale_parameters == expected
    assert kernel.bind_pairs(X, [0], [1]).scale_parameters == expected
    if expected is not None:
        values = {name: 0.5 + 0.2 * i for i, name in enumerate(bound.parameters)}
        scaled = {name: 3.0 * value if name in expected else value for name, value in values.items()}
        np.testing.assert_allclose(bound.covariance(scaled), 3.0 * bound.covariance(values), rtol=1e-13)


def test_fixed_parameters_keep_their_value():
    bound = (2.0 * Periodic(H, 24.0)).bind(X[:, :1])
    expected = bound.covariance({"lengthscale": 0.5})
    np.testing.assert_array_equal(
        bound.covariance({"lengthscale": 0.5, "period": 3.0, "variance": 9.0}), expected
    )
    with pytest.raises(InputError, match=r"'lengthscale' has no value.*\['lengthscale'\]"):
        bound.covariance({})


EXPRESSIONS = [
    Gaussian(1.0),
    Exponential([1.0, H], columns=["a", "b"]),
    Matern32({"a": H, 1: 2.5}),
    Matern52(Squared(HalfNormal(2)), metric="geographic", columns=["lon", "lat"], name="coast"),
    RationalQuadratic(LogNormal(0, 1), 2.0),
    Periodic([H, 1.0], 24.0, columns=[0, 1]),
    Categorical(),
    Categorical([0.1, Uniform(0, 1)]),
    Linear(-1.0, columns="a"),
    Constant(H, name="offset"),
    Nugget(0),
    Custom(triangle, width=H, columns=[0], name="t"),
    A + B + C,
    A * B * C,
    (A + B) * C,
    C * (A + B),
    2.0 * A * B + Nugget(H),
    2.0 * (A * B),
    2.0 * (3.0 * A),
    A * (2.0 * B) * C,
    H * (A + 2.0 * B) * (C * (A + B)),
]


@pytest.mark.parametrize("kernel", EXPRESSIONS, ids=repr)
def test_repr_evaluates_back(kernel):
    back = eval(repr(kernel), vars(kernels) | vars(priors) | {"triangle": triangle})
    assert back == kernel
    assert repr(back) == repr(kernel)
    assert hash(back) == hash(kernel)


def test_a_custom_function_may_keep_its_array():
    kept = {}

    def cached(a, b):
        return kept.setdefault(len(a), np.exp(-np.abs(a[:, 0] - b[:, 0])))

    bound = (3.0 * Custom(cached)).bind(X)
    np.testing.assert_array_equal(bound.covariance({}), bound.covariance({}))
