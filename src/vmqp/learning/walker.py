"""One chain on its way: its state unpacked, with the matrices at the current parameters.

Everything beside the state's arrays is a function of them, so a chain that is put down and taken up again goes on
as if nothing had happened.
"""

import math

import numpy as np
import numpy.typing as npt

from vmqp.chain import State
from vmqp.circle import FloatArray
from vmqp.learning.exchange import Present, exchange
from vmqp.learning.inner import needed_steps
from vmqp.learning.method import Method
from vmqp.learning.moves import Counters, angles_support, fields_support, make_sampler, move
from vmqp.learning.point import (
    Point,
    angles_target,
    energy,
    factorised,
    fields_target,
    mass_noise,
    rescaled,
    sums,
)
from vmqp.learning.problem import Noise, Problem
from vmqp.learning.proposals import Adaptation, Proposal, adapted, directions, leap, walk
from vmqp.learning.simple import draw_direction, draw_uniform, move_noise
from vmqp.sampling.hybrid import Hybrid
from vmqp.sampling.sampler import Sampler
from vmqp.sampling.sampler import State as AngleState

__all__ = ["STATISTICS", "Walker"]

STATISTICS = (
    "acceptance_factorised",
    "acceptance_cheap",
    "acceptance_noise",
    "inner_steps",
    "inner_needed",
    "energy",
)
_PROBES = (0.1, 0.3, 0.5, 0.75, 1.0)  # shares of the warm-up at which the inner chain's length is measured
_LEAST_LEAPS, _MOST_LEAPS = (
    0.1,
    0.85,
)  # shares of leaps among the proposals, between which their acceptance decides
_LEAP_MEMORY = 0.05  # weight of the last leap in their running acceptance
_FIRST_LEAP = 50  # iterations before there is a law to leap by
_AFRESH = 20  # iterations after which inner chains set out from equal angles again
_FROM_EQUAL = 2  # times the length that is needed, where inner chains start from equal angles
_GUESS = 10
_LASTING = 3  # the last so many probes decide


