"""Kriging of one new location at a time, at many sets of kernel parameters.

Given the covariances ``k`` of a new location with the n observed ones, and their matrix K, the kriging of columns z of
values is ``kᵀK⁻¹z`` with variance ``s² = k(x*, x*) − kᵀK⁻¹k``. New locations never enter each other's answer, so that
they can be taken in chunks of any size.

Up to `EXACT` observed locations all of them are used: one Cholesky factorization for each set of parameters, kept while
they fit the memory, then one product with the inverse of the factor for all locations of a chunk (several times faster
than a triangular solve of so few rows). Beyond, or on demand, each new location is
conditioned on the k observed ones nearest to it in the kernel's own metric, in compiled code: a column of Vecchia's U.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri
from scipy.spatial import cKDTree

from vmqp.circle import FloatArray
from vmqp.errors import NotPositiveDefiniteError
from vmqp.kernels import Kernel
from vmqp.kernels.bound import parameter_names
from vmqp.kernels.compiled import compile_kernel, tile
from vmqp.kernels.embedding import embed, flat
from vmqp.kernels.inputs import Inputs
from vmqp.precision.vecchia import gather, vecchia_column

__all__ = ["EXACT", "NEAREST", "Kriged", "Kriging"]

EXACT = 320
"""Observed locations up to which a prediction is conditioned on all of them."""
NEAREST = 40
"""Nearest observed locations on which a prediction is conditioned beyond that."""

_FLOOR = float(
    np.finfo(float).eps
)  # of s² as a fraction of the variance: an observed location without nugget
_CHUNK = 1 << 17  # covariances of a chunk: they stay in the cache of a core
_LARGE_CHUNK = 1 << 23  # where factors are not kept: a factorization serves more locations
_KEPT = 400e6  # bytes of factors
_FEW = 16  # blocks of neighbors up to which one thread does
_PARALLEL = 4096  # blocks of neighbors from which several threads pay


class Kriged(NamedTuple):
    """Kriging at m new locations, for each of S sets of parameters."""

    mean: FloatArray
    """kᵀK⁻¹z, (S, q, m)."""
    ones: FloatArray
    """kᵀK⁻¹1, (S, m)."""
    variance: FloatArray
    """s², (S, m)."""


class Kriging:
    """Kriging from n observed locations.

    Parameters
    ----------
    kernel : Kernel
        The covariance.
    X : ndarray of shape (n, columns)
        Observed locations.
    values : ndarray of shape (S, n, q)
        What is kriged, for each set of parameters.
    parameters : mapping of str to ndarray of shape (S,)
        Learned kernel parameters by name; other names are ignored, and fixed parameters may be left out.
    column_names : sequence of str, optional
        Names of the columns of X.
    neighbors : int, optional
        Condition on so many nearest locations; by default on all n up to `EXACT`, on `NEAREST` beyond. Any number from
        n up means all of them.

    Examples
    --------
    >>> from vmqp.kernels import Exponential
    >>> kriging = Kriging(2.0 * Exponential(1.0), np.array([[0.0], [1.0]]), np.array([[[1.0], [3.0]]]), {})
    >>> found = kriging.at(np.array([[0.5], [0.0]]))
    >>> found.mean[0, 0].round(3), found.variance[0].round(3)
    (array([1.774, 1.   ]), array([0.924, 0.   ]))
    """

    def __init__(
        self,
        kernel: Kernel,
        X: FloatArray,
        values: FloatArray,
        parameters: Mapping[str, FloatArray],
        *,
        column_names: Sequence[str] | None = None,
        neighbors: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.inputs = Inputs.check(X, column_names)
        self.n = len(X)
        self.sets = len(values)
        names = parameter_names(kernel, self.inputs)
        used = {
            name: np.asarray(draws, dtype=np.float64) for name, draws in parameters.items() if name in names
        }
        self._flat = np.array(
            [
                flat(kernel, names, {name: float(draws[s]) for name, draws in used.items()})
                for s in range(self.sets)
            ]
        ).reshape(self.sets, len(names))
        middle = {name: float(np.median(draws)) for name, draws in used.items()}
        self._middle = flat(kernel, names, middle)
        # The last column krigs ones: the drift asks for it.
        self._values = np.concatenate([values, np.ones((self.sets, self.n, 1))], axis=2)
        k = neighbors if neighbors is not None else (self.n if self.n <= EXACT else NEAREST)
        self.neighbors = min(k, self.n)
        self._factors: list[FloatArray | None] = [None] * self.sets

    @property
    def exact(self) -> bool:
        """Whether all observed locations are used."""
        return self.neighbors == self.n

    def at(self, X_new: FloatArray, workers: int = 1) -> Kriged:
        """Krige to new locations, (m, columns), over so many threads."""
        m, q = len(X_new), self._values.shape[2]
        mean, variance = np.empty((self.sets, q, m)), np.empty((self.sets, m))
        if self.exact:
            size = max(16, (_CHUNK if self._keeps else _LARGE_CHUNK) // self.n)
            for first in range(0, m, size):
                part = slice(first, min(first + size, m))
                self._dense(X_new[part], mean[:, :, part], variance[:, part], workers)
        else:
            size = max(1, 4_000_000 // (self.inputs.X.shape[1] + self.neighbors))
            for first in range(0, m, size):
                part = slice(first, min(first + size, m))
                self._nearest(X_new[part], mean[:, :, part], variance[:, part], workers)
        return Kriged(mean[:, :-1], mean[:, -1], variance)

    @property
    def _keeps(self) -> bool:
        return 8.0 * self.sets * self.n**2 <= _KEPT

    @cached_property
    def _geometry(self) -> object:
        """Of all pairs of observed locations, the lower triangle row by row."""
        rows, cols = np.tril_indices(self.n)
        with np.errstate(over="ignore", under="ignore"):
            return self.kernel.prepare(self.inputs, rows, cols)

    def _factor(self, s: int) -> FloatArray:
        """L⁻¹ of K = L Lᵀ, with zᵀK⁻¹ below it, (n + q, n)."""
        found = self._factors[s]
        if found is not None:
            return found
        with np.errstate(over="ignore", under="ignore"):
            triangle = self.kernel.evaluate(self._geometry, self._flat[s])
        K = np.zeros((self.n, self.n))
        K[np.tril_indices(self.n)] = triangle
        upper, info = dpotrf(K.T, lower=0, clean=1, overwrite_a=1)
        if info != 0:
            raise NotPositiveDefiniteError(
                f"the kernel matrix of the {self.n} observed locations has no factor at one of the parameter draws: "
                "add a kernels.Nugget, or remove locations that are too close to tell apart."
            )
        weights, _ = dpotrs(upper, self._values[s], lower=0)
        inverse, _ = dtrtri(upper, lower=0, overwrite_c=1)
        found = np.concatenate([inverse.T, weights.T])
        if self._keeps:
            self._factors[s] = found
        return found

    def _dense(self, X_new: FloatArray, mean: FloatArray, variance: FloatArray, workers: int) -> None:
        n, m = self.n, len(X_new)
        inputs = Inputs(np.concatenate([self.inputs.X, X_new]), self.inputs.names)
        new = n + np.arange(m, dtype=np.intp)
        with np.errstate(over="ignore", under="ignore"):
            across = self.kernel.prepare(inputs, np.repeat(new, n), np.tile(np.arange(n, dtype=np.intp), m))
            own = self.kernel.prepare(inputs, new, new)

        def work(s: int) -> None:
            with np.errstate(over="ignore", under="ignore"):
                k = self.kernel.evaluate(across, self._flat[s]).reshape(m, n)
                total = self.kernel.evaluate(own, self._flat[s])
            product = self._factor(s) @ k.T
            mean[s] = product[n:]
            root = product[:n]
            np.maximum(total - np.einsum("ij,ij->j", root, root), _FLOOR * total, out=variance[s])

        _spread(work, self.sets, workers)

    def _nearest(self, X_new: FloatArray, mean: FloatArray, variance: FloatArray, workers: int) -> None:
        n, m, k = self.n, len(X_new), self.neighbors
        inputs = Inputs(np.concatenate([self.inputs.X, X_new]), self.inputs.names)
        points = embed(self.kernel, inputs, self._middle, scaled_by=n)
        tree = self._tree
        if tree.m != points.shape[1]:  # a new category is one more column, in which observed locations agree
            tree = cKDTree(points[:n])
        _, near = tree.query(points[n:], k=range(1, k + 1), workers=workers if m > 1 else 1)
        near = np.ascontiguousarray(near, dtype=np.int64)
        good = np.ones(self.sets, dtype=np.bool_)
        program = compile_kernel(self.kernel, inputs)
        if program is not None:
            numbers = program.numbers(self._flat)
            width = max(1, min(m, _PARALLEL // self.sets if workers > 1 else m))
            parts = [(slice(i, i + width), slice(None)) for i in range(0, m, width)]
            if m == 1 and workers > 1 and self.sets > _FEW:  # a single query: over sets of parameters
                step = -(-self.sets // workers)
                parts = [(slice(0, 1), slice(s, s + step)) for s in range(0, self.sets, step)]

            def work(part: int) -> None:
                rows, sets = parts[part]
                _krige_program(
                    program.steps,
                    numbers[sets],
                    program.points,
                    n + rows.start,
                    near[rows],
                    self._values[sets],
                    mean[sets, :, rows],
                    variance[sets, rows],
                    good[sets],
                )

            _spread(work, len(parts), workers)
        else:  # a function of the user's: covariances of all blocks by NumPy
            rows, cols = np.tril_indices(k + 1)
            size = max(1, (1 << 21) // len(rows))
            for first in range(0, m, size):
                part = slice(first, min(first + size, m))
                own = np.hstack([near[part], n + np.arange(part.start, part.stop)[:, None]]).astype(np.intp)
                with np.errstate(over="ignore", under="ignore"):
                    blocks = self.kernel.prepare(inputs, own[:, rows].ravel(), own[:, cols].ravel())
                    for s in range(self.sets):
                        found = self.kernel.evaluate(blocks, self._flat[s]).reshape(len(own), -1)
                        good[s] &= _krige_blocks(
                            found, near[part], self._values[s], mean[s, :, part], variance[s, part]
                        )
        if not good.all():
            raise NotPositiveDefiniteError(
                "the kernel matrix of some neighboring observed locations has no factor at one of the parameter draws: "
                "add a kernels.Nugget, or remove locations that are too close to tell apart."
            )

    @cached_property
    def _tree(self) -> cKDTree:
        """Observed locations in the kernel's own metric."""
        return cKDTree(embed(self.kernel, self.inputs, self._middle))


