"""Figure 4 (``fig:sampler_performace``): autocorrelation of the log-density at equal CPU time, ours beside the paper's.

Every sampler gets the same CPU time for a kept sample: the time of a step is measured, and the faster samplers make
several steps for each sample. Autocorrelation is better where it is lower, so a second panel has effective samples for
each CPU second, where better stands higher. HMC runs trajectory by trajectory from Python, which costs it some 10 µs
each; the other loops are compiled whole.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from vmqp.circle import FloatArray
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.samplers import OURS, PAPER, SAMPLERS, chains, gain, step_time
from vmqp.paper.synthetic import LONGER, TYPICAL, target
from vmqp.plots.lags import mean_autocorrelation
from vmqp.plots.style import COLOURS, DASHES
from vmqp.sampling import Target

__all__ = ["make"]

SHORT = TYPICAL["lengthscale"]
SETTINGS: dict[str, tuple[int, dict[str, float]]] = {
    f"m = 10, l = {LONGER}": (10, {"lengthscale": LONGER}),
    f"m = 40, l = {SHORT}": (40, {}),
    f"m = 10, l = {SHORT} (weak coupling)": (10, {}),
}
"""The paper's m where the coupling is felt; four times as many places; and where every step is nearly independent."""
LAGS = 20


class _Row(NamedTuple):
    setting: str
    sampler: str
    step_microseconds: float
    thin: int
    relative_ess_per_step: float
    standard_error: float
    ess_per_cpu_second: float
    autocorrelation_lag1: float


def make(setting: Setting) -> Outcome:
    """Time, thin and run all samplers on all settings."""
    draws, kept = (3_000, 600) if setting.quick else (30_000, 5_000)
    rows: list[_Row] = []
    lags: dict[tuple[str, str], FloatArray] = {}
    for label, (m, changed) in SETTINGS.items():
        density = target(m, **changed)
        times = {name: step_time(density, kind) for name, kind in SAMPLERS.items()}
        for name in SAMPLERS:
            row, correlation = _measure(setting, density, (label, name), times, draws, kept)
            rows.append(row)
            lags[label, name] = correlation
    table = pd.DataFrame(rows)
    curves = pd.DataFrame({"lag": np.arange(LAGS + 1)} | {f"{a}: {b}": line for (a, b), line in lags.items()})
    ratios = {label: _ratio(table, label) for label in SETTINGS}
    first = next(iter(SETTINGS))
    return Outcome(
        figures={"fig4": _draw(table, lags)},
        tables={"fig4": table, "fig4-autocorrelation": curves},
        paper=(
            "Autocorrelation of the log-density at equal CPU time for each sample, m = 10, under Gibbs sampling and "
            "HMC on the plain and on the augmented density. The paper prefers the augmented Gibbs sampler, which needs "
            "no tuning, and says that a tuned HMC can do better in some cases, notably for large m."
        ),
        ours="; ".join(_sentence(table, label, ratios[label]) for label in SETTINGS) + ".",
        agrees=_verdict(table, first, ratios),
        length=(
            f"Four chains of {draws:,} steps for the effective samples and of {kept:,} samples for the "
            "autocorrelation, after warm-up. The paper does not state its length."
        ),
        facts={
            "draws": draws,
            "kept": kept,
            "chains": 4,
            **{f"ess_per_second_ours_over_paper, {label}": ratio for label, ratio in ratios.items()},
            **{f"parameter_{name}": value for name, value in TYPICAL.items()},
        },
    )


def _measure(
    setting: Setting,
    density: Target,
    names: tuple[str, str],
    times: dict[str, float],
    draws: int,
    kept: int,
) -> tuple[_Row, FloatArray]:
    """One sampler: the worth of its step, and the autocorrelation of samples that cost what the dearest step costs."""
    label, name = names
    kind, own = SAMPLERS[name], times[name]
    thin = max(1, round(max(times.values()) / own))
    worth, error = gain(chains(density, kind, draws=draws, seed=setting.seed))
    values = chains(density, kind, draws=kept, thin=thin, seed=setting.seed + 1)
    correlation = mean_autocorrelation(values, LAGS)
    row = _Row(label, name, 1e6 * own, thin, worth, error, worth / own, float(correlation[1]))
    return row, correlation


def _rate(table: pd.DataFrame, label: str, name: str) -> float:
    rows = table[(table["setting"] == label) & (table["sampler"] == name)]
    return float(rows["ess_per_cpu_second"].iloc[0])


