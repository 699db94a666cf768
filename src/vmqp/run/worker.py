"""What a worker does: advance one chain by one chunk, with one BLAS thread.

Chains already fill the cores. BLAS threads on top of them would fight for the same cores; and sums in another order
would make the draws depend on the machine.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl

from vmqp.chain import Chunk, State, Task

__all__ = ["advance", "one_blas_thread", "start_worker"]

_lock = threading.Lock()
_users = 0
_limits: list[Any] = []
_controller: Any = None
_modules = 0


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread until the last user in this process has left.

    With most libraries the limit belongs to the process, not to a thread. Users are counted, so that a thread that
    leaves first does not lift the limit for the others. Some have a limit for each thread, and some are loaded late: so
    each user sets the limit again.

    >>> with one_blas_thread(), one_blas_thread():
    ...     pass
    """
    global _users, _controller, _modules
    with _lock:
        _users += 1
        new = len(sys.modules) != _modules  # to look for libraries takes milliseconds
        if new:
            _modules, _controller = len(sys.modules), threadpoolctl.ThreadpoolController()
        _take_control()
        limit = _controller.limit(limits=1, user_api="blas")
        if new or _users == 1:  # others find nothing that would have to be restored
            _limits.append(limit)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _take_control()
                while _limits:  # the first knows what was there before us, so it comes last
                    _limits.pop().restore_original_limits()
                _take_control()


def _take_control() -> None:
    """Newer versions of threadpoolctl obey the first thread that set a limit as long as it lives, and no other.

    That may be a thread that has long finished with it, such as the main thread; here all take turns.
    """
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


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
