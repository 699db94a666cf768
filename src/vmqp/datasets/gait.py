"""Gait: hip, knee and ankle angle by percentage of the cycle, from a file or generated.

The cycle begins and ends when the right foot meets the ground, so that 0 and 100 % are one phase. All tables come in
one form, :class:`Gait`, whatever tells their curves apart: the speed of walking, the runner, or the gradient.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from vmqp.errors import InputError
from vmqp.tables import complete_rows, read_file
from vmqp.tables.words import listed

__all__ = ["ANGLES", "Gait", "read_gait"]

ANGLES = ("hip", "knee", "ankle")

_WALKING = ("speed_class", "cycle_pct", "hip_deg_mean", "knee_deg_mean", "ankle_deg_mean")
_RUNNING = ("subject", "cycle_pct", "hip_sagittal_deg", "knee_sagittal_deg", "ankle_sagittal_deg")


@dataclass(frozen=True, eq=False)
class Gait:
    """Curves of three joint angles over the cycle; made by `read_gait` or `generated_gait`.

    >>> from vmqp.datasets import generated_gait
    >>> gait = generated_gait(gradients=(0, 10), points=4)
    >>> gait
    Gait(by='gradient', generated=True)
    >>> gait.curve("10 %")[["group", "level", "cycle_pct"]]
      group  level  cycle_pct
    0  10 %    2.0       25.0
    1  10 %    2.0       50.0
    2  10 %    2.0       75.0
    3  10 %    2.0      100.0
    """

    frame: pd.DataFrame = field(repr=False)
    """One row for a curve and a phase: group, level, cycle_pct, and hip, knee and ankle in degrees."""
    by: Literal["speed", "runner", "gradient"]
    """What the groups are. Runners have no order: their level is nan."""
    generated: bool = False
    """Whether nobody walked or ran for it."""

    @property
    def groups(self) -> list[str]:
        """Names of the curves, in the order of the table."""
        return [str(name) for name in self.frame["group"].unique()]

    def curve(self, group: str) -> pd.DataFrame:
        """The rows of one curve."""
        if group not in self.groups:
            raise InputError(f"there is no {self.by} {group!r}: the names are {listed(self.groups)}.")
        return self.frame[self.frame["group"] == group].reset_index(drop=True)


def read_gait(path: str | os.PathLike[str]) -> Gait:
    r"""Read curves of walking by speed class, or of running by subject; the columns tell which.

    Walking: speed_class, cycle_pct, hip_deg_mean, knee_deg_mean, ankle_deg_mean, as in the table of Schwartz and
    co-workers (2008). Speed classes have no numbers there; their levels are numbered in the order of the file, a step
    apart and 0 in the middle. Running: subject, cycle_pct, hip_sagittal_deg, knee_sagittal_deg, ankle_sagittal_deg, as
    in the data of Fukuchi and co-workers. Other columns are passed over.

    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "walking.csv"
    >>> rows = ["Slow,0,30,5,-3", "Slow,50,-9,7,10", "Free,0,35,6,-2", "Free,50,-8,9,11", "Fast,0,39,8,-1"]
    >>> _ = path.write_text("\n".join(["speed_class,cycle_pct,hip_deg_mean,knee_deg_mean,ankle_deg_mean", *rows]))
    >>> gait = read_gait(path)
    >>> gait.by, gait.groups, gait.frame["level"].tolist()
    ('speed', ['Slow', 'Free', 'Fast'], [-1.0, -1.0, 0.0, 0.0, 1.0])
    >>> folder.cleanup()
    """
    frame = read_file(path)
    by: Literal["speed", "runner"]
    if "speed_class" in frame.columns:
        by, columns = "speed", _WALKING
    elif "subject" in frame.columns:
        by, columns = "runner", _RUNNING
    else:
        raise InputError(
            f"{Path(path).name} is no table of gait that we know: give one with a column 'speed_class' (walking) or "
            f"'subject' (running). Its columns are {listed(map(str, frame.columns))}."
        )
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(
            f"{Path(path).name} has no column {missing[0]!r}: a table of gait by {by} needs {listed(columns)}."
        )
    rows = complete_rows(frame, columns, path=path).frame
    table = rows.set_axis(["group", "cycle_pct", *ANGLES], axis=1)
    for name in ("cycle_pct", *ANGLES):
        _check_numbers(table[name], dict(zip(table.columns, columns, strict=True))[name], path)
    outside = ~table["cycle_pct"].between(0.0, 100.0).to_numpy()
    if outside.any():
        value = table["cycle_pct"].to_numpy()[int(np.argmax(outside))]
        raise InputError(
            f"{Path(path).name}: cycle_pct is {value:g} in a row; give percentages of the cycle from 0 to 100."
        )
    table["group"] = table["group"].astype(str)
    names = list(table["group"].unique())
    middle = (len(names) - 1) / 2
    level = {name: number - middle if by == "speed" else np.nan for number, name in enumerate(names)}
    table.insert(1, "level", table["group"].map(level).astype(float))
    return Gait(table, by)


def _check_numbers(column: pd.Series, name: str, path: str | os.PathLike[str]) -> None:
    if not pd.api.types.is_numeric_dtype(column):
        raise InputError(
            f"{Path(path).name}: the column {name!r} holds text; give numbers, and leave blank what is missing."
        )
