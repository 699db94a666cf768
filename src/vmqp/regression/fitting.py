"""From checked options and data to draws: learning from the observed locations, other data, joint draws."""

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from vmqp import kernels
from vmqp.chain import Task
from vmqp.checks import check_count
from vmqp.circle import FloatArray
from vmqp.errors import ConvergenceWarning, InputError, TimeLimitError, caller_level
from vmqp.kernels.embedding import on_the_earth
from vmqp.kernels.inputs import Inputs, as_columns
from vmqp.kernels.stationary import Stationary
from vmqp.learning import Learner, Method, Problem, make_problem
from vmqp.learning.optimum import Maximum
from vmqp.learning.pseudolikelihood import maximize, some_rows
from vmqp.posterior import Facts, Posterior
from vmqp.posterior.diagnostics import CHOICE, REMARKS, REPLACED, diagnose, learned_draws
from vmqp.posterior.predictive import default_draws, values_of
from vmqp.regression.calls import call_text
from vmqp.regression.defaults import candidates
from vmqp.regression.fast import as_result, fit_fast
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
from vmqp.regression.selection import Selection, select_kernel
from vmqp.regression.simulate import check_room, simulation_task
from vmqp.run import Converged, machine, run_chains
from vmqp.run.door import check_settings
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

DENSE = 500
"""Observed locations up to which parameters are learned with a dense precision: beyond, a sparse one is faster."""
MOST = 20_000
"""Observed locations that draws of the parameters are learned from; of more, some groups of neighbors are taken."""
_JOINT = 2000  # locations up to which joint draws have a dense precision
_SUBSET = 600
_FAR = 100.0  # times the extent of the data: a length scale beyond is named
_EFFICIENCY = 0.03  # effective samples an iteration, typical of the parameter that mixes worst
_ENOUGH = 0.1  # seconds of a measurement
_LONG, _QUICK = 60.0, 10.0  # seconds: from where on a hint at fast fits helps; below, no estimate is needed
_RHAT, _ESS = 1.1, 10.0  # of chains that are of some use when the time is over; the latter for each chain
_RUN = ("chains", "seed", "executor", "workers", "checkpoint", "progress", "time_limit", "dtype")
_SETTINGS = (*(name for name in _RUN if name != "seed"), "until")
_CHAINS = 4  # of a simulation
_Fit = Callable[[Problem, float], Maximum]
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
    check_settings(**{name: options[name] for name in _SETTINGS})
    check_count(options["seed"], "seed", 0, "a stream of random numbers")
    if options["draws"] is not None:
        check_count(options["draws"], "draws", 1, "draws to keep of each chain")
    every = data.table if new is None else new
    check_constant(data.table, every)
    check_scale(data.table, every)


def learn(data: Data, options: dict[str, Any], defaults: dict[str, Any]) -> Learned:
    """Learn the parameters from the observed data alone: draws from their posterior, or the fast fit."""
    began = time.monotonic()
    check_data(data, options)
    method = read_method(options["method"], options["sampler"])
    n = len(data.radians)
    if options["inference"] == "bayes" and (options["precision"] == "dense" or n <= DENSE):
        check_size(n, 0, options["chains"])
    selection = _select(data, options)
    chosen = options if selection is None else options | {"kernel": selection.kernel}
    problem = _problem(data, None, chosen)
    call = call_text(options, defaults)
    fit = _maximize if selection is None else selection.fit
    if options["inference"] == "fast":
        learned = _fast(problem, data, options, call, fit)
    else:
        learned = _drawn(problem, method, data, options, call, fit, began)
    noisy = "same" if problem.noise_rows is None else "none"
    learned.tree.attrs |= _remarks(learned, problem, selection)
    return replace(learned, problem=problem, facts=replace(learned.facts, noise_of_new=noisy))


def _select(data: Data, options: dict[str, Any]) -> Selection | None:
    """The default kernel, where none is given."""
    if options["kernel"] is not None:
        return None
    exact = options["noise"] is None
    kernels_of = candidates(data.table, metric=options["metric"], nugget=exact)
    return select_kernel(kernels_of, lambda kernel: _problem(data, None, options | {"kernel": kernel}))


