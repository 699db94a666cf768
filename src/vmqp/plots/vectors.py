"""Directions as arrows on a map: what was observed, what is predicted, and how surely.

A predicted arrow is as long as R = 1 − variance and the paler the shorter it is: where nothing is known it is a
pale dot. Observed arrows are black and start at a dot. Directions are those of the page, whatever the scales of
the axes. Where arrows would overlap only some are drawn, and the legend says how many. Axes, which point both
ways, are lines without a head.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.plots.colours import circle_colours, draw_wheel
from vmqp.plots.grids import spread_out
from vmqp.plots.ground import map_axes, surface
from vmqp.plots.inputs import angles_at, column, plane
from vmqp.plots.keys import ArrowKey, ArrowKeyHandler
from vmqp.plots.scale import Scale
from vmqp.plots.style import OBSERVED, PREDICTED, legend_above, mixed, width_of

__all__ = ["arrows"]

# Inches between arrows, and the longest that an arrow may be.
_APART, _LONGEST = 0.17, 0.4
# The palest arrow keeps this share of its colour.
_PALEST = 0.25
# Of the longest arrow's length; those of the head count in shafts.
_SHAFT = 0.1
_DOT = 2.0  # an arrow that is shorter than this many shafts is a dot as large
_HEAD: dict[str, Any] = {"headwidth": 3.4, "headlength": 3.6, "headaxislength": 3.2}
_NO_HEAD: dict[str, Any] = {"headwidth": 1.0, "headlength": 0.0, "headaxislength": 0.0}


def arrows(
    places: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    *,
    scale: Scale,
    observed: tuple[ArrayLike, ArrayLike] | None = None,
    background: bool = False,
    names: tuple[str, str] = ("lon", "lat"),
    ax: Axes | None = None,
) -> Axes:
    """Draw predicted directions as arrows at their places, and observed ones among them.

    `observed` is a pair (places, angles). With `background=True` the predicted directions are shown as the colours
    of a wheel too, and their arrows are white. A mean that is nan (no direction) is a dot.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> ax = arrows([[0, 0], [1, 1]], [90, 180], [0.1, 0.6], scale=Scale(360, 0.0, compass=True), ax=ax)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['predicted (2)', 'less sure (R = 0.5)', 'unsure (R = 0.1)']
    """
    where = plane(places)
    angles = column(mean, "mean", len(where), nan=True)
    spread = column(variance, "variance", len(where))
    if (spread < -1e-9).any() or (spread > 1 + 1e-9).any():
        raise InputError(
            f"variance must lie in [0, 1] but spans {spread.min():.4g} to {spread.max():.4g}; "
            "give the circular variance 1 − R."
        )
    stations, seen = _read_observed(observed, scale)
    everywhere = np.concatenate([where, stations])
    ax = map_axes(ax, everywhere, names, beside=2.2 if background else 1.0)
    _frame(ax, everywhere)
    if background:
        surface(ax, where, scale.fraction(angles), cmap=circle_colours(), vmin=0.0, vmax=1.0)
    # From here on lengths are counted in widths of the axes.
    paper, inch = _paper(ax), 1 / width_of(ax)
    shown = spread_out(where / paper, _APART * inch)
    longest = min(0.95 * _spacing(where[shown] / paper), _LONGEST * inch)

    certainty = np.where(np.isfinite(angles), 1 - spread, 0.0)
    # The least certain come first, so that no pale arrow lies over a dark one.
    shown = shown[np.argsort(certainty[shown], kind="stable")]
    ink = _ink(certainty[shown], background)
    _quiver(
        ax, where[shown], np.nan_to_num(angles[shown]), certainty[shown], longest, scale, pivot="mid", **ink
    )
    head = not scale.axial
    handles = [
        ArrowKey(label, share, _ink(np.array(share), background), head=head)
        for label, share in (
            ("predicted" + _count(len(shown), len(where)), 1.0),
            ("less sure (R = 0.5)", 0.5),
            ("unsure (R = 0.1)", 0.1),
        )
    ]
    if len(stations):
        drawn = spread_out(stations / paper, 0.5 * longest)
        _draw_observed(ax, stations, seen, drawn, longest, scale)
        label = "observed" + _count(len(drawn), len(stations))
        handles.insert(
            0, ArrowKey(label, 1.0, {"facecolor": OBSERVED, "linewidth": 0.0}, head=head, dot=True)
        )
    legend_above(ax, handles, handler_map={ArrowKey: ArrowKeyHandler()}, handlelength=2.4)
    if background:
        draw_wheel(ax, scale)
    return ax


def _read_observed(observed: Any, scale: Scale) -> tuple[FloatArray, FloatArray]:
    if observed is None:
        return np.empty((0, 2)), np.empty(0)
    given, angles = angles_at(observed)
    stations = plane(given, "observed places")
    return stations, scale.checked(column(angles, "observed angles", len(stations)), "observed angles")


def _count(drawn: int, there: int) -> str:
    return f" ({there:,})" if drawn == there else f" ({drawn:,} of {there:,})"


def _frame(ax: Axes, places: FloatArray) -> None:
    """Set limits with a margin in which the arrows at the edge have room."""
    low, high = places.min(axis=0), places.max(axis=0)
    margin = np.where(high > low, 0.06 * (high - low), 0.5)
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    ax.set_ylim(low[1] - margin[1], high[1] + margin[1])


def _paper(ax: Axes) -> FloatArray:
    """How much of either input is as long on paper as the axes are wide."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    aspect = ax.get_aspect()
    if isinstance(aspect, (int, float)):
        return np.array([right - left, (right - left) / aspect])
    box = ax.get_window_extent()
    return np.array([right - left, (top - bottom) * box.width / box.height])


