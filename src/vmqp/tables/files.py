r"""Tables in files: CSV and its relatives, and Parquet, read to the last digit; the digest of what they hold.

>>> import pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name) / "stations.csv"
>>> _ = path.write_text("lon,lat,dir\n8.1,50.0,350\n9.9,52.5,\n")
>>> read_file(path)
   lon   lat    dir
0  8.1  50.0  350.0
1  9.9  52.5    NaN
>>> folder.cleanup()
"""

import contextlib
import gzip
import hashlib
import os
import zlib
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.tables.cells import sort_of
from vmqp.tables.delimited import line_of, read_delimited
from vmqp.tables.words import nearest, shown

__all__ = ["digest", "place_in_file", "read_file"]

_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET = (".parquet", ".pq")


def read_file(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a table: .csv, .tsv or .txt (commas, semicolons or tabs; also .gz), .parquet or .pq.

    Blank cells, and words such as NA, are missing values. Rows are numbered from 0.

    >>> read_file("no_such_file.csv")
    Traceback (most recent call last):
    vmqp.errors.InputError: there is no file no_such_file.csv...
    """
    file = _existing(path)
    if _ends(file, _TEXT):
        return read_delimited(_read_text(file), file.name)
    if _ends(file, _PARQUET):
        return _read_parquet(file)
    hint = " Save the sheet as CSV." if _ends(file, (".xls", ".xlsx", ".ods")) else ""
    raise InputError(
        f"{file.name} has an ending that is not known: "
        f"give a file that ends in {', '.join(_TEXT[:4] + _PARQUET)}.{hint}"
    )


def digest(frame: pd.DataFrame) -> str:
    """Return the SHA-256 of the names and cells of a frame, whatever file it was read from.

    Numbers count as 64-bit floats, so that 1 and 1.0 are the same; other cells count as the text that Python writes.

    >>> digest(pd.DataFrame({"a": [1, 2]})) == digest(pd.DataFrame({"a": [1.0, 2.0]}))
    True
    >>> digest(pd.DataFrame({"a": [1, 2]})) == digest(pd.DataFrame({"a": [2, 1]}))
    False
    """
    total = hashlib.sha256(f"{len(frame)} {frame.shape[1]}".encode())
    for position, name in enumerate(frame.columns):
        label = str(name).encode("utf-8", "surrogatepass")
        total.update(f" {len(label)} ".encode() + label)
        total.update(_content(frame.iloc[:, position]))
    return total.hexdigest()


def place_in_file(path: str | os.PathLike[str], row: int, rows: int) -> str:
    """Name a row of a table as a person finds it: by its line where the file is text.

    >>> place_in_file("", 17, 100)
    'row 17'
    """
    file = Path(path)
    if not file.name:
        return f"row {row}"
    line = None
    if _ends(file, _TEXT):
        try:
            line = line_of(_read_text(file), row, rows)
        except InputError:  # the file has changed since: the row is all there is
            line = None
    return f"row {row} of {file.name}" if line is None else f"line {line} of {file.name}"


def _ends(file: Path, endings: tuple[str, ...]) -> bool:
    return file.name.lower().endswith(endings)


def _existing(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InputError(f"{shown(path)} is not the path of a file: give one that ends in .csv or .parquet.")
    file = Path(os.fsdecode(path))
    names: list[str] = []
    try:
        folder, found = file.is_dir(), file.exists()
        if not found:
            names = sorted(entry.name for entry in islice(file.parent.iterdir(), 1000) if entry.is_file())
    except (OSError, ValueError):  # no such folder, no permission, or a path that cannot be
        raise InputError(f"there is no file {file}, or it cannot be reached: look at the path.") from None
    if folder:
        raise InputError(f"{file} is a folder: give a file in it.")
    if not found:
        near = nearest(file.name, names)
        raise InputError(
            f"there is no file {file}" + (f": did you mean {near}?" if near else "; its folder is empty.")
        )
    return file


def _read_text(file: Path) -> str:
    try:
        content = file.read_bytes()
        if file.name.lower().endswith(".gz"):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(
            f"{file.name} cannot be read ({why}): look at the file and its permissions."
        ) from error
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what spreadsheets call Unicode text
        text = content.decode("utf-16", errors="replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
    if "\0" in text:
        raise InputError(f"{file.name} is not a text file: give a table with commas, semicolons or tabs.")
    return text


def _read_parquet(file: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(file, engine="pyarrow")
    except ImportError as error:
        raise InputError(
            f"reading {file.name} needs pyarrow, which is not installed: pip install 'vmqp[parquet]'."
        ) from error
    except Exception as error:  # pyarrow has errors of many kinds for a broken file
        raise InputError(
            f"{file.name} cannot be read as Parquet ({str(error)[:200]}): look at the file."
        ) from error
    if frame.index.name is not None or isinstance(frame.index, pd.MultiIndex):
        frame = frame.reset_index()
    frame = frame.reset_index(drop=True)
    frame.columns = [str(column) for column in frame.columns]
    if frame.empty:
        raise InputError(f"{file.name} has no rows: give at least one.")
    return frame


def _content(series: pd.Series) -> bytes:
    """Return the cells of a column as bytes that do not depend on how they were stored."""
    numeric = pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype)
    if numeric and not pd.api.types.is_complex_dtype(series.dtype):
        return _number_bytes(series.to_numpy(dtype=np.float64, na_value=np.nan))
    cells = [None if sort_of(cell) == "missing" else cell for cell in series.tolist()]
    if all(cell is None or sort_of(cell) == "number" for cell in cells):
        with contextlib.suppress(OverflowError):  # an integer of hundreds of digits counts as text
            return _number_bytes(np.array([np.nan if cell is None else float(cell) for cell in cells]))
    texts = [None if cell is None else str(cell).encode("utf-8", "surrogatepass") for cell in cells]
    return b"t" + b"".join(b"- " if text is None else b"%d " % len(text) + text for text in texts)


def _number_bytes(numbers: FloatArray) -> bytes:
    """Return one pattern of bits for each number: there are several of NaN, and two of 0."""
    return b"n" + np.where(np.isnan(numbers), np.nan, numbers + 0.0).astype("<f8").tobytes()
