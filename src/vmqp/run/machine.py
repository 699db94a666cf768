"""What this machine has: cores and memory."""

import math
import os

__all__ = ["cores", "memory"]


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
