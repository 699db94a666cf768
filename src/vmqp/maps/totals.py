"""Summaries that are added up while a map is drawn: a million places times a thousand steps fit no memory.

Each chain keeps for each place the sums of cos, sin, cos² and cos·sin, over the first and the second half of every
stretch of steps. From them follow the circular mean and variance over all steps, and R-hat of both: the chains' halves
are compared in cos(φ − μ), whose mean is 1 minus the circular variance, and in sin(φ − μ), which is zero at the mean
direction μ. A stretch has one set of parameters, the same in all chains, so that halves differ by slow mixing only.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from vmqp.circle import FloatArray

__all__ = ["MOMENTS", "Moments", "add_up"]

MOMENTS = 4
_BLOCK = 200_000


@njit(cache=True, nogil=True)
def add_up(x, sums):  # type: ignore[no-untyped-def]
    """Add the unit vectors x, (2, 1, m), to the sums, (4, m)."""
    for i in range(x.shape[2]):
        c, s = x[0, 0, i], x[1, 0, i]
        sums[0, i] += c
        sums[1, i] += s
        sums[2, i] += c * c
        sums[3, i] += c * s


class Moments(NamedTuple):
    """Sums of all chains' halves, (J, 4, m), and how many steps each adds up, (J,).

    >>> angles = np.random.default_rng(1).vonmises(1.0, 4.0, size=(8, 500, 3))
    >>> c, s = np.cos(angles), np.sin(angles)
    >>> moments = Moments(np.stack([c.sum(1), s.sum(1), (c * c).sum(1), (c * s).sum(1)], axis=1), np.full(8, 500))
    >>> moments.mean().round(1), bool(moments.rhat().max() < 1.02)
    (array([1., 1., 1.]), True)
    """

    sums: FloatArray
    """Of cos, sin, cos² and cos·sin, (J, 4, m)."""
    counts: FloatArray
    """Steps that each half adds up, (J,)."""

    def resultant(self) -> FloatArray:
        """The mean unit vector at each place, (2, m)."""
        total: FloatArray = self.sums[:, :2].sum(axis=0) / self.counts.sum()
        return total

    def mean(self) -> FloatArray:
        """Circular mean at each place in radians, (m,)."""
        c, s = self.resultant()
        return np.asarray(np.arctan2(s, c))

    def variance(self) -> FloatArray:
        """Circular variance at each place, (m,)."""
        return np.asarray(np.clip(1.0 - np.hypot(*self.resultant()), 0.0, 1.0))

    def spread(self) -> tuple[FloatArray, FloatArray]:
        """Of cos(φ − μ) and sin(φ − μ) at each place, (2, m): variance within halves, and that of the halves' means."""
        m = self.sums.shape[2]
        within, between = np.empty((2, m)), np.empty((2, m))
        n = self.counts[:, None]
        for first in range(0, m, _BLOCK):
            part = slice(first, first + _BLOCK)
            c, s, cc, cs = (self.sums[:, k, part] / n for k in range(MOMENTS))
            mu = np.arctan2((n * s).sum(axis=0), (n * c).sum(axis=0))
            for row, (a, b) in enumerate(((np.cos(mu), np.sin(mu)), (-np.sin(mu), np.cos(mu)))):
                means = a * c + b * s
                squares = a * a * cc + 2.0 * a * b * cs + b * b * (1.0 - cc)
                within[row, part] = np.maximum(squares - means**2, 0.0).mean(axis=0)
                between[row, part] = means.var(axis=0, ddof=1)
        return within, between

    def rhat(self) -> FloatArray:
        """Split R-hat of the variance map and of the mean map, (2, m); 1 where nothing moves at all."""
        within, between = self.spread()
        n = float(self.counts.mean())
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(between > 0.0, between / within, 0.0)
        return np.asarray(np.sqrt((n - 1.0) / n + ratio))

    def effective(self) -> FloatArray:
        """Effective samples behind the means of cos and sin at each place, (m,), from how the halves' means scatter.

        They are those given the parameters: all halves have the same sets of them, so that how much another choice of
        sets would change the means is not seen here. With few halves it is rough: by a factor of about two either way.
        """
        within, between = self.spread()
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = np.where(between > 0.0, within / between, np.inf) * len(self.counts)
        return np.asarray(np.minimum(sizes.min(axis=0), float(self.counts.sum())))
