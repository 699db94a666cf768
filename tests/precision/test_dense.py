import pickle

import numpy as np
import pytest

from vmqp.errors import InputError, NotPositiveDefiniteError
from vmqp.precision import (
    DensePrecision,
    factorise,
    try_cholesky_triangle,
    try_factorise,
    try_factorise_triangle,
)
from vmqp.precision.dense import SMALLEST_RCOND


def exponential(d, seed=0):
    X = np.random.default_rng(seed).normal(size=(d, 2))
    return 1.7 * np.exp(-np.linalg.norm(X[:, None] - X[None], axis=-1)) + 0.01 * np.eye(d)


@pytest.mark.parametrize("d", [1, 2, 3, 30, 150])
def test_agrees_with_numpy(d):
    K = exponential(d)
    before = K.copy()
    precision = factorise(K)
    np.testing.assert_array_equal(K, before)
    np.testing.assert_allclose(precision.L, np.linalg.cholesky(K), atol=1e-12)
    np.testing.assert_allclose(precision.M, np.linalg.inv(K), rtol=1e-9, atol=1e-9)
    assert precision.log_determinant == pytest.approx(np.linalg.slogdet(K)[1], rel=1e-12)
    assert precision.d == d
    np.testing.assert_array_equal(precision.M, precision.M.T)
    np.testing.assert_array_equal(np.triu(precision.L, 1), 0.0)
    for array in (precision.L, precision.M):
        assert array.flags.c_contiguous
        assert array.dtype == np.float64


@pytest.mark.parametrize("order", ["C", "F"])
def test_either_memory_order(order):
    K = exponential(7)
    np.testing.assert_array_equal(factorise(np.asarray(K, order=order)).M, factorise(K).M)
    np.testing.assert_array_equal(try_factorise(np.asarray(K, order=order)).L, factorise(K).L)
    np.testing.assert_array_equal(factorise(np.kron(K, np.eye(2))[::2, ::2]).M, factorise(K).M)


@pytest.mark.parametrize("shape", [(12,), (12, 3)])
def test_product_and_solve(shape):
    K = exponential(12)
    v = np.random.default_rng(1).normal(size=shape)
    precision = factorise(K)
    np.testing.assert_allclose(precision.product(v), np.linalg.solve(K, v), rtol=1e-9)
    np.testing.assert_allclose(precision.solve(v), K @ v, rtol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 8, 11])
def test_conditional_blocks(n):
    K = exponential(12)
    precision = factorise(K)
    blocks = precision.conditional(n)
    np.testing.assert_array_equal(blocks.Q, precision.M[n:, n:])
    np.testing.assert_array_equal(blocks.coupling, precision.M[n:, :n])
    schur = K[n:, n:] - K[n:, :n] @ np.linalg.solve(K[:n, :n], K[:n, n:])
    np.testing.assert_allclose(blocks.L @ blocks.L.T, schur, rtol=1e-9)
    np.testing.assert_allclose(blocks.L @ blocks.L.T @ blocks.Q, np.eye(12 - n), atol=1e-10)
    # The mean of the Gaussian conditional, from the coupling block and from kriging.
    y = np.arange(n, dtype=float)
    np.testing.assert_allclose(
        -np.linalg.solve(blocks.Q, blocks.coupling @ y), K[n:, :n] @ np.linalg.solve(K[:n, :n], y), atol=1e-10
    )
    assert all(block.flags.c_contiguous for block in (blocks.Q, blocks.coupling, blocks.L))


@pytest.mark.parametrize("n", [-1, 12, 13])
def test_conditional_refuses_a_wrong_number_of_rows(n):
    with pytest.raises(InputError, match="from 0 to 11"):
        factorise(exponential(12)).conditional(n)


@pytest.mark.parametrize("c", [1e-6, 0.3, 1.0, 1e4])
def test_rescaled_equals_a_new_factorisation(c):
    K = exponential(9)
    rescaled, anew = factorise(K).rescaled(c), factorise(c * K)
    np.testing.assert_allclose(rescaled.M, anew.M, rtol=1e-10)
    np.testing.assert_allclose(rescaled.L, anew.L, rtol=1e-12)
    assert rescaled.log_determinant == pytest.approx(anew.log_determinant, rel=1e-12)


@pytest.mark.parametrize("c", [0.0, -1.0, np.nan, np.inf])
def test_rescaled_refuses(c):
    with pytest.raises(InputError, match="positive finite"):
        factorise(np.eye(2)).rescaled(c)


def test_one_row():
    precision = factorise([[4.0]])
    assert (precision.L[0, 0], precision.M[0, 0]) == (2.0, 0.25)
    assert precision.log_determinant == pytest.approx(np.log(4.0))
    assert precision.conditional(0).Q.shape == (1, 1)
    with pytest.raises(NotPositiveDefiniteError, match="variance at row 0 is 0"):
        factorise([[0.0]])


