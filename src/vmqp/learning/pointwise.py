"""What each draw says of each place: the law of one angle given all others, which is von Mises.

Angle i given the rest is von Mises about arg h_i with concentration |h_i|, where h_i is its field. Averaged over draws
that law is the Rao-Blackwellised density at a new place. At an observed place its logarithm at θ_i is what
leave-one-out weights are made of. With noise χ the observation θ_i has the law

    p(θ_i | all other angles) = I₀(|h_i + χ e^{iθ_i}|) / (2π I₀(|h_i|) I₀(χ)),

where h_i leaves the observation itself out.
"""

import numpy as np
from scipy.special import i0e

from vmqp.circle import FloatArray
from vmqp.learning.point import Point, fields_target
from vmqp.learning.problem import Noise, Problem
from vmqp.sampling.linear import apply_coupling

__all__ = ["fields_at", "log_density_of", "log_likelihood"]


def fields_at(point: Point, x: FloatArray, direction: float) -> FloatArray:
    """Return the field of each of the d angles, (2, d), without the pull of noisy observations."""
    product, target = np.empty_like(x), fields_target(point, direction)
    apply_coupling(target.coupling, x, product)
    return np.asarray(target.field - product[:, 0])


def log_density_of(
    angle: FloatArray, direction: FloatArray, strength: FloatArray, noise: FloatArray | float | None = None
) -> FloatArray:
    """Log density of an angle whose field has a direction and a strength |h|; with noise χ, of an observation of it.

    >>> import numpy as np
    >>> log_density_of(np.array([0.0]), np.array([0.0]), np.array([0.0])).round(4)  # uniform: 1 / 2π
    array([-1.8379])
    """
    half = np.sin(0.5 * (angle - direction))
    if noise is None:
        # |h| (cos t − 1), without the digits that the difference would lose where |h| is large
        return np.asarray(-2.0 * strength * half**2 - np.log(2.0 * np.pi * i0e(strength)))
    apart = 4.0 * strength * noise * half**2
    total = np.sqrt(np.maximum((strength + noise) ** 2 - apart, 0.0))
    # |h + χ e^{iθ}| − |h| − χ, again without a difference
    excess = -apart / np.maximum(total + strength + noise, np.finfo(float).tiny)
    return np.asarray(excess + np.log(i0e(total)) - np.log(2.0 * np.pi * i0e(strength) * i0e(noise)))


def log_likelihood(problem: Problem, fields: FloatArray, noise: Noise) -> FloatArray:
    """Log density of each observed angle given all other angles and the parameters, (n,)."""
    x, y = fields[:, : problem.n]
    return log_density_of(problem.observed, np.arctan2(y, x), np.hypot(x, y), noise)
