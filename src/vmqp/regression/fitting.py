"""From checked options and data to draws: learning from the observed locations, other data, joint draws."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from vmqp import kernels
from vmqp.chain import Task
from vmqp.checks import check_count
from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.kernels.embedding import embed
from vmqp.kernels.inputs import Inputs
from vmqp.learning import Learner, Method, Problem, make_problem
from vmqp.posterior import Facts, Posterior
from vmqp.posterior.diagnostics import learned_draws
from vmqp.posterior.predictive import default_draws, values_of
from vmqp.precision.groups import groups_of_near
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
from vmqp.regression.places import check_constant, check_scale, check_size
from vmqp.regression.simulate import check_room, simulation_task
from vmqp.run import Converged, machine, run_chains
from vmqp.tables import AngleRange, Table

__all__ = [
    "DENSE",
    "Data",
    "Learned",
    "check_data",
    "condition",
    "draw_jointly",
    "draw_transductive",
    "learn",
    "run_task",
]

DENSE = 2000
"""Locations up to which the precision is dense."""
_SUBSET, _GROUP = 600, 30  # of more observed locations, so many are learned with, in groups of neighbors
_RUN = ("chains", "seed", "executor", "workers", "checkpoint", "progress", "time_limit", "dtype")
_CHAINS = 4  # of a simulation
# A simulation has a fixed length, and is judged by a rule of its own: few draws of many locations.
_NEVER = Converged(rhat=1e9, rhat_angles=1e9, ess=1e12)


@dataclass(frozen=True, eq=False)
class Data:
    """What was observed."""

    table: Table
    radians: FloatArray
    range: AngleRange

    def take(self, rows: npt.NDArray[np.intp]) -> "Data":
        """Some of the rows."""
        return Data(replace(self.table, values=self.table.values[rows]), self.radians[rows], self.range)


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned model: draws of its parameters together with the data that predictions are conditioned on."""

    tree: xr.DataTree
    kernel: kernels.Kernel
    facts: Facts
    problem: Problem | None = None
    """The model at the observed locations; None for a wrapped or projected process."""


def check_data(data: Data, options: dict[str, Any], new: Table | None = None) -> None:
    """Refuse choices that do not exist, and locations that no model of this package can take.

    `new` are new locations that belong to the model, if any.
    """
    check_choices(options)
    if "neighbors" in options:
        check_count(options["neighbors"], "neighbors", 1, "neighbors of a location")
    machine.read_memory(options.get("memory"))
    every = data.table if new is None else new
    check_constant(data.table, every)
    check_scale(data.table, every)


def learn(data: Data, options: dict[str, Any], defaults: dict[str, Any]) -> Learned:
    """Draw the parameters from their posterior, given the observed data alone."""
    check_data(data, options)
    method = read_method(options["method"], options["sampler"])
    problem = _problem(data, None, options)
    n = problem.n
    rows = _learned_with(problem, options["precision"])
    if rows is None:
        if not problem.is_sparse:
            check_size(n, 0, options["chains"])
        run = problem
    else:
        run = replace(
            problem,
            X=problem.X[rows],
            observed=problem.observed[rows],
            noise_rows=None if problem.noise_rows is None else problem.noise_rows[rows],
            neighbors=None,
        )
    call = call_text(options, defaults)
    learned = run_task(_learner(run, method, options), run.kernel, data, options, call)
    noisy = "same" if problem.noise_rows is None else "none"
    learned = replace(learned, problem=problem, facts=replace(learned.facts, noise_of_new=noisy))
    if rows is None:
        return learned
    tree = _with_data(learned.tree, problem, options)
    tree.attrs["learned_with"] = len(rows)
    return replace(learned, tree=tree)


def _learned_with(problem: Problem, precision: str) -> npt.NDArray[np.intp] | None:
    """Rows that parameters are learned with where there are too many for all; None for all."""
    if problem.n <= DENSE or precision != "auto":
        return None
    points = embed(problem.kernel, Inputs.check(problem.X, problem.column_names))
    # As dense as among all, which the parameters of this model depend on; and many groups, for how rough the angles are
    # may differ from one to the next.
    return groups_of_near(points, _SUBSET, _GROUP)


