"""The kernel of a Gaussian process at the observed locations, and new locations given them.

A Gaussian process is consistent under marginalization: its parameters are learned at the n observed locations alone,
and a new location is predicted by kriging. New locations that are drawn together are conditioned together:

    K = [K₁₁ K₁₂; K₂₁ K₂₂],   W = L₁₁⁻¹ K₁₂,   mean = Wᵀ L₁₁⁻¹ (z − μ) + μ,   covariance = K₂₂ − Wᵀ W.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs

from vmqp.circle import FloatArray
from vmqp.errors import InputError, NotPositiveDefiniteError
from vmqp.learning import Problem
from vmqp.precision import Cholesky, try_cholesky_triangle

__all__ = ["Conditional", "NewLocations", "factor_of", "learned_factor", "nearest_first", "solved"]

_ROUNDING = float(np.finfo(float).eps)
_JITTERS = (0.0, 1e-12, 1e-9, 1e-6)  # fractions of the variance, where rounding left a covariance indefinite


def factor_of(problem: Problem, values: Mapping[str, float]) -> Cholesky | None:
    """Factorize the kernel matrix of the observed locations; None where it has no usable factor."""
    try:
        triangle = problem.bound.triangle(values)
    except InputError:  # a function of the user's that overflows far out: such parameters are refused
        return None
    return try_cholesky_triangle(triangle, problem.n)


def learned_factor(problem: Problem, values: Mapping[str, float]) -> Cholesky:
    """The same at parameters that were learned, if from other locations; an error where there is no usable factor."""
    factor = factor_of(problem, values)
    if factor is None:
        raise NotPositiveDefiniteError(
            f"the kernel matrix of the {problem.n} observed locations has no factor at one of the parameter draws: add "
            "a kernels.Nugget, or remove locations that are too close to tell apart."
        )
    return factor


class Conditional(NamedTuple):
    """New locations given the observed ones, at some parameters."""

    L: FloatArray
    """The lower factor of the kernel matrix of the observed locations, (n, n)."""
    weights: FloatArray
    """W, (n, m)."""
    variances: FloatArray
    """The diagonal of the covariance, (m,)."""
    root: FloatArray
    """The lower factor of the covariance, (m, m)."""


class NewLocations:
    """New locations that are drawn together.

    Parameters
    ----------
    problem : Problem
        The observed locations and the kernel.
    X_new : ndarray of shape (m, columns)
        The new locations.
    """

    def __init__(self, problem: Problem, X_new: FloatArray) -> None:
        self._problem, self._m = problem, len(X_new)
        X, n = np.concatenate([problem.X, X_new]), problem.n
        rows, cols = np.indices((self._m, n))
        first, second = np.tril_indices(self._m)
        names = problem.column_names
        self._across = problem.kernel.bind_pairs(X, rows.ravel() + n, cols.ravel(), column_names=names)
        self._among = problem.kernel.bind_pairs(X, first + n, second + n, column_names=names)

    def given(self, values: Mapping[str, float]) -> Conditional:
        """Condition on the observed locations at some learned parameters."""
        m, L = self._m, learned_factor(self._problem, values).L
        weights = solved(L, self._across.values(values).reshape(m, -1).T)
        covariance = np.zeros((m, m))
        covariance[np.tril_indices(m)] = self._among.values(values)
        prior = covariance.diagonal().copy()
        covariance -= np.tril(weights.T @ weights)
        # A smooth kernel may leave nothing but rounding: a distribution of no width would have no density.
        variances = np.maximum(covariance.diagonal(), _ROUNDING * prior)
        for jitter in _JITTERS:
            work = covariance.copy()
            np.fill_diagonal(work, variances + jitter * float(variances.max(initial=0.0)))
            upper, info = dpotrf(work.T, lower=0, clean=1, overwrite_a=1)
            if info == 0:
                return Conditional(L, weights, variances, upper.T)
        return Conditional(L, weights, variances, np.diag(np.sqrt(variances)))


def nearest_first(K: FloatArray) -> NDArray[np.int64]:
    """For each row of a kernel matrix all rows, the nearest first and itself before them all.

    >>> nearest_first(np.array([[1.0, 0.2, 0.5], [0.2, 1.0, 0.1], [0.5, 0.1, 1.0]])).tolist()
    [[0, 2, 1], [1, 0, 2], [2, 0, 1]]
    """
    spread = K.diagonal() - 2.0 * K
    np.fill_diagonal(spread, -np.inf)
    return np.argsort(spread, axis=1, kind="stable")


def solved(L: FloatArray, right: FloatArray) -> FloatArray:
    """Return L⁻¹ times the columns of `right`, for a lower factor L in C order.

    >>> solved(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[2.0], [3.0]])).ravel().tolist()
    [1.0, 2.0]
    """
    found, _ = dtrtrs(L.T, np.asarray(right, order="F"), lower=0, trans=1)
    return np.asarray(found)
