"""Numbers at the door of the conversions: an array of floats in which nan stands for what is missing."""

from typing import Any

import numpy as np

from vmqp.circle import FloatArray
from vmqp.errors import InputError

__all__ = ["read_numbers"]


def read_numbers(values: Any, name: str) -> FloatArray:
    """Return finite numbers as an array of floats; nan, None and masked cells become nan.

    >>> read_numbers([1, None], "angle")
    array([ 1., nan])
    >>> read_numbers(["north"], "angle")
    Traceback (most recent call last):
    vmqp.errors.InputError: angle must be numbers but are not (could not convert string to float: 'north'): ...
    """
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(float), np.nan)
        if np.asarray(values).dtype.kind in "mMc":
            raise TypeError(f"they are of type {np.asarray(values).dtype}")
        numbers: FloatArray = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name} must be numbers but are not ({str(error)[:200]}): convert them first."
        ) from error
    infinite = np.isinf(numbers)
    if infinite.any():
        where = tuple(int(i) for i in np.argwhere(infinite)[0])
        place = f" at index {where[0] if len(where) == 1 else where}" if where else ""
        raise InputError(f"{name} is infinite{place}: give finite numbers, and nan for what is missing.")
    return numbers
