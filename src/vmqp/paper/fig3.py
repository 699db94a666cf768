"""Figure 3 (``fig:ess_lambda``): relative effective sample size of the log-density against λ."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.samplers import OURS, SAMPLERS, Kind, chains, gain
from vmqp.paper.synthetic import LONGER, TYPICAL, target
from vmqp.plots.style import COLOURS, DASHES
from vmqp.sampling import Target

__all__ = ["make"]

M = 10
LENGTHS = {TYPICAL["lengthscale"]: 100.0, LONGER: 10.0}
"""Length scales, and how far λ goes at each, in largest eigenvalues; beyond, a chain of any length stands still."""
BESIDE = ("augmented Gibbs, diagonal", "heat bath + over-relaxation", OURS)
"""Samplers without a λ, drawn as level lines."""
_LINE = "augmented Gibbs, λ (paper)"


def make(setting: Setting) -> Outcome:
    """Run the paper's sampler at λ from just above the largest eigenvalue of Q to many times it."""
    draws, points = (10_000, 7) if setting.quick else (100_000, 13)
    densities = {length: target(M, lengthscale=length) for length in LENGTHS}
    table = pd.concat(
        [_measure(density, length, draws, points, setting.seed) for length, density in densities.items()],
        ignore_index=True,
    )
    along = table[table["sampler"] == _LINE]
    verdicts = [_falls(along[along["lengthscale"] == length]) for length in LENGTHS]
    best = [own["relative_ess"].idxmax() == own["lambda"].idxmin() for _, own in along.groupby("lengthscale")]
    return Outcome(
        figures={"fig3": _draw(table)},
        tables={"fig3": table},
        paper=(
            "The relative effective sample size of the log-density falls as λ grows beyond the largest eigenvalue of "
            "Q, with m = 10; so λ should be as small as it can be."
        ),
        ours=" ".join(_sentence(table, length) for length in LENGTHS),
        agrees=(
            "yes: smaller λ is better throughout."
            if all(verdicts)
            else f"in part: the smallest λ is {'' if all(best) else 'not everywhere '}the best, and the fall has steps "
            "against it that exceed the noise."
        ),
        length=(
            f"Four chains of {draws:,} draws for each λ; at the worst "
            f"{4 * draws * along['relative_ess'].min():,.0f} effective samples. The paper does not state its length."
        ),
        facts={
            "m": M,
            "draws": draws,
            "chains": 4,
            **{f"parameter_{name}": value for name, value in TYPICAL.items()},
            "longer_lengthscale": LONGER,
        },
    )


def _measure(density: Target, length: float, draws: int, points: int, seed: int) -> pd.DataFrame:
    """One length scale: the paper's sampler at each λ, then those without."""
    largest = float(np.linalg.eigvalsh(density.matrix() + np.diag(density.diagonal))[-1])
    rows = []
    for factor in np.concatenate([[1.0001], np.geomspace(1.0, LENGTHS[length], points)[1:]]):
        kind = Kind("augmented", {"scaling": "scalar", "lam": factor * largest})
        rows.append((_LINE, factor * largest, factor, *gain(chains(density, kind, draws=draws, seed=seed))))
    for label in BESIDE:
        rows.append((label, np.nan, np.nan, *gain(chains(density, SAMPLERS[label], draws=draws, seed=seed))))
    columns = ["sampler", "lambda", "lambda_over_largest", "relative_ess", "standard_error"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(0, "lengthscale", length)
    return table


def _falls(along: pd.DataFrame) -> bool:
    """Whether no larger λ is better than the one before by more than three standard errors."""
    rise, error = np.diff(along["relative_ess"]), along["standard_error"].to_numpy()
    return bool((rise < 3.0 * np.hypot(error[1:], error[:-1])).all())


def _sentence(table: pd.DataFrame, length: float) -> str:
    own = table[table["lengthscale"] == length]
    along, rest = own[own["sampler"] == _LINE], own[own["sampler"] != _LINE]
    first, last = along.iloc[0], along.iloc[-1]
    beside = ", ".join(f"{row.sampler} {row.relative_ess:.2f}" for row in rest.itertuples())
    return (
        f"At l = {length}, where the largest eigenvalue of Q is {first['lambda']:.3g}, relative ESS falls from "
        f"{first['relative_ess']:.3g} ± {first['standard_error']:.1g} just above it to {last['relative_ess']:.2g} at "
        f"{LENGTHS[length]:g} times it; steps without λ: {beside}."
    )


def _draw(table: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    panels = figure.subplots(1, len(LENGTHS), sharey=True)
    for ax, length in zip(panels, LENGTHS, strict=True):
        _panel(ax, table[table["lengthscale"] == length])
        ax.set_title(f"m = {M}, l = {length}")
    panels[0].set_ylabel("relative ESS of the log-density, a step")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, handlelength=3.2)
    return figure


def _panel(ax: Axes, own: pd.DataFrame) -> None:
    along = own[own["sampler"] == _LINE]
    ax.errorbar(
        along["lambda_over_largest"],
        along["relative_ess"],
        2.0 * along["standard_error"],
        color=COLOURS[0],
        marker="o",
        markersize=4,
        capsize=2,
        label=_LINE,
    )
    for number, row in enumerate(own[own["sampler"] != _LINE].itertuples(), start=1):
        ax.axhline(
            row.relative_ess,
            color=COLOURS[number],
            linestyle=DASHES[number],
            linewidth=1.8,
            label=row.sampler,
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("λ / largest eigenvalue of Q")
    ax.grid(True, which="major", color="0.9")