def _spacing(places: FloatArray) -> float:
    """Typical distance from a place to the nearest other one."""
    if len(places) < 2:
        return np.inf
    nearest = cKDTree(places).query(places, k=2)[0][:, 1]
    return float(np.quantile(nearest, 0.25))


def _ink(certainty: FloatArray, background: bool) -> dict[str, Any]:
    """Colours of predicted arrows; on a coloured background they are white with a dark edge."""
    if background:
        return {"facecolor": "white", "edgecolor": "black", "linewidth": 0.5}
    return {"facecolor": mixed(PREDICTED, _PALEST + (1 - _PALEST) * certainty), "linewidth": 0.0}


def _draw_observed(
    ax: Axes, places: FloatArray, angles: FloatArray, shown: Any, longest: float, scale: Scale
) -> None:
    """Draw a dot at every station, and the arrows of those shown."""
    size = float(np.clip(0.2 * longest * 72 * width_of(ax), 1.8, 4.0))
    ax.plot(*places.T, "o", color=OBSERVED, markersize=size, linestyle="none", zorder=5, label="_observed")
    style = {"pivot": "mid" if scale.axial else "tail", "facecolor": OBSERVED, "edgecolor": "white"}
    # A little longer than predicted ones, among which they would be lost.
    ones, longest = np.ones(len(shown)), 1.25 * longest
    _quiver(ax, places[shown], angles[shown], ones, longest, scale, linewidth=0.3, zorder=4, **style)


def _quiver(
    ax: Axes,
    places: FloatArray,
    angles: FloatArray,
    lengths: FloatArray,
    longest: float,
    scale: Scale,
    **style: Any,
) -> None:
    """Draw arrows in directions of the page; `longest` is that of length 1, in widths of the axes."""
    direction = scale.direction(angles)
    ax.quiver(
        *places.T,
        lengths * np.cos(direction),
        lengths * np.sin(direction),
        angles="uv",
        units="width",
        scale_units="width",
        scale=1 / longest,
        width=_SHAFT * longest,
        minlength=_DOT,
        **(_NO_HEAD if scale.axial else _HEAD),
        **style,
    )
