"""Joint draws of all new locations together: conditional simulation at parameters that were learned before.

An iteration is a stretch of steps of the angles at one set of parameters; the angles at its end are kept as a draw. All
chains walk through the same sets in the same order, so that they differ by their angles only, and R-hat of the angles
says whether a stretch is long enough to forget the one before. With noise the angles of the process at the observed
locations are drawn too.

Chains start at the normalized kriging of (cos, sin): the direction of the mean of a Gaussian process with the same
precision. A random start would leave vortices that no chain can undo on a large map.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from vmqp.chain import Arrays, Chunk, Description, State
from vmqp.circle import FloatArray
from vmqp.errors import InputError, NotPositiveDefiniteError
from vmqp.learning.memory import forget, remembered
from vmqp.learning.moves import angles_support, make_sampler, start_counters
from vmqp.learning.point import Point, angles_target, factorised
from vmqp.learning.pointwise import fields_at
from vmqp.learning.problem import Problem
from vmqp.posterior.diagnostics import SIMULATION
from vmqp.run import machine
from vmqp.sampling.angle import angles_of
from vmqp.sampling.hybrid import Hybrid
from vmqp.sampling.random import seed_streams
from vmqp.sampling.sampler import Sampler
from vmqp.sampling.sampler import State as AngleState
from vmqp.sampling.tuning import frozen
from vmqp.sampling.whitening import unwhiten

__all__ = ["SimulationTask", "check_room", "kriging_start", "simulation_task"]

_FORMAT = 2
_MOVES = 2  # of HMC in a stretch, each with sweeps behind it
_SOFT = 10  # least sweeps behind a move
_TUNING, _SHORT = (
    12,
    10,
)  # moves of a stretch in warm-up, and their leapfrogs: a far too small step costs little then
_FAR_FEWER = 0.2  # of the moves of HMC that have to be accepted
_PROCESS, _PART = (
    0.45e9,
    80e6,
)  # bytes of an interpreter with all that vmqp compiles, and of a worker's scratch
_DENSE_COPIES = 12.0  # d × d matrices of a dense precision, with the factor


def check_room(d: int, m: int, neighbors: int | None, draws: int, memory: object) -> None:
    """Refuse a simulation that does not fit the memory.

    >>> check_room(10**6, 10**6, 20, 10_000, "1GB")
    Traceback (most recent call last):
    vmqp.errors.InputError: 10000 joint draws of 1,000,000 locations need about 1.2e+02 GB, but the bound is 1 GB: ...
    """
    bound, workers = machine.read_memory(memory), machine.cores()
    if neighbors is None:
        fixed = 8.0 * _DENSE_COPIES * float(d) ** 2
    else:
        entries = neighbors + 1.0
        # neighbors and slots; roots of all workers and the next one; angles; what the moves need
        fixed = d * (20.0 * entries + 60.0 + 8.0 * entries * (workers + 1.0) + 60.0 + 720.0 + 200.0 * workers)
    need = _PROCESS + workers * _PART + fixed + 12.0 * draws * m
    if need > bound:
        raise InputError(
            f"{draws} joint draws of {m:,} locations need about {need / 1e9:.2g} GB, but the bound is "
            f"{bound / 1e9:.2g} GB: draw fewer, ask for fewer locations, or give a larger memory."
        )


class _Set(NamedTuple):
    """One set of parameters, and the precision of all locations at it."""

    which: int
    values: dict[str, float]
    point: Point


def simulation_task(problem: Problem, parameters: dict[str, FloatArray], warmup: int = 6) -> "SimulationTask":
    """Make the task: a sparse precision is built at middling parameters, and in an order that suits the memory."""
    middle = {
        name: float(np.median(values))
        for name, values in parameters.items()
        if name in problem.named.parameters
    }
    m = problem.d - problem.n
    rows = np.arange(m, dtype=np.intp)
    if problem.is_sparse and m > 1:
        rows = np.asarray(cKDTree(problem.X[problem.n :]).indices, dtype=np.intp)
    X = np.concatenate([problem.X[: problem.n], problem.X[problem.n :][rows]])
    whole = replace(problem, X=X, metric_at=tuple(sorted(middle.items())))
    return SimulationTask(whole, parameters, rows, warmup)


@dataclass(frozen=True, eq=False)
class SimulationTask:
    """A problem with all locations, and the parameters at which they are drawn.

    The new locations of the problem stand in the order of `rows`; what comes out is in the order of the user.

    >>> from vmqp import kernels, learning, priors
    >>> x, kernel = np.linspace(0.0, 3.0, 40)[:, None], 2.0 * kernels.Exponential(priors.LogNormal(0, 1))
    >>> problem = learning.make_problem(x[::8] + 0.01, x[::8, 0], x, kernel=kernel, concentration=0, neighbors=5)
    >>> task = simulation_task(problem, {"lengthscale": np.array([1.0, 1.5])}, warmup=1)
    >>> state, chunk = task.advance(task.start(seed=1, chain=0), 3)
    >>> task.count, chunk.angles["angle"].shape
    (2, (2, 40))
    """

    problem: Problem
    sets: dict[str, FloatArray]
    """Every learned parameter's values, (sets,)."""
    rows: npt.NDArray[np.intp]
    """Of each new location of the problem: its row among the user's new locations."""
    warmup: int = 6
    thin: int = 1

    @property
    def chunk(self) -> int:
        """One stretch at a time for many locations, some for few."""
        return int(np.clip(20_000 // max(1, self.problem.d), 1, 20))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the data, the model, the locations, the parameters and the warm-up."""
        digest = hashlib.sha256(repr((_FORMAT, self.problem.fingerprint, self.warmup)).encode())
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
        """The normalized kriging at the first set of parameters."""
        streams = seed_streams(np.random.SeedSequence(seed, spawn_key=(chain,)), 1)
        problem = self.problem
        x = self._observed()
        sampler = self._sampler(self._at(0), x)
        x[:, 0, problem.latent] = kriging_start(sampler)
        counters = start_counters(sampler, streams)
        return {
            "streams": streams,
            "latent": np.ascontiguousarray(x[:, :, problem.latent]),
            "tuning": counters.tuning,
            "iteration": np.array(0),
        }

    def _observed(self) -> FloatArray:
        """Unit vectors, (2, 1, d), of which the observed rows are filled in."""
        x = np.ones((2, 1, self.problem.d))
        x[:, 0, : self.problem.n] = np.stack([np.cos(self.problem.observed), np.sin(self.problem.observed)])
        return x

    def advance(self, state: State, iterations: int) -> tuple[State, Chunk]:
        """Make some stretches."""
        problem, first = self.problem, int(state["iteration"])
        before = problem.n - problem.latent.start  # latent angles of observed locations
        streams, tuning = state["streams"].copy(), state["tuning"]
        x = self._observed()
        x[:, :, problem.latent] = state["latent"]
        angles: list[FloatArray] = []
        fields: list[FloatArray] = []
        moved: list[float] = []
        which: list[int] = []
        for iteration in range(first, first + iterations):
            current = self._at(iteration)
            sampler = self._sampler(current, x)
            latent, tuning, acceptance = self._stretch(streams, sampler, x, tuning, iteration)
            x[:, :, problem.latent] = latent
            if iteration >= self.warmup:
                moved.append(acceptance)
                which.append(current.which)
                every = angles_of(latent)[0]
                angles.append(np.concatenate([every[:before], self._as_given(every[before:])]))
                found = fields_at(current.point, x, self._direction(current))[:, problem.n :]
                fields.append(np.stack([self._as_given(part) for part in found]))
        after = {
            "streams": streams,
            "latent": np.ascontiguousarray(x[:, :, problem.latent]),
            "tuning": tuning,
            "iteration": np.array(first + iterations),
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
        problem = self.problem
        before, m = problem.n - problem.latent.start, problem.d - problem.n
        every = np.array(angles).reshape(len(angles), before + m)
        named = ({"latent": every[:, :before]} if before else {}) | (
            {"angle": every[:, before:]} if m else {}
        )
        table = np.array(fields, dtype=np.float32).reshape(len(fields), 2, m)
        return Chunk(
            {name: values[which] for name, values in self.sets.items()},
            named,
            {"acceptance_hmc": moved},
            {"accept": acceptance},
            {"field/x": table[:, 0], "field/y": table[:, 1]} if m else {},
        )

    def _stretch(
        self, streams: Any, sampler: Hybrid, x: FloatArray, tuning: FloatArray, iteration: int
    ) -> tuple[FloatArray, FloatArray, float]:
        """Move the latent angles at one set of parameters."""
        state = AngleState(
            np.ascontiguousarray(x[:, :, self.problem.latent]),
            np.empty((0, 1, 0)),
            tuning,
            np.zeros((), np.int64),
        )
        rates: list[float] = []
        if iteration < self.warmup:  # moves of HMC that tune its step, with few sweeps between them
            for _ in range(_TUNING):
                own = state.x.copy()
                acceptance = sampler.hmc.move(streams, own, state.tuning, most=_SHORT)
                rates.append(float(acceptance.mean()))
                state = state._replace(x=own, tuning=sampler.hmc.adapt(state.tuning, acceptance))
                state = sampler.sweep(streams, state, 2)
            last = iteration == self.warmup - 1
            return state.x, frozen(state.tuning) if last else state.tuning, float(np.mean(rates))
        for _ in range(_MOVES):
            own = state.x.copy()
            rates.append(float(sampler.hmc.move(streams, own, state.tuning).mean()))
            state = state._replace(x=own)
            state = sampler.sweep(streams, state, max(_SOFT, sampler.interval(tuning)))
        return state.x, state.tuning, float(np.mean(rates))

    def _at(self, iteration: int) -> "_Set":
        """The set of parameters at an iteration, with its precision; chains of one process share it.

        Where a set has no usable factor at these locations, it is the next that has.
        """
        which = iteration % self.count
        found: _Set = remembered(self._kind, str(which), lambda: self._make_set(which))
        return found

    @property
    def _kind(self) -> str:
        return f"{self.fingerprint} root"

    def release(self) -> None:
        """Forget the precisions that this process holds."""
        forget(self._kind)

    def _make_set(self, first: int) -> "_Set":
        for which in (*range(first, self.count), *range(first)):
            values = {name: float(numbers[which]) for name, numbers in self.sets.items()}
            own = {name: value for name, value in values.items() if name in self.problem.exchanged}
            point = factorised(self.problem, self.problem.vector(own), own)
            if point is not None:
                return _Set(which, values, point)
        raise NotPositiveDefiniteError(
            "at none of the learned parameters can these locations be told apart in floating point: add a "
            "kernels.Nugget, or ask for locations that are further apart."
        )

    def _sampler(self, current: "_Set", x: FloatArray) -> Hybrid:
        """The sampler of the latent angles."""
        problem, noise = self.problem, None
        if problem.noise is not None:
            noise = problem.noise_of(current.values.get("noise", problem.noise.typical()))
        target = angles_target(problem, current.point, x, self._direction(current), noise)
        support = angles_support("hybrid", problem, current.point, target, noise)
        sampler = make_sampler("hybrid", target, support)
        assert isinstance(sampler, Hybrid)
        return sampler

    def _direction(self, current: "_Set") -> float:
        return current.values.get("direction", self.problem.direction.typical())

    def _as_given(self, values: FloatArray) -> FloatArray:
        """New locations in the order of the user."""
        result = np.empty_like(values)
        result[self.rows] = values
        return result

    def describe(self) -> Description:
        """Say what the draws are of."""
        problem = self.problem
        new = np.arange(problem.n, problem.d)
        X = problem.X.copy()
        X[problem.n + self.rows] = problem.X[problem.n :]
        places = {"angle": new} if len(new) else {}
        if problem.noise is not None:
            places["latent"] = np.arange(problem.n)
        how: dict[str, str | int | float] = {"method": SIMULATION, "warmup": self.warmup, "thin": self.thin}
        return Description(
            places,
            {"angle": problem.observed},
            {"X": X} | problem.known_noise(),
            {**problem.attributes(), **how},
            {"field/x": new, "field/y": new} if len(new) else {},
        )

    def warnings(self, stats: Arrays) -> list[str]:
        """Whether moves of HMC were accepted."""
        rates = stats.get("acceptance_hmc")
        if rates is not None and rates.size and float(rates.mean()) < _FAR_FEWER:
            return [
                f"only {100 * float(rates.mean()):.0f} % of the moves of all angles together were accepted, so that "
                "what distant locations share is drawn slowly: R-hat of the angles says whether that matters."
            ]
        return []


def kriging_start(sampler: Sampler) -> FloatArray:
    """Unit vectors along W⁻¹ρ, (2, m): the mean of a Gaussian process with the sampler's coupling and field."""
    assert isinstance(sampler, Hybrid)
    field = sampler.target.field
    mean = np.empty_like(field)
    for part in range(2):
        unwhiten(sampler.hmc.mass, field[part : part + 1], mean[part : part + 1])
    length = np.hypot(*mean)
    mean[0, length == 0.0], length[length == 0.0] = 1.0, 1.0
    return np.asarray(mean / length)
