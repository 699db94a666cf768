"""Radii that follow the parameters: coordinates of the radii in which a change of parameters leaves them at rest.

Given parameters w, the log radii have the density ``exp(2 Σ log r_i − ½ rᵀ A(w) r)``. Its mode r*(w) is where a
strictly convex function is least, so Newton's method finds it. With H = R A R + 2, R = diag r*, the precision of the
log radii there, they are

    log r = log r*(w) + H(w)^(−½) ε.

A move of w at fixed ε carries the radii along from where they are likely at one w to where they are likely at the
other. The more nearly normal the distribution of the log radii, the more nearly is that a move of w with the radii
integrated out; the acceptance makes it exact in any case.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg.blas import dtrmv
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from vmqp.circle import FloatArray

__all__ = ["Frame", "find_frame"]

_STEPS = 60
_CLOSE = 1e-14  # of the Newton decrement: after one more step the mode is exact, and H is known to 1e-7
_INSIDE = 0.8  # the largest fraction of a radius that a step takes away


class Frame(NamedTuple):
    """The distribution of the log radii at some parameters."""

    mode: FloatArray
    """log r*, (n,)."""
    upper: FloatArray
    """The upper factor C of H = CᵀC."""
    log_volume: float
    """Σ log C_ii = ½ log|H|."""

    def rest(self, radii: FloatArray) -> FloatArray:
        """The coordinates ε of some radii."""
        return np.asarray(dtrmv(self.upper, np.log(radii) - self.mode))

    def radii(self, rest: FloatArray) -> FloatArray:
        """The radii of some coordinates ε."""
        shift, _ = dtrtrs(self.upper, rest, lower=0)
        return np.asarray(np.exp(self.mode + shift))


def find_frame(A: FloatArray, start: FloatArray) -> Frame | None:
    """Find the mode from some radii; None where A is too close to singular.

    >>> frame = find_frame(np.array([[0.5]]), np.ones(1))  # r² = 2 / 0.5
    >>> np.exp(frame.mode), frame.radii(frame.rest(np.array([3.0]))).round(9)
    (array([2.]), array([3.]))
    """
    work, before = np.empty_like(A), math.inf
    quadratic = float(start @ A @ start)
    if not 0.0 < quadratic < math.inf:
        return None
    radii = start * math.sqrt(2.0 * len(start) / quadratic)  # the best common factor
    for _ in range(_STEPS):
        slope = radii * (A @ radii) - 2.0
        _scale(A, radii, work)
        upper, info = dpotrf(work.T, lower=0, clean=0, overwrite_a=1)
        if info != 0:
            return None
        step, _ = dpotrs(upper, slope, lower=0)
        decrement = float(slope @ step)
        if not math.isfinite(decrement):
            return None
        if decrement < before:  # a full step, but not beyond zero
            size = min(1.0, _INSIDE / max(float(step.max()), _INSIDE))
        else:
            # In r/r_now the function is self-concordant up to the factor 2: damped steps always converge.
            size = 1.0 / (1.0 + math.sqrt(0.5 * decrement))
        radii, before = radii * (1.0 - size * step), decrement
        if decrement < _CLOSE:
            return Frame(np.log(radii), upper, float(np.log(upper.diagonal()).sum()))
    return None


@njit(cache=True, nogil=True)
def _scale(A, radii, out):  # type: ignore[no-untyped-def]
    """Fill `out` with R A R + 2."""
    n = radii.shape[0]
    for i in range(n):
        own = radii[i]
        for j in range(n):
            out[i, j] = own * A[i, j] * radii[j]
        out[i, i] += 2.0