def run_task(
    task: Task,
    kernel: kernels.Kernel,
    data: Data,
    options: dict[str, Any],
    call: str,
    new: Table | None = None,
) -> Learned:
    """Run the chains of a task as the options say; `new` are the new locations that belong to it, if any."""
    locations = len(data.radians) + (0 if new is None else len(new.values))
    draws, until = read_length(options["draws"], options["until"], options["chains"], locations)
    tree = run_chains(task, draws=draws, until=until, **{name: options[name] for name in _RUN})
    shown = data.table if new is None else new
    facts = Facts(
        range=data.range,
        names=data.table.names,
        categories=dict(shown.categories),
        kind=shown.kind,
        call=call,
        metric=metric_of(kernel),
    )
    if until is not None:
        facts = replace(facts, target_ess=float(until.ess))
    return Learned(tree, kernel, facts)


def draw_transductive(
    data: Data, X_new: Table, options: dict[str, Any], defaults: dict[str, Any]
) -> Posterior:
    """Draw parameters and all new angles together, as the paper does: new locations belong to the model."""
    check_data(data, options, X_new)
    problem = _problem(data, X_new, options)
    n, m = len(data.radians), len(X_new.values)
    if not problem.is_sparse:
        check_size(n, m, options["chains"])
    noise_new = read_noise_new(options["noise_new"], m, noisy=problem.noise is not None)
    learner = _learner(problem, read_method(options["method"], options["sampler"]), options)
    found = run_task(learner, problem.kernel, data, options, call_text(options, defaults), X_new)
    return _joint(found.tree, found.facts, problem, noise_new)


def _joint(tree: xr.DataTree, facts: Facts, problem: Problem, noise_new: FloatArray | None) -> Posterior:
    noisy = "same" if problem.noise_rows is None else "none"
    if noise_new is not None:
        more = {"noise_new": ("noise_new_dim_0", noise_new)}
        tree["constant_data"] = xr.DataTree(tree["constant_data"].to_dataset().assign(more))
        noisy = "given"
    return Posterior(tree, replace(facts, noise_of_new=noisy))


def draw_jointly(
    learned: Learned, X_new: Table, options: dict[str, Any], draws: int, noise_new: FloatArray | None
) -> Posterior:
    """Draw all new angles together, at parameters that were learned before."""
    assert learned.problem is not None
    given, d = learned.problem, learned.problem.n + len(X_new.values)
    sparse = options["precision"] == "vecchia" or (options["precision"] == "auto" and d > DENSE)
    k = int(options["neighbors"]) if sparse else None
    check_room(d, len(X_new.values), k, draws, options["memory"])
    problem = replace(given, X=np.concatenate([given.X, X_new.values]), neighbors=k)
    tree = _simulated(problem, learned.tree, options, draws)
    facts = replace(learned.facts, categories=dict(X_new.categories), kind=X_new.kind)
    return _joint(tree, facts, problem, noise_new)


