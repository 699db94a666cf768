"""`WrappedGP` and `ProjectedGP`: what one would pick instead, with the habits of `vmqp.CircularRegressor`."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from vmqp import kernels, priors
from vmqp.chain import Task
from vmqp.checks import check_count
from vmqp.errors import InputError
from vmqp.learning import Problem, make_problem
from vmqp.peers.projected import ProjectedTask
from vmqp.peers.wrapped import WrappedTask
from vmqp.posterior import Posterior
from vmqp.priors.base import is_finite_number
from vmqp.regression.base import PosteriorRegressor
from vmqp.regression.calls import call_text
from vmqp.regression.defaults import VARIANCE
from vmqp.regression.fitting import Data, check_places, run_posterior
from vmqp.regression.kernel import choose_kernel
from vmqp.tables import Table
from vmqp.tables.words import shown

__all__ = ["ProjectedGP", "WrappedGP"]

_VAGUEST = 1000.0  # vectors that all point one way are as long as that, and beyond rounding tells on them
_TAKEN = {"direction", "mean_x", "mean_y", "stretch_x", "stretch_y"}


class _Peer(PosteriorRegressor):
    """What both peers do with their options."""

    _variance: ClassVar[priors.Prior | float] = VARIANCE

    @abstractmethod
    def _task(self, problem: Problem, warmup: int, thin: int) -> Task:
        """What runs in chunks."""

    def _draw(self, data: Data, X_new: Table, options: dict[str, Any]) -> Posterior:
        check_places(data, X_new, options)
        kernel = choose_kernel(
            data.table,
            X_new,
            options["kernel"],
            metric=options["metric"],
            noisy=False,
            variance=self._variance,
        )
        problem = _problem(data, X_new, kernel)
        warmup = check_count(options["warmup"], "warmup", 0, "iterations that adapt")
        thin = check_count(options["thin"], "thin", 1, "iterations for each draw")
        call = call_text(options, type(self)().get_params(deep=False), type(self).__name__)
        return run_posterior(self._task(problem, warmup, thin), kernel, data, X_new, options, call)


def _problem(data: Data, X_new: Table, kernel: kernels.Kernel) -> Problem:
    problem = make_problem(
        data.table.values,
        data.radians,
        X_new.values,
        kernel=kernel,
        concentration=0.0,
        column_names=data.table.names,
    )
    taken = _TAKEN & set(problem.bound.parameters)
    if taken:
        raise InputError(f"a kernel's parameter is called {taken.pop()!r}: give the kernel another name=...")
    return problem


@dataclass(kw_only=True, eq=False, repr=False)
class WrappedGP(_Peer):
    """Bayesian regression of an angle by a wrapped Gaussian process: a process on the line whose whole turns are lost.

    **Parameters**

    period, metric, warmup, thin, chains, draws, seed, executor, workers, checkpoint, progress, until, time_limit, dtype
        As in `vmqp.CircularRegressor`.
    kernel
        As there; its variances are in radians squared. The default has a learned variance, length scale and nugget.

    The mean of the process is learned too: a direction with a uniform prior.

    >>> import numpy as np
    >>> X = np.linspace(0.0, 4.0, 9)[:, None]
    >>> y = np.mod(80.0 * X[:, 0] + 300.0, 360.0)
    >>> WrappedGP(period=360, progress=False).fit(X, y).predict([[2.25]]).round(-1)
    array([120.])
    """

    def _task(self, problem: Problem, warmup: int, thin: int) -> WrappedTask:
        return WrappedTask(problem, warmup, thin)


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectedGP(_Peer):
    """Bayesian regression of an angle by a projected Gaussian process: the angle of a vector of two processes.

    **Parameters**

    period, metric, warmup, thin, chains, draws, seed, executor, workers, checkpoint, progress, until, time_limit, dtype
        As in `vmqp.CircularRegressor`.
    kernel
        As there, but the variance of the process is 1 where it is not given: the angles say nothing of the vectors'
        length. The default has a learned length scale and nugget.
    mean_scale
        Standard deviation of each part of the mean vector, in the units of the kernel: its variance is 1 by default.
    stretch_scale
        Standard deviation of each part of the stretch e: the parts of the vector have standard deviations in the ratio
        ``exp(|e|)`` along its long axis, which stands at half the angle of e. 0 is the isotropic model.

    >>> import numpy as np
    >>> X = np.linspace(0.0, 4.0, 9)[:, None]
    >>> y = np.mod(80.0 * X[:, 0] + 300.0, 360.0)
    >>> ProjectedGP(period=360, progress=False).fit(X, y).predict([[2.25]]).round(-1)
    array([120.])
    """

    _variance = 1.0

    mean_scale: float = 2.0
    stretch_scale: float = 0.5

    def _task(self, problem: Problem, warmup: int, thin: int) -> ProjectedTask:
        mean, stretch = self.mean_scale, self.stretch_scale
        if not is_finite_number(mean) or not 1.0 / _VAGUEST <= mean <= _VAGUEST:
            raise InputError(
                f"mean_scale is {shown(mean)}: give a number such as 2.0, from {1.0 / _VAGUEST:g} to {_VAGUEST:g}."
            )
        if not is_finite_number(stretch) or stretch < 0.0:
            raise InputError(f"stretch_scale is {shown(stretch)}: give 0 for none, or a number such as 0.5.")
        return ProjectedTask(problem, warmup, thin, mean_scale=float(mean), stretch_scale=float(stretch))
