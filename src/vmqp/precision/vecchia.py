"""A sparse precision M = U Uᵀ of many places: Vecchia's approximation.

The density of all places is a product of one place's density given those before it. Vecchia (1988) keeps of those only
the k nearest, c(i). With the conditional mean ``b·x_c(i)`` and variance v of a Gaussian, column i of U is

    U_ii = 1/√v,    U_ji = −b_j/√v  for j in c(i),

so U is triangular in the order of the places, has k + 1 entries in a column, and M = U Uᵀ is never formed. With all
earlier places as neighbours it is exact. Observed places come first: then the block of U of the new ones is the root of
their conditional precision, ``Q = U₂₂ U₂₂ᵀ`` (``eq:conditional_density``).

A `Graph` says who is whose neighbour. It is made once; `Graph.fill` then makes U at any parameters.

U is kept by rows, the entry of the diagonal first: what a sampler of one angle needs is row i.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy import sparse

from vmqp.checks import check_count
from vmqp.circle import FloatArray
from vmqp.errors import InputError, NotPositiveDefiniteError
from vmqp.kernels.compiled import Program, tile
from vmqp.precision.neighbours import earlier_neighbours
from vmqp.precision.ordering import coarse_to_fine

__all__ = ["Graph", "Pattern", "VecchiaPrecision", "gather", "make_graph", "vecchia", "vecchia_column"]

_CHUNK = 1_000_000  # pairs of places at a time: then a thread holds some 60 MB
_SMALLEST = 1e-15  # of a conditional variance, as a share of the variance: below it there is no correct digit

Pairs = Callable[[npt.NDArray[np.intp], npt.NDArray[np.intp]], FloatArray]
"""The covariance of each pair of rows."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where U, or a block of it, has entries: compressed rows with the diagonal first, and an order of the rows.

    In that order every row comes before those whose columns it is in, so that triangular systems can be solved.
    """

    starts: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    order: npt.NDArray[np.int32]

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.order)


@dataclass(frozen=True, eq=False)
class Graph:
    """Neighbours of d places, of which the first n are observed; made by `make_graph`.

    >>> graph = make_graph(np.linspace(0.0, 1.0, 6)[:, None], n=2, k=2)
    >>> graph.d, graph.n, graph.k, graph.counts[0].item(), graph.new.size
    (6, 2, 2, 0, 4)
    """

    n: int
    neighbours: npt.NDArray[np.int32]
    """(d, k), nearest first; the place itself where there are fewer."""
    counts: npt.NDArray[np.int32]
    """(d,)"""
    pattern: Pattern
    slots: npt.NDArray[np.int32]
    """(d, k + 1): where the entries of column i of U stand among all; the last is that of the diagonal."""

    @property
    def d(self) -> int:
        """The number of places."""
        return len(self.counts)

    @property
    def k(self) -> int:
        """Neighbours of a place."""
        return int(self.neighbours.shape[1])

    @cached_property
    def new(self) -> Pattern:
        """The pattern of the block of the new places."""
        starts, order, n = self.pattern.starts[self.n :], self.pattern.order, self.n
        return Pattern(
            starts - starts[0],
            self.pattern.columns[starts[0] :] - np.int32(n),
            order[order >= n] - np.int32(n),
        )

    @property
    def pairs(self) -> int:
        """Pairs of places whose covariance is needed."""
        return self.d * (self.k + 1) * (self.k + 2) // 2

    @cached_property
    def parts(self) -> list[slice]:
        """Columns of U, in parts that are made at a time."""
        width = max(1, _CHUNK * self.d // max(1, self.pairs))
        return [slice(first, min(first + width, self.d)) for first in range(0, self.d, width)]

    def part_pairs(self, part: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Rows of all pairs that a part needs: for each column the lower triangle over its neighbours and itself."""
        rows, cols = np.tril_indices(self.k + 1)
        own = np.arange(self.parts[part].start, self.parts[part].stop, dtype=np.intp)[:, None]
        places = np.hstack([self.neighbours[self.parts[part]], own])
        return places[:, rows].ravel(), places[:, cols].ravel()

    def fill(
        self, covariances: Callable[[int], FloatArray], *, rows: int | None = None, workers: int = 1
    ) -> FloatArray | None:
        """Return the values of U, in the order of its rows; None where a block of the kernel matrix has no factor.

        `covariances` gives those of the pairs of a part. With `rows`, only so many first columns are needed.
        """
        values = np.empty(len(self.pattern.columns))

        def work(part: int) -> bool:
            own = self._first_rows(part, rows)
            return bool(_columns(covariances(part), self.counts[own], self.slots[own], values))

        return values if self._all_parts(work, rows, workers) else None

    def run(
        self, program: Program, numbers: FloatArray, *, rows: int | None = None, workers: int = 1
    ) -> FloatArray | None:
        """Return what `fill` does, by a compiled program."""
        values = np.empty(len(self.pattern.columns))

        def work(part: int) -> bool:
            own = self._first_rows(part, rows)
            return bool(
                _program_columns(
                    program.steps,
                    numbers,
                    program.points,
                    own.start,
                    self.neighbours[own],
                    self.counts[own],
                    self.slots[own],
                    values,
                )
            )

        return values if self._all_parts(work, rows, workers) else None

    def _first_rows(self, part: int, rows: int | None) -> slice:
        own = self.parts[part]
        return slice(own.start, own.stop if rows is None else min(own.stop, rows))

    def _all_parts(self, work: Callable[[int], bool], rows: int | None, workers: int) -> bool:
        """Do the work of the parts with the first rows, and say whether all of it went well."""
        last = self.d if rows is None else rows
        wanted = [part for part, columns in enumerate(self.parts) if columns.start < last]
        if workers == 1 or len(wanted) == 1:
            return all(work(part) for part in wanted)
        with ThreadPoolExecutor(workers) as pool:
            return all(pool.map(work, wanted))


