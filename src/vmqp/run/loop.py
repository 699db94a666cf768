"""The one entry point to running chains."""

import time
import warnings
from concurrent.futures import Executor
from contextlib import ExitStack, closing
from os import PathLike

import xarray as xr

from vmqp._version import __version__
from vmqp.chain import Description, Task
from vmqp.errors import (
    CheckpointError,
    CheckpointWarning,
    ConvergenceWarning,
    InterruptedWarning,
    TimeLimitError,
    caller_level,
)
from vmqp.linalg.threads import one_blas_thread
from vmqp.run.checkpoint import Checkpoint, Identity
from vmqp.run.cluster import DaskClient
from vmqp.run.diagnostics import LEAST_DRAWS, circular_names
from vmqp.run.door import Plan, check_memory, check_plan
from vmqp.run.interrupts import Interrupts
from vmqp.run.pools import Pool
from vmqp.run.progress import Tracker, make_progress
from vmqp.run.result import make_result
from vmqp.run.scheduler import Outcome, Scheduler, stand
from vmqp.run.stopping import Converged, worst_rhat
from vmqp.run.store import Draws, Groups

__all__ = ["run_chains"]

_Notice = tuple[str, type[Warning]]


def run_chains(
    task: Task,
    *,
    chains: int = 4,
    draws: int = 1000,
    seed: int = 0,
    executor: Executor | Pool | DaskClient | str | None = None,
    workers: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
    until: Converged | None = None,
    time_limit: float | None = None,
    chunk: int | None = None,
    dtype: str = "float64",
    memory: float | None = None,
) -> xr.DataTree:
    """Run chains in chunks and return their draws.

    The draws depend on the task, the seed and the number of draws, not on how they are computed: executor, workers,
    chunks and interruptions make no difference to any bit.

    **Parameters**

    task
        What to run (`vmqp.chain.Task`).
    chains, draws
        Chains, and draws kept of each. With ``until`` or ``time_limit`` the draws are a maximum.
    seed
        The same seed gives the same draws.
    executor
        "threads" (the default), "processes", the address of a Dask scheduler ("dask://host:port"), a Dask client, or a
        `concurrent.futures.Executor` of your own. Your own is not shut down, and several runs in threads may share it.
    workers
        Workers of our own executors; as many as chains or cores, whichever are fewer, if not given.
    checkpoint
        A directory for the draws and states so far. The same call with the same directory goes on from there, also
        with more draws.
    progress
        None shows a live table on a terminal and plain lines elsewhere, also outside the main thread; True the table,
        False nothing.
    until
        Stop earlier when the chains have converged by this rule. It is asked at fixed numbers of draws.
    time_limit
        Stop after so many seconds, at the end of the chunks that run.
    chunk
        Iterations at a time; the task knows a good number if it is not given.
    dtype
        "float64", or "float32" for half the memory.
    memory
        Refuse a run whose draws need more bytes; a quarter of the machine's memory if not given.

    **Returns**

    xarray.DataTree
        Groups ``posterior``, ``sample_stats``, ``observed_data`` and ``constant_data``. The attribute ``stopped`` says
        why the run ended: "draws", "converged", "time limit", "interrupted" or "checkpoint failed". All chains have
        the same number of draws.

    A chain that counts its iterations:

    >>> import numpy as np
    >>> from vmqp.chain import Chunk, Description
    >>> class Counter:
    ...     fingerprint, warmup, thin, chunk = "counter", 2, 1, 10
    ...     def start(self, seed, chain):
    ...         return {"count": np.array(0)}
    ...     def advance(self, state, iterations):
    ...         counts = np.arange(state["count"], state["count"] + iterations)
    ...         kept = counts[counts >= self.warmup]
    ...         return {"count": state["count"] + iterations}, Chunk({"count": kept}, {}, {}, {})
    ...     def describe(self):
    ...         return Description({}, {}, {}, {})
    ...     def warnings(self, stats):
    ...         return []
    >>> run_chains(Counter(), chains=1, draws=5, progress=False).posterior["count"].values
    array([[2., 3., 4., 5., 6.]])
    """
    plan = check_plan(
        task=task,
        chains=chains,
        draws=draws,
        seed=seed,
        executor=executor,
        workers=workers,
        checkpoint=checkpoint,
        progress=progress,
        until=until,
        time_limit=time_limit,
        chunk=chunk,
        dtype=dtype,
    )
    description = task.describe()
    check_memory(plan, description, memory)
    began = time.monotonic()
    notices: list[_Notice] = []
    store = Draws(plan.chains, plan.draws, {**description.places, **description.pointwise})
    outcome = _run(plan, description, store, notices)
    seconds = time.monotonic() - began
    kept = store.first(outcome.draws)
    notices += _ending(plan, outcome) + _doubts(plan, kept, description, outcome)
    result = make_result(kept, description, seed=plan.seed, stopped=outcome.stopped, seconds=seconds)
    for message, category in notices:
        warnings.warn(message, category, stacklevel=caller_level())
    return result


