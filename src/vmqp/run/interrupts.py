"""Ctrl-C as a count, not as an exception, while chains run.

An exception could come in the middle of a write or of a fill. So the first press asks the loop to stop, the second asks
it not to wait, and from the third on the handler that was there before answers.
"""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

__all__ = ["Interrupts"]


class Interrupts:
    """Count presses of Ctrl-C inside a ``with`` block; elsewhere than in the main thread there are none to count.

    >>> with Interrupts() as interrupts:
    ...     signal.raise_signal(signal.SIGINT)
    >>> interrupts.count
    1
    """

    def __init__(self) -> None:
        self.count = 0
        self._before: Any = None

    def __enter__(self) -> Self:
        # A handler that the user has set, or SIG_IGN, keeps its meaning; the loop then catches KeyboardInterrupt.
        mine = threading.current_thread() is threading.main_thread()
        if mine and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._pressed)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.count > 2:
            self._before(number, frame)
