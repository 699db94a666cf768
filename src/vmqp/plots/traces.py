"""Draws of the parameters: a trace and a histogram of each, a rose where it is an angle."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.plots.inputs import chains_of
from vmqp.plots.polar import rose
from vmqp.plots.scale import Scale
from vmqp.plots.style import PALE, TRUTH, AxesArray, legend_above, round_layout
from vmqp.plots.unbroken import show_range

__all__ = ["parameters"]

_PRIOR: dict[str, Any] = {"color": TRUTH, "linestyle": (0, (4, 1.5)), "linewidth": 1.6}
# More points than pixels would only make a blot.
_POINTS = 2000


def parameters(
    draws: Mapping[str, ArrayLike],
    *,
    circular: Collection[str] = (),
    scale: Scale | None = None,
    priors: Mapping[str, Callable[[FloatArray], ArrayLike]] | None = None,
    axes: Sequence[Sequence[Axes]] | AxesArray | None = None,
) -> AxesArray:
    """Draw, for each parameter, the trace of its chains and a histogram of all draws.

    `draws` maps names to arrays of shape (chains, draws). The names in `circular` are angles, given in `scale` (a
    name without draws is passed over): their traces are points, since a line would cross the cut, and their
    histograms are roses. `priors` maps names to densities, drawn as dashed lines for comparison. The result, and
    `axes` if given, has one row for each parameter and two columns; the second is polar where the parameter is an
    angle.

    >>> from matplotlib.figure import Figure
    >>> rng = np.random.default_rng(1)
    >>> axes = Figure().subplots(1, 2, squeeze=False)
    >>> parameters({"lengthscale": rng.gamma(3.0, size=(4, 200))}, axes=axes).shape
    (1, 2)
    """
    chains = chains_of(draws)
    unknown = sorted(set(priors or ()) - set(chains))
    if unknown:
        raise InputError(
            f"priors has {unknown[0]!r}, of which there are no draws; the parameters are {', '.join(chains)}."
        )
    circular = set(circular) & set(chains)
    if circular and scale is None:
        raise InputError("scale is needed to draw angles but is None; give Scale(period, origin, unit).")
    scale = Scale() if scale is None else scale
    panels = _panels(chains, circular) if axes is None else np.asarray(axes, dtype=object)
    if panels.shape != (len(chains), 2):
        raise InputError(
            f"axes must have shape ({len(chains)}, 2) but have {panels.shape}; give a row of two for each parameter."
        )
    for (left, right), (name, values) in zip(panels, chains.items(), strict=True):
        prior = None if priors is None else priors.get(name)
        if name in circular:
            _trace(left, scale.wrap(values), marker=".", markersize=2.0, linestyle="none")
            show_range(left, scale, name)
            density = None if prior is None else _prior_on_circle(prior, scale)
            _rose(right, values, density, scale, name)
        else:
            _trace(left, values, linewidth=0.7)
            left.set_ylabel(name)
            _histogram(right, values, prior, name)
    for left in panels[:-1, 0]:
        left.tick_params(labelbottom=False)
    panels[-1, 0].set_xlabel("draw")
    _chain_key(panels[0, 0], max(len(values) for values in chains.values()))
    return panels


def shades(chains: int) -> FloatArray:
    """Colours of the chains, from dark blue to light yellow: they differ in a grey copy too.

    >>> shades(4).shape
    (4, 3)
    """
    return np.asarray(colormaps["cividis"](np.linspace(0.0, 0.92, chains)))[:, :3]


def _trace(ax: Axes, values: FloatArray, **style: Any) -> None:
    length = values.shape[1]
    step = max(1, -(-length // _POINTS))
    numbers = np.arange(0, length, step)
    for chain, (row, colour) in enumerate(zip(values, shades(len(values)), strict=True)):
        ax.plot(numbers, row[::step], color=colour, alpha=0.85, label=f"chain {chain + 1}", **style)
    ax.set_xlim(0, length - 1)


def _histogram(ax: Axes, values: FloatArray, prior: Any, name: str) -> None:
    edges = _edges(values.ravel())
    ax.stairs(_heights(values, edges), edges, fill=True, color=PALE)
    for row, colour in zip(values, shades(len(values)), strict=True):
        ax.stairs(_heights(row, edges), edges, color=colour, linewidth=1.0)
    ax.set_ylim(0.0, None)  # and so it stays: a prior may have a pole, which shall not flatten the histogram
    if prior is not None:
        grid = np.linspace(edges[0], edges[-1], 400)
        heights = np.asarray(prior(grid), dtype=float)
        ax.plot(grid, np.where(np.isfinite(heights), heights, np.nan), label="prior", **_PRIOR)
        ax.legend(loc="upper right", fontsize="small", frameon=False)
    beyond = np.mean((values < edges[0]) | (values > edges[-1]))
    ax.set_xlim(edges[0], edges[-1])
    ax.set_xlabel(name + (f" ({100 * beyond:.2g} % of draws beyond)" if beyond > 0 else ""))
    ax.set_yticks([])
    ax.set_ylabel("density")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _heights(values: FloatArray, edges: FloatArray) -> FloatArray:
    """Shares of all draws per unit, those beyond the edges counted too."""
    return np.asarray(np.histogram(values, bins=edges)[0] / (values.size * (edges[1] - edges[0])))


def _edges(values: FloatArray) -> FloatArray:
    """Edges of a histogram that shows the bulk: a long tail is cut off after 99.5 % of the draws."""
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        room = 0.5 * max(abs(low), 1.0)
        return np.linspace(low - room, high + room, 12)
    bottom, first, last, top = np.quantile(values, [0.005, 0.25, 0.75, 0.995])
    spread = float(last - first)
    low = float(bottom) if bottom - low > spread else low
    high = float(top) if high - top > spread else high
    width = 2 * spread / np.cbrt(values.size)
    bins = int(np.clip(np.ceil((high - low) / width), 10, 50)) if width > 0 else 30
    return np.linspace(low, high, bins + 1)


def _prior_on_circle(prior: Any, scale: Scale) -> tuple[FloatArray, FloatArray]:
    grid = np.linspace(scale.start, scale.end, 361)[:-1]
    return grid, np.broadcast_to(np.asarray(prior(grid), dtype=float), grid.shape)


def _rose(ax: Axes, values: FloatArray, density: Any, scale: Scale, name: str) -> None:
    drawn = rose(values.ravel(), scale=scale, density=density, legend=False, ax=ax)
    drawn.set_xlabel(name if density is None else f"{name} (dashed: prior)")
    for line in drawn.lines:
        if line.get_label() == "density":
            line.set(label="prior", **_PRIOR)


def _chain_key(ax: Axes, chains: int) -> None:
    """Say above the first trace what the shades are; of many chains, the first and the last."""
    handles = [
        Line2D([], [], color=c, linewidth=2.0, label=f"chain {i + 1}") for i, c in enumerate(shades(chains))
    ]
    legend_above(ax, handles if chains <= 6 else [handles[0], handles[-1]], handlelength=1.2)


def _panels(chains: Mapping[str, FloatArray], circular: Collection[str]) -> AxesArray:
    import matplotlib.pyplot as plt

    rows = len(chains)
    heights = [2.9 if name in circular else 2.0 for name in chains]
    figure = plt.figure(figsize=(9.0, sum(heights) + 0.5), layout=round_layout())
    grid = figure.add_gridspec(rows, 2, width_ratios=(2.0, 1.0), height_ratios=heights)
    panels = np.empty((rows, 2), dtype=object)
    for row, name in enumerate(chains):
        panels[row, 0] = figure.add_subplot(grid[row, 0])
        panels[row, 1] = figure.add_subplot(grid[row, 1], projection="polar" if name in circular else None)
    return panels
