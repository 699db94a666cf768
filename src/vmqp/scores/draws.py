"""Draws of m places as a score takes them: checked, and by blocks of places, for they may be large."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vmqp.circle import TWO_PI, FloatArray, check_angles, wrapped
from vmqp.errors import InputError

__all__ = ["blocks", "checked"]

# Work goes by blocks of places with so many draws in all: 4 MB for each array that a score needs.
_BLOCK = 1 << 19


def checked(draws: ArrayLike, truth: ArrayLike) -> tuple[NDArray[np.generic], FloatArray]:
    """Check the shapes and the truth; the draws are checked by blocks, for they may be large."""
    observed = check_angles(truth, "truth", empty=True)
    try:
        angles = np.asarray(draws)
    except ValueError as error:
        raise InputError(f"draws must be a table of numbers but are not ({error}); give an array.") from error
    if angles.ndim != 2 or observed.ndim != 1 or angles.shape[1] != observed.size:
        raise InputError(
            f"draws must have shape (draws, m) and truth (m,) but they have {angles.shape} and "
            f"{observed.shape}; stack the draws of several chains with draws.reshape(-1, m)."
        )
    if angles.shape[0] == 0:
        raise InputError("draws must hold at least one draw of each place but hold none; give some.")
    if angles.dtype.kind not in "fiu":
        raise InputError(f"draws must be real numbers but are of type {angles.dtype}; convert them first.")
    return angles, wrapped(observed, TWO_PI)


def blocks(angles: NDArray[np.generic], parts: int = 1) -> Iterator[tuple[slice, FloatArray]]:
    """Yield some places at a time with a copy of their draws, wrapped, that may be overwritten.

    A score that needs several arrays of their size asks for blocks of so many `parts` of one.
    """
    n, m = angles.shape
    width = max(1, _BLOCK // (n * parts))
    for start in range(0, m, width):
        places = slice(start, min(start + width, m))
        block = angles[:, places].astype(float)
        if not np.isfinite(block).all():
            draw, place = (int(i) for i in np.argwhere(~np.isfinite(block))[0])
            raise InputError(
                f"draws must be finite but draw {draw} of place {start + place} is {block[draw, place]}; "
                "drop or fill it."
            )
        yield places, wrapped(block, TWO_PI)
