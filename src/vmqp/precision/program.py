"""A kernel as a program for compiled loops: covariances of small blocks of places, with no array of all pairs.

The expression is written in postfix order. A leaf puts the covariances of all pairs of a block on a stack; a sum or a
product takes two off and puts one back; a variance multiplies the top. Every kernel but `Custom` has a program.
"""

import math
from collections.abc import Sequence
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
from vmqp.kernels.stationary import (
    Exponential,
    Gaussian,
    Matern32,
    Matern52,
    RationalQuadratic,
    Stationary,
    weights,
)

__all__ = ["Program", "block_covariances", "compile_kernel", "numbers_for"]

_ADD, _MULTIPLY, _SCALE, _NUGGET, _CONSTANT, _PERIODIC, _CATEGORICAL, _LINEAR = range(8)
_EXPONENTIAL, _GAUSSIAN, _MATERN32, _MATERN52, _RATIONAL, _GREAT_CIRCLE = range(8, 14)
_STATIONARY: dict[type[Stationary], int] = {
    Exponential: _EXPONENTIAL,
    Gaussian: _GAUSSIAN,
    Matern32: _MATERN32,
    Matern52: _MATERN52,
    RationalQuadratic: _RATIONAL,
}
_DIAMETER = 2.0 * EARTH_RADIUS


class Program(NamedTuple):
    """Steps, (steps, 4): what to do, the first column, how many columns, the first number."""

    steps: npt.NDArray[np.int64]
    points: FloatArray
    """(d, columns): the columns that the steps look at, one after the other."""
    depth: int
    """Blocks on the stack at most."""


def compile_kernel(kernel: Kernel, inputs: Inputs) -> Program | None:
    """Return the program of a kernel on its inputs; None where a part is a function of the user's.

    >>> from vmqp.kernels import Exponential, Nugget
    >>> compile_kernel(2.0 * Exponential(1.0) + Nugget(0.1), Inputs.check([[0.0], [1.0]], None)).steps[:, 0].tolist()
    [8, 2, 3, 0]
    """
    steps: list[tuple[int, int, int, int]] = []
    points: list[FloatArray] = []
    numbers = 0

    def visit(node: Kernel) -> int | None:
        """Append the steps of a node; return how many blocks it needs at most."""
        nonlocal numbers
        if isinstance(node, Scaled):
            own, numbers = numbers, numbers + 1
            depth = visit(node.kernel)
            steps.append((_SCALE, 0, 0, own))
            return depth
        if isinstance(node, Sum | Product):
            most = 0
            for place, part in enumerate(node.parts()):
                depth = visit(part)
                if depth is None:
                    return None
                most = max(most, depth + min(place, 1))
                if place:
                    steps.append((_ADD if isinstance(node, Sum) else _MULTIPLY, 0, 0, 0))
            return most
        kind = _kind(node)
        if kind is None:
            return None
        assert isinstance(node, Leaf)
        X = inputs.X[:, inputs.indices(as_columns(node.columns))]
        if isinstance(node, Stationary) and node.metric == "geographic":
            X = on_the_earth(X)
        if isinstance(node, Nugget | Constant):
            X = X[:, :0]
        steps.append((kind, sum(part.shape[1] for part in points), X.shape[1], numbers))
        points.append(X)
        numbers += _count(node, X.shape[1])
        return 1

    depth = visit(kernel)
    if depth is None:
        return None
    return Program(np.array(steps, dtype=np.int64), np.ascontiguousarray(np.hstack(points)), depth)


def _kind(node: Kernel) -> int | None:
    if isinstance(node, Exponential) and node.metric == "geographic":
        return _GREAT_CIRCLE
    others: dict[type[Kernel], int] = {
        Nugget: _NUGGET,
        Constant: _CONSTANT,
        Periodic: _PERIODIC,
        Categorical: _CATEGORICAL,
        Linear: _LINEAR,
    }
    return (others | _STATIONARY).get(type(node))


def _count(node: Leaf, columns: int) -> int:
    """Numbers of a leaf: one for each column, and those that all columns share."""
    if isinstance(node, Nugget | Constant):
        return 1
    return columns + (1 if isinstance(node, Periodic | RationalQuadratic) else 0)


