"""`WrappedGP` and `ProjectedGP`: what one would pick instead, with the methods of `vmqp.CircularRegressor`."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import xarray as xr

from vmqp import kernels, priors
from vmqp.checks import check_count
from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.learning import Problem, make_problem
from vmqp.linalg.threads import one_blas_thread
from vmqp.peers.locations import NewLocations
from vmqp.peers.projected import ProjectedTask
from vmqp.peers.task import PeerTask
from vmqp.peers.wrapped import WrappedTask
from vmqp.posterior import Posterior
from vmqp.posterior.diagnostics import SIMULATION, learned_draws
from vmqp.posterior.predictive import default_draws
from vmqp.priors.base import is_finite_number
from vmqp.regression.base import PosteriorRegressor
from vmqp.regression.calls import call_text
from vmqp.regression.defaults import VARIANCE
from vmqp.regression.fitting import Data, Learned, check_data, run_task
from vmqp.regression.kernel import check_columns, choose_kernel
from vmqp.regression.places import check_scale, check_size
from vmqp.tables import Table
from vmqp.tables.words import shown

__all__ = ["ProjectedGP", "WrappedGP"]

_CHAINS = 4  # into which draws at learned parameters are cut
_VAGUEST = 1000.0  # vectors that all point one way are as long as that, and beyond rounding tells on them
_TAKEN = {"direction", "mean_x", "mean_y", "stretch_x", "stretch_y"}


class _Peer(PosteriorRegressor):
    """What both peers do with their options."""

    _variance: ClassVar[priors.Prior | float] = VARIANCE

    @abstractmethod
    def _task(self, problem: Problem, warmup: int, thin: int) -> PeerTask:
        """The model at the observed locations, to be run in chunks."""

    def _learn(self, data: Data, options: dict[str, Any]) -> Learned:
        check_data(data, options)
        check_size(len(data.radians), 0, options["chains"])
        kernel = choose_kernel(
            data.table,
            None,
            options["kernel"],
            metric=options["metric"],
            noisy=False,
            variance=self._variance,
        )
        problem = _problem(data, kernel)
        warmup = check_count(options["warmup"], "warmup", 0, "iterations that adapt")
        thin = check_count(options["thin"], "thin", 1, "iterations for each draw")
        call = call_text(options, type(self)().get_params(deep=False), type(self).__name__)
        return run_task(self._task(problem, warmup, thin), kernel, data, options, call)

    def _check_new(self, new: Table) -> None:
        check_columns(self._model.kernel, self.data_.table, new)
        check_scale(self.data_.table, new)

    def _joint(self, learned: Learned, X_new: Table, draws: int) -> Posterior:
        """Condition all new locations together: exact draws, one for each of some parameter draws."""
        n, m = len(self.data_.radians), len(X_new.values)
        check_size(n, m, 1)
        task = self._task(_problem(self.data_, learned.kernel), 0, 1)
        new = NewLocations(task.problem, X_new.values)
        rng = np.random.default_rng([self.seed, 3])
        angles: list[FloatArray] = []
        parts: list[dict[str, FloatArray]] = []
        count = -(-draws // _CHAINS) * _CHAINS
        sets = _sets(learned.tree, count)
        latent = _thinned(learned.tree["latent"].dataset[task.latent].values, count)
        with one_blas_thread():
            for values, own in zip(sets, latent, strict=True):
                given = new.given({name: values[name] for name in task.problem.exchanged})
                drawn, distribution = task.joint(values, own, given, rng)
                angles.append(drawn)
                parts.append(distribution)
        found = _labelled(learned, sets, angles, parts, X_new)
        return Posterior(found, learned.facts.with_new(X_new, "same"))

    def _condition(self, learned: Learned, data: Data, **more: Any) -> Learned:
        check_scale(self.data_.table, data.table)
        check_size(len(data.radians), 0, 1)
        task = self._task(_problem(data, learned.kernel), 0, 1)
        sets = _sets(learned.tree, default_draws(0))
        with one_blas_thread():
            drawn = task.redraw(sets, self.seed)
        tree = learned.tree
        own = {name: (("chain", "draw"), _chained([d.parameters[name] for d in drawn])) for name in sets[0]}
        latent = _chained([d.pointwise[f"latent/{task.latent}"] for d in drawn])
        groups = {
            "posterior": xr.Dataset(own),
            "latent": xr.Dataset({task.latent: (("chain", "draw", "row"), latent)}),
            "observed_data": xr.Dataset({"angle": ("angle_dim_0", data.radians)}),
            "constant_data": xr.Dataset({"X": (("X_dim_0", "X_dim_1"), data.table.values)}),
            "learning": learned_draws(tree),
        }
        if "sample_stats" in tree.children:  # not where all parameters of the kernel are fixed
            groups["sample_stats"] = tree["sample_stats"].to_dataset()
        found = xr.DataTree.from_dict(groups)
        found.attrs = {**tree.attrs, "conditioned": 1}
        facts = replace(
            learned.facts, range=data.range, categories=dict(data.table.categories), kind=data.table.kind
        )
        return Learned(found, learned.kernel, facts)


def _thinned(values: npt.NDArray[Any], count: int) -> FloatArray:
    """Some draws of all chains, evenly chosen, as many of each as of any other chain, (count, ...)."""
    flat = values.reshape(-1, *values.shape[2:])
    return np.asarray(flat[np.linspace(0, len(flat) - 1, count).round().astype(int)], dtype=np.float64)


def _sets(tree: xr.DataTree, count: int) -> list[dict[str, float]]:
    """Some sets of parameters, evenly chosen."""
    columns = {str(name): _thinned(v.values, count) for name, v in tree["posterior"].data_vars.items()}
    return [{name: float(values[i]) for name, values in columns.items()} for i in range(count)]


def _chained(values: Sequence[Any]) -> FloatArray:
    """Draws as those of some chains, each from one part of the learned draws."""
    array = np.asarray(values, dtype=np.float64)
    return array.reshape(_CHAINS, -1, *array.shape[1:])


def _labelled(
    learned: Learned,
    sets: Sequence[dict[str, float]],
    angles: Sequence[FloatArray],
    parts: Sequence[dict[str, FloatArray]],
    X_new: Table,
) -> xr.DataTree:
    """Joint draws as the result of a run."""
    old = learned.tree
    n, m = old["observed_data"].dataset["angle"].size, len(X_new.values)
    rows = {"angle_place": np.arange(n, n + m)}
    posterior = {name: (("chain", "draw"), _chained([values[name] for values in sets])) for name in sets[0]}
    drawn: dict[str, Any] = posterior | {"angle": (("chain", "draw", "angle_place"), _chained(angles))}
    groups = {"posterior": xr.Dataset(drawn, coords=rows)}
    for path in parts[0]:
        group, name = path.split("/")
        variable = {name: (("chain", "draw", "row"), _chained([part[path] for part in parts]))}
        groups[group] = groups.get(group, xr.Dataset()).assign(variable)
    groups["observed_data"] = old["observed_data"].to_dataset()
    X = np.concatenate([old["constant_data"].dataset["X"].values[:n], X_new.values])
    groups["constant_data"] = xr.Dataset({"X": (("X_dim_0", "X_dim_1"), X)})
    tree: xr.DataTree = xr.DataTree.from_dict(groups)
    tree.attrs = {**old.attrs, "method": SIMULATION}
    return tree


def _problem(data: Data, kernel: kernels.Kernel) -> Problem:
    problem = make_problem(
        data.table.values,
        data.radians,
        kernel=kernel,
        concentration=0.0,
        column_names=data.table.names,
    )
    taken = _TAKEN & set(problem.named.parameters)
    if taken:
        raise InputError(f"a kernel's parameter is called {taken.pop()!r}: give the kernel another name=...")
    return problem


@dataclass(kw_only=True, eq=False, repr=False)
class WrappedGP(_Peer):
    """Bayesian regression of an angle by a wrapped Gaussian process: a process on the line whose whole turns are lost.

    `fit` draws the parameters and the winding numbers of the observed angles. A prediction is kriging on the line at
    each of some draws: a mixture of wrapped normal distributions. The mean of the process is learned too: a direction
    with a uniform prior.

    Parameters
    ----------
    period, metric, warmup, thin, chains, draws, seed, executor, workers, checkpoint, progress, until, time_limit, \
dtype, parameter_draws
        As in `vmqp.CircularRegressor`.
    kernel
        As there; its variances are in radians squared. The default has a learned variance, length scale and nugget.

    Examples
    --------
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

    `fit` draws the parameters, the mean vector and the radii of the observed vectors. A prediction is kriging of the
    vectors at each of some draws: a mixture of projected normal distributions.

    Parameters
    ----------
    period, metric, warmup, thin, chains, draws, seed, executor, workers, checkpoint, progress, until, time_limit, \
dtype, parameter_draws
        As in `vmqp.CircularRegressor`.
    kernel
        As there, but the variance of the process is 1 where it is not given: the angles say nothing of the vectors'
        length. The default has a learned length scale and nugget.
    mean_scale
        Standard deviation of each part of the mean vector, in the units of the kernel: its variance is 1 by default.
    stretch_scale
        Standard deviation of each part of the stretch e: the parts of the vector have standard deviations in the ratio
        ``exp(|e|)`` along its long axis, which stands at half the angle of e. 0 is the isotropic model.

    Examples
    --------
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
