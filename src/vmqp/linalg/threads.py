"""BLAS held to one thread, where others fill the cores and where sums in another order would change results."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl

__all__ = ["one_blas_thread"]

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
