"""Effective samples per second of the peers, of their worst parameter: the wind data, one core, after the warm-up.

Both have an exponential kernel and no nugget, as in the paper's Table 1. Beside them stands what the R package
CircSpaceTime 1.0.0, compiled C++, reached on the same data on one core of another machine; its wrapped process fails
rotation equivariance, and its projected one has not converged after 20,000 iterations.
"""

import time

import numpy as np

from benchmarks.learning import effective
from benchmarks.problems import stations
from vmqp import kernels, priors
from vmqp.learning import make_problem
from vmqp.peers.projected import ProjectedTask
from vmqp.peers.task import PeerTask
from vmqp.peers.wrapped import WrappedTask

WARMUP, DRAWS = 1000, 4000
THERE = {"wrapped": ("8 to 23", 60), "projected": ("0.03 to 0.1", 10)}


def tasks() -> dict[str, PeerTask]:
    locations, directions, _ = stations()
    left_out = np.random.RandomState(18).choice(260, 52, replace=False)
    rows = np.setdiff1d(np.arange(260), left_out)
    shape = kernels.Exponential(priors.Squared(priors.HalfNormal(1.0)))

    def problem(kernel: kernels.Kernel):
        return make_problem(locations[rows], directions[rows], kernel=kernel, concentration=0.0)

    return {
        "wrapped": WrappedTask(problem(priors.HalfNormal(1.0) * shape), WARMUP),
        "projected": ProjectedTask(problem(1.0 * shape), WARMUP, mean_scale=2.0, stretch_scale=0.5),
    }


def main() -> None:
    print(f"\nPeers: wind directions at 208 stations, one core, one chain of {DRAWS:,} draws")
    print("              iteration  ESS/iter. of the worst     ESS/s  wanted  CircSpaceTime")
    for name, task in tasks().items():
        state, _ = task.advance(task.start(seed=1, chain=0), WARMUP)
        began = time.process_time()
        state, chunk = task.advance(state, DRAWS)
        seconds = (time.process_time() - began) / DRAWS
        sizes = {key: effective(_line(key, values)) / DRAWS for key, values in chunk.parameters.items()}
        worst = min(sizes, key=lambda key: sizes[key])
        there, wanted = THERE[name]
        print(
            f"  {name:10s} {1e3 * seconds:7.2f} ms  {sizes[worst]:7.3f} ({worst:<12s})  {sizes[worst] / seconds:8.1f}"
            f"  {wanted:6d}  {there}",
            flush=True,
        )


def _line(name: str, values: np.ndarray) -> np.ndarray:
    """A direction by its sine from the mean; any other parameter as it is."""
    return np.sin(values - np.angle(np.exp(1j * values).mean())) if name == "direction" else values