def make_graph(points: FloatArray, n: int = 0, k: int = 20, workers: int = 1) -> Graph:
    """Choose the neighbours of points, (d, p), of which the first n are observed.

    >>> graph = make_graph(np.linspace(0.0, 1.0, 50)[:, None], n=10, k=3)
    >>> graph.neighbours.shape, bool((graph.neighbours[:10] < 10).all())
    ((50, 3), True)
    """
    points = _read_points(points)
    d = len(points)
    n = check_count(n, "n", 0, "observed places")
    if n > d:
        raise InputError(f"n is {n}, but there are {d} points: the first n of them are the observed ones.")
    k = min(check_count(k, "k", 1, "neighbours of a place"), d - 1)
    order = coarse_to_fine(points, n)
    neighbours, counts = earlier_neighbours(points, order, k, workers)
    starts, columns, slots = _layout(neighbours, counts)
    return Graph(n, neighbours, counts, Pattern(starts, columns, _needs_first(neighbours, counts)), slots)


def _read_points(points: npt.ArrayLike) -> FloatArray:
    try:
        found = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 2 or not len(found):
        raise InputError(
            f"points have the shape {np.shape(found)}: give an array of numbers with one row a place, (d, p)."
        )
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise InputError(f"row {row} of points holds a value that is not finite: drop it.")
    return found


@njit(cache=True, nogil=True)
def _needs_first(neighbours, counts):  # type: ignore[no-untyped-def]
    """An order in which the neighbours of a place come before it, else that of the rows.

    Rows near each other then stay so, and what they share is still in the cache: from coarse to fine it would not be.
    """
    d = counts.shape[0]
    result, seen = np.empty(d, np.int32), np.zeros(d, np.int32)  # neighbours of a place that were looked at
    stack, done, count = np.empty(d, np.int32), np.zeros(d, np.bool_), 0
    for i in range(d):
        if done[i]:
            continue
        depth = 1
        stack[0] = i
        while depth:
            top = stack[depth - 1]
            while seen[top] < counts[top] and done[neighbours[top, seen[top]]]:
                seen[top] += 1
            if seen[top] < counts[top]:
                stack[depth] = neighbours[top, seen[top]]
                depth += 1
            else:
                done[top] = True
                result[count] = top
                count += 1
                depth -= 1
    return result


