"""Which locations to predict: the rows of a file, a grid, rows that are held out, or rows without an angle."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from vmqp.cli.options import read_grid, read_share
from vmqp.cli.sheet import Sheet
from vmqp.comparison import split
from vmqp.errors import InputError
from vmqp.tables import complete_rows, digest, fits, place_in_file, read_file

__all__ = ["FILLED", "RESULTS", "Places", "Truth", "Where", "check_names", "choose_places", "is_number"]

RESULTS = ("mean", "variance", "lower", "upper", "width", "observed", "crps", "crps_arc", "log_score")
"""Columns that the table of predictions adds."""
FILLED = ("filled", "lower", "upper")
"""Columns that the filled table adds."""


@dataclass(frozen=True)
class Where:
    """The options that say what is predicted, as they were given."""

    at: str | None
    grid: str | None
    holdout: str | None
    fill: bool
    parameter_draws: int | None
    title: str | None
    compass: bool

    def check_one(self, *, table: bool) -> None:
        """Refuse none, and more than one, of the options; `table` tells whether a table was given, or a model."""
        options = (
            ("--at", self.at),
            ("--grid", self.grid),
            ("--holdout", self.holdout),
            ("--fill", self.fill or None),
        )
        given = [name for name, value in options if value is not None]
        if len(given) == 1:
            return
        found = f"{' and '.join(given)} were given" if given else "nothing says what to predict"
        more = (
            ", --holdout 0.2 (a fifth of the rows, to see how good the predictions are), or --fill (the rows "
        )
        raise InputError(
            f"{found}: give one of --at FILE (its rows) and --grid 60x40 (a map over the observed locations)"
            f"{more + 'without an angle)' if table else ''}."
        )


@dataclass(frozen=True)
class Truth:
    """The column of the angles, which a file of locations may hold too, and their period."""

    column: str
    period: float
    needed: bool = False
    """Whether the file must hold it."""


@dataclass(frozen=True, eq=False)
class Places:
    """The locations, and the observed rows that are left to learn from."""

    task: str
    frame: pd.DataFrame
    learned: NDArray[np.intp]
    """Rows of the data that are not held out."""
    observed: str | None = None
    """The column with the true angles, where they are known."""
    source: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def check_names(inputs: Sequence[str]) -> None:
    """Refuse inputs that the table of predictions could not hold."""
    for name in inputs:
        if name in RESULTS:
            raise InputError(
                f"the input {name!r} has the name of a column of the results: rename it in the file."
            )


def choose_places(
    where: Where,
    data: pd.DataFrame,
    inputs: Sequence[str],
    *,
    truth: Truth | None,
    angles: Sequence[float] = (),
    gaps: pd.DataFrame | None = None,
    seed: int = 0,
) -> Places:
    """Choose by the one option that is given.

    `data` and `angles` are those of the rows with an angle, and `gaps` the rows to fill, with all their columns.
    """
    everything = np.arange(len(data), dtype=np.intp)
    if where.at is not None:
        return _from_file(where.at, data, inputs, everything, truth)
    if where.grid is not None:
        return Places("grid", _grid(data, inputs, read_grid(where.grid)), everything)
    if gaps is not None:
        frame, notes = _without_results(gaps, "the table")
        return Places("fill", frame, everything, notes=notes)
    share = read_share(where.holdout or "", "--holdout")
    learned, held = split(len(data), share, np.random.default_rng(seed))
    if len(learned) < 2 or not len(held):
        raise InputError(
            f"--holdout {share:g} of {len(data)} rows leaves {len(learned)} to learn from and {len(held)} to predict: "
            "2 and 1 are needed; give more rows, or another share."
        )
    frame = data.iloc[held].reset_index(drop=True)
    frame = frame.drop(columns=[name for name in frame.columns if name in RESULTS])
    frame = frame.assign(observed=np.asarray(angles, dtype=float)[held])
    return Places("holdout", frame, learned, observed="observed")


def _from_file(
    path: str,
    data: pd.DataFrame,
    inputs: Sequence[str],
    everything: NDArray[np.intp],
    truth: Truth | None,
) -> Places:
    frame = read_file(path)
    rows = complete_rows(frame, list(inputs), path=path)
    places = frame.iloc[rows.kept].reset_index(drop=True)
    for name in inputs:
        if not is_number(data[name]):
            continue  # categories stay as they are written
        if not is_number(rows.frame[name]):
            where = place_in_file(path, int(rows.kept[0]), len(frame))
            raise InputError(
                f"{where} holds {places[name].iloc[0]!r} in column {name!r}, which holds numbers in the table that is "
                "learned from: give numbers."
            )
        places[name] = rows.frame[name]
    notes = [f"Of {path}: {sentence}" for sentence in rows.sentences()]
    observed = None
    if truth is not None and (truth.needed or truth.column in frame.columns):
        known = _known(path, places, truth)
        observed = truth.column if known.any() else None
        notes += _scored(path, truth.column, known)
        seen = known & _same_inputs(places, data, inputs)
        if seen.any():
            notes.append(
                f"Of the scored rows {int(seen.sum())} have inputs that are learned from too: their scores are not "
                "those of new locations."
            )
    places, replaced = _without_results(places, path, keep=observed)
    source = {"file": path, "rows": len(frame), "digest": digest(frame)}
    return Places("at", places, everything, observed, source, (*notes, *replaced))


def _without_results(
    frame: pd.DataFrame, path: str, keep: str | None = None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Drop columns that have the names of results, and say so."""
    replaced = [str(name) for name in frame.columns if name in RESULTS and name != keep]
    if not replaced:
        return frame, ()
    note = f"Of {path}: the columns {', '.join(replaced)} are replaced by those of the results."
    return frame.drop(columns=replaced), (note,)


