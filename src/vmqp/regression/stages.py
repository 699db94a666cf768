"""Many places in two stages: parameters from some of them, then the angles of all new ones.

Up to 600 observed places are learned with as they are; of more, 20 groups of 30 neighbours, far apart from each other.

What it approximates: the model's parameters have a posterior that depends, a little, on which new places belong to it.
Here they are learned with a coarse set of the new places, and the map is drawn as if they had been learned with all.
With ``drift="mean"`` the model of the angles hardly changes when a grid is refined, and so do its parameters.
"""

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import xarray as xr

from vmqp.checks import check_count
from vmqp.errors import InputError
from vmqp.kernels.embedding import embed
from vmqp.kernels.inputs import Inputs
from vmqp.learning import Learner, Method, Problem
from vmqp.maps.memory import FIELDS, USUAL, affordable_draws, read_memory
from vmqp.maps.task import MapTask, in_space
from vmqp.precision.groups import groups_of_near
from vmqp.precision.ordering import coarse_to_fine
from vmqp.regression.options import read_length
from vmqp.run import Converged, run_chains
from vmqp.run.door import check_settings
from vmqp.tables.words import shown

__all__ = ["DENSE", "Sizes", "draw_map", "map_rule", "read_sizes"]

DENSE = 2000
"""Places up to which the precision is dense."""
_LEARNED = 600  # observed places with which parameters are learned, where there are more
_GROUP = 30  # of them in a group of neighbours
_COARSE = (50, 150)  # new places with which parameters are learned: half as many as observed, between these
_SETS = 64
_MAP, _LETTERS = "map-", 12
_ESS = 200  # effective samples of every parameter: enough to choose so many sets from
_FIRST = 64  # draws of a map before its chains are compared: each set of parameters once
_SHARE = 0.5  # of a time limit that learning may take


class Sizes(NamedTuple):
    """How many places are learned with, and how."""

    neighbors: int | None
    """Of a sparse precision; None for a dense one."""
    two_stages: bool


def read_sizes(n: int, m: int, options: dict[str, Any]) -> Sizes:
    """Choose between dense and sparse, one stage and two.

    >>> read_sizes(260, 52, {"precision": "auto", "stages": "auto", "neighbors": 20})
    Sizes(neighbors=None, two_stages=False)
    >>> read_sizes(260, 90_000, {"precision": "auto", "stages": "auto", "neighbors": 20})
    Sizes(neighbors=20, two_stages=True)
    """
    stages = options["stages"]
    if isinstance(stages, bool) or not isinstance(stages, str | int) or stages not in ("auto", 1, 2):
        raise InputError(f"stages is {shown(stages)}, but the choices are 'auto', 1 and 2.")
    k = check_count(options["neighbors"], "neighbors", 1, "neighbours of a place")
    d, precision = n + m, options["precision"]
    sparse = precision == "vecchia" or (precision == "auto" and d > DENSE)
    two = m > 0 and (stages == 2 or (stages == "auto" and sparse and d > DENSE))
    if two and precision == "dense":
        raise InputError(
            "stages is 2 and precision is 'dense', but a map in two stages is drawn on a sparse precision: leave "
            "precision out, or give stages=1."
        )
    return Sizes(k if sparse or two else None, two)


def map_rule(options: dict[str, Any]) -> Converged:
    """When both stages have converged, where nothing else is asked for."""
    rule: Converged = options["until"] or Converged(ess=_ESS)
    return rule


def draw_map(problem: Problem, method: Method, options: dict[str, Any], run: dict[str, Any]) -> xr.DataTree:
    """Run both stages of a sparse problem with all places."""
    began = time.monotonic()
    settings = {name: run[name] for name in run if name != "seed"}
    chains, executor, workers = check_settings(until=options["until"], **settings)
    if problem.drift != "mean" and not problem.no_drift:
        raise InputError(
            "a map in two stages needs drift='mean': under a constant drift the pull grows with the number of places, "
            "so that parameters learned with some of them are not those of all. Leave drift out, or give stages=1."
        )
    assert problem.neighbors is not None
    bound, m = read_memory(options["memory"]), problem.d - problem.n
    room = affordable_draws(
        problem.d, m, problem.neighbors, chains, workers, bound, noisy=problem.noise is not None
    )
    draws, given = min(USUAL, room), options["draws"]
    if given is not None:
        draws = check_count(given, "draws", 1, "draws of the map")
    if draws > room:
        raise InputError(
            f"{draws} draws of {m:,} places do not fit the memory of {bound / 1e9:.3g} GB: draw at most {room}, or "
            "give a larger memory."
        )
    learned = _learn(problem, method, options, run, draws) if problem.learned else None
    if learned is not None and learned.attrs["stopped"] == "interrupted":
        raise KeyboardInterrupt(
            "stopped while the parameters were learned; with a checkpoint the same call goes on."
        )
    task = _map_task(problem, learned)
    task = replace(task, fields=_keeps_fields(task, run["checkpoint"], draws, room))
    left = None if run["time_limit"] is None else max(1.0, run["time_limit"] - (time.monotonic() - began))
    until = map_rule(options) if chains > 1 and (given is None or options["until"] is not None) else None
    if until is not None:
        until = replace(until, first=max(4, min(_FIRST, draws)))
    folder = None
    if run["checkpoint"] is not None:
        folder = _map_folder(run["checkpoint"], task.fingerprint)
        _forget_others(run["checkpoint"], folder)
    try:
        tree = run_chains(
            task,
            draws=draws,
            until=until,
            memory=bound,
            **run
            | {
                "time_limit": left,
                "dtype": "float32",
                "checkpoint": folder,
                # Threads share the graph and the root of the precision; processes would each hold their own.
                "executor": "threads" if executor == "processes" else executor,
            },
        )
    finally:
        task.release()
    tree.attrs["memory"] = bound
    if learned is None:
        return tree
    posterior = learned["posterior"].to_dataset()
    parameters = [name for name, array in posterior.data_vars.items() if array.ndim == 2]
    tree["learning"] = xr.DataTree(posterior[parameters])
    if "sample_stats" in learned.children:
        tree["learning_stats"] = xr.DataTree(learned["sample_stats"].to_dataset())
    tree.attrs["sampling_time"] = float(tree.attrs["sampling_time"]) + float(learned.attrs["sampling_time"])
    return tree


