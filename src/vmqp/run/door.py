"""The door of `run_chains`: every argument is checked before anything starts."""

import math
import os
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vmqp.chain import Description, Task
from vmqp.checks import check_count, check_positive
from vmqp.errors import InputError
from vmqp.run import machine
from vmqp.run.cluster import check_dask, is_dask
from vmqp.run.pools import Pool
from vmqp.run.stopping import Converged

__all__ = ["Plan", "check_memory", "check_plan", "check_settings"]

_TASK = ("fingerprint", "warmup", "thin", "chunk", "start", "advance", "describe", "warnings")
_POINTWISE = 4  # bytes
_BESIDE = 16  # numbers for parameters and statistics of a draw: few beside the angles of a large problem


class Plan(NamedTuple):
    """The checked arguments of a run."""

    task: Task
    chains: int
    draws: int
    seed: int
    executor: Any
    workers: int
    checkpoint: Path | None
    progress: bool | None
    until: Converged | None
    time_limit: float
    chunk: int
    dtype: str


def check_plan(
    *,
    task: Any,
    chains: Any,
    draws: Any,
    seed: Any,
    executor: Any,
    workers: Any,
    checkpoint: Any,
    progress: Any,
    until: Any,
    time_limit: Any,
    chunk: Any,
    dtype: Any,
) -> Plan:
    """Check each argument; the error says what was given, what is needed and what to do."""
    missing = [name for name in _TASK if not hasattr(task, name)]
    if missing or isinstance(task, type):
        what = f"has no {', '.join(missing)}" if missing else "is a class and not an object of it"
        raise InputError(f"task is {task!r}, which {what}: give an object with all parts of vmqp.chain.Task.")
    chains, executor, workers = check_settings(
        chains=chains,
        executor=executor,
        workers=workers,
        checkpoint=checkpoint,
        progress=progress,
        until=until,
        time_limit=time_limit,
        dtype=dtype,
    )
    return Plan(
        task=task,
        chains=chains,
        draws=check_count(draws, "draws", 1, "draws to keep of each chain"),
        seed=check_count(seed, "seed", 0, "a stream of random numbers"),
        executor=executor,
        workers=workers,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        progress=progress,
        until=until,
        time_limit=math.inf if time_limit is None else float(time_limit),
        chunk=check_count(task.chunk if chunk is None else chunk, "chunk", 1, "iterations at a time"),
        dtype=dtype,
    )


def check_settings(
    *,
    chains: Any,
    executor: Any,
    workers: Any,
    checkpoint: Any,
    progress: Any,
    until: Any,
    time_limit: Any,
    dtype: Any,
) -> tuple[int, Any, int]:
    """Check what can be checked without a task; return the chains, the executor and its workers."""
    chains = check_count(chains, "chains", 1, "chains")
    if until is not None and not isinstance(until, Converged):
        raise InputError(f"until is {until!r}, but a rule is needed: give vmqp.run.Converged(...) or None.")
    if until is not None and chains == 1:
        raise InputError(
            "until needs chains to compare, but chains is 1: give chains=2 or more, or no until."
        )
    if time_limit is not None:
        check_positive(time_limit, "time_limit")
    if not (progress is None or isinstance(progress, bool)):
        raise InputError(f"progress is {progress!r}, but the choices are None, True and False.")
    if not isinstance(dtype, str) or dtype not in ("float64", "float32"):
        raise InputError(f"dtype is {dtype!r}, but the choices are 'float64' and 'float32'.")
    if checkpoint is not None and (
        not isinstance(checkpoint, str | os.PathLike) or not os.fspath(checkpoint) or "\0" in str(checkpoint)
    ):
        raise InputError(
            f"checkpoint is {checkpoint!r}, but it is the path of a directory: give a path or None."
        )
    executor, workers = _check_executor(executor, workers, chains)
    return chains, executor, workers


def _check_executor(executor: Any, workers: Any, chains: int) -> tuple[Any, int]:
    executor = "threads" if executor is None else executor
    ours = isinstance(executor, str) and executor in ("threads", "processes")
    if is_dask(executor):
        check_dask(executor)
    elif isinstance(executor, str) and not ours:
        raise InputError(
            f"executor is {executor!r}, but the choices are 'threads', 'processes', the address of a Dask scheduler "
            "('dask://host:port') and an Executor object."
        )
    elif not ours and not isinstance(executor, Executor | Pool):
        raise InputError(
            f"executor is {executor!r}, but a Dask client or a concurrent.futures.Executor is needed: "
            "give one, or 'threads', 'processes' or 'dask://host:port'."
        )
    if not ours and workers is not None:
        raise InputError(
            f"workers is {workers!r}, but the executor that was given has workers of its own: leave workers out."
        )
    if workers is None:
        return executor, min(chains, machine.cores())
    return executor, check_count(workers, "workers", 1, "workers")


def check_memory(plan: Plan, description: Description, memory: Any) -> None:
    """Refuse draws that would not fit, from the number of places; the default limit is a quarter of the memory.

    >>> from types import SimpleNamespace
    >>> plan = SimpleNamespace(chains=4, draws=1000, dtype="float64", task=SimpleNamespace(thin=1))
    >>> check_memory(plan, Description({"angles": np.arange(100)}, {}, {}, {}), 10**6)
    Traceback (most recent call last):
    vmqp.errors.InputError: the draws need about 3.71 MB, but the limit is 1 MB: keep fewer of them
    (thin=4 with draws=250), give dtype='float32' for about half the size, draw at most 269, or give a
    larger memory in bytes.
    """
    if memory is not None:
        check_positive(memory, "memory")
    limit = machine.memory() / 4 if memory is None else float(memory)
    places = sum(len(rows) for rows in description.places.values())
    pointwise = sum(len(rows) for rows in description.pointwise.values())
    beside = pointwise * _POINTWISE + _BESIDE * 8
    draw = plan.chains * (places * np.dtype(plan.dtype).itemsize + beside)
    size = draw * plan.draws
    if size <= limit:
        return
    factor = math.ceil(size / limit)
    ways = []
    if factor <= plan.draws:
        thin, fewer = plan.task.thin * factor, plan.draws // factor
        ways.append(f"keep fewer of them (thin={thin} with draws={fewer})")
    if plan.dtype == "float64":
        ways.append("give dtype='float32' for about half the size")
    if limit >= draw:
        ways.append(f"draw at most {int(limit // draw)}")
    raise InputError(
        f"the draws need about {_bytes(size)}, but the limit is {_bytes(limit)}: "
        + ", ".join([*ways, "or give a larger memory in bytes" if ways else "give a larger memory in bytes"])
        + "."
    )


def _bytes(size: float) -> str:
    for unit, value in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= value:
            return f"{size / value:.3g} {unit}"
    return f"{size:.0f} bytes"
