"""A point of the parameters' space with the matrices that belong to it.

At any u that differs from that of a factorisation by a common scale c of all variances, and by κ, the same factor
serves: K(u) = c K(base). A point keeps the base, so that what is computed at a state of the chain does not depend on
how the chain came there. The energy of given angles at all points of one base follows from three sums.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.learning.factorisation import DenseFactorisation, Factorisation, RootedFactorisation, Sums
from vmqp.learning.problem import Noise, Problem
from vmqp.precision import DensePrecision, VecchiaPrecision, try_factorise, try_factorise_triangle
from vmqp.sampling.factor import DenseFactor
from vmqp.sampling.linear import apply_coupling
from vmqp.sampling.target import Target
from vmqp.sampling.whitening import Whitening, whiten

__all__ = [
    "Factorisation",
    "Point",
    "Sums",
    "angles_target",
    "angles_whitening",
    "drift_field",
    "energy",
    "factorised",
    "fields_target",
    "fields_whitening",
    "log_density",
    "mass_noise",
    "rescaled",
    "sums",
    "tells_observed_apart",
]

_LARGEST = (
    1e12  # of the sum of M's diagonal: beyond it energies are so large that their differences are rounding
)
_LARGEST_SCALE = 1e60  # beyond it the squares of HMC's velocities come near to overflow
_NOISE_GRID = 0.5  # the mass of HMC follows log χ in steps of this size: it is not made anew each time


@dataclass(frozen=True, eq=False)
class Point:
    """Parameters u, and M(u) without its diagonal."""

    u: FloatArray
    base: Factorisation
    scale: float
    """K(u) = scale · K(base.u)."""
    concentration: float
    pull: float
    """By what the base's weights are multiplied in the drift: κ, or κ/scale where they are M 1."""

    @property
    def root(self) -> DenseFactor:
        """The paper's A at u."""
        assert isinstance(self.base, DenseFactorisation)
        upper, lower = self.base.root
        size = 1.0 / math.sqrt(self.scale)
        return self.base.root if self.scale == 1.0 else DenseFactor(upper * size, lower * size)


def factorised(problem: Problem, u: FloatArray, values: Mapping[str, float]) -> Point | None:
    """Return the point at u by a new factorisation, or None where K has no factor that can be used."""
    try:
        base = (_rooted if problem.is_sparse else _dense)(problem, u, problem.kernel_values(values))
    except InputError:  # a function of the user's that overflows far out: such parameters are refused
        return None
    if base is None:
        return None
    kappa = problem.concentration_of(values)
    return Point(u, base, 1.0, kappa, kappa)


def _dense(problem: Problem, u: FloatArray, values: Mapping[str, float]) -> Factorisation | None:
    precision = try_factorise_triangle(problem.bound.triangle(values), problem.d)
    if not _usable(precision):
        return None
    weights = np.ones(problem.d) if problem.drift == "constant" else precision.M.sum(axis=1)
    diagonal = precision.M.diagonal().copy()
    np.fill_diagonal(precision.M, 0.0)
    return DenseFactorisation(u, precision.L, precision.M, diagonal, weights)


def _rooted(problem: Problem, u: FloatArray, values: Mapping[str, float]) -> Factorisation | None:
    root = problem.on_graph.root(values)
    if root is None:
        return None
    precision = VecchiaPrecision(problem.on_graph.graph.pattern, root)
    if not precision.diagonal.sum() <= _LARGEST:
        return None
    ones = np.ones(problem.d)
    weights = ones if problem.drift == "constant" else precision.product(ones)
    return RootedFactorisation(u, problem.on_graph.graph, root, precision.diagonal, weights)


def tells_observed_apart(problem: Problem, u: FloatArray) -> bool:
    """Whether the kernel matrix of the observed places alone can be used."""
    values = problem.kernel_values(problem.values(u))
    if problem.is_sparse:
        return problem.on_graph.root(values, rows=problem.n) is not None
    K = problem.bound.covariance(values)
    return _usable(try_factorise(np.ascontiguousarray(K[: problem.n, : problem.n])))


def _usable(precision: DensePrecision | None) -> TypeGuard[DensePrecision]:
    return precision is not None and bool(precision.M.trace() <= _LARGEST)


def rescaled(problem: Problem, point: Point, u: FloatArray, values: Mapping[str, float]) -> Point | None:
    """Return the point at u, which differs from `point` by a common scale and κ only; None if it overflows."""
    scale = problem.scale_of(u, point.base.u)
    assert scale is not None, "the move leaves the common scale"
    if not 0.0 < scale < _LARGEST_SCALE or point.base.diagonal.sum() / scale > _LARGEST:
        return None
    kappa = problem.concentration_of(values)
    return Point(u, point.base, scale, kappa, kappa / scale if problem.drift == "mean" else kappa)


def sums(base: Factorisation, x: FloatArray) -> Sums:
    """Return the sums of unit vectors x, (2, 1, d)."""
    return base.sums(x)


def energy(point: Point, known: Sums, direction: float) -> float:
    """U of all d angles, ``eq:Z_w_definition``, without the diagonal of M."""
    drift = math.cos(direction) * known.along + math.sin(direction) * known.across
    return known.quadratic / point.scale - point.pull * drift


def drift_field(point: Point, direction: float) -> FloatArray:
    """The field of the drift, (2, d)."""
    weights = point.pull * point.base.weights
    return np.stack([math.cos(direction) * weights, math.sin(direction) * weights])


def fields_target(point: Point, direction: float) -> Target:
    """The density of all d angles before any data: what the inner chain of the exchange draws from."""
    return point.base.target(drift_field(point, direction), point.scale)


def angles_target(
    problem: Problem,
    point: Point,
    x: FloatArray,
    direction: float,
    noise: Noise,
    frame: float = 0.0,
) -> Target:
    """The density of the latent angles given the data; the observed rows of x, (2, 1, d), hold θ if no noise.

    Where x and the direction are measured from another zero than the data, that is the `frame`.
    """
    field = drift_field(point, direction)
    n = problem.n
    if noise is not None:
        # eq:noisy
        theta = np.stack([np.cos(problem.observed - frame), np.sin(problem.observed - frame)])
        field[:, :n] += noise * theta
        return point.base.target(field, point.scale)
    return point.base.new_target(x, field, n, point.scale)


def fields_whitening(point: Point) -> Whitening:
    """The mass of HMC on all d angles."""
    return point.base.mass(point.scale)


def angles_whitening(problem: Problem, point: Point, target: Target, noise: Noise) -> Whitening:
    """The mass of HMC on the latent angles."""
    if noise is None:
        return point.base.new_mass(problem.n, point.scale)
    extra = np.zeros(problem.d)
    extra[: problem.n] = mass_noise(noise)
    return whiten(target, extra)


def mass_noise(noise: float | FloatArray) -> FloatArray:
    """The noise that the mass of HMC takes for χ: the nearest on a coarse grid, a function of χ alone."""
    return np.asarray(np.exp(_NOISE_GRID * np.round(np.log(noise) / _NOISE_GRID)))


def log_density(target: Target, x: FloatArray) -> float:
    """Log-density of unit vectors x, (2, 1, m), without its normaliser and without the diagonal."""
    product = np.empty_like(x)
    apply_coupling(target.coupling, x, product)
    return float(np.vdot(target.field, x[:, 0]) - 0.5 * np.vdot(x, product))
