"""What learning asks of the precision M at one set of kernel parameters, dense or by its root.

Points that differ by a common scale c of all variances share one: K(u) = c K(base). The diagonal of M cancels in every
ratio that learning needs (cos 0 = 1), so only the hollow matrix counts.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit

from vmqp.circle import FloatArray
from vmqp.precision.vecchia import Graph, Pattern
from vmqp.sampling.augmented import augmentation
from vmqp.sampling.factor import DenseFactor
from vmqp.sampling.linear import dense_product
from vmqp.sampling.rooted import Rooted, rooted_sums
from vmqp.sampling.target import Dense, Target
from vmqp.sampling.whitening import CovarianceRoot, RootMass, Whitening

__all__ = ["DenseFactorisation", "Factorisation", "RootedFactorisation", "Sums"]


class Sums(NamedTuple):
    """What the density of all d angles asks of them at one factorisation; one pass over M."""

    quadratic: float
    """½ Σ_{i≠j} M_ij x_i·x_j at scale 1."""
    along: float
    """Σ_i w_i cos φ_i, with the drift's weights at scale 1."""
    across: float
    """Σ_i w_i sin φ_i."""


class Factorisation(Protocol):
    """M(u) at one u."""

    @property
    def u(self) -> FloatArray:
        """The parameters."""

    @property
    def diagonal(self) -> FloatArray:
        """The diagonal of M(u)."""

    @property
    def weights(self) -> FloatArray:
        """Weight of each place in the drift: 1, or M(u) 1."""

    def target(self, field: FloatArray, scale: float) -> Target:
        """The density of all d angles in a field, (2, d), with the coupling M(u)/scale."""

    def new_target(self, x: FloatArray, field: FloatArray, n: int, scale: float) -> Target:
        """The density of the angles from row n on, given those before, of unit vectors x, (2, 1, d)."""

    def mass(self, scale: float) -> Whitening:
        """The mass of HMC on all d angles: M(u)/scale."""

    def new_mass(self, n: int, scale: float) -> Whitening:
        """The mass of HMC on the angles from row n on."""

    def sums(self, x: FloatArray) -> Sums:
        """The sums of unit vectors x, (2, 1, d)."""

    def quadratic_slopes(self, lower: "Factorisation", c: FloatArray, s: FloatArray) -> FloatArray:
        """By how much ½ Σ_{i≠j} M_ij x_i·x_j exceeds that of another one, for cosines and sines (draws, d)."""


@dataclass(frozen=True, eq=False)
class DenseFactorisation:
    """What a Cholesky factorisation of the kernel matrix gives."""

    u: FloatArray
    lower: FloatArray
    """The factor of K(u)."""
    hollow: FloatArray
    """M(u) with a diagonal of zeros."""
    diagonal: FloatArray
    weights: FloatArray

    def target(self, field: FloatArray, scale: float) -> Target:
        """The density of all d angles."""
        return Target(Dense(self.hollow, 1.0 / scale), self.diagonal / scale, field)

    def new_target(self, x: FloatArray, field: FloatArray, n: int, scale: float) -> Target:
        """The density of the angles from row n on, ``eq:conditional_density``."""
        coupling = Dense(self.new_rows(n), 1.0 / scale)
        rho = field[:, n:] - (x[:, 0, :n] @ self.hollow[:n, n:]) / scale
        return Target(coupling, self.diagonal[n:] / scale, np.ascontiguousarray(rho))

    def mass(self, scale: float) -> Whitening:
        """The mass of HMC on all d angles: its inverse is the kernel matrix."""
        return CovarianceRoot(self.lower, scale)

    def new_mass(self, n: int, scale: float) -> Whitening:
        """The mass of HMC on the angles from row n on."""
        return CovarianceRoot(np.ascontiguousarray(self.lower[n:, n:]), scale)

    def sums(self, x: FloatArray) -> Sums:
        """One pass over M."""
        return Sums(*_dense_sums(self.hollow, self.weights, x))

    def quadratic_slopes(self, lower: Factorisation, c: FloatArray, s: FloatArray) -> FloatArray:
        """One product with the difference of both matrices."""
        assert isinstance(lower, DenseFactorisation)
        change = self.hollow - lower.hollow
        return np.asarray(0.5 * (np.einsum("ki,ki->k", c @ change, c) + np.einsum("ki,ki->k", s @ change, s)))

    def new_rows(self, n: int) -> FloatArray:
        """The block of M of the rows from n on, contiguous; kept, since latent angles ask for it each time."""
        if self._blocks.get(n) is None:
            self._blocks[n] = np.ascontiguousarray(self.hollow[n:, n:])
        return self._blocks[n]

    @cached_property
    def _blocks(self) -> dict[int, FloatArray]:
        return {}

    @cached_property
    def root(self) -> DenseFactor:
        """The paper's A with AᵀA = λ1 − M, ``eq:cholesky_full``; only the augmented methods ask for it."""
        nothing = np.zeros((2, len(self.diagonal)))
        root = augmentation(Target(Dense(self.hollow), self.diagonal, nothing), "scalar")
        assert isinstance(root, DenseFactor)
        return root


