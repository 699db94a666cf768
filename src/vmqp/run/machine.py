"""What this machine has, cores and memory, and how much of the memory a run may use."""

import math
import os
from contextlib import suppress

from vmqp.errors import InputError

__all__ = ["cores", "memory", "read_memory"]

_UNKNOWN = 4e9  # the bound where the system does not say what it has
_LONG = 60  # letters of a value that a message shows
_UNITS = {"": 1.0, "b": 1.0} | {
    f"{unit}{b}": 1e3**power for power, unit in enumerate("kmgt", 1) for b in ("", "b")
}


def cores() -> int:
    """Cores that this process may use.

    >>> cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> float:
    """Bytes of memory; infinite where the system does not say.

    >>> memory() > 1e6
    True
    """
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def read_memory(given: object) -> float:
    """Bytes from a number or a text such as "4GB"; half of the machine's memory if nothing is given.

    >>> read_memory("1.5 GB")
    1500000000.0
    """
    if given is None:
        known = memory()
        return 0.5 * known if known < math.inf else _UNKNOWN
    value = math.nan
    if isinstance(given, str):
        text = given.strip().lower().replace(" ", "")
        number = text.rstrip("bkmgt")
        with suppress(ValueError, KeyError):
            value = float(number) * _UNITS[text[len(number) :]]
    elif not isinstance(given, bool):
        with suppress(OverflowError, TypeError, ValueError):
            value = float(given)  # type: ignore[arg-type]  # anything else raises
    if not 0.0 < value < math.inf:
        text = repr(given) if len(repr(given)) < _LONG else f"a {type(given).__name__}"
        raise InputError(f"memory is {text}: give a number of bytes, or a text such as '4GB'.")
    return value
