"""The density of a prediction: a mean over draws of laws that are known in closed form.

Given all other angles, the angle at a place is von Mises about arg h with concentration k = |h|; other models have
other laws (`vmqp.posterior.laws`). Their mean over draws (Rao and Blackwell) is smooth where the draws are rough. With
noise χ an observation there has the density ``I₀(|h + χ e^{iy}|) / (2π I₀(|h|) I₀(χ))``.

A stiff kernel without noise makes k so large that the mean is a comb of spikes between which there is nothing: each
law then says less than the spread of the draws about it. A law is therefore never taken narrower than the bandwidth
with which a density estimate of as many draws would be made. For the same reason a law is never narrower than an even
grid round the circle can show; so the values on such a grid add up to one.
"""

from itertools import pairwise

import numpy as np

from vmqp.circle import TWO_PI, FloatArray
from vmqp.posterior.laws import Laws

__all__ = [
    "FEWEST_DRAWS",
    "MOST_DRAWS",
    "even_spacing",
    "mixture",
    "mixture_at",
    "modes_of",
]

FEWEST_DRAWS, MOST_DRAWS = 400, 2000
"""Draws of which a density is made: it is a mean of smooth functions, and more would not be seen."""
_BLOCK = 4_000_000  # numbers at a time
_SHOWN = (
    0.7  # standard deviations of a law in spacings of a grid: then its values add up to one within 1.3e-4
)
_QUARTER = 0.6373  # width of the shortest interval with a quarter of a normal law, in standard deviations


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


def bandwidth(directions: FloatArray) -> FloatArray:
    """Return the width, (m,), below which a law of one of the draws, (draws, m), tells more than they all know.

    The reference rule for a normal law, whose standard deviation is read from the shortest arc with a quarter of the
    draws: with several modes that is the width of one of them.
    """
    draws = len(directions)
    ordered = np.sort(directions, axis=0)
    count = max(2, draws // 4)
    if draws < 2 * count - 1 or draws < 8:
        return np.zeros(directions.shape[1])
    turned = np.concatenate([ordered, ordered[: count - 1] + TWO_PI])
    deviation = (turned[count - 1 :] - turned[: 1 - count or None]).min(axis=0) / _QUARTER
    return np.asarray(1.06 * np.minimum(deviation, TWO_PI / np.sqrt(12.0)) * draws**-0.2)


def mixture(laws: Laws, grid: FloatArray) -> FloatArray:
    """Mean density at each point of a grid in radians, (m, len(grid))."""
    spacing, m = even_spacing(grid), laws.direction.shape[1]
    width = np.maximum(bandwidth(laws.direction), 0.0 if spacing is None else _SHOWN * spacing)
    laws = laws.widened(width)
    density = np.empty((m, grid.size))
    columns = max(1, _BLOCK // len(laws.direction))
    for i in range(m):
        own = laws.at(slice(i, i + 1))
        for first in range(0, grid.size, columns):
            part = slice(first, first + columns)
            density[i, part] = np.exp(own.log_density(grid[part])).mean(axis=0)
    return density


def mixture_at(laws: Laws, angles: FloatArray) -> FloatArray:
    """Log of the mean density at one angle for each place, (m,)."""
    values = laws.widened(bandwidth(laws.direction)).log_density(angles)
    top = values.max(axis=0)
    return np.asarray(top + np.log(np.exp(values - top).mean(axis=0)))


def modes_of(grid: FloatArray, density: FloatArray, least: float) -> FloatArray:
    """Directions of the modes of a density on an even grid that hold at least a share `least`, the largest first.

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
    shares = np.add.reduceat(values, edges[:-1]) / values.sum()
    tops = [first + int(values[first:last].argmax()) for first, last in pairwise(edges)]
    order = [i for i in np.argsort(-shares, kind="stable") if shares[i] >= least]
    return points[np.array(tops)[order]]
