"""A coupling by its root, Q = U Uᵀ: the same products and masses as with the matrix itself.

False alarms: each comparison of covariances fails by chance with the probability RATE = 1e-6.
"""

import numpy as np
import pytest
from numba import njit
from scipy import sparse

import vmqp
from compiled import compiled_momentum, compiled_unwhiten
from references import RATE, p_value, size
from rooted import field_of, matrix_of, precision_of, scaled_target
from vmqp.errors import InputError
from vmqp.precision import VecchiaPrecision, make_graph, vecchia
from vmqp.sampling import make_target, seed_streams
from vmqp.sampling.linear import apply_coupling
from vmqp.sampling.rooted import Rooted, RootMass, with_diagonal
from vmqp.sampling.sampler import unit_vectors
from vmqp.sampling.whitening import draw_momentum, unwhiten, whiten

SIZES = pytest.mark.parametrize("m", [1, 2, 5, 12])
SCALES = pytest.mark.parametrize("scale", [1.0, 0.3, 40.0])
NEIGHBOURS = pytest.mark.parametrize("k", [3, 11])


def hollow(matrix):
    return matrix - np.diag(np.diag(matrix))


@njit
def _compiled_product(coupling, x, out):
    apply_coupling(coupling, x, out)


# Targets


@SIZES
def test_parts_of_a_target(m):
    precision = precision_of(m)
    target, M = make_target(precision, field_of(m)), matrix_of(precision)
    assert isinstance(target.coupling, Rooted)
    assert target.size == m
    assert target.coupling.scale == 1.0
    np.testing.assert_array_equal(target.field, field_of(m).T)
    np.testing.assert_array_equal(target.order, precision.pattern.order)
    np.testing.assert_allclose(target.diagonal, np.diag(M), rtol=1e-13)
    np.testing.assert_allclose(target.useful_diagonal(), np.diag(M), rtol=1e-13)
    np.testing.assert_allclose(target.matrix().toarray(), hollow(M), rtol=1e-12, atol=1e-12)


@SCALES
@SIZES
def test_the_matrix_of_a_scaled_target(m, scale):
    precision = precision_of(m)
    target, M = scaled_target(precision, scale), matrix_of(precision)
    np.testing.assert_allclose(
        target.matrix().toarray(), scale * hollow(M), rtol=1e-12, atol=1e-12 * np.abs(scale * M).max()
    )
    np.testing.assert_allclose(target.useful_diagonal(), scale * np.diag(M), rtol=1e-12)


@pytest.mark.parametrize("product", [apply_coupling, _compiled_product])
@SCALES
@SIZES
def test_product_with_the_coupling(m, scale, product):
    """Without the diagonal, and with one pass for each chain."""
    precision = precision_of(m)
    M = scale * matrix_of(precision)
    x = np.random.default_rng(0).normal(size=(2, 3, m))
    out = np.full_like(x, np.nan)
    product(scaled_target(precision, scale).coupling, x, out)
    np.testing.assert_allclose(out, x @ hollow(M), rtol=1e-11, atol=1e-12 * np.abs(M).max())
    if m > 1:
        assert not np.allclose(out, x @ M)  # the comparison would see the diagonal


BAD_FIELDS = {
    "too short": (np.zeros((11, 2)), r"field has shape \(11, 2\).*12 angles needs shape \(12, 2\)"),
    "turned": (np.zeros((2, 12)), r"field has shape \(2, 12\)"),
    "flat": (np.zeros(24), r"field has shape \(24,\)"),
    "not finite": (np.full((12, 2), np.nan), "24 NaN or infinite"),
    "too large": (np.full((12, 2), 1e101), "field holds values up to 1e"),
    "text": ([["a", "b"]] * 12, "not an array of real numbers"),
}


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_bad_fields_are_refused(name):
    field, message = BAD_FIELDS[name]
    with pytest.raises(InputError, match=message):
        make_target(precision_of(12), field)
    with pytest.raises(InputError, match=message):
        vmqp.sample_angles(precision_of(12), field, draws=3)


def test_a_coupling_that_is_too_large_is_refused():
    precision = precision_of(4)
    huge = VecchiaPrecision(precision.pattern, 1e60 * precision.values)
    with pytest.raises(InputError, match="coupling holds values up to"):
        make_target(huge, np.zeros((4, 2)))


# Masses


def inverse_of(mass, m, solve=unwhiten):
    out = np.full((m, m), np.nan)
    solve(mass, np.eye(m), out)
    return out


