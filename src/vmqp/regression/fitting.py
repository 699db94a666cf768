"""From checked options and data to a posterior: problem, chains, result."""

from dataclasses import dataclass, replace
from typing import Any

import xarray as xr

from vmqp.circle import FloatArray
from vmqp.learning import Learner, Problem, make_problem
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
from vmqp.run import run_chains
from vmqp.tables import AngleRange, Table

__all__ = ["Data", "fit_posterior"]

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
    learner = Learner(problem, method, options["warmup"], options["thin"], pointwise=True)
    say_once_that_places_matter(n, m)
    draws, until = read_length(options["draws"], options["until"], options["chains"], n + m)
    run = {name: options[name] for name in _RUN}
    tree = run_chains(learner, draws=draws, until=until, **run)
    if noise_new is not None:
        given = tree["constant_data"].to_dataset().assign(noise_new=("noise_new_dim_0", noise_new))
        tree["constant_data"] = xr.DataTree(given)
    facts = Facts(
        range=data.range,
        names=data.table.names,
        categories=dict(X_new.categories),
        kind=X_new.kind,
        call=call_text(options, defaults),
        noise_of_new="given" if noise_new is not None else "same" if problem.noise_rows is None else "none",
        metric=metric_of(problem.kernel),
    )
    if until is not None:
        facts = replace(facts, target_ess=float(until.ess))
    return Posterior(tree, facts)


def _problem(data: Data, X_new: Table, options: dict[str, Any]) -> Problem:
    check_choices(options)
    check_size(len(data.radians), len(X_new.values), options["chains"])
    check_constant(data.table, X_new)
    check_scale(data.table, X_new)
    check_concentration(options["concentration"])
    noise = read_noise(options["noise"], len(data.radians))
    kernel = choose_kernel(
        data.table, X_new, options["kernel"], metric=options["metric"], noisy=noise is not None
    )
    drift = options["drift"]
    if drift == "auto":
        # A constant pull adds up over many places and drags them all to one direction.
        drift = "constant" if len(X_new.values) <= len(data.radians) else "mean"
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
    )
