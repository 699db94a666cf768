"""Many places: what a sweep and a proposal cost as their number grows, and how fast angles mix there; one core.

Costs: d places uniform in the unit square, each with 20 neighbours, each d in a process of its own, so that the peaks
of memory are told apart. The product beside a sweep is SciPy's Uᵀ X with two columns.

Mixing: a smooth kernel with a long length scale and 200 observed angles, the rest new. Observed everywhere, they pin
the smooth part; observed in one corner, they leave it free, and single angles can move it only slowly. An entry with
fewer than ``ENOUGH`` effective samples of its slowest angle is printed with "<": its true rate is lower if anything,
and a ratio over it a lower bound (">"); a ratio whose upper part is one tells nothing ("~"). The warm-up of the hybrid
starts at the normalised kriging, as maps do: a random start leaves vortices on a large map, and what would be measured
is how slowly they go. Both samplers start where it ended; its probe for soft targets, many sweeps, is left out beyond
``PROBED`` places.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from threadpoolctl import threadpool_limits

from benchmarks.samplers import of_angles
from benchmarks.sweep import best_time
from vmqp import kernels
from vmqp.kernels.inputs import Inputs
from vmqp.learning.factorisation import RootedFactorisation
from vmqp.precision import KernelOnGraph, VecchiaPrecision
from vmqp.regression.simulate import kriging_start
from vmqp.sampling import Target, make_target, seed_streams
from vmqp.sampling.angle import angles_of
from vmqp.sampling.heatbath import HeatBath, sweeps
from vmqp.sampling.hybrid import Hybrid
from vmqp.sampling.sampler import Sampler, State, Streams

SIZES = (10_000, 100_000, 1_000_000)
NEIGHBOURS = 20
GROWTHS = ("at most 20", "at most 12")

OBSERVED = 200
CORNER = 0.3  # the side of the square in which angles are observed
MIXING = (  # places, where angles are observed, steps, and seconds of one sampler whatever the steps
    (10_000, "everywhere", 2000, 100.0),
    (10_000, "in a corner", 4000, 100.0),
    (100_000, "everywhere", 4000, 200.0),
    (100_000, "in a corner", 4000, 200.0),
)
WARMUP = 60  # steps; half of them with a move of HMC
PROBED = 10_000
FOLLOWED = 300  # angles
ENOUGH = 10.0


class Costs(NamedTuple):
    """Of d places: seconds, and gigabytes."""

    graph: float
    sweep: float
    step: float
    proposal: float
    product: float
    peak: float


class Rates(NamedTuple):
    """Effective samples of the slowest angle that was followed, and of the median one, a step."""

    step: float
    second: float
    median: float
    steps: int
    complete: bool


def places(d: int) -> np.ndarray:
    """Places near each other in rows near each other."""
    X = np.random.default_rng(1).random((d, 2))
    return X[cKDTree(X).indices]


def peak_memory() -> float:
    """Gigabytes at most so far; ``ru_maxrss`` of a new process would begin at the peak of its parent."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 / 1e9 if found else np.nan


