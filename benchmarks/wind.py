"""The wind data, a fifth of the stations held out: posterior means and scores of the noiseless model.

The circular CRPS of a place is E d(φ, y) − ½ E d(φ, φ′) with d(a, b) = 1 − cos(a − b); over draws the second term
is ½ (1 − R²), R the length of their mean vector. The priors are the paper's.
"""

import time

import numpy as np
from arviz_stats.base import array_stats

from benchmarks.learning import WORST, wind
from vmqp import kernels
from vmqp.learning import Learner
from vmqp.run import run_chains

WANTED = {
    kernels.Exponential: "0.052 ± 0.001; σ² 0.47, l 0.89, κ 2.1",
    kernels.Gaussian: "0.059 ± 0.001; σ² 1.2, l 0.25, κ 4.4",
}


def crps(angles: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Of draws (draws, places) against the directions that were held out."""
    spread = 0.5 * (1.0 - np.abs(np.exp(1j * angles).mean(axis=0)) ** 2)
    return (1.0 - np.cos(angles - truth)).mean(axis=0) - spread


def main() -> None:
    print("\nWind data, 52 of 260 stations held out, no noise, the paper's priors: 4 chains of 2,500 draws")
    for kind, wanted in WANTED.items():
        problem, truth = wind(kind)
        began = time.perf_counter()
        tree = run_chains(Learner(problem), draws=2500, seed=18, progress=False)
        draws = {name: tree.posterior[name].values for name in WORST}
        rhat = max(float(array_stats.rhat(values, chain_axis=0, draw_axis=1)) for values in draws.values())
        score = crps(tree.posterior["angle"].values.reshape(-1, len(truth)), truth).mean()
        numbers = ", ".join(
            f"{mark} {draws[name].mean():.3f}" for name, mark in zip(WORST, "σlκ", strict=True)
        )
        print(
            f"  {kind.__name__:12s} CRPS {score:.4f}; {numbers.replace('σ', 'σ²', 1)}; R-hat at most {rhat:.4f}; "
            f"{time.perf_counter() - began:.0f} s"
        )
        print(f"  {'wanted':12s} {wanted}; R-hat below 1.01", flush=True)