def _simulated(problem: Problem, tree: xr.DataTree, options: dict[str, Any], draws: int) -> xr.DataTree:
    """Conditional simulation at evenly thinned parameter draws; `draws` in all."""
    chains = min(_CHAINS, draws)
    task = simulation_task(problem, _thinned(tree, -(-draws // chains)))
    try:
        return run_chains(
            task,
            draws=-(-draws // chains),
            chains=chains,
            seed=options["seed"],
            # Threads share the graph and the root of the precision; processes would each hold their own.
            executor="threads",
            progress=options["progress"],
            until=replace(_NEVER, first=-(-draws // chains)),
            memory=machine.read_memory(options["memory"]),
        )
    finally:
        task.release()


def _thinned(tree: xr.DataTree, count: int) -> dict[str, FloatArray]:
    """Some parameter draws of all chains, evenly chosen and in random order."""
    flat = {str(name): array.values.reshape(-1) for name, array in learned_draws(tree).data_vars.items()}
    if not flat:
        return {}
    size = len(next(iter(flat.values())))
    chosen = np.linspace(0, size - 1, min(count, size)).round().astype(int)
    np.random.default_rng(0).shuffle(chosen)
    return {name: values[chosen].astype(np.float64) for name, values in flat.items()}


def condition(learned: Learned, data: Data, options: dict[str, Any], noise: Any) -> Learned:
    """The same parameter draws with other data; with noise, the angles of the process there are drawn anew."""
    old = learned.problem
    assert old is not None
    check_scale(learned_table(learned), data.table)
    noisy = old.noise is not None
    kernel = choose_kernel(data.table, None, learned.kernel, metric=metric_of(learned.kernel), noisy=noisy)
    if old.noise_rows is None and noise is not None:
        raise InputError("noise was given, but the model has no known noise for each row: leave it out.")
    by_row: FloatArray | None = None
    if old.noise_rows is not None:
        given = read_noise(noise, len(data.radians))
        if not isinstance(given, np.ndarray):
            raise InputError(
                f"the model was fitted with a known noise for each row: give that of the {len(data.radians)} new rows, "
                "as in condition(X, y, noise=noise)."
            )
        by_row = given
    sparse = old.is_sparse or len(data.radians) > DENSE
    k = int(options["neighbors"]) if sparse else None
    problem = replace(
        old,
        kernel=kernel,
        X=data.table.values,
        observed=data.radians,
        noise_rows=by_row,
        neighbors=k,
        metric_at=(),
    )
    tree = _with_data(learned.tree, problem, options)
    tree.attrs |= {"conditioned": 1, "kernel": repr(kernel)}
    facts = replace(
        learned.facts, range=data.range, categories=dict(data.table.categories), kind=data.table.kind
    )
    return replace(learned, tree=tree, kernel=kernel, problem=problem, facts=facts)


def learned_table(learned: Learned) -> Table:
    """The inputs that predictions are conditioned on."""
    facts = learned.facts
    n = len(values_of(learned.tree, "observed_data", "angle"))
    X = values_of(learned.tree, "constant_data", "X")[:n]
    return Table(X, facts.names, dict(facts.categories), facts.kind)


def _with_data(tree: xr.DataTree, problem: Problem, options: dict[str, Any]) -> xr.DataTree:
    """A copy of learned draws with the data of a problem."""
    dropped = ("log_likelihood", "observed_data", "constant_data")
    if problem.noise is None:
        found = xr.DataTree.from_dict(
            {name: node.to_dataset() for name, node in tree.children.items() if name not in dropped}
        )
        data = {"angle": ("angle_dim_0", problem.observed)}
        inputs: dict[str, Any] = {"X": (("X_dim_0", "X_dim_1"), problem.X)}
        found["observed_data"] = xr.DataTree(xr.Dataset(data, attrs=tree["observed_data"].attrs))
        found["constant_data"] = xr.DataTree(xr.Dataset(inputs, attrs=tree["constant_data"].attrs))
        found.attrs = dict(tree.attrs)
        return found
    simulated = _simulated(problem, tree, options, default_draws(0))
    # Of the simulation only the angles are taken; all draws of the parameters say how well they were learned.
    simulated["learning"] = xr.DataTree(learned_draws(tree))
    simulated["sample_stats"] = xr.DataTree(tree["sample_stats"].to_dataset())
    simulated.attrs = dict(tree.attrs)
    return simulated


def _learner(problem: Problem, method: Method, options: dict[str, Any]) -> Learner:
    learner = Learner(problem, method, options["warmup"], options["thin"], pointwise=True)
    if not problem.is_sparse:
        return learner
    # Neighbors are chosen in the metric of likely parameters, once and for all chains.
    near = {name: value for name, value in learner.maximum.values.items() if name in problem.named.parameters}
    found = replace(learner, problem=replace(problem, metric_at=tuple(sorted(near.items()))))
    found.__dict__["maximum"] = learner.maximum
    return found


def _problem(data: Data, X_new: Table | None, options: dict[str, Any]) -> Problem:
    """The model at the observed locations, and at new ones where they belong to it."""
    check_concentration(options["concentration"])
    n = len(data.radians)
    noise = read_noise(options["noise"], n)
    kernel = choose_kernel(
        data.table, X_new, options["kernel"], metric=options["metric"], noisy=noise is not None
    )
    d = n + (0 if X_new is None else len(X_new.values))
    sparse = options["precision"] == "vecchia" or (options["precision"] == "auto" and d > DENSE)
    return make_problem(
        data.table.values,
        data.radians,
        None if X_new is None else X_new.values,
        kernel=kernel,
        drift=options["drift"] or ("mean" if X_new is None else "constant"),
        concentration=options["concentration"],
        direction=in_radians(options["direction"], data.range),
        noise=noise,
        column_names=data.table.names,
        neighbors=options["neighbors"] if sparse else None,
    )
