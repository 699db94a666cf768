"""Adapted proposals of one chain: steps of a random walk, and leaps that do not look at where the chain stands.

The distributions are those of `vmqp.learning.proposals`. They are adapted in warm-up, then frozen. How many of the
proposals are leaps follows from how many were accepted: one that is accepted is worth several steps of the walk.
"""

import math

import numpy as np

from vmqp.chain import State
from vmqp.circle import FloatArray
from vmqp.learning.proposals import Adaptation, Proposal, adapted, directions, leap, start_adaptation, walk
from vmqp.learning.simple import draw_uniform
from vmqp.sampling.sampler import Streams

__all__ = ["Proposer", "start_proposer"]

_WANTED = np.array(
    [0.3, 0.4, 0.4]
)  # acceptance of steps: all coordinates, along the common scale, (not used here)
_LEAST, _MOST = 0.1, 0.85  # fraction of leaps among the proposals
_MEMORY = 0.05  # weight of the last leap in their running acceptance
_FIRST_LEAP = 100  # iterations before there is a distribution to leap by
_FIRST_VARIANCE = 0.25


class Proposer:
    """The counters of a chain's proposals; `cheap` holds the directions, (p, q), along which a move costs nothing."""

    def __init__(self, state: State, cheap: FloatArray, warmup: int) -> None:
        self._cheap, self._warmup = cheap, warmup
        self._adaptation = Adaptation(*(state[f"adaptation_{name}"] for name in Adaptation._fields))
        self._leap_rates = state["leap_rates"].copy()
        self._walked: list[list[float]] = [[], []]
        self._leapt = False
        self.acceptance = [math.nan, math.nan]
        """Of the last proposal of each kind."""
        self._blocks = directions(self._adaptation, cheap) if len(cheap) else None

    @property
    def movable(self) -> bool:
        """Whether there is anything to propose."""
        return self._blocks is not None

    def state(self) -> State:
        """Pack into arrays."""
        counters = {f"adaptation_{name}": np.asarray(v) for name, v in self._adaptation._asdict().items()}
        return counters | {"leap_rates": self._leap_rates.copy()}

    def propose(self, rng: Streams, u: FloatArray, kind: int, iteration: int) -> Proposal:
        """A new u: of all coordinates (kind 0), or along the directions that cost nothing (kind 1)."""
        assert self._blocks is not None, "there is a parameter to propose"
        block = self._blocks[kind]
        fraction = min(max(2.5 * self._leap_rates[kind], _LEAST), _MOST)
        self._leapt = iteration >= _FIRST_LEAP and draw_uniform(rng) < fraction
        if self._leapt:
            return leap(rng, u, block)
        return walk(rng, u, math.exp(self._adaptation.log_steps[kind]) * block.columns @ block.root)

    def judge(self, rng: Streams, kind: int, gain: float, iteration: int) -> bool:
        """Accept or refuse the last proposal by the gain in log density; it must follow `propose`."""
        acceptance = 0.0 if math.isnan(gain) else math.exp(min(0.0, gain))
        self.acceptance[kind] = acceptance
        if not self._leapt:
            self._walked[kind].append(acceptance)
        elif iteration < self._warmup:
            self._leap_rates[kind] += _MEMORY * (acceptance - self._leap_rates[kind])
        return bool(draw_uniform(rng) < acceptance)

    def adapt(self, u: FloatArray, iteration: int) -> None:
        """Learn from an iteration that ended at u, in warm-up."""
        if iteration < self._warmup:
            rates = np.array([np.mean(rates) if rates else math.nan for rates in self._walked] + [math.nan])
            self._adaptation = adapted(self._adaptation, u, rates, _WANTED)
            self._blocks = directions(self._adaptation, self._cheap)
        self._walked = [[], []]


def start_proposer(u: FloatArray) -> State:
    """Counters before the first iteration."""
    adaptation = start_adaptation(u, _FIRST_VARIANCE * np.eye(len(u)))
    counters = {f"adaptation_{name}": np.asarray(value) for name, value in adaptation._asdict().items()}
    return counters | {"leap_rates": np.full(2, 0.3)}
