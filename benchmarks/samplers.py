"""Effective samples per second of all samplers, on the same problems in the same run.

Every entry runs until the median over angles of its effective sample size is at least 100: short runs flatter a
frozen sampler. Where that takes less than half a minute the run goes on to 1,000, to steady the ratios. An entry that
would need more than ``LONGEST`` seconds to reach 100 is stopped and printed with "<": its true rate is lower, and a
ratio over it is a lower bound.
"""

import time
from typing import NamedTuple

import numpy as np
from arviz_stats.base import array_stats

from benchmarks.problems import problems, stations
from vmqp.model import energy
from vmqp.sampling import Target, build_sampler, seed_streams

ENOUGH = 100.0
LONGEST = 600.0
PLENTY = 1000.0
SHORT, LONG = 0.4, 30.0
FEWEST, MOST = 8_000, 9_000_000  # draws; draws times angles
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
        # Seconds of the processor, one thread: what else runs on the machine counts less.
        start = time.process_time()
        state, angles = sampler.run(rng, state, kept, thin)
        seconds = time.process_time() - start
        sizes = of_angles(angles[0])
        median = float(np.median(sizes))
        room = 4 * kept * target.size <= MOST
        steady = median >= PLENTY and (seconds >= SHORT or not room)
        if median >= ENOUGH and (steady or seconds >= LONG):
            break
        # The next run costs four times as much; a rate from a short run is too high if anything.
        hopeless = median < ENOUGH and seconds > 15.0 and seconds * ENOUGH / median > 2.0 * LONGEST
        if hopeless or 4.0 * seconds > LONGEST:
            break
        if room:
            kept *= 4
        else:  # thinning bounds the memory; it costs effective samples only where there are plenty
            thin *= 4
    level = -energy(angles[0], target.matrix(), target.field.T)
    relative = of_angles(angles[0][:, 1:] - angles[0][:, :1])
    return Rates(
        median / seconds,
        float(sizes.min()) / seconds,
        float(effective(level[:, None])[0]) / seconds,
        float(relative.min()) / seconds,
        median >= ENOUGH,
    )


def show_ratios(table: dict[str, dict[str, Rates]]) -> None:
    """The ratios that are wanted, beside what was measured."""
    paper, diagonal, local = next(iter(COMPARED)), "augmented, diagonal", "heat bath + over-relaxation"
    exponential, gaussian, stiff = (
        f"prior d=260, {k}" for k in ("exponential l=1", "Gaussian l=0.3", "Gaussian l=0.55")
    )

    def line(text: str, ratio: float, wanted: str, bound: bool = False) -> None:
        print(f"  {text:78s} {'>' if bound else ' '}{ratio:9.1f}   wanted: {wanted}")

    print("\nRatios of effective samples per second")
    for problem, wanted in ((exponential, "at least 50"), (gaussian, "at least 1000")):
        rates = table[problem]
        ratio = rates[local].median / rates[paper].median
        line(f"{local} over scalar λ, median, {problem}", ratio, wanted, not rates[paper].complete)
    rates = table[stiff]
    ratio = rates["HMC, whitened"].worst / rates[local].worst
    line(f"whitened HMC over {local}, worst angle, {stiff}", ratio, "at least 50", not rates[local].complete)
    for problem, rates in table.items():
        ratio = rates[diagonal].median / rates[paper].median
        known = rates[diagonal].complete
        line(
            f"diagonal over scalar augmentation, median, {problem}" + ("" if known else " (both frozen)"),
            ratio,
            "at least 5",
            known and not rates[paper].complete,
        )
    for problem, rates in table.items():
        for part in ("median", "worst"):
            best = max((n for n in rates if n != "hybrid"), key=lambda n: getattr(rates[n], part))
            ratio = getattr(rates[best], part) / getattr(rates["hybrid"], part)
            line(f"best single ({best}) over hybrid, {part}, {problem}", ratio, "at most 2.5")


def main() -> None:
    print(f"\nSamplers: effective samples per second, {stations()[2]}, one core")
    print("  of an angle: the smaller of those of its cosine and sine; difference: of φ_i − φ_1, the worst i")
    table: dict[str, dict[str, Rates]] = {}
    for problem, target in problems().items():
        print(
            f"\n{problem}\n  {'':34s} {'median':>10s} {'worst':>10s} {'log-density':>12s} {'difference':>11s}"
        )
        table[problem] = {}
        for label, (name, options) in COMPARED.items():
            rates = table[problem][label] = measure(target, name, options)
            mark = " " if rates.complete else "<"
            print(
                f"  {label:34s} {mark}{rates.median:9.4g} {rates.worst:10.3g} {rates.log_density:12.4g} "
                f"{rates.difference:11.3g}",
                flush=True,
            )
    show_ratios(table)
