"""The cells of one column: numbers, or words that name categories, or an error that names the row.

>>> where = Where("X", 0, "lon")
>>> read_numbers(np.array([1, 2.5], dtype=object), where).tolist()
[1.0, 2.5]
>>> read_cells(np.array(["salt", "sand"], dtype=object), where)
['salt', 'sand']
>>> read_cells(np.array(["8.1", "n/a", "9.9"], dtype=object), where)
Traceback (most recent call last):
vmqp.errors.InputError: row 1 of column 'lon' holds 'n/a' (X, position 0), but the column is mostly numbers: drop
the row or give a number; for labels, make the column a category.
"""

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.tables.words import shown

__all__ = ["Where", "as_number", "read_cells", "read_numbers", "read_words", "sort_of"]

_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_DATE_TEXT = re.compile(r"\s*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}:\d\d)")
_DATE_REMEDY = "convert dates and times to a number, such as days or hours since the first."


@dataclass(frozen=True)
class Where:
    """A column of a table, or the only one of a vector, as messages name it."""

    table: str
    position: int | None = None
    name: str | None = None

    def __str__(self) -> str:
        if self.position is None:
            return self.table
        if self.name is None:
            return f"column {self.position} of {self.table}"
        return f"column {self.name!r} ({self.table}, position {self.position})"

    def cell(self, row: int, value: Any) -> str:
        """Say what a row holds."""
        if self.position is None:
            return f"row {row} of {self.table} holds {shown(value)}"
        column, aside = (
            (self.position, "") if self.name is None else (repr(self.name), f", position {self.position}")
        )
        return f"row {row} of column {column} holds {shown(value)} ({self.table}{aside})"


def read_numbers(values: NDArray[Any], where: Where) -> FloatArray:
    """Return the cells as finite floats; text, dates, blanks and anything else are errors that name the row.

    >>> read_numbers(np.array([1.0, np.nan]), Where("X", 0))
    Traceback (most recent call last):
    vmqp.errors.InputError: row 1 of column 0 holds NaN (X), where a finite number is needed: drop the row or fill
    in a value.
    """
    if values.dtype.kind == "c":
        raise InputError(
            f"Complex data not supported: {where} holds complex numbers; give their real and imaginary parts."
        )
    if values.dtype.kind in "fiub":
        with np.errstate(over="ignore"):  # a longer float may become infinite, which the next line sees
            numbers = values.astype(np.float64)
    else:
        numbers = np.array(
            [_number(cell, row, where) for row, cell in enumerate(_objects(values))], dtype=float
        )
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{where.cell(row, values[row])}, where a finite number is needed: drop the row or fill in a value."
        )
    return numbers


def read_words(values: NDArray[Any], where: Where) -> list[str]:
    """Return the cells as names of categories: text, or True and False. Anything else is an error.

    >>> read_words(np.array(["F", 3], dtype=object), Where("X_new", 2, "sex"))
    Traceback (most recent call last):
    vmqp.errors.InputError: row 1 of column 'sex' holds 3 (X_new, position 2), where the name of a category is
    needed: give text, or make the column a category.
    """
    words = []
    for row, cell in enumerate(_objects(values)):
        sort = sort_of(cell)
        if sort == "missing":
            raise InputError(f"{where.cell(row, cell)}, which is missing: drop the row or name a category.")
        if sort not in ("text", "true or false"):
            raise InputError(
                f"{where.cell(row, cell)}, where the name of a category is needed: "
                "give text, or make the column a category."
            )
        words.append(str(cell).strip())
    return words


def read_cells(values: NDArray[Any], where: Where) -> FloatArray | list[str]:
    """Return numbers where the cells are numbers, and words where they are text, or True and False.

    Text is refused where it is likely to be an accident: numbers or dates as text, and blanks.
    """
    if values.dtype.kind in "fiuc":
        return read_numbers(values, where)
    sorts = [sort_of(cell) for cell in _objects(values)]
    if set(sorts) == {"true or false"}:
        return read_words(values, where)
    if "text" not in sorts:
        return read_numbers(values, where)
    _refuse_accidents(values, sorts, where)
    return read_words(values, where)


