"""The pseudo-likelihood (Besag 1975): the product of each angle's density given all others, and its maximum.

One angle given the rest is von Mises about ``arg h_i`` with concentration ``|h_i|``, h the local field, so the
normaliser Z (``eq:Z_w_definition``) is not needed::

    log PL = Σ_i [h_i·x_i − log 2π I₀(|h_i|)],    ∂/∂h_i = x_i − A(|h_i|) h_i/|h_i|,    A = I₁/I₀

Its maximum is consistent and quick to find. It is a start for the samplers of the posterior, and its curvature
gives them a first step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, minimize_scalar
from scipy.special import i0e, i1e
from threadpoolctl import threadpool_limits

from vmqp import model
from vmqp.checks import check_count
from vmqp.circle import FloatArray, wrap
from vmqp.errors import InputError
from vmqp.learning.objective import (
    Complete,
    Rule,
    complete_angles,
    draw_complete,
    observed_angles,
    starting_points,
)
from vmqp.learning.problem import Problem
from vmqp.precision import factorise
from vmqp.priors import Prior

__all__ = [
    "Maximum",
    "log_pseudolikelihood",
    "maximise",
    "maximise_latent",
]

_VARIANCES = (1e-4, 4.0)  # of a coordinate at the maximum; wider means that the data say nothing about it
_LARGE = 300  # places beyond which the search begins on a part of them
_MOST, _SOME = 2000, 800  # places beyond which some groups of them, so many in all, have to do
_CLIMBS = 3
_REACH = 12.0  # on the unconstrained scale, beyond all starts: a factor of e¹² for a scale
_REFRESH = 100  # steps of the sampler at new values, from where it stood
_NEAR = 1e-6  # the largest gain in value that a further Newton step may promise at convergence


@dataclass(frozen=True, eq=False)
class Maximum:
    """Where an objective is largest."""

    values: dict[str, float]
    """The exchanged parameters, ``direction`` unless there is no drift, ``noise`` if the problem has noise."""
    u: FloatArray
    """The exchanged parameters on the unconstrained scale, (p,)."""
    direction: float
    covariance: FloatArray
    """Of u, (p, p): the inverse of the curvature, its eigenvalues kept between 1e-4 and 4."""
    value: float
    converged: bool


def _rule(h: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log PL, (...), and its derivative by h, (..., d, 2)."""
    size = np.hypot(h[..., 0], h[..., 1])
    dot = np.sum(h * x, axis=-1)
    cross = h[..., 0] * x[..., 1] - h[..., 1] * x[..., 0]
    # |h| − h·x loses all digits to cancellation for a large field; (h×x)² = |h|² − (h·x)² gives them back.
    sharp = dot > 0.0
    gap = np.where(sharp, cross**2 / np.where(sharp, size + dot, 1.0), size - dot)
    ratio = np.divide(i1e(size), size * i0e(size), out=np.full_like(size, 0.5), where=size > 1e-150)
    return -np.sum(gap + np.log(2.0 * np.pi * i0e(size)), axis=-1), x - ratio[..., None] * h


def log_pseudolikelihood(angles: npt.ArrayLike, M: FloatArray, field: FloatArray) -> FloatArray:
    """Return ``Σ_i log p(φ_i | the other angles)``, shape (...), of angles (..., d).

    >>> import numpy as np
    >>> from scipy.stats import vonmises
    >>> value = log_pseudolikelihood([0.3], np.array([[2.0]]), np.array([[1.5, 0.0]]))
    >>> bool(np.isclose(value, vonmises(1.5).logpdf(0.3)))
    True
    """
    return _rule(model.local_field(angles, M, field), model.unit_vectors(angles))[0]


def maximise(problem: Problem, *, angles: npt.ArrayLike | None = None, prior: bool = True) -> Maximum:
    """Return the parameters with the largest pseudo-likelihood, times their prior if `prior`.

    By default it is that of the n observed places alone. With `angles`, (draws, d), it is the mean of log PL over
    draws of all d angles.

    >>> import numpy as np
    >>> from vmqp import kernels, priors
    >>> from vmqp.learning.problem import make_problem
    >>> X = np.linspace(0.0, 5.0, 30)[:, None]
    >>> kernel = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1))
    >>> maximum = maximise(make_problem(X, np.sin(X[:, 0]), kernel=kernel))
    >>> maximum.converged, list(maximum.values), maximum.covariance.shape
    (True, ['variance', 'lengthscale', 'concentration', 'direction'], (3, 3))
    """
    return find_maximum(problem, _rule, angles=angles, prior=prior)


