"""Log densities on the circle of laws that come from the line and the plane: wrapped and projected normal."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr

from vmqp.circle import TWO_PI, FloatArray

__all__ = ["projected_normal", "wrapped_normal"]

_TURNS = (
    3  # whole turns to each side: up to the variance at which the series takes over, ten standard deviations
)
_WIDE = math.pi  # a variance from which the Fourier series needs fewer terms
_WAVES = 5  # of the series: the next one is below 1e-19
_FAR = -100.0  # beyond, one minus Mills' ratio is read from its series; both have ten digits here
_LEAST = 1e-300


def wrapped_normal(angle: ArrayLike, mean: ArrayLike, variance: ArrayLike) -> FloatArray:
    """Log density of an angle that is a normal number modulo 2π.

    >>> wrapped_normal([0.0], [TWO_PI], [0.01]).round(4)  # whole turns of the mean make no difference
    array([1.3836])
    >>> wrapped_normal([0.0], [2.0], [100.0]).round(4)  # uniform: 1 / 2π
    array([-1.8379])
    """
    gap = np.asarray(angle, dtype=float) - np.asarray(mean, dtype=float)
    gap, spread = np.broadcast_arrays(
        np.remainder(gap + np.pi, TWO_PI) - np.pi, np.asarray(variance, dtype=float)
    )
    narrow = np.minimum(np.maximum(spread, _LEAST), _WIDE)
    nearest = -0.5 * gap**2 / narrow
    total = np.ones_like(nearest)
    for turn in range(1, _TURNS + 1):
        for shift in (turn * TWO_PI, -turn * TWO_PI):
            # ½ gap² − ½ (gap + shift)² without the squares, whose difference loses digits
            total += np.exp(-shift * (gap + 0.5 * shift) / narrow)
    direct = nearest + np.log(total) - 0.5 * np.log(TWO_PI * narrow)
    wide = np.maximum(spread, _WIDE)
    series = sum(np.exp(-0.5 * p * p * wide) * np.cos(p * gap) for p in range(1, _WAVES + 1))
    return np.asarray(np.where(spread < _WIDE, direct, np.log1p(2.0 * series) - math.log(TWO_PI)))


def projected_normal(
    angle: ArrayLike, x: ArrayLike, y: ArrayLike, xx: ArrayLike, xy: ArrayLike, yy: ArrayLike
) -> FloatArray:
    """Log density of the angle of a bivariate normal vector with mean (x, y) and covariance [xx xy; xy yy].

    With u the unit vector of the angle, A = uᵀΣ⁻¹u, B = uᵀΣ⁻¹m and D = B/√A it is

        −log(2π A √|Σ|) − ½ mᵀΣ⁻¹m + log(1 + D Φ(D)/φ(D)).

    >>> projected_normal([0.3], [0.0], [0.0], [1.0], [0.0], [1.0]).round(4)  # no mean: uniform
    array([-1.8379])
    """
    theta, mx, my, a, b, c = np.broadcast_arrays(
        *(np.asarray(value, dtype=float) for value in (angle, x, y, xx, xy, yy))
    )
    cos, sin = np.cos(theta), np.sin(theta)
    determinant = np.maximum(a * c - b * b, _LEAST)
    own = (c * cos * cos - 2.0 * b * cos * sin + a * sin * sin) / determinant
    along = (c * cos * mx - b * (cos * my + sin * mx) + a * sin * my) / determinant
    D = along / np.sqrt(own)
    # ½ D² − ½ mᵀΣ⁻¹m: what is across the direction, without a difference of large numbers
    across = -0.5 * (cos * my - sin * mx) ** 2 / (determinant * own)
    ahead = np.maximum(D, 0.0)
    # log(φ(D)/φ(0) + D Φ(D)/φ(0)): the peak ½ D² is in `across` already
    front = np.log(np.exp(-0.5 * ahead**2) + ahead * math.sqrt(TWO_PI) * ndtr(ahead))
    back = np.minimum(D, 0.0)
    near = np.maximum(back, _FAR)
    mills = 1.0 + near * math.sqrt(0.5 * math.pi) * erfcx(-near / math.sqrt(2.0))
    far = np.minimum(back, _FAR)
    series = -2.0 * np.log(-far) + np.log1p((15.0 / far**2 - 3.0) / far**2)
    tail = np.where(back > _FAR, np.log(np.maximum(mills, _LEAST)), series)
    rest = np.where(D > 0.0, front, tail - 0.5 * D**2)
    return np.asarray(across + rest - np.log(TWO_PI * own) - 0.5 * np.log(determinant))
