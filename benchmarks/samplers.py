"""Effective samples per second of all samplers, on the same problems in the same run.

Every entry runs until the median over angles of its effective sample size is at least 100: short runs flatter a
frozen sampler. Where that takes less than half a minute the run goes on to 1,000, to steady the ratios. An entry that
would need more than ``LONGEST`` seconds to reach 100 is stopped and printed with "<": its true rate is lower, and a
ratio over it is a lower bound. The long run gives effective samples a step; the time of a step is the best of several
short runs, the one least disturbed by whatever else the machine does.
"""

import time
from typing import NamedTuple

import numpy as np
from arviz_stats.base import array_stats

from benchmarks.problems import problems, stations
from benchmarks.sweep import best_time
from vmqp.model import energy
from vmqp.sampling import Target, build_sampler, seed_streams

ENOUGH = 100.0
LONGEST = 400.0
PLENTY = 1000.0
SHORT, LONG = 0.4, 30.0
FEWEST, MOST = 8_000, 9_000_000  # draws; draws times angles
LOCAL_OVER_PAPER = {
    "prior d=260, exponential l=1": "at least 50",
    "prior d=260, Gaussian l=0.3": "at least 1000",
}
STIFF = "prior d=260, Gaussian l=0.55"
COMPARED = {
    "augmented, scalar λ (the paper's)": ("augmented", {"scaling": "scalar"}),
    "augmented, diagonal": ("augmented", {}),
    "heat bath": ("heatbath", {"overrelax": 0}),
    "heat bath + over-relaxation": ("heatbath", {}),
    "HMC": ("hmc", {}),
    "HMC, augmented": ("hmc-augmented", {}),
    "HMC, whitened": ("hmc-whitened", {}),
    "hybrid": ("hybrid", {}),
}


class Rates(NamedTuple):
    """Effective samples per second."""

    median: float
    worst: float
    log_density: float
    difference: float
    complete: bool


def effective(series: np.ndarray) -> np.ndarray:
    """Effective sample size of each column of (draws, columns)."""
    return np.array([array_stats.ess(s[None], chain_axis=0, draw_axis=1, method="mean") for s in series.T])


def of_angles(angles: np.ndarray) -> np.ndarray:
    """The smaller of the effective sizes of cosine and sine, for each angle."""
    return np.minimum(effective(np.cos(angles)), effective(np.sin(angles)))


def measure(target: Target, name: str, options: dict[str, object]) -> Rates:
    """Run one sampler until its median effective sample size is enough."""
    sampler = build_sampler(name, target, options)
    rng = seed_streams(1, 1)
    state = sampler.warm_up(rng, sampler.init(rng), sampler.default_warmup)
    state, _ = sampler.run(rng, state, 10)
    kept, thin = FEWEST, 1
    while True:
        start = time.perf_counter()
        state, angles = sampler.run(rng, state, kept, thin)
        seconds = time.perf_counter() - start
        sizes = of_angles(angles[0])
        median = float(np.median(sizes))
        room = 4 * kept * target.size <= MOST
        steady = median >= PLENTY and (seconds >= SHORT or not room)
        if median >= ENOUGH and (steady or seconds >= LONG):
            break
        # The next run costs four times as much; a rate from a short run is too high if anything.
        hopeless = median < ENOUGH and seconds > 15.0 and seconds * ENOUGH / median > LONGEST
        if hopeless or 4.0 * seconds > LONGEST:
            break
        if room:
            kept *= 4
        else:  # thinning bounds the memory; it costs effective samples only where there are plenty
            thin *= 4
    # At least 200 steps and a twentieth of a second, so that trajectories of all lengths are among them.
    some = min(kept, 1 + max(200 // thin, int(0.05 * kept / seconds)))
    seconds = kept * best_time(lambda: sampler.run(rng, state, some, thin), 15) / some
    level = -energy(angles[0], target.matrix(), target.field.T)
    relative = of_angles(angles[0][:, 1:] - angles[0][:, :1])
    return Rates(
        median / seconds,
        float(sizes.min()) / seconds,
        float(effective(level[:, None])[0]) / seconds,
        float(relative.min()) / seconds,
        median >= ENOUGH,
    )


def show_ratios(problem: str, rates: dict[str, Rates]) -> None:
    """The ratios that are wanted on this problem, beside what was measured."""
    paper, diagonal, local = next(iter(COMPARED)), "augmented, diagonal", "heat bath + over-relaxation"

    def line(text: str, ratio: float, wanted: str, bound: bool = False) -> None:
        print(f"  {text:64s} {'>' if bound else ' '}{ratio:9.1f}   wanted: {wanted}", flush=True)

    print("  ratios")
    for name, wanted in LOCAL_OVER_PAPER.items():
        if name == problem:
            ratio = rates[local].median / rates[paper].median
            line(f"{local} over scalar λ, median", ratio, wanted, not rates[paper].complete)
    if problem == STIFF:
        ratio = rates["HMC, whitened"].worst / rates[local].worst
        line(f"whitened HMC over {local}, worst", ratio, "at least 50", not rates[local].complete)
    if rates[diagonal].complete:
        ratio = rates[diagonal].median / rates[paper].median
        line("diagonal over scalar augmentation, median", ratio, "at least 5", not rates[paper].complete)
    else:
        print("  diagonal over scalar augmentation: both are frozen here")
    for part in ("median", "worst"):
        single = {name: getattr(rate, part) for name, rate in rates.items() if name != "hybrid"}
        best = max(single, key=lambda name: single[name])
        line(
            f"{best} (best) over hybrid, {part}", single[best] / getattr(rates["hybrid"], part), "at most 2.5"
        )


def main() -> None:
    print(f"\nSamplers: effective samples per second, {stations()[2]}, one core")
    print("  of an angle: the smaller of those of its cosine and sine; difference: of φ_i − φ_1, the worst i")
    for problem, target in problems().items():
        print(
            f"\n{problem}\n  {'':34s} {'median':>10s} {'worst':>10s} {'log-density':>12s} {'difference':>11s}"
        )
        table: dict[str, Rates] = {}
        for label, (name, options) in COMPARED.items():
            rates = table[label] = measure(target, name, options)
            mark = " " if rates.complete else "<"
            print(
                f"  {label:34s} {mark}{rates.median:9.4g} {rates.worst:10.3g} {rates.log_density:12.4g} "
                f"{rates.difference:11.3g}",
                flush=True,
            )
        show_ratios(problem, table)