@njit(cache=True, nogil=True)
def _layout(neighbours, counts):  # type: ignore[no-untyped-def]
    """Rows of U from its columns."""
    d, k = neighbours.shape
    starts = np.zeros(d + 1, np.int64)
    for i in range(d):
        starts[i + 1] += 1
        for a in range(counts[i]):
            starts[neighbours[i, a] + 1] += 1
    for i in range(d):
        starts[i + 1] += starts[i]
    columns = np.empty(starts[d], np.int32)
    slots = np.full((d, k + 1), -1, np.int32)
    room = starts[:-1].copy()
    for i in range(d):
        columns[room[i]] = i
        slots[i, k] = room[i]
        room[i] += 1
    for i in range(d):
        for a in range(counts[i]):
            j = neighbours[i, a]
            columns[room[j]] = i
            slots[i, a] = room[j]
            room[j] += 1
    return starts, columns, slots


@njit(cache=True, nogil=True, error_model="numpy")
def _pivot(own, lower, c, size, floor, column):  # type: ignore[no-untyped-def]
    """Finish column c of a Cholesky factor, and copy what is below the diagonal; False where the pivot is too small."""
    pivot, variance = lower[c, c], own[c * (c + 3) // 2]
    if not (pivot > _SMALLEST * variance or (floor > 0.0 and c == size - 1)):
        return False
    lower[c, c] = math.sqrt(max(pivot, floor * variance))
    inverse = 1.0 / lower[c, c]
    for a in range(c + 1, size):
        lower[a, c] *= inverse
        column[a] = lower[a, c]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def vecchia_column(own, count, slots, lower, mean, values, floor):  # type: ignore[no-untyped-def]
    """A column of U from the lower triangle of its block, row by row; False where that has no factor.

    With a positive `floor`, the conditional variance of the last row is at least this fraction of its variance.
    """
    size, first = count + 1, 0
    for a in range(size):
        for b in range(a + 1):
            lower[a, b] = own[first + b]
        first += a + 1
    # Two columns at a time, each in one piece, so that the inner loop runs along rows and does twice the work a visit.
    one, two = mean, np.empty(size)
    for c in range(0, size, 2):
        if not _pivot(own, lower, c, size, floor, one):
            return False
        if c + 1 == size:
            break
        for a in range(c + 1, size):
            lower[a, c + 1] -= one[a] * one[c + 1]
        if not _pivot(own, lower, c + 1, size, floor, two):
            return False
        for a in range(c + 2, size):
            row, x, y = lower[a], one[a], two[a]
            for b in range(c + 2, a + 1):
                row[b] -= x * one[b] + y * two[b]
    root = 1.0 / lower[count, count]
    for a in range(count):
        mean[a] = lower[count, a]
    for a in range(count - 1, -1, -1):  # the conditional mean: b = L⁻ᵀ l
        value, row = mean[a] / lower[a, a], lower[a]
        for b in range(a):
            mean[b] -= value * row[b]
        values[slots[a]] = -value * root
    values[slots[slots.shape[0] - 1]] = root
    return True


@njit(cache=True, nogil=True)
def _columns(covariances, counts, slots, values):  # type: ignore[no-untyped-def]
    """Columns of U from the lower triangles of blocks of k + 1 places; False where one has no factor."""
    k = slots.shape[1] - 1
    size = (k + 1) * (k + 2) // 2
    lower, mean = np.empty((k + 1, k + 1)), np.empty(k + 1)
    short = np.empty(size)
    for i in range(counts.shape[0]):
        own, count = covariances[i * size : (i + 1) * size], counts[i]
        if count < k:  # the place itself is last, behind neighbours that are not there
            for a in range(count + 1):
                row = a if a < count else k
                for b in range(a + 1):
                    short[a * (a + 1) // 2 + b] = own[row * (row + 1) // 2 + (b if b < count else k)]
            own = short
        if not vecchia_column(own, count, slots[i], lower, mean, values, 0.0):
            return False
    return True


@njit(cache=True, nogil=True)
def _program_columns(steps, numbers, points, first, neighbours, counts, slots, values):  # type: ignore[no-untyped-def]
    """Columns of U from a program; False where one has no factor."""
    k = slots.shape[1] - 1
    lower, mean = np.empty((k + 1, k + 1)), np.empty(k + 1)
    own, pairs = np.empty((points.shape[0], k + 1)), (k + 1) * (k + 2) // 2
    squares, block = np.empty((steps.shape[0], pairs)), np.empty((steps.shape[0], pairs))
    for i in range(counts.shape[0]):
        count = counts[i]
        gather(points, neighbours[i], count, first + i, own)
        tile(steps, numbers, own, 0, count + 1, squares, block)
        if not vecchia_column(block[-1], count, slots[i], lower, mean, values, 0.0):
            return False
    return True


@njit(cache=True, nogil=True)
def gather(points, neighbors, count, last, own):  # type: ignore[no-untyped-def]
    """Put the points of some neighbors, and of a last location, side by side."""
    for c in range(points.shape[0]):
        for a in range(count):
            own[c, a] = points[c, neighbors[a]]
        own[c, count] = points[c, last]


@njit(cache=True, nogil=True)
def _squares(starts, values, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += values[e] * values[e]
        out[i] = total


@dataclass(frozen=True, eq=False)
class VecchiaPrecision:
    """The precision M = U Uᵀ of some places, by the rows of U; made by `vecchia`.

    >>> x = np.linspace(0.0, 3.0, 40)
    >>> precision = vecchia(lambda i, j: np.exp(-np.abs(x[i] - x[j])), make_graph(x[:, None], k=3))
    >>> precision.d, precision.U.nnz, precision.product(np.ones(40)).shape
    (40, 154, (40,))
    """

    pattern: Pattern
    values: FloatArray
    """Entries of U."""

    @property
    def d(self) -> int:
        """The number of rows."""
        return self.pattern.size

    @cached_property
    def U(self) -> sparse.csr_array:
        """U as a SciPy sparse array."""
        return sparse.csr_array(
            (self.values, self.pattern.columns, self.pattern.starts), shape=(self.d, self.d)
        )

    @cached_property
    def diagonal(self) -> FloatArray:
        """The diagonal of M."""
        out = np.empty(self.d)
        _squares(self.pattern.starts, self.values, out)
        return out

    @property
    def log_determinant(self) -> float:
        """The log-determinant of the kernel matrix, M⁻¹."""
        return -2.0 * float(np.log(self.values[self.pattern.starts[:-1]]).sum())

    def product(self, v: npt.ArrayLike) -> FloatArray:
        """Return M v, for v of shape (d,) or (d, c)."""
        return np.asarray(self.U @ (self.U.T @ np.asarray(v, dtype=np.float64)))


def vecchia(covariance: Pairs, graph: Graph, workers: int = 1) -> VecchiaPrecision:
    """Return the precision on a graph, of a function that gives the covariance of pairs of rows.

    >>> x = np.linspace(0.0, 3.0, 40)
    >>> precision = vecchia(lambda i, j: np.exp(-np.abs(x[i] - x[j])), make_graph(x[:, None], k=39))
    >>> exact = np.linalg.inv(np.exp(-np.abs(x[:, None] - x)))  # with all others as neighbours nothing is lost
    >>> bool(np.allclose((precision.U @ precision.U.T).toarray(), exact))
    True
    """

    def covariances(part: int) -> FloatArray:
        i, j = graph.part_pairs(part)
        found = np.asarray(covariance(i, j), dtype=np.float64)
        if found.shape != i.shape:
            raise InputError(
                f"covariance gave an array of shape {found.shape} for {len(i)} pairs of rows: it has to give one "
                "number for each pair."
            )
        return found

    values = graph.fill(covariances, workers=workers)
    if values is None:
        raise NotPositiveDefiniteError(
            f"the kernel matrix of {graph.d} places is not positive definite in floating point among some neighbours: "
            "add a kernels.Nugget or observation noise, or remove places that are too close to tell apart."
        )
    return VecchiaPrecision(graph.pattern, values)