def _maximize(problem: Problem, deadline: float = math.inf) -> Maximum:
    return maximize(problem, workers=machine.cores(), deadline=deadline)


def _fast(problem: Problem, data: Data, options: dict[str, Any], call: str, fit: _Fit) -> Learned:
    """The fast fit; with noise, the angles of the process are drawn at its parameters."""
    tree = fit_fast(problem, options["seed"], options["time_limit"], fit)
    if problem.noise is not None:
        tree = _with_data(tree, problem, options)
    return Learned(tree, problem.kernel, _facts(problem.kernel, data, call))


def _drawn(
    problem: Problem,
    method: Method,
    data: Data,
    options: dict[str, Any],
    call: str,
    fit: _Fit,
    began: float,
) -> Learned:
    """Draws of the parameters; where the time is over before they are of use, the fast fit."""
    few = problem.n > MOST and options["precision"] == "auto"
    rows = some_rows(problem, _SUBSET) if few else np.arange(problem.n)
    run = problem
    if few:
        run = replace(
            problem,
            X=problem.X[rows],
            observed=problem.observed[rows],
            noise_rows=None if problem.noise_rows is None else problem.noise_rows[rows],
            neighbors=options["neighbors"] if _SUBSET > DENSE else None,
        )
    limit = options["time_limit"]
    learner = _learner(run, method, options, fit(run, math.inf if limit is None else began + limit))
    if limit is None or time.monotonic() - began < limit:
        _announce(learner, options)
    left = None if limit is None else limit - (time.monotonic() - began)
    learned = None
    with suppress(TimeLimitError):  # before the first draw
        if left is None or left > 0.0:
            learned = run_task(learner, run.kernel, data, options | {"time_limit": left}, call)
    if learned is None or (learned.tree.attrs["stopped"] == "time limit" and not _usable(learned.tree)):
        seconds = time.monotonic() - began
        tree = as_result(problem, learner.maximum, options["seed"], seconds, "time limit")
        tree.attrs[REPLACED] = 1
        message = (
            "the time limit came before the chains were of use, so that predictions are those of the fast fit, without "
            "the uncertainty of the parameters: give more time, or ask for inference='fast'."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=caller_level())
        if problem.noise is not None:
            tree = _with_data(tree, problem, options)
        return Learned(tree, problem.kernel, _facts(problem.kernel, data, call))
    if not few:
        return learned
    tree = _with_data(learned.tree, problem, options)
    tree.attrs["learned_with"] = len(rows)
    return replace(learned, tree=tree)


def _usable(tree: xr.DataTree) -> bool:
    """Whether chains that were stopped early say more than a fast fit does."""
    table, chains = diagnose(tree), tree["posterior"].sizes.get("chain", 1)
    agree = chains == 1 or bool((table["rhat"] < _RHAT).all())
    return agree and bool((table["ess"] >= _ESS * chains).all())


