r"""Tables as text that comes back to the last digit: what a run keeps of its data and places.

A sheet holds the cells as they are written to the file. So a run that is resumed reads what the first one read, and the
rows of the results are the rows that were asked for. Columns of numbers become text only when they are written, some
rows at a time: a map has a million rows.

>>> sheet = Sheet.of(pd.DataFrame({"lon": [0.1 + 0.2, 9.0], "name": ["Bergen", None]}))
>>> sheet.text()
'lon,name\n0.30000000000000004,Bergen\n9.0,\n'
>>> Sheet.parse(sheet.text(), "data.csv").numbers("lon").tolist()
[0.30000000000000004, 9.0]
"""

import csv
import hashlib
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import pandas as pd

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.tables.cells import as_number

__all__ = ["Numbers", "Sheet"]

_ROWS = 20_000  # that are text at a time


class Numbers(Sequence[str]):
    """A column of numbers as cells, with all their digits or with some; a blank for nan.

    >>> list(Numbers(np.array([1.5, np.nan, 2 / 3])))
    ['1.5', '', '0.6666666666666666']
    >>> list(Numbers(np.array([120.0, 2 / 3]), 4))
    ['120', '0.6667']
    """

    def __init__(self, values: FloatArray, digits: int | None = None) -> None:
        self.values, self._digits = np.asarray(values, dtype=np.float64), digits

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self._written(value) for value in self.values[index].tolist()]
        return self._written(float(self.values[index]))

    def _written(self, value: float) -> str:
        if math.isnan(value):
            return ""
        return repr(value) if self._digits is None else f"{value:.{self._digits}g}"


@dataclass(frozen=True, eq=False)
class Sheet:
    """Columns of text cells, all of one length."""

    columns: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> "Sheet":
        """Write the cells of a frame: floats with all their digits, blanks as nothing."""
        return cls({str(name): _column(frame[name]) for name in frame.columns})

    @classmethod
    def parse(cls, text: str, name: str) -> "Sheet":
        """Read what `text` returned; `name` is the file's, for messages."""
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            head = next(rows, [])
            columns: list[list[str]] = [[] for _ in head]
            for row in rows:
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell)
        except csv.Error as error:
            raise InputError(f"{name} is damaged ({error}): restore it.") from error
        except ValueError as error:
            raise InputError(
                f"{name} is damaged: its lines have different numbers of cells; restore it."
            ) from error
        if not head or len(set(head)) != len(head):
            raise InputError(f"{name} is damaged: its columns have no names of their own; restore it.")
        return cls(dict(zip(head, columns, strict=True)))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def pieces(self) -> Iterator[bytes]:
        """The file's content, some rows at a time."""
        words = [column for column in self.columns.values() if not isinstance(column, Numbers)]
        # The writer does not see that a lone carriage return ends a line for readers.
        returns = any("\r" in cell for column in (list(self.columns), *words) for cell in column)
        quoting: Any = csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
        yield _lines([[name] for name in self.columns], quoting)
        for first in range(0, len(self), _ROWS):
            yield _lines([column[first : first + _ROWS] for column in self.columns.values()], quoting)

    def text(self) -> str:
        """The file's text."""
        return b"".join(self.pieces()).decode()

    def digest(self) -> str:
        """SHA-256 of the file's text."""
        found = hashlib.sha256()
        for piece in self.pieces():
            found.update(piece)
        return found.hexdigest()

    def numbers(self, column: str) -> FloatArray:
        """A column of numbers; a blank is nan."""
        cells = self.columns[column]
        if isinstance(cells, Numbers):
            return cells.values
        return np.array([float(cell) if cell else np.nan for cell in cells], dtype=np.float64)

    def known(self, column: str) -> FloatArray:
        """The finite numbers of any column; nan for all other cells.

        >>> Sheet({"dir": ["350", "", "calm"]}).known("dir").tolist()
        [350.0, nan, nan]
        """
        cells = self.columns[column]
        if isinstance(cells, Numbers):
            return np.where(np.isfinite(cells.values), cells.values, np.nan)
        found = [as_number(cell) for cell in cells]
        return np.array([np.nan if number is None else number for number in found], dtype=np.float64)

    def frame(self, kinds: Mapping[str, str]) -> pd.DataFrame:
        """The columns named in `kinds`, each as "number" or as the "text" of categories."""
        return pd.DataFrame(
            {
                name: self.numbers(name) if kind == "number" else pd.Categorical(self.columns[name])
                for name, kind in kinds.items()
            }
        )

    def with_columns(self, columns: Mapping[str, Sequence[str]]) -> "Sheet":
        """Put columns behind; one of the same name is replaced."""
        return Sheet({**{k: v for k, v in self.columns.items() if k not in columns}, **columns})


def _lines(columns: Sequence[Sequence[str]], quoting: Any) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n", quoting=quoting).writerows(zip(*columns, strict=True))
    return file.getvalue().encode()


def _column(series: "pd.Series[Any]") -> Sequence[str]:
    if series.dtype == np.float64:
        return Numbers(series.to_numpy())
    return [_cell(value) for value in series.tolist()]


def _cell(value: Any) -> str:
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    return str(value)
