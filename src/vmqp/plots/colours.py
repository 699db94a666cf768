"""A cyclic colour map for angles, and the wheel that explains it.

The colours lie on an ellipse in OKLab, a space in which distance is what the eye sees, at equal distances along
it. Its long axis is lightness (0 is light, half a turn is dark: a grey copy shows the cosine), its short one runs
from orange to blue (a quarter and three quarters of a turn: what red-green blindness leaves). Of the ellipses within
sRGB that a random search went through, its colours a quarter and a twelfth of a turn apart are farthest from each
other, to the usual eye and to three kinds of colour blindness at once. The least distance of colours a quarter of
a turn apart is 0.25 (0.22 to the colour-blind); that of matplotlib's "twilight" is 0.10 (0.08).
"""

from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.transforms import ScaledTranslation

from vmqp.circle import TWO_PI, FloatArray
from vmqp.plots.scale import Scale
from vmqp.plots.style import width_of

__all__ = ["circle_colours", "colour_of", "draw_wheel"]

_COLOURS = 360
_GAP = 0.2  # inches between a map and its wheel
# Lightness, green to red, blue to yellow.
_CENTRE = np.array([0.62, 0.03, -0.025])
_TO_LIGHT = np.array([0.244, -0.04, 0.05])
_TO_ORANGE = np.array([0.0, 0.055, 0.15])

# OKLab to cone responses, whose cubes are linear in light, and those to linear sRGB (Ottosson 2020).
_TO_CONES = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


@cache
def circle_colours() -> Colormap:
    """The cyclic colour map: its last colour is next to its first.

    >>> circle_colours().N
    360
    """
    t = np.linspace(0.0, TWO_PI, 20 * _COLOURS + 1)[:, None]
    ellipse = _CENTRE + np.cos(t) * _TO_LIGHT + np.sin(t) * _TO_ORANGE
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(ellipse, axis=0), axis=1))])
    # Colour k stands for the angles from k to k + 1 degrees.
    even = (np.arange(_COLOURS) + 0.5) / _COLOURS * length[-1]
    lab = np.stack([np.interp(even, length, column) for column in ellipse.T], axis=-1)
    linear = (lab @ _TO_CONES.T) ** 3 @ _TO_RGB.T
    rgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return ListedColormap(rgb.tolist(), name="vmqp_circle").with_extremes(bad="0.85")


def colour_of(angles: FloatArray, scale: Scale) -> FloatArray:
    """Colours of angles, as rows of red, green, blue and opacity; grey where the angle is nan."""
    return np.asarray(circle_colours()(np.ma.masked_invalid(scale.fraction(angles))))


def draw_wheel(ax: Axes, scale: Scale, title: str = "direction") -> Axes:
    """Draw, to the right of some axes, a wheel that shows the colour of each direction.

    >>> from matplotlib.figure import Figure
    >>> wheel = draw_wheel(Figure().add_subplot(), Scale(360))
    >>> sorted(text.get_text() for text in wheel.texts)
    ['0°', '180°', '90°', '−90°']
    """
    size = float(np.clip(0.42 * width_of(ax), 1.1, 1.7))
    if ax.figure.get_layout_engine() is None:
        _make_room(ax, size + _GAP)
    # In inches from the middle of the right edge, whatever the layout makes of the axes.
    edge: Any = ax.transAxes
    inches = ax.figure.dpi_scale_trans + ScaledTranslation(1.0, 0.5, edge)
    wheel = ax.inset_axes((_GAP, -size / 2, size, size), transform=inches)
    wheel.set_label("wheel")
    rim = np.linspace(0.0, scale.period, _COLOURS + 1)
    directions = scale.direction(rim)
    colours = (rim[:-1] + rim[1:]) / 2
    for turn in (0.0, np.pi) if scale.axial else (0.0,):
        x, y = np.cos(directions + turn), np.sin(directions + turn)
        radii = np.array([[0.55], [1.0]])
        wheel.pcolormesh(
            radii * x,
            radii * y,
            scale.fraction(colours)[None, :],
            cmap=circle_colours(),
            vmin=0.0,
            vmax=1.0,
            rasterized=True,
            edgecolors="face",
            linewidth=0.2,
        )
    labels = scale.sides or scale.round_tick_labels()
    for tick, label in zip(scale.round_ticks(), labels, strict=True):
        where = float(scale.direction(tick))
        wheel.text(
            1.12 * np.cos(where),
            1.12 * np.sin(where),
            label,
            ha=_side(np.cos(where), "left", "right"),
            va=_side(np.sin(where), "bottom", "top"),
            fontsize="small",
        )
    # Labels lie within the axes, so that any layout leaves room for them.
    wheel.set_xlim(-1.8, 1.8)
    wheel.set_ylim(-1.8, 1.8)
    wheel.set_axis_off()
    wheel.set_title(title, fontsize="small", pad=0)
    return wheel


def _make_room(ax: Axes, inches: float) -> None:
    """Narrow axes that no layout cares for."""
    box = ax.get_position(original=True)
    pixels = ax.figure.transSubfigure.transform([(box.x0, box.y0), (box.x1, box.y1)])
    width = float(pixels[1, 0] - pixels[0, 0]) / ax.figure.dpi
    kept = max(0.3, 1 - inches / width)
    ax.set_position((box.x0, box.y0, kept * box.width, box.height))


def _side(position: float, positive: str, negative: str) -> str:
    """Alignment of a label that stands off the middle on one side."""
    if abs(position) < 1e-6:
        return "center"
    return positive if position > 0 else negative
