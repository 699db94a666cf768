"""What a process made for one chunk and will need for the next: graphs of neighbours, roots of a map.

A task travels to its worker with each chunk, without what can be computed from it. A large graph takes longer to make
than a chunk to run, so that the last few are kept here, by the fingerprint of what they were made from.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

__all__ = ["remembered"]

_MOST = 4
_found: OrderedDict[str, Any] = OrderedDict()
_making: dict[str, threading.Lock] = {}
_lock = threading.Lock()


def remembered(key: str, make: Callable[[], Any]) -> Any:
    """Return what was made under this key, or make it; threads that ask for the same thing wait for the first.

    >>> remembered("seven", lambda: 7), remembered("seven", lambda: 8)
    (7, 7)
    """
    with _lock:
        if key in _found:
            _found.move_to_end(key)
            return _found[key]
        turn = _making.setdefault(key, threading.Lock())
    with turn:
        with _lock:
            if key in _found:
                return _found[key]
        made = make()
        with _lock:
            _found[key] = made
            _making.pop(key, None)
            while len(_found) > _MOST:
                _found.popitem(last=False)
        return made