def _announce(learner: Learner, options: dict[str, Any]) -> None:
    """Say how long the chains may take, from the time of some iterations; their draws are not used."""
    chains = options["chains"]
    if options["progress"] is False or not isinstance(chains, int):
        return
    state, pace = learner.start(options["seed"], 0), math.inf
    for count in (1, 4, 16, 64):  # the first may compile, and few have a cost of their own
        began = time.monotonic()
        state, _ = learner.advance(state, count)
        seconds = time.monotonic() - began
        pace = min(pace, seconds / count)
        if count > 1 and seconds > _ENOUGH:
            break
    draws, until = read_length(options["draws"], options["until"], chains, learner.problem.d)
    if until is not None:
        draws = min(draws, max(until.first, until.ess / _EFFICIENCY / chains))
    rounds = -(-chains // min(chains, options["workers"] or machine.cores()))
    seconds = pace * rounds * (learner.warmup + draws * learner.thin)
    if seconds < _QUICK:
        return
    hint = " A fast fit takes seconds: inference='fast', or --fast." if seconds > _LONG else ""
    text = (
        f"Learning from {learner.problem.n:,} observations takes about {_duration(seconds)}: {1e3 * pace:.2g} ms an "
        f"iteration, and about {learner.warmup + draws * learner.thin:,.0f} iterations of {chains} chains.{hint}"
    )
    print(text, file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    """In words.

    >>> _duration(42.3), _duration(200.0), _duration(9000.0)
    ('42 s', '3 minutes', '2.5 hours')
    """
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400.0 else f"{seconds / 3600:.1f} hours"


def _remarks(learned: Learned, problem: Problem, selection: Selection | None) -> dict[str, Any]:
    """What a result tells beside its numbers: how the kernel was chosen, and length scales that ran away."""
    found: dict[str, Any] = {}
    if selection is not None and len(selection.table) > 1:
        found[CHOICE] = selection.to_text()
    draws = learned_draws(learned.tree)
    typical = {str(name): float(np.median(draws[name].values)) for name in draws.data_vars}
    far = list(_far_lengthscales(problem, typical))
    return found | ({REMARKS: json.dumps(far, ensure_ascii=False)} if far else {})


def _far_lengthscales(problem: Problem, typical: dict[str, float]) -> Iterator[str]:
    """Name length scales that are hundreds of times the extent of the data."""
    inputs, names = Inputs(problem.X[: problem.n], problem.column_names), list(problem.named.parameters)
    first = 0
    for node in problem.kernel.nodes():
        own = names[first : first + len(node.own_parameters())]
        first += len(own)
        if not isinstance(node, Stationary):
            continue
        columns = inputs.indices(as_columns(node.columns))
        points = inputs.X[:, columns]
        points = on_the_earth(points) if node.metric == "geographic" else points
        extent = np.ptp(points, axis=0)
        scales = [name for name in own if name.startswith("lengthscale") and name in typical]
        for i, name in enumerate(scales):
            single = len(scales) == len(columns)
            ratio = typical[name] / float(extent[i] if single else np.linalg.norm(extent))
            if ratio < _FAR:
                continue
            what = f"{name} is {ratio:.0f} times the extent of the data"
            if single and len(columns) > 1:
                label = inputs.label(columns[i])
                yield (
                    f"{what}: the angles hardly depend on {label!r} here. Leave it out of the inputs, or fix its "
                    "length scale."
                )
            else:
                yield (
                    f"{what}, and cannot be told from the variance there: give it a number or a narrower prior, as in "
                    f"priors.LogNormal({np.log(np.linalg.norm(extent)):.2g}, 0.5)."
                )


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
    facts = _facts(kernel, data, call, new)
    if until is not None:
        facts = replace(facts, target_ess=float(until.ess))
    return Learned(tree, kernel, facts)


def _facts(kernel: kernels.Kernel, data: Data, call: str, new: Table | None = None) -> Facts:
    shown = data.table if new is None else new
    return Facts(
        range=data.range,
        names=data.table.names,
        categories=dict(shown.categories),
        kind=shown.kind,
        call=call,
        metric=metric_of(kernel),
    )


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
    sparse = options["precision"] == "vecchia" or (options["precision"] == "auto" and d > _JOINT)
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
    sparse = options["precision"] == "vecchia" or len(data.radians) > _JOINT
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
    if "sample_stats" in tree.children:
        simulated["sample_stats"] = xr.DataTree(tree["sample_stats"].to_dataset())
    simulated.attrs = dict(tree.attrs)
    return simulated


def _learner(
    problem: Problem, method: Method, options: dict[str, Any], maximum: Maximum | None = None
) -> Learner:
    learner = Learner(problem, method, options["warmup"], options["thin"], pointwise=True)
    if maximum is not None:
        learner.__dict__["maximum"] = maximum
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
    d, most = (n, DENSE) if X_new is None else (n + len(X_new.values), _JOINT)
    sparse = options["precision"] == "vecchia" or (options["precision"] == "auto" and d > most)
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
