"""The two blocks whose conditionals need no exchange: the drift's direction ν and the noise χ."""

import math

import numpy as np
from numba import njit

from vmqp.circle import FloatArray
from vmqp.learning.point import Point, Sums
from vmqp.learning.problem import Problem
from vmqp.model import noise_log_likelihood
from vmqp.sampling.heatbath import renew
from vmqp.sampling.random import normal, uniform
from vmqp.sampling.sampler import Streams

__all__ = ["draw_direction", "draw_uniform", "move_noise"]

_NOISE_MOVES = 4


@njit(cache=True)
def _von_mises(streams, along, across):  # type: ignore[no-untyped-def]
    return renew(streams, 0, along, across)


@njit(cache=True)
def _normal_and_uniform(streams):  # type: ignore[no-untyped-def]
    return normal(streams, 0), uniform(streams, 0)


@njit(cache=True)
def draw_uniform(streams):  # type: ignore[no-untyped-def]
    """Draw from [0, 1) with the first stream."""
    return uniform(streams, 0)


def draw_direction(rng: Streams, point: Point, known: Sums) -> float:
    """Draw ν | φ, κ: von Mises, exact, since Z does not depend on ν (`model.direction_conditional`)."""
    c, s = _von_mises(rng, point.pull * known.along, point.pull * known.across)
    return math.atan2(s, c)


def move_noise(rng: Streams, problem: Problem, x: FloatArray, u: float, step: float) -> tuple[float, float]:
    """Some random-walk Metropolis moves of χ on its unconstrained scale; return u and the mean acceptance."""
    assert problem.noise is not None
    prior = problem.noise
    latent = np.arctan2(x[1, 0, : problem.n], x[0, 0, : problem.n])

    def log_target(u: float) -> float:
        chi = float(prior.from_unconstrained(u))
        if not 0.0 < chi < np.inf:
            return -np.inf
        density = float(prior.log_density(chi)) + float(prior.log_jacobian(u))
        return density + float(noise_log_likelihood(problem.observed, latent, chi))

    level, total = log_target(u), 0.0
    for _ in range(_NOISE_MOVES):
        shift, threshold = _normal_and_uniform(rng)
        proposal = u + step * shift
        gain = log_target(proposal) - level
        acceptance = math.exp(min(0.0, gain))
        total += acceptance
        if threshold < acceptance:
            u, level = proposal, level + gain
    return u, total / _NOISE_MOVES
