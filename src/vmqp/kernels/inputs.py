"""The inputs as kernels see them: a float array with or without column names.

>>> inputs = Inputs.check([[0.0, 1.0], [2.0, 3.0]], ["east", "north"])
>>> inputs.indices(("north",))
[1]
>>> inputs.label(1)
'north'
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import numpy.typing as npt

from vmqp.circle import FloatArray
from vmqp.errors import InputError

__all__ = ["Column", "Columns", "Inputs", "as_columns", "check_pairs"]

Column = str | int
Columns = Column | Sequence[Column] | None


@dataclass(frozen=True, eq=False)
class Inputs:
    """Checked inputs, (d, p), and the names of their columns, if they have any."""

    X: FloatArray
    names: tuple[str, ...] | None

    @classmethod
    def check(cls, X: npt.ArrayLike, column_names: Sequence[str] | None) -> "Inputs":
        """Check that X is a finite table and that each of its columns has one name, or none has."""
        array = np.asarray(X, dtype=np.float64)
        if array.ndim != 2 or array.size == 0:
            raise InputError(
                f"inputs of shape {array.shape} were given: give a table of d rows and p columns; "
                "a single column is X[:, None]."
            )
        if not np.isfinite(array).all():
            row, column = np.argwhere(~np.isfinite(array))[0]
            raise InputError(
                f"the inputs have {array[row, column]} at row {row}, column {column}: "
                "remove that row or fill in a finite value."
            )
        if column_names is None:
            return cls(array, None)
        names = tuple(str(name) for name in column_names)
        if len(names) != array.shape[1] or len(set(names)) != len(names):
            raise InputError(
                f"the column names {list(names)} were given for {array.shape[1]} columns: "
                "give each column one name of its own."
            )
        return cls(array, names)

    def indices(self, columns: tuple[Column, ...] | None) -> list[int]:
        """Return the positions of the columns in X; None stands for all of them."""
        if columns is None:
            return list(range(self.X.shape[1]))
        indices = [self._index(column) for column in columns]
        if len(set(indices)) != len(indices):
            raise InputError(f"columns={list(columns)} names a column twice: name each column once.")
        return indices

    def label(self, index: int) -> str:
        """Return the column's name, or its position where columns have no names."""
        return str(index) if self.names is None else self.names[index]

    def _index(self, column: Column) -> int:
        if isinstance(column, int):
            if 0 <= column < self.X.shape[1]:
                return column
            raise InputError(
                f"column {column} was asked for, but the inputs have {self.X.shape[1]} columns: "
                f"give a position from 0 to {self.X.shape[1] - 1}."
            )
        if self.names is None:
            raise InputError(
                f"column {column!r} was asked for, but the inputs have no column names: "
                "give a frame, column names, or the column's position."
            )
        if column in self.names:
            return self.names.index(column)
        near = difflib.get_close_matches(column, self.names, n=1, cutoff=0.0)
        raise InputError(
            f"column {column!r} was asked for, but the columns are {list(self.names)}: "
            f"did you mean {near[0]!r}?"
        )


def as_columns(columns: object) -> tuple[Column, ...] | None:
    """Turn a name, a position or a list of them into a tuple; None stays None, for all columns."""
    if columns is None:
        return None
    listed = [columns] if isinstance(columns, str | Integral) else columns
    if not isinstance(listed, Sequence | np.ndarray) or len(listed) == 0:
        raise InputError(f"columns={columns!r} was given: give a list of column names or positions.")
    result: list[Column] = []
    for column in listed:
        if isinstance(column, bool) or not isinstance(column, str | Integral):
            raise InputError(f"the column {column!r} was given: give its name or its position, from 0.")
        result.append(str(column) if isinstance(column, str) else int(column))
    return tuple(result)


def check_pairs(
    rows: npt.ArrayLike, cols: npt.ArrayLike, d: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Check that the pairs of rows are positions in a table of d rows."""
    first, second = np.asarray(rows), np.asarray(cols)
    for name, index in (("rows", first), ("cols", second)):
        if not np.issubdtype(index.dtype, np.integer):
            raise InputError(f"{name} of type {index.dtype} was given: give an array of integers.")
        if index.size and not (index.min() >= 0 and index.max() < d):
            raise InputError(f"{name} goes from {index.min()} to {index.max()}: give rows from 0 to {d - 1}.")
    if first.shape != second.shape:
        raise InputError(f"rows and cols have shapes {first.shape} and {second.shape}: give equal shapes.")
    return first.astype(np.intp), second.astype(np.intp)
