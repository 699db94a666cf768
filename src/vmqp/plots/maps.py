"""Maps in colour: how uncertain a direction is, and the direction itself."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from vmqp.errors import InputError
from vmqp.plots.colours import circle_colours, colour_of, draw_wheel
from vmqp.plots.ground import map_axes, mark_places, surface
from vmqp.plots.inputs import angles_at, column, plane
from vmqp.plots.scale import Scale
from vmqp.plots.style import OBSERVED, legend_above

__all__ = ["direction_map", "variance_map"]


def variance_map(
    places: ArrayLike,
    variance: ArrayLike,
    *,
    observed: ArrayLike | None = None,
    names: tuple[str, str] = ("lon", "lat"),
    ax: Axes | None = None,
) -> Axes:
    """Draw circular variance as a map, from 0 (the direction is known) to 1 (nothing is).

    A full grid of places, in any order, is filled cell by cell; other places are coloured points. `observed` are
    the places of observations, (n, 2). The colours get lighter from 0 to 1, and are made for the colour-blind.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> variance_map([[0, 0], [0, 1], [1, 0], [1, 1]], [0.1, 0.4, 0.2, 0.9], names=("east", "north"), ax=ax) is ax
    True
    """
    where = plane(places)
    values = column(variance, "variance", len(where), nan=True)
    if (values < -1e-9).any() or (values > 1 + 1e-9).any():
        raise InputError(
            f"variance must lie in [0, 1] but spans {values.min():.4g} to {values.max():.4g}; "
            "give the circular variance 1 − R."
        )
    ax = map_axes(ax, where, names)
    coloured = surface(ax, where, values, cmap="cividis", vmin=0.0, vmax=1.0)
    bar = ax.figure.colorbar(coloured, ax=ax, ticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    bar.set_label("circular variance (0: certain, 1: any direction)")
    if observed is not None:
        stations = plane(observed, "observed")
        mark_places(ax, stations, f"observed ({len(stations):,})")
        legend_above(ax)
    return ax


def direction_map(
    places: ArrayLike,
    mean: ArrayLike,
    *,
    scale: Scale,
    observed: tuple[ArrayLike, ArrayLike] | None = None,
    names: tuple[str, str] = ("lon", "lat"),
    ax: Axes | None = None,
) -> Axes:
    """Draw mean directions in the colours of a wheel, which stands beside the map.

    A full grid of places is filled cell by cell; other places are coloured points. `observed` is a pair (places,
    angles): rings filled with the colour of the angle. Places without a mean direction (nan) are grey.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> direction_map([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 90, 180, 270], scale=Scale(360, 0.0), ax=ax) is ax
    True
    """
    where = plane(places)
    angles = column(mean, "mean", len(where), nan=True)
    ax = map_axes(ax, where, names, beside=2.0)
    surface(ax, where, scale.fraction(angles), cmap=circle_colours(), vmin=0.0, vmax=1.0)
    if observed is not None:
        _observed_rings(ax, observed, scale)
    draw_wheel(ax, scale)
    return ax


def _observed_rings(ax: Axes, observed: Any, scale: Scale) -> None:
    stations, given = angles_at(observed)
    points = plane(stations, "observed places")
    angles = scale.checked(column(given, "observed angles", len(points)), "observed angles")
    size = max(14.0, 45.0 - len(points) / 10)
    # White around black shows the ring on any colour.
    x, y = points.T
    ax.scatter(x, y, s=1.9 * size, color="white", zorder=3.9)
    ax.scatter(x, y, s=size, color=colour_of(angles, scale), edgecolors=OBSERVED, linewidths=1.0, zorder=4)
    key = Line2D([], [], marker="o", linestyle="none", markerfacecolor="0.75", markeredgecolor=OBSERVED)
    key.set_label(f"observed ({len(points):,})")
    legend_above(ax, [key])
