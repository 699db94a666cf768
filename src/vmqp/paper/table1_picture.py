"""Table 1 as a picture: the CRPS of each model by share of test stations, the paper's beside ours."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from vmqp.plots.style import COLOURS, legend_above

__all__ = ["picture"]

_MARKERS = "osD^vPX"
_WIDTH = 0.78  # of the room between two shares that the models take together
_TOP = 0.12  # what lies above is written at the edge: the wrapped process of the paper would flatten all else


def picture(table: pd.DataFrame) -> Figure:
    """Means with their standard deviations over splits; hollow marks are the paper's."""
    figure = Figure(figsize=(9.0, 5.0), layout="constrained")
    ax = figure.add_subplot()
    models = list(dict.fromkeys(table["model"]))
    shares = sorted(set(table["test"]))
    handles = []
    for i, name in enumerate(models):
        rows = table[table["model"] == name].set_index("test").loc[shares]
        x = np.arange(len(shares)) + _WIDTH * ((i + 0.25) / len(models) - 0.5)
        colour, marker = COLOURS[i % len(COLOURS)], _MARKERS[i % len(_MARKERS)]
        spread = np.nan_to_num(rows["crps_sd"].to_numpy(dtype=float))
        handles.append(
            ax.errorbar(
                x, rows["crps"], yerr=spread, fmt=marker, color=colour, ms=5, lw=1.2, capsize=2, label=name
            )
        )
        beside = x + 0.5 * _WIDTH / len(models)
        paper = rows["paper_crps"].to_numpy(dtype=float)
        inside = paper <= _TOP
        ax.errorbar(
            beside[inside],
            paper[inside],
            yerr=rows["paper_crps_sd"].to_numpy(dtype=float)[inside],
            fmt=marker,
            color=colour,
            mfc="white",
            ms=5,
            lw=0.8,
            capsize=2,
        )
        for where, value in zip(beside[paper > _TOP], paper[paper > _TOP], strict=True):
            ax.annotate(
                f"{value:.2f}",
                (where, _TOP),
                xytext=(where, 0.94 * _TOP),
                ha="center",
                va="top",
                color=colour,
                fontsize=8,
                arrowprops={"arrowstyle": "->", "color": colour},
            )
    ax.set_ylim(0.03, _TOP)
    ax.set_xticks(range(len(shares)), [f"{100 * share:.0f} %" for share in shares])
    ax.set_xlabel("share of stations that is held out")
    ax.set_ylabel("CRPS with d = 1 − cos, mean and sd over splits")
    for edge in np.arange(len(shares) - 1) + 0.5:
        ax.axvline(edge, color="0.85", lw=0.8, zorder=0)
    legend_above(ax, handles)
    ax.text(0.995, 0.01, "filled: ours; hollow: the paper's", transform=ax.transAxes, ha="right", fontsize=9)
    return figure