def sort_of(cell: Any) -> str:
    """Return what a cell is: missing, text, a number, true or false, a date, a complex number, or something else.

    >>> [sort_of(cell) for cell in (None, "a", " ", 3, True, 1j, b"a", [1])]
    ['missing', 'text', 'missing', 'number', 'true or false', 'complex number', 'something else', 'something else']
    """
    if isinstance(cell, str):  # the two that are met a million times come first
        return "missing" if cell == "" or cell.isspace() else "text"
    if isinstance(cell, float):
        return "missing" if cell != cell else "number"
    if cell is None or cell is np.ma.masked or type(cell).__name__ in ("NAType", "NaTType"):
        return "missing"
    if isinstance(cell, bool | np.bool_):
        return "true or false"
    if isinstance(cell, _DATES) or type(cell).__name__ == "Period":
        return "date"
    if isinstance(cell, np.floating | Decimal):
        nan = cell.is_nan() if isinstance(cell, Decimal) else math.isnan(cell)
        return "missing" if nan else "number"
    if isinstance(cell, Real):
        return "number"
    if isinstance(cell, complex | np.complexfloating):
        return "complex number"
    lone = hasattr(type(cell), "__float__") and not hasattr(type(cell), "__len__")
    return "number" if lone else "something else"


def as_number(text: str) -> float | None:
    """Return the finite number that a text spells, or None.

    >>> as_number(" 8.25 "), as_number("nan"), as_number("1_000")
    (8.25, None, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) and "_" not in text else None


def _number(cell: Any, row: int, where: Where) -> float:
    sort = sort_of(cell)
    if sort in ("number", "true or false"):
        try:
            return float(cell)
        except OverflowError:
            raise InputError(f"{where.cell(row, cell)}, which is too large: rescale the column.") from None
        except Exception:  # a __float__ of somebody else may raise anything
            sort = "something else"
    held = where.cell(row, cell)
    if sort == "missing":
        raise InputError(f"{held}, which is missing: drop the row or fill in a value.")
    if sort == "text":
        raise InputError(
            f"{held}, which is text, where a number is needed: drop the row or give a number; "
            "columns of text are taken as categories in frames."
        )
    if sort == "date":
        raise InputError(f"{held}, which is a date or a time: {_DATE_REMEDY}")
    if sort == "complex number":
        raise InputError(f"Complex data not supported: {held}; give real and imaginary parts.")
    raise InputError(
        f"{held}, of type {type(cell).__name__}, where a number is needed: give one number a cell."
    )


def _refuse_accidents(values: NDArray[Any], sorts: Sequence[str], where: Where) -> None:
    """Refuse a column with text in it that is not wholly words."""
    words = [row for row, sort in enumerate(sorts) if sort == "text"]
    different = {str(values[row]) for row in words}
    spelled = {text for text in different if as_number(text) is not None}
    numbers = [row for row, sort in enumerate(sorts) if sort == "number"]
    plain = [row for row in words if str(values[row]) not in spelled]
    if 2 * len(plain) <= len(words) + len(numbers):
        if plain:
            raise InputError(
                f"{where.cell(plain[0], values[plain[0]])}, but the column is mostly numbers: drop the row or "
                "give a number; for labels, make the column a category."
            )
        raise InputError(
            f"{where.cell(words[0], values[words[0]])}, which is a number written as text: "
            "convert the column to numbers; for labels, make it a category."
        )
    if numbers:
        raise InputError(
            f"{where.cell(numbers[0], values[numbers[0]])}, but the column is mostly text: "
            "make it all text for categories, or all numbers."
        )
    if all(map(_DATE_TEXT.match, different)):
        raise InputError(
            f"{where.cell(words[0], values[words[0]])}, which looks like a date or a time: {_DATE_REMEDY}"
        )


def _objects(values: NDArray[Any]) -> list[Any]:
    """Return the cells as Python objects; dates stay dates, whose integers `tolist` would give."""
    return list(values) if values.dtype.kind in "Mm" else values.tolist()
