r"""Delimited text as a frame: commas, semicolons or tabs, decimal points or commas, with a line of column names.

>>> read_delimited("lon;lat\n8,1;50,0\n9,9;\n", "stations.csv")
   lon   lat
0  8.1  50.0
1  9.9   NaN
"""

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd

from vmqp.errors import InputError
from vmqp.tables.cells import as_number
from vmqp.tables.words import shown

__all__ = ["MISSING", "line_of", "read_delimited"]

# Cells that stand for a missing value: blank, and the words that R, pandas, databases, spreadsheets and NDBC write.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "MM")

_DELIMITERS = ",;\t"
_COMMAS = re.compile(r"(?:^|[;\t])\s*[-+]?\d+,\d+\s*(?=$|[;\t])", re.MULTILINE)
_POINTS = re.compile(r"(?:^|[;\t])\s*[-+]?\d*\.\d+\s*(?=$|[;\t])", re.MULTILINE)
_TOO_MANY = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


def read_delimited(text: str, name: str) -> pd.DataFrame:
    r"""Return the frame of a text; `name` is the file's, for messages. Numbers are read to the last digit.

    >>> read_delimited("lon,lat\n8.1,50,3\n", "stations.csv")
    Traceback (most recent call last):
    vmqp.errors.InputError: stations.csv is not a table: its first line names 2 columns, but a line has more values
    than that; write decimal points, and put quotation marks around text with commas in it.
    """
    header = _header(text, name)
    options: dict[str, Any] = {}
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # later versions read every digit without it
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame = pd.read_csv(
                io.StringIO(text),
                sep=_delimiter(text),
                decimal=_decimal(text),
                index_col=False,
                skipinitialspace=True,
                keep_default_na=False,
                na_values=list(MISSING),
                low_memory=False,
                **options,
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise InputError(_not_a_table(name, len(header), str(error))) from error
        except Exception as error:
            raise InputError(f"{name} cannot be read as a table ({str(error)[:200]}).") from error
    frame.columns = [str(column).strip() for column in frame.columns]
    if frame.empty:
        raise InputError(f"{name} has column names but no rows: give at least one.")
    return frame


def line_of(text: str, row: int, rows: int) -> int | None:
    r"""Return the line of the text in which a row of its frame starts; None where the lines do not give the rows.

    >>> line_of('name,lon\n"two\nlines",8.1\n\nx,9.9\n', row=1, rows=2)
    5
    """
    try:
        starts = [line for line, _ in _records(text)]
    except csv.Error:  # a cell beyond the csv module's limit
        return None
    return starts[row + 1] if len(starts) == rows + 1 else None


def _header(text: str, name: str) -> list[str]:
    """Return the column names, after a look at whether they are any."""
    try:
        _, cells = next(_records(text), (0, []))
    except csv.Error as error:
        raise InputError(f"{name} is not a table: {error}.") from error
    names = [cell.strip() for cell in cells]
    if not names:
        raise InputError(f"{name} is empty: give a file with a line of column names and rows below it.")
    if all(as_number(column) is not None for column in names):
        raise InputError(
            f"the first line of {name} holds numbers ({shown(', '.join(names))}), where the names of the columns are "
            "needed: add a line with them."
        )
    doubled = [column for column, count in Counter(names).items() if count > 1 and column]
    if doubled:
        raise InputError(f"{name} has more than one column with the name {doubled[0]!r}: rename them.")
    return names


def _records(text: str) -> Iterator[tuple[int, list[str]]]:
    """Go through the records that pandas would keep, each with the line on which it starts."""
    reader = csv.reader(io.StringIO(text), delimiter=_delimiter(text), skipinitialspace=True)
    start = 1
    for cells in reader:
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield start, cells
        start = reader.line_num + 1


def _head(text: str) -> str:
    return text.lstrip()[:100_000]


def _delimiter(text: str) -> str:
    """Return the delimiter that the line of column names has most often, outside of quotation marks."""
    line = re.sub(r'"[^"]*"', "", _head(text).split("\n", 1)[0])
    return max(_DELIMITERS, key=line.count)


def _decimal(text: str) -> str:
    """Return "," where numbers are written with decimal commas."""
    if _delimiter(text) == ",":
        return "."
    return "," if len(_COMMAS.findall(_head(text))) > len(_POINTS.findall(_head(text))) else "."


def _not_a_table(name: str, columns: int, error: str) -> str:
    """Say what pandas found, as far as it says it."""
    found = _TOO_MANY.search(error)
    if found is None and "Length of header" not in error:
        return f"{name} is not a table ({error.strip()[:200]}): look for a quotation mark that is not closed."
    line = "a line has more values than that" if found is None else f"line {found[2]} has {found[3]} values"
    return (
        f"{name} is not a table: its first line names {columns} columns, but {line}; "
        "write decimal points, and put quotation marks around text with commas in it."
    )
