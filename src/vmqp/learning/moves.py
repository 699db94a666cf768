"""Moves of angles at given parameters: the sampler of a target, with what it needs of the matrices."""

from typing import NamedTuple

import numpy as np

from vmqp.circle import FloatArray
from vmqp.learning.point import Point, angles_whitening, fields_whitening
from vmqp.learning.problem import Noise, Problem
from vmqp.sampling.augmented import Augmented, augmentation
from vmqp.sampling.factor import Factor
from vmqp.sampling.heatbath import HeatBath
from vmqp.sampling.hybrid import Hybrid
from vmqp.sampling.sampler import Sampler, State, Streams
from vmqp.sampling.target import Target
from vmqp.sampling.whitening import Whitening

__all__ = [
    "Counters",
    "Support",
    "angles_support",
    "fields_support",
    "make_sampler",
    "move",
    "start_counters",
]

Support = Whitening | Factor | None
"""What a sampler derives from the coupling alone, so that it can be kept while only the field changes."""


class Counters(NamedTuple):
    """A sampler's tuning and the number of its steps so far."""

    tuning: FloatArray
    steps: np.ndarray


def fields_support(kind: str, point: Point) -> Support:
    """What the sampler of all d angles needs of the coupling."""
    if kind == "hybrid":
        return fields_whitening(point)
    return point.root if kind == "augmented" else None


def angles_support(kind: str, problem: Problem, point: Point, target: Target, noise: Noise) -> Support:
    """What the sampler of the latent angles needs of the coupling."""
    if kind == "hybrid":
        return angles_whitening(problem, point, target, noise)
    if kind == "augmented":
        return point.root if noise is not None else augmentation(target, "scalar")
    return None


def make_sampler(kind: str, target: Target, support: Support) -> Sampler:
    """Return the sampler of a target."""
    if kind == "hybrid":
        return Hybrid(target, mass=support)  # type: ignore[arg-type]
    if kind == "augmented":
        return Augmented(target, factor=support)  # type: ignore[arg-type]
    return HeatBath(target)


def start_counters(sampler: Sampler, rng: Streams) -> Counters:
    """Counters before the first step."""
    state = sampler.init(rng, np.zeros((1, sampler.target.size)))
    return Counters(state.tuning, state.steps)


def move(
    rng: Streams, sampler: Sampler, x: FloatArray, counters: Counters, steps: int, adapting: bool = False
) -> tuple[FloatArray, Counters]:
    """Return the angles, (2, 1, m), after some steps; x stays as it is."""
    if not steps or not sampler.target.size:
        return x, counters
    state = State(x, np.empty((0, 1, sampler.target.size)), counters.tuning, counters.steps)
    if adapting and isinstance(sampler, Hybrid):
        state = sampler.tune(rng, state, steps)
    else:
        state, _ = sampler.run(rng, state, 1, steps)
    return state.x, Counters(state.tuning, state.steps)
