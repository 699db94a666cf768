"""Fits of all models to all splits, several at a time over one executor."""

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning as BoundWarning

from vmqp import arcs, scores
from vmqp.checks import check_count
from vmqp.comparison.board import Board
from vmqp.comparison.checkpoint import DoneFits
from vmqp.comparison.digests import RUNNING, digest_of_data, digest_of_fit
from vmqp.comparison.result import Comparison
from vmqp.comparison.splits import Rows, length, make_splits, read_splits
from vmqp.errors import ConvergenceWarning, InputError, InterruptedWarning, VmqpError
from vmqp.run.cluster import check_dask, is_dask
from vmqp.run.interrupts import Interrupts
from vmqp.run.machine import cores
from vmqp.run.pools import Pool
from vmqp.tables import take_rows

__all__ = ["compare"]

_PROBABILITY = 0.9
_ELSEWHERE = 16  # fits at a time where the number of workers is not known


class _Job(NamedTuple):
    name: str
    model: Any
    fold: int
    learned: Rows
    held: Rows
    digest: str


def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    folds: int = 7,
    test: float = 0.2,
    seed: int = 0,
    splits: Any = None,
    executor: Any = None,
    fits_at_once: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Fit each model to splits of the data and score its predictions of the rest.

    Chains of several fits run at the same time over one executor, so that no core waits for the last chain of a fit.
    A model that cannot be fitted does not stop the others. Ctrl-C ends the fits that run; those that were done are
    returned, and a second call with the same `checkpoint` goes on from there.

    **Parameters**

    models
        Name to model: `vmqp.CircularRegressor`, anything with its ``fit`` and ``posterior``, or a baseline of
        `vmqp.peers`. They stay as they are. A baseline has neither R-hat nor ESS, and is always trusted.
    X, y
        Observed places and angles, as for `vmqp.regress`.
    folds
        Splits of the data.
    test
        Share of the rows that is held out in each.
    seed
        Of the splits; models have seeds of their own.
    splits
        The splits themselves, in place of `folds`, `test` and `seed`: a list of pairs of row numbers, (rows to learn
        from, rows to predict).
    executor
        As in `vmqp.run.run_chains`: "threads", "processes", the address of a Dask scheduler, a client, or an Executor.
    fits_at_once
        Enough to fill the executor if not given.
    checkpoint
        A directory: each fit that is done is written there, and taken from there when it is asked for again with the
        same model, data, split and version of vmqp.
    progress
        None shows a bar on a terminal and lines elsewhere, False nothing, True the bar.

    **Raises**

    KeyboardInterrupt
        If Ctrl-C came before the first fit was done.

    >>> from vmqp import CircularRegressor
    >>> X = np.linspace(0.0, 4.0, 12)[:, None]
    >>> short = {"period": 360, "concentration": 0, "warmup": 20, "draws": 50, "chains": 2}
    >>> models = {
    ...     name: CircularRegressor(kernel=f"1.0 * {name}(2.0)", **short) for name in ("exponential", "matern32")
    ... }
    >>> found = compare(models, X, 80.0 * X[:, 0], folds=2, progress=False)
    >>> found.table.index.tolist(), found.table["folds"].tolist()  # the best first
    (['matern32', 'exponential'], [2, 2])
    """
    _check_models(models)
    rows = length(X)
    if length(y) != rows:
        raise InputError(f"X has {rows} rows and y has {length(y)}: give one angle for each row.")
    parts = _random_splits(rows, folds, test, seed) if splits is None else read_splits(splits, rows)
    executor = "threads" if executor is None else executor
    _check_executor(executor)
    at_once = _at_once(models, fits_at_once, ours=isinstance(executor, str) and not is_dask(executor))
    kept = DoneFits(checkpoint)
    jobs = _jobs(models, X, y, parts, digests=checkpoint is not None)
    board = Board(len(jobs), progress)
    with (
        warnings.catch_warnings(),
        board,
        Pool(executor, cores()) as pool,
        Interrupts() as interrupts,
    ):
        # The table counts what ours say; a baseline whose parameter is at its bound has an answer.
        for category in (ConvergenceWarning, InterruptedWarning, BoundWarning):
            warnings.simplefilter("ignore", category)
        fits, failures = _run(jobs, X, y, kept, pool, at_once, interrupts, board)
    done = [fit for fit in fits if fit["model"] not in failures]
    if not done:
        if interrupts.count:
            raise KeyboardInterrupt("stopped before the first fit was done.")
        raise InputError(" ".join(f"{name}: {reason}" for name, reason in failures.items()))
    complete = len(done) == len(parts) * (len(models) - len(failures))
    frame = pd.DataFrame(done).sort_values(["fold", "model"], kind="stable").reset_index(drop=True)
    ratio = float(np.mean([len(held) / len(learned) for learned, held in parts]))
    return Comparison(frame, failures, complete, ratio)


def _random_splits(rows: int, folds: int, test: float, seed: int) -> list[tuple[Rows, Rows]]:
    folds = check_count(folds, "folds", 1, "splits of the data")
    if isinstance(test, bool | str) or not 0.0 < float(test) < 1.0:
        raise InputError(f"test is {test!r}: give the share of rows that is held out, between 0 and 1.")
    return make_splits(rows, float(test), folds, seed)


def _jobs(
    models: Mapping[str, Any], X: Any, y: Any, parts: Sequence[tuple[Rows, Rows]], *, digests: bool
) -> list[_Job]:
    """All fits that are wanted; digests are for those who keep them."""
    data = digest_of_data(X, y) if digests else ""
    return [
        _Job(name, model, fold, *part, digest_of_fit(model, data, *part) if digests else "")
        for fold, part in enumerate(parts)
        for name, model in models.items()
    ]


def _run(
    jobs: Sequence[_Job],
    X: Any,
    y: Any,
    kept: DoneFits,
    pool: Pool,
    at_once: int,
    interrupts: Interrupts,
    board: Board,
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    fits: list[dict[str, Any]] = []
    failures: dict[str, str] = {}
    wanted: list[_Job] = []
    for job in jobs:
        earlier = kept.find(job.name, job.fold, job.digest)
        if earlier is None:
            wanted.append(job)
        else:
            fits.append(earlier)
            board.add(earlier, earlier=True)

    def work(job: _Job) -> dict[str, Any] | None:
        if interrupts.count or job.name in failures:
            return None
        return _fit(job, X, y, pool)

    with ThreadPoolExecutor(at_once, thread_name_prefix="vmqp-fit") as threads:
        pending: dict[Future[dict[str, Any] | None], _Job] = {
            threads.submit(work, job): job for job in wanted
        }
        try:
            for future in as_completed(pending):
                job = pending[future]
                try:
                    fit = future.result()
                except KeyboardInterrupt:  # this fit was stopped before its first draw
                    continue
                except VmqpError as error:
                    failures.setdefault(job.name, str(error))
                    board.fail(job.name, job.fold, str(error))
                    continue
                if fit is not None:
                    kept.keep(fit, job.digest)
                    fits.append(fit)
                    board.add(fit)
        finally:
            for future in pending:  # nothing is left of them unless an error that is not ours came
                future.cancel()
    return fits, failures


def _fit(job: _Job, X: Any, y: Any, pool: Pool) -> dict[str, Any] | None:
    began = time.monotonic()
    fitted = _fresh(job.model, pool).fit(take_rows(X, job.learned), take_rows(y, job.learned))
    scored = _of_posterior if hasattr(fitted, "posterior") else _of_baseline
    found = scored(fitted, take_rows(X, job.held), take_rows(y, job.held))
    if found is None:
        return None
    return {"model": job.name, "fold": job.fold, **found, "seconds": time.monotonic() - began}


def _of_posterior(fitted: Any, X: Any, truth: Any) -> dict[str, Any] | None:
    posterior = fitted.posterior(X)
    if posterior.stopped == "interrupted":
        return None
    diagnostics = posterior.diagnostics()
    return {
        "crps": float(np.mean(posterior.crps(truth))),
        "crps_arc": float(np.mean(posterior.crps(truth, distance="arc"))),
        "log_score": _log_score(posterior, truth),
        "coverage": float(posterior.coverage(truth, _PROBABILITY)),
        "width": float(np.mean(posterior.width(_PROBABILITY))),
        "rhat": float(diagnostics["rhat"].max()),
        "ess": float(diagnostics["ess"].min()),
        "trusted": bool(posterior.verdict().trusted),
    }


def _of_baseline(fitted: Any, X: Any, truth: Any) -> dict[str, Any]:
    """The same of a model without chains; its arcs are those of draws."""
    period = fitted.range_.period
    lower, upper = arcs.shortest_arc(fitted.draws(X), _PROBABILITY, axis=0, period=period).T
    return {
        "crps": float(np.mean(fitted.crps(X, truth))),
        "crps_arc": float(np.mean(fitted.crps(X, truth, distance="arc"))),
        "log_score": _log_score(fitted, X, truth),
        "coverage": float(np.mean(scores.covered(lower, upper, np.ravel(truth), period))),
        "width": float(np.mean(arcs.arc_width(lower, upper, period))),
        "rhat": math.nan,
        "ess": math.nan,
        "trusted": True,
    }


def _log_score(predicted: Any, *given: Any) -> float:
    """The mean log score, or nan where the predictions have no density."""
    try:
        return float(np.mean(predicted.log_score(*given)))
    except InputError:  # the truth itself is fine: the other scores have taken it
        return math.nan


def _fresh(model: Any, pool: Pool) -> Any:
    """The model again, not fitted, with its chains in the pool; its options are not copied, for some cannot be."""
    options = model.get_params(deep=False)
    shared = dict.fromkeys(RUNNING) | {"executor": pool, "progress": False}
    return type(model)(**{**options, **{name: value for name, value in shared.items() if name in options}})


def _check_models(models: Any) -> None:
    if not isinstance(models, Mapping) or not models:
        raise InputError(f"models is {models!r}: give a dictionary of name and model, at least one.")
    for name, model in models.items():
        usable = all(hasattr(model, part) for part in ("fit", "get_params")) and not isinstance(model, type)
        if not isinstance(name, str) or not usable:
            raise InputError(
                f"models has {name!r}: {model!r}, but a name and a model are needed: give text and an object such as "
                "CircularRegressor(kernel=...)."
            )
        if not hasattr(model, "posterior") and not (hasattr(model, "crps") and hasattr(model, "draws")):
            raise InputError(
                f"{name!r} is {model!r}, which has no predictions to score: give a CircularRegressor, or a model of "
                "vmqp.peers."
            )


def _check_executor(executor: Any) -> None:
    if is_dask(executor):
        check_dask(executor)
    elif not isinstance(executor, Executor) and executor not in ("threads", "processes"):
        raise InputError(
            f"executor is {executor!r}: give 'threads', 'processes', 'dask://host:port', a Dask client, or an Executor."
        )


def _at_once(models: Mapping[str, Any], given: int | None, ours: bool) -> int:
    if given is not None:
        return check_count(given, "fits_at_once", 1, "fits")
    if not ours:
        return _ELSEWHERE
    options = [model.get_params(deep=False) for model in models.values()]
    chains = min((int(own["chains"]) for own in options if "chains" in own), default=1)  # a baseline has none
    return math.ceil(cores() / max(chains, 1)) + 1
