"""What the terminal shows: notes while it works, and at the end the verdict, the parameters, the scores and the files.

With ``--json`` standard output carries one JSON object and nothing else; progress and notes go to standard error.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from vmqp.cli.results import Outcome

__all__ = ["Terminal"]

_SCORES = (
    ("crps", "mean CRPS", "smaller is better; 0 is perfect", "{:.4f}"),
    ("crps_arc", "mean arc CRPS", "the same in the angle's unit", "{:.4g}"),
    ("log_score", "mean log score", "larger is better", "{:.3f}"),
    ("coverage_50", "in the 50 % arcs", "should be near 50 %", "{:.0%}"),
    ("coverage_90", "in the 90 % arcs", "should be near 90 %", "{:.0%}"),
)


class Terminal:
    """Where results and notes go."""

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.as_json = as_json
        self.quiet = quiet

    @property
    def progress(self) -> bool | None:
        """What `vmqp.run.run_chains` should show."""
        return False if self.quiet else None

    def say(self, *sentences: str) -> None:
        """Print sentences while it works; with JSON they are no part of the answer."""
        if not self.quiet:
            for sentence in sentences:
                print(sentence, file=sys.stderr if self.as_json else sys.stdout, flush=True)

    @contextmanager
    def bar(self, text: str) -> Iterator[Callable[[float], None] | None]:
        """Show how much is done on a terminal; what it yields takes the fraction, and is None elsewhere."""
        console = Console(stderr=True)
        if self.quiet or self.as_json or not console.is_terminal or console.is_dumb_terminal:
            yield None
            return
        columns = (TextColumn(text), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as shown:
            task = shown.add_task(text, total=1.0)
            yield lambda fraction: shown.update(task, completed=fraction)

    def finish(self, outcome: "Outcome", code: int, advice: str) -> None:
        """Print the result of a run."""
        if self.as_json:
            self.print_json({"exit_code": code, **asdict(outcome), "advice": advice or None})
            return
        if self.quiet:
            if not outcome.trusted:
                print(" ".join([*outcome.verdict, advice]), file=sys.stderr, flush=True)
            return
        console = Console(highlight=False, soft_wrap=True)
        fast = outcome.inference == "fast"
        good = "A fast fit, for a first look." if fast else "These draws can be trusted."
        console.print()
        console.print(
            Text(good if outcome.trusted else "Do not trust these numbers yet.", style="bold"),
            Text(" ".join([*outcome.verdict, advice]).strip()),
        )
        if outcome.parameters:
            console.print()
            console.print(_parameters(outcome.parameters))
            for name, row in outcome.parameters.items():
                console.print(Text(f"  {name}: {row['meaning']}", style="dim"))
        if outcome.scores is not None:
            console.print()
            console.print(_scores(outcome.scores, outcome.rows.get("scored", outcome.rows["predicted"])))
        console.print()
        for name, path in outcome.files.items():
            console.print(Text(f"{name:<12} {path}"))

    def print_json(self, answer: Mapping[str, Any]) -> None:
        """Print the one object that a machine reads."""
        print(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False), flush=True)

    def print_table(self, table: Table) -> None:
        """Print a table, as wide as the terminal; a file has no width."""
        console = Console(highlight=False)
        (console if console.is_terminal else Console(highlight=False, width=120)).print(table)

    def fail(self, message: str, code: int) -> None:
        """Print an error: for a machine as the answer, for a person on standard error."""
        if self.as_json:
            self.print_json({"exit_code": code, "error": message})
        else:
            print(f"error: {message}", file=sys.stderr, flush=True)


def _parameters(parameters: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table("parameter", box=None, pad_edge=False, title="Parameters", title_justify="left")
    for heading in ("mean", "sd", "5 %", "95 %", "R-hat", "ESS"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, row in parameters.items():
        numbers = [_short(row[key]) for key in ("mean", "sd", "lower", "upper")]
        table.add_row(Text(name), *numbers, _digits(row["rhat"], 3), _digits(row["ess"], 0))
    return table


def _scores(scores: Mapping[str, float | None], count: int) -> Table:
    title = f"Predictions of {count} angles whose truth is known"
    table = Table("score", box=None, pad_edge=False, title=title, title_justify="left")
    table.add_column("value", justify="right")
    table.add_column("")
    for key, words, meaning, form in _SCORES:
        value = scores.get(key)
        table.add_row(words, "–" if value is None else form.format(value), meaning)
    return table


def _short(value: float | None) -> str:
    """Four digits.

    >>> _short(0.0123456), _short(None)
    ('0.01235', '–')
    """
    return "–" if value is None or not math.isfinite(value) else f"{value:.4g}"


def _digits(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