def mass_matrix(mass):
    """W = U Uᵀ / scale."""
    starts, columns, values, order, scale = mass
    root = sparse.csr_array((values, columns, starts), shape=(len(order),) * 2)
    return (root @ root.T).toarray() / scale


@pytest.mark.parametrize("solve", [unwhiten, compiled_unwhiten])
@SCALES
@SIZES
def test_root_solve_is_the_inverse(m, scale, solve):
    precision = precision_of(m)
    mass = whiten(scaled_target(precision, scale, np.zeros((m, 2))))
    assert isinstance(mass, RootMass)
    np.testing.assert_allclose(mass_matrix(mass), scale * matrix_of(precision), rtol=1e-12, atol=1e-12)
    W = scale * matrix_of(precision)
    np.testing.assert_allclose(inverse_of(mass, m, solve), np.linalg.inv(W), rtol=1e-9, atol=1e-10 / scale)


def test_the_inverse_of_an_exact_precision_is_the_kernel_matrix():
    x = np.linspace(0.0, 2.0, 9)
    K = np.exp(-np.abs(x[:, None] - x))
    precision = vecchia(lambda i, j: K[i, j], make_graph(x[:, None], 4, 8))
    mass = whiten(make_target(precision, np.zeros((9, 2))))
    np.testing.assert_allclose(inverse_of(mass, 9), K, rtol=1e-10)


def test_a_wrong_order_of_the_rows_is_seen():
    precision = precision_of(12)
    mass = whiten(make_target(precision, np.zeros((12, 2))))
    wrong = mass._replace(order=mass.order[::-1].copy())
    assert not np.allclose(inverse_of(wrong, 12), np.linalg.inv(matrix_of(precision)), rtol=1e-2)


@pytest.mark.parametrize("draw", [draw_momentum, compiled_momentum])
@SCALES
@SIZES
def test_momenta_are_the_root_times_normal_numbers(m, scale, draw):
    """So their covariance is W; unit mass takes the same numbers from the streams."""
    precision = precision_of(m)
    mass = whiten(scaled_target(precision, scale, np.zeros((m, 2))))
    p, e = np.full((7, m), np.nan), np.full((7, m), np.nan)
    draw(seed_streams(1, 7), mass, p)
    draw_momentum(seed_streams(1, 7), None, e)
    np.testing.assert_allclose(p, np.sqrt(scale) * e @ precision.U.toarray().T, rtol=1e-11, atol=1e-12)


def momentum_p_value(mass, m, W):
    """Means and products of all pairs over independent chains."""
    p = np.empty((size(10_000), m))
    draw_momentum(seed_streams(1, len(p)), mass, p)
    a, b = np.triu_indices(m)
    return p_value(np.concatenate([p, p[:, a] * p[:, b]], axis=1), np.concatenate([np.zeros(m), W[a, b]]))


@pytest.mark.statistical
@pytest.mark.parametrize(("m", "scale"), [(1, 2.0), (5, 1.0), (6, 0.2)])
def test_momenta_have_the_mass_as_covariance(m, scale):
    precision = precision_of(m)
    mass, W = whiten(scaled_target(precision, scale, np.zeros((m, 2)))), scale * matrix_of(precision)
    assert momentum_p_value(mass, m, W) > RATE
    assert momentum_p_value(mass._replace(scale=1.2 * mass.scale), m, W) < RATE


@pytest.mark.statistical
@pytest.mark.parametrize("length", [1.0, 1e4, 1e8])
def test_kinetic_energy_fits_the_momenta_of_a_stiff_mass(length):
    """pᵀW⁻¹p is χ² with m degrees of freedom, also where places are hard to tell apart."""
    m = 12
    mass = whiten(make_target(precision_of(m, length=length), np.zeros((m, 2))))
    p, v = np.empty((size(5_000), m)), np.empty((size(5_000), m))
    draw_momentum(seed_streams(1, len(p)), mass, p)
    unwhiten(mass, p, v)
    square = (p * v).sum(axis=1)
    assert p_value(np.stack([square, square**2], axis=1), np.array([m, m * (m + 2.0)])) > RATE


# Something added to the diagonal


def incomplete(precision, extra):
    """V from `with_diagonal`, as a matrix."""
    pattern = precision.pattern
    values = with_diagonal(pattern.starts, pattern.columns, precision.values, pattern.order, extra)
    assert np.isfinite(values).all()
    assert (values[pattern.starts[:-1]] > 0.0).all()
    return VecchiaPrecision(pattern, values).U.toarray()