def _learn(
    problem: Problem, method: Method, options: dict[str, Any], run: dict[str, Any], of_map: int
) -> xr.DataTree:
    """The posterior of the parameters, with the observed and a coarse set of the new places.

    Who asks for more draws of the map than usual, as a run that is taken up again does, gets more of these too.
    """
    fewer = learning_problem(problem, options["precision"])
    learner = Learner(fewer, method, options["warmup"], options["thin"])
    draws, until = read_length(None, options["until"], run["chains"], fewer.d)
    draws *= -(-of_map // USUAL)
    if until is not None and options["until"] is None:
        until = replace(until, ess=map_rule(options).ess)
    limit = None if run["time_limit"] is None else _SHARE * run["time_limit"]
    folder = None if run["checkpoint"] is None else _below(run["checkpoint"], "learning")
    return run_chains(
        learner,
        draws=draws,
        until=until,
        **run | {"time_limit": limit, "checkpoint": folder},
    )


def learning_problem(problem: Problem, precision: str) -> Problem:
    """The problem with a coarse set of its new places, and no more observed ones than can be learned with."""
    n = problem.n
    points = embed(problem.kernel, Inputs.check(problem.X, problem.column_names))
    # As dense as among all, which the parameters of this model depend on; and many groups, for how rough the angles are
    # may differ from one to the next.
    seen = np.arange(n) if n <= _LEARNED else groups_of_near(points[:n], _LEARNED, _GROUP)
    count = int(np.clip(n // 2, *_COARSE))
    new = np.sort(coarse_to_fine(points, n)[n : n + count])
    rows: npt.NDArray[np.intp] = np.concatenate([seen, new]).astype(np.intp)
    return replace(
        problem,
        X=problem.X[rows],
        observed=problem.observed[seen],
        noise_rows=None if problem.noise_rows is None else problem.noise_rows[seen],
        neighbors=problem.neighbors if precision == "vecchia" else None,  # so few can be dense
    )


def _map_task(problem: Problem, learned: xr.DataTree | None) -> MapTask:
    posterior = xr.Dataset() if learned is None else learned["posterior"].dataset
    draws = {
        str(name): array.values.reshape(-1) for name, array in posterior.data_vars.items() if array.ndim == 2
    }
    sets: dict[str, Any] = {}
    if draws:
        size = len(next(iter(draws.values())))
        chosen = np.linspace(0, size - 1, min(_SETS, size)).round().astype(int)
        np.random.default_rng(0).shuffle(chosen)  # else a run that stops early would have seen one chain only
        sets = {name: values[chosen].astype(np.float64) for name, values in draws.items()}
    middle = {
        name: float(np.median(values)) for name, values in sets.items() if name in problem.named.parameters
    }
    rows = in_space(problem)
    X = np.concatenate([problem.X[: problem.n], problem.X[problem.n :][rows]])
    whole = replace(problem, X=X, metric_at=tuple(sorted(middle.items())))
    return MapTask(whole, sets, rows)


def _keeps_fields(task: MapTask, checkpoint: Any, draws: int, room: int) -> bool:
    """Whether fields are kept with the draws: where they fit, but a map that was begun goes on as it is."""
    fit = FIELDS * draws <= room
    if checkpoint is None:
        return fit
    for fields in (fit, not fit):
        folder = _map_folder(checkpoint, replace(task, fields=fields).fingerprint)
        if folder.exists():
            if fields and not fit:
                raise InputError(
                    f"the map in {folder} keeps its fields with each draw, so that {draws} draws of it do not fit the "
                    f"memory: draw at most {room // FIELDS}, give a larger memory, or remove the folder."
                )
            return fields
    return fit


def _map_folder(checkpoint: Any, fingerprint: str) -> Path:
    return _below(checkpoint, f"{_MAP}{fingerprint[:_LETTERS]}")


def _forget_others(checkpoint: Any, own: Path) -> None:
    """Remove maps that nothing can go on from: where learning went on, there are other sets of parameters."""
    for other in Path(checkpoint).glob(f"{_MAP}{'[0-9a-f]' * _LETTERS}"):
        if other != own and (other / "manifest.json").is_file():
            shutil.rmtree(other, ignore_errors=True)


def _below(checkpoint: Any, name: str) -> Path:
    return Path(os.fspath(checkpoint)) / name
