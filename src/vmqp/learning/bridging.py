"""Bridging: from a draw of one density to another through K densities in between.

With log f_k = (1 − k/(K+1)) log f_first + k/(K+1) log f_second, and x_0 a draw of the first density, each step
``x_k ~ T_k(· | x_{k−1})`` is reversible for f_k (``eq_ap:detailed_balance``) and

    Σ_{k=0}^{K} log f_{k+1}(x_k) − log f_k(x_k) = 1/(K+1) Σ_k log f_second(x_k) − log f_first(x_k)

estimates log Z_second/Z_first with less spread than the single term of K = 0 (``eq_ap:bridging_MH``, ``eq_ap:AIC``).
The schedule is symmetric, so T_k for (first, second) is T_{K+1−k} for (second, first), ``eq_ap:symmetry_T``.

Two ways to make T_k:

- `HeatBathBridge`: sweeps there and back; needs no factorisation.
- `AugmentedBridge`: the paper's double augmentation, which uses the roots A of both ends (``eq_ap:pk_xi_y``).

The same path carries latent angles from one set of parameters to another, so that parameters and latent angles
move together: Neal (2005), "Taking bigger Metropolis steps by dragging fast variables".
"""

import math
from typing import Any, Protocol

import numpy as np
from numba import njit

from vmqp.circle import FloatArray
from vmqp.learning.point import log_density
from vmqp.sampling.augmented import draw_auxiliary
from vmqp.sampling.factor import Factor, apply_root_transposed
from vmqp.sampling.heatbath import renew, there_and_back
from vmqp.sampling.sampler import Streams
from vmqp.sampling.target import Dense, Target

__all__ = ["AugmentedBridge", "HeatBathBridge", "Transition", "cross", "mixture"]


class Transition(Protocol):
    """A step that is reversible for the density a share β of the way from the first to the second."""

    def step(self, rng: Streams, share: float, x: FloatArray) -> None:
        """Move x, (2, C, m), in place."""


@njit(cache=True, nogil=True)
def _mix(first, a, second, b, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        one, other, row = first[i], second[i], out[i]
        for j in range(row.shape[0]):
            row[j] = a * one[j] + b * other[j]


def mixture(first: Target, second: Target, share: float, out: FloatArray | None = None) -> Target:
    """The density with ``(1 − share) log f_first + share log f_second`` (``eq_ap:pk``, ``eq_ap:Mk``)."""
    assert isinstance(first.coupling, Dense)
    assert isinstance(second.coupling, Dense)
    (one, a), (other, b) = first.coupling, second.coupling
    matrix = np.empty_like(one) if out is None else out
    _mix(one, (1.0 - share) * a, other, share * b, matrix)
    diagonal = first.diagonal + share * (second.diagonal - first.diagonal)
    return Target(Dense(matrix), diagonal, first.field + share * (second.field - first.field))


class HeatBathBridge:
    """T_k by heat-bath sweeps there and back, with reflections outside."""

    def __init__(self, first: Target, second: Target, *, overrelax: int = 1) -> None:
        self.first, self.second, self.overrelax = first, second, overrelax
        self.room = np.empty((first.size, first.size))

    def step(self, rng: Streams, share: float, x: FloatArray) -> None:
        """One palindrome of sweeps at the mixed coupling."""
        there_and_back(rng, mixture(self.first, self.second, share, self.room), x, self.overrelax)


@njit(cache=True, nogil=True, error_model="numpy")
def _double_augmentation(streams, first, second, field, share, x):  # type: ignore[no-untyped-def]
    a, b = math.sqrt(1.0 - share), math.sqrt(share)
    chains, m = x.shape[1], x.shape[2]
    scaled, y, pull = np.empty_like(x), np.empty_like(x), np.zeros_like(x)
    product = np.empty_like(x)
    for part in range(2):
        size = a if part == 0 else b
        for k in range(chains):
            for i in range(m):
                scaled[0, k, i], scaled[1, k, i] = size * x[0, k, i], size * x[1, k, i]
        # eq_ap:pk_y and eq_ap:pk_yp: y ~ N(√β A x, 1)
        if part == 0:
            draw_auxiliary(streams, first, scaled, y)
            apply_root_transposed(first, y, product)
        else:
            draw_auxiliary(streams, second, scaled, y)
            apply_root_transposed(second, y, product)
        for k in range(chains):
            for i in range(m):
                pull[0, k, i] += size * product[0, k, i]
                pull[1, k, i] += size * product[1, k, i]
    for k in range(chains):
        for i in range(m):
            # eq:product_vMises2
            x[0, k, i], x[1, k, i] = renew(
                streams, k, field[0, i] + pull[0, k, i], field[1, i] + pull[1, k, i]
            )


class AugmentedBridge:
    """T_k by the paper's double augmentation: the roots of both ends serve for all densities in between."""

    def __init__(self, first: Target, second: Target, roots: tuple[Factor, Factor]) -> None:
        self.first, self.second, self.roots = first, second, roots

    def step(self, rng: Streams, share: float, x: FloatArray) -> None:
        """Draw y given the angles, then all angles given y (``eq:bridge_sample1``, ``eq:bridge_sample2``)."""
        field = self.first.field + share * (self.second.field - self.first.field)
        _double_augmentation(rng, *self.roots, field, share, x)


def cross(
    rng: Streams, first: Target, second: Target, x: FloatArray, between: int, transition: Any
) -> tuple[float, float]:
    """Move x, (2, 1, m), in place through `between` densities from the first to the second.

    Return the sum of log f_{k+1}(x_k) − log f_k(x_k) over the path, and its first term times K + 1: the plain
    log f_second(x_0) − log f_first(x_0).
    """
    plain = log_density(second, x) - log_density(first, x)
    total = plain
    for k in range(1, between + 1):
        transition.step(rng, k / (between + 1.0), x)
        total += log_density(second, x) - log_density(first, x)
    return total / (between + 1.0), plain