def _run(plan: Plan, description: Description, store: Draws, notices: list[_Notice]) -> Outcome:
    total = plan.task.warmup + plan.draws * plan.task.thin
    with ExitStack() as stack:
        lent = isinstance(plan.executor, Pool)
        pool = (
            plan.executor if lent else Pool(plan.executor, plan.workers)
        )  # first: an address may not answer
        if not lent:
            stack.callback(pool.close, wait=False)
        stack.enter_context(one_blas_thread())
        checkpoint = None
        if plan.checkpoint is not None:
            identity = Identity(plan.task.fingerprint, plan.seed, plan.chains, plan.dtype)
            checkpoint = stack.enter_context(closing(Checkpoint(plan.checkpoint, identity)))
            if checkpoint.version != __version__:
                notices.append((_other_version(checkpoint), CheckpointWarning))
        standings = stand(plan, total, store, checkpoint)
        if checkpoint is not None:
            checkpoint.begin()
        circular = circular_names(description)
        positions, early = [s.position for s in standings], plan.until is not None
        tracker = Tracker(positions, total, plan.task.warmup, store, circular, may_stop=early)
        progress = stack.enter_context(closing(make_progress(plan.progress, tracker)))
        interrupts = stack.enter_context(Interrupts())
        try:
            outcome = Scheduler(
                plan, standings, store, pool, checkpoint, progress, interrupts, circular
            ).run()
        finally:
            if not lent:
                pool.close(wait=interrupts.count < 2)
    # A press of Ctrl-C is never swallowed, even if it came too late to cut the run short.
    return outcome._replace(stopped="interrupted") if interrupts.count else outcome


def _other_version(checkpoint: Checkpoint) -> str:
    return (
        f"{checkpoint.folder} was begun with vmqp {checkpoint.version} and goes on with {__version__}: "
        "draws of different versions need not agree to the last bit."
    )


def _ending(plan: Plan, outcome: Outcome) -> list[_Notice]:
    """Say why a run was cut short; raise if there is nothing to return."""
    resume = (
        "give a checkpoint directory to be able to resume"
        if plan.checkpoint is None
        else f"to resume, call again with checkpoint={str(plan.checkpoint)!r}"
    )
    reached = f"{outcome.draws} of {plan.draws} draws of each chain"
    if outcome.failure is not None:
        path, error = outcome.failure
        sentence = (
            f"{path} could not be written ({error}), so the run was stopped: mend the cause and call again with the "
            "same checkpoint to resume after the last chunk on disk"
        )
        if not outcome.draws:
            raise CheckpointError(f"{sentence}; there are no draws yet.") from error
        return [(f"{sentence}; the result holds {reached}.", CheckpointWarning)]
    if outcome.stopped == "interrupted":
        if not outcome.draws:
            raise KeyboardInterrupt(f"stopped before the first draw; {resume}.")
        return [(f"the run was stopped by Ctrl-C after {reached}; {resume}.", InterruptedWarning)]
    if outcome.stopped == "time limit" and not outcome.draws:
        raise TimeLimitError(
            f"the time limit of {plan.time_limit:g} s came before every chain had a draw: give more time; {resume}."
        )
    return []


def _doubts(plan: Plan, kept: Groups, description: Description, outcome: Outcome) -> list[_Notice]:
    """What the task and R-hat say against the draws."""
    notices: list[_Notice] = [(text, ConvergenceWarning) for text in plan.task.warnings(kept.stats)]
    if plan.chains == 1 or outcome.draws < LEAST_DRAWS:
        return notices
    circular, rule = circular_names(description), plan.until or Converged()
    worst = worst_rhat(kept.parameters, kept.angles, circular, description.places, rule)
    if worst is not None:
        text = (
            f"R-hat of {worst.label} is {worst.rhat:.3f} and should be below {worst.limit:g}, so the chains do not "
            "agree yet: draw more, or warm up longer, and do not trust the numbers before."
        )
        notices.append((text, ConvergenceWarning))
    return notices
