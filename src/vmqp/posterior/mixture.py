"""A predictive mixture in numbers: density, moments, intervals, regions, probabilities and scores.

At each location the predictive distribution is the mean of its components (`vmqp.posterior.components`). Moments have
closed forms. What needs the distribution function is read from a table of the density about the mean direction: its
spacing is a quarter of the narrowest component's deviation, and it ends where no component has mass. Between the points
of a table the distribution function is the quintic polynomial that has its values and first two derivatives.

Joint draws come with components too, given all other angles. These can be so narrow that their mean is a comb of spikes
between which there is nothing: each then says less than the spread of the draws about it. Such a component is never
taken narrower than the bandwidth with which a density estimate of as many draws would be made.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from numba import njit

from vmqp.circle import TWO_PI, FloatArray
from vmqp.posterior.components import Components

__all__ = [
    "arc_score",
    "bandwidth",
    "cdf",
    "density",
    "log_density",
    "modes_of",
    "shortest_arcs",
    "tables",
    "top_arcs",
]

_BLOCK = 2_000_000  # numbers at a time
_SHOWN = 0.7  # deviations of a component in spacings of a grid: then its values add up to one within 1.3e-4
_QUARTER = 0.6373  # width of the shortest interval with a quarter of a normal distribution, in deviations
_FEWEST, _MOST, _ROUND = 64, 4096, 32  # points of a table, in whole multiples of the last
_TABLES = 1 << 18  # numbers at a time: they stay in the cache of a core
_PER_DEVIATION = 4.0
_HALVINGS = 50
_SLACK = 1e-9  # of an arc's mass: else rounding takes an arc that ends with a spike on to the next one

OnTable = Callable[[npt.NDArray[np.intp], FloatArray, FloatArray, FloatArray, bool], None]
"""Called with rows, starts, steps, densities (rows, points) and whether a table goes round the circle."""


def bandwidth(directions: FloatArray) -> FloatArray:
    """Return the width, (m,), below which a component of one of the draws, (draws, m), tells more than they all know.

    The reference rule for a normal distribution, whose standard deviation is read from the shortest arc with a quarter
    of the draws: with several modes that is the width of one of them.
    """
    draws = len(directions)
    ordered = np.sort(directions, axis=0)
    count = max(2, draws // 4)
    if draws < 2 * count - 1 or draws < 8:
        return np.zeros(directions.shape[1])
    turned = np.concatenate([ordered, ordered[: count - 1] + TWO_PI])
    deviation = (turned[count - 1 :] - turned[: 1 - count or None]).min(axis=0) / _QUARTER
    return np.asarray(1.06 * np.minimum(deviation, TWO_PI / np.sqrt(12.0)) * draws**-0.2)


def even_spacing(grid: FloatArray) -> float | None:
    """Return the spacing of a grid in radians that goes evenly round the circle; None for any other.

    >>> even_spacing(np.linspace(0, TWO_PI, 8, endpoint=False)) == TWO_PI / 8
    True
    """
    if grid.size < 8:
        return None
    ends = np.sort(np.mod(grid, TWO_PI))
    steps = np.diff(ends, append=ends[0] + TWO_PI)
    steps = steps[steps > 1e-9]  # both ends of the circle may be given
    return TWO_PI / steps.size if np.allclose(steps, TWO_PI / steps.size, rtol=1e-6, atol=1e-9) else None


def density(components: Components, grid: FloatArray) -> FloatArray:
    """Density at each point of a grid in radians, (m, len(grid)); an even grid shows nothing finer than its spacing."""
    spacing, m = even_spacing(grid), components.direction.shape[1]
    if spacing is not None:
        components = components.widened(np.full(m, _SHOWN * spacing))
    found = np.empty((m, grid.size))
    columns = max(1, _BLOCK // len(components.direction))
    for i in range(m):
        own = components.at(slice(i, i + 1))
        for first in range(0, grid.size, columns):
            part = slice(first, first + columns)
            found[i, part] = np.exp(own.log_density(grid[part])).mean(axis=0)
    return found


def log_density(components: Components, angles: FloatArray) -> FloatArray:
    """Log density at one angle for each location, (m,)."""
    values = components.log_density(angles)
    top = values.max(axis=0)
    return np.asarray(top + np.log(np.exp(values - top).mean(axis=0)))


def modes_of(grid: FloatArray, density: FloatArray, least: float) -> FloatArray:
    """Directions of the modes of a density on an even grid that hold at least a fraction `least`, the largest first.

    A mode owns the part of the circle between the two lowest points beside it.

    >>> grid = np.linspace(0, TWO_PI, 360, endpoint=False)
    >>> modes_of(grid, np.exp(4 * np.cos(2 * grid) + np.cos(grid)), 0.05).round(2).tolist()
    [0.0, 3.14]
    """
    start = int(density.argmin())
    values, points = np.roll(density, -start), np.roll(grid, -start)
    rising = np.diff(np.append(values, values[0])) > 0.0
    valleys = np.flatnonzero(rising & ~np.roll(rising, 1))
    edges = np.unique(np.append(valleys, [0, len(values)]))
    fractions = np.add.reduceat(values, edges[:-1]) / values.sum()
    tops = [first + int(values[first:last].argmax()) for first, last in pairwise(edges)]
    order = [i for i in np.argsort(-fractions, kind="stable") if fractions[i] >= least]
    return points[np.array(tops)[order]]


def tables(components: Components, work: OnTable) -> None:
    """Make the table of each location and hand it to `work`, some locations at a time.

    A table is centered at the mean direction. How fine it is depends on its location alone, so that results do not
    depend on which locations are taken together.
    """
    draws, _ = components.direction.shape
    total = components.moment().mean(axis=0)
    center = np.where(np.abs(total) > 1e-12, np.angle(total), 0.0)
    apart = np.abs(np.remainder(components.direction - center + np.pi, TWO_PI) - np.pi)
    half = np.minimum((apart + components.reach).max(axis=0), np.pi)
    whole = half >= np.pi
    wanted = 2.0 * half * _PER_DEVIATION / components.deviation.min(axis=0)
    points = _ROUND * np.ceil(np.clip(wanted, _FEWEST, _MOST) / _ROUND).astype(int)
    for closed in (True, False):
        for size in np.unique(points[whole == closed]):
            rows = np.flatnonzero((whole == closed) & (points == size))
            at_once = max(1, _TABLES // (draws * int(size)))
            for first in range(0, len(rows), at_once):
                own = rows[first : first + at_once]
                step = 2.0 * half[own] / (size if closed else size - 1)
                start = center[own] - half[own]
                grid = start[:, None] + step[:, None] * np.arange(size)
                some = _with_axis(components.at(own))
                found = np.exp(some.log_density(grid)).mean(axis=0)
                work(own, start, step, np.ascontiguousarray(found), closed)


def _with_axis(components: Components) -> Components:
    """The same with an axis for the points of a table, (draws, m, 1)."""
    kind = type(components)
    parts = [None if part is None else part[..., None] for part in components]  # type: ignore[attr-defined]
    return kind(*parts)


# A table: f, the density at points from `start` on with a spacing h; d, its slope; F, the distribution function at the
# ends of its cells. A table that goes round the circle (closed) has one more cell than one that does not.


@njit(cache=True, nogil=True)
def _prepare(f, h, closed, d, F):  # type: ignore[no-untyped-def]
    """Fill slopes d, (points,), and the distribution function F, (cells + 1,); normalize all three. Return cells."""
    n = f.shape[0]
    for i in range(n):
        total = 0.0
        for offset, weight in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
            j = i + offset
            if closed:
                j %= n
            if 0 <= j < n:
                total += weight * f[j]
        d[i] = total / (12.0 * h)
    cells = n if closed else n - 1
    F[0] = 0.0
    for i in range(cells):
        j = (i + 1) % n
        part = 0.5 * h * (f[i] + f[j]) + h * h * (d[i] - d[j]) / 12.0
        F[i + 1] = F[i] + max(part, 0.0)
    scale = 1.0 / F[cells]
    for i in range(n):
        f[i] *= scale
        d[i] *= scale
    for i in range(cells + 1):
        F[i] *= scale
    return cells


@njit(cache=True, nogil=True)
def _inside(f, d, F, h, i, u):  # type: ignore[no-untyped-def]
    """Distribution function at the fraction u of cell i: the quintic through both ends."""
    j = (i + 1) % f.shape[0]
    rise, a, b = F[i + 1] - F[i], h * f[i], h * f[j]
    p, q = 0.5 * h * h * d[i], 0.5 * h * h * d[j]
    r, s, t = rise - a - p, b - a - 2.0 * p, 2.0 * q - 2.0 * p
    c3 = 10.0 * r - 4.0 * s + 0.5 * t
    c4 = -15.0 * r + 7.0 * s - t
    c5 = 6.0 * r - 3.0 * s + 0.5 * t
    value = F[i] + u * (a + u * (p + u * (c3 + u * (c4 + u * c5))))
    return min(max(value, F[i]), F[i + 1])


@njit(cache=True, nogil=True)
def _cdf(f, d, F, h, cells, t):  # type: ignore[no-untyped-def]
    """Mass between the start of the table and t, in radians from there; a whole turn adds one."""
    turns = math.floor(t / (2.0 * math.pi))
    position = (t - turns * 2.0 * math.pi) / h
    if position >= cells:
        return turns + 1.0
    i = int(position)
    return turns + _inside(f, d, F, h, i, position - i)


@njit(cache=True, nogil=True)
def _quantile(f, d, F, h, cells, p):  # type: ignore[no-untyped-def]
    """Where the distribution function is p, from 0 to below 2."""
    turns = 0.0
    if p >= 1.0:
        turns, p = 1.0, p - 1.0
    low, high = 0, cells
    while high - low > 1:
        middle = (low + high) // 2
        if F[middle] <= p:
            low = middle
        else:
            high = middle
    a, b = 0.0, 1.0
    for _ in range(_HALVINGS):
        u = 0.5 * (a + b)
        if _inside(f, d, F, h, low, u) < p:
            a = u
        else:
            b = u
    return turns * 2.0 * math.pi + h * (low + 0.5 * (a + b))


@njit(cache=True, nogil=True)
def _density_at(f, d, h, cells, t):  # type: ignore[no-untyped-def]
    """Density at t by the cubic through values and slopes."""
    position = (t % (2.0 * math.pi)) / h
    if position >= cells:
        return 0.0
    i = int(position)
    u, j = position - i, (i + 1) % f.shape[0]
    a, b = h * d[i], h * d[j]
    gap = f[j] - f[i]
    return f[i] + u * (a + u * ((3.0 * gap - 2.0 * a - b) + u * (a + b - 2.0 * gap)))


@njit(cache=True, nogil=True)
def _shortest(f, d, F, h, cells, closed, p):  # type: ignore[no-untyped-def]
    """Start and width of the shortest arc with mass p; the density at both ends is equal."""
    p -= _SLACK
    best, width, end = 0, 1e300, 0
    for i in range(cells):
        target = F[i] + p
        if target > 1.0 and not closed:
            break
        end = max(end, i)
        while True:  # the first cell whose end reaches the target
            turn, cell = end // cells, end % cells
            if F[cell + 1] + turn >= target:
                break
            end += 1
        rise = F[cell + 1] - F[cell]
        inside = (target - turn - F[cell]) / rise if rise > 0.0 else 1.0
        reached = (cell + inside) * h + turn * 2.0 * math.pi
        if reached - i * h < width:
            best, width = i, reached - i * h
    low, high = (best - 1.0) * h, (best + 1.0) * h
    most = cells * h
    if not closed:
        low, high = max(low, 0.0), min(high, _quantile(f, d, F, h, cells, 1.0 - p))
    for _ in range(_HALVINGS):
        start = 0.5 * (low + high)
        if high <= low:
            break
        before = _cdf(f, d, F, h, cells, start)
        reach = before + p
        end_at = _quantile(f, d, F, h, cells, reach) if reach >= 0.0 else reach
        if _density_at(f, d, h, cells, start) < _density_at(f, d, h, cells, min(end_at, 2.0 * most)):
            low = start
        else:
            high = start
    start = 0.5 * (low + high)
    refined = _quantile(f, d, F, h, cells, _cdf(f, d, F, h, cells, start) + p) - start
    own = _quantile(f, d, F, h, cells, F[best] + p) - best * h
    # Where the density is a comb of spikes, equal densities at both ends need not be a minimum.
    return (start, refined) if refined < own * (1.0 + 1e-9) else (best * h, own)


@njit(cache=True, nogil=True)
def _each_shortest(density, steps, closed, p, out):  # type: ignore[no-untyped-def]
    d, F = np.empty(density.shape[1]), np.empty(density.shape[1] + 1)
    for row in range(density.shape[0]):
        f, h = density[row], steps[row]
        cells = _prepare(f, h, closed, d, F)
        out[row, 0], out[row, 1] = _shortest(f, d, F, h, cells, closed, p)


@njit(cache=True, nogil=True)
def _each_cdf(density, steps, closed, t, out):  # type: ignore[no-untyped-def]
    d, F = np.empty(density.shape[1]), np.empty(density.shape[1] + 1)
    for row in range(density.shape[0]):
        cells = _prepare(density[row], steps[row], closed, d, F)
        for a in range(t.shape[1]):
            out[row, a] = _cdf(density[row], d, F, steps[row], cells, t[row, a])


@njit(cache=True, nogil=True)
def _each_arc_score(density, steps, closed, y, out):  # type: ignore[no-untyped-def]
    """∫ (1 − H(t))² dt for t from y − π to y, H the mass between t and t + π; by Simpson's rule."""
    d, F = np.empty(density.shape[1]), np.empty(density.shape[1] + 1)
    breaks = np.empty(6)
    for row in range(density.shape[0]):
        f, h = density[row], steps[row]
        cells = _prepare(f, h, closed, d, F)
        first, last = y[row] - math.pi, y[row]
        # The mass moves only while t or t + π is within the table.
        count = 2
        breaks[0], breaks[1] = first, last
        for edge in (0.0, cells * h, -math.pi, cells * h - math.pi):
            place = edge + 2.0 * math.pi * math.ceil((first - edge) / (2.0 * math.pi))
            if first < place < last:
                breaks[count] = place
                count += 1
        ordered = np.sort(breaks[:count])
        total = 0.0
        for b in range(count - 1):
            length = ordered[b + 1] - ordered[b]
            pieces = max(1, math.ceil(length / h))
            middle = ordered[b] + 0.5 * length
            outside = (
                middle % (2.0 * math.pi) > cells * h and (middle + math.pi) % (2.0 * math.pi) > cells * h
            )
            if outside:
                pieces = 1
            step = length / pieces
            for k in range(pieces):
                a = ordered[b] + k * step
                for at, weight in ((a, 1.0), (a + 0.5 * step, 4.0), (a + step, 1.0)):
                    mass = _cdf(f, d, F, h, cells, at + math.pi) - _cdf(f, d, F, h, cells, at)
                    total += weight * step / 6.0 * (1.0 - mass) ** 2
        out[row] = total