def _ratio(table: pd.DataFrame, label: str) -> float:
    return _rate(table, label, OURS) / _rate(table, label, PAPER)


def _sentence(table: pd.DataFrame, label: str, ratio: float) -> str:
    own = table[table["setting"] == label].set_index("sampler")
    lag = own["autocorrelation_lag1"]
    best = str(own["ess_per_cpu_second"].idxmax())
    return (
        f"{label}: at equal CPU time the autocorrelation at lag 1 is {lag[PAPER]:.3f} for the paper's sampler and "
        f"{lag[OURS]:.3f} for our default, which makes {_rate(table, label, OURS):,.0f} effective samples a CPU second "
        f"against {_rate(table, label, PAPER):,.0f}, {ratio:.3g} times as many; the most are made by {best} "
        f"({_rate(table, label, best):,.0f})"
    )


def _verdict(table: pd.DataFrame, label: str, ratios: dict[str, float]) -> str:
    rates = {name: _rate(table, label, name) for name in SAMPLERS}
    ahead = [name for name in ("sequential Gibbs", "HMC", "HMC, augmented") if rates[name] > rates[PAPER]]
    times = ", ".join(f"{ratio:.3g} times at {name}" for name, ratio in ratios.items())
    ours = f"Effective samples a CPU second of our default beside the paper's: {times}."
    if not ahead:
        return f"yes: of the paper's four samplers the augmented Gibbs sampler is the best here too. {ours}"
    return (
        f"in part: at {label} the augmented Gibbs sampler is ahead of the paper's others except "
        f"{' and '.join(ahead)}; sweeps are one compiled loop here. {ours}"
    )


def _draw(table: pd.DataFrame, lags: dict[tuple[str, str], FloatArray]) -> Figure:
    figure = Figure(figsize=(14.0, 8.0), layout="constrained")
    grid = figure.subplots(2, len(SETTINGS), squeeze=False)
    for place, label in enumerate(SETTINGS):
        for number, name in enumerate(SAMPLERS):
            _line(grid[0, place], lags[label, name], number, name)
        grid[0, place].set_title(label)
        _bars(grid[1, place], table[table["setting"] == label])
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, handlelength=3.6)
    return figure


def _look(number: int, name: str) -> dict[str, object]:
    marker = {PAPER: "s", OURS: "o"}.get(name)
    return {
        "color": COLOURS[number % len(COLOURS)] if number < len(COLOURS) else "0.55",
        "linestyle": DASHES[number % len(DASHES)],
        "linewidth": 2.4 if marker else 1.4,
        "marker": marker,
        "markersize": 5,
    }


def _line(ax: Axes, correlation: FloatArray, number: int, name: str) -> None:
    ax.plot(correlation, label=name, **_look(number, name))  # type: ignore[arg-type]
    ax.axhline(0.0, color="0.5", linewidth=0.8, zorder=0)
    ax.set_xlim(0, LAGS)
    ax.xaxis.set_major_locator(MultipleLocator(5))
    ax.set_ylim(-0.08, 1.02)
    ax.set_xlabel("lag, in samples of equal CPU time (lower is better)")
    ax.set_ylabel("autocorrelation of the log-density")


def _bars(ax: Axes, own: pd.DataFrame) -> None:
    for number, row in enumerate(own.itertuples()):
        emphasis = row.sampler in (PAPER, OURS)
        ax.bar(
            number,
            row.ess_per_cpu_second,
            color=_look(number, str(row.sampler))["color"],
            alpha=1.0 if emphasis else 0.6,
            edgecolor="black",
            linewidth=1.6 if emphasis else 0.5,
        )
        ax.annotate(
            _short(row.ess_per_cpu_second),
            (number, row.ess_per_cpu_second),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    ax.set_yscale("log")
    ax.margins(y=0.12)
    ax.set_xticks(range(len(own)), list(own["sampler"]), rotation=35, ha="right", fontsize=8)
    ax.set_ylabel("effective samples a CPU second\n(higher is better)")


def _short(count: float) -> str:
    """A number over its bar.

    >>> _short(41.3), _short(979_796.0)
    ('41', '980k')
    """
    return f"{count:.0f}" if count < 1000.0 else f"{count / 1000.0:.{0 if count >= 10_000.0 else 1}f}k"
