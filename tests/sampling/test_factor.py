"""Roots of positive definite matrices against NumPy, dense and sparse, compiled and plain."""

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from references import lattice
from vmqp.sampling.factor import DenseFactor, SparseFactor, apply_root, apply_root_transposed, cholesky

SIZES = range(1, 10)


@njit
def _compiled_root(factor, x, out):
    apply_root(factor, x, out)


@njit
def _compiled_root_transposed(factor, x, out):
    apply_root_transposed(factor, x, out)


def positive_definite(m, seed=0):
    """With some zeros, so that the sparse form has a pattern."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, m)) * (rng.uniform(size=(m, m)) < 0.5)
    return root @ root.T + np.diag(rng.uniform(0.5, 2.0, m))


def split(matrix):
    diagonal = np.diag(matrix).copy()
    return matrix - np.diag(diagonal), diagonal


def root_matrix(factor, m):
    """A, column by column."""
    x, out = np.zeros((2, m, m)), np.full((2, m, m), np.nan)
    x[0] = np.eye(m)
    apply_root(factor, x, out)
    return out[0].T


@pytest.mark.parametrize("m", SIZES)
def test_dense_factor_is_numpys(m):
    matrix = positive_definite(m)
    factor = cholesky(*split(matrix))
    assert isinstance(factor, DenseFactor)
    np.testing.assert_allclose(factor.lower, np.linalg.cholesky(matrix), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(factor.upper, factor.lower.T)
    assert factor.upper.flags.c_contiguous
    assert factor.lower.flags.c_contiguous


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("m", SIZES)
def test_root_times_its_transpose(m, form):
    matrix = positive_definite(m)
    hollow, diagonal = split(matrix)
    A = root_matrix(cholesky(form(hollow), diagonal), m)
    np.testing.assert_allclose(A.T @ A, matrix, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("root", [apply_root, _compiled_root])
@pytest.mark.parametrize("chains", [1, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("m", SIZES)
def test_products(m, form, chains, root):
    """A x, and the transpose: both against the matrix, all chains, both components."""
    hollow, diagonal = split(positive_definite(m))
    factor = cholesky(form(hollow), diagonal)
    A = root_matrix(factor, m)
    transposed = apply_root_transposed if root is apply_root else _compiled_root_transposed
    x, out = np.random.default_rng(1).normal(size=(2, chains, m)), np.full((2, chains, m), np.nan)
    root(factor, x, out)
    np.testing.assert_allclose(out, x @ A.T, rtol=1e-12, atol=1e-13)
    transposed(factor, x, out)
    np.testing.assert_allclose(out, x @ A, rtol=1e-12, atol=1e-13)


def test_large_sparse_factor_stays_sparse():
    coupling = lattice((30, 30), 1.0)
    factor = cholesky(coupling, np.full(900, 4.5))
    assert isinstance(factor, SparseFactor)
    assert factor.values.size < 900 * 40
    first = factor.starts[:-1]
    np.testing.assert_array_equal(factor.rows[first], np.arange(900))
    assert (factor.values[first] > 0.0).all()
    x, out, back = (
        np.random.default_rng(0).normal(size=(2, 2, 900)),
        np.empty((2, 2, 900)),
        np.empty((2, 2, 900)),
    )
    apply_root(factor, x, out)
    apply_root_transposed(factor, out, back)
    np.testing.assert_allclose(back, 4.5 * x + x @ coupling.toarray(), rtol=1e-11, atol=1e-11)


NOT_POSITIVE = {
    "indefinite": [[1.0, 2.0], [2.0, 1.0]],
    "negative": [[-1.0, 0.0], [0.0, -1.0]],
    "zero": [[0.0, 0.0], [0.0, 0.0]],
    "zero diagonal": [[0.0, 1.0], [1.0, 0.0]],
    "singular": [[1.0, -1.0], [-1.0, 1.0]],
    "last pivot": [[4.0, 1.0, 2.0], [1.0, 3.0, 2.0], [2.0, 2.0, 1.0]],
    "nan": [[np.nan, 0.0], [0.0, 1.0]],
}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", NOT_POSITIVE)
def test_none_where_not_positive_definite(name, form):
    hollow, diagonal = split(np.array(NOT_POSITIVE[name]))
    hollow = np.where(np.eye(len(hollow)) > 0.0, 0.0, hollow)
    assert cholesky(form(hollow), diagonal) is None


@pytest.mark.parametrize("seed", range(20))
def test_sparse_and_dense_agree_on_what_is_positive_definite(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(6, 6)) * (rng.uniform(size=(6, 6)) < 0.4)
    hollow = np.triu(matrix, 1) + np.triu(matrix, 1).T
    diagonal = rng.uniform(0.0, 3.0, 6)
    definite = np.linalg.eigvalsh(hollow + np.diag(diagonal)).min() > 0.0
    assert (cholesky(hollow, diagonal) is not None) == definite
    assert (cholesky(sparse.csr_array(hollow), diagonal) is not None) == definite


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_inputs_stay_as_they_were(form):
    hollow, diagonal = split(positive_definite(5))
    given = form(hollow)
    before = diagonal.copy()
    cholesky(given, diagonal)
    np.testing.assert_array_equal(given if form is np.asarray else given.toarray(), hollow)
    np.testing.assert_array_equal(diagonal, before)


def test_empty():
    for form in (np.asarray, sparse.csr_array):
        factor = cholesky(form(np.zeros((0, 0))), np.zeros(0))
        x, out = np.empty((2, 3, 0)), np.empty((2, 3, 0))
        apply_root(factor, x, out)
        apply_root_transposed(factor, x, out)