EXTRAS = {
    "nothing": np.zeros(12),
    "the same": np.full(12, 3.0),
    "some rows": np.where(np.arange(12) < 6, 20.0, 0.0),
    "large": np.full(12, 1e6),
    "large at some rows": np.where(np.arange(12) % 3 == 0, 1e8, 0.0),
}


@NEIGHBOURS
@pytest.mark.parametrize("name", EXTRAS)
def test_an_incomplete_root_agrees_on_its_pattern(name, k):
    precision, extra = precision_of(12, k), EXTRAS[name]
    wanted, V = matrix_of(precision) + np.diag(extra), incomplete(precision, extra)
    there = (precision.U.toarray() != 0.0) | (precision.U.toarray().T != 0.0)
    found = V @ V.T
    np.testing.assert_allclose(found[there], wanted[there], rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    assert (V[~(precision.U.toarray() != 0.0)] == 0.0).all()
    assert np.linalg.eigvalsh(found).min() > 0.0
    if k == 11:  # nothing is left out
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


def test_without_an_extra_it_is_the_root_itself():
    precision = precision_of(12, 3)
    np.testing.assert_allclose(
        incomplete(precision, np.zeros(12)), precision.U.toarray(), rtol=1e-9, atol=1e-10
    )


def smooth_precision():
    """Smooth kernels on close places have entries left out that would eat up a pivot."""
    X = np.random.default_rng(2).uniform(size=(60, 2))

    def covariance(i, j):
        square = ((X[i] - X[j]) ** 2).sum(axis=1)
        return np.exp(-0.5 * square / 0.3**2) + 1e-5 * (i == j)

    return vecchia(covariance, make_graph(X, 30, 5))


def noise_at_half(chi):
    return np.where(np.arange(60) < 30, chi, 0.0)


@pytest.mark.parametrize("chi", [1e-12, 1.0, 1e4, 1e12, 1e100])
def test_an_incomplete_root_of_a_smooth_kernel_is_a_mass(chi):
    """However bad an approximation is, its momenta and velocities have to fit each other."""
    precision = smooth_precision()
    pattern, V = precision.pattern, incomplete(precision, noise_at_half(chi))
    starts, columns = pattern.starts, pattern.columns
    values = with_diagonal(starts, columns, precision.values, pattern.order, noise_at_half(chi))
    e, v = np.random.default_rng(1).normal(size=(3, 60)), np.empty((3, 60))
    p = e @ V.T
    unwhiten(RootMass(starts, columns, values, pattern.order), p, v)
    np.testing.assert_allclose((p * v).sum(axis=1), (e * e).sum(axis=1), rtol=1e-4)


@pytest.mark.parametrize("chi", [1e-9, 1.0, 10.0])
def test_an_incomplete_root_of_a_smooth_kernel_is_near(chi):
    """Whitened by it, M + χ has a condition number of a few, as without neighbours left out."""
    precision, extra = smooth_precision(), noise_at_half(chi)
    V = incomplete(precision, extra)
    half = np.linalg.solve(V, matrix_of(precision) + np.diag(extra))
    assert np.linalg.cond(np.linalg.solve(V, half.T)) < 5.0


@SCALES
@NEIGHBOURS
def test_whitening_takes_an_extra_diagonal(scale, k):
    """That of the noise, which does not scale with the coupling."""
    precision, extra = precision_of(12, k), np.arange(12.0)
    mass = whiten(scaled_target(precision, scale), extra)
    W, wanted = mass_matrix(mass), scale * matrix_of(precision) + np.diag(extra)
    np.testing.assert_allclose(np.diag(W), np.diag(wanted), rtol=1e-9)
    np.testing.assert_allclose(inverse_of(mass, 12) @ W, np.eye(12), atol=1e-8)
    if k == 11:
        np.testing.assert_allclose(W, wanted, rtol=1e-9, atol=1e-9)


def test_whitening_finds_a_strong_field():
    """As of noise at some rows: there the mass is larger by about its concentration."""
    precision, chi = precision_of(12, 11), 300.0
    field = np.zeros((12, 2))
    field[:4] = chi * unit_vectors(np.random.default_rng(5).uniform(-np.pi, np.pi, 4)).T
    mass = whiten(make_target(precision, field))
    extra = mass_matrix(mass) - matrix_of(precision)
    np.testing.assert_allclose(np.diag(extra)[:4], chi, rtol=0.3)
    np.testing.assert_allclose(extra - np.diag(np.diag(extra)), 0.0, atol=1e-8)
    weak = whiten(make_target(precision, 0.1 * field_of(12)))
    np.testing.assert_array_equal(weak.values, precision.values)
