"""A point of the parameters' space with the matrices that belong to it.

The kernel matrix is factorised at ``base``. At any u that differs from it by a common scale c of all variances, and
by κ, the same factor serves: K(u) = c K(base). A point keeps both, so that what is computed at a state of the chain
does not depend on how the chain came there.

The diagonal of M cancels in every ratio that learning needs (cos 0 = 1), so only the hollow matrix is kept.
"""

from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field

import numpy as np

from vmqp.circle import FloatArray
from vmqp.learning.problem import Problem
from vmqp.precision import try_factorise
from vmqp.sampling.augmented import augmentation
from vmqp.sampling.factor import DenseFactor
from vmqp.sampling.linear import apply_coupling
from vmqp.sampling.target import Dense, Target
from vmqp.sampling.whitening import CovarianceRoot, Whitening, whiten

__all__ = [
    "Point",
    "angles_target",
    "angles_whitening",
    "drift",
    "energy",
    "factorised",
    "fields_target",
    "fields_whitening",
    "log_density",
    "mass_noise",
    "rescaled",
]

_TINY = 1e-60  # beyond this and its inverse a scale is refused: squares of fields would overflow
_NOISE_GRID = 0.5  # the mass of HMC follows log χ in steps of this size: it is not made anew each time


@dataclass(frozen=True, eq=False)
class Point:
    """Parameters u, and M(u) without its diagonal."""

    u: FloatArray
    base: FloatArray
    """Where the factorisation was made."""
    scale: float
    """K(u) = scale · K(base)."""
    concentration: float
    lower: FloatArray
    """The Cholesky factor of K(base)."""
    base_hollow: FloatArray
    base_diagonal: FloatArray
    base_weights: FloatArray
    hollow: FloatArray
    """M(u) with a diagonal of zeros."""
    base_roots: list[DenseFactor] = dataclass_field(default_factory=list)
    """The paper's root A at the base, once it was asked for; points of one factorisation share the list."""

    @property
    def root(self) -> DenseFactor:
        """A with AᵀA = λ1 − M, ``eq:cholesky_full``; computed once for each factorisation."""
        if not self.base_roots:
            nothing = np.zeros((2, len(self.base_diagonal)))
            target = Target(Dense(self.base_hollow), self.base_diagonal, nothing)
            root = augmentation(target, "scalar")
            assert isinstance(root, DenseFactor)
            self.base_roots.append(root)
        size = 1.0 / np.sqrt(self.scale)
        upper, lower = self.base_roots[0]
        return DenseFactor(upper, lower) if self.scale == 1.0 else DenseFactor(upper * size, lower * size)

    @property
    def weights(self) -> FloatArray:
        """Weight of each place in the drift at scale 1, times κ: the pull is this times (cos ν, sin ν)."""
        return self.concentration * self.base_weights


def factorised(problem: Problem, u: FloatArray) -> Point | None:
    """Return the point at u by a new factorisation, or None where K is not positive definite."""
    values = problem.kernel_values(u)
    precision = try_factorise(problem.bound.covariance(values))
    if precision is None:
        return None
    weights = np.ones(problem.d) if problem.drift == "constant" else precision.M.sum(axis=1)
    diagonal = precision.M.diagonal().copy()
    np.fill_diagonal(precision.M, 0.0)
    kappa = problem.concentration_at(u)
    return Point(u, u, 1.0, kappa, precision.L, precision.M, diagonal, weights, precision.M)


def rescaled(problem: Problem, point: Point, u: FloatArray) -> Point | None:
    """Return the point at u, which differs from `point` by a common scale and κ only; None if it overflows."""
    scale = problem.scale_of(u, point.base)
    assert scale is not None, "the move leaves the common scale"
    if not _TINY < scale < 1.0 / _TINY:
        return None
    if scale == point.scale:
        hollow = point.hollow
    else:
        hollow = point.base_hollow if scale == 1.0 else point.base_hollow * (1.0 / scale)
    return replace(point, u=u, scale=scale, concentration=problem.concentration_at(u), hollow=hollow)


def drift(problem: Problem, point: Point, direction: float) -> FloatArray:
    """The field of the drift, (2, d)."""
    # drift="mean": the weights are M 1, which falls with the scale of K as M does.
    size = 1.0 / point.scale if problem.drift == "mean" else 1.0
    pull = np.array([[np.cos(direction)], [np.sin(direction)]])
    field: FloatArray = pull * (size * point.weights)
    return field


def fields_target(problem: Problem, point: Point, direction: float) -> Target:
    """The density of all d angles before any data: what the inner chain of the exchange draws from."""
    return Target(Dense(point.hollow), point.base_diagonal / point.scale, drift(problem, point, direction))


def angles_target(
    problem: Problem, point: Point, x: FloatArray, direction: float, noise: float | None
) -> Target:
    """The density of the latent angles given the data; the observed rows of x, (2, 1, d), hold θ if no noise."""
    field = drift(problem, point, direction)
    n = problem.n
    if noise is not None:
        # eq:noisy
        theta = np.stack([np.cos(problem.observed), np.sin(problem.observed)])
        field[:, :n] += noise * theta
        return Target(Dense(point.hollow), point.base_diagonal / point.scale, field)
    # eq:conditional_density
    coupling = np.ascontiguousarray(point.hollow[n:, n:])
    rho = field[:, n:] - x[:, 0, :n] @ point.hollow[:n, n:]
    return Target(Dense(coupling), point.base_diagonal[n:] / point.scale, np.ascontiguousarray(rho))


def fields_whitening(point: Point) -> Whitening:
    """The mass of HMC on all d angles: W⁻¹ is the kernel matrix."""
    return CovarianceRoot(point.lower, point.scale)


def angles_whitening(problem: Problem, point: Point, target: Target, noise: float | None) -> Whitening:
    """The mass of HMC on the latent angles."""
    if noise is None:
        n = problem.n
        return CovarianceRoot(np.ascontiguousarray(point.lower[n:, n:]), point.scale)
    extra = np.zeros(problem.d)
    extra[: problem.n] = mass_noise(noise)
    return whiten(target, extra)


def mass_noise(noise: float) -> float:
    """The noise that the mass of HMC takes for χ: the nearest on a coarse grid, a function of χ alone."""
    return float(np.exp(_NOISE_GRID * np.round(np.log(noise) / _NOISE_GRID)))


def log_density(target: Target, x: FloatArray) -> float:
    """Log-density of unit vectors x, (2, 1, m), without its normaliser and without the diagonal."""
    product = np.empty_like(x)
    apply_coupling(target.coupling, x, product)
    return float(np.vdot(target.field, x[:, 0]) - 0.5 * np.vdot(x, product))


def energy(problem: Problem, point: Point, x: FloatArray, direction: float) -> float:
    """U of all d angles, ``eq:Z_w_definition``, without the diagonal of M."""
    return -log_density(fields_target(problem, point, direction), x)
