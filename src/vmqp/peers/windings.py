"""Winding numbers of a wrapped Gaussian process, by Gibbs.

With y = θ + 2πk on the line and the mean integrated out, ``log p(k) = −½ yᵀ P y`` with a P that has no negative
eigenvalue. Adding c to the winding numbers of a set A of locations changes that by a quadratic in c, so c given all
else is a discrete normal number, which is drawn exactly. A is one location in turn, and then some sets of neighbors:
one location alone is held fast by those around it, where a whole region may turn with ease.
"""

import math

import numpy as np
from numba import njit

from vmqp.sampling.random import normal, uniform

__all__ = ["discrete_normal", "turn_groups", "turn_places"]

_TWO_PI = 2.0 * math.pi
_REACH = 8.5  # standard deviations beyond which a discrete normal distribution has less than 1e-16
_WIDE = 20.0  # a standard deviation from which a sum has hundreds of terms


@njit(cache=True)
def _rounded(streams, center, deviation):  # type: ignore[no-untyped-def]
    """As `discrete_normal`, for a deviation above some units."""
    while True:
        shift = normal(streams, 0)
        if abs(shift) > _REACH:
            continue
        c = np.round(center + deviation * shift)
        gap = (c - center) / deviation
        # The density of c over that of the number it was rounded from is at most exp(½ reach / deviation).
        if uniform(streams, 0) < math.exp(0.5 * (shift * shift - gap * gap - _REACH / deviation)):
            return c


@njit(cache=True)
def discrete_normal(streams, center, deviation):  # type: ignore[no-untyped-def]
    """Draw an integer c with probability in proportion to exp(−(c − center)² / (2 deviation²)).

    A sum is cut where its terms vanish in double precision. A wide distribution has too many terms, and is drawn by
    rejection from the normal distribution, rounded.
    """
    if deviation > _WIDE:
        return _rounded(streams, center, deviation)
    nearest = round(center)
    reach = _REACH * deviation + 1.0
    first, last = math.ceil(center - reach), math.floor(center + reach)
    if first >= last:
        return nearest
    least = (nearest - center) / deviation
    top = 0.5 * least * least
    total = 0.0
    for c in range(first, last + 1):
        gap = (c - center) / deviation
        total += math.exp(top - 0.5 * gap * gap)
    left = uniform(streams, 0) * total
    for c in range(first, last + 1):
        gap = (c - center) / deviation
        left -= math.exp(top - 0.5 * gap * gap)
        if left < 0.0:
            return float(c)
    return nearest


@njit(cache=True, nogil=True)
def turn_places(streams, y, P, scale, product):  # type: ignore[no-untyped-def]
    """Draw the winding of each location in turn; y and product = P y are kept up to date. The precision is P/scale."""
    n = y.shape[0]
    for i in range(n):
        own = P[i, i]
        if own <= 0.0:
            continue
        deviation = math.sqrt(scale / own) / _TWO_PI
        c = discrete_normal(streams, -product[i] / own / _TWO_PI, deviation)
        if c != 0.0:
            step = _TWO_PI * c
            y[i] += step
            for j in range(n):
                product[j] += step * P[i, j]


@njit(cache=True, nogil=True)
def turn_groups(streams, y, P, scale, product, order, count):  # type: ignore[no-untyped-def]
    """Draw a common change of winding for `count` sets: a random location and some of its nearest.

    Row i of `order` holds all locations by their nearness to i. The choice of a set does not look at y.
    """
    n = y.shape[0]
    if n < 3:
        return
    for _ in range(count):
        i = min(int(uniform(streams, 0) * n), n - 1)
        # Sizes are uniform on the log scale: regions of all sizes, up to half of the locations.
        size = int(math.exp(math.log(2.0) + uniform(streams, 0) * math.log(0.5 * (n + 1) / 2.0)))
        size = max(2, min(size, n - 1))
        own, pull = 0.0, 0.0
        for a in range(size):
            row = order[i, a]
            pull += product[row]
            total = 0.0
            for b in range(a):
                total += P[row, order[i, b]]
            own += P[row, row] + 2.0 * total
        if own <= 1e-300:
            continue
        c = discrete_normal(streams, -pull / own / _TWO_PI, math.sqrt(scale / own) / _TWO_PI)
        if c != 0.0:
            step = _TWO_PI * c
            for a in range(size):
                row = order[i, a]
                y[row] += step
                for j in range(n):
                    product[j] += step * P[row, j]
