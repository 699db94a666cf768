"""The inputs: arrays, pandas or polars frames become a table of floats, with column names and categories.

Text, categorical and boolean columns of a frame become codes 0, 1, ... of their categories, in alphabetical order;
kernels only ask whether two codes are equal.

>>> import pandas
>>> X = pandas.DataFrame({"temperature": [17.2, 19.0, 21.5], "species": ["salt", "sand", "salt"]})
>>> table = read_inputs(X)
>>> table.names, table.categories, table.values[:, 1].tolist()
(('temperature', 'species'), {1: ('salt', 'sand')}, [0.0, 1.0, 0.0])
>>> new = pandas.DataFrame({"species": ["dune"], "temperature": [20], "remark": [None]})
>>> read_new_inputs(new, table).values.tolist()
[[20.0, 2.0]]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.tables.cells import Where, read_cells, read_numbers, read_words
from vmqp.tables.source import Source, read_source
from vmqp.tables.words import listed, nearest

__all__ = ["Table", "constant_columns", "read_inputs", "read_new_inputs"]


@dataclass(frozen=True, eq=False)
class Table:
    """Checked inputs: finite floats, (rows, columns), at least one of each; made by `read_inputs`.

    >>> table = read_inputs([[8.1, 50.0], [9.9, 52.5]])
    >>> table.values.shape, table.names, table.kind
    ((2, 2), None, 'numpy')
    """

    values: FloatArray
    names: tuple[str, ...] | None  # None for plain arrays
    categories: dict[int, tuple[str, ...]]  # of the columns that hold codes 0, 1, ...: what the codes mean
    kind: str  # "numpy", "pandas" or "polars": what results should come back as

    def label(self, position: int) -> str:
        """Return the column's name, or its position where columns have no names.

        >>> read_inputs([[1.0, 2.0]]).label(1)
        '1'
        """
        return str(position) if self.names is None else self.names[position]


def read_inputs(X: Any, name: str = "X") -> Table:
    """Read the inputs of the observations: a table of rows (places) and columns, as an array or a frame.

    Blanks, infinite values, dates, complex numbers and doubled names are errors that name the row and the column.

    >>> read_inputs([[8.1, 50.0], [9.9, 52.5]]).values.shape
    (2, 2)
    >>> read_inputs([[8.1, 50.0], [9.9, None]])
    Traceback (most recent call last):
    vmqp.errors.InputError: row 1 of column 1 holds None (X), which is missing: drop the row or fill in a value.
    """
    source = read_source(X, name)
    columns: list[FloatArray] = []
    categories: dict[int, tuple[str, ...]] = {}
    for position in range(len(source.columns)):
        cells = _read_column(source, position, source.where(position, name))
        if isinstance(cells, list):
            categories[position] = tuple(sorted(set(cells)))
            columns.append(_codes(cells, categories[position]))
        else:
            columns.append(cells)
    return Table(_joined(columns), source.names, categories, source.kind)


def read_new_inputs(X_new: Any, table: Table, name: str = "X_new") -> Table:
    """Read the inputs of new places, which have the columns of the table.

    The columns of two frames are matched by name, in any order, and those that the table does not have are left
    out; an array is matched by position. Categories that the table does not have get new codes after its own.

    >>> read_new_inputs([[1.0]], read_inputs([[8.1, 50.0]]))
    Traceback (most recent call last):
    vmqp.errors.InputError: X_new has 1 features, but vmqp is expecting 2 features as input: give the same columns
    as in X, in the same order.
    """
    source = read_source(X_new, name)
    columns: list[FloatArray] = []
    categories: dict[int, tuple[str, ...]] = {}
    for position, place in enumerate(_matched(source, table, name)):
        where = source.where(place, name)
        if position in table.categories:
            known = table.categories[position]
            words = read_words(source.cells(place), where)
            categories[position] = known + tuple(sorted(set(words).difference(known)))
            columns.append(_codes(words, categories[position]))
        else:
            columns.append(_read_new_numbers(source, place, where))
    return Table(_joined(columns), table.names, categories, source.kind)


def constant_columns(table: Table, new: Table | None = None) -> tuple[int, ...]:
    """Return the positions of the columns that hold one and the same value in all rows of both tables.

    >>> table = read_inputs([[1.0, 5.0], [2.0, 5.0]])
    >>> constant_columns(table), constant_columns(table, read_new_inputs([[1.0, 6.0]], table))
    ((1,), ())
    """
    values = table.values if new is None else np.concatenate([table.values, new.values])
    return tuple(int(position) for position in np.flatnonzero((values == values[0]).all(axis=0)))


def _read_column(source: Source, position: int, where: Where) -> FloatArray | list[str]:
    cells = source.cells(position)
    if source.is_category(position):
        return read_words(cells, where)
    return read_numbers(cells, where) if source.kind == "numpy" else read_cells(cells, where)


def _read_new_numbers(source: Source, place: int, where: Where) -> FloatArray:
    if source.is_category(place):
        raise InputError(f"{where} holds categories, but in X the column holds numbers: give numbers.")
    return read_numbers(source.cells(place), where)


def _matched(source: Source, table: Table, name: str) -> Sequence[int]:
    """Return for each column of the table its position in the source."""
    expected = table.values.shape[1]
    if source.names is None or table.names is None:
        if len(source.columns) != expected:
            # scikit-learn's own checks look for this wording.
            raise InputError(
                f"{name} has {len(source.columns)} features, but vmqp is expecting {expected} features as input: "
                "give the same columns as in X, in the same order."
            )
        return range(expected)
    missing = [column for column in table.names if column not in source.names]
    if missing:
        spare = [column for column in source.names if column not in table.names]
        near = nearest(missing[0], spare)
        raise InputError(
            f"{name} has no column {listed(missing)}, which X has; its columns are {listed(source.names)}: "
            + (f"did you mean {near!r}? Rename it." if near else "add the column.")
        )
    return [source.names.index(column) for column in table.names]


def _codes(words: Sequence[str], categories: Sequence[str]) -> FloatArray:
    code = {category: number for number, category in enumerate(categories)}
    return np.array([code[word] for word in words], dtype=np.float64)


def _joined(columns: Sequence[NDArray[np.float64]]) -> FloatArray:
    """Return the columns side by side, in memory of their own."""
    return np.ascontiguousarray(np.stack(columns, axis=1))
