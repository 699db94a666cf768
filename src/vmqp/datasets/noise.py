"""Von Mises noise of a stated circular standard deviation, for the generated data."""

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.special import i0e, i1e

from vmqp.circle import TWO_PI, FloatArray
from vmqp.errors import InputError

__all__ = ["concentration", "read_deviation", "von_mises_noise"]


def concentration(deviation: float) -> float:
    """Return the κ whose resultant length R = I₁(κ)/I₀(κ) has √(−2 log R) = deviation, in radians; inf for 0.

    >>> round(concentration(math.radians(10.0)), 2)
    33.33
    """
    if deviation < 1e-150:  # whose square is no number any more
        return math.inf
    # From the asymptotic series of I₁/I₀.
    large = 1 / deviation**2 + 0.5
    if deviation < 0.05:
        return large
    length = math.exp(-(deviation**2) / 2)
    return float(brentq(lambda kappa: i1e(kappa) / i0e(kappa) - length, 0.0, 2 * large))


def von_mises_noise(rng: Generator, size: int, deviation: float, period: float) -> FloatArray:
    """Draw noise of a circular standard deviation, both in the units of the period.

    >>> von_mises_noise(np.random.default_rng(1), 3, 10.0, 360.0).round(1).tolist()
    [-10.3, -7.8, 11.6]
    """
    kappa = concentration(deviation / period * TWO_PI)
    if math.isinf(kappa):
        return np.zeros(size)
    return np.asarray(rng.vonmises(0.0, kappa, size) / TWO_PI * period)


def read_deviation(deviation: Any, name: str, period: float, unit: str) -> float:
    """Check a circular standard deviation: from 0 to a third of the period, beyond which a law is all but uniform.

    >>> read_deviation(130, "noise_sd", 360.0, "degrees")
    Traceback (most recent call last):
    vmqp.errors.InputError: noise_sd must lie between 0 and 120 degrees but is 130; give 10, for example.
    """
    try:
        value = math.nan if isinstance(deviation, bool | str) else float(deviation)
    except (TypeError, ValueError):
        value = math.nan
    if not 0 <= value <= period / 3:
        raise InputError(
            f"{name} must lie between 0 and {period / 3:g} {unit} but is {deviation!r}; "
            f"give {period / 36:.3g}, for example."
        )
    return value
