"""The gait experiment as a regression: which curves are learned, which phases are asked for, and the kernels.

Joint angles are in radians and levels in steps (5 % of gradient, or one class of speed); the paper names no units. With
runners in place of levels there is nothing to order them by: the kernel keeps its first factor only, and each curve
is taken about its own mean, since where zero lies differs between people by more than the stride moves.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from vmqp import kernels, priors
from vmqp.circle import FloatArray
from vmqp.datasets import Gait
from vmqp.datasets.gait import ANGLES
from vmqp.errors import InputError

__all__ = ["POINTS", "Task", "interior", "our_kernel", "paper_kernel", "task"]

POINTS = 20
"""Predicted on the held-out curve, as in the paper."""

# Runners to learn from and to leave out, and the steps between their phases: 330 places at most.
_LEARNED, _LEFT_OUT, _RUNNER_STEP = 10, 3, 5


@dataclass(frozen=True, eq=False)
class Task:
    """Learn from some curves and predict the phase on another."""

    train: pd.DataFrame
    test: pd.DataFrame
    """All rows of the held-out curve or curves."""
    by: str
    held_out: str
    inputs: tuple[str, ...]

    @property
    def points(self) -> pd.DataFrame:
        """The paper's test: 20 rows at even distances along each held-out curve."""
        parts = [part.iloc[_even(len(part), POINTS)] for _, part in self.test.groupby("group", sort=False)]
        return pd.concat(parts, ignore_index=True)

    def X(self, rows: pd.DataFrame) -> FloatArray:
        """Inputs of some rows."""
        return np.asarray(rows[list(self.inputs)], dtype=np.float64)

    @staticmethod
    def y(rows: pd.DataFrame) -> FloatArray:
        """Phases of some rows, in per cent."""
        return np.asarray(rows["cycle_pct"], dtype=np.float64)


def interior(gait: Gait) -> str:
    """The level in the middle, which the paper holds out."""
    return gait.groups[len(gait.groups) // 2]


def task(gait: Gait, held_out: str | None = None, *, every: int = 1) -> Task:
    """Make the regression that holds out one level, or some runners; `every` takes each so many-th phase to learn.

    >>> from vmqp.datasets import generated_gait
    >>> made = task(generated_gait(points=50), every=2)
    >>> made.held_out, len(made.train), len(made.test), len(made.points)
    ('0 %', 100, 50, 20)
    """
    if len(gait.groups) < 2:
        raise InputError(
            f"the gait has one {gait.by} only ({', '.join(gait.groups)}): give a table with at least two, one to hold "
            "out and others to learn from."
        )
    frame = gait.frame[["group", "level", "cycle_pct", *ANGLES]].copy()
    if gait.by == "runner":
        return _runners(gait, frame, every)
    frame[list(ANGLES)] = np.radians(frame[list(ANGLES)])
    held_out = interior(gait) if held_out is None else held_out
    out = frame["group"] == held_out
    train = _thinned(frame[~out], every)
    return Task(train, frame[out].reset_index(drop=True), gait.by, held_out, (*ANGLES, "level"))


def _runners(gait: Gait, frame: pd.DataFrame, every: int) -> Task:
    names = gait.groups
    left_out = [names[row] for row in _even(len(names), min(_LEFT_OUT, len(names) - 1), middle=True)]
    others = [name for name in names if name not in left_out]
    learned = [others[row] for row in _even(len(others), min(_LEARNED, len(others)))]
    centred = frame[list(ANGLES)] - frame.groupby("group")[list(ANGLES)].transform("mean")
    frame[list(ANGLES)] = np.radians(centred)
    train = _thinned(frame[frame["group"].isin(learned)], every * _RUNNER_STEP)
    test = _thinned(frame[frame["group"].isin(left_out)], 3)
    return Task(train, test, gait.by, ", ".join(left_out), ANGLES)


def paper_kernel(made: Task) -> kernels.Kernel:
    """The paper's kernel with its priors on the squares: ``eq:gait_kernel``, ``app:gait_experiment``."""
    return priors.HalfNormal(1.0) * _product(made, kernels.Gaussian)


def our_kernel(made: Task) -> kernels.Kernel:
    """The same with exponential factors, and a learned nugget."""
    return priors.HalfNormal(1.0) * _product(made, kernels.Exponential) + kernels.Nugget(
        priors.HalfNormal(0.1)
    )


def _product(made: Task, kind: type[kernels.Kernel]) -> kernels.Kernel:
    def factor(columns: list[int]) -> kernels.Kernel:
        return kind(priors.Squared(priors.HalfNormal(1.0)), columns=columns)  # type: ignore[call-arg]

    joints = factor([0, 1, 2])
    return joints if len(made.inputs) == len(ANGLES) else joints * factor([3])


def _thinned(frame: pd.DataFrame, every: int) -> pd.DataFrame:
    number = frame.groupby("group", sort=False).cumcount()
    return frame[number % every == 0].reset_index(drop=True)


def _even(count: int, wanted: int, *, middle: bool = False) -> list[int]:
    """Positions at even distances on a cycle of `count` rows, from the first or from the middle of a step.

    >>> _even(50, 5), _even(50, 5, middle=True)
    ([0, 10, 20, 30, 40], [5, 15, 25, 35, 45])
    """
    steps = (np.arange(min(wanted, count)) + (0.5 if middle else 0.0)) / min(wanted, count)
    return [int(position) for position in np.floor(steps * count)]
