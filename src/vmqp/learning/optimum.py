"""The maximum of an objective of the parameters: where to start, how to climb, and the curvature at the top.

The coordinates t are those of the learned parameters on the unconstrained scale of their priors, in the order of
`Problem.learned`: u (the kernel's and κ), then ν, then χ.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import pdist

from vmqp.circle import FloatArray, wrap
from vmqp.errors import InputError
from vmqp.learning.problem import Problem
from vmqp.linalg.threads import one_blas_thread
from vmqp.precision import factorise

__all__ = ["Maximum", "Objective", "Search", "starting_points"]

_VARIANCES = (1e-4, 4.0)  # of a coordinate at the maximum; wider means that the data say nothing about it
_REACH = 12.0  # on the unconstrained scale, beyond all starts: a factor of e¹² for a scale
_NEAR = 1e-6  # the largest gain in value that a further Newton step may promise at convergence
_CLOSE = 1e-11  # relative to the value, at the end of a climb
_SAME = 0.2  # of where an earlier climb ended: a climb that comes here would end there too
_STEP = 1e-4  # of differences of the gradient
_TURNS = np.pi / 2.0 * np.arange(4)


class Objective(Protocol):
    """What is maximized."""

    @property
    def problem(self) -> Problem:
        """The model."""

    @property
    def X(self) -> FloatArray:
        """The locations, (r, columns)."""

    @property
    def x(self) -> FloatArray:
        """Unit vectors of the angles, (2, ..., r)."""

    @property
    def names(self) -> tuple[str, ...]:
        """The learned parameters, in the order of t."""

    def value(self, t: FloatArray) -> float:
        """The value; −inf where the kernel matrix has no usable factor."""

    def value_and_gradient(self, t: FloatArray) -> tuple[float, FloatArray] | None:
        """The value and its gradient; None where the kernel matrix has no usable factor."""

    def covariance(self, t: FloatArray) -> FloatArray:
        """The kernel matrix."""


@dataclass(frozen=True, eq=False)
class Maximum:
    """Where an objective is largest."""

    search: "Search"
    t: FloatArray
    value: float
    gradient: FloatArray
    noise: float | None = None
    """χ where it was found apart from t."""
    settled: bool | None = None
    """Whether it has converged, where something else than the gradient decides."""

    @cached_property
    def values(self) -> dict[str, float]:
        """The exchanged parameters, ``direction`` unless there is no drift, ``noise`` if the problem has noise."""
        problem = self.search.objective.problem
        found = values_at(self.search.objective, self.t)
        if not problem.no_drift:
            found.setdefault("direction", problem.direction.typical())
        if problem.noise is not None:
            found.setdefault("noise", problem.noise.typical() if self.noise is None else self.noise)
        return found

    @property
    def u(self) -> FloatArray:
        """The exchanged parameters on the unconstrained scale, (p,)."""
        return self.t[: len(self.search.objective.problem.exchanged)]

    @property
    def direction(self) -> float:
        """The direction ν of the drift."""
        return self.values.get("direction", self.search.objective.problem.direction.typical())

    @cached_property
    def _whole(self) -> FloatArray:
        with one_blas_thread():  # the same in every order of work
            return self.search.inverse_curvature(self.t, self.gradient)

    @property
    def covariance(self) -> FloatArray:
        """Of u, (p, p): the inverse of the curvature, its eigenvalues kept between 1e-4 and 4."""
        p = len(self.u)
        return self._whole[:p, :p]

    def moved(self, u: FloatArray) -> "Maximum":
        """Another point with the same curvature, for chains that cannot start at this one."""
        other = replace(self, t=np.concatenate([u, self.t[len(u) :]]))
        other.__dict__["_whole"] = self._whole
        return other

    @property
    def converged(self) -> bool:
        """Whether a further step would gain next to nothing."""
        if self.settled is not None:
            return self.settled
        return 0.5 * float(self.gradient @ self._whole @ self.gradient) < _NEAR


def values_at(objective: Objective, t: FloatArray) -> dict[str, float]:
    """The learned parameters by name."""
    priors = objective.problem.priors
    return {
        name: float(priors[name].from_unconstrained(float(u)))
        for name, u in zip(objective.names, t, strict=True)
    }


def starting_points(objective: Objective) -> list[FloatArray]:
    """Points to try: typical values, length scales from far below to far above them, several sizes of the nugget."""
    problem, names = objective.problem, objective.names
    mean = objective.x.reshape(2, -1).mean(axis=1)
    typical = np.array(
        [
            np.arctan2(mean[1], mean[0])
            if name == "direction"
            else float(problem.priors[name].to_unconstrained(problem.priors[name].typical()))
            for name in names
        ]
    )
    scales = problem.named.scale_parameters or ()
    lengths = np.array([name.startswith("lengthscale") for name in names], dtype=np.float64)
    variances = np.array([name in scales for name in names], dtype=np.float64)
    nuggets = np.array([name.startswith("nugget") for name in names], dtype=np.float64)
    points = [typical + factor * lengths for factor in _factors(lengths, (1.0, 0.1, 0.3, 3.0, 10.0))]
    some = objective.X[:: max(1, len(objective.X) // 100)]
    distance = float(np.median(pdist(some))) if len(some) > 1 else 0.0
    for factor in (0.1, 0.3, 1.0) if lengths.any() else ():
        point = typical.copy()
        for j in np.flatnonzero(lengths):
            support = problem.priors[names[j]].support
            if support[0] < factor * distance < support[1]:
                point[j] = problem.priors[names[j]].to_unconstrained(factor * distance)
        points.append(point)
    return [
        point + scale * variances + nugget * nuggets
        for nugget in _factors(nuggets, (1.0, 0.1))
        for scale in _factors(variances, (1.0, 0.1))
        for point in points
    ]


def _factors(which: FloatArray, factors: Sequence[float]) -> list[float]:
    return [float(np.log(factor)) for factor in factors] if which.any() else [0.0]


class Search:
    """Climbs to the largest value: keeps the best point that was seen; a wall stands where K has no usable factor."""

    def __init__(self, objective: Objective, deadline: float = math.inf) -> None:
        self.objective, self._deadline = objective, deadline
        self.best: FloatArray | None = None
        self.value, self.gradient = -np.inf, np.zeros(len(objective.names))
        self.gain = np.inf
        """What a further step from the best point promises."""
        self._turning = np.array(objective.names) == "direction"
        self._ends: list[FloatArray] = []

    def evaluate(self, t: FloatArray) -> tuple[float, FloatArray] | None:
        """Return value and gradient; None where there is none."""
        found = self.objective.value_and_gradient(t)
        if found is None or not (np.isfinite(found[0]) and np.isfinite(found[1]).all()):
            return None
        if found[0] > self.value:
            self.best, self.value, self.gradient = np.array(t), *found
        return found

    def _down(self, t: FloatArray) -> tuple[float, FloatArray]:
        """What SciPy minimizes: beyond the wall a slope that leads back to the best point."""
        found = self.evaluate(t)
        if found is not None:
            return -found[0], -found[1]
        return self._wall(t - (t if self.best is None else self.best))

    def _wall(self, away: FloatArray) -> tuple[float, FloatArray]:
        """What stands where there is no value; `away` is the way from a point that has one."""
        # The height is moderate: an interpolating line search would answer infinity with a step of zero.
        return 10.0 - self.value + 0.5 * float(away @ away), away

    def climb(self, starts: Sequence[FloatArray], climbs: int, tolerance: float = _CLOSE) -> None:
        """Climb from the best of some starts, each in the best of four directions."""
        if not self.objective.names:
            self.evaluate(starts[0])
            self.gain = 0.0
            return
        turning = self._turning
        least, most = np.min(starts, axis=0) - _REACH, np.max(starts, axis=0) + _REACH
        least[turning], most[turning] = -np.inf, np.inf
        for start in self.ranked(starts)[:climbs]:
            if self.best is not None and time.monotonic() > self._deadline:
                return
            turned = [start + turn * turning for turn in (_TURNS if turning.any() else _TURNS[:1])]
            first = (self.ranked(turned) or turned)[0]
            self._ends.append(self._minimize(self._down, first, np.column_stack([least, most]), tolerance))

    def climb_scaled(self, start: FloatArray, covariance: FloatArray) -> None:
        """Climb from a start near the maximum, in coordinates in which the curvature is about one."""
        root = np.linalg.cholesky(covariance)
        bounded = ~self._turning

        def down(z: FloatArray) -> tuple[float, FloatArray]:
            away = root @ z
            far = bool((np.abs(away[bounded]) > _REACH).any())
            value, slope = self._wall(away) if far else self._down(start + away)
            return value, root.T @ slope

        self._minimize(down, np.zeros(len(start)), None, _CLOSE)

    def _minimize(
        self, down: Any, start: FloatArray, bounds: FloatArray | None, tolerance: float
    ) -> FloatArray:
        """Run SciPy's minimizer; return where it ended."""
        before = self.value
        found = minimize(
            down,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=self._look_at_clock if bounds is None else self._may_end,
            options={"maxiter": 200, "ftol": tolerance, "gtol": 1e-6},
        )
        if self.value > before:
            self.gain = 0.5 * float(found.jac @ (found.hess_inv @ found.jac))
        return np.asarray(found.x)

    def _look_at_clock(self, _: FloatArray) -> None:
        """End a climb where it is when the deadline has come."""
        if time.monotonic() > self._deadline:
            raise StopIteration

    def _may_end(self, t: FloatArray) -> None:
        """End a climb that has come to where an earlier one ended, too."""
        self._look_at_clock(t)
        for end in self._ends:
            away = np.abs(np.where(self._turning, wrap(t - end), t - end))
            if away.max() < _SAME:
                raise StopIteration

    def ranked(self, points: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the points where there is a value, the best first."""
        if len(points) == 1:
            return list(points)
        values = np.array([self.objective.value(t) for t in points])
        return [points[k] for k in np.argsort(-values, kind="stable") if np.isfinite(values[k])]

    def maximum(self, start: FloatArray) -> Maximum:
        """Return the best point; where none has a value, say why at `start`."""
        if self.best is None:
            factorise(self.objective.covariance(start))  # names the rows that are too close
            raise InputError(
                "no parameters with a finite objective were found: give the kernel narrower priors."
            )
        return Maximum(self, self.best, self.value, self.gradient, settled=self.gain < _NEAR)

    def at(self, t: FloatArray) -> Maximum | None:
        """Return a point with its value, as if it were the best."""
        found = self.evaluate(t)
        return None if found is None else Maximum(self, np.array(t), *found)

    def inverse_curvature(self, t: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return the inverse of minus the Hessian, by differences of the gradient, with bounded eigenvalues."""
        hessian = np.zeros((len(t), len(t)))
        for j in range(len(t)):
            sides = [
                self.objective.value_and_gradient(t + sign * _STEP * np.eye(len(t))[j])
                for sign in (1.0, -1.0)
            ]
            # Beside the wall one side is missing, and the other is compared with the middle.
            ends = [gradient if side is None else side[1] for side in sides]
            width = _STEP * sum(side is not None for side in sides)
            hessian[j] = (ends[0] - ends[1]) / width if width else 0.0
        curvature, axes = np.linalg.eigh(-0.5 * (hessian + hessian.T))
        variances = 1.0 / np.clip(curvature, 1.0 / _VARIANCES[1], 1.0 / _VARIANCES[0])
        return np.asarray((axes * variances) @ axes.T)
