"""Roses: the law of one angle, as a histogram on the circle.

The area of a petal is the share of draws in it, so that all areas sum to 1 and the eye compares areas, not radii:
a petal of width w over the share s has radius √(2s/w). A density f per radian is drawn at radius √(2f), which
makes the area under it a probability too.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.projections.polar import PolarAxes
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike

from vmqp import circle
from vmqp.arcs import arc_width
from vmqp.circle import TWO_PI, FloatArray, check_angles
from vmqp.errors import InputError
from vmqp.plots.inputs import angles_at, column
from vmqp.plots.scale import Scale
from vmqp.plots.style import (
    OBSERVED,
    PALE,
    PREDICTED,
    TRUTH,
    AxesArray,
    columns_that_fit,
    polar_given_or_new,
    round_layout,
)

__all__ = ["draw_petals", "rose", "roses"]

_DENSITY = "#003B5C"
_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def rose(
    draws: ArrayLike,
    *,
    scale: Scale,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    truth: float | None = None,
    observed: ArrayLike | None = None,
    interval: ArrayLike | None = None,
    probability: float = 0.9,
    bins: int = 36,
    title: str = "",
    legend: bool = True,
    ax: Axes | None = None,
) -> PolarAxes:
    """Draw a rose of the draws of one angle, with its mean and its arc on the rim.

    `density` is a pair (grid, values) over one turn; it need not be normalised. `interval` is an arc (lower,
    upper) or several, (arcs, 2), that hold `probability`. `truth` and `observed` are marked on the rim. Axes,
    which point both ways, have two equal halves.

    >>> import matplotlib.figure
    >>> ax = matplotlib.figure.Figure().add_subplot(projection="polar")
    >>> rose([350, 10, 20, 355], scale=Scale(360), interval=(350, 20), bins=12, ax=ax) is ax
    True
    >>> len(ax.patches)
    12
    """
    angles = scale.checked(draws, "draws")
    if angles.size == 0:
        raise InputError("draws must hold at least one angle but are empty; give the draws of one place.")
    ax = polar_given_or_new(ax)
    handles: list[Any] = []
    top = draw_petals(ax, angles, scale, bins)
    handles.append(ax.patches[0])
    ax.patches[0].set_label(f"draws ({angles.size:,})")
    if density is not None:
        line = _draw_density(ax, density, scale)
        top = max(top, float(np.max(line.get_ydata())))
        handles.append(line)
    rim = 1.1 * top
    mean = float(circle.mean(angles, period=scale.period))
    if interval is not None:
        label = f"{100 * probability:g} % arc"
        handles.append(_draw_arcs(ax, np.asarray(interval, dtype=float), rim, scale, label))
    if np.isfinite(mean):
        handles.append(_mark(ax, [mean], rim, scale, "mean", marker="o", color=PREDICTED, markersize=8))
    if observed is not None:
        seen = scale.checked(observed, "observed")
        handles.append(_mark(ax, seen, rim, scale, "observed", marker="^", color=OBSERVED, markersize=7))
    if truth is not None:
        true = scale.checked(truth, "truth")
        handles.append(_mark(ax, true, rim, scale, "truth", marker="D", color=TRUTH, markersize=7))
    _dress(ax, scale, rim, bins)
    if title:
        ax.set_title(title)
    if legend:
        _legend_below(ax, handles)
    return ax


def roses(
    draws: Sequence[ArrayLike],
    *,
    scale: Scale,
    densities: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
    truths: Sequence[float | None] | None = None,
    observed: Sequence[ArrayLike] | None = None,
    intervals: Sequence[ArrayLike] | None = None,
    titles: Sequence[str] | None = None,
    probability: float = 0.9,
    bins: int = 36,
    columns: int = 3,
    axes: Sequence[Axes] | AxesArray | None = None,
) -> AxesArray:
    """Draw several roses, one for the draws of each place; the legend stands below the last.

    Each has its own scale of radii, which its rings tell.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots(1, 2, subplot_kw={"projection": "polar"})
    >>> roses([[0.1, 0.2], [3.0, 3.1, 3.2]], scale=Scale(), titles=["first", "second"], axes=axes).shape
    (2,)
    """
    count = len(draws)
    lists = {
        "densities": densities,
        "truths": truths,
        "observed": observed,
        "intervals": intervals,
        "titles": titles,
    }
    for name, values in lists.items():
        if values is not None and len(values) != count:
            raise InputError(
                f"{name} must hold {count} entries but holds {len(values)}; give one for each rose."
            )
    panels = _panels(count, columns) if axes is None else np.asarray(axes, dtype=object).ravel()
    if len(panels) < count or count == 0:
        raise InputError(
            f"axes must hold at least {max(count, 1)} axes, one a rose, but hold {len(panels)}; give more."
        )
    for i in range(count):
        rose(
            draws[i],
            scale=scale,
            density=None if densities is None else densities[i],
            truth=None if truths is None else truths[i],
            observed=None if observed is None else observed[i],
            interval=None if intervals is None else intervals[i],
            probability=probability,
            bins=bins,
            title="" if titles is None else titles[i],
            legend=i == count - 1,
            ax=panels[i],
        )
    return panels[:count]


def draw_petals(ax: PolarAxes, angles: FloatArray, scale: Scale, bins: int = 36) -> float:
    """Draw the petals of a rose and return the longest one's radius."""
    if bins < 4:
        raise InputError(
            f"bins must be 4 or more but is {bins}; give 36 for petals of a tenth of a right angle."
        )
    counts = np.bincount(np.minimum((scale.fraction(angles) * bins).astype(int), bins - 1), minlength=bins)
    shares, copies = counts / angles.size, 2 if scale.axial else 1
    width = TWO_PI / bins / copies
    radii = np.tile(np.sqrt(2 * shares / copies / width), copies)
    middles = width * (np.arange(bins * copies) + 0.5)
    ax.bar(middles, radii, width=width, color=PALE, edgecolor="white", linewidth=0.4, zorder=1)
    return float(radii.max())


