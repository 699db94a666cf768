"""Ctrl-C as a count, not as an exception, while chains run.

An exception could come in the middle of a write or of a fill. So the first press asks the loop to stop, the second asks
it not to wait, and from the third on the handler that was there before answers.

Python gives Ctrl-C to the main thread only. A count in another thread, or inside another count, is that of the one in
the main thread that listens, if there is one: so a person stops all runs that go on one beside another.
"""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, ClassVar, Self

__all__ = ["Interrupts"]


class Interrupts:
    """Count presses of Ctrl-C inside a ``with`` block.

    >>> with Interrupts() as interrupts:
    ...     signal.raise_signal(signal.SIGINT)
    >>> interrupts.count
    1
    """

    _listener: "ClassVar[Interrupts | None]" = None

    def __init__(self) -> None:
        self._presses = 0
        self._outer: Interrupts | None = None
        self._before: Any = None

    @property
    def count(self) -> int:
        """Presses so far."""
        return self._presses + (self._outer.count if self._outer else 0)

    def press(self) -> None:
        """Count a press that came in another way."""
        self._presses += 1

    def __enter__(self) -> Self:
        # A handler that the user has set, or SIG_IGN, keeps its meaning; the loop then catches KeyboardInterrupt.
        main = threading.current_thread() is threading.main_thread()
        self._outer = Interrupts._listener
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._pressed)
            Interrupts._listener = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            Interrupts._listener = None
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        self._presses += 1
        if self._presses > 2:
            self._before(number, frame)
