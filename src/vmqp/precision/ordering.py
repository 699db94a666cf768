"""An order of places from coarse to fine: each one far from all before it.

A Vecchia approximation conditions every place on some of those before it. It is most accurate where the first places
are spread out and the later ones fill the gaps between them: the maximum-minimum-distance order. Here it is found to
within a factor: at a distance r all places are taken that are at least r from every place taken so far, then r is made
shorter by a fifth. Cells of width r find the places nearby, so that each pass costs a time linear in their number.

References: Guinness (2018), "Permutation and grouping methods for sharpening Gaussian process approximations";
Schäfer, Katzfuss and Owhadi (2021), "Sparse Cholesky factorization by Kullback-Leibler minimization".
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from vmqp.circle import FloatArray

__all__ = ["coarse_to_fine"]

_SHORTER = 0.8
_PASSES = 110  # down to 2e-11 of the extent: places that are closer still come last
_CELL_COLUMNS = 3  # cells are made of so many columns; distances are of all

Index = npt.NDArray[np.int32]


def coarse_to_fine(points: FloatArray, first: int = 0) -> Index:
    """Return the order of points (d, p): the first `first` rows, then the others, each from coarse to fine.

    >>> line = np.linspace(0.0, 1.0, 9)[:, None]
    >>> order = coarse_to_fine(line)
    >>> bool(np.diff(np.sort(line[order[:3], 0])).min() > 0.3)
    True
    >>> sorted(coarse_to_fine(line, first=4)[:4].tolist())
    [0, 1, 2, 3]
    """
    d = len(points)
    extent = np.ptp(points, axis=0) if d and points.shape[1] else np.zeros(0)
    widest = float(extent.max(initial=0.0))
    largest = widest * float(np.sqrt(np.square(extent / widest).sum())) if widest > 0.0 else 0.0
    # Cells of the columns along which places spread most tell them apart best.
    columns = np.argsort(-extent, kind="stable")
    sorted_points = np.ascontiguousarray(points[:, columns], dtype=np.float64)
    order = np.empty(d, np.int32)
    count = _take(sorted_points, np.arange(first, dtype=np.int32), largest, order, 0)
    _take(sorted_points, np.arange(first, d, dtype=np.int32), largest, order, count)
    return order


@njit(cache=True, nogil=True)
def _cell(points, i, width, shift, q):  # type: ignore[no-untyped-def]
    """A hash of the cell of point i, moved by some cells along each of q columns."""
    value = np.uint64(1469598103934665603)
    for c in range(q):
        coordinate = np.int64(np.floor(points[i, c] / width)) + shift[c]
        value = (value ^ np.uint64(coordinate)) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@njit(cache=True, nogil=True)
def _insert(points, i, width, shift, q, heads, following):  # type: ignore[no-untyped-def]
    home = _cell(points, i, width, shift, q) & np.uint64(heads.shape[0] - 1)
    following[i] = heads[home]
    heads[home] = i


@njit(cache=True, nogil=True)
def _nearer(points, i, width, shift, q, heads, following):  # type: ignore[no-untyped-def]
    """The squared distance to a place that was taken and is closer than `width`; infinite where there is none."""
    p, limit = points.shape[1], width * width
    for combination in range(3**q):
        rest = combination
        for c in range(q):
            shift[c] = rest % 3 - 1
            rest //= 3
        j = heads[_cell(points, i, width, shift, q) & np.uint64(heads.shape[0] - 1)]
        while j >= 0:
            square = 0.0
            for c in range(p):
                gap = points[i, c] - points[j, c]
                square += gap * gap
                if square >= limit:
                    break
            if square < limit:
                return square
            j = following[j]
    return np.inf


@njit(cache=True, nogil=True)
def _shuffle(rows):  # type: ignore[no-untyped-def]
    """Shuffle in place, always in the same way: places of one pass are equally good, and rows follow a pattern."""
    state = np.uint64(88172645463325252)
    for i in range(rows.shape[0] - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        j = np.int64((state >> np.uint64(11)) % np.uint64(i + 1))
        rows[i], rows[j] = rows[j], rows[i]


@njit(cache=True, nogil=True)
def _take(points, rows, largest, order, count):  # type: ignore[no-untyped-def]
    """Append the rows to the order, after the `count` places that are in it already."""
    q = min(points.shape[1], _CELL_COLUMNS)
    size = 16
    while size < 2 * points.shape[0]:
        size *= 2
    heads, following = np.empty(size, np.int32), np.empty(points.shape[0], np.int32)
    known = np.full(points.shape[0], np.inf)  # squared distance to a place that was taken, where one was met
    left = rows.copy()
    none = np.zeros(q, np.int64)
    shift = np.zeros(q, np.int64)
    width = largest
    for _ in range(_PASSES):
        if left.shape[0] == 0 or not width > 0.0:
            break
        heads[:] = -1
        for k in range(count):
            _insert(points, order[k], width, none, q, heads, following)
        remaining, before = 0, count
        for k in range(left.shape[0]):
            i = left[k]
            if known[i] >= width * width:
                known[i] = _nearer(points, i, width, shift, q, heads, following)
            if known[i] < width * width:
                left[remaining] = i
                remaining += 1
            else:
                order[count] = i
                count += 1
                _insert(points, i, width, none, q, heads, following)
        left = left[:remaining]
        _shuffle(order[before:count])
        width *= _SHORTER
    for k in range(left.shape[0]):
        order[count] = left[k]
        count += 1
    return count
