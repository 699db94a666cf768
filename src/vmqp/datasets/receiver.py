"""What a download is written to while it comes: it counts, and knows when to give up.

A server that sends next to nothing is given up, and one that is no longer wanted is hung up on. A thread looks at both
while a file comes, since whoever waits for bytes can't.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any
from urllib.parse import urlsplit

from vmqp.errors import InputError

__all__ = ["Receiver", "SizeError", "SlowError", "StoppedError", "public"]

SLOW, LEAST = 60.0, 10_000
"""A server that sends fewer bytes than the second in as many seconds as the first is given up."""
_LOOK = 0.1  # seconds


class StoppedError(Exception):
    """A download was called off."""


class SizeError(Exception):
    """Fewer or more bytes came than were announced."""


class SlowError(Exception):
    """Next to nothing came for a long time."""


class Receiver:
    """What pooch writes to: a file that counts, and refuses what is too much or no longer wanted."""

    def __init__(
        self, file: IO[bytes], url: str, largest: int, tell: Callable[[int], None], stop: threading.Event
    ) -> None:
        self._file, self._url, self._largest, self._tell, self._stop = file, url, largest, tell, stop
        self._answer: Any = None
        self._announced: int | None = None
        self._received = 0
        self._slow = False

    def hear(self, answer: Any, **_: Any) -> None:
        """Look at the head of an answer, before its body is read."""
        self._answer = answer
        if (urlsplit(self._url).scheme, urlsplit(answer.url).scheme) == ("https", "http"):
            raise InputError(
                f"{public(self._url)} leads to {public(answer.url)}, which is not encrypted: it was not followed."
            )
        length = str(answer.headers.get("content-length", ""))
        # A compressed body comes out longer than announced.
        plain = answer.headers.get("content-encoding", "identity") == "identity"
        self._announced = int(length) if plain and length.isdigit() else None
        if answer.ok and self._announced is not None and self._announced > self._largest:
            raise self._too_large(f"{self._announced:,} bytes")

    def write(self, piece: bytes) -> None:
        """Take a piece, if it is still wanted and not too much."""
        if self._stop.is_set():
            raise StoppedError
        self._received += len(piece)
        if self._received > self._largest:
            raise self._too_large("more")
        self._file.write(piece)
        self._tell(len(piece))

    def flush(self) -> None:
        """Pooch asks for it after each piece; the file is flushed when it is closed."""

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Hang up, from another thread, once nobody wants the file any more or next to nothing comes."""
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over,), name="download-watch", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _watch(self, over: threading.Event) -> None:
        since, before = time.monotonic(), 0
        while not over.wait(_LOOK):
            now = time.monotonic()
            if self._received - before >= LEAST or self._answer is None:
                since, before = now, self._received
            self._slow = self._slow or now - since > SLOW
            if self._slow or self._stop.is_set():
                self._hang_up()

    def _hang_up(self) -> None:
        """Wake whoever waits for bytes: as if the server had ended."""
        if self._answer is not None:
            with suppress(Exception):  # it may have ended by itself in the meantime
                self._answer.raw.shutdown()

    def judge(self) -> None:
        """Say why it was hung up from here, if it was: whatever the connection says of it is a consequence."""
        if self._stop.is_set():
            raise StoppedError
        if self._slow:
            raise SlowError(f"fewer than {LEAST:,} bytes came in {SLOW:g} seconds")

    def finish(self) -> None:
        """Refuse what ended before its end."""
        self.judge()
        if self._announced is not None and self._received != self._announced:
            raise SizeError(f"{self._received:,} bytes came and not {self._announced:,}")

    def close(self) -> None:
        """Let go of the connection."""
        if self._answer is not None:
            self._answer.close()

    def _too_large(self, size: str) -> InputError:
        return InputError(
            f"{public(self._url)} is too large: at most {self._largest:,} bytes are expected, and it has {size}. "
            "Nothing was kept. See whether the address is right."
        )


def public(url: str) -> str:
    """An address, or a text with some, as messages show it: without names and passwords.

    >>> public("https://me:secret@example.org/a.zip")
    'https://example.org/a.zip'
    """
    return re.sub(r"//[^/@\s]*@", "//", url)
