"""What a process made for one chunk and will need for the next: graphs of neighbours, roots of a map.

A task travels to its worker with each chunk, without what can be computed from it. A large graph takes longer to make
than a chunk to run, so that the last one of each kind is kept here, by what it was made from.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

__all__ = ["remembered"]

_KINDS = 4  # graphs and roots of two tasks
_found: OrderedDict[str, tuple[str, Any]] = OrderedDict()
_making: dict[str, threading.Lock] = {}
_lock = threading.Lock()


def remembered(kind: str, key: str, make: Callable[[], Any]) -> Any:
    """Return what was made last under this kind, if it has this key, or make it; threads that ask at once share it.

    >>> remembered("number", "seven", lambda: 7), remembered("number", "seven", lambda: 8)
    (7, 7)
    """
    with _lock:
        turn = _making.setdefault(kind, threading.Lock())
    with turn:
        with _lock:
            if kind in _found and _found[kind][0] == key:
                _found.move_to_end(kind)
                return _found[kind][1]
            _found.pop(kind, None)  # let go of it before the next one is made
        made = make()
        with _lock:
            _found[kind] = key, made
            while len(_found) > _KINDS:
                oldest, _ = _found.popitem(last=False)
                _making.pop(oldest, None)
        return made
