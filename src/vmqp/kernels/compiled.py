"""A kernel as a program for compiled loops: covariances of tiles of its matrix, and their gradient by the parameters.

A kernel expression becomes a list of steps in the order of their computation: a leaf makes values of its own, a
variance multiplies those of an earlier step, a sum or a product combines two. A *tile* is some rows of the lower
triangle of a kernel matrix, one row after the other. One routine then serves a dense matrix, a few rows at a time so
that they stay in the cache, and a block of neighbors, all rows at once. Gradients run through the steps backwards.
Every kernel but `Custom` has a program.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from vmqp.circle import FloatArray
from vmqp.kernels.algebra import Kernel, Product, Scaled, Sum
from vmqp.kernels.embedding import on_the_earth
from vmqp.kernels.inputs import Inputs, as_columns
from vmqp.kernels.leaf import Leaf
from vmqp.kernels.metrics import EARTH_RADIUS
from vmqp.kernels.others import Categorical, Constant, Linear, Nugget, Periodic
from vmqp.kernels.stationary import Exponential, Gaussian, Matern32, Matern52, RationalQuadratic, Stationary

__all__ = [
    "Program",
    "add_by_parameters",
    "compile_kernel",
    "numbers_at",
    "pairs_of",
    "rows_within",
    "tile",
    "tile_gradient",
]

_ADD, _MULTIPLY, _SCALE, _NUGGET, _CONSTANT, _PERIODIC, _CATEGORICAL, _LINEAR = range(8)
_EXPONENTIAL, _GAUSSIAN, _MATERN32, _MATERN52, _RATIONAL, _GREAT_CIRCLE = range(8, 14)
_LEAVES: dict[type[Kernel], int] = {
    Nugget: _NUGGET,
    Constant: _CONSTANT,
    Periodic: _PERIODIC,
    Categorical: _CATEGORICAL,
    Linear: _LINEAR,
    Exponential: _EXPONENTIAL,
    Gaussian: _GAUSSIAN,
    Matern32: _MATERN32,
    Matern52: _MATERN52,
    RationalQuadratic: _RATIONAL,
}
_DIAMETER = 2.0 * EARTH_RADIUS
_SMALLEST, _LARGEST = 1e-150, 1e150  # length scales between which squares neither vanish nor overflow


class Program(NamedTuple):
    """A kernel on its inputs, as arrays.

    The *numbers* of a program are what its formulas need of the parameters: a length scale becomes the weight 1/l² of
    each of its columns, other parameters stay as they are.
    """

    steps: npt.NDArray[np.int64]
    """(steps, 6): operation, the steps that it takes (left, right), first column, columns, first number."""
    points: FloatArray
    """(columns, d): what the leaves look at, one row a column."""
    sources: npt.NDArray[np.intp]
    """(numbers,): the parameter that a number comes from, in the flat order of the kernel."""
    scales: npt.NDArray[np.bool_]
    """(numbers,): whether it is a weight 1/l²."""

    def numbers(self, parameters: npt.ArrayLike) -> FloatArray:
        """The numbers at parameters in their flat order, (..., parameters) to (..., numbers)."""
        found = np.asarray(parameters, dtype=np.float64)[..., self.sources]
        scales = np.clip(found[..., self.scales], _SMALLEST, _LARGEST)
        found[..., self.scales] = 1.0 / np.square(scales)
        return found


def compile_kernel(kernel: Kernel, inputs: Inputs) -> Program | None:
    """Return the program of a kernel on its inputs; None where a part is a function of the user's.

    >>> from vmqp.kernels import Exponential, Nugget
    >>> program = compile_kernel(2.0 * Exponential(1.0) + Nugget(0.1), Inputs.check([[0.0], [1.0]], None))
    >>> program.steps[:, 0].tolist(), program.numbers([2.0, 0.5, 0.1]).tolist()
    ([8, 2, 3, 0], [2.0, 4.0, 0.1])
    """
    steps: list[tuple[int, int, int, int, int, int]] = []
    points: list[FloatArray] = []
    sources: list[int] = []
    scales: list[bool] = []
    seen = 0

    def visit(node: Kernel) -> int | None:
        """Append the steps of a node; return the last of them."""
        nonlocal seen
        if isinstance(node, Scaled):
            sources.append(seen)
            scales.append(False)
            seen, number = seen + 1, len(sources) - 1
            below = visit(node.kernel)
            if below is not None:
                steps.append((_SCALE, below, below, 0, 0, number))
        elif isinstance(node, Sum | Product):
            below = None
            for part in node.parts():
                own = visit(part)
                if own is None:
                    return None
                if below is not None:
                    steps.append((_ADD if isinstance(node, Sum) else _MULTIPLY, below, own, 0, 0, 0))
                below = len(steps) - 1
        else:
            below = None if _operation(node) is None else leaf(node)
        return None if below is None else len(steps) - 1

    def leaf(node: Kernel) -> int:
        nonlocal seen
        assert isinstance(node, Leaf)
        X = inputs.X[:, inputs.indices(as_columns(node.columns))]
        if isinstance(node, Stationary) and node.metric == "geographic":
            X = on_the_earth(X)
        if isinstance(node, Nugget | Constant):
            X = X[:, :0]
        columns, first = X.shape[1], sum(part.shape[1] for part in points)
        operation = _operation(node)
        assert operation is not None
        steps.append((operation, 0, 0, first, columns, len(sources)))
        points.append(X)
        shared = 1 if isinstance(node, Nugget | Constant | Periodic | RationalQuadratic) else 0
        own = node.size - shared  # one for all columns, or one for each
        for column in range(columns):
            sources.append(seen + (column if own > 1 else 0))
            scales.append(isinstance(node, Stationary | Periodic))
        for other in range(shared):
            sources.append(seen + own + other)
            scales.append(False)
        seen += node.size
        return len(steps) - 1

    if visit(kernel) is None:
        return None
    return Program(
        np.array(steps, dtype=np.int64),
        np.ascontiguousarray(np.hstack(points).T),
        np.array(sources, dtype=np.intp),
        np.array(scales, dtype=np.bool_),
    )


def _operation(node: Kernel) -> int | None:
    if isinstance(node, Exponential) and node.metric == "geographic":
        return _GREAT_CIRCLE
    return _LEAVES.get(type(node))


@njit(cache=True, nogil=True, error_model="numpy")
def numbers_at(parameters, sources, scales):  # type: ignore[no-untyped-def]
    """The numbers of a program at its parameters, as `Program.numbers` has them."""
    found = np.empty(len(sources))
    for j in range(len(sources)):
        found[j] = parameters[sources[j]]
        if scales[j]:
            found[j] = 1.0 / min(max(found[j], _SMALLEST), _LARGEST) ** 2
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def add_by_parameters(parameters, sources, scales, by_numbers, out):  # type: ignore[no-untyped-def]
    """Add the gradient by the parameters, from that by the numbers."""
    for j in range(len(sources)):
        slope = -2.0 / min(max(parameters[sources[j]], 1e-100), 1e100) ** 3 if scales[j] else 1.0
        out[sources[j]] += by_numbers[j] * slope


@njit(cache=True, nogil=True)
def pairs_of(low, high):  # type: ignore[no-untyped-def]
    """Pairs in the rows from `low` to before `high` of a lower triangle."""
    return (high * (high + 1) - low * (low + 1)) // 2


@njit(cache=True, nogil=True)
def rows_within(low, size, most):  # type: ignore[no-untyped-def]
    """The end of a tile that begins at row `low` and has at most `most` pairs, but at least one row."""
    high = low + 1
    while high < size and pairs_of(low, high + 1) <= most:
        high += 1
    return high


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _exp(x):  # type: ignore[no-untyped-def]
    """exp(x) for x ≤ 0, to one unit in the last place; a loop of it runs in vector registers, one of math.exp does not.

    With x = k log 2 + r, |r| ≤ ½ log 2, it is 2ᵏ times a polynomial of r; 2ᵏ is made from its bits.
    """
    x = max(x, -708.0)  # exp(-708) is the smallest that needs no denormal number
    k = math.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10  # log 2 in two parts
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@njit(cache=True, nogil=True, error_model="numpy")
def _squares(points, low, high, first, columns, weights, out):  # type: ignore[no-untyped-def]
    """Σ_c w_c (a_c − b_c)² of all pairs of a tile; the inner loop runs along a column."""
    p = 0
    for a in range(low, high):
        row = out[p : p + a + 1]
        for c in range(columns):
            column, weight = points[first + c], weights[c]
            at = column[a]
            for b in range(a + 1):
                gap = at - column[b]
                row[b] = weight * gap * gap + (row[b] if c else 0.0)
        p += a + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _stationary(kind, squares, pairs, numbers, columns, out):  # type: ignore[no-untyped-def]
    """Correlations from (r/l)²."""
    if kind == _EXPONENTIAL:
        for p in range(pairs):
            out[p] = _exp(-math.sqrt(squares[p]))
    elif kind == _GAUSSIAN:
        for p in range(pairs):
            out[p] = _exp(-0.5 * squares[p])
    elif kind == _MATERN32:
        for p in range(pairs):
            s = min(math.sqrt(3.0 * squares[p]), 800.0)
            out[p] = (1.0 + s) * _exp(-s)
    elif kind == _MATERN52:
        for p in range(pairs):
            s = min(math.sqrt(5.0 * squares[p]), 800.0)
            out[p] = (1.0 + s * (1.0 + s / 3.0)) * _exp(-s)
    elif kind == _RATIONAL:
        shape = min(max(numbers[columns], 1e-300), 1e300)
        for p in range(pairs):
            out[p] = math.exp(-shape * math.log1p(0.5 * squares[p] / shape))
    else:
        wide = _DIAMETER * math.sqrt(numbers[0])  # the earth's diameter in length scales
        for p in range(pairs):
            out[p] = _exp(-wide * math.asin(min(1.0, math.sqrt(squares[p]) / wide)))


@njit(cache=True, nogil=True, error_model="numpy")
def _leaf(kind, points, low, high, first, columns, numbers, squares, out):  # type: ignore[no-untyped-def]
    """Covariances of a tile by one leaf; one of the distance leaves (r/l)² in `squares`."""
    pairs = pairs_of(low, high)
    if kind >= _EXPONENTIAL:
        _squares(points, low, high, first, columns, numbers, squares)
        _stationary(kind, squares, pairs, numbers, columns, out)
        return
    if kind in (_NUGGET, _CONSTANT):
        for p in range(pairs):
            out[p] = 0.0 if kind == _NUGGET else numbers[0]
        if kind == _NUGGET:
            for a in range(low, high):
                out[pairs_of(low, a + 1) - 1] = numbers[0]
        return
    p = 0
    for a in range(low, high):
        for b in range(a + 1):
            value = 0.0
            if kind == _PERIODIC:
                period = max(numbers[columns], 1e-300)
                for c in range(columns):
                    turn = np.fmod(points[first + c, a] - points[first + c, b], period) / period
                    value += numbers[c] * math.sin(math.pi * turn) ** 2
                value = _exp(-2.0 * value)
            elif kind == _CATEGORICAL:
                value = 1.0
                for c in range(columns):
                    if points[first + c, a] != points[first + c, b]:
                        value *= numbers[c]
            else:
                for c in range(columns):
                    value += (points[first + c, a] - numbers[c]) * (points[first + c, b] - numbers[c])
            out[p] = value
            p += 1


@njit(cache=True, nogil=True, error_model="numpy")
def tile(steps, numbers, points, low, high, squares, values):  # type: ignore[no-untyped-def]
    """Compute the rows from `low` to before `high` of the lower triangle of a kernel matrix.

    `squares` and `values` have a row for each step, as long as there are pairs; the last row of `values` is the result.
    """
    pairs = pairs_of(low, high)
    for s in range(steps.shape[0]):
        kind, out = steps[s, 0], values[s]
        left, right = values[steps[s, 1]], values[steps[s, 2]]
        if kind == _SCALE:
            factor = numbers[steps[s, 5]]
            for p in range(pairs):
                out[p] = factor * left[p]
        elif kind == _ADD:
            for p in range(pairs):
                out[p] = left[p] + right[p]
        elif kind == _MULTIPLY:
            for p in range(pairs):
                out[p] = left[p] * right[p]
        else:
            own = numbers[steps[s, 5] :]
            _leaf(kind, points, low, high, steps[s, 3], steps[s, 4], own, squares[s], out)


@njit(cache=True, nogil=True, error_model="numpy")
def _stationary_gradient(kind, squares, values, pairs, numbers, columns, weights, out):  # type: ignore[no-untyped-def]
    """Turn weights of the correlations into weights of (r/l)²; add to the gradient by other numbers."""
    if kind == _EXPONENTIAL:
        for p in range(pairs):
            weights[p] *= -0.5 * values[p] / math.sqrt(max(squares[p], 1e-300))
    elif kind == _GAUSSIAN:
        for p in range(pairs):
            weights[p] *= -0.5 * values[p]
    elif kind == _MATERN32:
        for p in range(pairs):
            weights[p] *= -1.5 * _exp(-math.sqrt(3.0 * squares[p]))
    elif kind == _MATERN52:
        for p in range(pairs):
            s = min(math.sqrt(5.0 * squares[p]), 800.0)
            weights[p] *= -(5.0 / 6.0) * (1.0 + s) * _exp(-s)
    elif kind == _RATIONAL:
        shape, total = min(max(numbers[columns], 1e-300), 1e300), 0.0
        for p in range(pairs):
            part = 0.5 * squares[p] / shape
            total += weights[p] * values[p] * (part / (1.0 + part) - math.log1p(part))
            weights[p] *= -0.5 * values[p] / (1.0 + part)
        out[columns] += total
    else:  # great circle: r is √w times what does not depend on w
        wide, total = _DIAMETER * math.sqrt(numbers[0]), 0.0
        for p in range(pairs):
            total -= weights[p] * values[p] * wide * math.asin(min(1.0, math.sqrt(squares[p]) / wide))
        out[0] += 0.5 * total / numbers[0]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _squares_gradient(points, low, high, first, columns, weights, out):  # type: ignore[no-untyped-def]
    p = 0
    for a in range(low, high):
        row = weights[p : p + a + 1]
        for c in range(columns):
            column, total = points[first + c], 0.0
            at = column[a]
            for b in range(a + 1):
                gap = at - column[b]
                total += row[b] * gap * gap
            out[c] += total
        p += a + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _leaf_gradient(kind, points, low, high, first, columns, numbers, squares, values, weights, out):  # type: ignore[no-untyped-def]
    """Add to the gradient by the numbers of one leaf; `weights` are overwritten."""
    pairs = pairs_of(low, high)
    if kind >= _EXPONENTIAL:
        _stationary_gradient(kind, squares, values, pairs, numbers, columns, weights, out)
        if kind != _GREAT_CIRCLE:
            _squares_gradient(points, low, high, first, columns, weights, out)
        return
    if kind == _NUGGET:
        for a in range(low, high):
            out[0] += weights[pairs_of(low, a + 1) - 1]
        return
    p = 0
    for a in range(low, high):
        for b in range(a + 1):
            weight = weights[p]
            if kind == _CONSTANT:
                out[0] += weight
            elif kind == _PERIODIC:
                period = max(numbers[columns], 1e-300)
                for c in range(columns):
                    gap = points[first + c, a] - points[first + c, b]
                    turn = math.pi * np.fmod(gap, period) / period
                    out[c] -= 2.0 * weight * values[p] * math.sin(turn) ** 2
                    slope = math.sin(2.0 * turn) * math.pi * gap / (period * period)
                    out[columns] += 2.0 * weight * values[p] * numbers[c] * slope
            elif kind == _CATEGORICAL:
                for c in range(columns):
                    if points[first + c, a] != points[first + c, b]:
                        others = 1.0
                        for o in range(columns):
                            if o != c and points[first + o, a] != points[first + o, b]:
                                others *= numbers[o]
                        out[c] += weight * others
            else:
                for c in range(columns):
                    out[c] -= weight * (points[first + c, a] + points[first + c, b] - 2.0 * numbers[c])
            p += 1


@njit(cache=True, nogil=True, error_model="numpy")
def tile_gradient(steps, numbers, points, low, high, squares, values, weights, out):  # type: ignore[no-untyped-def]
    """Add Σ_p w_p ∂k_p/∂number to `out`, for the covariances k_p of a tile that `tile` has computed.

    `weights` has a row for each step; the last holds w, and all are overwritten.
    """
    pairs = pairs_of(low, high)
    for s in range(steps.shape[0] - 1, -1, -1):
        kind, number, own = steps[s, 0], steps[s, 5], weights[s]
        one, two = steps[s, 1], steps[s, 2]
        left, right = weights[one], weights[two]
        if kind == _SCALE:
            factor, total, below = numbers[number], 0.0, values[one]
            for p in range(pairs):
                total += own[p] * below[p]
                left[p] = factor * own[p]
            out[number] += total
        elif kind == _ADD:
            for p in range(pairs):
                left[p] = own[p]
                right[p] = own[p]
        elif kind == _MULTIPLY:
            a, b = values[one], values[two]
            for p in range(pairs):
                left[p] = own[p] * b[p]
                right[p] = own[p] * a[p]
        else:
            _leaf_gradient(
                kind,
                points,
                low,
                high,
                steps[s, 3],
                steps[s, 4],
                numbers[number:],
                squares[s],
                values[s],
                own,
                out[number:],
            )
