"""The bar that is seen while files are downloaded, on a terminal; elsewhere nothing is shown."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

__all__ = ["Bar", "download_bar"]


class Bar:
    """How far the downloads are; this one shows nothing."""

    def received(self, count: int) -> None:
        """Note that so many bytes came."""

    def done(self) -> None:
        """Note that a file is there."""


class _Drawn(Bar):
    def __init__(self, received: Callable[[int], None], done: Callable[[], None]) -> None:
        self._received, self._done = received, done

    def received(self, count: int) -> None:
        self._received(count)

    def done(self) -> None:
        self._done()


@contextmanager
def download_bar(choice: bool | None, files: int, label: str) -> Iterator[Bar]:
    """Show a bar for a number of files: False is none, True is one, None is one on a terminal.

    >>> with download_bar(False, 2, "stations") as bar:
    ...     bar.received(1000)
    ...     bar.done()
    """
    console = Console(stderr=True, force_terminal=True if choice else None)
    alone = threading.current_thread() is threading.main_thread()
    drawable = alone and console.is_terminal and not console.is_dumb_terminal
    if choice is False or not (choice or drawable):
        yield Bar()
        return
    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files, {task.fields[megabytes]:.1f} MB"),
        console=console,
        transient=True,
    )
    with shown:
        task = shown.add_task(label, total=files, megabytes=0.0)
        lock = threading.Lock()
        total = 0

        def received(count: int) -> None:
            nonlocal total
            with lock:
                total += count
                shown.update(task, megabytes=total / 1e6)

        yield _Drawn(received, lambda: shown.advance(task))
