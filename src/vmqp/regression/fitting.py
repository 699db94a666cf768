"""From checked options and data to a posterior: problem, chains, result."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import xarray as xr

from vmqp import kernels
from vmqp.chain import Task
from vmqp.circle import FloatArray
from vmqp.learning import Learner, Method, Problem, make_problem
from vmqp.maps.memory import read_memory
from vmqp.posterior import Facts, Posterior
from vmqp.regression.calls import call_text
from vmqp.regression.kernel import choose_kernel, metric_of
from vmqp.regression.options import (
    check_choices,
    check_concentration,
    in_radians,
    read_length,
    read_method,
    read_noise,
    read_noise_new,
)
from vmqp.regression.places import check_constant, check_scale, check_size, say_once_that_places_matter
from vmqp.regression.stages import draw_map, map_rule, read_sizes
from vmqp.run import run_chains
from vmqp.tables import AngleRange, Table

__all__ = ["Data", "check_places", "fit_posterior", "run_posterior"]

_RUN = (
    "chains",
    "seed",
    "executor",
    "workers",
    "checkpoint",
    "progress",
    "time_limit",
    "dtype",
)


@dataclass(frozen=True, eq=False)
class Data:
    """What was observed."""

    table: Table
    radians: FloatArray
    range: AngleRange


def fit_posterior(data: Data, X_new: Table, options: dict[str, Any], defaults: dict[str, Any]) -> Posterior:
    """Draw from the posterior at the new places; `options` are those of `vmqp.CircularRegressor`."""
    n, m = len(data.radians), len(X_new.values)
    problem = _problem(data, X_new, options)
    noise_new = read_noise_new(options["noise_new"], m, noisy=problem.noise is not None)
    method = read_method(options["method"], options["sampler"])
    say_once_that_places_matter(n, m)
    given = {} if noise_new is None else {"noise_new": noise_new}
    noisy = "given" if given else "same" if problem.noise_rows is None else "none"
    call = call_text(options, defaults)
    if read_sizes(n, m, options).two_stages:
        tree = draw_map(problem, method, options, {name: options[name] for name in _RUN})
        return _posterior(tree, problem.kernel, data, X_new, map_rule(options), call, given, noisy)
    learner = _learner(problem, method, options)
    return run_posterior(learner, problem.kernel, data, X_new, options, call, given, noisy)


def _learner(problem: Problem, method: Method, options: dict[str, Any]) -> Learner:
    learner = Learner(problem, method, options["warmup"], options["thin"], pointwise=True)
    if not problem.is_sparse:
        return learner
    # Neighbours are chosen in the metric of likely parameters, once and for all chains.
    near = {name: value for name, value in learner.maximum.values.items() if name in problem.named.parameters}
    found = replace(learner, problem=replace(problem, metric_at=tuple(sorted(near.items()))))
    found.__dict__["maximum"] = learner.maximum
    return found


def run_posterior(
    task: Task,
    kernel: kernels.Kernel,
    data: Data,
    X_new: Table,
    options: dict[str, Any],
    call: str,
    given: Mapping[str, FloatArray] = MappingProxyType({}),
    noise_of_new: str = "same",
) -> Posterior:
    """Run the chains of a task as the options say; `given` goes with the inputs."""
    places = len(data.radians) + len(X_new.values)
    draws, until = read_length(options["draws"], options["until"], options["chains"], places)
    tree = run_chains(task, draws=draws, until=until, **{name: options[name] for name in _RUN})
    return _posterior(tree, kernel, data, X_new, until, call, given, noise_of_new)


def _posterior(
    tree: xr.DataTree,
    kernel: kernels.Kernel,
    data: Data,
    X_new: Table,
    until: Any,
    call: str,
    given: Mapping[str, FloatArray],
    noise_of_new: str,
) -> Posterior:
    if given:
        more = {name: (f"{name}_dim_0", values) for name, values in given.items()}
        tree["constant_data"] = xr.DataTree(tree["constant_data"].to_dataset().assign(more))
    facts = Facts(
        range=data.range,
        names=data.table.names,
        categories=dict(X_new.categories),
        kind=X_new.kind,
        call=call,
        noise_of_new=noise_of_new,
        metric=metric_of(kernel),
    )
    if until is not None:
        facts = replace(facts, target_ess=float(until.ess))
    return Posterior(tree, facts)


def check_places(data: Data, X_new: Table, options: dict[str, Any]) -> None:
    """Refuse choices that do not exist, and places that no model of this package can take."""
    check_choices(options)
    if "memory" in options:
        read_memory(options["memory"])
    n, m = len(data.radians), len(X_new.values)
    if "stages" not in options or read_sizes(n, m, options).neighbors is None:
        check_size(n, m, options["chains"])
    check_constant(data.table, X_new)
    check_scale(data.table, X_new)


def _problem(data: Data, X_new: Table, options: dict[str, Any]) -> Problem:
    check_places(data, X_new, options)
    check_concentration(options["concentration"])
    noise = read_noise(options["noise"], len(data.radians))
    kernel = choose_kernel(
        data.table, X_new, options["kernel"], metric=options["metric"], noisy=noise is not None
    )
    drift, sizes = options["drift"], read_sizes(len(data.radians), len(X_new.values), options)
    if drift == "auto":
        # A constant pull adds up over many places and drags them all to one direction.
        many = len(X_new.values) > len(data.radians) or sizes.two_stages
        drift = "mean" if many else "constant"
    return make_problem(
        data.table.values,
        data.radians,
        X_new.values,
        kernel=kernel,
        drift=drift,
        concentration=options["concentration"],
        direction=in_radians(options["direction"], data.range),
        noise=noise,
        column_names=data.table.names,
        neighbors=sizes.neighbors,
    )
