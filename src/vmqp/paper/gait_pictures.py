"""Pictures of the gait experiment: training curves, predicted phases with their arcs, histograms of parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from vmqp import circle
from vmqp.circle import FloatArray
from vmqp.datasets import Gait
from vmqp.datasets.gait import ANGLES
from vmqp.paper.gait_runs import Run
from vmqp.plots.style import COLOURS, DASHES, PALE, PREDICTED, TRUTH

__all__ = ["draw_data", "draw_histograms"]


def draw_data(gait: Gait, runs: Sequence[Run]) -> Figure:
    """Curves that were learned from above, and below, for each run, predicted against true phases, two in a row."""
    rows = -(-len(runs) // 2)
    figure = Figure(figsize=(10.0, 3.2 + 4.2 * rows), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.0, 1.35 * rows))
    top, bottom = parts
    _curves(top.subplots(1, len(ANGLES)), gait, runs[0].task.train["group"].unique())
    panels = bottom.subplots(rows, 2, squeeze=False)
    for run, ax in zip(runs, panels.flat, strict=True):
        _predictions(ax, run)
    handles = [
        Line2D([], [], color="0.6", label="truth"),
        Line2D([], [], color=TRUTH, marker="o", linestyle="none", label="predicted mean"),
        Line2D([], [], color=PREDICTED, label="90 % arc (0 and 100 are one phase)"),
    ]
    bottom.legend(handles=handles, ncols=3, fontsize="small", frameon=False, loc="outside lower center")
    what = "generated gait" if gait.generated else "gait"
    held = runs[0].task.held_out
    top.suptitle(f"Learned from ({what}): the first and the last curve", fontsize="medium")
    bottom.suptitle(f"Predicted at {runs[0].task.by} {held}", fontsize="medium")
    return figure


def _curves(axes: Sequence[Axes], gait: Gait, learned: Sequence[str]) -> None:
    for group, colour, dash in zip((learned[0], learned[-1]), COLOURS[1:], DASHES, strict=False):
        rows = gait.curve(str(group))
        for name, ax in zip(ANGLES, axes, strict=True):
            ax.plot(rows["cycle_pct"], rows[name], color=colour, linestyle=dash, label=str(group))
            ax.set(xlabel="phase (% of the cycle)", ylabel=f"{name} (degrees)", xlim=(0, 100))
    axes[0].legend(fontsize="small", frameon=False)


def _predictions(ax: Axes, run: Run) -> None:
    truth, mean = run.truth, run.posterior.mean
    lower, upper = run.posterior.interval(0.9).T
    # Drawn beside the truth, on whichever turn is nearest, so that a phase just past 100 % stays by the line.
    centre = truth + np.asarray(circle.difference(mean, truth, period=100.0))
    middle, half = _middle(lower, upper)
    middle = truth + np.asarray(circle.difference(middle, truth, period=100.0))
    ax.plot([0, 100], [0, 100], color="0.6", linewidth=1.0)
    for low in (middle - half, middle - half - 100.0, middle - half + 100.0):
        ax.vlines(truth, low, low + 2.0 * half, color=PREDICTED, linewidth=1.2)
    ax.plot(truth, np.mod(centre, 100.0), "o", color=TRUTH, markersize=4.5)
    ax.set(xlim=(-2, 102), ylim=(0, 100), xlabel="true phase (%)", ylabel="predicted phase (%)")
    scores = f"mean error {run.error.mean():.2f} %, covered {100 * run.coverage:.0f} %"
    ax.set_title(f"{run.model}\n{run.prediction}: {scores}", fontsize="medium")


def _middle(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Middle and half length of arcs in per cent."""
    width = np.where(upper - lower == 100.0, 100.0, np.mod(upper - lower, 100.0))
    return lower + width / 2.0, width / 2.0


def draw_histograms(models: Mapping[str, Mapping[str, FloatArray]]) -> Figure:
    """Histograms of σ², l² and g² with the outline of each chain: a row for each model."""
    columns = max(len(draws) for draws in models.values())
    figure = Figure(figsize=(3.4 * columns, 2.7 * len(models)), layout="constrained")
    panels = figure.subplots(len(models), columns, squeeze=False)
    for row, (model, draws) in zip(panels, models.items(), strict=True):
        for ax in row[len(draws) :]:
            ax.set_axis_off()
        for ax, (name, values) in zip(row, draws.items(), strict=False):
            edges = np.histogram_bin_edges(values, bins=30)
            ax.hist(values.ravel(), edges, color=PALE)
            for number, chain in enumerate(values):
                style = {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}
                ax.hist(chain, edges, histtype="step", linewidth=1.0, label=f"chain {number + 1}", **style)
            ax.set(xlabel=name, yticks=[])
        row[0].set_ylabel(f"{model}\ndraws", fontsize="small")
    panels[0, 0].legend(fontsize="x-small", frameon=False)
    return figure
