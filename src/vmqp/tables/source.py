"""What a person gives, taken apart into columns: arrays, lists of rows, pandas and polars frames and series.

Frames go through narwhals, so that neither pandas nor polars has to be there. What becomes of the cells is decided
by :mod:`vmqp.tables.cells`.

>>> source = read_source([[1, 2.5], [3, 4.5]], "X")
>>> source.cells(1).tolist(), source.names, source.kind
([2.5, 4.5], None, 'numpy')
>>> read_source([1, 2, 3], "X")
Traceback (most recent call last):
vmqp.errors.InputError: X has one dimension, of 3 values, where a table of rows and columns is needed. Reshape your
data: X[:, None] is a table of one column.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from vmqp.errors import InputError
from vmqp.tables.cells import Where, sort_of
from vmqp.tables.words import listed, shown

__all__ = ["Source", "read_single", "read_source", "take_rows"]

_NUMBERS = (
    nw.Int8,
    nw.Int16,
    nw.Int32,
    nw.Int64,
    nw.UInt8,
    nw.UInt16,
    nw.UInt32,
    nw.UInt64,
    nw.Float32,
    nw.Float64,
)
_CATEGORIES = (nw.Categorical, nw.Enum, nw.Boolean)


class Source(NamedTuple):
    """Columns as they were given; the cells of a frame are taken out when they are asked for."""

    columns: "list[NDArray[Any]] | list[nw.Series[Any]]"
    names: tuple[str, ...] | None
    kind: str  # "numpy", "pandas" or "polars"

    def cells(self, position: int) -> NDArray[Any]:
        """Return a column as an array of numbers or of objects; words of a category as text."""
        column = self.columns[position]
        if isinstance(column, np.ndarray):
            return column
        if column.dtype in _NUMBERS:
            return np.asarray(column.to_numpy())
        cells = column.to_list()
        if self.is_category(position):
            cells = [None if sort_of(cell) == "missing" else str(cell) for cell in cells]
        return _objects(cells)

    def is_category(self, position: int) -> bool:
        """Tell whether a frame itself calls the column a category, or true and false."""
        column = self.columns[position]
        return not isinstance(column, np.ndarray) and column.dtype in _CATEGORIES

    def where(self, position: int, table: str) -> Where:
        """Return the column's place, for messages."""
        return Where(table, position, None if self.names is None else self.names[position])


def read_source(data: Any, name: str) -> Source:
    """Take a table apart; it has at least one row and one column."""
    source = _read_frame(data, name)
    if source is None:
        array = _read_array(data, name)
        if array.ndim == 1 and len(array):
            raise InputError(
                f"{name} has one dimension, of {len(array)} values, where a table of rows and columns is needed. "
                f"Reshape your data: {name}[:, None] is a table of one column."
            )
        if array.ndim > 2:
            raise InputError(
                f"{name} has {array.ndim} dimensions, {array.shape}, where a table of rows and columns is needed: "
                "give one row for each place."
            )
        if array.size == 0:
            raise _empty(name, array.shape)
        source = _from_array(array)
    return source


def read_single(data: Any, name: str) -> Source:
    """Take a vector apart, or a table of one column; it has at least one row.

    >>> read_single([[1.0], [2.0]], "y").cells(0).tolist()
    [1.0, 2.0]
    """
    if data is None:
        # The words in the middle are those that scikit-learn's own checks look for.
        raise InputError(
            f"regression requires {name} to be passed, but the target {name} is None: give one value for each row."
        )
    source = _read_frame(data, name)
    if source is None:
        array = _read_array(data, name)
        if array.size == 0:
            raise _empty(name, array.shape)
        if array.ndim > 2:
            raise InputError(
                f"{name} has {array.ndim} dimensions, {array.shape}: give one value for each row."
            )
        source = _from_array(array if array.ndim == 2 else array[:, None])
    if len(source.columns) != 1:
        what = "" if source.names is None else f" ({listed(source.names)})"
        raise InputError(
            f"{name} has {len(source.columns)} columns{what}, where one is needed: choose one of them."
        )
    return source


