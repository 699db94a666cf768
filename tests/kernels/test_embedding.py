"""Places as points: near in the embedding means correlated under the kernel."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from vmqp import kernels
from vmqp.kernels.embedding import embed, flat
from vmqp.kernels.inputs import Inputs
from vmqp.kernels.metrics import EARTH_RADIUS
from vmqp.priors import HalfNormal, LogNormal, Uniform

H = HalfNormal(1)
RNG = np.random.default_rng(0)
PLANE, LINE, SPACE = RNG.normal(size=(40, 2)), RNG.uniform(0.0, 10.0, (40, 1)), RNG.normal(size=(40, 3))
CODES = RNG.integers(0, 4, (40, 2)).astype(float)
EARTH = np.vstack(
    (
        np.column_stack((RNG.uniform(-180, 180, 33), np.degrees(np.arcsin(RNG.uniform(-1, 1, 33))))),
        [[0, 90], [77, 89.9], [10, -90], [179.9, 5], [-179.9, 5], [180, -40], [-180, -40]],
    )
)


def points(kernel, X, values=None):
    """At values by flat order, or at typical ones."""
    return embed(kernel, Inputs.check(X, None), values)


def distances(kernel, X, values=None):
    found = points(kernel, X, values)
    return cdist(found, found)


def correlation_falls(apart, K):
    """Whether in every row a place that is farther away is never the more correlated one."""
    for row, covariances in zip(apart, K, strict=True):
        in_order = covariances[np.argsort(row, kind="stable")]
        if (np.diff(in_order) > 1e-9 * np.abs(covariances).max()).any():
            return False
    return True


ALIKE = {
    "gaussian": (kernels.Gaussian(1.3), PLANE),
    "exponential": (kernels.Exponential(0.7), PLANE),
    "matern32": (kernels.Matern32(0.7), PLANE),
    "matern52": (kernels.Matern52(0.7), PLANE),
    "rational quadratic": (kernels.RationalQuadratic(0.7, 1.3), PLANE),
    "in space": (kernels.Matern32(0.7), SPACE),
    "one column of three": (kernels.Matern32(0.7, columns=[1]), SPACE),
    "exponential, each column": (kernels.Exponential([0.4, 1.9]), PLANE),
    "rational quadratic, each column": (kernels.RationalQuadratic([0.4, 1.9], 0.6), PLANE),
    "columns in another order": (kernels.Gaussian({2: 0.5, 0: 3.0}), SPACE),
    "exponential, earth": (kernels.Exponential(2500.0, metric="geographic"), EARTH),
    "gaussian, earth": (kernels.Gaussian(9000.0, metric="geographic"), EARTH),
    "matern32, earth": (kernels.Matern32(2500.0, metric="geographic"), EARTH),
    "matern52, earth": (kernels.Matern52(2500.0, metric="geographic"), EARTH),
    "rational quadratic, earth": (kernels.RationalQuadratic(2500.0, 0.5, metric="geographic"), EARTH),
    "periodic": (kernels.Periodic(0.7, 3.0), LINE),
    "periodic, learned": (kernels.Periodic(H, LogNormal(1.0, 0.2)), LINE),
    "periodic, each column": (kernels.Periodic([0.7, 1.9], 1.1), PLANE),
    "categorical": (kernels.Categorical(0.4), CODES),
    "categorical, nearly equal": (kernels.Categorical(0.99), CODES),
    "scaled": (7.0 * kernels.Exponential(0.7), PLANE),
    "with an offset": (kernels.Exponential(0.7) + kernels.Constant(3.0), PLANE),
    "product of gaussians": (
        kernels.Gaussian(0.7, columns=[0]) * kernels.Gaussian(1.9, columns=[1]),
        PLANE,
    ),
    "gaussian times periodic": (
        kernels.Gaussian(2.0, columns=[0, 1]) * kernels.Periodic(0.8, 1.5, columns=[2]),
        SPACE,
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_the_nearest_points_are_the_most_correlated(name):
    kernel, X = ALIKE[name]
    values = {key: prior.typical() for key, prior in kernel.bind(X).parameters.items()}
    K = kernel.bind(X).covariance(values)
    apart = distances(kernel, X)
    assert correlation_falls(apart, K)
    # The comparison sees points of other rows.
    assert not correlation_falls(np.roll(apart, 1, axis=1), K)


@pytest.mark.parametrize("name", ALIKE)
def test_points_are_a_finite_contiguous_table(name):
    kernel, X = ALIKE[name]
    found = points(kernel, X)
    assert found.shape[0] == len(X)
    assert found.flags.c_contiguous
    assert found.dtype == np.float64
    assert np.isfinite(found).all()


# Length scales and parameters


def test_columns_are_divided_by_their_length_scales():
    np.testing.assert_allclose(points(kernels.Gaussian([0.5, 4.0]), PLANE), PLANE / [0.5, 4.0])
    np.testing.assert_allclose(points(kernels.Gaussian({1: 0.5}), PLANE), PLANE[:, 1:] / 0.5)


def test_parameters_in_their_flat_order():
    kernel = H * kernels.RationalQuadratic([H, H], H) * kernels.Exponential(LogNormal(0.0, 1.0), columns=[0])
    found = points(kernel, PLANE, [9.0, 0.5, 4.0, 1.7, 3.0])
    np.testing.assert_allclose(found, np.column_stack([PLANE / [0.5, 4.0], PLANE[:, :1] / 3.0]))
    typical = [parameter.prior.typical() for parameter in kernel.parameters()]
    np.testing.assert_array_equal(points(kernel, PLANE), points(kernel, PLANE, typical))


def test_values_by_name_become_the_flat_order():
    kernel = H * kernels.Gaussian([H, 2.0])
    names = list(kernel.bind(PLANE).parameters)
    assert flat(kernel, names, {"lengthscale_0": 5.0, "variance": 3.0}) == [3.0, 5.0, 2.0]
    assert flat(kernel, names, {}) == [H.typical(), H.typical(), 2.0]


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-160, 1e160, 1e300])
def test_extreme_length_scales_stay_finite(scale):
    """Warnings are errors in this suite, so a warning fails too."""
    assert np.isfinite(points(kernels.Exponential(H), PLANE, [scale])).all()
    assert np.isfinite(points(kernels.Exponential(H, metric="geographic"), EARTH, [scale])).all()


# Sums and products


def test_of_a_product_the_squared_distances_add_up():
    """For Gaussian factors it is what the correlation says: −2 log."""
    first, second = kernels.Gaussian(0.7, columns=[0]), kernels.Periodic(1.9, 2.0, columns=[1])
    square = distances(first * second, PLANE) ** 2
    np.testing.assert_allclose(square, distances(first, PLANE) ** 2 + distances(second, PLANE) ** 2)
    np.testing.assert_allclose(square, -2.0 * np.log((first * second).bind(PLANE).covariance({})), atol=1e-12)


def test_variances_of_factors_do_not_matter():
    first, second = kernels.Gaussian(0.7, columns=[0]), kernels.Gaussian(1.9, columns=[1])
    np.testing.assert_array_equal(
        points((3.0 * first) * (0.1 * second), PLANE), points(first * second, PLANE)
    )


def test_terms_count_by_their_variance():
    first, second = kernels.Gaussian(0.7, columns=[0]), kernels.Gaussian(1.9, columns=[1])
    square = distances(3.0 * first + second, PLANE) ** 2
    expected = 0.75 * distances(first, PLANE) ** 2 + 0.25 * distances(second, PLANE) ** 2
    np.testing.assert_allclose(square, expected, atol=1e-12)
    # Only the shares count, and the variance of a product is that of all of its factors.
    np.testing.assert_allclose(distances(30.0 * first + 10.0 * second, PLANE) ** 2, expected, atol=1e-12)
    one = 3.0 * kernels.Constant(2.0) * first
    np.testing.assert_allclose(distances(one + 2.0 * second, PLANE) ** 2, expected, atol=1e-12)


def test_for_near_places_a_sum_of_gaussians_falls_with_the_distance():
    """1 − correlation is half the squared distance: the weights are those of the Taylor series."""
    near = 1e-3 * PLANE
    kernel = (
        3.0 * kernels.Gaussian(0.7) + 0.5 * kernels.Gaussian(0.1, columns=[1]) + 2.0 * kernels.Gaussian(5.0)
    )
    K = kernel.bind(near).covariance({})
    np.testing.assert_allclose(1.0 - K / 5.5, 0.5 * distances(kernel, near) ** 2, rtol=1e-3, atol=1e-14)


def test_a_nugget_and_a_constant_take_no_part():
    kernel = 2.0 * kernels.Exponential([3.0, 0.5])
    plain = points(kernel, PLANE)
    for more in (kernels.Nugget(5.0), kernels.Constant(5.0), kernels.Nugget(1.0) + kernels.Constant(0.3)):
        np.testing.assert_allclose(points(kernel + more, PLANE), plain)
    np.testing.assert_allclose(points(kernel * kernels.Constant(5.0), PLANE), plain)


def test_a_sum_inside_a_product():
    place, time = kernels.Exponential(0.7, columns=[0]), kernels.Exponential(2.0, columns=[1])
    kernel = (3.0 * place + time + kernels.Nugget(1.0)) * kernels.Exponential(4.0, columns=[2])
    expected = np.column_stack(
        [np.sqrt(0.75) * SPACE[:, 0] / 0.7, np.sqrt(0.25) * SPACE[:, 1] / 2.0, SPACE[:, 2] / 4.0]
    )
    np.testing.assert_allclose(points(kernel, SPACE), expected)


def test_a_term_without_variance_is_as_if_it_were_not_there():
    kernel = H * kernels.Exponential(0.7, columns=[0]) + H * kernels.Exponential(2.0, columns=[1])
    found = points(kernel, PLANE, [1.0, 0.7, 0.0, 2.0])
    np.testing.assert_allclose(found, np.column_stack([PLANE[:, 0] / 0.7, np.zeros(40)]))
    assert np.isfinite(points(kernel, PLANE, [0.0, 0.7, 0.0, 2.0])).all()


# Other kinds of inputs


def test_on_the_earth_across_the_date_line_and_at_a_pole():
    X = np.array([[179.9, 10.0], [-179.9, 10.0], [179.0, 10.0], [0.0, 89.9], [180.0, 89.9], [0.0, 10.0]])
    kernel = kernels.Exponential(100.0, metric="geographic")
    apart = distances(kernel, X)
    assert apart[0].argsort()[1] == 1
    assert apart[3].argsort()[1] == 4
    # As chords in units of the length scale: 0.2 degrees of longitude, and 0.2 degrees across the pole.
    np.testing.assert_allclose(
        [apart[0, 1], apart[3, 4]],
        2.0 * EARTH_RADIUS / 100.0 * np.sin(np.radians(0.1)) * np.array([np.cos(np.radians(10.0)), 1.0]),
    )
    # Longitudes from 0 to 360 are the same places.
    np.testing.assert_allclose(distances(kernel, X % [360.0, 1e9]), apart, atol=1e-9)


def test_periodic_across_the_cut():
    hours = np.array([[23.5], [0.5], [12.0], [22.0], [24.5], [-0.5], [71.5]])
    apart = distances(kernels.Periodic(0.8, 24.0), hours)
    assert set(apart[0].argsort()[:3].tolist()) == {0, 5, 6}  # the same hour of other days
    np.testing.assert_allclose(apart[0, [1, 4]], 2.0 * np.sin(np.pi / 24.0) / 0.8, rtol=1e-9)
    assert apart[0].argmax() == 2
    np.testing.assert_allclose(apart[0, [5, 6]], 0.0, atol=1e-12)


def test_categories_are_as_far_apart_as_they_differ():
    X = np.array([[3.0, 0.0], [3.0, 0.0], [7.0, 0.0], [-1.0, 0.0], [3.0, 5.0], [7.0, 5.0]])
    apart = distances(kernels.Categorical([0.5, 0.1]), X)
    assert apart[0, 1] == 0.0
    np.testing.assert_allclose(apart[0, [2, 3]], -np.log(0.5))  # whatever their codes
    np.testing.assert_allclose(apart[2, 3], -np.log(0.5))
    np.testing.assert_allclose(apart[0, 4], -np.log(0.1))
    assert apart[0, 5] > apart[0, 4] > apart[0, 2]
    one = distances(kernels.Categorical(0.5), X)
    np.testing.assert_allclose(one[0, 5], np.sqrt(2.0) * one[0, 4])


@pytest.mark.parametrize("correlation", [0.0, 1e-300, Uniform(0, 1)])
def test_any_correlation_of_categories_has_a_finite_distance(correlation):
    apart = distances(kernels.Categorical(correlation), CODES[:, :1])
    assert np.isfinite(apart).all()
    np.testing.assert_array_equal(apart == 0.0, CODES[:, :1] == CODES[:, :1].T)


def test_categories_beside_places():
    """A place of the same category is nearer than one of another at the same distance."""
    X = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 2.0], [4.0, 1.0]])
    kernel = kernels.Exponential(1.0, columns=[0]) * kernels.Categorical(0.5, columns=[1])
    apart = distances(kernel, X)[0]
    assert apart.argsort().tolist() == [0, 1, 2, 3]


def triangle(a, b, width):
    return np.maximum(0.0, 1.0 - np.abs(a[:, 0] - b[:, 0]) / width)


METRIC_OF_THE_TABLE = {
    "linear": kernels.Linear(),
    "custom": kernels.Custom(triangle, width=H),
    "constant": kernels.Constant(2.0),
    "nugget": kernels.Nugget(0.3),
    "constant and nugget": kernels.Constant(2.0) + kernels.Nugget(0.3),
}


@pytest.mark.parametrize("name", METRIC_OF_THE_TABLE)
def test_a_kernel_without_a_metric_takes_columns_over_their_spread(name):
    X = np.column_stack([PLANE[:, 0], 1000.0 * PLANE[:, 1], np.full(40, 7.0)])
    found = points(METRIC_OF_THE_TABLE[name], X)
    np.testing.assert_allclose(found.std(axis=0), [1.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found * [PLANE[:, 0].std(), 1000.0 * PLANE[:, 1].std(), 1.0], X)


def test_only_the_columns_of_a_kernel_count():
    kernel = kernels.Custom(triangle, width=H, columns=[1])
    np.testing.assert_allclose(points(kernel, PLANE), PLANE[:, 1:] / PLANE[:, 1:].std())


def test_columns_by_name():
    kernel = kernels.Exponential({"north": 2.0, "east": 4.0})
    found = embed(kernel, Inputs.check(PLANE, ["east", "north"]))
    np.testing.assert_allclose(found, PLANE[:, ::-1] / [2.0, 4.0])


def test_one_place():
    assert points(kernels.Exponential(2.0), PLANE[:1]).shape == (1, 2)
    np.testing.assert_array_equal(points(kernels.Linear(), PLANE[:1]), PLANE[:1])