def _draw_density(ax: PolarAxes, density: Any, scale: Scale) -> Line2D:
    """Draw √(2f) all the way round."""
    given, values = angles_at(density, "density")
    grid = column(given, "grid")
    heights = column(values, "density", len(grid))
    if len(grid) < 3 or (heights < 0).any() or not (heights > 0).any():
        raise InputError(
            f"density must have 3 points or more, none negative and not all 0, but has {len(grid)}; "
            "give densities on a grid over one turn, not their logs."
        )
    order = np.argsort(scale.fraction(grid), kind="stable")
    turned = TWO_PI * scale.fraction(grid)[order]
    heights = heights[order]
    # Half the distance between a point's neighbours on the circle is the share of the turn it stands for.
    cells = np.diff(np.concatenate([[turned[-1] - TWO_PI], turned, [turned[0] + TWO_PI]]))
    per_radian = heights / (heights * (cells[1:] + cells[:-1]) / 2).sum()
    copies = 2 if scale.axial else 1
    theta = np.concatenate([turned / copies + TWO_PI * k / copies for k in range(copies)])
    radius = np.tile(np.sqrt(2 * per_radian), copies)
    closed = np.append(theta, theta[0] + TWO_PI), np.append(radius, radius[0])
    return ax.plot(*closed, color=_DENSITY, linewidth=1.6, zorder=3, label="density")[0]


def _draw_arcs(ax: PolarAxes, interval: FloatArray, rim: float, scale: Scale, label: str) -> Line2D:
    """Draw arcs as thick lines on the rim."""
    if interval.size == 0 or interval.size % 2:
        raise InputError(
            f"interval must hold pairs (lower, upper) but has shape {interval.shape}; give (arcs, 2)."
        )
    lines = []
    for lower, upper in check_angles(interval, "interval").reshape(-1, 2):
        arc = scale.wrap(lower) + np.linspace(0.0, float(arc_width(lower, upper, scale.period)), 181)
        for half in (0.0, np.pi) if scale.axial else (0.0,):
            style: dict[str, Any] = {
                "color": PREDICTED,
                "linewidth": 4.0,
                "solid_capstyle": "butt",
                "zorder": 4,
            }
            lines += ax.plot(scale.turned(arc) + half, np.full(arc.size, rim), label="_arc", **style)
    lines[0].set_label(label)
    return lines[0]


