"""Objectives that need no normaliser: sums over places of a function of the local field, and their maxima.

With ``x_i = (cos φ_i, sin φ_i)``, ``M = K(w)⁻¹`` and the local field ``h_i = field_i − Σ_{j≠i} M_ij x_j``, the
pseudo-likelihood and the score of Hyvärinen are both a mean over draws of ``Σ_i f(h_i, x_i)``. A `Rule` gives f and
``g_i = ∂f/∂h_i``. The rest is the chain rule, with field_i = κ w_i e and e = (cos ν, sin ν)::

    ∂/∂M_ij = G_ij = −g_i·x_j  for i ≠ j,   and + κ g_i·e  for all j where the weights are w = M 1
    ∂/∂K    = −M G M           since ∂M = −M ∂K M
    ∂/∂κ    = Σ_i w_i g_i·e,   ∂/∂ν = κ Σ_i w_i g_i·(−sin ν, cos ν)

The coordinates t are those of the learned parameters on the unconstrained scale of their priors: u (the kernel's
and κ), then ν, then χ. Derivatives of K by t are central differences. Noisy observations are treated as exact ones
with a nugget, ``K + I/χ``: an approximation, since noise of concentration χ adds about 1/χ to an angle's variance.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vmqp import model
from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.kernels.bound import Bound
from vmqp.kernels.embedding import embed
from vmqp.kernels.inputs import Inputs
from vmqp.learning.optimum import Maximum, Search, starting_points
from vmqp.learning.problem import Problem
from vmqp.linalg.threads import one_blas_thread
from vmqp.model import direction_weights, unit_vectors
from vmqp.precision import factorise, try_factorise
from vmqp.precision.groups import groups_of_near
from vmqp.priors import Prior
from vmqp.sampling import sample_angles

__all__ = [
    "Complete",
    "Rule",
    "Ruled",
    "check_angles",
    "check_problem",
    "complete_angles",
    "covariance_derivatives",
    "draw_complete",
    "find_maximum",
    "observed_angles",
    "precision_and_field",
]

Rule = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""From h and x, both (..., d, 2), to the value (...), which is to be large, and its derivative by h, (..., d, 2)."""

# Fourth-order differences are right to about 1e-12. Where K is nearly singular, M G M multiplies their error.
_STEP = 5e-4
_GROUP = 50  # places of a group
_LARGE = 300  # locations beyond which the search begins on a part of them
_MOST, _SOME = 2000, 800  # locations beyond which some groups of them, so many in all, have to do
_CLIMBS = 3
_STENCIL = ((1.0, 8.0 / 12.0), (-1.0, -8.0 / 12.0), (2.0, -1.0 / 12.0), (-2.0, 1.0 / 12.0))


class _Local(NamedTuple):
    """The local field h, (2, draws, r), and what it is made of; `pull` is the unit vector of ν."""

    M: FloatArray
    kappa: float
    pull: FloatArray
    weights: FloatArray
    h: FloatArray


