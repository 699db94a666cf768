"""The second stage of a map: angles at all places, at parameters drawn from what was learned with fewer places.

An iteration is a stretch of steps of the angles at one set of parameters. All chains walk through the same sets in the
same order, so that they differ by their angles only. The first steps of a stretch forget the parameters before; over
the others the summaries are added up (`vmqp.maps.totals`), and the angles at its end are kept as a draw.

Chains start at the normalised kriging of (cos, sin): the direction of the mean of a Gaussian process with the same
precision. A random start would leave vortices that no chain can undo on a large map.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from vmqp.chain import Arrays, Chunk, Description, State
from vmqp.circle import FloatArray
from vmqp.errors import NotPositiveDefiniteError
from vmqp.learning.memory import forget, remembered
from vmqp.learning.moves import angles_support, make_sampler, start_counters
from vmqp.learning.point import Point, angles_target, factorised
from vmqp.learning.pointwise import fields_at
from vmqp.learning.problem import Problem
from vmqp.maps.totals import MOMENTS, Moments, add_up
from vmqp.run.stopping import Converged
from vmqp.sampling.angle import angles_of
from vmqp.sampling.hybrid import Hybrid
from vmqp.sampling.random import seed_streams
from vmqp.sampling.sampler import Sampler
from vmqp.sampling.sampler import State as AngleState
from vmqp.sampling.tuning import frozen
from vmqp.sampling.whitening import unwhiten

__all__ = ["MapTask", "in_space"]

_FORMAT = 1
_INTERVALS = 2  # of a stretch, each with one HMC move: the first forgets, the others count
_SOFT = 10  # least steps of an interval
# Moves of a stretch in warm-up, and their leapfrogs: a step far too small costs little then.
_TUNING, _SHORT = 12, 10


def in_space(problem: Problem) -> npt.NDArray[np.intp]:
    """An order of the new places in which neighbours in space are neighbours in memory."""
    if problem.d - problem.n < 2:
        return np.arange(problem.d - problem.n)
    return np.asarray(cKDTree(problem.X[problem.n :]).indices)


class _Set(NamedTuple):
    """One set of parameters, and the precision of all places at it."""

    which: int
    values: dict[str, float]
    point: Point


@dataclass(frozen=True, eq=False)
class MapTask:
    """A sparse problem with all places of a map, and the parameters at which they are drawn.

    The new places of the problem stand in the order of `rows`; what comes out is in the order of the user.

    >>> from vmqp import kernels, learning, priors
    >>> x, kernel = np.linspace(0.0, 3.0, 40)[:, None], 2.0 * kernels.Exponential(priors.LogNormal(0, 1))
    >>> problem = learning.make_problem(x[::8] + 0.01, x[::8, 0], x, kernel=kernel, concentration=0, neighbors=5)
    >>> task = MapTask(problem, {"lengthscale": np.array([1.0, 1.5])}, np.arange(40), warmup=1)
    >>> state, chunk = task.advance(task.start(seed=1, chain=0), 3)
    >>> task.count, chunk.angles["angle"].shape, task.moments([state]).variance().shape
    (2, (2, 40), (40,))
    """

    problem: Problem
    sets: dict[str, FloatArray]
    """Every learned parameter's values, (sets,)."""
    rows: npt.NDArray[np.intp]
    """Of each new place of the problem: its row among the user's new places."""
    warmup: int = 6
    fields: bool = False
    """Keep with each draw the fields at new places, in single precision: densities are made of them."""
    thin: int = 1

    @property
    def chunk(self) -> int:
        """One stretch at a time on a large map, some on a small one."""
        return int(np.clip(20_000 // max(1, self.problem.d), 1, 20))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the data, the model, the places, the parameters and the warm-up."""
        digest = hashlib.sha256(repr((_FORMAT, self.problem.fingerprint, self.warmup, self.fields)).encode())
        for name in sorted(self.sets):
            digest.update(name.encode() + np.ascontiguousarray(self.sets[name]).tobytes())
        digest.update(np.ascontiguousarray(self.rows).tobytes())
        return digest.hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"fingerprint": self.fingerprint}

    @property
    def count(self) -> int:
        """The number of sets of parameters."""
        return len(next(iter(self.sets.values()))) if self.sets else 1

    def start(self, seed: int, chain: int) -> State:
        """The normalised kriging at the first set of parameters."""
        streams = seed_streams(np.random.SeedSequence(seed, spawn_key=(chain,)), 1)
        problem = self.problem
        x = np.ones((2, 1, problem.d))
        x[:, 0, : problem.n] = np.stack([np.cos(problem.observed), np.sin(problem.observed)])
        sampler = self._sampler(self._at(0), x)
        x[:, 0, problem.latent] = kriging(sampler)
        counters = start_counters(sampler, streams)
        size = problem.d - problem.latent.start
        return {
            "streams": streams,
            "latent": np.ascontiguousarray(x[:, :, problem.latent]),
            "tuning": counters.tuning,
            "iteration": np.array(0),
            "sums": np.zeros((2, MOMENTS, size)),
            "counts": np.zeros(2, np.int64),
        }

    def advance(self, state: State, iterations: int) -> tuple[State, Chunk]:
        """Make some stretches."""
        problem, first = self.problem, int(state["iteration"])
        new = slice(problem.n - problem.latent.start, None)
        streams, tuning = state["streams"].copy(), state["tuning"]
        sums, counts = state["sums"].copy(), state["counts"].copy()
        x = np.empty((2, 1, problem.d))
        x[:, 0, : problem.n] = np.stack([np.cos(problem.observed), np.sin(problem.observed)])
        x[:, :, problem.latent] = state["latent"]
        angles: list[FloatArray] = []
        fields: list[FloatArray] = []
        moved: list[float] = []
        which: list[int] = []
        for iteration in range(first, first + iterations):
            here = self._at(iteration)
            sampler = self._sampler(here, x)
            latent, tuning, acceptance = self._stretch(
                streams, sampler, x, tuning, iteration, None if iteration < self.warmup else (sums, counts)
            )
            x[:, :, problem.latent] = latent
            if iteration >= self.warmup:
                moved.append(acceptance)
                which.append(here.which)
                angles.append(self._as_given(angles_of(latent)[0, new]))
                if self.fields:
                    there = fields_at(here.point, x, self._direction(here))[:, problem.n :]
                    fields.append(np.stack([self._as_given(part) for part in there]))
        after = {
            "streams": streams,
            "latent": np.ascontiguousarray(x[:, :, problem.latent]),
            "tuning": tuning,
            "iteration": np.array(first + iterations),
            "sums": sums,
            "counts": counts,
        }
        return after, self._chunk(np.array(which, np.intp), angles, fields, np.array(moved), acceptance)

    def _chunk(
        self,
        which: npt.NDArray[np.intp],
        angles: list[FloatArray],
        fields: list[FloatArray],
        moved: FloatArray,
        acceptance: float,
    ) -> Chunk:
        m = self.problem.d - self.problem.n
        parameters = {"noise": self.sets["noise"][which]} if "noise" in self.sets else {}
        table = np.array(fields, dtype=np.float32).reshape(len(fields), 2, m)
        return Chunk(
            parameters,
            {"angle": np.array(angles).reshape(len(angles), m)},
            {"acceptance_hmc": moved, "set": which.astype(np.float64)},
            {"accept": acceptance},
            {"field/x": table[:, 0], "field/y": table[:, 1]} if self.fields else {},
        )

    def _stretch(
        self,
        streams: Any,
        sampler: Hybrid,
        x: FloatArray,
        tuning: FloatArray,
        iteration: int,
        totals: tuple[FloatArray, Any] | None,
    ) -> tuple[FloatArray, FloatArray, float]:
        """Move the latent angles at one set of parameters; add them up, where they count."""
        state = AngleState(
            np.ascontiguousarray(x[:, :, self.problem.latent]),
            np.empty((0, 1, 0)),
            tuning,
            np.zeros((), np.int64),
        )
        rates: list[float] = []
        interval = max(_SOFT, sampler.interval(tuning))
        if totals is None:  # moves of HMC that tune its step, with few sweeps between them
            for _ in range(_TUNING):
                own = state.x.copy()
                acceptance = sampler.hmc.move(streams, own, state.tuning, most=_SHORT)
                rates.append(float(acceptance.mean()))
                state = state._replace(x=own, tuning=sampler.hmc.adapt(state.tuning, acceptance))
                state = sampler.sweep(streams, state, 2)
            last = iteration == self.warmup - 1
            return state.x, frozen(state.tuning) if last else state.tuning, float(np.mean(rates))
        sums, counts = totals
        for part in range(_INTERVALS):
            own = state.x.copy()
            rates.append(float(sampler.hmc.move(streams, own, state.tuning).mean()))
            state = state._replace(x=own)
            for step in range(interval):
                state = sampler.sweep(streams, state, 1)
                if part:
                    half = 0 if 2 * ((part - 1) * interval + step) < (_INTERVALS - 1) * interval else 1
                    add_up(state.x, sums[half])
                    counts[half] += 1
        return state.x, state.tuning, float(np.mean(rates))

    def _at(self, iteration: int) -> "_Set":
        """The set of parameters at an iteration, with the root of its precision; chains of one process share it.

        Where a set has no usable factor on this map, it is the next that has.
        """
        which = iteration % self.count
        found: _Set = remembered(self._kind, str(which), lambda: self._make_set(which))
        return found

    @property
    def _kind(self) -> str:
        return f"{self.fingerprint} root"

    def release(self) -> None:
        """Let go of roots that this process holds: they are as large as some draws of the map."""
        forget(self._kind)

    def _make_set(self, first: int) -> "_Set":
        for which in (*range(first, self.count), *range(first)):
            values = {name: float(numbers[which]) for name, numbers in self.sets.items()}
            own = {name: value for name, value in values.items() if name in self.problem.exchanged}
            point = factorised(self.problem, self.problem.vector(own), own)
            if point is not None:
                return _Set(which, values, point)
        raise NotPositiveDefiniteError(
            "at none of the learned parameters can the places of the map be told apart in floating point: add a "
            "kernels.Nugget, or ask for a coarser grid."
        )

    def _sampler(self, here: "_Set", x: FloatArray) -> Hybrid:
        """The sampler of the latent angles."""
        problem, noise = self.problem, None
        if problem.noise is not None:
            noise = problem.noise_of(here.values.get("noise", problem.noise.typical()))
        target = angles_target(problem, here.point, x, self._direction(here), noise)
        sampler = make_sampler("hybrid", target, angles_support("hybrid", problem, here.point, target, noise))
        assert isinstance(sampler, Hybrid)
        return sampler

    def _direction(self, here: "_Set") -> float:
        return here.values.get("direction", self.problem.direction.typical())

    def _as_given(self, values: FloatArray) -> FloatArray:
        """New places in the order of the user."""
        result = np.empty_like(values)
        result[self.rows] = values
        return result

    # What the runner asks beside the draws

    def moments(self, states: list[State]) -> Moments:
        """Summaries of all chains, at the new places in the order of the user."""
        new = slice(self.problem.n - self.problem.latent.start, None)
        counts = np.concatenate([state["counts"] for state in states]).astype(np.float64)
        sums = np.empty((len(counts), MOMENTS, self.problem.d - self.problem.n))
        for chain, state in enumerate(states):
            for half in range(2):
                sums[2 * chain + half][:, self.rows] = state["sums"][half][:, new]
        kept = counts > 0.0
        return Moments(sums[kept], counts[kept])

    def met(self, rule: Converged, states: list[State]) -> bool:
        """Whether the chains agree on both maps."""
        return bool(self.moments(states).rhat().max() < rule.rhat_angles)

    def conclude(self, states: list[State]) -> dict[str, Arrays]:
        """The summaries, for the result."""
        moments = self.moments(states)
        return {"totals": {"sums": moments.sums, "counts": moments.counts}}

    def describe(self) -> Description:
        """Say what the draws are of."""
        problem = self.problem
        new = np.arange(problem.n, problem.d)
        X = problem.X.copy()
        X[problem.n + self.rows] = problem.X[problem.n :]
        return Description(
            {"angle": new},
            {"angle": problem.observed},
            {"X": X} | problem.known_noise(),
            {
                "model": "von Mises quasi-process",
                "kernel": repr(problem.kernel),
                "drift": problem.drift,
                "concentration": repr(problem.concentration),
                "noise": repr(problem.noise),
                "method": "two stages",
                "neighbors": int(problem.neighbors or 0),
                "sets": self.count,
                "warmup": self.warmup,
                "thin": self.thin,
                "circular": "direction",
            },
            {"field/x": new, "field/y": new} if self.fields else {},
        )

    def warnings(self, stats: Arrays) -> list[str]:
        """Whether moves of HMC were accepted."""
        rates = stats.get("acceptance_hmc")
        if rates is not None and rates.size and float(rates.mean()) < 0.2:
            return [
                f"only {100 * float(rates.mean()):.0f} % of the moves of all angles together were accepted, so that "
                "what the whole map shares is drawn slowly: R-hat of the maps says whether that matters, and more "
                "draws mend it."
            ]
        return []


def kriging(sampler: Sampler) -> FloatArray:
    """Unit vectors along W⁻¹ρ, (2, m): the mean of a Gaussian process with the sampler's coupling and field."""
    assert isinstance(sampler, Hybrid)
    field = sampler.target.field
    mean = np.empty_like(field)
    for part in range(2):
        unwhiten(sampler.hmc.mass, field[part : part + 1], mean[part : part + 1])
    length = np.hypot(*mean)
    mean[0, length == 0.0], length[length == 0.0] = 1.0, 1.0
    return np.asarray(mean / length)