def find_maximum(problem: Problem, rule: Rule, *, angles: npt.ArrayLike | None, prior: bool) -> Maximum:
    """Maximise a rule from several starts; for many places, first on some of them."""
    complete = observed_angles(problem) if angles is None else complete_angles(problem, angles)
    # Several threads would wait for each other on matrices of this size, and for chains that run beside.
    with threadpool_limits(1):
        if len(complete.X) > _MOST:
            complete = complete.clustered(_SOME)
        starts = starting_points(complete)
        climbs, rows = _CLIMBS, len(complete.X)
        if rows > _LARGE:
            part = _Search(complete.thinned(-(-rows // (_LARGE // 2))), rule, prior, starts)
            part.climb(_CLIMBS)
            climbs = 1
            if part.best is not None and np.isfinite(complete.value(rule, part.best)):
                starts = [part.best]
        search = _Search(complete, rule, prior, starts)
        search.climb(climbs)
        return search.maximum()


class _Search:
    """A search for the largest value: the best point that was seen, and a wall where K has no usable factor."""

    def __init__(self, complete: Complete, rule: Rule, prior: bool, starts: Sequence[FloatArray]) -> None:
        self.complete, self.rule, self.prior, self.starts = complete, rule, prior, starts
        self.best: FloatArray | None = None
        self.value = -np.inf

    def evaluate(self, t: FloatArray) -> tuple[float, FloatArray] | None:
        """Return value and gradient; None where there is none."""
        found = self.complete.value_and_gradient(self.rule, t)
        if found is None:
            return None
        value, gradient = found
        if self.prior:
            log_prior, slope = self.complete.log_prior(t)
            value, gradient = value + log_prior, gradient + slope
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return None
        if value > self.value:
            self.best, self.value = np.array(t), value
        return value, gradient

    def _down(self, t: FloatArray) -> tuple[float, FloatArray]:
        """What SciPy minimises: beyond the wall a slope that leads back to the best point."""
        found = self.evaluate(t)
        if found is not None:
            return -found[0], -found[1]
        away = t - (t if self.best is None else self.best)
        # The height is moderate: an interpolating line search would answer infinity with a step of zero.
        return 10.0 - self.value + 0.5 * float(away @ away), away

    def climb(self, climbs: int) -> None:
        """Climb from the best starts, each in the best of four directions."""
        names, turning = self.complete.names, np.array(self.complete.names) == "direction"
        if not names:
            self.evaluate(self.starts[0])
            return
        least, most = np.min(self.starts, axis=0) - _REACH, np.max(self.starts, axis=0) + _REACH
        least[turning], most[turning] = -np.inf, np.inf
        for start in self._ranked(self.starts)[:climbs]:
            turns = np.pi / 2.0 * np.arange(4 if turning.any() else 1)
            minimize(
                self._down,
                self._ranked([start + turn * turning for turn in turns])[0],
                jac=True,
                method="L-BFGS-B",
                bounds=np.column_stack([least, most]),
                options={"maxiter": 200, "ftol": 1e-12, "gtol": 1e-6},
            )

    def _ranked(self, points: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the points where there is a value, the best first."""
        values = np.array([self.complete.value(self.rule, t) for t in points])
        if self.prior:
            values += [self.complete.log_prior(t)[0] for t in points]
        return [points[k] for k in np.argsort(-values, kind="stable") if np.isfinite(values[k])]

    def maximum(self) -> Maximum:
        """Return the best point with its curvature."""
        if self.best is None:
            factorise(self.complete.covariance(self.starts[0]))  # names the rows that are too close
            raise InputError(
                "no parameters with a finite objective were found: give the kernel narrower priors."
            )
        return self.result(self.best)

    def result(self, t: FloatArray) -> Maximum:
        """Return a point, its value and what the curvature there says."""
        found = self.evaluate(t)
        assert found is not None
        value, gradient = found
        problem, p = self.complete.problem, len(self.complete.problem.exchanged)
        covariance = self._covariance(t, gradient)
        values = self.complete.values(t)
        kappa_nu = self.complete.drift(t)
        if not problem.no_drift:
            values["direction"] = kappa_nu[1]
        if problem.noise is not None:
            values.setdefault("noise", problem.noise.typical())
        gain = 0.5 * float(gradient @ covariance @ gradient)
        return Maximum(values, t[:p].copy(), kappa_nu[1], covariance[:p, :p], value, gain < _NEAR)

    def _covariance(self, t: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return the inverse of minus the Hessian, by differences of the gradient, with bounded eigenvalues."""
        step = 1e-4
        hessian = np.zeros((len(t), len(t)))
        for j in range(len(t)):
            sides = [self.evaluate(t + sign * step * np.eye(len(t))[j]) for sign in (1.0, -1.0)]
            # Beside the wall one side is missing, and the other is compared with the middle.
            there = [gradient if side is None else side[1] for side in sides]
            width = step * sum(side is not None for side in sides)
            hessian[j] = (there[0] - there[1]) / width if width else 0.0
        curvature, axes = np.linalg.eigh(-0.5 * (hessian + hessian.T))
        variances = 1.0 / np.clip(curvature, 1.0 / _VARIANCES[1], 1.0 / _VARIANCES[0])
        return np.asarray((axes * variances) @ axes.T)


def maximise_latent(problem: Problem, *, rounds: int = 10, draws: int = 200, seed: int = 0) -> Maximum:
    """Return the maximum of the pseudo-likelihood of all d places, averaged over the angles that are not known.

    Each round draws the latent angles at the current values and maximises the mean of log PL over the draws; χ has
    its own likelihood given the latent angles. The answer is the mean over the last half of the rounds. Its
    covariance is the curvature with the angles known, which is too narrow where many are not.

    >>> import numpy as np
    >>> from vmqp import kernels, priors
    >>> from vmqp.learning.problem import make_problem
    >>> X = np.linspace(0.0, 5.0, 20)[:, None]
    >>> kernel = priors.HalfNormal(1) * kernels.Exponential(1.0)
    >>> problem = make_problem(X, np.sin(X[:, 0]), X[:5] + 0.1, kernel=kernel)
    >>> list(maximise_latent(problem, rounds=2, draws=20).values)
    ['variance', 'concentration', 'direction']
    """
    rounds = check_count(rounds, "rounds", 1, "rounds of drawing and maximising")
    draws = check_count(draws, "draws", 1, "draws of the latent angles in each round")
    seed = check_count(seed, "seed", 0, "a stream of random numbers")
    first = maximise(problem)
    if problem.latent.start == problem.d:
        return first
    values, angles = dict(first.values), None
    trace: list[FloatArray] = []
    noises: list[float] = []
    with threadpool_limits(1):
        for own in np.random.SeedSequence(seed).generate_state(rounds):
            angles = draw_complete(
                problem,
                values,
                draws=draws,
                seed=int(own),
                warmup=None if angles is None else _REFRESH,
                initial=None if angles is None else angles[-1],
            )
            complete = complete_angles(problem, angles)
            start = np.array(
                [float(problem.priors[name].to_unconstrained(values[name])) for name in complete.names]
            )
            search = _Search(complete, _rule, True, [start])
            search.climb(1)
            best = start if search.best is None else search.best
            trace.append(best)
            values |= complete.values(best)
            if problem.noise is not None and not problem.noise.is_fixed:
                noises.append(_best_noise(problem.noise, problem.observed, angles[:, : problem.n]))
                values["noise"] = float(problem.noise.from_unconstrained(noises[-1]))
        late = np.array(trace[rounds // 2 :])
        turning = np.array(complete.names) == "direction"
        late[:, turning] = late[0, turning] + wrap(late[:, turning] - late[0, turning])
        mean = late.mean(axis=0)
        found = search.result(best if search.evaluate(mean) is None else mean)
    if noises and problem.noise is not None:
        chi = problem.noise.from_unconstrained(np.mean(noises[rounds // 2 :]))
        found = replace(found, values=found.values | {"noise": float(chi)})
    # An average is no maximum of the last draws; it has converged if the rounds do not move on.
    moved = np.abs(late[-1] - late[0])[: len(found.u)]
    return replace(found, converged=bool((moved <= np.sqrt(np.diagonal(found.covariance))).all()))


def _best_noise(noise: Prior, observed: FloatArray, latent: FloatArray) -> float:
    """Return the unconstrained χ that is most probable given the latent angles, (draws, n)."""
    # eq:noisy: χ Σ_i cos(θ_i − φ_i) − n log I₀(χ), with the cosines averaged over the draws.
    gap = float(np.sum(2.0 * np.sin(0.5 * (latent - observed)) ** 2)) / len(latent)
    centre = float(noise.to_unconstrained(noise.typical()))

    def down(u: float) -> float:
        chi = float(noise.from_unconstrained(u))
        fit = -chi * gap - len(observed) * float(np.log(i0e(chi)))
        return -fit - float(noise.log_density(chi)) - float(noise.log_jacobian(u))

    return float(minimize_scalar(down, bounds=(centre - _REACH, centre + _REACH), method="bounded").x)
