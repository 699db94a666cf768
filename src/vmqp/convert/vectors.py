"""Directions and speeds as components to the east and to the north, and back."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import cosdg, sindg

from vmqp.circle import TWO_PI, FloatArray, FloatOrArray, as_result, wrapped
from vmqp.convert.numbers import read_numbers
from vmqp.errors import InputError
from vmqp.tables.periods import read_period
from vmqp.tables.words import shown

__all__ = ["Convention", "components", "direction_and_speed"]

Convention: TypeAlias = Literal["from", "to", "math"]
_CONVENTIONS = ("from", "to", "math")


def components(
    direction: ArrayLike, speed: ArrayLike = 1.0, *, convention: Convention, period: Any = 360
) -> tuple[FloatOrArray, FloatOrArray]:
    """Return the speed to the east, u, and to the north, v.

    `convention` says what a direction means, and must be given:

    - "from": clockwise from north, where the motion comes from, as for winds: u = −s sin d, v = −s cos d,
    - "to": clockwise from north, where it goes to, as for headings and currents: u = s sin d, v = s cos d,
    - "math": counter-clockwise from east, where it goes to: u = s cos d, v = s sin d.

    Where there is no speed both components are 0, also without a direction: a calm. Otherwise what is missing makes
    them nan.

    >>> from vmqp.convert import components
    >>> components([270, 180], [5.0, 2.0], convention="from")
    (array([5., 0.]), array([0., 2.]))
    >>> components(90, convention="math")
    (0.0, 1.0)
    """
    _check_convention(convention)
    length, _ = read_period(period)
    angle, size = _paired(
        read_numbers(direction, "direction"), read_numbers(speed, "speed"), "direction", "speed"
    )
    if (size < 0).any():
        raise InputError(
            f"speed is {float(size[size < 0][0]):g}: give speeds from 0, and turn the direction with `opposite`."
        )
    # Sine and cosine of degrees are exact at the quarters, and north winds have no part to the east.
    degrees = wrapped(angle, length) / length * 360.0
    sine, cosine = sindg(degrees), cosdg(degrees)
    east, north = (cosine, sine) if convention == "math" else (sine, cosine)
    sign = -1.0 if convention == "from" else 1.0
    # Adding 0 makes zeros of -0.
    u, v = (np.where(size == 0, 0.0, sign * size * part) + 0.0 for part in (east, north))
    return as_result(u), as_result(v)


def direction_and_speed(
    u: ArrayLike, v: ArrayLike, *, convention: Convention, period: Any = 360
) -> tuple[FloatOrArray, FloatOrArray]:
    """Return the direction, in [0, period), and the speed of components to the east, u, and to the north, v.

    `convention` is one of those of `components`, and must be given. Where both components are 0 there is no
    direction: it is nan, and never 0, which would be north.

    >>> from vmqp.convert import direction_and_speed
    >>> direction_and_speed([5.0, 0.0], [0.0, 0.0], convention="from")
    (array([270.,  nan]), array([5., 0.]))
    >>> direction_and_speed(1.0, 1.0, convention="to", period="radians")
    (0.7853981633974483, 1.4142135623730951)
    """
    _check_convention(convention)
    length, _ = read_period(period)
    east, north = _paired(read_numbers(u, "u"), read_numbers(v, "v"), "u", "v")
    if convention == "math":
        radians = np.arctan2(north, east)
    elif convention == "to":
        radians = np.arctan2(east, north)
    else:
        radians = np.arctan2(-east, -north)
    speed = np.hypot(east, north)
    angle = wrapped(np.asarray(radians / TWO_PI * length), length, 0.0) + 0.0
    return as_result(np.where(speed == 0, np.nan, angle)), as_result(speed)


def _check_convention(convention: Any) -> None:
    if not isinstance(convention, str) or convention not in _CONVENTIONS:
        raise InputError(
            f"convention is {shown(convention)}: give 'from' (clockwise from north, where it comes from), 'to' "
            "(clockwise from north, where it goes to) or 'math' (counter-clockwise from east, where it goes to)."
        )


def _paired(first: FloatArray, second: FloatArray, *names: str) -> tuple[FloatArray, FloatArray]:
    try:
        one, other = np.broadcast_arrays(first, second)
    except ValueError as error:
        raise InputError(
            f"{names[0]} and {names[1]} have shapes {first.shape} and {second.shape}: give as many of one as of the "
            "other."
        ) from error
    return one, other
