"""How much memory a map needs, and how many draws of it fit a bound."""

import math
from contextlib import suppress

import numpy as np

from vmqp.errors import InputError
from vmqp.run import machine

__all__ = ["FIELDS", "USUAL", "affordable_draws", "fixed_memory", "read_memory"]

_UNKNOWN = 4e9  # the bound where the system does not say what it has
_PROCESS = 0.45e9  # an interpreter with all that vmqp imports and compiles
_PART = 80e6  # a worker that fills a root, a part at a time
USUAL = 400
"""Draws of each chain where no number is given."""
FIELDS = 3
"""By how much a draw is larger with its fields."""
_FEWEST = 8
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
        known = machine.memory()
        return 0.5 * known if known < math.inf else _UNKNOWN
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


def fixed_memory(d: int, k: int, chains: int, workers: int, *, noisy: bool = False) -> float:
    """Bytes that a map of d places with k neighbours needs before any draw is kept."""
    entries = k + 1.0
    graph = 20.0 * entries + 60.0  # neighbours, slots, columns of all and of the new places
    roots = 8.0 * entries * (max(2, workers) + 1.0) + 60.0  # one is being filled; diagonal, weights, inputs
    states = 80.0 * (2.0 * chains + 1.0)  # angles and sums, of each chain and of the chunks on their way
    moves = (200.0 + 20.0 * entries * noisy) * workers  # with noise each has a mass of its own
    return _PROCESS + workers * _PART + d * (graph + roots + states + moves)


def affordable_draws(
    d: int, m: int, k: int, chains: int, workers: int, bound: float, *, noisy: bool = False
) -> int:
    """How many draws of each chain fit the bound in single precision; with fields beside them, a third of that.

    >>> affordable_draws(90_260, 90_000, 20, 4, 2, 4e9)
    1774
    """
    fixed = fixed_memory(d, k, chains, workers, noisy=noisy)
    room = 0.8 * (bound - fixed)  # results are summarised and written beside
    draw = 4.0 * m * chains * (1 + noisy)  # of the angles, and of what is observed of them
    if room < _FEWEST * draw:
        needed = fixed + _FEWEST * draw / 0.8
        raise InputError(
            f"a map of {m:,} places with {k} neighbours and {chains} chains needs about {needed / 1e9:.2g} GB, but the "
            f"bound is {bound / 1e9:.2g} GB: give a larger memory, such as memory='{math.ceil(needed / 1e9) + 1}GB', a "
            "coarser grid, fewer neighbors or fewer chains."
        )
    return int(room // draw)
