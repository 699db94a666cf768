"""The nearest places among those that come earlier in an order.

A KD-tree of the first b places serves a whole block of them: more neighbours than needed are asked for, and those that
come later are left out. Blocks grow with what is there, so that a few trees do for all.
"""

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.spatial import cKDTree

from vmqp.circle import FloatArray

__all__ = ["earlier_neighbours"]

_GROWTH = 1.4  # of a block over what lies before it: then most of the nearest are early enough
_BATCH = 50_000

Index = npt.NDArray[np.int32]


def earlier_neighbours(points: FloatArray, order: Index, k: int, workers: int = 1) -> tuple[Index, Index]:
    """Return the k nearest earlier places of each, (d, k), nearest first, and how many there are, (d,).

    Where fewer than k come earlier, the place itself fills the rest.

    >>> order = np.array([0, 2, 1], dtype=np.int32)
    >>> earlier_neighbours(np.array([[0.0], [1.0], [3.0]]), order, 2)[0].tolist()
    [[0, 0], [0, 2], [0, 2]]
    """
    d = len(points)
    ranked = np.ascontiguousarray(points[order])
    found = np.repeat(np.arange(d, dtype=np.int32)[:, None], k, axis=1)  # by rank
    counts = np.minimum(np.arange(d), k).astype(np.int32)
    first = 1
    while first < d and k:
        last = min(d, max(4 * k, int(_GROWTH * first) + 1))
        tree = cKDTree(ranked[:last])
        for start in range(first, last, _BATCH):
            rows = np.arange(start, min(start + _BATCH, last))
            asked = 2 * k + 8
            while rows.size:
                asked = min(asked, last)
                _, near = tree.query(ranked[rows], k=range(1, asked + 1), workers=workers)
                done = _earlier(rows, np.ascontiguousarray(near), counts, found)
                if asked == last:
                    break
                rows, asked = rows[~done], 2 * asked
        first = last
    neighbours = np.empty_like(found)
    neighbours[order] = order[found]
    by_place = np.empty_like(counts)
    by_place[order] = counts
    return neighbours, by_place


@njit(cache=True, nogil=True)
def _earlier(rows, near, counts, found):  # type: ignore[no-untyped-def]
    """Keep the first of the nearest that come earlier; say for each row whether there were enough."""
    done = np.zeros(rows.shape[0], np.bool_)
    for r in range(rows.shape[0]):
        rank, kept = rows[r], 0
        for c in range(near.shape[1]):
            if kept == counts[rank]:
                break
            if near[r, c] < rank:
                found[rank, kept] = near[r, c]
                kept += 1
        done[r] = kept == counts[rank]
    return done
