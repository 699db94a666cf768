"""Conventions of direction, and units.

A compass direction is counted clockwise from north, a mathematical one counter-clockwise from east. A wind is named
by where it comes from, a heading by where it goes to. Angles come back in [0, period), and nan stays nan.
"""

from typing import Any

from numpy.typing import ArrayLike

from vmqp.circle import FloatOrArray, as_result, wrapped
from vmqp.convert.numbers import read_numbers
from vmqp.tables.periods import read_period

__all__ = ["compass_to_math", "math_to_compass", "opposite", "rescale"]


def compass_to_math(angle: ArrayLike, *, period: Any = 360) -> FloatOrArray:
    """Turn directions clockwise from north into directions counter-clockwise from east, in [0, period).

    What the direction says stays the same: a wind named by where it comes from still is. `period` is a number or a
    name such as "degrees" or "radians".

    >>> from vmqp.convert import compass_to_math
    >>> compass_to_math([0, 90, 180, 270])
    array([ 90.,   0., 270., 180.])
    >>> compass_to_math(0.0, period="radians")
    1.5707963267948966
    """
    return _mirrored(angle, period)


def math_to_compass(angle: ArrayLike, *, period: Any = 360) -> FloatOrArray:
    """Turn directions counter-clockwise from east into directions clockwise from north, in [0, period).

    >>> from vmqp.convert import math_to_compass
    >>> math_to_compass([0, 90, float("nan")])
    array([90.,  0., nan])
    """
    return _mirrored(angle, period)


def opposite(angle: ArrayLike, *, period: Any = 360) -> FloatOrArray:
    """Turn directions by half a period: from where a wind comes to where it goes, and back.

    >>> from vmqp.convert import opposite
    >>> opposite([0, 270])
    array([180.,  90.])
    """
    length, _ = read_period(period)
    return as_result(wrapped(wrapped(read_numbers(angle, "angle"), length) + length / 2, length, 0.0))


def rescale(angle: ArrayLike, from_period: Any, to_period: Any) -> FloatOrArray:
    """Write angles of one period in another: degrees as radians, radians as hours, and so on.

    Periods are numbers or names, as in `regress`: "radians", "degrees", "gradians", "turns", "hours", and others.
    Nothing is wrapped, so that negative angles and whole turns stay, and differences can be rescaled too.

    >>> from vmqp.convert import rescale
    >>> rescale([90, -180], "degrees", "radians").round(4).tolist()
    [1.5708, -3.1416]
    >>> rescale(18, "hours", 360)
    270.0
    """
    (old, _), (new, _) = read_period(from_period), read_period(to_period)
    values = read_numbers(angle, "angle")
    return as_result(values if old == new else values / old * new)


def _mirrored(angle: ArrayLike, period: Any) -> FloatOrArray:
    """Mirror at the diagonal between north and east; it is its own inverse."""
    length, _ = read_period(period)
    # Wrapped first: a quarter less a large angle would lose digits.
    return as_result(wrapped(length / 4 - wrapped(read_numbers(angle, "angle"), length), length, 0.0))
