"""What a worker does: advance one chain by one chunk, with one BLAS thread.

Chains already fill the cores. BLAS threads on top of them would fight for the same cores; and sums in another order
would make the draws depend on the machine.
"""

import multiprocessing
import os
import signal
import threading

from vmqp.chain import Chunk, State, Task
from vmqp.linalg.threads import one_blas_thread

__all__ = ["advance", "start_worker"]


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
