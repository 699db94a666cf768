"""Pictures of angles and of their predictions, from arrays to matplotlib axes.

Each function draws on the axes it is given (`ax` or `axes`) and returns them; without any it makes a figure that
shows in a notebook. Angles come in the user's period, with a :class:`Scale` that tells it. What colours tell
apart, lightness, dashes or shapes do too.

>>> from matplotlib.figure import Figure
>>> from vmqp import plots
>>> scale = plots.Scale(360, origin=0.0, compass=True)
>>> ax = Figure().add_subplot()
>>> plots.curve([0, 1, 2], [340, 355, 10], [330, 345, 0], [350, 5, 20], scale=scale, ax=ax) is ax
True
"""

from vmqp.plots.colours import circle_colours
from vmqp.plots.lags import autocorrelation
from vmqp.plots.line import curve
from vmqp.plots.maps import direction_map, variance_map
from vmqp.plots.polar import rose, roses
from vmqp.plots.scale import Scale
from vmqp.plots.traces import parameters
from vmqp.plots.uniformity import calibration
from vmqp.plots.vectors import arrows

__all__ = [
    "Scale",
    "arrows",
    "autocorrelation",
    "calibration",
    "circle_colours",
    "curve",
    "direction_map",
    "parameters",
    "rose",
    "roses",
    "variance_map",
]
