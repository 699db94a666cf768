"""Where chunks are computed: threads or processes of our own, or an executor of the user.

Pools of our own are made anew when they break, and shut down at the end. An executor of the user is neither.
"""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

from vmqp.chain import Chunk, State, Task
from vmqp.run.worker import advance, start_worker

__all__ = ["Pool", "Result", "cores"]

Result = Future[tuple[State, Chunk]]


def cores() -> int:
    """Cores that this process may use.

    >>> cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Pool:
    """An executor, and whether it is ours.

    >>> pool = Pool("threads", 2)
    >>> pool.ours
    True
    >>> pool.close(wait=True)
    """

    def __init__(self, executor: Executor | str, workers: int) -> None:
        self._kind = executor
        self._workers = workers
        self._executor = self._make()
        self.ours = isinstance(executor, str)
        self.generation = 0
        """Grows by one each time the pool is made anew."""

    def submit(self, task: Task, state: State, iterations: int) -> Result:
        """Hand one chunk to a worker."""
        with _interrupts_held() if self._kind == "processes" else _nothing():
            return self._executor.submit(advance, task, state, iterations)

    def renew(self) -> None:
        """Replace a pool of ours that broke; its chunks keep their errors, by which they are known as lost."""
        self._executor.shutdown(wait=False)
        self._executor = self._make()
        self.generation += 1

    def close(self, wait: bool) -> None:
        """Shut a pool of ours down."""
        if self.ours:
            self._executor.shutdown(wait=wait, cancel_futures=True)

    def _make(self) -> Executor:
        if isinstance(self._kind, Executor):
            return self._kind
        if self._kind == "threads":
            return ThreadPoolExecutor(self._workers, thread_name_prefix="vmqp")
        # Not forked: a fork copies locks that threads of BLAS or Numba may hold.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._workers, mp_context=context, initializer=start_worker)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while workers are started: they inherit it, and so none dies of it before it can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _nothing() -> Iterator[None]:
    yield
