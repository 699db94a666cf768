r"""Tables as text that comes back to the last digit: what a run keeps of its data and places.

A sheet holds the cells as they are written to the file. So a run that is resumed reads what the first one read, and the
rows of the results are the rows that were asked for.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from vmqp.circle import FloatArray
from vmqp.errors import InputError

__all__ = ["Sheet"]


@dataclass(frozen=True)
class Sheet:
    """Columns of text cells, all of one length."""

    columns: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> "Sheet":
        """Write the cells of a frame: floats with all their digits, blanks as nothing."""
        return cls({str(name): [_cell(value) for value in frame[name].tolist()] for name in frame.columns})

    @classmethod
    def parse(cls, text: str, name: str) -> "Sheet":
        """Read what `text` returned; `name` is the file's, for messages."""
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        except csv.Error as error:
            raise InputError(f"{name} is damaged ({error}): restore it.") from error
        if not rows or any(len(row) != len(rows[0]) for row in rows) or len(set(rows[0])) != len(rows[0]):
            raise InputError(f"{name} is damaged: its lines have different numbers of cells; restore it.")
        return cls(
            dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True)) if rows[1:] else {}
        )

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def text(self) -> str:
        """The file's text."""
        file = io.StringIO(newline="")
        rows = [tuple(self.columns), *zip(*self.columns.values(), strict=True)]
        # The writer does not see that a lone carriage return ends a line for readers.
        returns = any("\r" in cell for row in rows for cell in row)
        csv.writer(
            file, lineterminator="\n", quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
        ).writerows(rows)
        return file.getvalue()

    def digest(self) -> str:
        """SHA-256 of the file's text."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def numbers(self, column: str) -> FloatArray:
        """A column of numbers; a blank is nan."""
        return np.array([float(cell) if cell else np.nan for cell in self.columns[column]], dtype=np.float64)

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


def _cell(value: Any) -> str:
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    return str(value)
