"""What all maps share: labelled axes in the right proportion, and a surface of coloured cells or points."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable

from vmqp.circle import FloatArray
from vmqp.plots.grids import full_grid
from vmqp.plots.style import OBSERVED, given_or_new

__all__ = ["map_axes", "mark_places", "surface"]

_LONGITUDES = ("lon", "long", "longitude")
_LATITUDES = ("lat", "latitude")


def map_axes(ax: Axes | None, places: FloatArray, names: tuple[str, str], beside: float = 1.0) -> Axes:
    """Return labelled axes in the proportion of a map: those given, or new ones in a figure that fits it.

    Longitude and latitude are drawn so that a kilometre is as long either way, in the map's middle. Other inputs
    get equal scales, unless that would make a strip of the map: then they are hardly lengths of one unit. A new
    figure has room for `beside` inches beside the map.
    """
    aspect = _aspect(places, names)
    low, high = places.min(axis=0), places.max(axis=0)
    if ax is None:
        shape = 1.2 if aspect is None else (high[0] - low[0]) / ((high[1] - low[1]) * aspect)
        ax = given_or_new(None, (4.2 * float(np.clip(shape, 0.6, 1.8)) + 1.2 + beside, 5.2))
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    if aspect is not None:
        ax.set_aspect(aspect)
    return ax


def _aspect(places: FloatArray, names: tuple[str, str]) -> float | None:
    """Length on paper of one unit upwards, in units to the right; None where that means nothing."""
    low, high = places.min(axis=0), places.max(axis=0)
    spans = high - low
    if spans.min() <= 0:
        return None
    if (
        _named(names[0], _LONGITUDES)
        and _named(names[1], _LATITUDES)
        and np.abs([low[1], high[1]]).max() < 89
    ):
        return float(1 / np.cos(np.radians((low[1] + high[1]) / 2)))
    return 1.0 if spans.max() / spans.min() <= 3 else None


def surface(ax: Axes, places: FloatArray, values: FloatArray, **colours: Any) -> ScalarMappable:
    """Colour the cells of a full grid, or else a point at each place; nan is grey."""
    shown = np.ma.masked_invalid(values)
    grid = full_grid(places)
    if grid is not None:
        return ax.pcolormesh(*grid.edges(), shown[grid.number], rasterized=True, **colours)
    size = float(np.clip(12_000 / len(places), 9, 110))
    return ax.scatter(
        places[:, 0],
        places[:, 1],
        c=shown,
        s=size,
        marker="s",
        linewidths=0.4,
        edgecolors="0.4",
        plotnonfinite=True,
        **colours,
    )


def mark_places(ax: Axes, places: FloatArray, label: str) -> None:
    """Mark places by rings that show on any colour."""
    size = float(np.clip(70 / np.sqrt(len(places)), 2.5, 6))
    style: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": OBSERVED, "markeredgewidth": 0.9}
    ax.plot(*places.T, "o", markersize=size, label=label, linestyle="none", zorder=4, **style)


def _named(name: str, meanings: tuple[str, ...]) -> bool:
    """Whether a column's name, up to a unit after it, is one of those meant.

    >>> _named("Longitude (°)", _LONGITUDES), _named("slope", _LONGITUDES)
    (True, False)
    """
    words = name.lower().replace("(", " ").replace("_", " ").split()
    return bool(words) and words[0] in meanings
