"""Arcs of the circle: the shortest one that holds given draws, and regions of highest density.

An arc runs counter-clockwise from lower to upper and includes both ends. It may cross the cut, and then
lower > upper: from 350 to 10 degrees are 20 degrees. Equal ends are a single point; the whole circle is
written (lower, lower + P).
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vmqp.circle import (
    TWO_PI,
    Axis,
    FloatArray,
    FloatOrArray,
    all_axes,
    as_result,
    check_angles,
    check_origin,
    check_period,
    wrapped,
)
from vmqp.errors import InputError

__all__ = ["arc_width", "highest_density_regions", "in_arc", "regions_from_density", "shortest_arc"]

# Ends and angles are rounded when they are wrapped; a few roundings decide nothing.
_ROUNDING = 4 * float(np.finfo(float).eps)

# Shares of the draws, and the width of a normal law's shortest interval with that share, in its standard
# deviations. The last row takes the extent of all draws as that of a uniform law.
_SHARES = ((0.25, 0.6373), (0.5, 1.3490), (0.75, 2.3007), (1.0, math.sqrt(12)))

# A kernel of bandwidth h is nothing (exp(-32)) at a distance of 8 h.
_REACH = 8.0


def arc_width(lower: ArrayLike, upper: ArrayLike, period: float = TWO_PI) -> FloatOrArray:
    """Width of arcs from lower counter-clockwise to upper: 0 for a point, the period for the whole circle.

    An upper end that is one turn or more above the lower one means the whole circle.

    >>> arc_width(350, 10, period=360)
    20.0
    >>> arc_width([0, 0], [0, 360], period=360).tolist()
    [0.0, 360.0]
    """
    period = check_period(period)
    start, end = check_angles(lower, "lower", empty=True), check_angles(upper, "upper", empty=True)
    rounding = _ROUNDING * np.maximum(np.maximum(np.abs(start), np.abs(end)), period)
    width = wrapped(wrapped(end, period) - wrapped(start, period), period, 0.0)
    return as_result(np.where(end - start >= period - rounding, period, width))


def in_arc(angle: ArrayLike, lower: ArrayLike, upper: ArrayLike, period: float = TWO_PI) -> FloatOrArray:
    """Whether angles lie in the arc from lower counter-clockwise to upper, its ends included.

    >>> in_arc([355, 10, 20], 350, 10, period=360).tolist()
    [True, True, False]
    >>> in_arc(123, 0, 360, period=360)
    True
    """
    period = check_period(period)
    values, start = check_angles(angle, "angle", empty=True), check_angles(lower, "lower", empty=True)
    width = np.asarray(arc_width(lower, upper, period))
    offset = wrapped(wrapped(values, period) - wrapped(start, period), period, 0.0)
    rounding = _ROUNDING * period
    return as_result((offset <= width + rounding) | (offset >= period - rounding))


def shortest_arc(
    angles: ArrayLike,
    probability: float,
    axis: Axis = None,
    period: float = TWO_PI,
    origin: float | None = None,
) -> FloatArray:
    """Shortest arc that holds at least the share `probability` of the draws, ceil(probability · N) of N.

    The draws run along `axis` (one, several, or None for all). The result has the other axes and a last one
    of two: lower and upper, both of them draws, wrapped as by :func:`vmqp.circle.wrap`. Of several shortest
    arcs it is the first. A probability of 1 gives the circle without the largest gap between draws, never
    the whole circle; arcs of one repeated draw have lower = upper.

    >>> shortest_arc([350, 355, 0, 5, 180], 0.8, period=360, origin=0).tolist()
    [350.0, 5.0]
    """
    values, period, origin = check_angles(angles), check_period(period), check_origin(origin)
    axes = all_axes(axis, values.ndim)
    last = np.moveaxis(values, axes, range(-len(axes), 0))
    draws = wrapped(last.reshape(*last.shape[: values.ndim - len(axes)], -1), period, origin)
    draws.sort(axis=-1)
    n = draws.shape[-1]
    count = _count(check_probability(probability), n)
    start, _ = _shortest(draws, count, period)
    lower = np.take_along_axis(draws, start[..., None], axis=-1)
    upper = np.take_along_axis(draws, (start[..., None] + count - 1) % n, axis=-1)
    return np.concatenate([lower, upper], axis=-1)


def highest_density_regions(
    angles: ArrayLike,
    probability: float,
    period: float = TWO_PI,
    origin: float | None = None,
    bandwidth: float | None = None,
) -> FloatArray:
    """Arcs of highest density that together hold the share `probability` of the draws of one place.

    The density is that of a wrapped-normal kernel, whose Fourier coefficients are exp(-h²k²/2). Its level is
    the highest at which the arcs above it hold ceil(probability · N) of the N draws (Hyndman 1996). The
    bandwidth h (in the period's units) follows the normal reference rule, with the standard deviation read
    from the shortest arc that holds a quarter of the draws: with several narrow modes that is the width of
    one of them and not their distance. One bandwidth serves all modes, so a broad mode beside a narrow one
    can come out in pieces: give a larger bandwidth, or use :func:`regions_from_density`. The result has shape
    (arcs, 2), ordered by lower.

    >>> rng = np.random.default_rng(1)
    >>> draws = np.concatenate([rng.normal(0, 5, 500), rng.normal(180, 5, 500)])
    >>> highest_density_regions(draws, 0.9, period=360, origin=-90).round(-1).tolist()
    [[-10.0, 10.0], [170.0, 190.0]]
    """
    values, period, origin = check_angles(angles), check_period(period), check_origin(origin)
    if values.ndim != 1:
        raise InputError(
            f"angles must be the 1-D draws of one place but have shape {values.shape}; loop over the places."
        )
    if bandwidth is not None and not (np.isfinite(bandwidth) and bandwidth > 0):
        raise InputError(
            f"bandwidth must be positive and finite but is {bandwidth!r}; give None to have it chosen."
        )
    n = values.size
    count = _count(check_probability(probability), n)
    draws = np.sort(wrapped(values, period))
    start, extent = _shortest(draws, n, period)
    if extent <= _ROUNDING * period:
        return _reported(np.array([[draws[start], draws[start - 1]]]), period, origin)
    h = _bandwidth(draws, period) if bandwidth is None else float(bandwidth)

    # Cut the middle out of gaps that no kernel reaches: the grid then resolves modes of any width.
    gaps = np.diff(draws, append=draws[0] + period)
    short = np.minimum(gaps, 2 * _REACH * h)
    place = np.concatenate([[0.0], np.cumsum(short)])
    length = float(place[-1])
    cells = 1 << max(9, math.ceil(math.log2(8 * length / h)))
    cell = length / cells

    left, share = np.divmod(place[:-1] / cell, 1)
    left = left.astype(int) % cells
    right = (left + 1) % cells
    mass = np.bincount(left, 1 - share, cells) + np.bincount(right, share, cells)
    damping = np.exp(-0.5 * (TWO_PI * h / length * np.arange(cells // 2 + 1)) ** 2)
    density = np.fft.irfft(np.fft.rfft(mass) * damping, cells)

    at_draws = (1 - share) * density[left] + share * density[right]
    # The draw that sets the level is the end of an arc; it shall not fall out by rounding.
    level = np.partition(at_draws, n - count)[n - count] * (1 - 1e-9)
    ends = _arcs_above(density, level)
    if ends is None:
        return _whole_circle(period, origin)
    # An arc over the first draw starts before it.
    t = np.mod(ends * cell, length)
    i = np.clip(np.searchsorted(place, t, side="right") - 1, 0, n - 1)
    offset = t - place[i]
    offset = np.where(offset > short[i] / 2, offset + (gaps[i] - short[i]), offset)
    return _reported(draws[i] + offset, period, origin)


def regions_from_density(
    grid: ArrayLike,
    density: ArrayLike,
    probability: float,
    period: float = TWO_PI,
    origin: float | None = None,
) -> FloatArray:
    """Arcs of highest density that together hold the share `probability` of a density on a regular grid.

    The grid has n points a distance P/n apart, the last one *before* the first comes again; between them the
    density is linear. It need not be normalised. The result has shape (arcs, 2), ordered by lower; a constant
    density gives the whole circle.

    >>> grid = np.linspace(0, 360, 360, endpoint=False)
    >>> density = np.exp(10 * np.cos(np.deg2rad(2 * grid)))
    >>> regions_from_density(grid, density, 0.9, period=360, origin=-90).round().tolist()
    [[-15.0, 15.0], [165.0, 195.0]]
    """
    points, heights = check_angles(grid, "grid"), check_angles(density, "density")
    period, origin, probability = check_period(period), check_origin(origin), check_probability(probability)
    if points.ndim != 1 or points.size < 3 or points.shape != heights.shape:
        raise InputError(
            f"grid and density must be 1-D with at least 3 points each but have shapes {points.shape} "
            f"and {heights.shape}; give one density value for each point."
        )
    cell = period / points.size
    if not np.allclose(np.diff(points), cell, rtol=1e-6, atol=0):
        raise InputError(
            f"grid must have {points.size} ascending points {cell:.6g} apart but has another spacing; "
            f"use np.linspace(start, start + period, {points.size}, endpoint=False)."
        )
    if (heights < 0).any() or not (heights > 0).any():
        raise InputError(
            f"density must be positive somewhere and negative nowhere but spans {heights.min():.6g} to "
            f"{heights.max():.6g}; give densities, not their logs."
        )
    ends = _arcs_above(heights, _level(heights, probability))
    if ends is None:
        return _whole_circle(period, origin)
    return _reported(points[0] + ends * cell, period, origin)


def check_probability(probability: float) -> float:
    """Return the probability as a float, or raise an error."""
    if not 0 < probability <= 1:
        raise InputError(f"probability must lie in (0, 1] but is {probability!r}; give 0.9 for 90 %.")
    return float(probability)


def _count(probability: float, n: int) -> int:
    """How many of n draws are the share `probability`; 0.55 · 100 is 55, whatever its rounding."""
    return max(1, math.ceil(probability * n * (1 - _ROUNDING)))


def _shortest(draws: FloatArray, count: int, period: float) -> tuple[NDArray[np.intp], FloatArray]:
    """First draw's index and width of the shortest arc over `count` sorted draws, along the last axis."""
    n = draws.shape[-1]
    width = np.empty_like(draws)
    inner = n - count + 1  # arcs from the later draws go on past the cut
    np.subtract(draws[..., count - 1 :], draws[..., :inner], out=width[..., :inner])
    np.subtract(draws[..., : count - 1], draws[..., inner:], out=width[..., inner:])
    width[..., inner:] += period
    start = np.argmin(width, axis=-1)
    return start, np.take_along_axis(width, start[..., None], axis=-1)[..., 0]


def _bandwidth(draws: FloatArray, period: float) -> float:
    """Bandwidth for sorted draws of which at least two differ."""
    n = draws.size
    deviation = 0.0
    for share, width_of_normal in _SHARES:
        # Repeated draws can make the shortest arc a point; then a larger share decides.
        deviation = float(_shortest(draws, max(2, _count(share, n)), period)[1]) / width_of_normal
        if deviation > 0:
            break
    gaps = np.sort(np.diff(draws, append=draws[0] + period))[:-1]
    # Rounded draws lie on a lattice; a bandwidth below its spacing would show the lattice.
    lattice = float(np.median(gaps[gaps > 0]))
    # 1.06 would be optimal for the density; a fifth more keeps small samples of one mode in one arc.
    return max(1.27 * min(deviation, period / math.sqrt(12)) / math.pow(n, 0.2), lattice)


def _level(heights: FloatArray, probability: float) -> float:
    """Highest level above which a piecewise linear, periodic density holds the share `probability`."""
    if probability == 1:
        return 0.0
    following = np.roll(heights, -1)
    low, high = np.minimum(heights, following), np.maximum(heights, following)
    rise = np.where(high > low, high - low, 1.0)
    wanted = probability * heights.sum()
    bottom, top = 0.0, float(heights.max())
    for _ in range(64):  # halves the bracket down to rounding
        level = (bottom + top) / 2
        cut = np.clip(level, low, high)
        above = np.where(high > low, (high - cut) / rise, level <= low)
        if (above * (high + cut) / 2).sum() >= wanted:
            bottom = level
        else:
            top = level
    return bottom


def _arcs_above(heights: FloatArray, level: float) -> FloatArray | None:
    """Find where a piecewise linear density is at least `level`, and above 0.

    The ends of the arcs are counted in cells from the first point. None stands for the whole circle.
    """
    inside = (heights >= level) & (heights > 0)
    if inside.all():
        return None
    first = np.flatnonzero(inside & ~np.roll(inside, 1))
    last = np.flatnonzero(inside & ~np.roll(inside, -1))
    if last[0] < first[0]:  # one arc crosses from the last point to the first
        last = np.roll(last, -1)
    before, after = heights[first - 1], heights[(last + 1) % heights.size]
    lower = first - (heights[first] - level) / (heights[first] - before)
    upper = last + (heights[last] - level) / (heights[last] - after)
    if np.count_nonzero(inside) == inside.size - 1 and np.all((lower - upper) % inside.size < _ROUNDING):
        return None  # the one point outside is left out by rounding only
    return np.stack([lower, upper], axis=-1)


def _reported(arcs: FloatArray, period: float, origin: float | None) -> FloatArray:
    """Wrap the ends of arcs and order them."""
    arcs = wrapped(arcs, period, origin)
    return arcs[np.argsort(arcs[:, 0])]


def _whole_circle(period: float, origin: float | None) -> FloatArray:
    lower = -period / 2 if origin is None else origin
    return np.array([[lower, lower + period]])
