"""Log priors of several parameters on the unconstrained scale, their slopes, and the parameters themselves.

The distributions of `families` are one compiled loop over a table of coefficients; any other prior is asked by itself.
"""

import math
from collections.abc import Sequence

import numpy as np
from numba import njit

from vmqp.circle import FloatArray
from vmqp.priors.base import HalfLine, Prior
from vmqp.priors.families import Gamma, HalfNormal, InverseGamma, LogNormal, Squared, Uniform, UniformAngle

__all__ = ["Coordinates"]

_ANGLE, _INTERVAL, _HALF_LINE, _OTHER = range(4)


def _row(prior: Prior) -> tuple[float, ...]:
    """The kind of a distribution and its coefficients: both ends, or those of `Terms` with logarithms of the scale."""
    # A subclass may have another density: only the distributions themselves are known.
    if type(prior) is UniformAngle:
        return _ANGLE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if type(prior) is Uniform:
        return _INTERVAL, prior.lower, prior.upper, 0.0, 0.0, 0.0, 0.0
    if isinstance(prior, HalfLine) and type(prior) in (Gamma, HalfNormal, InverseGamma, LogNormal):
        c, a, s, g, m, w = prior.terms()
        return _HALF_LINE, c, a, math.log(s), g, m, 1.0 / w**2
    if type(prior) is Squared:  # log x² = 2 log x
        kind, c, a, log_s, g, m, precision = _row(prior.prior)
        if kind == _HALF_LINE:
            return _HALF_LINE, c + math.log(2.0), 2.0 * a, 0.5 * log_s, 2.0 * g, 0.5 * m, 4.0 * precision
    return _OTHER, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _evaluate(table, t, x, slopes, stretches):  # type: ignore[no-untyped-def]
    """The sum of the log densities of t but for angles and other priors; fills in x(t), d/dt of each and dx/dt."""
    total = 0.0
    for j in range(t.shape[0]):
        kind, u = table[j, 0], t[j]
        if kind == _HALF_LINE:
            constant, power, log_scale = table[j, 1], table[j, 2], table[j, 3]
            exponent, away, precision = table[j, 4], u - table[j, 5], table[j, 6]
            x[j] = stretches[j] = math.exp(u)
            part = math.exp(exponent * (u - log_scale))
            total += constant + power * u - part - 0.5 * precision * away * away
            slopes[j] = power - exponent * part - precision * away
        elif kind == _INTERVAL:
            lower, upper = table[j, 1], table[j, 2]
            small = math.exp(-abs(u))  # of σ(u) and σ(−u), the smaller is small / (1 + small)
            part = (1.0 if u > 0.0 else small) / (1.0 + small)
            x[j] = lower + (upper - lower) * part
            stretches[j] = (upper - lower) * small / ((1.0 + small) * (1.0 + small))
            total -= abs(u) + 2.0 * math.log1p(small)
            slopes[j] = 1.0 - 2.0 * part
        else:
            x[j], slopes[j], stretches[j] = u, 0.0, 1.0
    return total


class Coordinates:
    """Parameters on the unconstrained scale of their priors.

    The constant density of an angle is left out.

    >>> from vmqp.priors import HalfNormal, UniformAngle
    >>> place = Coordinates([HalfNormal(2), UniformAngle()])
    >>> round(place.move(np.array([0.0, 1.0])), 4), place.x.tolist(), place.slopes.tolist()
    (-1.0439, [1.0, 1.0], [0.75, 0.0])
    """

    def __init__(self, priors: Sequence[Prior]) -> None:
        self._table = np.array([_row(prior) for prior in priors]).reshape(-1, 7)
        self._others = [(j, prior) for j, prior in enumerate(priors) if self._table[j, 0] == _OTHER]
        self.x = np.empty(len(priors))
        """The parameters."""
        self.slopes = np.empty(len(priors))
        """Derivatives of the log density of t."""
        self.stretches = np.empty(len(priors))
        """dx/dt."""

    def move(self, t: FloatArray) -> float:
        """Go to t; return its log density."""
        value: float = _evaluate(self._table, t, self.x, self.slopes, self.stretches)
        for j, prior in self._others:
            with np.errstate(over="ignore"):
                self.x[j] = prior.from_unconstrained(float(t[j]))
                own, self.slopes[j], self.stretches[j] = prior.unconstrained(float(t[j]))
            value += own
        return value
