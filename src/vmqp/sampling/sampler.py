"""What every sampler of angles is: a transition ``state, info = step(rng, state)``.

A state holds arrays only. ``rng`` is an array of streams, one for each chain, advanced in place as a NumPy
generator would be. All chains of a state move in lockstep, so that one pass over the coupling serves them all.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from vmqp.sampling.angle import angles_of
from vmqp.sampling.target import Array, Target

__all__ = ["Info", "Sampler", "State", "Streams", "unit_vectors"]

Streams = npt.NDArray[np.uint64]


class State(NamedTuple):
    """Where C chains of m angles stand.

    >>> from vmqp.sampling import build_sampler, make_target, seed_streams
    >>> sampler = build_sampler("heatbath", make_target(np.zeros((3, 3)), np.zeros((3, 2))), {})
    >>> state = sampler.init(seed_streams(1, 2))
    >>> state.x.shape, int(state.steps)
    ((2, 2, 3), 0)
    """

    x: Array
    """Unit vectors, shape (2, C, m): all cosines, then all sines."""
    auxiliary: Array
    """What a sampler carries beside the angles (the paper's z); empty for most."""
    tuning: Array
    """Step size and the counters of its adaptation; empty for most."""
    steps: npt.NDArray[np.int64]
    """Steps made so far, shape ()."""


class Info(NamedTuple):
    """What happened in a step.

    >>> from vmqp.sampling import build_sampler, make_target, seed_streams
    >>> sampler = build_sampler("heatbath", make_target(np.zeros((3, 3)), np.zeros((3, 2))), {})
    >>> rng = seed_streams(1, 2)
    >>> state, info = sampler.step(rng, sampler.init(rng))
    >>> info.acceptance
    array([1., 1.])
    """

    acceptance: Array
    """Probability of acceptance, one for each chain; 1 where nothing can be rejected."""


class Sampler(ABC):
    """A way to draw angles from a target. To add one, write ``step``; override ``run`` only for speed.

    >>> from vmqp.sampling import build_sampler, make_target, seed_streams
    >>> target = make_target([[0.0, -2.0], [-2.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]])
    >>> sampler, rng = build_sampler("hybrid", target, {}), seed_streams(1, 4)
    >>> state = sampler.warm_up(rng, sampler.init(rng), 20)
    >>> state, angles = sampler.run(rng, state, draws=10)
    >>> angles.shape
    (4, 10, 2)
    """

    name: ClassVar[str]
    default_warmup: ClassVar[int] = 200

    def __init__(self, target: Target) -> None:
        self.target = target

    def init(self, rng: Streams, angles: Array | None = None) -> State:
        """Start at ``angles`` of shape (C, m), or at a place of the sampler's own choice."""
        chains = rng.shape[0]
        x = self.initial(rng) if angles is None else unit_vectors(angles)
        return State(x, np.empty((0, chains, self.target.size)), np.empty(0), np.zeros((), np.int64))

    def initial(self, rng: Streams) -> Array:
        """Starting points for chains that were given none: uniform on the circle."""
        starts = [np.random.default_rng(own.tolist()).uniform(-np.pi, np.pi, self.target.size) for own in rng]
        return unit_vectors(np.array(starts))

    @abstractmethod
    def step(self, rng: Streams, state: State) -> tuple[State, Info]:
        """Make one transition that leaves the target unchanged; the given state stays as it is."""

    def warm_up(self, rng: Streams, state: State, steps: int) -> State:
        """Forget the start, and tune what there is to tune."""
        for _ in range(steps):
            state, _ = self.step(rng, state)
        return state

    def run(self, rng: Streams, state: State, draws: int, thin: int = 1) -> tuple[State, Array]:
        """Make ``draws * thin`` steps and keep the angles after every ``thin``-th: shape (C, draws, m)."""
        out = np.empty((rng.shape[0], draws, self.target.size))
        for k in range(draws):
            for _ in range(thin):
                state, _ = self.step(rng, state)
            out[:, k] = angles_of(state.x)
        return state, out


def unit_vectors(angles: Array) -> Array:
    """Cosines and sines of angles (C, m), as the (2, C, m) of a state."""
    return np.stack([np.cos(angles), np.sin(angles)])