def costs(d: int) -> Costs:
    """Time everything at one size, in this process."""
    kernel = 1.0 * kernels.Exponential(0.1) + kernels.Nugget(0.01)
    X = places(d)
    KernelOnGraph(kernel, Inputs.check(X[:1000], None), 0, NEIGHBOURS)  # what has to be compiled
    start = time.perf_counter()
    on_graph = KernelOnGraph(kernel, Inputs.check(X, None), 0, NEIGHBOURS)
    graph = time.perf_counter() - start

    def propose(lengthscale: float) -> VecchiaPrecision:
        values = on_graph.root({"lengthscale": lengthscale})
        assert values is not None
        return VecchiaPrecision(on_graph.graph.pattern, values)

    proposal = best_time(lambda: propose(0.11).diagonal, max(4, 50_000 // d))
    precision = propose(0.1)
    target = make_target(precision, np.zeros((d, 2)))
    rng, repeats = seed_streams(1, 1), max(7, 3_000_000 // d)
    x = HeatBath(target).init(rng).x
    sweep, step = (best_time(lambda r=r: sweeps(rng, target, x, r, 1), repeats) for r in (0, 1))
    peak = peak_memory()  # the transposed matrix is not the library's
    Ut, columns = precision.U.T.tocsr(), np.ascontiguousarray(x[:, 0].T)
    product = best_time(lambda: Ut @ columns, repeats)
    return Costs(graph, sweep, step, proposal, product, peak)


def show_costs() -> None:
    print(f"\nMany places: exponential kernel, {NEIGHBOURS} neighbours, one core, each size in a new process")
    print(
        f"  {'d':>8s} {'graph':>8s} {'sweep':>10s} {'+ reflections':>14s} {'proposal':>10s} {'U.T @ X':>9s} "
        f"{'sweep/product':>14s} {'peak':>9s}"
    )
    table: list[Costs] = []
    for d in SIZES:
        command = [sys.executable, "-m", "benchmarks.scale", str(d)]
        own = Costs(*json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        table.append(own)
        print(
            f"  {d:8d} {own.graph:6.2f} s {1e3 * own.sweep:7.1f} ms {1e3 * own.step:11.1f} ms "
            f"{1e3 * own.proposal:7.0f} ms {1e3 * own.product:6.2f} ms {own.sweep / own.product:14.2f} "
            f"{own.peak:6.2f} GB",
            flush=True,
        )
    large = table[-1]
    print(f"  {f'sweep/product at d = {SIZES[-1]}':52s} {large.sweep / large.product:6.2f}   wanted: below 8")
    print(f"  {f'peak of memory at d = {SIZES[-1]}, GB':52s} {large.peak:6.2f}   wanted: less than 8")
    for name in ("sweep", "proposal"):
        for i, wanted in enumerate(GROWTHS):
            growth = getattr(table[i + 1], name) / getattr(table[i], name)
            label = f"growth of a {name}, from d = {SIZES[i]} to {SIZES[i + 1]}"
            print(f"  {label:52s} {growth:6.1f}   wanted: {wanted}", flush=True)


def smooth_problem(d: int, where: str) -> Target:
    """New angles given those observed, which follow a smooth function."""
    X, n = places(d), OBSERVED
    inside = np.flatnonzero(X.max(axis=1) < (CORNER if where == "in a corner" else 1.0))
    seen = np.sort(np.random.default_rng(2).choice(inside, n, replace=False))
    X = np.vstack([X[seen], np.delete(X, seen, axis=0)])
    kernel = 1.0 * kernels.Matern52(0.3) + kernels.Nugget(0.05)
    on_graph = KernelOnGraph(kernel, Inputs.check(X, None), n, NEIGHBOURS)
    values = on_graph.root({})
    assert values is not None
    diagonal = VecchiaPrecision(on_graph.graph.pattern, values).diagonal
    truth = 2.0 * np.sin(5.0 * X[:, 0]) + 3.0 * X[:, 1]
    factorisation = RootedFactorisation(np.empty(0), on_graph.graph, values, diagonal, np.ones(d))
    x = np.stack([np.cos(truth), np.sin(truth)])[:, None]
    return factorisation.new_target(x, np.zeros((2, d)), n, 1.0)


def mixing(sampler: Sampler, rng: Streams, state: State, steps: int, longest: float) -> Rates:
    """Run one chain; of all its draws only some angles are kept."""
    size, chunk = sampler.target.size, max(1, 1_000_000 // sampler.target.size)
    kept, start, seconds, done = [], time.perf_counter(), 0.0, 0
    while done < steps and seconds < longest:
        state, angles = sampler.run(rng, state, chunk)
        kept.append(angles[0][:, :: size // FOLLOWED].copy())
        seconds, done = time.perf_counter() - start, done + chunk
    sizes = of_angles(np.vstack(kept))
    worst = float(sizes.min())
    return Rates(worst / done, worst / seconds, float(np.median(sizes)) / done, done, worst >= ENOUGH)


def show_mixing() -> None:
    print(f"\nMixing: Matérn 5/2 kernel, l = 0.3, nugget 0.05, {OBSERVED} angles observed, one core")
    print(f"  effective samples of the slowest of {FOLLOWED} angles; median: of the median angle, a step")
    print(f"  {'d':>8s}  {'observed':23s} {'steps':>6s} {'a step':>11s} {'a second':>11s} {'median':>10s}")
    for d, where, steps, longest in MIXING:
        target, rng = smooth_problem(d, where), seed_streams(1, 1)
        hybrid, local = Hybrid(target), HeatBath(target)
        start = np.arctan2(*kriging_start(hybrid)[::-1])[None]
        state = hybrid.tune(rng, hybrid.init(rng, start), WARMUP, 2)
        state = hybrid.freeze(rng, state) if d <= PROBED else hybrid.warm_up(rng, state, 0)
        better = mixing(hybrid, rng, state, steps, longest)
        base = mixing(local, rng, local.init(rng, angles_of(state.x)), steps, longest)
        for label, own in (("heat bath", base), ("hybrid", better)):
            mark = " " if own.complete else "<"
            print(
                f"  {d:8d}  {where:12s} {label:10s} {own.steps:6d} {mark}{own.step:10.3g} {mark}{own.second:10.3g} "
                f"{own.median:10.3g}"
            )
        mark = "~" if not better.complete else " " if base.complete else ">"
        print(
            f"  {'hybrid over heat bath':>40s} {mark}{better.step / base.step:10.1f} "
            f"{mark}{better.second / base.second:10.1f} {better.median / base.median:10.1f}",
            flush=True,
        )


def main() -> None:
    show_costs()
    show_mixing()


if __name__ == "__main__":
    with threadpool_limits(1):
        print(json.dumps(costs(int(sys.argv[1]))))
