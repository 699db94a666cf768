"""Predictions along one input: a curve on the circle, with its band."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from vmqp.errors import InputError
from vmqp.plots.inputs import angles_at, column
from vmqp.plots.scale import Scale
from vmqp.plots.style import BAND, OBSERVED, PREDICTED, TRUTH, given_or_new, legend_above
from vmqp.plots.unbroken import draw_band, draw_curve, draw_stripes, show_range

__all__ = ["curve"]


def curve(
    x: ArrayLike,
    mean: ArrayLike,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    scale: Scale,
    observed: tuple[ArrayLike, ArrayLike] | None = None,
    regions: Sequence[ArrayLike] | None = None,
    truth: ArrayLike | None = None,
    probability: float = 0.9,
    label_x: str = "input",
    label_y: str = "angle",
    ax: Axes | None = None,
) -> Axes:
    """Draw predicted angles over one input: their mean, and the band of the arcs from lower to upper.

    `x` need not be sorted. `observed` is a pair (x, angles), drawn as points, and `truth` the true angles at `x`,
    drawn as a dashed curve. `regions` holds the arcs of each x, an array of shape (arcs, 2), where there may be
    several; they are then filled in place of the band. `probability` is what the arcs hold, for the legend. The
    mean may be nan where there is no mean direction: the curve has a gap there.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> scale = Scale(360, origin=0.0)
    >>> curve([0, 1, 2], [330, 350, 10], [320, 340, 0], [340, 0, 20], scale=scale, label_x="hour", ax=ax) is ax
    True
    >>> ax.get_ylabel()
    'angle (degrees)'
    """
    places = column(x, "x")
    m = len(places)
    if m == 0:
        raise InputError("x must hold at least one place but is empty; give the places of the predictions.")
    order = np.argsort(places, kind="stable")
    middle = column(mean, "mean", m, nan=True)[order]
    if (lower is None) != (upper is None):
        raise InputError("lower and upper must be given together but one is None; give both or neither.")
    if regions is not None and len(regions) != m:
        raise InputError(
            f"regions must hold {m} arrays of arcs but holds {len(regions)}; give one for each x."
        )
    ax = given_or_new(ax, (7.0, 4.2))
    across = places[order]
    filled: dict[str, Any] = {"facecolor": BAND, "edgecolor": BAND, "linewidth": 0.6, "zorder": 1}
    share = f"{100 * probability:g} %"
    if regions is not None:
        arcs = [regions[i] for i in order]
        draw_stripes(ax, across, arcs, scale, label=f"{share} regions", **filled)
    elif lower is not None and upper is not None:
        low, high = column(lower, "lower", m)[order], column(upper, "upper", m)[order]
        if m == 1:  # a band needs two places; one place has a stripe
            draw_stripes(ax, across, [[low[0], high[0]]], scale, label=f"{share} arc", **filled)
        else:
            draw_band(ax, across, middle, low, high, scale, label=f"{share} arc", **filled)
    dot = {"marker": "s", "markersize": 6} if m == 1 else {}
    draw_curve(
        ax, across, scale.wrap(middle), scale, "predicted mean", color=PREDICTED, lw=2.0, zorder=3, **dot
    )
    if truth is not None:
        true = column(truth, "truth", m)[order]
        style = {"color": TRUTH, "linestyle": (0, (4, 1.5)), "linewidth": 1.6, "zorder": 3.5}
        draw_curve(ax, across, scale.wrap(true), scale, "truth", **style)
    if observed is not None:
        _observed_points(ax, observed, scale)
    ax.margins(x=0.02)
    ax.set_xlabel(label_x)
    show_range(ax, scale, label_y)
    legend_above(ax)
    return ax


def _observed_points(ax: Axes, observed: Any, scale: Scale) -> None:
    where, angles = angles_at(observed)
    x = column(where, "observed x")
    y = scale.checked(column(angles, "observed angles", len(x)), "observed angles")
    # Many points are drawn smaller, so that they do not hide the band.
    size = float(np.clip(60.0 / np.sqrt(max(len(x), 1)), 2.0, 5.5))
    label = f"observed ({len(x):,})"
    ax.plot(x, y, "o", color=OBSERVED, markersize=size, label=label, zorder=2.5, clip_on=False)
