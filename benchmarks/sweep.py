"""A heat-bath sweep against one product of the same matrix with two columns, one thread."""

import time
from collections.abc import Callable

import numpy as np

from vmqp.sampling import build_sampler, make_target, seed_streams


def best_time(run: Callable[[], object], repeats: int = 7) -> float:
    """The shortest of several timings: the one least disturbed."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def sweep_time(matrix: np.ndarray, field: np.ndarray, chains: int, sweeps: int) -> float:
    """Seconds for one heat-bath sweep of one of ``chains`` chains."""
    sampler = build_sampler("heatbath", make_target(matrix, field), {"overrelax": 0})
    rng = seed_streams(1, chains)
    state = sampler.init(rng)
    return best_time(lambda: sampler.run(rng, state, 1, sweeps)) / sweeps / chains


def main() -> None:
    print("\nHeat-bath sweep against Q @ X with two columns (NumPy, one thread)")
    print("      d   product     sweep    ratio (wanted: at most 0.8)   8 chains: cost of a sweep falls by")
    rng = np.random.default_rng(0)
    for d in (260, 1000, 3000):
        matrix = rng.standard_normal((d, d)) * (5.0 / np.sqrt(d))
        matrix = 0.5 * (matrix + matrix.T)
        field = rng.standard_normal((d, 2))
        sweeps = max(2, 10_000_000 // d**2)
        product = best_time(lambda m=matrix, x=field, n=sweeps: [m @ x for _ in range(n)]) / sweeps
        one = sweep_time(matrix, field, 1, sweeps)
        eight = sweep_time(matrix, field, 8, max(2, sweeps // 4))
        note = "" if d >= 1000 else "  (not wanted at this size)"
        print(
            f"  {d:5d} {product * 1e6:7.0f} µs {one * 1e6:7.0f} µs   {one / product:5.2f}{note:31s}{one / eight:5.2f}",
            flush=True,
        )