def test_jitter_is_added_to_the_diagonal():
    K = np.ones((3, 3))
    np.testing.assert_allclose(factorise(K, jitter=0.25).M, np.linalg.inv(K + 0.25 * np.eye(3)), rtol=1e-12)
    with pytest.raises(InputError, match="jitter"):
        factorise(K, jitter=-1.0)


def test_the_error_names_the_closest_rows_and_the_remedy():
    x = np.array([0.0, 1.0, 5.0, 2.0, 5.0])
    K = np.exp(-np.abs(x[:, None] - x))
    K *= np.sqrt(np.outer([1, 9, 4, 1, 2], [1, 9, 4, 1, 2]))
    with pytest.raises(NotPositiveDefiniteError, match=r"rows 2 and 4 are the closest.*Nugget"):
        factorise(K)
    assert try_factorise(K) is None
    with pytest.raises(NotPositiveDefiniteError, match="variance at row 1 is -1"):
        factorise(np.diag([1.0, -1.0]))


@pytest.mark.parametrize("gap", [1e-8, 1e-9, 1e-12])
def test_a_matrix_that_is_numerically_singular_is_refused(gap):
    """The smooth kernel on a fine grid: potrf may pass by luck, the inverse has no correct digit."""
    x = np.arange(4) * gap
    K = np.exp(-0.5 * (x[:, None] - x) ** 2)
    assert try_factorise(K) is None
    with pytest.raises(NotPositiveDefiniteError):
        factorise(K)


def test_a_factor_alone_is_not_enough():
    """Here the Cholesky factor exists; the reciprocal condition number tells."""
    K = np.diag([1.0, 1e-16])
    np.linalg.cholesky(K)
    assert try_factorise(K) is None
    assert try_factorise(np.diag([1.0, 1e-14])) is not None


@pytest.mark.parametrize("scale", [1e-290, 1e-100, 1e100, 1e290])
def test_extreme_but_well_conditioned_scales(scale):
    precision = factorise(scale * exponential(5))
    np.testing.assert_allclose(precision.M * scale, factorise(exponential(5)).M, rtol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite(bad):
    K = np.eye(3)
    K[2, 1] = K[1, 2] = bad
    with pytest.raises(InputError, match="row 1, column 2") as caught:
        factorise(K)
    assert not isinstance(caught.value, NotPositiveDefiniteError)
    assert try_factorise(K) is None
    assert try_factorise(np.full((2, 2), 1e308)) is None


@pytest.mark.parametrize("K", [np.ones(3), np.ones((2, 3)), np.ones((0, 0)), np.ones((1, 2, 2))])
def test_wrong_shapes(K):
    with pytest.raises(InputError, match="square"):
        factorise(K)


def test_not_symmetric():
    with pytest.raises(InputError, match="not symmetric"):
        factorise([[2.0, 1.0], [0.5, 2.0]])


def test_pickles():
    precision = factorise(exponential(4))
    copy = pickle.loads(pickle.dumps(precision))
    assert isinstance(copy, DensePrecision)
    np.testing.assert_array_equal(copy.M, precision.M)


# A factor without the inverse


def triangle_of(K):
    return K[np.tril_indices(len(K))]


@pytest.mark.parametrize("d", [1, 2, 30, 150])
def test_a_factor_is_that_of_the_precision(d):
    K = exponential(d)
    factor, precision = try_cholesky_triangle(triangle_of(K), d), factorise(K)
    np.testing.assert_allclose(factor.L, precision.L, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(factor.M, precision.M, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(factor.M, factor.M.T)
    assert factor.log_determinant == pytest.approx(precision.log_determinant, rel=1e-12)
    assert factor.L.flags.c_contiguous
    np.testing.assert_allclose(factor.L @ factor.L.T, K, rtol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_no_factor_of_a_matrix_that_has_none(value):
    assert try_cholesky_triangle(np.array([value]), 1) is None
    assert try_cholesky_triangle(np.array([1.0, 1.0, 1.0]), 2) is None


def test_a_factor_is_refused_where_the_inverse_is():
    """Smooth kernels come to the limit with a diagonal of the factor that looks harmless."""
    places, kept, refused = np.linspace(0.0, 1.0, 12), 0, 0
    for scale in np.geomspace(0.05, 0.9, 60):
        K = np.exp(-0.5 * ((places[:, None] - places) / scale) ** 2)
        rcond = 1.0 / np.linalg.cond(K, 1)
        factor, precision = (
            make(triangle_of(K), 12) for make in (try_cholesky_triangle, try_factorise_triangle)
        )
        if rcond > 10.0 * SMALLEST_RCOND:
            assert factor is not None
            assert precision is not None
            ones = factor.M.sum()
            assert ones == pytest.approx(np.square(np.linalg.solve(factor.L, np.ones(12))).sum(), rel=0.05)
            kept += 1
        elif rcond < 0.1 * SMALLEST_RCOND:
            assert factor is None
            assert precision is None
            refused += 1
    assert kept > 10
    assert refused > 5
