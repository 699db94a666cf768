"""The door of the pictures: what is given becomes arrays of one length, or an error that says what to give."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vmqp.circle import FloatArray
from vmqp.errors import InputError

__all__ = ["angles_at", "chains_of", "column", "plane"]


def column(values: ArrayLike, name: str, length: int | None = None, *, nan: bool = False) -> FloatArray:
    """Return a flat array of numbers, of the length that is needed. `nan=True` lets nan pass.

    >>> column([1, 2], "x").tolist()
    [1.0, 2.0]
    """
    array = _numbers(values, name)
    if array.ndim != 1:
        raise InputError(
            f"{name} must have one axis but has shape {array.shape}; give one number for each place."
        )
    if length is not None and len(array) != length:
        raise InputError(
            f"{name} must hold {length} numbers but holds {len(array)}; give one for each place."
        )
    bad = np.isinf(array) if nan else ~np.isfinite(array)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"{name} must be finite but {int(bad.sum())} of {bad.size} are not, the first at index {first}; "
            "drop or fill them."
        )
    return array


def plane(places: ArrayLike, name: str = "places") -> FloatArray:
    """Return places as an array of two columns.

    >>> plane([[0, 1], [2, 3]]).shape
    (2, 2)
    """
    array = _numbers(places, name)
    if array.ndim != 2 or array.shape[1] != 2 or len(array) == 0:
        raise InputError(
            f"{name} must have shape (rows, 2), with at least one row, but has {array.shape}; "
            "a map needs two columns, such as longitude and latitude."
        )
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise InputError(
            f"{name} must be finite but row {row} is {array[row].tolist()}; drop or fill such rows."
        )
    return array


def angles_at(observed: Any, name: str = "observed") -> tuple[Any, Any]:
    """Split a pair of places and angles.

    >>> angles_at(([1.0, 2.0], [0.1, 0.2]))
    ([1.0, 2.0], [0.1, 0.2])
    """
    if not isinstance(observed, (tuple, list)) or len(observed) != 2:
        raise InputError(
            f"{name} must be a pair of places and angles but is {type(observed).__name__}; give (places, angles)."
        )
    return observed[0], observed[1]


def chains_of(draws: Mapping[str, ArrayLike]) -> dict[str, FloatArray]:
    """Return the draws of each parameter as an array of shape (chains, draws).

    >>> {name: array.shape for name, array in chains_of({"nugget": [0.1, 0.2, 0.3]}).items()}
    {'nugget': (1, 3)}
    """
    if not isinstance(draws, Mapping) or not draws:
        raise InputError(
            f"draws must map names of parameters to arrays but is {draws!r:.60}; give at least one parameter."
        )
    chains = {}
    for name, values in draws.items():
        array = np.atleast_2d(_numbers(values, f"draws of {name!r}"))
        if array.ndim != 2 or array.shape[1] < 2 or not np.isfinite(array).all():
            raise InputError(
                f"draws of {name!r} must be finite, of shape (chains, draws) with two draws or more, but have shape "
                f"{array.shape}; give one row for each chain."
            )
        chains[str(name)] = array
    return chains


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers but are not ({error}); convert them first.") from error
