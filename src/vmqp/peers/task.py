"""What both peers do as tasks that run in chunks: learn at the observed locations, and draw from what was learned."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from vmqp.chain import Arrays, Chunk, Description, State
from vmqp.circle import FloatArray
from vmqp.learning import Problem
from vmqp.learning.learner import doubts
from vmqp.peers.locations import Conditional

__all__ = ["Draw", "PeerTask", "Walker"]

_FORMAT = 1  # of the state; a change makes old checkpoints unreadable, and says so
_STATISTICS = ("acceptance_factorised", "acceptance_cheap")


class Draw(NamedTuple):
    """What is kept of one iteration."""

    parameters: dict[str, float]
    pointwise: dict[str, FloatArray]
    """As in `vmqp.chain.Chunk`, without the axis of draws: what is latent at observed locations, and likelihoods."""


class Walker(ABC):
    """One chain on its way, on its own copy of a state."""

    @property
    @abstractmethod
    def iteration(self) -> int:
        """Iterations so far."""

    @property
    @abstractmethod
    def acceptance(self) -> list[float]:
        """Of the last move with a factorization, and of the last one without; nan where there was none."""

    @abstractmethod
    def iterate(self) -> None:
        """One iteration of all blocks."""

    @abstractmethod
    def draw(self) -> Draw:
        """Parameters and latent variables, from which kriging predicts any location."""

    @abstractmethod
    def state(self) -> State:
        """Pack the chain into arrays."""


class PeerTask(ABC):
    """A Gaussian process behind angles: what `vmqp.run.run_chains` runs.

    Parameters
    ----------
    problem : Problem
        The observed locations and angles, and the kernel; without drift and noise, which are of the other model.
    warmup : int
        Iterations that adapt.
    thin : int
        Iterations for each draw.
    """

    model: ClassVar[str]
    latent: ClassVar[str]
    """What each draw holds of each observed location: windings relative to the mean, or radii."""
    circular: ClassVar[str]
    own_parameters: ClassVar[tuple[str, ...]]

    def __init__(self, problem: Problem, warmup: int = 1000, thin: int = 1) -> None:
        assert problem.d == problem.n, "new locations have no part in learning"
        self.problem, self.warmup, self.thin = problem, warmup, thin

    @property
    def options(self) -> dict[str, float]:
        """What decides the draws beside the problem, the warm-up and the thinning."""
        return {}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the data, the model, the warm-up and the thinning."""
        given = (_FORMAT, type(self).__name__, self.problem.fingerprint, self.options, self.warmup, self.thin)
        return hashlib.sha256(repr(given).encode()).hexdigest()

    @property
    def chunk(self) -> int:
        """Iterations that take about a second."""
        seconds = 4e-4 + 1.5e-10 * self.problem.n**3 + 3e-8 * self.problem.n**2
        return int(np.clip(1.0 / seconds, 1, 500))

    @abstractmethod
    def start(self, seed: int, chain: int) -> State:
        """Return the state of a chain before its first iteration."""

    @abstractmethod
    def walker(self, state: State) -> Walker:
        """Resume a chain."""

    @abstractmethod
    def redraw(self, sets: Sequence[dict[str, float]], seed: int) -> list[Draw]:
        """Draw the latent variables at given parameters, for data that the parameters were not learned from."""

    @abstractmethod
    def joint(
        self, parameters: dict[str, float], latent: FloatArray, given: Conditional, rng: np.random.Generator
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Draw all new locations together.

        Parameters
        ----------
        parameters : dict of str to float
            One draw of them.
        latent : ndarray of shape (n,)
            What that draw holds of each observed location.
        given : Conditional
            The new locations given the observed ones.
        rng : Generator
            Random numbers.

        Returns
        -------
        angles : ndarray of shape (m,)
            In radians.
        distributions : dict of str to ndarray of shape (m,)
            The distribution of each alone, by ``group/name``.
        """

    def advance(self, state: State, iterations: int) -> tuple[State, Chunk]:
        """Make some iterations."""
        walker = self.walker(state)
        kept: list[Draw] = []
        rates: list[list[float]] = []
        statistics: list[list[float]] = []
        for _ in range(iterations):
            walker.iterate()
            rates.append(walker.acceptance)
            after = walker.iteration - self.warmup
            if after > 0 and after % self.thin == 0:
                kept.append(walker.draw())
                statistics.append(walker.acceptance)
        return walker.state(), self._chunk(kept, *(np.array(x).reshape(-1, 2) for x in (rates, statistics)))

    @property
    def kinds(self) -> tuple[bool, bool]:
        """Whether there are moves with a factorization, and moves without."""
        p, q = self.problem.cheap_directions.shape
        return p > q, q > 0

    @cached_property
    def _moves(self) -> dict[str, int]:
        """Statistics of the kinds of moves that there are, with their position."""
        return {name: i for i, name in enumerate(_STATISTICS) if self.kinds[i]}

    def _chunk(self, kept: list[Draw], rates: FloatArray, statistics: FloatArray) -> Chunk:
        names = (*self.problem.exchanged, *self.own_parameters)
        rows = self._pointwise_rows()

        def column(group: str, name: str, width: int | None = None) -> Any:
            values = [getattr(draw, group)[name] for draw in kept]
            return np.array(values).reshape((len(kept),) if width is None else (len(kept), width))

        progress = {
            label: float(np.nanmean(rates[:, i]))
            for i, label in enumerate(("accept", "cheap"))
            if len(rates) and not np.isnan(rates[:, i]).all()
        }
        return Chunk(
            {name: column("parameters", name) for name in names},
            {},
            {name: statistics[:, i] for name, i in self._moves.items()},
            progress,
            {name: column("pointwise", name, len(at)).astype(np.float32) for name, at in rows.items()},
        )

    def _pointwise_rows(self) -> Arrays:
        return dict.fromkeys(("log_likelihood/angle", f"latent/{self.latent}"), np.arange(self.problem.n))

    def describe(self) -> Description:
        """Say what the draws are of."""
        problem = self.problem
        return Description(
            {},
            {"angle": problem.observed},
            {"X": problem.X},
            {
                "model": self.model,
                "kernel": repr(problem.kernel),
                "warmup": self.warmup,
                "thin": self.thin,
                "circular": self.circular,
                **self.options,
            },
            self._pointwise_rows(),
        )

    def warnings(self, stats: Arrays) -> list[str]:
        """Say whether the parameters moved."""
        return doubts(stats)