def _known(path: str, places: pd.DataFrame, truth: Truth) -> NDArray[np.bool_]:
    """In which rows of a file the angle is known; angles that cannot be those of the period are refused."""
    column = truth.column
    if column not in places.columns:
        raise InputError(
            f"--angle is {column!r}, but {path} has no such column: name the column of {path} that holds the true "
            "angles, or leave --angle out."
        )
    if column in RESULTS and column != "observed":
        raise InputError(
            f"the column {column!r} of {path} holds the true angles and has the name of a column of the results: "
            "rename it in the files."
        )
    values = Sheet.of(places[[column]]).known(column)
    known = ~np.isnan(values)
    if not known.any():
        return known
    low, high = float(values[known].min()), float(values[known].max())
    if not fits(low, high, truth.period):
        raise InputError(
            f"the column {column!r} of {path} has values from {low:g} to {high:g}, which are not angles of the period "
            f"{truth.period:g} of those that are learned from: give them in the same unit, or leave the column out."
        )
    return known


def _scored(path: str, column: str, known: NDArray[np.bool_]) -> list[str]:
    """Say which rows of a file are scored."""
    count, total = int(known.sum()), len(known)
    if not count:
        return [f"{path} holds the column {column!r}, but no number in it, so that nothing is scored."]
    if count == total:
        return [
            f"{path} holds the column {column!r}, so that the predictions of its {_rows(total)} are scored."
        ]
    return [
        f"{path} holds the column {column!r}, so that the predictions of {count} of its {_rows(total)} are scored; in "
        "the others it is blank or no number."
    ]


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _same_inputs(places: pd.DataFrame, data: pd.DataFrame, inputs: Sequence[str]) -> NDArray[np.bool_]:
    """Which rows have the inputs of a row that is learned from."""
    names = list(inputs)
    learned = pd.MultiIndex.from_frame(data[names])
    return np.asarray(pd.MultiIndex.from_frame(places[names]).isin(learned))


def is_number(column: "pd.Series[Any]") -> bool:
    """Whether a column holds numbers; true and false are categories.

    >>> is_number(pd.Series([1, 2])), is_number(pd.Series([True])), is_number(pd.Series(["a"]))
    (True, False, False)
    """
    kinds = pd.api.types
    return bool(kinds.is_numeric_dtype(column.dtype) and not kinds.is_bool_dtype(column.dtype))


def _grid(data: pd.DataFrame, inputs: Sequence[str], sizes: tuple[int, int]) -> pd.DataFrame:
    """A regular grid over the box of the observed locations; the first input changes fastest."""
    numeric = [name for name in inputs if is_number(data[name])]
    if len(inputs) != 2 or len(numeric) != 2:
        raise InputError(
            f"--grid needs exactly two inputs of numbers, but the inputs are {', '.join(inputs)}: give the locations "
            "in a file with --at."
        )
    first, second = (
        np.linspace(float(data[name].min()), float(data[name].max()), size)
        for name, size in zip(inputs, sizes, strict=True)
    )
    columns = np.meshgrid(first, second)
    return pd.DataFrame({name: column.reshape(-1) for name, column in zip(inputs, columns, strict=True)})
