"""What a process made for one chunk and will need for the next: graphs of neighbours, roots of a map.

A task travels to its worker with each chunk, without what can be computed from it. A large graph takes longer to make
than a chunk to run, so that the last ones are kept here, by what they were made from.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

__all__ = ["forget", "remembered"]

_KINDS = 4  # graphs and roots of two tasks
_MOST = 2  # of one kind: chains that run side by side may be a step apart
_found: OrderedDict[str, OrderedDict[str, Any]] = OrderedDict()
_making: dict[str, threading.Lock] = {}
_lock = threading.Lock()


def remembered(kind: str, key: str, make: Callable[[], Any]) -> Any:
    """Return what was made under this kind and key, or make it; threads that ask at once wait for the first.

    >>> remembered("number", "seven", lambda: 7), remembered("number", "seven", lambda: 8)
    (7, 7)
    """
    with _lock:
        own = _found.setdefault(kind, OrderedDict())
        _found.move_to_end(kind)
        if key in own:
            own.move_to_end(key)
            return own[key]
        turn = _making.setdefault(kind, threading.Lock())
    with turn:
        with _lock:
            if key in own:
                return own[key]
            while len(own) >= _MOST:  # let go of the oldest before the next one is made
                own.popitem(last=False)
        made = make()
        with _lock:
            own[key] = made
            while len(_found) > _KINDS:
                oldest, _ = _found.popitem(last=False)
                _making.pop(oldest, None)
        return made


def forget(kind: str) -> None:
    """Let go of what was made under a kind."""
    with _lock:
        _found.pop(kind, None)
        _making.pop(kind, None)
