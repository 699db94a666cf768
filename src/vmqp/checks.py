"""Checks of options at the door."""

import math
from typing import Any

from vmqp.errors import InputError

__all__ = ["check_count", "check_positive"]

_BITS = 256  # as long as a seed should be, and short enough for products of counts to be floats


def check_count(value: Any, name: str, least: int, meaning: str) -> int:
    """A whole number, at least ``least``; NumPy's integers are accepted too.

    >>> check_count(4, "chains", 1, "chains")
    4
    >>> check_count(0, "chains", 1, "chains")
    Traceback (most recent call last):
    vmqp.errors.InputError: chains is 0, but it is the number of chains: give a whole number, at least 1.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = value.__index__()
    except (AttributeError, TypeError):
        number = None
    if number is not None and number.bit_length() > _BITS:
        raise InputError(
            f"{name} is a number of {number.bit_length()} bits: give one of at most {_BITS} bits."
        )
    if number is None or number < least:
        raise InputError(
            f"{name} is {value!r}, but it is the number of {meaning}: give a whole number, at least {least}."
        )
    return int(number)


def check_positive(value: Any, name: str, optional: bool = False) -> None:
    """Refuse an option that is not a positive number.

    >>> check_positive(2.5, "time_limit")
    >>> check_positive(-1.0, "time_limit")
    Traceback (most recent call last):
    vmqp.errors.InputError: time_limit is -1.0, but it must be a positive number.
    """
    if value is None and optional:
        return
    try:
        fine = not isinstance(value, bool | str) and 0.0 < float(value) < math.inf
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine:
        raise InputError(f"{name} is {value!r}, but it must be a positive number.")
