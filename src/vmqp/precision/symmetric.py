"""Passes over a symmetric matrix that NumPy would make with temporaries: its norm, and its other triangle."""

import numpy as np
from numba import njit

__all__ = ["mirror", "row_norm", "unpack"]

_BLOCK = 32  # rows and columns of a tile: a tile and its mirror image fit into the first-level cache


@njit(cache=True, nogil=True)
def mirror(lower, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with the symmetric matrix whose lower triangle is given."""
    d = lower.shape[0]
    for first in range(0, d, _BLOCK):
        for second in range(0, first + 1, _BLOCK):
            for i in range(first, min(first + _BLOCK, d)):
                for j in range(second, min(second + _BLOCK, i + 1)):
                    value = lower[i, j]
                    out[i, j] = value
                    out[j, i] = value


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def row_norm(matrix):  # type: ignore[no-untyped-def]
    """The largest sum of absolute values over a row, or infinity where one is not finite."""
    largest = 0.0
    for i in range(matrix.shape[0]):
        row = matrix[i]
        total = 0.0
        for j in range(row.shape[0]):
            total += abs(row[j])
        if not total < np.inf:
            return np.inf
        largest = max(largest, total)
    return largest


@njit(cache=True, nogil=True)
def unpack(packed, out):  # type: ignore[no-untyped-def]
    """Fill the lower triangle of ``out`` from its rows, one after the other; return the norm of the full matrix.

    The norm is the largest sum of absolute values over a row, or infinity where one is not finite. What lies above
    the diagonal of ``out`` is left as it is.
    """
    d = out.shape[0]
    totals = np.zeros(d)
    start = 0
    for i in range(d):
        row, given, own = out[i, : i + 1], packed[start : start + i + 1], 0.0
        for j in range(i):
            value = given[j]
            row[j] = value
            size = abs(value)
            own += size
            totals[j] += size
        row[i] = given[i]
        totals[i] += own + abs(given[i])
        start += i + 1
    largest = 0.0
    for i in range(d):
        if not totals[i] < np.inf:
            return np.inf
        largest = max(largest, totals[i])
    return largest