class Walker:
    """The moves of one chain, on its own copy of a state."""

    def __init__(self, problem: Problem, method: Method, warmup: int, state: State) -> None:
        self.problem, self.method, self.warmup = problem, method, warmup
        self.rng = state["streams"].copy()
        self.x, self.fictitious = state["x"].copy(), state["fictitious"].copy()
        self.direction = float(state["direction"])
        self.noise_u = float(state["noise"])
        self.iteration = int(state["iteration"])
        self.adaptation = Adaptation(*(state[f"adaptation_{name}"] for name in Adaptation._fields))
        self.outer = Counters(state["outer_tuning"], state["outer_steps"])
        self.inner = Counters(state["inner_tuning"], state["inner_steps"])
        self.probes, self.leap_rates = state["probes"].copy(), state["leap_rates"].copy()
        self.needed = _needed(self.probes)
        self.statistics = [math.nan] * len(STATISTICS)
        u = state["u"]
        base = factorised(problem, state["base"], problem.values(state["base"]))
        point = None if base is None else rescaled(problem, base, u, problem.values(u))
        assert point is not None, "the state's parameters have a factor"
        self.point: Point = point
        self.known = sums(point.base, self.x)
        self.log_prior = problem.log_prior(u)
        self._walks_direction = method.steps is not None and len(method.steps) > len(u)
        self._support: tuple[object, ...] | None = None
        self._directions = directions(self.adaptation, problem.cheap_directions)

    def state(self) -> State:
        """Pack the chain into arrays."""
        arrays = {
            "streams": self.rng.copy(),
            "x": self.x.copy(),
            "fictitious": self.fictitious.copy(),
            "u": self.point.u.copy(),
            "base": self.point.base.u.copy(),
            "direction": np.array(self.direction),
            "noise": np.array(self.noise_u),
            "iteration": np.array(self.iteration),
            "outer_tuning": self.outer.tuning,
            "outer_steps": self.outer.steps,
            "inner_tuning": self.inner.tuning,
            "inner_steps": self.inner.steps,
            "probes": self.probes.copy(),
            "leap_rates": self.leap_rates.copy(),
        }
        arrays |= {f"adaptation_{name}": value for name, value in self.adaptation._asdict().items()}
        return {name: np.asarray(value) for name, value in arrays.items()}

    @property
    def noise(self) -> Noise:
        """χ, or None for a model without noise."""
        if self.problem.noise is None:
            return None
        if self.problem.noise.is_fixed:
            return self.problem.noise_of(self.problem.noise.typical())
        return float(self.problem.noise.from_unconstrained(self.noise_u))

    @property
    def inner_length(self) -> int:
        """Steps of the inner chain."""
        return self.needed if self.method.inner_steps is None else self.method.inner_steps

    def parameters(self) -> dict[str, float]:
        """All learned parameters by name."""
        values = self.problem.values(self.point.u)
        if "direction" in self.problem.learned:
            values["direction"] = self.direction
        if "noise" in self.problem.learned:
            values["noise"] = float(self.noise)  # type: ignore[arg-type]  # learned, so one number
        return values

    def iterate(self) -> None:
        """One iteration of all blocks."""
        adapting = self.iteration < self.warmup
        self._move_angles(adapting)
        acceptance = np.full(3, math.nan)
        if "direction" in self.problem.learned and not self._walks_direction:
            self.direction = draw_direction(self.rng, self.point, self.known)
        if "noise" in self.problem.learned:
            step = math.exp(self.adaptation.log_steps[2])
            self.noise_u, acceptance[2] = move_noise(self.rng, self.problem, self.x, self.noise_u, step)
        self._walked: tuple[list[float], list[float]] = [], []
        for kind, rates in enumerate(self._move_parameters(adapting)):
            acceptance[kind] = _mean(rates)
        if adapting:
            self._adapt(np.array([*map(_mean, self._walked), acceptance[2]]))
        self.iteration += 1
        level = energy(self.point, self.known, self.direction)
        self.statistics = [*acceptance.tolist(), float(self.inner_length), float(self.needed), level]

    def _move_angles(self, adapting: bool) -> None:
        latent = self.problem.latent
        if latent.start == self.problem.d:
            return
        sampler = self._angle_sampler()
        steps = self.inner_length if self.method.outer_steps is None else self.method.outer_steps
        start = np.ascontiguousarray(self.x[:, :, latent])
        moved, self.outer = move(self.rng, sampler, start, self.outer, steps, adapting)
        self.x = self.x.copy()
        self.x[:, :, latent] = moved
        self.known = sums(self.point.base, self.x)

    def _angle_sampler(self) -> Sampler:
        """The sampler of the latent angles; what it needs of the matrices is kept while they stay the same."""
        noise, kind = self.noise, self.method.sampler
        target = angles_target(self.problem, self.point, self.x, self.direction, noise)
        key = (self.point.base, self.point.scale, None if noise is None else mass_noise(noise).tobytes())
        if self._support is None or self._support[0] is not key[0] or self._support[1:3] != key[1:]:
            self._support = (*key, angles_support(kind, self.problem, self.point, target, noise))
        return make_sampler(kind, target, self._support[3])  # type: ignore[arg-type]

    def _move_parameters(self, adapting: bool) -> list[list[float]]:
        """Exchange moves; return the acceptance of each with a factorisation, and of each without."""
        if self.method.steps is not None:
            return [[self._fixed_walk(np.array(self.method.steps), adapting)], []]
        p, q = self.problem.cheap_directions.shape
        first = [self._move(0, adapting)] if p > q else []
        return [first, [self._move(1, adapting) for _ in range(self._cheap_moves() if q else 0)]]

    def _fixed_walk(self, steps: FloatArray, adapting: bool) -> float:
        """A joint step of all parameters, with ν where it has a step of its own: the paper's proposals."""
        p = len(self.point.u)
        with_direction = walk(self.rng, np.append(self.point.u, self.direction)[: len(steps)], np.diag(steps))
        direction = float(with_direction.u[p]) if len(steps) > p else self.direction
        return self._attempt(Proposal(with_direction.u[:p], 0.0), True, adapting, direction)

    def _move(self, kind: int, adapting: bool) -> float:
        """Walk or leap; return the acceptance."""
        block = self._directions[kind]
        # A leap that is accepted is worth several steps of the walk; where few are, the walk has to do.
        share = min(max(2.5 * self.leap_rates[kind], _LEAST_LEAPS), _MOST_LEAPS)
        if self.iteration >= _FIRST_LEAP and draw_uniform(self.rng) < share:
            acceptance = self._attempt(leap(self.rng, self.point.u, block), kind == 0, adapting)
            if adapting:
                self.leap_rates[kind] += _LEAP_MEMORY * (acceptance - self.leap_rates[kind])
            return acceptance
        columns = math.exp(self.adaptation.log_steps[kind]) * block.columns @ block.root
        acceptance = self._attempt(walk(self.rng, self.point.u, columns), kind == 0, adapting)
        if adapting:
            self._walked[kind].append(acceptance)
        return acceptance

    def _cheap_moves(self) -> int:
        """Moves that need no factorisation: up to six, while their inner chains take a small share of its work."""
        if self.method.cheap_moves is not None:
            return self.method.cheap_moves
        if self.problem.is_sparse:
            return 1
        d = self.problem.d
        # In operations of a sweep; the first number stands for what does not grow with d.
        factorisation = 37e6 + 0.13 * d**3 + 55.0 * d**2
        sweeps = self.inner_length * d * (2.0 * d + 180.0)
        return int(np.clip(factorisation / (13.0 * sweeps), 1, 6))

    def _attempt(
        self, proposal: Proposal, new_factor: bool, adapting: bool, direction: float | None = None
    ) -> float:
        """One exchange move, of ν too where one is given; return its probability of acceptance."""
        u, direction = proposal.u, self.direction if direction is None else direction
        values = self.problem.values(u)
        level = self.problem.log_prior(u, values)
        if not level > -np.inf:
            return 0.0
        there = (
            factorised(self.problem, u, values)
            if new_factor
            else rescaled(self.problem, self.point, u, values)
        )
        if there is None:
            return 0.0
        here = Present(self.point, self.x, self.known, self.direction, self.noise)
        start, length = self._inner_start(direction)
        outcome = exchange(
            self.rng, self.problem, self.method, here, there, direction, start, length, self.inner, adapting
        )
        self.fictitious, self.inner = outcome.fictitious, outcome.counters
        log_ratio = level - self.log_prior + proposal.log_back + outcome.log_ratio
        acceptance = math.exp(min(0.0, log_ratio)) if log_ratio > -745.0 else 0.0
        if draw_uniform(self.rng) < acceptance:
            self.point, self.x, self.known, self.log_prior = there, outcome.x, outcome.known, level
            self.direction = math.remainder(direction, 2.0 * math.pi)
        return acceptance

    def _inner_start(self, direction: float) -> tuple[FloatArray, int]:
        """Angles from which an inner chain sets out, and its length."""
        length = self.inner_length
        if self.method.inner_start == "angles":
            return self.x, length
        # A field can hold a kink, or a winding along a closed curve of places, for longer than any chain. Parameters
        # that were accepted by its help would be kept for good, if it were never given up.
        if self.method.inner_start == "persistent" and self.iteration % _AFRESH:
            return self.fictitious, length
        start = equal_angles(self.x, direction, self.problem.no_drift)
        return start, length if self.method.inner_steps is not None else _FROM_EQUAL * length

    def _adapt(self, acceptance: FloatArray) -> None:
        wanted = np.array([*self._wanted(), 0.44])
        self.adaptation = adapted(self.adaptation, self.point.u, acceptance, wanted)
        self._directions = directions(self.adaptation, self.problem.cheap_directions)
        done = self.iteration + 1
        for k, share in enumerate(_PROBES):
            if done == max(1, round(share * self.warmup)):
                self._probe(k)
        if done == self.warmup:
            self._freeze()

    def _wanted(self) -> tuple[float, float]:
        """Wanted acceptance: that of a random walk in so many dimensions, less the noise of the exchange."""
        p, q = self.problem.cheap_directions.shape
        rates = {0: 0.3, 1: 0.3, 2: 0.25}
        return rates.get(p - q, 0.2), rates.get(q, 0.2)

    def _fields_sampler(self) -> Sampler:
        target = fields_target(self.point, self.direction)
        return make_sampler(self.method.sampler, target, fields_support(self.method.sampler, self.point))

    def _probe(self, k: int) -> None:
        """Measure the length that the inner chain needs, with a chain that is then thrown away."""
        nothing = np.empty((0, 1, self.problem.d))
        state = AngleState(self.fictitious.copy(), nothing, self.inner.tuning, self.inner.steps)
        self.probes[k] = needed_steps(
            self.rng, self.problem, self.point, self.direction, self._fields_sampler(), state
        )
        self.needed = _needed(self.probes)

    def _freeze(self) -> None:
        """End the adaptation of both HMC samplers."""
        for name in ("inner", "outer"):
            counters: Counters = getattr(self, name)
            inner = name == "inner"
            if not inner and self.problem.latent.start == self.problem.d:
                continue
            sampler = self._fields_sampler() if inner else self._angle_sampler()
            if not isinstance(sampler, Hybrid):
                continue
            x = self.fictitious if inner else np.ascontiguousarray(self.x[:, :, self.problem.latent])
            state = AngleState(x, np.empty((0, 1, x.shape[2])), counters.tuning, counters.steps)
            state = sampler.freeze(self.rng, state)
            setattr(self, name, Counters(state.tuning, state.steps))


def equal_angles(x: FloatArray, direction: float, no_drift: bool) -> FloatArray:
    """Unit vectors that all point to ν, or without a drift along the sum of all angles: they turn with the data."""
    aim = np.angle(x[0].sum() + 1j * x[1].sum()) if no_drift else direction
    result = np.empty_like(x)
    result[0], result[1] = np.cos(aim), np.sin(aim)
    return result


def _needed(probes: npt.NDArray[np.int64]) -> int:
    """Steps that the inner chain needs, from the last probes; before the first, a guess."""
    known = probes[probes > 0][-_LASTING:]
    return int(known.max()) if len(known) else _GUESS


def _mean(rates: list[float]) -> float:
    return sum(rates) / len(rates) if rates else math.nan
