"""Curves and bands on the circle, drawn without a break where the axis is cut.

A curve is unwound into an unbroken line and drawn once for every turn that shows between the ends of the axis;
the axes cut the copies off. What leaves at the top comes back at the bottom, and no line runs from one to the
other.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from numpy.typing import ArrayLike

from vmqp.arcs import arc_width
from vmqp.circle import FloatArray, wrapped
from vmqp.plots.scale import Scale

__all__ = ["draw_band", "draw_curve", "draw_stripes", "show_range", "unwound"]


def unwound(angles: FloatArray, period: float) -> FloatArray:
    """Unwind angles: from each to the next the shorter way round. nan stays nan and breaks nothing else.

    >>> unwound(np.array([350.0, np.nan, 10.0]), 360).tolist()
    [350.0, nan, 370.0]
    """
    known = np.isfinite(angles)
    result = np.full(angles.shape, np.nan)
    if known.any():
        result[known] = np.unwrap(angles[known], period=period)
    return result


def turns(lower: FloatArray, upper: FloatArray, scale: Scale) -> list[float]:
    """Shifts by whole periods that bring some part of a curve or band into the range of the scale.

    >>> turns(np.array([170.0]), np.array([190.0]), Scale(360))
    [-360.0, 0.0]
    """
    if not np.isfinite(lower).any():
        return []
    first = int(np.ceil((scale.start - np.nanmax(upper)) / scale.period))
    last = int(np.floor((scale.end - np.nanmin(lower)) / scale.period))
    return [scale.period * turn for turn in range(first, last + 1)]


def draw_curve(
    ax: Axes, x: FloatArray, angles: FloatArray, scale: Scale, label: str = "", **style: Any
) -> None:
    """Draw a curve over ascending x: from place to place it takes the shorter way round.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> draw_curve(ax, np.arange(3.0), np.array([170.0, 179.0, -172.0]), Scale(360))
    >>> [line.get_ydata().tolist() for line in ax.lines]
    [[-190.0, -181.0, -172.0], [170.0, 179.0, 188.0]]
    """
    line = unwound(angles, scale.period)
    for turn in turns(line, line, scale):
        ax.plot(x, line + turn, label=label or "_copy", **style)
        label = ""


def draw_band(
    ax: Axes,
    x: FloatArray,
    mean: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    scale: Scale,
    label: str = "",
    **style: Any,
) -> None:
    """Fill the arcs from lower to upper, each in the turn in which its middle is next to the mean.

    An arc that is the whole circle fills the height of the axes.
    """
    period = scale.period
    width = np.asarray(arc_width(lower, upper, period))
    middle = wrapped(lower + width / 2, period)
    # The whole circle has no middle: the mean keeps it next to its neighbours. And where there is no mean,
    # the arc's middle leads.
    centre = np.where(np.isfinite(mean), mean, middle)
    middle = np.where(width < period, middle, centre)
    line = unwound(centre, period) + wrapped(middle - wrapped(centre, period), period)
    bottom, top = line - width / 2, line + width / 2
    for turn in turns(bottom, top, scale):
        ax.fill_between(x, bottom + turn, top + turn, label=label or "_copy", **style)
        label = ""


def draw_stripes(
    ax: Axes, x: FloatArray, regions: Sequence[ArrayLike], scale: Scale, label: str = "", **style: Any
) -> None:
    """Fill, at each x, any number of arcs: as stripes that reach half-way to the neighbouring places."""
    left, right = _half_way(x)
    corners = []
    for a, b, arcs in zip(left, right, regions, strict=True):
        pairs = np.asarray(arcs, dtype=float).reshape(-1, 2)
        widths = np.atleast_1d(arc_width(pairs[:, 0], pairs[:, 1], scale.period))
        for start, width in zip(scale.wrap(pairs[:, 0]), widths, strict=True):
            bottom = scale.start if width >= scale.period else float(start)
            for low, high in _pieces(bottom, float(width), scale):
                corners.append([(a, low), (b, low), (b, high), (a, high)])
    ax.add_collection(PolyCollection(corners, label=label or "_copy", **style))
    ax.update_datalim([(float(left.min()), scale.start), (float(right.max()), scale.end)])
    ax.autoscale_view()


def show_range(ax: Axes, scale: Scale, what: str = "angle") -> None:
    """Let the vertical axis show one turn, with ticks at its quarters."""
    ax.set_ylim(scale.start, scale.end)
    ax.set_yticks(scale.ticks(), scale.tick_labels())
    ax.set_ylabel(scale.label(what))
    ax.grid(axis="y", color="0.88", linewidth=0.6)
    ax.set_axisbelow(True)


def _pieces(bottom: float, width: float, scale: Scale) -> list[tuple[float, float]]:
    """An arc within the range, in two pieces where it crosses the cut."""
    top = bottom + width
    if top <= scale.end:
        return [(bottom, top)]
    return [(bottom, scale.end), (scale.start, top - scale.period)]


def _half_way(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends of the stripe of each place, in the order of x; a single place gets a stripe of width 1."""
    places, of = np.unique(x, return_inverse=True)
    if len(places) == 1:
        return x - 0.5, x + 0.5
    middle = (places[1:] + places[:-1]) / 2
    left = np.concatenate([[places[0] - (middle[0] - places[0])], middle])
    right = np.concatenate([middle, [places[-1] + (places[-1] - middle[-1])]])
    return left[of], right[of]