def _mark(ax: PolarAxes, angles: ArrayLike, radius: float, scale: Scale, label: str, **style: Any) -> Line2D:
    theta = np.atleast_1d(scale.turned(angles))
    if scale.axial:
        theta = np.concatenate([theta, theta + np.pi])
    style = {"linestyle": "none", "markeredgecolor": "white", "zorder": 6, "clip_on": False, **style}
    return ax.plot(theta, np.full(theta.size, radius), label=label, **style)[0]


def _dress(ax: PolarAxes, scale: Scale, rim: float, bins: int) -> None:
    """Set the directions, their labels, and two rings with the share of a petal that reaches them."""
    ax.set_theta_zero_location(scale.zero)
    ax.set_theta_direction(-1 if scale.clockwise else 1)
    ax.set_xticks(scale.turned(scale.round_ticks()) % TWO_PI, scale.round_tick_labels())
    ax.tick_params(axis="x", pad=9 if scale.sides else 5)
    ax.set_ylim(0.0, rim)
    width = TWO_PI / bins
    largest = rim**2 * width / 2
    fitting = [share for share in _SHARES if share < 0.8 * largest]
    rings = fitting[-1:] + fitting[-3:-2]
    ax.set_yticks([np.sqrt(2 * share / width) for share in rings], [f"{100 * share:g} %" for share in rings])
    ax.set_rlabel_position(_emptiest(ax))
    ax.tick_params(axis="y", labelsize="small", labelcolor="0.3")
    ax.grid(color="0.85", linewidth=0.6)
    ax.set_axisbelow("line")  # rings and their labels lie over the petals, lines and marks over them
    ax.spines["polar"].set_color("0.6")


def _emptiest(ax: PolarAxes) -> float:
    """Middle of the quarter, in degrees, with the shortest petals near it: there the rings are labelled."""
    middles = np.array(
        [bar.get_x() + bar.get_width() / 2 for bar in ax.patches if isinstance(bar, Rectangle)]
    )
    radii = np.array([bar.get_height() for bar in ax.patches if isinstance(bar, Rectangle)])
    quarters = np.radians([67.5, 157.5, 247.5, 337.5, 22.5, 112.5, 202.5, 292.5])
    near = np.abs(circle.difference(quarters[:, None], middles[None, :])) < np.pi / 9
    longest = [radii[row].max(initial=0.0) for row in near]
    return float(np.degrees(quarters[int(np.argmin(longest))]))


def _legend_below(ax: PolarAxes, handles: Sequence[Any]) -> None:
    """Put the legend below the label of the lowest direction."""
    labels = [str(handle.get_label()) for handle in handles]
    size = 0.85 * float(rcParams["font.size"])
    down = ScaledTranslation(0.0, -2.3 * float(rcParams["font.size"]) / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        list(handles),
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + down,
        borderaxespad=0.0,
        ncols=columns_that_fit(ax, labels, size, 1.6),
        frameon=False,
        fontsize=size,
        handlelength=1.6,
        columnspacing=1.2,
        handletextpad=0.5,
    )


def _panels(count: int, columns: int) -> AxesArray:
    import matplotlib.pyplot as plt

    across = max(1, min(columns, count))
    down = max(1, -(-count // across))
    figure, grid = plt.subplots(
        down,
        across,
        figsize=(3.4 * across, 3.7 * down + 0.4),
        layout=round_layout(),
        squeeze=False,
        subplot_kw={"projection": "polar"},
    )
    panels = grid.ravel()
    for empty in panels[count:]:
        figure.delaxes(empty)
    return np.asarray(panels)