@njit(cache=True, nogil=True)
def _dense_sums(matrix, weights, x):  # type: ignore[no-untyped-def]
    product = np.empty_like(x)
    dense_product(matrix, x, product, True, True)
    quadratic = along = across = 0.0
    for i in range(x.shape[2]):
        quadratic += x[0, 0, i] * product[0, 0, i] + x[1, 0, i] * product[1, 0, i]
        along += weights[i] * x[0, 0, i]
        across += weights[i] * x[1, 0, i]
    return 0.5 * quadratic, along, across


@dataclass(frozen=True, eq=False)
class RootedFactorisation:
    """M = U Uᵀ on a graph of neighbours."""

    u: FloatArray
    graph: Graph
    values: FloatArray
    """Entries of U(u)."""
    diagonal: FloatArray
    weights: FloatArray

    def target(self, field: FloatArray, scale: float) -> Target:
        """The density of all d angles."""
        return self._target(self.graph.pattern, self.values, self.diagonal, field, scale)

    def new_target(self, x: FloatArray, field: FloatArray, n: int, scale: float) -> Target:
        """The density of the angles from row n on: ρ₂ − U₂₂ U₁₂ᵀ x₁, ``eq:conditional_density``."""
        assert n == self.graph.n
        rho = np.array(field[:, n:])
        _subtract_observed(
            self.graph.pattern.starts, self.graph.pattern.columns, self.values, x, n, 1.0 / scale, rho
        )
        first = self.graph.pattern.starts[n]
        return self._target(self.graph.new, self.values[first:], self.diagonal[n:], rho, scale)

    def _target(
        self, pattern: Pattern, values: FloatArray, diagonal: FloatArray, field: FloatArray, scale: float
    ) -> Target:
        coupling = Rooted(pattern.starts, pattern.columns, values, diagonal, 1.0 / scale)
        return Target(coupling, diagonal / scale, field, pattern.order)

    def mass(self, scale: float) -> Whitening:
        """The mass of HMC on all d angles."""
        pattern = self.graph.pattern
        return RootMass(pattern.starts, pattern.columns, self.values, pattern.order, scale)

    def new_mass(self, n: int, scale: float) -> Whitening:
        """The mass of HMC on the angles from row n on."""
        assert n == self.graph.n
        pattern = self.graph.new
        first = self.graph.pattern.starts[n]
        return RootMass(pattern.starts, pattern.columns, self.values[first:], pattern.order, scale)

    def sums(self, x: FloatArray) -> Sums:
        """One pass over U: xᵀMx = |Uᵀx|²."""
        pattern = self.graph.pattern
        return Sums(
            *_rooted_totals(pattern.starts, pattern.columns, self.values, self.diagonal, self.weights, x)
        )

    def quadratic_slopes(self, lower: Factorisation, c: FloatArray, s: FloatArray) -> FloatArray:
        """Two passes over U for each draw."""
        x = np.empty((2, 1, c.shape[1]))
        result = np.empty(len(c))
        for draw in range(len(c)):
            x[0, 0], x[1, 0] = c[draw], s[draw]
            result[draw] = self.sums(x).quadratic - lower.sums(x).quadratic
        return result


@njit(cache=True, nogil=True)
def _rooted_totals(starts, columns, values, diagonal, weights, x):  # type: ignore[no-untyped-def]
    t = np.empty((x.shape[2], 2))
    rooted_sums(starts, columns, values, x, 0, t)
    quadratic = along = across = 0.0
    for i in range(x.shape[2]):
        quadratic += t[i, 0] * t[i, 0] + t[i, 1] * t[i, 1] - diagonal[i]
        along += weights[i] * x[0, 0, i]
        across += weights[i] * x[1, 0, i]
    return 0.5 * quadratic, along, across


@njit(cache=True, nogil=True)
def _subtract_observed(starts, columns, values, x, n, scale, rho):  # type: ignore[no-untyped-def]
    """rho −= scale · M₂₁ x₁, of the first n rows on the others."""
    d = x.shape[2]
    t = np.zeros((d, 2))
    for i in range(n):
        for e in range(starts[i], starts[i + 1]):
            t[columns[e], 0] += values[e] * x[0, 0, i]
            t[columns[e], 1] += values[e] * x[1, 0, i]
    for i in range(n, d):
        a = b = 0.0
        for e in range(starts[i], starts[i + 1]):
            a += values[e] * t[columns[e], 0]
            b += values[e] * t[columns[e], 1]
        rho[0, i - n] -= scale * a
        rho[1, i - n] -= scale * b
