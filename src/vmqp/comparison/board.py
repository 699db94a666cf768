"""What is seen while models are compared: each fit that is done, with its score and the model's mean so far."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["Board"]


class Board:
    """A bar on a terminal, and a line for each fit."""

    def __init__(self, total: int, choice: bool | None) -> None:
        self._total, self._done = total, 0
        self._quiet = choice is False
        self._scores: dict[str, list[float]] = {}
        console = Console(stderr=True, highlight=False, force_terminal=True if choice else None)
        columns = (TextColumn("fits"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=console, disable=self._quiet or not console.is_terminal)
        self._task = self._bar.add_task("fits", total=total)

    def __enter__(self) -> "Board":
        self._bar.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._bar.stop()

    def add(self, fit: Mapping[str, Any], earlier: bool = False) -> None:
        """Show a fit, made now or taken from an earlier call."""
        scores = self._scores.setdefault(fit["model"], [])
        scores.append(fit["crps"])
        doubt = "" if fit["trusted"] else ", not converged"
        self._say(
            f"{fit['model']}, split {fit['fold'] + 1}: CRPS {fit['crps']:.4f} (mean so far {np.mean(scores):.4f}), "
            f"{fit['seconds']:.0f} s{doubt}{', made before' if earlier else ''}"
        )

    def fail(self, model: str, fold: int, reason: str) -> None:
        """Show a fit that could not be made."""
        self._say(f"{model}, split {fold + 1}: {reason}")

    def _say(self, sentence: str) -> None:
        self._done += 1
        self._bar.advance(self._task)
        if not self._quiet:
            self._bar.console.print(f"{self._done}/{self._total} {sentence}", markup=False, soft_wrap=True)
