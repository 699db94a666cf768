"""Conventions, units, components and times: what measurements come in becomes what a model is given.

Directions are turned from one convention to another, speeds and directions become components and back, and dates
become the hour of the day or the days since the first. A list or a pandas Series goes in and a NumPy array comes
out, a single value gives a float, and what is missing (nan, None, NaT) stays missing as nan.

>>> compass_to_math([0, 90])  # north and east, counter-clockwise from east
array([90.,  0.])
>>> components(270, 5.0, convention="from")  # a west wind blows to the east
(5.0, 0.0)
>>> phase(["2024-03-01 06:30", "2024-03-02 23:45"], "day")
array([ 6.5 , 23.75])
"""

from vmqp.convert.directions import compass_to_math, math_to_compass, opposite, rescale
from vmqp.convert.times import clock, elapsed, phase
from vmqp.convert.vectors import Convention, components, direction_and_speed

__all__ = [
    "Convention",
    "clock",
    "compass_to_math",
    "components",
    "direction_and_speed",
    "elapsed",
    "math_to_compass",
    "opposite",
    "phase",
    "rescale",
]