def shortest_arcs(components: Components, probability: float) -> FloatArray:
    """Lower and upper end in radians of the shortest arc with a probability below 1 at each location, (m, 2)."""
    out = np.empty((components.direction.shape[1], 2))

    def work(
        rows: npt.NDArray[np.intp], start: FloatArray, step: FloatArray, f: FloatArray, closed: bool
    ) -> None:
        found = np.empty((len(rows), 2))
        _each_shortest(f, step, closed, probability, found)
        out[rows, 0] = start + found[:, 0]
        out[rows, 1] = start + found[:, 0] + found[:, 1]

    tables(components, work)
    return out


def cdf(components: Components, angles: FloatArray) -> FloatArray:
    """Probability between the point opposite the mean direction and some angles, (m, k), counter-clockwise."""
    out = np.empty(angles.shape)

    def work(
        rows: npt.NDArray[np.intp], start: FloatArray, step: FloatArray, f: FloatArray, closed: bool
    ) -> None:
        # From opposite the center, where a table that does not go round has no mass before its start.
        half = 0.5 * step * (f.shape[1] if closed else f.shape[1] - 1)
        cut = start + half - np.pi
        t = np.mod(angles[rows] - cut[:, None], TWO_PI) + (cut - start)[:, None]
        found = np.empty(t.shape)
        _each_cdf(f, step, closed, np.maximum(t, 0.0), found)
        out[rows] = np.minimum(found, 1.0)

    tables(components, work)
    return out


