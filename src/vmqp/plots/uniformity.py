"""Calibration: whether predictions hold what they promise, judged on cases with a known outcome.

The probability integral transform (PIT) of an outcome is the probability that the prediction gave to smaller
ones, the circle being cut opposite the predicted mean. Where predictions are calibrated it is uniform, and arcs
of probability p hold the share p of the outcomes. Both pictures have a band for the play of chance, binomial and
hence for independent cases: neighbouring places stray a little more.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from scipy.stats import binom

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.plots.inputs import angles_at, column
from vmqp.plots.style import BAND, OBSERVED, PREDICTED, AxesArray, legend_above

__all__ = ["calibration"]

_ALARM = 0.05


def calibration(
    pit: ArrayLike,
    coverage: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    bins: int | None = None,
    axes: Sequence[Axes] | AxesArray | None = None,
) -> AxesArray:
    """Draw the histogram of the PIT and, beside it, the share of outcomes that arcs of each probability held.

    `coverage` is a pair (levels, shares); without it the shares are those of the central arcs, read from the PIT.
    All bars of the histogram lie in the band in 95 % of the cases where predictions are calibrated, and so does
    each single point of the coverage in its own.

    >>> from matplotlib.figure import Figure
    >>> axes = calibration(np.linspace(0.005, 0.995, 100), axes=Figure().subplots(1, 2))
    >>> axes[0].get_ylabel()
    'cases (n = 100)'
    """
    values = column(pit, "pit")
    n = len(values)
    if n == 0 or (values < 0).any() or (values > 1).any():
        raise InputError(
            f"pit must hold probabilities, of one case or more, but holds {values!r:.60}; give 0 to 1."
        )
    if bins is not None and bins < 2:
        raise InputError(f"bins must be 2 or more but is {bins}; give None to have them chosen.")
    levels, shares = _central(values) if coverage is None else _read_coverage(coverage)
    panels = _panels() if axes is None else np.asarray(axes, dtype=object).ravel()
    if len(panels) != 2:
        raise InputError(f"axes must be two but are {len(panels)}; make them with plt.subplots(1, 2).")
    _draw_pit(panels[0], values, bins or int(np.clip(n // 20, 4, 20)))
    what = "central arcs" if coverage is None else "arcs"
    _draw_coverage(panels[1], levels, shares, n, what)
    return panels


def _draw_pit(ax: Axes, values: FloatArray, bins: int) -> None:
    n = len(values)
    counts, edges = np.histogram(values, bins=bins, range=(0.0, 1.0))
    # Bonferroni: the chance that any of the bars leaves the band is at most 5 %.
    low, high = binom.ppf([_ALARM / bins / 2, 1 - _ALARM / bins / 2], n, 1 / bins)
    ax.bar(
        edges[:-1],
        counts,
        width=1 / bins,
        align="edge",
        color="0.8",
        edgecolor="0.3",
        linewidth=0.8,
        zorder=1,
    )
    label = "95 % band if calibrated"
    ax.axhspan(low, high, facecolor=PREDICTED, alpha=0.25, linewidth=0, zorder=2, label=label)
    ax.axhline(n / bins, color=PREDICTED, linewidth=1.4, zorder=3, label="uniform")
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.08 * max(float(counts.max()), float(high)))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("probability integral transform")
    ax.set_ylabel(f"cases (n = {n:,})")
    legend_above(ax)


def _draw_coverage(ax: Axes, levels: FloatArray, shares: FloatArray, n: int, what: str) -> None:
    fine = np.linspace(0.0, 1.0, 201)
    low, high = binom.ppf([[_ALARM / 2], [1 - _ALARM / 2]], n, fine[None, :]) / n
    ax.fill_between(
        100 * fine,
        100 * low,
        100 * high,
        facecolor=BAND,
        linewidth=0,
        zorder=1,
        label="95 % band if calibrated",
    )
    ax.plot([0, 100], [0, 100], color=PREDICTED, linewidth=1.2, zorder=2)
    marker = "o" if len(levels) <= 25 else None
    style: dict[str, Any] = {
        "color": OBSERVED,
        "linewidth": 1.4,
        "marker": marker,
        "markersize": 4.5,
        "zorder": 3,
    }
    ax.plot(100 * levels, 100 * shares, label="observed", clip_on=False, **style)
    ax.set_xlim(0, 100)
    ax.set_ylim(0, 100)
    ax.set_aspect("equal")
    ax.set_xlabel(f"probability of the {what} (%)")
    ax.set_ylabel(f"cases in them (%, n = {n:,})")
    legend_above(ax)


def _central(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shares of the cases in central arcs: those of probability p hold PITs from (1 − p)/2 to (1 + p)/2."""
    levels = np.linspace(0.05, 0.95, 19)
    inside = np.abs(2 * values[:, None] - 1) <= levels
    return levels, inside.mean(axis=0)


def _read_coverage(coverage: tuple[ArrayLike, ArrayLike]) -> tuple[FloatArray, FloatArray]:
    given, held = angles_at(coverage, "coverage")
    levels = column(given, "levels")
    shares = column(held, "shares", len(levels))
    if not len(levels) or min(levels.min(), shares.min()) < 0 or max(levels.max(), shares.max()) > 1:
        raise InputError("coverage must hold levels and shares from 0 to 1 but does not; give 0.9 for 90 %.")
    order = np.argsort(levels, kind="stable")
    return levels[order], shares[order]


def _panels() -> AxesArray:
    import matplotlib.pyplot as plt

    return np.asarray(plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained")[1])
