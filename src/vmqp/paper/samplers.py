"""The samplers of figures 3 and 4: chains of the log-density, what a step costs, and what it is worth."""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from vmqp.circle import FloatArray
from vmqp.model import log_density_unnormalised
from vmqp.sampling import Sampler, State, Target, build_sampler, seed_streams
from vmqp.sampling.sampler import Streams
from vmqp.scores import relative_ess

__all__ = ["OURS", "PAPER", "SAMPLERS", "Kind", "chains", "gain", "step_time"]


class Kind(NamedTuple):
    """A sampler of the angles with its options."""

    name: str
    options: Mapping[str, Any]


PAPER = "augmented Gibbs, λ (paper)"
OURS = "hybrid (our default)"
SAMPLERS: dict[str, Kind] = {
    PAPER: Kind("augmented", {"scaling": "scalar"}),
    "sequential Gibbs": Kind("heatbath", {"overrelax": 0}),
    "HMC": Kind("hmc", {}),
    "HMC, augmented": Kind("hmc-augmented", {"scaling": "scalar"}),
    "augmented Gibbs, diagonal": Kind("augmented", {"scaling": "diagonal"}),
    "heat bath + over-relaxation": Kind("heatbath", {"overrelax": 1}),
    OURS: Kind("hybrid", {}),
    "HMC, whitened": Kind("hmc-whitened", {}),
}
"""The paper's four, then ours."""


def chains(
    target: Target, kind: Kind, *, draws: int, thin: int = 1, count: int = 4, seed: int = 0
) -> FloatArray:
    """Return the log-density (``eq:conditional_density``) along `count` chains after their warm-up, (count, draws)."""
    sampler = build_sampler(kind.name, target, dict(kind.options))
    rng = seed_streams(seed, count)
    with threadpool_limits(1):
        state = sampler.warm_up(rng, sampler.init(rng), sampler.default_warmup)
        _, angles = sampler.run(rng, state, draws, thin)
    return np.asarray(log_density_unnormalised(angles, target.matrix(), target.field.T))


def step_time(target: Target, kind: Kind, *, runs: int = 7, seconds: float = 0.03) -> float:
    """CPU seconds of one step of one chain: the best of several short runs, the one least disturbed by others."""
    sampler = build_sampler(kind.name, target, dict(kind.options))
    rng = seed_streams(1, 1)
    with threadpool_limits(1):
        state = sampler.warm_up(rng, sampler.init(rng), sampler.default_warmup)
        steps = 100
        while _spent(sampler, rng, state, steps) < seconds:
            steps *= 2
        return min(_spent(sampler, rng, state, steps) for _ in range(runs)) / steps


def _spent(sampler: Sampler, rng: Streams, state: State, steps: int) -> float:
    begin = time.process_time()
    sampler.run(rng, state, steps)
    return time.process_time() - begin


def gain(values: FloatArray) -> tuple[float, float]:
    """Relative effective sample size (``eq:RESS``) of several chains: their mean, and its standard error."""
    each = np.array([relative_ess(chain) for chain in values])
    return float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))
