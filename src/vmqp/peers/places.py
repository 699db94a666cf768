"""The kernel of a Gaussian process at observed places, and between them and new ones.

Unlike the von Mises quasi-process, a Gaussian process is consistent under marginalisation: its parameters are learned
at the n observed places alone, and the new ones only enter when a draw is kept, by conditioning:

    K = [K₁₁ K₁₂; K₂₁ K₂₂],   W = L₁₁⁻¹ K₁₂,   mean = Wᵀ L₁₁⁻¹ (z − μ) + μ,   covariance = K₂₂ − Wᵀ W.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.kernels.bound import BoundPairs
from vmqp.learning import Problem, make_problem
from vmqp.precision import Cholesky, try_cholesky_triangle

__all__ = ["Conditional", "Places", "nearest_first", "solved"]

_ROUNDING = float(np.finfo(float).eps)
_JITTERS = (0.0, 1e-12, 1e-9, 1e-6)  # shares of the variance, where rounding left a covariance indefinite


class Conditional(NamedTuple):
    """New places given the observed ones."""

    L: FloatArray
    """The lower factor of the kernel matrix of the observed places, (n, n)."""
    weights: FloatArray
    """W, (n, m)."""
    variances: FloatArray
    """The diagonal of the covariance, (m,)."""
    root: FloatArray
    """The lower factor of the covariance, (m, m)."""


@dataclass(frozen=True, eq=False)
class Places:
    """A problem whose parameters are learned at its observed places."""

    problem: Problem
    """With the observed and the new places; without drift and noise, for those are of the other model."""

    def __getstate__(self) -> dict[str, Any]:
        return {"problem": self.problem}  # a worker makes the geometry itself

    @cached_property
    def observed(self) -> Problem:
        """The same kernel at the observed places alone."""
        p = self.problem
        return make_problem(
            p.X[: p.n], p.observed, kernel=p.kernel, concentration=0.0, column_names=p.column_names
        )

    @cached_property
    def _across(self) -> BoundPairs:
        p = self.problem
        rows, cols = np.indices((p.d - p.n, p.n))
        return p.kernel.bind_pairs(p.X, rows.ravel() + p.n, cols.ravel(), column_names=p.column_names)

    @cached_property
    def _among(self) -> BoundPairs:
        p = self.problem
        rows, cols = np.tril_indices(p.d - p.n)
        return p.kernel.bind_pairs(p.X, rows + p.n, cols + p.n, column_names=p.column_names)

    def factor(self, values: Mapping[str, float]) -> Cholesky | None:
        """Factorise the kernel matrix of the observed places; None where it has no usable factor."""
        try:
            triangle = self.observed.bound.triangle(values)
        except InputError:  # a function of the user's that overflows far out: such parameters are refused
            return None
        return try_cholesky_triangle(triangle, self.observed.n)

    def covariance(self, values: Mapping[str, float]) -> FloatArray:
        """The kernel matrix of the observed places, (n, n)."""
        return self.observed.bound.covariance(values)

    @cached_property
    def nearness(self) -> NDArray[np.int64]:
        """For each observed place all of them, the nearest first, by the kernel in the middle of its priors."""
        priors = self.observed.bound.parameters
        return nearest_first(self.covariance({name: prior.typical() for name, prior in priors.items()}))

    def conditional(self, values: Mapping[str, float], L: FloatArray) -> Conditional:
        """Condition the new places on the observed ones, whose kernel matrix has the factor L."""
        m = self.problem.d - self.problem.n
        weights = solved(L, self._across.values(values).reshape(m, -1).T)
        covariance = np.zeros((m, m))
        covariance[np.tril_indices(m)] = self._among.values(values)
        prior = covariance.diagonal().copy()
        covariance -= np.tril(weights.T @ weights)
        # A smooth kernel may leave nothing but rounding: a law of no width would have no density.
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