@dataclass(frozen=True, eq=False)
class Complete:
    """Angles at some places of a problem, none of them missing; made by `observed_angles` or `complete_angles`."""

    problem: Problem
    X: FloatArray
    """The places, (r, columns)."""
    x: FloatArray
    """Unit vectors, (2, draws, r): all cosines, then all sines."""
    nugget: bool
    """Whether the angles carry noise, so that 1/χ is added to the diagonal of K."""
    rows: npt.NDArray[np.intp] | None = None
    """Which of the observed places they are; None for all."""

    @cached_property
    def bound(self) -> Bound:
        """The kernel tied to these places."""
        problem = self.problem
        return (
            problem.bound
            if len(self.X) == problem.d and not problem.is_sparse
            else problem.kernel.bind(self.X, problem.column_names)
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The learned parameters, in the order of t: those of u first."""
        return tuple(name for name in self.problem.learned if self.nugget or name != "noise")

    def thinned(self, step: int) -> "Complete":
        """Every `step`-th place."""
        return self.part(np.arange(0, len(self.X), step))

    def part(self, rows: npt.NDArray[np.intp]) -> "Complete":
        """Some of the places."""
        own = rows if self.rows is None else self.rows[rows]
        return Complete(self.problem, self.X[rows], self.x[:, :, rows], self.nugget, own)

    def clustered(self, count: int) -> "Complete":
        """About `count` places in some groups of near ones, so that short and long distances are among them."""
        points = embed(self.problem.kernel, Inputs.check(self.X, self.problem.column_names))
        return self.part(groups_of_near(points, count, _GROUP))

    def values(self, t: FloatArray) -> dict[str, float]:
        """Return the learned parameters by name."""
        return {
            name: float(self.problem.priors[name].from_unconstrained(t[j]))
            for j, name in enumerate(self.names)
        }

    def drift(self, t: FloatArray) -> tuple[float, float]:
        """Return κ and ν."""
        values, problem = self.values(t), self.problem
        kappa = values.get("concentration", problem.concentration.typical())
        return kappa, values.get("direction", problem.direction.typical())

    def covariance(self, t: FloatArray) -> FloatArray:
        """Return the kernel matrix, with the nugget if there is one; far out it may not be finite."""
        values = self.values(t)
        with np.errstate(all="ignore"):
            own = {name: value for name, value in values.items() if name in self.bound.parameters}
            K = self.bound.covariance(own)
            if self.nugget:
                assert self.problem.noise is not None
                chi = self.problem.noise_of(values.get("noise", self.problem.noise.typical()))
                chi = chi[self.rows] if isinstance(chi, np.ndarray) and self.rows is not None else chi
                K.flat[:: len(K) + 1] += 1.0 / np.asarray(chi)
        return K

    def _local(self, t: FloatArray) -> "_Local | None":
        precision = try_factorise(self.covariance(t))
        if precision is None:
            return None
        M, (kappa, nu) = precision.M, self.drift(t)
        pull = np.array([np.cos(nu), np.sin(nu)])
        weights = direction_weights(M, self.problem.drift)
        coupling = M - np.diag(np.diagonal(M))
        return _Local(M, kappa, pull, weights, kappa * pull[:, None, None] * weights - self.x @ coupling)

    def value(self, rule: Rule, t: FloatArray) -> float:
        """Return the mean of the rule over draws; −inf where K has no usable factor."""
        local = self._local(t)
        if local is None:
            return -np.inf
        mean = float(np.mean(rule(np.moveaxis(local.h, 0, -1), np.moveaxis(self.x, 0, -1))[0]))
        return mean if np.isfinite(mean) else -np.inf

    def value_and_gradient(self, rule: Rule, t: FloatArray) -> tuple[float, FloatArray] | None:
        """Return the mean of the rule over draws and its gradient by t; None where K has no usable factor."""
        local = self._local(t)
        if local is None:
            return None
        M, kappa, pull, weights, h = local
        x = self.x
        values, g_last = rule(np.moveaxis(h, 0, -1), np.moveaxis(x, 0, -1))
        value = float(np.mean(values))
        if not np.isfinite(value):
            return None
        g = np.moveaxis(g_last, -1, 0) / x.shape[1]
        by_field = g.sum(axis=1)
        along, across = pull @ by_field, np.array([-pull[1], pull[0]]) @ by_field
        G = -(g[0].T @ x[0] + g[1].T @ x[1])
        np.fill_diagonal(G, 0.0)
        if self.problem.drift == "mean":
            G += kappa * along[:, None]
        by_covariance = -(M @ (0.5 * (G + G.T)) @ M)
        gradient = np.zeros(len(t))
        for j, change in covariance_derivatives(self, t):
            gradient[j] = np.vdot(by_covariance, change)
        for j, name in enumerate(self.names):
            if name == "concentration":
                slope = np.exp(self.problem.concentration.log_jacobian(t[j]))
                gradient[j] = (along @ weights) * slope
            elif name == "direction":
                gradient[j] = kappa * (across @ weights)
        return value, gradient

    def log_prior(self, t: FloatArray) -> tuple[float, FloatArray]:
        """Return the log prior density of t, that of ν left out because it is constant, and its gradient."""
        value, gradient = 0.0, np.zeros(len(t))
        for j, name in enumerate(self.names):
            if name != "direction":
                prior = self.problem.priors[name]
                u = t[j] + _STEP * np.array([0.0, *(shift for shift, _ in _STENCIL)])
                logs = np.asarray(prior.log_density(prior.from_unconstrained(u)) + prior.log_jacobian(u))
                value += float(logs[0])
                gradient[j] = (
                    sum(weight * log for (_, weight), log in zip(_STENCIL, logs[1:], strict=True)) / _STEP
                )
        return value, gradient


def covariance_derivatives(complete: Complete, t: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """Yield j and ∂K/∂t_j for each coordinate on which K depends."""
    for j, name in enumerate(complete.names):
        if name in ("concentration", "direction"):
            continue
        total = np.zeros((len(complete.X), len(complete.X)))
        for shift, weight in _STENCIL:
            moved = np.array(t, dtype=np.float64)
            moved[j] += shift * _STEP
            total += (weight / _STEP) * complete.covariance(moved)
        yield j, total


def observed_angles(problem: Problem) -> Complete:
    """The n observed places alone, with a nugget for the noise if there is noise.

    >>> from vmqp import kernels, priors
    >>> from vmqp.learning.problem import make_problem
    >>> kernel = priors.HalfNormal(1) * kernels.Exponential(1.0)
    >>> problem = make_problem([[0.0], [1.0]], [0.1, 0.3], [[2.0]], kernel=kernel, noise=priors.HalfNormal(10))
    >>> observed_angles(problem).names
    ('variance', 'concentration', 'direction', 'noise')
    """
    check_problem(problem)
    x = unit_vectors(problem.observed)
    return Complete(problem, problem.X[: problem.n], x.T[:, None, :].copy(), problem.noise is not None)


def complete_angles(problem: Problem, angles: npt.ArrayLike) -> Complete:
    """Draws of the angles at all d places, (draws, d); their noise plays no part."""
    check_problem(problem)
    x = unit_vectors(check_angles(angles, problem.d))
    return Complete(problem, problem.X, np.ascontiguousarray(np.moveaxis(x, -1, 0)), False)


@dataclass(frozen=True, eq=False)
class Ruled:
    """The mean of a rule over complete angles, with the log prior if `prior`: what a search climbs."""

    complete: Complete
    rule: Rule
    prior: bool

    @property
    def problem(self) -> Problem:
        """The model."""
        return self.complete.problem

    @property
    def X(self) -> FloatArray:
        """The locations."""
        return self.complete.X

    @property
    def x(self) -> FloatArray:
        """Unit vectors, (2, draws, r)."""
        return self.complete.x

    @property
    def names(self) -> tuple[str, ...]:
        """The learned parameters, in the order of t."""
        return self.complete.names

    def covariance(self, t: FloatArray) -> FloatArray:
        """The kernel matrix."""
        return self.complete.covariance(t)

    def value(self, t: FloatArray) -> float:
        """The value; −inf where K has no usable factor."""
        value = self.complete.value(self.rule, t)
        return value + self.complete.log_prior(t)[0] if self.prior else value

    def value_and_gradient(self, t: FloatArray) -> tuple[float, FloatArray] | None:
        """The value and its gradient; None where K has no usable factor."""
        found = self.complete.value_and_gradient(self.rule, t)
        if found is None or not self.prior:
            return found
        log_prior, slope = self.complete.log_prior(t)
        return found[0] + log_prior, found[1] + slope


def find_maximum(problem: Problem, rule: Rule, *, angles: npt.ArrayLike | None, prior: bool) -> Maximum:
    """Maximize a rule from several starts; for many locations, first on some of them."""
    complete = observed_angles(problem) if angles is None else complete_angles(problem, angles)
    # Several threads would wait for each other on matrices of this size, and for chains that run beside.
    with one_blas_thread():
        if len(complete.X) > _MOST:
            complete = complete.clustered(_SOME)
        whole, climbs, rows = Ruled(complete, rule, prior), _CLIMBS, len(complete.X)
        starts = starting_points(whole)
        if rows > _LARGE:
            part = Search(Ruled(complete.thinned(-(-rows // (_LARGE // 2))), rule, prior))
            part.climb(starts, _CLIMBS)
            climbs = 1
            if part.best is not None and np.isfinite(whole.value(part.best)):
                starts = [part.best]
        search = Search(whole)
        search.climb(starts, climbs)
        return search.maximum(starts[0])


def draw_complete(
    problem: Problem,
    values: Mapping[str, float],
    *,
    draws: int,
    seed: int,
    warmup: int | None = None,
    initial: FloatArray | None = None,
) -> FloatArray:
    """Draw the latent angles at the given values of all learned parameters, and join the known ones: (draws, d)."""
    M, field = precision_and_field(problem, values)
    start = problem.latent.start
    if problem.noise is None:
        coupling, pull = model.conditional(M, problem.observed, field)
    else:
        chi = problem.noise_of(_value(problem.noise, "noise", values))
        coupling, pull = model.noisy(M, problem.observed, field, np.asarray(chi))
    begin = None if initial is None else initial[start:]
    latent = sample_angles(coupling, pull, draws=draws, seed=seed, warmup=warmup, initial=begin)
    return np.concatenate([np.broadcast_to(problem.observed[:start], (draws, start)), latent], axis=1)


def precision_and_field(problem: Problem, values: Mapping[str, float]) -> tuple[FloatArray, FloatArray]:
    """Return M, (d, d), and the field of the drift, (d, 2), at the given values of all learned parameters."""
    if problem.is_sparse:
        raise InputError("this estimate needs a dense precision: make the problem without neighbors.")
    own = {name: values[name] for name in problem.exchanged if name != "concentration"}
    M = factorise(problem.bound.covariance(own)).M
    kappa = _value(problem.concentration, "concentration", values)
    nu = 0.0 if problem.no_drift else _value(problem.direction, "direction", values)
    return M, model.drift_field(M, kappa, nu, problem.drift)


def _value(prior: Prior, name: str, values: Mapping[str, float]) -> float:
    return prior.typical() if prior.is_fixed else values[name]


def check_angles(angles: npt.ArrayLike, d: int) -> FloatArray:
    """Refuse anything but finite angles of shape (draws, d)."""
    values = np.asarray(angles, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != d or not len(values):
        raise InputError(
            f"complete angles of shape {values.shape} were given: give shape (draws, {d}), "
            "one row for each draw and one angle in radians for each place, the observed ones first."
        )
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"the angle of draw {row} at place {column} is {values[row, column]}: give finite angles, "
            "or drop the draw."
        )
    return values


def check_problem(problem: Problem) -> None:
    """Refuse anything else."""
    if not isinstance(problem, Problem):
        raise InputError(f"problem is a {type(problem).__name__}: give what make_problem returns.")
