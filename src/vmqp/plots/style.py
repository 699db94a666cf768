"""Colours, dashes and markers that differ in print and to any eye, and the axes that pictures are drawn on.

The colours are those of Okabe and Ito, told apart by the colour-blind. What differs in colour differs in
lightness, dashes or shape as well, so that a grey copy can be read.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.projections.polar import PolarAxes
from matplotlib.transforms import ScaledTranslation, blended_transform_factory
from numpy.typing import NDArray

from vmqp.errors import InputError

__all__ = ["BAND", "COLOURS", "DASHES", "OBSERVED", "PALE", "PREDICTED", "TRUTH"]

AxesArray: TypeAlias = NDArray[np.object_]

OBSERVED = "#000000"
PREDICTED = "#0072B2"
TRUTH = "#D55E00"
BAND = "#BFD9EA"
PALE = "#8FB8D8"

COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
# One more or one fewer than the colours: the pairs repeat only after 35 lines.
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))


def given_or_new(ax: Axes | None, size: tuple[float, float] = (6.4, 4.4)) -> Axes:
    """Return the axes that were given, or those of a new figure that shows in a notebook."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # here, so that importing this package chooses no backend

    return plt.subplots(figsize=size, layout="constrained")[1]


def polar_given_or_new(ax: Axes | None, size: tuple[float, float] = (4.8, 5.2)) -> PolarAxes:
    """Return polar axes: those given, or those of a new figure."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=size, layout=round_layout(), subplot_kw={"projection": "polar"})[1]
    if not isinstance(ax, PolarAxes):
        raise InputError(
            f"a rose needs polar axes but ax is {type(ax).__name__}; "
            'make it with plt.subplots(subplot_kw={"projection": "polar"}).'
        )
    return ax


def round_layout() -> ConstrainedLayoutEngine:
    """A layout with wider margins: matplotlib takes the labels around a circle for smaller than they are."""
    return ConstrainedLayoutEngine(h_pad=0.12, w_pad=0.12)


def legend_above(ax: Axes, handles: Sequence[Any] | None = None, **options: Any) -> Legend:
    """Put the legend between the axes and their title, where it covers nothing, in as many rows as it needs.

    An empty child of the axes, as high as the legend, makes matplotlib move a title above it and leave room.
    """
    if handles is None:
        handles = ax.get_legend_handles_labels()[0]
    size = 0.9 * float(rcParams["font.size"])
    handle = float(options.setdefault("handlelength", 2.0))
    columns = columns_that_fit(ax, [str(entry.get_label()) for entry in handles], size, handle)
    legend = ax.legend(
        handles=list(handles),
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        borderaxespad=0.3,
        borderpad=0.2,
        ncols=columns,
        frameon=False,
        fontsize=size,
        handletextpad=0.5,
        columnspacing=1.2,
        **options,
    )
    # A layout that made room for the legend's width would make the axes narrower, and so on without end.
    legend.set_in_layout(False)
    rows = -(-len(handles) // columns)
    top: Any = ax.transAxes
    inches = ax.figure.dpi_scale_trans + ScaledTranslation(0.0, 1.0, top)
    room = ax.inset_axes(
        (0.0, 0.0, 1.0, (1.55 * rows + 0.5) * size / 72),
        transform=blended_transform_factory(ax.transAxes, inches),
    )
    room.set_axis_off()
    return legend


def width_of(ax: Axes) -> float:
    """Width of the axes in inches, as far as it is known before the figure is drawn."""
    box = ax.get_window_extent()
    pixels = float(box.width)
    aspect = ax.get_aspect()
    if isinstance(aspect, (int, float)):
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        pixels = min(pixels, box.height * abs((right - left) / ((top - bottom) * aspect)))
    return pixels / ax.figure.dpi


def columns_that_fit(ax: Axes, labels: Sequence[str], size: float, handle: float) -> int:
    """How many columns a legend may have above or below the axes, its font and handles being of given sizes.

    The columns are as even as can be: four entries stand in one row or in two by two.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure(figsize=(5, 4)).add_subplot()
    >>> [columns_that_fit(ax, ["a" * letters] * 4, 10.0, 2.0) for letters in (2, 9, 30)]
    [4, 2, 1]
    """
    width = 72 * float(ax.get_window_extent().width / ax.figure.dpi) / size
    for columns in range(len(labels), 1, -1):
        longest = [max(map(len, part)) for part in np.array_split(np.array(labels, dtype=object), columns)]
        # A letter is about half as wide as high, and the gaps about a handle take nearly 2 of its height.
        if sum(0.5 * letters + handle + 1.9 for letters in longest) - 1.2 <= width:
            rows = -(-len(labels) // columns)
            return -(-len(labels) // rows)
    return 1


def mixed(colour: Any, share: NDArray[np.float64], other: Any = "white") -> NDArray[np.float64]:
    """Colours between `other` (share 0) and `colour` (share 1), as rows of red, green and blue.

    >>> mixed("black", np.array([0.0, 0.25])).tolist()
    [[1.0, 1.0, 1.0], [0.75, 0.75, 0.75]]
    """
    weight = np.clip(np.asarray(share, dtype=float), 0.0, 1.0)[..., None]
    return np.asarray(weight * np.array(to_rgb(colour)) + (1 - weight) * np.array(to_rgb(other)))