def _spread(work: Callable[[int], None], count: int, workers: int) -> None:
    """Do the parts of a work, over threads where there are several; this thread does its share."""

    def some(first: int) -> None:
        for part in range(first, count, workers):
            work(part)

    others = [_threads(os.getpid(), workers).submit(some, first) for first in range(1, min(workers, count))]
    try:
        some(0)
    finally:
        for other in others:
            other.result()


@cache
def _threads(process: int, workers: int) -> ThreadPoolExecutor:
    """Threads that stay, since to start them takes longer than a query; those of a forked process are its own."""
    return ThreadPoolExecutor(workers - 1)


@njit(cache=True, nogil=True)
def _krige_block(own, near, values, lower, weights, column, slots, mean, variance, i):  # type: ignore[no-untyped-def]
    """One location from the lower triangle of its block; its own row is the last."""
    k = near.shape[0]
    if not vecchia_column(own, k, slots, lower, weights, column, _FLOOR):
        return False
    deviation = 1.0 / column[k]
    for q in range(values.shape[1]):
        total = 0.0
        for a in range(k):
            total -= column[a] * values[near[a], q]
        mean[q, i] = total * deviation
    variance[i] = deviation * deviation
    return True


@njit(cache=True, nogil=True)
def _krige_program(steps, numbers, points, first, near, values, mean, variance, good):  # type: ignore[no-untyped-def]
    """Locations from `first` on, by the program of a kernel; each set of parameters in turn."""
    k = near.shape[1]
    lower, weights, column = np.empty((k + 1, k + 1)), np.empty(k + 1), np.empty(k + 1)
    own, pairs = np.empty((points.shape[0], k + 1)), (k + 1) * (k + 2) // 2
    squares, block = np.empty((steps.shape[0], pairs)), np.empty((steps.shape[0], pairs))
    slots = np.arange(k + 1)
    for i in range(near.shape[0]):
        gather(points, near[i], k, first + i, own)
        for s in range(numbers.shape[0]):
            tile(steps, numbers[s], own, 0, k + 1, squares, block)
            if not _krige_block(
                block[-1], near[i], values[s], lower, weights, column, slots, mean[s], variance[s], i
            ):
                good[s] = False


@njit(cache=True, nogil=True)
def _krige_blocks(blocks, near, values, mean, variance):  # type: ignore[no-untyped-def]
    """Locations from the lower triangles of their blocks, at one set of parameters."""
    k = near.shape[1]
    lower, weights, column = np.empty((k + 1, k + 1)), np.empty(k + 1), np.empty(k + 1)
    slots, good = np.arange(k + 1), True
    for i in range(near.shape[0]):
        if not _krige_block(blocks[i], near[i], values, lower, weights, column, slots, mean, variance, i):
            good = False
    return good
