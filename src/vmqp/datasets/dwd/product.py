"""The rows of a product: ``;`` between the fields, blanks around them, a stamp, a speed and a direction in each.

A time is found by looking for its stamp in the bytes, so that a file of years costs no more than its unpacking.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from vmqp.datasets.dwd.archive import pieces
from vmqp.datasets.dwd.clock import stamps_to_utc
from vmqp.datasets.dwd.names import Source
from vmqp.datasets.dwd.wind import is_wind
from vmqp.errors import InputError
from vmqp.tables.words import shown

__all__ = ["Found", "check_product", "find_row", "read_rows"]

_NEEDED = ("STATIONS_ID", "MESS_DATUM", "FF_10", "DD_10")
_LONGEST_LINE = 100_000
_WIND = "FF_10 and DD_10 should be a speed and a direction"
_TIME = "MESS_DATUM should be a time as YYYYMMDDhhmm"


@dataclass(frozen=True)
class Found:
    """What a file says about a time."""

    row: tuple[float, float] | None
    """FF_10 and DD_10; None if the file has no row at that time."""
    first: str | None
    """The first stamp as it stands in the file; None if it has no rows."""
    last: str | None


@dataclass(frozen=True)
class _Block:
    """Some whole lines of a file."""

    columns: list[str]
    lines: bytes
    source: Source

    def stamp(self, line: bytes) -> str:
        return line.split(b";")[self.columns.index("MESS_DATUM")].strip().decode("ascii", "replace")


def find_row(source: Source, stamp: str) -> Found:
    """Look for the row of a stamp; the whole file is read, so that one that is cut short is noticed."""
    row, first, last = None, None, None
    for block in _blocks(source):
        if first is None:
            first = block.stamp(block.lines[: block.lines.index(b"\n")])
        last = block.stamp(block.lines[block.lines.rfind(b"\n", 0, -1) + 1 :])
        if row is None and (line := _line_of(block, stamp)) is not None:
            row = _parse_line(line, block)
    return Found(row, first, last)


def read_rows(source: Source) -> pd.DataFrame:
    """Read all rows: time (UTC without a zone), ff and dd as they stand in the file."""
    tables = [_parse(block) for block in _blocks(source)]
    if not tables:
        return pd.DataFrame({"time": pd.to_datetime([]), "ff": [], "dd": []}).astype(
            {"ff": float, "dd": float}
        )
    return pd.concat(tables, ignore_index=True)


def check_product(source: Source) -> None:
    """Raise `InputError` if any row of a file cannot be read."""
    for block in _blocks(source):
        _parse(block)


def _blocks(source: Source) -> Iterator[_Block]:
    columns: list[str] | None = None
    for lines in _whole_lines(source):
        if columns is None:
            head, _, lines = lines.partition(b"\n")
            columns = _header(head, source)
        lines = lines.rstrip(b" \r\n\x1a")
        if not lines:
            continue
        lines += b"\n"
        _check_fields(lines, len(columns), source)
        yield _Block(columns, lines, source)
    if columns is None:
        raise InputError(f"{source.path}: the product is empty.")


def _whole_lines(source: Source) -> Iterator[bytes]:
    rest = b""
    for piece in pieces(source):
        joined = rest + piece
        cut = joined.rfind(b"\n") + 1
        if cut:
            yield joined[:cut]
        rest = joined[cut:]
        if len(rest) > _LONGEST_LINE:
            raise InputError(f"{source.path}: the product has a line of more than {_LONGEST_LINE:,} bytes.")
    if rest.strip():
        yield rest + b"\n"


def _header(line: bytes, source: Source) -> list[str]:
    columns = [word.strip().upper() for word in line.decode("latin-1").removeprefix("ï»¿").split(";")]
    missing = [name for name in _NEEDED if name not in columns]
    if missing:
        raise InputError(
            f"{source.path}: the product has no column {missing[0]}: its first line should be "
            f"'STATIONS_ID;MESS_DATUM;QN;FF_10;DD_10;eor' and is {shown(line.decode('latin-1').strip())}."
        )
    twice = [name for name in _NEEDED if columns.count(name) > 1]
    if twice:
        raise InputError(f"{source.path}: the product has the column {twice[0]} more than once.")
    return columns


def _check_fields(lines: bytes, fields: int, source: Source) -> None:
    """Refuse lines with another number of fields, and ends of lines that only some readers take for one."""
    marks = np.frombuffer(lines, dtype=np.uint8)
    marks = marks[(marks == ord(";")) | (marks == ord("\n"))]
    wanted = np.frombuffer(b";" * (fields - 1) + b"\n", dtype=np.uint8)
    even = marks.size % fields == 0 and bool((marks.reshape(-1, fields) == wanted).all())
    if even and lines.count(b"\r") == lines.count(b"\r\n"):
        return
    for line in lines.split(b"\n"):
        if line.count(b";") != fields - 1 or b"\r" in line[:-1]:
            raise _unreadable(source, line.decode("latin-1"), f"it should have {fields} fields")


def _line_of(block: _Block, stamp: str) -> bytes | None:
    """Return the line that has the stamp in its place."""
    wanted, lines, start = stamp.encode(), block.lines, 0
    while (found := lines.find(wanted, start)) >= 0:
        start = lines.index(b"\n", found) + 1
        line = lines[lines.rfind(b"\n", 0, found) + 1 : start]
        if block.stamp(line) == stamp:
            return line
    return None


def _parse_line(line: bytes, block: _Block) -> tuple[float, float]:
    """Read one line; plain, for a table of one row costs some hundred times as much."""
    text, source = line.decode("latin-1"), block.source
    fields = dict(zip(block.columns, text.split(";"), strict=True))
    try:
        number, ff, dd = (float(fields[name]) for name in ("STATIONS_ID", "FF_10", "DD_10"))
    except ValueError:
        raise _unreadable(source, text, _WIND) from None
    if not is_wind(ff, dd):
        raise _unreadable(source, text, _WIND)
    if number != int(source.station):
        raise _unreadable(source, text, f"it should be of station {source.station}")
    return ff, dd


def _parse(block: _Block) -> pd.DataFrame:
    source = block.source
    table = pd.read_csv(
        io.BytesIO(block.lines),
        sep=";",
        names=block.columns,
        usecols=list(_NEEDED),
        dtype={"MESS_DATUM": str},
        skipinitialspace=True,
        low_memory=False,
        encoding="latin-1",
        quoting=3,
    )[list(_NEEDED)]
    time = stamps_to_utc(table["MESS_DATUM"].str.strip())
    ff, dd, number = (
        pd.to_numeric(table[name], errors="coerce").astype(float)
        for name in ("FF_10", "DD_10", "STATIONS_ID")
    )
    _check_rows(table, time.notna(), source, _TIME)
    _check_rows(table, is_wind(ff, dd), source, _WIND)
    _check_rows(table, number == int(source.station), source, f"it should be of station {source.station}")
    return pd.DataFrame({"time": time, "ff": ff, "dd": dd})


def _check_rows(table: pd.DataFrame, fine: pd.Series, source: Source, said: str) -> None:
    if not fine.all():
        raise _unreadable(source, ";".join(map(str, table[~fine].iloc[0])), said)


def _unreadable(source: Source, row: str, said: str) -> InputError:
    return InputError(f"{source.path}: the row {shown(row.strip())} cannot be read: {said}.")
