"""From a file's table to the rows that can be used: which columns, which rows are dropped, and why.

>>> frame = pd.DataFrame({"lon": [8.1, 9.9, 9.0], "lat": [50.0, 52.5, 51.0], "dir": [350.0, None, 10.0]})
>>> chosen = choose(frame, "dir", ["lon", "lat"])
>>> chosen.angles.tolist(), chosen.kept.tolist()
([350.0, 10.0], [0, 2])
>>> chosen.dropped
("1 of 3 rows was dropped because 'dir' is blank.",)
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.tables.cells import as_number, sort_of
from vmqp.tables.delimited import MISSING
from vmqp.tables.files import place_in_file
from vmqp.tables.words import listed, nearest, shown

__all__ = ["Chosen", "Rows", "choose", "complete_rows"]


@dataclass(frozen=True, eq=False)
class Rows:
    """The complete rows of some columns; made by `complete_rows`.

    >>> rows = complete_rows(pd.DataFrame({"lon": [8.1, None], "lat": [50.0, 52.5]}), ["lon", "lat"])
    >>> rows.kept.tolist(), rows.sentences()
    ([0], ("1 of 2 rows was dropped because 'lon' is blank.",))
    """

    frame: pd.DataFrame  # numbers as numbers, text without blanks around it; rows numbered anew
    kept: NDArray[np.intp]  # their row numbers in the file, from 0
    dropped: dict[str, int]  # reason -> number of rows

    def sentences(self) -> tuple[str, ...]:
        """Say how many rows were dropped, and why."""
        total = len(self.kept) + sum(self.dropped.values())
        return tuple(
            f"{count} of {total} rows {'was' if count == 1 else 'were'} dropped because {reason}."
            for reason, count in self.dropped.items()
        )


@dataclass(frozen=True, eq=False)
class Chosen:
    """Inputs and angles of the complete rows of a file; made by `choose`.

    >>> chosen = choose(pd.DataFrame({"lon": [8.1, 9.9], "dir": [350.0, 10.0]}), "dir")
    >>> list(chosen.inputs), chosen.angles.tolist(), chosen.dropped
    (['lon'], [350.0, 10.0], ())
    """

    inputs: pd.DataFrame
    angles: FloatArray
    kept: NDArray[np.intp]  # their row numbers in the file, from 0
    dropped: tuple[str, ...]  # sentences


def choose(
    frame: pd.DataFrame, angle: str, inputs: Sequence[str] | None = None, *, path: str | os.PathLike[str] = ""
) -> Chosen:
    """Choose the column of angles and those of the inputs (None: all columns of numbers) and drop rows with blanks.

    `path` is the file that the frame was read from, for messages.

    >>> choose(pd.DataFrame({"lon": [8.1], "wind_dir": [350]}), "winddir")
    Traceback (most recent call last):
    vmqp.errors.InputError: the table has no column 'winddir': did you mean 'wind_dir'? The columns are 'lon',
    'wind_dir'.
    """
    _check_columns(frame, [angle], path)
    columns = _numeric(frame, angle) if inputs is None else _as_list(inputs)
    if not columns:
        raise InputError(f"{_table(path)} has no columns of numbers beside {angle!r}: name the inputs.")
    if angle in columns:
        raise InputError(f"{angle!r} is both the angle and an input: leave it out of the inputs.")
    _check_columns(frame, columns, path)
    rows = _complete(frame, [angle, *columns], path, numbers=(angle,))
    angles = rows.frame[angle].to_numpy(dtype=np.float64)
    return Chosen(rows.frame[columns], angles, rows.kept, rows.sentences())


def complete_rows(frame: pd.DataFrame, columns: Sequence[str], *, path: str | os.PathLike[str] = "") -> Rows:
    """Choose columns and drop the rows in which one of them is blank.

    >>> rows = complete_rows(pd.DataFrame({"lon": ["8.1", "NA"], "name": ["Bergen", "Celle"]}), ["lon"])
    >>> rows.frame["lon"].tolist(), rows.dropped
    ([8.1], {"'lon' is blank": 1})
    """
    names = _as_list(columns)
    _check_columns(frame, names, path)
    return _complete(frame, names, path)


def _complete(
    frame: pd.DataFrame, columns: Sequence[str], path: str | os.PathLike[str], numbers: Sequence[str] = ()
) -> Rows:
    taken: dict[str, pd.Series] = {}
    left = np.ones(len(frame), dtype=bool)
    dropped: dict[str, int] = {}
    for column in columns:
        series = _read_column(frame[column].reset_index(drop=True), column, path, column in numbers)
        blank = series.isna().to_numpy(dtype=bool)
        count = int(np.count_nonzero(blank & left))
        if count:
            dropped[f"{column!r} is blank"] = count
        left &= ~blank
        taken[column] = series
    if not left.any():
        reasons = ", ".join(f"{reason} in {count}" for reason, count in dropped.items())
        raise InputError(
            f"{_table(path)} has no row in which none of the columns {listed(columns)} is blank ({reasons}): "
            "choose other columns."
        )
    kept = np.flatnonzero(left)
    return Rows(pd.DataFrame(taken).iloc[kept].reset_index(drop=True), kept, dropped)


def _read_column(series: pd.Series, column: str, path: str | os.PathLike[str], numbers: bool) -> pd.Series:
    """Return numbers where the cells are numbers, also as text, and otherwise the cells; NaN or None for blanks."""
    logical = pd.api.types.is_bool_dtype(series.dtype)
    if pd.api.types.is_numeric_dtype(series.dtype) and not logical:
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise InputError(
                _cell(series, row, column, path) + ", which is infinite: correct or delete the line."
            )
        return series
    if not (pd.api.types.is_object_dtype(series.dtype) or pd.api.types.is_string_dtype(series.dtype)):
        if numbers:
            raise InputError(
                f"column {column!r} of {_table(path)} holds values of type {series.dtype}, where angles are needed: "
                "choose another column."
            )
        return series
    cells, values = _parsed(series)
    strange = [row for row, cell in enumerate(cells) if cell is not None and values[row] is None]
    if not strange:
        return pd.Series(values, dtype=np.float64)
    if numbers or 2 * len(strange) <= sum(cell is not None for cell in cells):
        raise InputError(
            _cell(series, strange[0], column, path)
            + ", where a number is needed: correct the cell or leave it blank."
        )
    return pd.Series(cells, dtype=object)


def _parsed(series: pd.Series) -> tuple[list[Any], list[float | None]]:
    """Return the cells, None for blanks, and the numbers that they are or spell, None for none."""
    cells = [_stripped(cell) for cell in series.tolist()]
    spelled = {text: as_number(text) for text in {cell for cell in cells if isinstance(cell, str)}}
    return cells, [spelled[cell] if isinstance(cell, str) else _as_float(cell) for cell in cells]


def _stripped(cell: Any) -> Any:
    """Return text without blanks around it, and None for a missing value."""
    if sort_of(cell) == "missing":
        return None
    text = cell.strip() if isinstance(cell, str) else cell
    return None if isinstance(text, str) and text in MISSING else text


def _as_float(cell: Any) -> float | None:
    if sort_of(cell) != "number":
        return None
    try:
        number = float(cell)
    except Exception:  # too large, or a __float__ of somebody else
        return None
    return number if np.isfinite(number) else None


def _cell(series: pd.Series, row: int, column: str, path: str | os.PathLike[str]) -> str:
    place = place_in_file(path, row, len(series))
    return f"{place} holds {shown(series.iloc[row])} in column {column!r}"


def _numeric(frame: pd.DataFrame, angle: str) -> list[str]:
    """Return the columns that hold numbers, also with some text by accident, which is then an error."""
    return [column for column in frame.columns if column != angle and _mostly_numbers(frame[column])]


def _mostly_numbers(series: pd.Series) -> bool:
    if pd.api.types.is_bool_dtype(series.dtype):
        return False
    if pd.api.types.is_numeric_dtype(series.dtype):
        return bool(series.notna().any())
    if not (pd.api.types.is_object_dtype(series.dtype) or pd.api.types.is_string_dtype(series.dtype)):
        return False
    cells, values = _parsed(series)
    numbers, filled = sum(value is not None for value in values), sum(cell is not None for cell in cells)
    return filled > 0 and 2 * numbers >= filled


def _check_columns(frame: pd.DataFrame, columns: Sequence[str], path: str | os.PathLike[str]) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            f"a pandas frame is needed but {shown(frame)} was given: read the file with read_file."
        )
    for column in columns:
        if column not in frame.columns:
            near = nearest(str(column), map(str, frame.columns))
            raise InputError(
                f"{_table(path)} has no column {column!r}: did you mean {near!r}? "
                f"The columns are {listed(map(str, frame.columns), most=30)}."
            )


def _as_list(columns: Sequence[str]) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or len(set(names)) != len(names):
        raise InputError(f"the columns {names} were given: name at least one, and each of them once.")
    return names


def _table(path: str | os.PathLike[str]) -> str:
    return Path(path).name or "the table"