def take_rows(data: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of an array, a list, or a frame of pandas or polars, as what it is.

    >>> take_rows([350.0, 10.0, 20.0], np.array([0, 2]))
    [350.0, 20.0]
    """
    native = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native[rows.tolist()].to_native()
    return [data[row] for row in rows] if isinstance(data, list | tuple) else np.asarray(data)[rows]


def _empty(name: str, shape: Sequence[int]) -> InputError:
    if shape[0] == 0:
        return InputError(f"{name} has no rows: give at least one.")
    # The words in the middle are those that scikit-learn's own checks look for.
    return InputError(
        f"{name} has 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required. Give at least one column."
    )


def _from_array(array: NDArray[Any]) -> Source:
    return Source(list(array.T), None, "numpy")


def _read_frame(data: Any, name: str) -> Source | None:
    """Take a frame or a series apart; return None for anything else."""
    if type(data) in (np.ndarray, list, tuple):  # surely none: a query of one row waits for this
        return None
    try:
        native = nw.from_native(data, allow_series=True, pass_through=True)
    except Exception as error:  # narwhals names doubled columns; other objects may raise anything
        raise InputError(_why_not(data, name, error)) from error
    if isinstance(native, nw.LazyFrame):
        raise InputError(f"{name} is a lazy frame, whose rows are not there yet: give {name}.collect().")
    if not isinstance(native, nw.DataFrame | nw.Series):
        return None
    kind = "polars" if native.implementation.is_polars() else "pandas"
    names: tuple[str, ...] | None
    if isinstance(native, nw.Series):
        series = [native]
        names = None if native.name is None or str(native.name) == "" else (str(native.name),)
    else:
        names = tuple(str(column) for column in native.columns)
        _check_names(names, name)
        series = [native[:, position] for position in range(len(names))]
    if not series or len(series[0]) == 0:
        raise _empty(name, (len(native), len(series)))
    return Source(series, names, kind)


def _why_not(data: Any, name: str, error: Exception) -> str:
    columns = getattr(data, "column_names", getattr(data, "columns", ()))
    try:
        _check_names([str(column) for column in columns], name)
    except InputError as doubled:
        return str(doubled)
    except Exception:  # the columns of an object that is no frame
        return f"{name} of type {type(data).__name__} cannot be read: give an array or a frame."
    return (
        f"{name} of type {type(data).__name__} cannot be read ({str(error)[:200]}): give an array or a frame."
    )


def _check_names(names: Sequence[str], table: str) -> None:
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        positions = [position for position, name in enumerate(names) if name == doubled[0]]
        raise InputError(
            f"{table} has {len(positions)} columns with the name {shown(doubled[0])}, at positions "
            f"{', '.join(map(str, positions[:5]))}: give each column a name of its own."
        )


def _objects(cells: Sequence[Any]) -> NDArray[Any]:
    """Return an array of the objects themselves; `numpy.array` would open those that are sequences."""
    array = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):
        array[row] = cell
    return array


def _read_array(data: Any, name: str) -> NDArray[Any]:
    """Return an array of one or more dimensions, of numbers or of objects."""
    if isinstance(data, list | tuple):
        return _read_rows(data, name)
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise InputError(f"{name} is a sparse matrix, which is not supported: give {name}.toarray().")
    arrays = hasattr(data, "__array__") or hasattr(data, "__array_interface__")
    if isinstance(data, str | bytes | bytearray) or not (arrays or isinstance(data, memoryview)):
        raise InputError(
            f"{name} is {shown(data)}, of type {type(data).__name__}, and not a table: give an array or a frame."
        )
    try:
        array = _unmasked(data) if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    except Exception as error:  # an __array__ of somebody else may raise anything
        raise InputError(
            f"{name} of type {type(data).__name__} does not become an array ({str(error)[:200]}): give an array."
        ) from error
    if array.ndim == 0:
        raise InputError(f"{name} is {shown(data)}, a single value: give an array or a frame.")
    return array


def _unmasked(data: "np.ma.MaskedArray[Any, Any]") -> NDArray[Any]:
    """Return the array with None at the masked entries, which are missing."""
    masked = np.ma.getmaskarray(data)
    if not masked.any():
        return np.asarray(data.data)
    cells = data.data.astype(object)
    cells[masked] = None
    return cells


def _read_rows(data: Sequence[Any], name: str) -> NDArray[Any]:
    """Return the array of a list of values or of a list of rows.

    numpy would make text of the numbers beside a text, and look for tables within tables without end.
    """
    if not data:
        return np.empty((0,))
    rows = [_cells_of(row) for row in data]
    sizes = ["a single value" if row is None else f"{len(row)} values" for row in rows]
    for number, size in enumerate(sizes):
        if size != sizes[0]:
            raise InputError(
                f"row 0 of {name} has {sizes[0]} and row {number} has {size}: give every row the same columns."
            )
    if rows[0] is None:
        return _numbers_or_objects(list(data))
    cells = [cell for row in rows for cell in row or ()]
    return _numbers_or_objects(cells).reshape(len(rows), len(rows[0]))


def _cells_of(row: Any) -> Sequence[Any] | None:
    """Return the cells of a row, or None for a value that is no row."""
    if isinstance(row, list | tuple):
        return row
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return list(row)
    return None


def _numbers_or_objects(cells: list[Any]) -> NDArray[Any]:
    if all(type(cell) in (float, int, np.float64, np.int64) for cell in cells):
        with suppress(OverflowError):
            return np.array(cells, dtype=np.float64)
    return _objects(cells)
