"""Where chunks are computed: threads or processes of our own, a Dask cluster, or an executor of the user.

Pools of our own are made anew when they break, and shut down at the end. An executor of the user is neither. A cluster
mends itself, whoever it belongs to.
"""

import multiprocessing
import signal
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from vmqp.chain import Chunk, State, Task
from vmqp.run.cluster import Cluster, is_dask
from vmqp.run.worker import advance, start_worker

__all__ = ["Pool", "Result"]

Result = Future[tuple[State, Chunk]]


class Pool:
    """An executor, and whether it is ours.

    Several runs, each in a thread of its own, may share one pool: whoever makes it gives it to `run_chains` as the
    executor, and closes it.

    >>> with Pool("threads", 2) as pool:
    ...     pool.ours, pool.mends
    (True, True)
    """

    def __init__(self, executor: Any, workers: int) -> None:
        self._kind = executor
        self._workers = workers
        self._executor = self._make()
        self._lock = threading.Lock()
        self.ours = isinstance(executor, str)
        self.mends = self.ours or isinstance(self._executor, Cluster)
        """Whether a chunk that was lost with its worker can be handed in again."""
        self.generation = 0
        """Grows by one each time the pool is made anew."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(wait=error is None)

    @property
    def advice(self) -> str:
        """What to look for when workers die."""
        if isinstance(self._executor, Cluster):
            return "look in the logs of the Dask workers, first for a lack of memory"
        return (
            "look for a lack of memory (try fewer workers, or executor='threads'), and in a script start the run "
            "below if __name__ == '__main__'"
        )

    def submit(self, task: Task, state: State, iterations: int) -> Result:
        """Hand one chunk to a worker."""
        with _interrupts_held() if self._kind == "processes" else _nothing():
            return self._executor.submit(advance, task, state, iterations)

    def take_back(self, futures: Collection[Result], force: bool = False) -> list[Result]:
        """Cancel the chunks that have not begun, and return them; by force also those that a cluster computes."""
        if isinstance(self._executor, Cluster):
            return self._executor.take_back(futures, force)
        return [future for future in futures if future.cancel()]

    def renew(self, generation: int) -> None:
        """Replace a pool of ours that broke; its chunks keep their errors, by which they are known as lost.

        All chunks of a generation are lost together, and the first that is told of brings the next.
        """
        with self._lock:
            if generation != self.generation:
                return
            if not isinstance(self._executor, Cluster):
                self._executor.shutdown(wait=False)
                self._executor = self._make()
            self.generation += 1

    def close(self, wait: bool) -> None:
        """Shut a pool of ours down."""
        if self.ours:
            self._executor.shutdown(wait=wait, cancel_futures=True)

    def _make(self) -> Executor:
        if is_dask(self._kind):
            return Cluster(self._kind)
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
