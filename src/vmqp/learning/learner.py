"""Block Gibbs over angles and parameters, as a task that runs in chunks.

One iteration, at the current parameters w = (kernel, κ, ν, χ) and angles φ:

1. the latent angles, by some steps of the chosen sampler (``eq:conditional_density``, ``eq:noisy``);
2. the direction ν, exactly; the noise χ, by Metropolis with its known normaliser;
3. one exchange move that needs a factorisation, then some along the common scale and κ, which need none.

In warm-up the proposals, the step sizes of HMC and the length of the inner chain are adapted; then they are frozen.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from vmqp.chain import Arrays, Chunk, Description, State
from vmqp.checks import check_count
from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.learning.method import Method
from vmqp.learning.optimum import Maximum
from vmqp.learning.pointwise import fields_at, log_likelihood
from vmqp.learning.problem import Problem
from vmqp.learning.pseudolikelihood import maximize
from vmqp.learning.starting import start
from vmqp.learning.walker import STATISTICS, Walker
from vmqp.sampling.angle import angles_of

__all__ = ["Learner", "doubts"]

_TOO_FEW = 0.03
_FORMAT = 2  # of the state; a change makes old checkpoints unreadable, and says so


@dataclass(frozen=True, eq=False)
class Learner:
    """A problem, a method, and how long to warm up: what `vmqp.run.run_chains` runs.

    >>> from vmqp import kernels, priors
    >>> from vmqp.learning import make_problem
    >>> problem = make_problem([[0.0], [1.0]], [0.1, 0.3], kernel=priors.HalfNormal(1) * kernels.Exponential(1.0))
    >>> learner = Learner(problem, warmup=20)
    >>> state, chunk = learner.advance(learner.start(seed=1, chain=0), 30)
    >>> chunk.parameters["variance"].shape
    (10,)
    """

    problem: Problem
    method: Method = field(default_factory=Method)
    warmup: int = 1000
    thin: int = 1
    pointwise: bool = False
    """Keep with each draw the fields at new places and the log-likelihood of each observed angle, in single precision.

    Densities and leave-one-out are made of them.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "warmup", check_count(self.warmup, "warmup", 0, "iterations that adapt"))
        object.__setattr__(self, "thin", check_count(self.thin, "thin", 1, "iterations for each draw"))
        method = self.method
        if self.problem.is_sparse and (method.sampler == "augmented" or method.bridge or method.drag):
            raise InputError(
                "the augmented sampler, bridges and dragging need a dense precision: give precision='dense' (a "
                "problem without neighbors), or a method without them."
            )
        steps = self.method.steps
        names = self.problem.exchanged
        direction = ("direction",) if "direction" in self.problem.learned else ()
        if steps is not None and len(steps) not in (len(names), len(names + direction)):
            raise InputError(
                f"the method has {len(steps)} fixed steps, but the parameters are {names + direction}: "
                "give one step for each; without one for the direction it is drawn exactly."
            )

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "maximum"}

    @cached_property
    def maximum(self) -> Maximum:
        """The maximum pseudo-likelihood on the observed places, from which chains start."""
        return maximize(self.problem)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the data, the model, the method, the warm-up and the thinning."""
        text = repr((_FORMAT, self.problem.fingerprint, self.method, self.warmup, self.thin, self.pointwise))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def chunk(self) -> int:
        """Iterations that take about a second."""
        d = self.problem.d
        seconds = 1e-3 + (3e-5 * d if self.problem.is_sparse else 1e-10 * d**3 + 5e-8 * d**2)
        return int(np.clip(1.5 / seconds, 1, 200))

    def start(self, seed: int, chain: int) -> State:
        """Return a state near the maximum pseudo-likelihood, over-dispersed between chains."""
        return start(self.problem, self.method, self.maximum, seed, chain)

    def advance(self, state: State, iterations: int) -> tuple[State, Chunk]:
        """Make some iterations."""
        problem = self.problem
        walker = Walker(problem, self.method, self.warmup, state)
        kept: list[tuple[dict[str, float], Any, list[float]]] = []
        details: list[Any] = []
        acceptance = []
        for _ in range(iterations):
            walker.iterate()
            acceptance.append(walker.statistics[:2])
            after = walker.iteration - self.warmup
            if after > 0 and after % self.thin == 0:
                angles = angles_of(np.ascontiguousarray(walker.x[:, :, problem.latent]))[0]
                kept.append((walker.parameters(), angles, walker.statistics.copy()))
                if self.pointwise:
                    details.append(self._details(walker))
        size = problem.d - problem.latent.start
        angles = np.array([draw[1] for draw in kept]).reshape(len(kept), size)
        statistics = np.array([draw[2] for draw in kept]).reshape(len(kept), len(STATISTICS))
        rates = np.array(acceptance).reshape(-1, 2)
        progress = {
            label: float(np.nanmean(rates[:, i]))
            for i, label in enumerate(("accept", "cheap"))
            if not np.isnan(rates[:, i]).all()
        }
        return walker.state(), Chunk(
            {name: np.array([draw[0][name] for draw in kept]) for name in problem.learned},
            self._named(angles),
            {name: statistics[:, i] for i, name in enumerate(STATISTICS) if name not in self._absent},
            progress,
            self._pointwise(details),
        )

    def _details(self, walker: Walker) -> FloatArray:
        """Log-likelihoods at observed places, then both parts of the fields at new ones."""
        fields = fields_at(walker.point, walker.x, walker.direction)
        likelihood = log_likelihood(self.problem, fields, walker.noise)
        return np.concatenate([likelihood, *fields[:, self.problem.n :]]).astype(np.float32)

    def _pointwise(self, details: list[Any]) -> Arrays:
        n, new = self.problem.n, self.problem.d - self.problem.n
        table = np.array(details, dtype=np.float32).reshape(len(details), n + 2 * new)
        columns = {
            "log_likelihood/angle": slice(0, n),
            "field/x": slice(n, n + new),
            "field/y": slice(n + new, None),
        }
        return {name: np.ascontiguousarray(table[:, columns[name]]) for name in self._pointwise_rows()}

    def _pointwise_rows(self) -> dict[str, Any]:
        if not self.pointwise:
            return {}
        rows, n = np.arange(self.problem.d), self.problem.n
        new = {"field/x": rows[n:], "field/y": rows[n:]} if self.problem.d > n else {}
        return {"log_likelihood/angle": rows[:n]} | new

    @cached_property
    def _absent(self) -> set[str]:
        """Statistics of blocks that this problem does not have."""
        p, q = self.problem.cheap_directions.shape
        fixed = self.method.steps is not None
        there = {
            "acceptance_factorised": p > q or fixed,
            "acceptance_cheap": q > 0 and not fixed and self.method.cheap_moves != 0,
            "acceptance_noise": "noise" in self.problem.learned,
        }
        return {name for name, present in there.items() if not present}

    def _named(self, angles: Any) -> Arrays:
        """New places, and with noise the latent angles of the observed ones."""
        n = self.problem.n
        if self.problem.noise is None:
            return {"angle": angles} if angles.shape[1] else {}
        named = {"latent": angles[:, :n]}
        return named | {"angle": angles[:, n:]} if self.problem.d > n else named

    def describe(self) -> Description:
        """Say what the draws are of."""
        problem = self.problem
        rows = np.arange(problem.d)
        places = {} if problem.d == problem.n else {"angle": rows[problem.n :]}
        if problem.noise is not None:
            places["latent"] = rows[: problem.n]
        how: dict[str, str | int | float] = {
            "method": repr(self.method),
            "warmup": self.warmup,
            "thin": self.thin,
        }
        return Description(
            places,
            {"angle": problem.observed},
            {"X": problem.X} | problem.known_noise(),
            {**problem.attributes(), **how},
            self._pointwise_rows(),
        )

    def warnings(self, stats: Arrays) -> list[str]:
        """Say whether the inner chains were long enough, and whether the parameters moved."""
        return doubts(stats)


def doubts(stats: Arrays) -> list[str]:
    """Say in sentences, from the statistics of a run, what should not be trusted."""
    sentences = []
    steps = stats.get("inner_steps")
    if steps is not None and steps.size and (steps < stats["inner_needed"]).any():
        used, needed = int(steps.min()), int(stats["inner_needed"].max())
        sentences.append(
            f"the inner chain of the exchange algorithm has {used} steps, but {needed} are needed to forget its "
            "start: the parameters are biased; give inner_steps=None, or at least that many."
        )
    moves = stats.get("acceptance_factorised")
    if moves is not None and moves.size >= 100 and float(moves.mean()) < _TOO_FEW:
        sentences.append(
            f"only {100 * float(moves.mean()):.1f} % of the proposed parameters were accepted: "
            "warm up for longer, or give bridge=5."
        )
    return sentences
