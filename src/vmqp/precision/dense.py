"""The precision of a dense kernel matrix, through LAPACK.

One Cholesky factorisation ``K = L Lᵀ`` gives everything: the precision ``M = K⁻¹``, the determinant, and,
with the n observed rows first, both factors of the conditional of the other rows::

    Q = M[n:, n:],    Q⁻¹ = K₂₂ − K₂₁ K₁₁⁻¹ K₁₂ = L[n:, n:] L[n:, n:]ᵀ

so the conditional needs no second factorisation.

LAPACK wants Fortran order. A symmetric matrix in C order is the same matrix in Fortran order, and the upper
factor in Fortran order is the lower one in C order, so nothing is transposed in memory.

>>> import numpy as np
>>> precision = factorise(np.array([[4.0, 2.0], [2.0, 3.0]]))
>>> precision.L.round(6)
array([[2.      , 0.      ],
       [1.      , 1.414214]])
>>> round(precision.log_determinant, 6) == round(float(np.log(8.0)), 6)
True
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpocon, dpotrf, dpotri

from vmqp.circle import FloatArray
from vmqp.errors import InputError, NotPositiveDefiniteError
from vmqp.precision.symmetric import mirror, row_norm, unpack

__all__ = [
    "SMALLEST_RCOND",
    "Cholesky",
    "ConditionalPrecision",
    "DensePrecision",
    "factorise",
    "try_cholesky_triangle",
    "try_factorise",
    "try_factorise_triangle",
]


SMALLEST_RCOND = 1e-15
"""Below this reciprocal condition number a factor may exist, but the inverse has no correct digit."""
_CLEARLY_REGULAR = 1e-6  # of the squared ratio of a factor's diagonal: such a matrix is far from that limit


@dataclass(frozen=True, eq=False)
class ConditionalPrecision:
    """The blocks that describe the rows from n on given the first n: ``eq:conditional_density``.

    >>> import numpy as np
    >>> blocks = factorise(np.array([[4.0, 2.0], [2.0, 3.0]])).conditional(1)
    >>> blocks.Q.round(6), blocks.coupling.round(6)
    (array([[0.5]]), array([[-0.25]]))
    """

    Q: FloatArray
    """The precision of the m new rows, (m, m), in C order."""
    coupling: FloatArray
    """M[n:, :n], (m, n): how the observed rows act on the new ones."""
    L: FloatArray
    """The lower triangular factor of Q⁻¹ = L Lᵀ, (m, m), in C order."""


@dataclass(frozen=True, eq=False)
class DensePrecision:
    """A kernel matrix K, factorised and inverted; made by `factorise`.

    >>> import numpy as np
    >>> precision = factorise(np.array([[4.0, 2.0], [2.0, 3.0]]))
    >>> precision.d, precision.product([4.0, 2.0]).round(6), precision.solve([1.0, 0.0]).round(6)
    (2, array([1., 0.]), array([4., 2.]))
    """

    L: FloatArray
    """The lower Cholesky factor of K, in C order."""
    M: FloatArray
    """The precision K⁻¹, symmetric to the last bit, in C order."""
    log_determinant: float
    """The log-determinant of K."""

    @property
    def d(self) -> int:
        """The number of rows."""
        return len(self.M)

    def product(self, v: npt.ArrayLike) -> FloatArray:
        """Return M v, for v of shape (d,) or (d, k)."""
        return self.M @ np.asarray(v, dtype=np.float64)

    def solve(self, v: npt.ArrayLike) -> FloatArray:
        """Return the z with M z = v, which is K v, for v of shape (d,) or (d, k)."""
        return self.L @ (self.L.T @ np.asarray(v, dtype=np.float64))

    def conditional(self, n: int) -> ConditionalPrecision:
        """Return the blocks of the rows from n on, given the first n.

        >>> import numpy as np
        >>> factorise(np.array([[4.0, 2.0], [2.0, 3.0]])).conditional(1).Q.round(6)
        array([[0.5]])
        """
        if not 0 <= n < self.d:
            raise InputError(
                f"n = {n} rows are to be observed of {self.d}: give an n from 0 to {self.d - 1}."
            )
        return ConditionalPrecision(
            np.ascontiguousarray(self.M[n:, n:]),
            np.ascontiguousarray(self.M[n:, :n]),
            np.ascontiguousarray(self.L[n:, n:]),
        )

    def rescaled(self, c: float) -> "DensePrecision":
        """Return the precision of c·K, with no factorisation.

        >>> import numpy as np
        >>> factorise(np.array([[4.0]])).rescaled(2.0).M
        array([[0.125]])
        """
        if not 0.0 < c < np.inf:
            raise InputError(f"a kernel matrix was to be multiplied by {c}: give a positive finite number.")
        log_determinant = self.log_determinant + self.d * float(np.log(c))
        return DensePrecision(self.L * np.sqrt(c), self.M / c, log_determinant)


@dataclass(frozen=True, eq=False)
class Cholesky:
    """A kernel matrix K, factorised; inverted only where that is asked for.

    >>> import numpy as np
    >>> factor = try_cholesky_triangle(np.array([4.0, 2.0, 2.0]), 2)
    >>> factor.M
    array([[ 0.5, -0.5],
           [-0.5,  1. ]])
    >>> round(factor.log_determinant, 6) == round(float(np.log(4.0)), 6)
    True
    """

    L: FloatArray
    """The lower Cholesky factor of K, in C order."""

    @cached_property
    def log_determinant(self) -> float:
        """The log-determinant of K."""
        return 2.0 * float(np.log(self.L.diagonal()).sum())

    @cached_property
    def M(self) -> FloatArray:
        """The precision K⁻¹, symmetric to the last bit, in C order."""
        inverse, info = dpotri(self.L.T, lower=0)
        assert info == 0, "a factor with a positive diagonal has an inverse"
        M = np.empty_like(self.L)
        mirror(inverse.T, M)
        return M


def factorise(K: npt.ArrayLike, *, jitter: float = 0.0) -> DensePrecision:
    """Return the precision of the kernel matrix K, or of K with `jitter` added to its diagonal.

    A matrix with no factor, or with a reciprocal condition number below `SMALLEST_RCOND`, raises
    `NotPositiveDefiniteError`, which names the two rows with the largest correlation. K is not changed.

    >>> import numpy as np
    >>> factorise(np.ones((2, 2)))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotPositiveDefiniteError: ... rows 0 and 1 are the closest ...
    >>> factorise(np.ones((2, 2)), jitter=0.5).M
    array([[ 1.2, -0.8],
           [-0.8,  1.2]])
    """
    matrix = np.asarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InputError(f"a kernel matrix of shape {matrix.shape} was given: give a square one, (d, d).")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(
            f"the kernel matrix has {matrix[row, column]} at row {row}, column {column}: "
            "look for an overflowing variance or a kernel function that is not finite there."
        )
    asymmetry = np.abs(matrix - matrix.T).max()
    if asymmetry > 1e-10 * np.abs(matrix).max():
        raise InputError(
            f"the kernel matrix is not symmetric (entries differ by up to {asymmetry:.3g}): "
            "give a kernel with k(a, b) = k(b, a)."
        )
    if not 0.0 <= jitter < np.inf:
        raise InputError(f"jitter = {jitter} was given: give zero or a positive finite number.")
    precision = try_factorise(matrix, jitter=jitter)
    if precision is None:
        raise NotPositiveDefiniteError(_why_not(matrix, jitter))
    return precision


def try_factorise(K: FloatArray, *, jitter: float = 0.0) -> DensePrecision | None:
    """Return what `factorise` does, but None where the matrix is not positive definite or not finite.

    K is trusted to be a symmetric float64 matrix. Learning calls this at each proposal and rejects a None.

    >>> import numpy as np
    >>> try_factorise(np.ones((2, 2))) is None
    True
    """
    work = np.array(K, order="C")
    if jitter:
        np.fill_diagonal(work, work.diagonal() + jitter)
    return _factorise_lower(work, row_norm(work))


def try_factorise_triangle(triangle: FloatArray, d: int) -> DensePrecision | None:
    """Return what `try_factorise` does, from the lower triangle of K, row by row: (d (d + 1) / 2,).

    It spares the passes over a full matrix that LAPACK would not look at.

    >>> import numpy as np
    >>> try_factorise_triangle(np.array([2.0, 1.0, 2.0]), 2).M.round(6)
    array([[ 0.666667, -0.333333],
           [-0.333333,  0.666667]])
    """
    work = np.empty((d, d))
    return _factorise_lower(work, unpack(triangle, work))


def try_cholesky_triangle(triangle: FloatArray, d: int) -> Cholesky | None:
    """Return the factor of K from its lower triangle, row by row, without the inverse; None where it has none.

    >>> import numpy as np
    >>> try_cholesky_triangle(np.array([4.0, 2.0, 2.0]), 2).L
    array([[2., 0.],
           [1., 1.]])
    """
    work = np.empty((d, d))
    norm = unpack(triangle, work)
    if norm == np.inf:
        return None
    upper, info = dpotrf(work.T, lower=0, clean=1, overwrite_a=1)
    if info != 0:
        return None
    # The diagonal alone is no test: with a smooth kernel that ratio can be 1e7 times the reciprocal condition number.
    diagonal = upper.diagonal()
    if not (diagonal.min() / diagonal.max()) ** 2 >= _CLEARLY_REGULAR:
        rcond, info = dpocon(upper, norm)
        if info != 0 or not rcond >= SMALLEST_RCOND:
            return None
    return Cholesky(upper.T)


def _factorise_lower(work: FloatArray, norm: float) -> DensePrecision | None:
    """Factorise and invert the matrix whose lower triangle and 1-norm are given; `work` is overwritten."""
    if norm == np.inf:
        return None
    upper, info = dpotrf(work.T, lower=0, clean=1, overwrite_a=1)
    if info != 0:
        return None
    inverse, info = dpotri(upper, lower=0)
    if info != 0:
        return None
    M = np.empty_like(work)
    mirror(inverse.T, M)
    # Not 1/(norm · row_norm(M)): the product may overflow where the quotients do not.
    if not 1.0 / norm / row_norm(M) >= SMALLEST_RCOND:
        return None
    L = upper.T
    return DensePrecision(L, M, 2.0 * float(np.log(L.diagonal()).sum()))


def _why_not(K: FloatArray, jitter: float) -> str:
    """Say why the finite symmetric matrix K + jitter·I has no usable factor."""
    diagonal = K.diagonal() + jitter
    if not (diagonal > 0.0).all():
        row = int(np.argmin(diagonal))
        return (
            f"the kernel matrix is not positive definite: the variance at row {row} is {diagonal[row]:.6g}; "
            "give the kernel positive variances."
        )
    deviation = np.sqrt(diagonal)
    correlation = np.abs(K) / deviation / deviation[:, None]
    np.fill_diagonal(correlation, -1.0)
    first, second = sorted(int(i) for i in np.unravel_index(int(np.argmax(correlation)), K.shape))
    largest = K[first, second] / deviation[first] / deviation[second]
    return (
        f"the kernel matrix of {len(K)} rows is not positive definite in floating point: rows {first} and "
        f"{second} are the closest (correlation {largest:.9g}); "
        "add a kernels.Nugget, observation noise, or jitter, or remove one of the two rows."
    )
