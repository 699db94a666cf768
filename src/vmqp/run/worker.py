"""What a worker does: advance one chain by one chunk, with one BLAS thread.

Chains already fill the cores. BLAS threads on top of them would fight for the same cores; and sums in another order
would make the draws depend on the machine.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

from vmqp.chain import Chunk, State, Task

__all__ = ["advance", "one_blas_thread", "start_worker"]

_lock = threading.Lock()
_users = 0
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread until the last user in this process has left.

    The limit belongs to the process, not to a thread. Users are counted, so that a thread that leaves first does not
    lift the limit for the others.

    >>> with one_blas_thread(), one_blas_thread():
    ...     pass
    """
    global _users, _limit
    with _lock:
        _users += 1
        if _users == 1:
            _limit = threadpool_limits(1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limit.restore_original_limits()


def advance(task: Task, state: State, iterations: int) -> tuple[State, Chunk]:
    """Advance a chain by some iterations; the only function that is sent to executors.

    >>> from types import SimpleNamespace
    >>> advance(SimpleNamespace(advance=lambda state, iterations: (state, iterations)), {}, 3)
    ({}, 3)
    """
    with one_blas_thread():
        return task.advance(state, iterations)


def start_worker() -> None:
    """Prepare a worker process of our own: the parent alone answers Ctrl-C, and no worker outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    # Workers of a pool hold both ends of its queue, so they would not notice that their parent was killed.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
