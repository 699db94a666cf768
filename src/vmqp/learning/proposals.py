"""Proposals of parameters on the unconstrained scale, adapted in warm-up only.

A move of u that changes more than the common scale and κ costs a factorisation. So there are two kinds:

- *cheap* moves, along the directions B that need none;
- *factorised* moves, along the other coordinates E. The cheap coordinates follow on their regression line,
  δ_B = Σ_BE Σ_EE⁻¹ δ_E, so that a move keeps to the ridge of the posterior (for the exponential kernel only σ²/l is
  well determined). What the line leaves over, Σ_BB − Σ_BE Σ_EE⁻¹ Σ_EB, is for the cheap moves.

With both, each proposal is either a step of a random walk, or a leap: a draw from a t law around the mean of the
warm-up that does not look at where the chain stands. Leaps are worth more where that law fits; its tails are heavy,
and the walk goes on between them, so that a bad fit costs time only.

The mean and the covariance Σ are running estimates with weights that forget the start of the warm-up (Haario et al.
2001), and each kind's step size follows its acceptance (Robbins-Monro). The counters are arrays of the chain's state.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space

from vmqp.circle import FloatArray
from vmqp.sampling.random import fill_normal
from vmqp.sampling.sampler import Streams

__all__ = [
    "Adaptation",
    "Block",
    "Directions",
    "Proposal",
    "adapted",
    "directions",
    "leap",
    "start_adaptation",
    "walk",
]

_SMALLEST = 1e-6  # of a variance on the unconstrained scale
_DELAY = 20.0
_FREEDOM = 6  # of the t law


class Adaptation(NamedTuple):
    """The counters: running moments of u, and the log step size of each kind of move."""

    mean: FloatArray
    covariance: FloatArray
    iterations: FloatArray
    log_steps: FloatArray
    """Of factorised, cheap and noise moves, (3,)."""


class Block(NamedTuple):
    """The coordinates of one kind of move, with their law in the warm-up; those of the other kind stay as they are."""

    columns: FloatArray
    """(p, k): how u follows a change of the coordinates."""
    coordinates: FloatArray
    """(k, p): the coordinates of u."""
    mean: FloatArray
    """(k,): their mean."""
    root: FloatArray
    """(k, k): the Cholesky factor of their covariance."""
    whiten: FloatArray
    """Its inverse."""


class Directions(NamedTuple):
    """The two kinds of moves."""

    factorised: Block
    cheap: Block


class Proposal(NamedTuple):
    """A proposed u, and the log of how much more likely the way back is."""

    u: FloatArray
    log_back: float


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


def directions(state: Adaptation, cheap: FloatArray) -> Directions:
    """Split the law of u by the orthonormal columns of cheap directions, (p, q).

    >>> law = start_adaptation(np.zeros(2), np.array([[1.0, 0.8], [0.8, 1.0]]))
    >>> both = directions(law, np.array([[1.0], [0.0]]))
    >>> both.factorised.columns.ravel().round(3).tolist(), both.factorised.root.ravel().round(3).tolist()
    ([0.8, 1.0], [1.0])
    >>> both.cheap.columns.ravel().round(3).tolist(), both.cheap.root.ravel().round(3).tolist()
    ([1.0, 0.0], [0.6])
    """
    p, q = cheap.shape
    costly = null_space(cheap.T) if q else np.eye(p)
    costly = costly * np.where(costly.sum(axis=0) < 0.0, -1.0, 1.0)
    law = state.covariance + _SMALLEST * np.eye(p)
    ee, ce, cc = costly.T @ law @ costly, cheap.T @ law @ costly, cheap.T @ law @ cheap
    line = np.linalg.solve(ee, ce.T).T if p > q else np.zeros((q, 0))
    own = cheap.T - line @ costly.T
    return Directions(
        Block(costly + cheap @ line, costly.T, costly.T @ state.mean, *_root(ee)),
        Block(cheap, own, own @ state.mean, *_root(cc - line @ ce.T)),
    )


def walk(rng: Streams, u: FloatArray, columns: FloatArray) -> Proposal:
    """A symmetric step: columns times standard normal numbers."""
    return Proposal(u + columns @ _normals(rng, columns.shape[1]), 0.0)


def leap(rng: Streams, u: FloatArray, block: Block) -> Proposal:
    """A draw of the block's coordinates from a t law, whatever they are now."""
    k = len(block.mean)
    now = block.coordinates @ u - block.mean
    numbers = _normals(rng, k + _FREEDOM)
    tail = math.sqrt(_FREEDOM / float(np.square(numbers[k:]).sum()))
    there = tail * (block.root @ numbers[:k])
    return Proposal(u + block.columns @ (there - now), _log_t(block, now) - _log_t(block, there))


def _log_t(block: Block, gap: FloatArray) -> float:
    """Log-density of the t law at a distance from its mean, up to a constant."""
    scaled = block.whiten @ gap
    return -0.5 * (_FREEDOM + len(gap)) * math.log1p(float(scaled @ scaled) / _FREEDOM)


def _normals(rng: Streams, count: int) -> FloatArray:
    numbers = np.empty(count)
    fill_normal(rng, 0, numbers)
    return numbers


def _root(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    root = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    return root, np.asarray(np.linalg.inv(root), dtype=np.float64)
