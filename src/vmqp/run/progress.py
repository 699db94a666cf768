"""What is seen while chains run: a live table on a terminal and in a notebook, plain lines elsewhere."""

import math
import sys
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from html import escape
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from vmqp.run.diagnostics import smallest_ess
from vmqp.run.store import Draws

__all__ = ["Display", "Lines", "Notebook", "Progress", "Row", "Tracker", "make_progress"]

_LINE_SECONDS = 10.0
_FRAME_SECONDS = 0.25
_LABELS = ("chain", "iteration", "phase", "now", "ESS", "left")


@dataclass
class Row:
    """Where one chain stands."""

    position: int
    origin: int
    """Iterations that were on disk when this run began: they tell nothing about its speed."""
    numbers: dict[str, float] = field(default_factory=dict)
    ess: float = math.nan
    ess_draws: int = 0


class Tracker:
    """Where all chains stand, in words."""

    def __init__(
        self,
        positions: list[int],
        total: int,
        warmup: int,
        store: Draws,
        circular: set[str],
        *,
        may_stop: bool = False,
    ) -> None:
        self.rows = [Row(position, position) for position in positions]
        self.total = total
        self._warmup = warmup
        self._store = store
        self._circular = circular
        self._may_stop = may_stop
        self._began = time.monotonic()

    def finished(self, chain: int) -> bool:
        """Whether a chain has done all its iterations."""
        return self.rows[chain].position >= self.total

    def cells(self, chain: int) -> list[str]:
        """Iteration, phase, numbers of the task, effective sample size, time left."""
        row = self.rows[chain]
        phase = "warm-up" if row.position < self._warmup else "sampling"
        numbers = ", ".join(f"{name} {value:.3g}" for name, value in row.numbers.items())
        ess = self._ess(chain)
        return [
            f"{row.position}/{self.total}",
            "done" if self.finished(chain) else phase,
            numbers,
            f"{ess:.0f}" if math.isfinite(ess) else "",
            self._left(row),
        ]

    def _ess(self, chain: int) -> float:
        row, done = self.rows[chain], self._store.done[chain]
        if done > 1.1 * row.ess_draws:  # at each tenth more, so that its cost stays small in long runs
            row.ess = smallest_ess(self._store.first(done, chain).parameters, self._circular)
            row.ess_draws = done
        return row.ess

    def _left(self, row: Row) -> str:
        if row.position >= self.total:
            return "0:00"
        if row.position == row.origin:
            return ""
        pace = (time.monotonic() - self._began) / (row.position - row.origin)
        minutes, seconds = divmod(round(pace * (self.total - row.position)), 60)
        hours, minutes = divmod(minutes, 60)
        left = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
        return f"at most {left}" if self._may_stop else left


class Progress:
    """Shows nothing; the others derive from it."""

    def update(self, chain: int, position: int, numbers: dict[str, float]) -> None:
        """Note that a chain has done a chunk."""

    def tick(self) -> None:
        """Take the chance to draw; called several times a second."""

    def close(self) -> None:
        """Show the end."""


class Lines(Progress):
    """One line for a chain now and then, for logs."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._last = [time.monotonic()] * len(tracker.rows)

    def update(self, chain: int, position: int, numbers: dict[str, float]) -> None:
        """Print a line if the last is some time ago, or at the end of the chain."""
        row = self._tracker.rows[chain]
        row.position, row.numbers = position, numbers
        now = time.monotonic()
        if self._tracker.finished(chain) or now - self._last[chain] >= _LINE_SECONDS:
            self._last[chain] = now
            place, phase, shown, ess, left = self._tracker.cells(chain)
            parts = [f"chain {chain}: {place} iterations", phase, shown, ess and f"ESS {ess}"]
            if not self._tracker.finished(chain):
                parts.append(f"{left} left")
            print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)


class Drawn(Progress, ABC):
    """A table that is drawn over and over; the two below say how."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._drawn = time.monotonic()

    def update(self, chain: int, position: int, numbers: dict[str, float]) -> None:
        """Note that a chain has done a chunk."""
        row = self._tracker.rows[chain]
        row.position, row.numbers = position, numbers

    def tick(self) -> None:
        """Draw the table, a few times a second."""
        now = time.monotonic()
        if now - self._drawn >= _FRAME_SECONDS:
            self._drawn = now
            self._draw()

    def close(self) -> None:
        """Draw the table for the last time."""
        self._draw()

    @abstractmethod
    def _draw(self) -> None:
        """Draw the table as it stands."""


class Display(Drawn):
    """The table on a terminal."""

    def __init__(self, tracker: Tracker, console: Console) -> None:
        super().__init__(tracker)
        # No thread of its own: the loop calls tick, and threads are for chains.
        self._live = Live(self._table(), console=console, auto_refresh=False)
        self._live.start(refresh=True)

    def close(self) -> None:
        """Draw the table for the last time."""
        self._live.update(self._table())
        self._live.stop()

    def _draw(self) -> None:
        self._live.update(self._table(), refresh=True)

    def _table(self) -> Table:
        table = Table(*_LABELS, box=None, pad_edge=False)
        for chain in range(len(self._tracker.rows)):
            table.add_row(str(chain), *self._tracker.cells(chain))
        return table


class Notebook(Drawn):
    """The table in the output of a notebook's cell; it needs no widgets."""

    def __init__(self, tracker: Tracker) -> None:
        from IPython.display import display

        super().__init__(tracker)
        self._handle: Any = display(self._page(), raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def _draw(self) -> None:
        if self._handle is not None:
            self._handle.update(self._page(), raw=True)

    def _page(self) -> dict[str, str]:
        rows = [[str(chain), *self._tracker.cells(chain)] for chain in range(len(self._tracker.rows))]
        head = "".join(f"<th>{label}</th>" for label in _LABELS)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        return {
            "text/plain": "\n".join("  ".join(cell for cell in row if cell) for row in rows),
            "text/html": f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>",
        }


def make_progress(choice: bool | None, tracker: Tracker) -> Progress:
    """Choose what to show: False is nothing, True the live table, None the table only where it can be drawn.

    Runs in threads of their own, one beside another, would draw their tables over each other: there None is lines.

    >>> type(make_progress(False, Tracker([0], 10, 5, Draws(1, 5), set()))).__name__
    'Progress'
    """
    if choice is False:
        return Progress()
    console = Console(stderr=True, force_terminal=True if choice else None)
    alone = threading.current_thread() is threading.main_thread()
    if console.is_jupyter and (choice or alone):
        return Notebook(tracker)
    drawable = alone and console.is_terminal and not console.is_dumb_terminal
    return Display(tracker, console) if choice or drawable else Lines(tracker)
