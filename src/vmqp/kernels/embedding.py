"""Places as points among which a kernel's correlation falls with the Euclidean distance.

Methods that look for neighbours need points: each column over its length scale, a circular input as a point of a
circle, a place on the earth as a point in space, a category as a corner of a simplex. A product's points have the
columns of all of its factors; a sum's too, each term with the weight of its variance.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from vmqp.circle import FloatArray
from vmqp.kernels.algebra import Kernel, Product, Scaled, Sum
from vmqp.kernels.inputs import Inputs, as_columns
from vmqp.kernels.leaf import Leaf
from vmqp.kernels.metrics import EARTH_RADIUS
from vmqp.kernels.others import Categorical, Constant, Nugget, Periodic
from vmqp.kernels.stationary import Stationary

__all__ = ["embed", "flat", "on_the_earth"]


def embed(
    kernel: Kernel, inputs: Inputs, parameters: Sequence[float] | None = None, scaled_by: int | None = None
) -> FloatArray:
    """Return points, (d, p), at the parameters in their flat order; at typical ones if they are not given.

    Columns without a length scale are divided by their spread over the first `scaled_by` rows, or over all.

    >>> from vmqp.kernels import Exponential, Nugget
    >>> inputs = Inputs.check([[0.0, 0.0], [3.0, 1.0]], None)
    >>> embed(2.0 * Exponential([3.0, 0.5]) + Nugget(0.1), inputs)
    array([[0., 0.],
           [1., 2.]])
    """
    numbers = [p.prior.typical() for p in kernel.parameters()] if parameters is None else list(parameters)
    _, points = _embed(kernel, inputs, numbers, scaled_by)
    if points.shape[1] == 0:  # a constant has no metric: take that of the table
        points = _even(inputs.X, scaled_by)
    return np.ascontiguousarray(points)


def _embed(
    kernel: Kernel, inputs: Inputs, numbers: Sequence[float], scaled_by: int | None
) -> tuple[float, FloatArray]:
    """The variance at a place, as a weight beside other terms, and the points."""
    if isinstance(kernel, Scaled):
        weight, points = _embed(kernel.kernel, inputs, numbers[1:], scaled_by)
        return weight * numbers[0], points
    if isinstance(kernel, Sum | Product):
        start, found = 0, []
        for part in kernel.parts():
            found.append(_embed(part, inputs, numbers[start : start + part.size], scaled_by))
            start += part.size
        if isinstance(kernel, Product):
            return math.prod(weight for weight, _ in found), np.hstack([points for _, points in found])
        total = sum(weight for weight, points in found if points.shape[1]) or 1.0
        parts = [math.sqrt(max(weight / total, 0.0)) * points for weight, points in found]
        return sum(weight for weight, _ in found), np.hstack(parts)
    assert isinstance(kernel, Leaf)
    X = inputs.X[:, inputs.indices(as_columns(kernel.columns))]
    if isinstance(kernel, Nugget | Constant):
        return numbers[0], np.empty((len(X), 0))
    if isinstance(kernel, Stationary):
        scales = np.clip(numbers[: kernel._count("lengthscale")], 1e-150, 1e150)
        return 1.0, (on_the_earth(X) if kernel.metric == "geographic" else X) / scales
    if isinstance(kernel, Periodic):
        *widths, period = numbers
        turn = 2.0 * np.pi * np.fmod(X, max(period, 1e-300)) / max(period, 1e-300)
        return 1.0, np.hstack([np.cos(turn) / widths, np.sin(turn) / widths])
    if isinstance(kernel, Categorical):
        correlations = np.broadcast_to(numbers, X.shape[1])
        return 1.0, np.hstack([_corners(X[:, c], correlations[c]) for c in range(X.shape[1])])
    return 1.0, _even(X, scaled_by)


def on_the_earth(X: FloatArray) -> FloatArray:
    """Points in space, in km, of longitudes and latitudes in degrees."""
    longitude, latitude = np.radians(X.T)
    height = np.cos(latitude)
    return EARTH_RADIUS * np.column_stack(
        [height * np.cos(longitude), height * np.sin(longitude), np.sin(latitude)]
    )


def _corners(codes: FloatArray, correlation: float) -> FloatArray:
    """One column for each category: two different ones are as far apart as their correlation is low."""
    categories, which = np.unique(codes, return_inverse=True)
    points = np.zeros((len(codes), len(categories)))
    points[np.arange(len(codes)), which.reshape(-1)] = math.sqrt(0.5) * -math.log(max(correlation, 1e-3))
    return points


def _even(X: FloatArray, rows: int | None) -> FloatArray:
    """Columns over the spread of their first rows."""
    spread = X[:rows].std(axis=0)
    return np.asarray(X / np.where(spread > 0.0, spread, 1.0))


def flat(kernel: Kernel, names: Sequence[str], values: Mapping[str, float]) -> list[float]:
    """Parameters in their flat order, by name; those that are not given at their typical values."""
    return [
        values.get(name, parameter.prior.typical())
        for name, parameter in zip(names, kernel.parameters(), strict=True)
    ]