def arc_score(components: Components, truth: FloatArray) -> FloatArray:
    """Continuous ranked probability score by arc length in radians at each location, (m,)."""
    out = np.empty(len(truth))

    def work(
        rows: npt.NDArray[np.intp], start: FloatArray, step: FloatArray, f: FloatArray, closed: bool
    ) -> None:
        found = np.empty(len(rows))
        _each_arc_score(f, step, closed, np.mod(truth[rows] - start, TWO_PI), found)
        out[rows] = found

    tables(components, work)
    return out


def top_arcs(components: Components, probability: float) -> list[FloatArray]:
    """Arcs of highest density in radians that together hold a probability below 1: for each location (arcs, 2)."""
    out: list[FloatArray] = [np.empty((0, 2))] * components.direction.shape[1]

    def work(
        rows: npt.NDArray[np.intp], start: FloatArray, step: FloatArray, f: FloatArray, closed: bool
    ) -> None:
        for i, row in enumerate(rows):
            out[row] = start[i] + step[i] * _above(f[i], probability, closed=closed)

    tables(components, work)
    return out


def _above(f: FloatArray, probability: float, *, closed: bool) -> FloatArray:
    """Arcs, in spacings from the first point, on which a piecewise linear density exceeds the level of a probability.

    >>> _above(np.array([0.0, 1.0, 2.0, 1.0, 0.0, 0.0]), 0.75, closed=False).tolist()
    [[1.0, 3.0]]
    """
    f = np.append(f, f[0] if closed else 0.0)
    lower, upper = np.minimum(f[:-1], f[1:]), np.maximum(f[:-1], f[1:])
    gap = np.where(upper > lower, upper - lower, 1.0)

    def mass(level: float) -> float:
        # Of a cell that the level cuts, the part above it.
        cut = (lower < level) & (upper > level)
        with np.errstate(over="ignore"):
            part = np.where(cut, (upper - level) / gap * 0.5 * (upper + level), 0.0)
        return float(np.where(lower >= level, 0.5 * (lower + upper), part).sum())

    low, high, total = 0.0, float(upper.max()), mass(0.0)
    for _ in range(60):
        level = 0.5 * (low + high)
        if mass(level) >= probability * total:
            low = level
        else:
            high = level
    above = f > low
    if above.all():
        return np.array([[0.0, float(len(f) - 1)]])
    change = np.flatnonzero(above[1:] != above[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = change + (low - f[change]) / (f[change + 1] - f[change])
    rising = ~above[change]
    begins, stops = ends[rising], ends[~rising]
    if closed and above[0]:  # the arc that crosses the first point
        begins, stops = begins, np.append(stops[1:], stops[0] + len(f) - 1)
    elif above[0]:
        begins = np.append(0.0, begins)
    return np.column_stack([begins, stops])
