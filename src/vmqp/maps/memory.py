"""How much memory a map needs, and how many draws of it fit a bound."""

import math
import os
from contextlib import suppress

import numpy as np

from vmqp.errors import InputError

__all__ = ["affordable_draws", "fixed_memory", "read_memory"]

_PROCESS = 0.45e9  # an interpreter with all that vmqp imports and compiles
_PART = 80e6  # a worker that fills a root, a part at a time
_FEWEST, _MOST = 8, 400
_LONG = 60  # letters of a value that a message shows
_UNITS = {
    "": 1.0,
    "b": 1.0,
    "kb": 1e3,
    "mb": 1e6,
    "gb": 1e9,
    "tb": 1e12,
    "k": 1e3,
    "m": 1e6,
    "g": 1e9,
    "t": 1e12,
}


def read_memory(given: object) -> float:
    """Bytes from a number or a text such as "4GB"; half of the machine's memory if nothing is given.

    >>> read_memory("1.5 GB")
    1500000000.0
    """
    if given is None:
        return 0.5 * _machine()
    value = math.nan
    if isinstance(given, str):
        text = given.strip().lower().replace(" ", "")
        number = text.rstrip("bkmgt")
        try:
            value = float(number) * _UNITS[text[len(number) :]]
        except (ValueError, KeyError):
            value = math.nan
    elif isinstance(given, int | float | np.number) and not isinstance(given, bool):
        with suppress(OverflowError, TypeError):
            value = float(given)
    if not 0.0 < value < math.inf:
        text = repr(given) if len(repr(given)) < _LONG else f"a {type(given).__name__}"
        raise InputError(f"memory is {text}: give a number of bytes, or a text such as '4GB'.")
    return value


def fixed_memory(d: int, k: int, chains: int, workers: int) -> float:
    """Bytes that a map of d places with k neighbours needs before any draw is kept."""
    graph = 20.0 * (k + 1) + 60.0  # neighbours, slots, columns of all and of the new places
    root = 8.0 * (k + 1) * 2.0 + 60.0  # one in use, one that is filled; diagonal, weights, inputs
    states = 80.0 * (2.0 * chains + 1.0)  # angles and sums, of each chain and of the chunks on their way
    moves = 200.0 * workers
    return _PROCESS + workers * _PART + d * (graph + root + states + moves)


def affordable_draws(d: int, m: int, k: int, chains: int, workers: int, bound: float) -> tuple[int, bool]:
    """How many draws of each chain fit the bound in single precision, and whether the fields of each do too.

    >>> affordable_draws(90_260, 90_000, 20, 4, 2, 4e9)
    (400, True)
    """
    fixed = fixed_memory(d, k, chains, workers)
    room = 0.8 * (bound - fixed)  # results are summarised and written beside
    draw = 4.0 * m * chains
    if room < _FEWEST * draw:
        needed = fixed + _FEWEST * draw / 0.8
        raise InputError(
            f"a map of {m:,} places with {k} neighbours and {chains} chains needs about {needed / 1e9:.2g} GB, but the "
            f"bound is {bound / 1e9:.2g} GB: give a larger memory, such as memory='{math.ceil(needed / 1e9) + 1}GB', a "
            "coarser grid, fewer neighbors or fewer chains."
        )
    fits = int(room // draw)
    return min(_MOST, fits), fits >= 3 * _MOST


def _machine() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not known on this system
        return 8e9
