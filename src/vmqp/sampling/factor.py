"""A triangular root of a positive definite matrix, W = AᵀA, and the products A x and Aᵀ x.

Dense: LAPACK's Cholesky factor, kept both ways so that either product runs along rows. Sparse: SuperLU with
diagonal pivots only, which for a symmetric positive definite matrix is a Cholesky factorisation
P W Pᵀ = F Fᵀ, so A = Fᵀ P.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.extending import overload
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse import linalg as sparse_linalg

from vmqp.sampling.linear import dense_product
from vmqp.sampling.target import Array

__all__ = ["DenseFactor", "Factor", "SparseFactor", "apply_root", "apply_root_transposed", "cholesky"]


class DenseFactor(NamedTuple):
    """A upper triangular, and Aᵀ."""

    upper: Array
    lower: Array


class SparseFactor(NamedTuple):
    """F by compressed columns, the diagonal entry first in each, and P: row r of F is angle ``order[r]``."""

    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    values: Array
    order: npt.NDArray[np.int64]


Factor = DenseFactor | SparseFactor


def cholesky(hollow: Any, diagonal: Array) -> Factor | None:
    """A root of ``hollow`` with ``diagonal`` put on its diagonal, or None where it is not positive definite.

    >>> factor = cholesky(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([4.0, 1.0]))
    >>> factor.lower
    array([[2.       , 0.       ],
           [0.5      , 0.8660254]])
    """
    return _dense(hollow, diagonal) if isinstance(hollow, np.ndarray) else _sparse(hollow, diagonal)


def _dense(hollow: Array, diagonal: Array) -> DenseFactor | None:
    matrix = hollow.copy()
    np.fill_diagonal(matrix, diagonal)
    if not matrix.size:
        return DenseFactor(matrix, matrix)
    # The transpose of a row-major array is column-major, as LAPACK wants it, without a copy.
    upper, info = lapack.dpotrf(matrix.T, lower=0, clean=1, overwrite_a=1)
    if info != 0 or not np.isfinite(upper).all():
        return None
    return DenseFactor(np.ascontiguousarray(upper), np.ascontiguousarray(upper.T))


def _sparse(hollow: Any, diagonal: Array) -> SparseFactor | None:
    size = diagonal.shape[0]
    if not size:
        none = np.zeros(0, np.int64)
        return SparseFactor(np.zeros(1, np.int64), none, np.zeros(0), none)
    matrix = (hollow + sparse.diags_array(diagonal)).tocsc()
    try:
        factor = sparse_linalg.splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:  # exactly singular
        return None
    pivots = factor.U.diagonal()
    if (factor.perm_r != factor.perm_c).any() or not (pivots > 0.0).all():
        return None
    lower = (factor.L @ sparse.diags_array(np.sqrt(pivots))).tocsc()
    lower.sort_indices()
    starts, rows = lower.indptr.astype(np.int64), lower.indices.astype(np.int64)
    return SparseFactor(starts, rows, lower.data, np.argsort(factor.perm_c).astype(np.int64))


@njit(cache=True)
def _sparse_root(starts, rows, values, order, x, out):  # type: ignore[no-untyped-def]
    for k in range(x.shape[1]):
        for j in range(x.shape[2]):
            a = b = 0.0
            for q in range(starts[j], starts[j + 1]):
                i = order[rows[q]]
                a += values[q] * x[0, k, i]
                b += values[q] * x[1, k, i]
            out[0, k, j], out[1, k, j] = a, b


@njit(cache=True)
def _sparse_root_transposed(starts, rows, values, order, x, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    for k in range(x.shape[1]):
        for j in range(x.shape[2]):
            for q in range(starts[j], starts[j + 1]):
                i = order[rows[q]]
                out[0, k, i] += values[q] * x[0, k, j]
                out[1, k, i] += values[q] * x[1, k, j]


def apply_root(factor: Any, x: Any, out: Any) -> None:
    """out = A x for x of shape (2, C, m); compiled code picks by the type of ``factor``."""
    if isinstance(factor, DenseFactor):
        dense_product(factor.upper, x, out, False, True)
    else:
        _sparse_root(factor.starts, factor.rows, factor.values, factor.order, x, out)


def apply_root_transposed(factor: Any, x: Any, out: Any) -> None:
    """out = Aᵀ x for x of shape (2, C, m); compiled code picks by the type of ``factor``."""
    if isinstance(factor, DenseFactor):
        dense_product(factor.lower, x, out, True, False)
    else:
        _sparse_root_transposed(factor.starts, factor.rows, factor.values, factor.order, x, out)


@overload(apply_root)
def _apply_root(factor, x, out):  # type: ignore[no-untyped-def]
    if factor.instance_class is DenseFactor:
        return lambda factor, x, out: dense_product(factor.upper, x, out, False, True)
    return lambda factor, x, out: _sparse_root(
        factor.starts, factor.rows, factor.values, factor.order, x, out
    )


@overload(apply_root_transposed)
def _apply_root_transposed(factor, x, out):  # type: ignore[no-untyped-def]
    if factor.instance_class is DenseFactor:
        return lambda factor, x, out: dense_product(factor.lower, x, out, True, False)
    return lambda factor, x, out: _sparse_root_transposed(
        factor.starts, factor.rows, factor.values, factor.order, x, out
    )