def numbers_for(kernel: Kernel, inputs: Inputs, parameters: Sequence[float]) -> FloatArray:
    """The numbers of a program at parameters in their flat order: length scales become weights of each column."""
    result: list[float] = []

    def visit(node: Kernel, own: Sequence[float]) -> None:
        if isinstance(node, Scaled):
            result.append(own[0])
            visit(node.kernel, own[1:])
        elif isinstance(node, Sum | Product):
            start = 0
            for part in node.parts():
                visit(part, own[start : start + part.size])
                start += part.size
        elif isinstance(node, Nugget | Constant):
            result.append(own[0])
        else:
            assert isinstance(node, Leaf)
            columns = len(inputs.indices(as_columns(node.columns)))
            if isinstance(node, Stationary) and node.metric == "geographic":
                columns = 3
            shared = 1 if isinstance(node, Periodic | RationalQuadratic) else 0
            scales = np.asarray(own[: len(own) - shared], dtype=np.float64)
            if isinstance(node, Stationary | Periodic):
                scales = weights(scales.tolist())
            result.extend(np.broadcast_to(scales, columns).tolist())
            result.extend(own[len(own) - shared :])

    visit(kernel, parameters)
    return np.array(result)


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
def _stationary(kind, square, shape):  # type: ignore[no-untyped-def]
    """The correlation at the square of r/l."""
    if kind == _GAUSSIAN:
        return math.exp(-0.5 * square)
    if kind == _RATIONAL:
        return math.exp(-shape * math.log1p(0.5 * square / shape))
    r = math.sqrt(square)
    if kind == _EXPONENTIAL:
        return math.exp(-r)
    if kind == _MATERN32:
        s = min(math.sqrt(3.0) * r, 800.0)
        return (1.0 + s) * math.exp(-s)
    s = min(math.sqrt(5.0) * r, 800.0)
    return (1.0 + s * (1.0 + s / 3.0)) * math.exp(-s)


@njit(cache=True, nogil=True, error_model="numpy")
def _squares(own, count, first, columns, weight, out):  # type: ignore[no-untyped-def]
    """Σ_c w_c (a_c − b_c)² of all pairs of a block; the inner loop runs along a column."""
    p = 0
    for a in range(count):
        row = out[p : p + a + 1]
        for c in range(columns):
            column, w = own[first + c], weight[c]
            at = column[a]
            for b in range(a + 1):
                gap = at - column[b]
                row[b] = w * gap * gap + (row[b] if c else 0.0)
        p += a + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _leaf(kind, own, places, count, first, columns, numbers, out):  # type: ignore[no-untyped-def]
    """Covariances of all pairs of a block, by one leaf; `own` has a row for each column of the inputs."""
    pairs = count * (count + 1) // 2
    if kind == _NUGGET:
        for p in range(pairs):
            out[p] = 0.0
        for a in range(count):
            for b in range(a + 1):
                if places[a] == places[b]:
                    out[a * (a + 1) // 2 + b] = numbers[0]
        return
    if kind >= _EXPONENTIAL:
        _squares(own, count, first, columns, numbers, out)
        if kind == _GREAT_CIRCLE:
            wide = _DIAMETER * math.sqrt(numbers[0])  # the earth's diameter in length scales
            for p in range(pairs):
                out[p] = math.exp(-wide * math.asin(min(1.0, math.sqrt(out[p]) / wide)))
        elif kind == _EXPONENTIAL:
            for p in range(pairs):
                out[p] = -math.sqrt(out[p])
            for p in range(pairs):
                out[p] = _exp(out[p])
        else:
            shape = min(max(numbers[columns], 1e-300), 1e300) if kind == _RATIONAL else 1.0
            for p in range(pairs):
                out[p] = _stationary(kind, out[p], shape)
        return
    p = 0
    for a in range(count):
        for b in range(a + 1):
            value = 0.0
            if kind == _CONSTANT:
                value = numbers[0]
            elif kind == _PERIODIC:
                period = max(numbers[columns], 1e-300)
                for c in range(columns):
                    turn = np.fmod(own[first + c, a] - own[first + c, b], period) / period
                    value += numbers[c] * math.sin(math.pi * turn) ** 2
                value = math.exp(-2.0 * value)
            elif kind == _CATEGORICAL:
                value = 1.0
                for c in range(columns):
                    if own[first + c, a] != own[first + c, b]:
                        value *= numbers[c]
            else:
                for c in range(columns):
                    value += (own[first + c, a] - numbers[c]) * (own[first + c, b] - numbers[c])
            out[p] = value
            p += 1


@njit(cache=True, nogil=True, error_model="numpy")
def block_covariances(steps, numbers, points, places, count, own, stack):  # type: ignore[no-untyped-def]
    """Put the lower triangle of the kernel matrix of some places, row by row, into the first row of the stack."""
    for a in range(count):
        for c in range(points.shape[1]):
            own[c, a] = points[places[a], c]
    pairs, top = count * (count + 1) // 2, -1
    for s in range(steps.shape[0]):
        kind = steps[s, 0]
        if kind == _SCALE:
            factor = numbers[steps[s, 3]]
            for p in range(pairs):
                stack[top, p] *= factor
        elif kind == _ADD:
            top -= 1
            for p in range(pairs):
                stack[top, p] += stack[top + 1, p]
        elif kind == _MULTIPLY:
            top -= 1
            for p in range(pairs):
                stack[top, p] *= stack[top + 1, p]
        else:
            top += 1
            _leaf(kind, own, places, count, steps[s, 1], steps[s, 2], numbers[steps[s, 3] :], stack[top])
