"""Proposals of parameters on the unconstrained scale, adapted in warm-up only.

A move of u that changes more than the common scale and κ costs a factorisation. So there are two kinds:

- *cheap* moves, along the directions B that need none;
- *factorised* moves, along the other coordinates E. The cheap coordinates follow on their regression line,
  δ_B = Σ_BE Σ_EE⁻¹ δ_E, so that a move keeps to the ridge of the posterior (for the exponential kernel only σ²/l is
  well determined). What the line leaves over, Σ_BB − Σ_BE Σ_EE⁻¹ Σ_EB, is for the cheap moves.

Both are random walks with symmetric steps. The covariance Σ is a running estimate with weights that forget the start
of the warm-up (Haario et al. 2001), and each kind's step size follows its acceptance (Robbins-Monro). The counters
are arrays of the chain's state.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space

from vmqp.circle import FloatArray

__all__ = ["Adaptation", "Directions", "adapted", "directions", "start_adaptation"]

_SMALLEST = 1e-6  # of a variance on the unconstrained scale
_DELAY = 20.0


class Adaptation(NamedTuple):
    """The counters: running moments of u, and the log step size of each kind of move."""

    mean: FloatArray
    covariance: FloatArray
    iterations: FloatArray
    log_steps: FloatArray
    """Of factorised, cheap and noise moves, (3,)."""


class Directions(NamedTuple):
    """Columns that turn standard normal numbers into moves of u: (p, p − q) and (p, q)."""

    factorised: FloatArray
    cheap: FloatArray


def start_adaptation(u: FloatArray, covariance: FloatArray) -> Adaptation:
    """Counters before the first iteration."""
    return Adaptation(u.copy(), covariance.copy(), np.zeros(()), np.zeros(3))


def adapted(state: Adaptation, u: FloatArray, acceptance: FloatArray, wanted: FloatArray) -> Adaptation:
    """Counters after an iteration that ended at u; `acceptance` is NaN for a kind that made no move."""
    count = state.iterations + 1.0
    weight = 2.0 / (count + _DELAY)
    gap = u - state.mean
    covariance = (1.0 - weight) * (state.covariance + weight * np.outer(gap, gap))
    error = np.where(np.isnan(acceptance), 0.0, acceptance - wanted)
    gain = 2.0 / np.sqrt(count + 4.0)
    return Adaptation(state.mean + weight * gap, covariance, count, state.log_steps + gain * error)


def directions(covariance: FloatArray, cheap: FloatArray) -> Directions:
    """Split a covariance of u by the orthonormal columns of cheap directions, (p, q).

    >>> both = directions(np.array([[1.0, 0.8], [0.8, 1.0]]), np.array([[1.0], [0.0]]))
    >>> both.factorised.ravel().round(3).tolist(), both.cheap.ravel().round(3).tolist()
    ([0.8, 1.0], [0.6, 0.0])
    """
    p, q = cheap.shape
    costly = null_space(cheap.T) if q else np.eye(p)
    if p > q:
        costly = costly * np.sign(costly.sum(axis=0) + 1e-300)
    stable = covariance + _SMALLEST * np.eye(p)
    ee, ce = costly.T @ stable @ costly, cheap.T @ stable @ costly
    line = np.linalg.solve(ee, ce.T).T if p > q else np.zeros((q, 0))
    rest = cheap.T @ stable @ cheap - line @ ce.T
    ridge = (costly + cheap @ line) @ np.linalg.cholesky(ee) if p > q else np.zeros((p, 0))
    return Directions(ridge, cheap @ np.linalg.cholesky(rest) if q else np.zeros((p, 0)))
