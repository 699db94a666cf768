r"""Buoys and coast stations of NOAA's National Data Buoy Center (NDBC): winds and waves, from files or downloaded.

The latest observation of every station is in one file, latest_obs.txt. A station has files of its own: the last 45
days (realtime2), in which MM stands for what is missing, and years before (41001h2023.txt.gz), in which it is a row
of nines. All of them become tables with the same columns. The data are in the public domain.

============================  =============================================  =====
column                        what it is                                     NDBC
============================  =============================================  =====
station, lon, lat             name; degrees east and north                   STN …
time                          of the observation, in UTC                     YY …
direction                     where the wind comes from, ° from north        WDIR
speed, gust                   of the wind, m/s                               WSPD …
wave_direction                where the main waves come from, ° from north   MWD
wave_height                   significant height of the waves, m             WVHT
dominant_period               of the waves, s                                DPD
average_period                of the waves, s                                APD
pressure, pressure_tendency   at sea level, hPa; its change in 3 h, hPa      PRES …
air_temperature               °C                                             ATMP
water_temperature             °C                                             WTMP
dew_point                     °C                                             DEWP
visibility                    nautical miles                                 VIS
tide                          water level, feet                              TIDE
============================  =============================================  =====

Directions lie in [0, 360): north is 0. A direction of 0 at a speed of 0 says that it is calm, and is missing. So is one
that is no direction at all: old files hold some below 0 or beyond 360.

Rows without a direction stay in the table, since they may have waves. ``vmqp predict`` leaves them out and says how
many they are. In Python leave them out yourself:

>>> import pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name) / "latest_obs.txt"
>>> _ = path.write_text('''\
... #STN    LAT     LON   YYYY MM DD hh mm WDIR WSPD  GST WVHT DPD APD MWD   PRES PTDY ATMP WTMP DEWP VIS TIDE
... #text   deg     deg   yr mo day hr mn degT  m/s  m/s   m  sec sec degT   hPa  hPa degC degC degC nmi   ft
... 41001  34.7   -72.7   2024 05 01 12 00  360  5.0  6.0  1.5   8 5.3  MM 1015.1   MM 20.1 22.4   MM  MM   MM
... 41002  31.9   -74.8   2024 05 01 11 50    0  0.0   MM  1.2   9 5.9 110 1016.4   MM 22.0 23.1   MM  MM   MM
... ''')
>>> latest = read_latest(path)
>>> latest[["station", "lon", "lat", "direction", "speed", "wave_direction"]]
  station   lon   lat  direction  speed  wave_direction
0   41001 -72.7  34.7        0.0    5.0             NaN
1   41002 -74.8  31.9        NaN    0.0           110.0
>>> winds = latest.dropna(subset=["direction"])
>>> len(winds), len(latest.dropna(subset=["wave_direction"]))
(1, 1)
>>> folder.cleanup()

Then ``regress(winds[["lon", "lat"]], winds["direction"], …, period=360)``, or
``winds.to_csv("winds.csv", index=False)`` and in the shell::

    vmqp predict winds.csv --angle direction --inputs lon,lat --period 360 --metric geographic --compass --holdout 0.2
"""

import gzip
import os
import re
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from vmqp.circle import FloatArray, wrapped
from vmqp.datasets.download import fetch
from vmqp.errors import InputError
from vmqp.tables.words import listed, shown

__all__ = ["LATEST_URL", "latest", "read_latest", "read_station"]

LATEST_URL = "https://www.ndbc.noaa.gov/data/latest_obs/latest_obs.txt"

_ADDRESS = "VMQP_NDBC_URL"
_ADVICE = "try again later, or get the file yourself and read it with ndbc.read_latest"
_LARGEST = 20_000_000  # bytes; the file has about 100,000
_LARGEST_UNPACKED = 100_000_000  # bytes; a year of one station, every ten minutes, has some 5,000,000
_OTHER_NAMES = {"YYYY": "YY", "WD": "WDIR", "BAR": "PRES", "BARO": "PRES"}  # in files of some years
_MISSING = "MM"  # in the first line, it is the month
_TIME = ("YY", "MM", "DD", "hh")
# Each column with its name here and the number that stands for a missing value where none is written as MM.
_MEASURED = {
    "WDIR": ("direction", 999.0),
    "WSPD": ("speed", 99.0),
    "GST": ("gust", 99.0),
    "MWD": ("wave_direction", 999.0),
    "WVHT": ("wave_height", 99.0),
    "DPD": ("dominant_period", 99.0),
    "APD": ("average_period", 99.0),
    "PRES": ("pressure", 9999.0),
    "PTDY": ("pressure_tendency", 99.0),
    "ATMP": ("air_temperature", 999.0),
    "WTMP": ("water_temperature", 999.0),
    "DEWP": ("dew_point", 999.0),
    "VIS": ("visibility", 99.0),
    "TIDE": ("tide", 99.0),
}
_FIRST_YEAR = 70  # of two digits: there are no observations before 1970
_STATION_FILE = re.compile(r"([0-9a-z]{4,5}?)(?:h\d{4}|_5day)?\.txt(?:\.gz)?", re.IGNORECASE)


def read_latest(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read latest_obs.txt, one row a station, also compressed (.gz); ``help(vmqp.datasets.ndbc)`` has the columns.

    >>> from vmqp.datasets.ndbc import read_latest
    >>> read_latest("no_such_file.txt")
    Traceback (most recent call last):
    vmqp.errors.InputError: no_such_file.txt cannot be read (No such file or directory): ...
    """
    table = _read_table(Path(path), ("STN", "LAT", "LON", *_TIME))
    lon, lat = table.numbers("LON"), table.numbers("LAT")
    table.refuse("LON", ~((lon >= -180.0) & (lon <= 360.0)))
    table.refuse("LAT", ~(np.abs(lat) <= 90.0))
    frame = _observations(table)
    frame.insert(0, "station", table.cells["STN"].astype(str))
    frame.insert(1, "lon", wrapped(lon, 360.0))
    frame.insert(2, "lat", lat)
    return frame


def read_station(
    path: str | os.PathLike[str],
    *,
    station: str | None = None,
    lon: float = np.nan,
    lat: float = np.nan,
) -> pd.DataFrame:
    r"""Read the standard meteorological data of one station, of any year, also compressed (.gz).

    Such a file does not say where the station is: give `lon` and `lat`, or they are nan. Its name is that of the file,
    as in 41001.txt, 41001h2023.txt.gz or 41001_5day.txt, unless `station` is given. Rows stay in the order of the
    file, in which the last 45 days have the latest first.

    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "41001h1998.txt"
    >>> _ = path.write_text("YY MM DD hh WD WSPD GST WVHT DPD APD MWD BAR ATMP WTMP DEWP VIS\n"
    ...     "98 01 01 00 350 8.1 10.2 1.61 7.70 5.39 999 1021.6 12.9 20.3 999.0 99.0\n")
    >>> row = read_station(path, lon=-72.7, lat=34.7).iloc[0]
    >>> row["station"], str(row["time"]), row["direction"].item(), row["wave_direction"].item()
    ('41001', '1998-01-01 00:00:00+00:00', 350.0, nan)
    >>> folder.cleanup()
    """
    file = Path(path)
    if station is None:
        named = _STATION_FILE.fullmatch(file.name)
        if named is None:
            raise InputError(
                f"{file.name} does not name its station, as 41001h2023.txt.gz does: give station='41001', for example."
            )
        station = named[1].upper()
    frame = _observations(_read_table(file, _TIME))
    frame.insert(0, "station", str(station))
    frame.insert(1, "lon", float(lon))
    frame.insert(2, "lat", float(lat))
    return frame


def latest(*, url: str | None = None, cache: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Download the latest observations of all stations, and read them with `read_latest`.

    A download needs the package pooch (``pip install "vmqp[data]"``). It is new at every call. Give a folder as `cache`
    to keep what came, in latest_obs.txt there; the file is replaced only by a whole and readable one. The address is
    `url`, else that in the environment variable VMQP_NDBC_URL, else NOAA's.

    >>> latest(url="ftp://example.org/latest_obs.txt")
    Traceback (most recent call last):
    vmqp.errors.InputError: the address is 'ftp://example.org/latest_obs.txt': give one that begins with ...
    """
    address = url if url is not None else os.environ.get(_ADDRESS) or LATEST_URL
    with tempfile.TemporaryDirectory(prefix="vmqp-ndbc-") as folder:
        target = Path(folder if cache is None else cache) / "latest_obs.txt"
        return read_latest(fetch(address, target, check=_check, largest=_LARGEST, advice=_ADVICE))


@dataclass(frozen=True, eq=False)
class _Table:
    """The cells of a file, as text, and the lines that they stand on."""

    cells: pd.DataFrame
    lines: Sequence[int]
    file: Path

    def numbers(self, name: str) -> FloatArray:
        """Return the numbers of a column, nan for MM."""
        written = self.cells[name]
        there = (written != _MISSING).to_numpy()
        values: FloatArray = pd.to_numeric(written.where(there), errors="coerce").to_numpy(dtype=np.float64)
        self.refuse(name, there & ~np.isfinite(values))
        return values

    def refuse(self, name: str, wrong: NDArray[np.bool_]) -> None:
        """Raise an error that names the first cell that is wrong."""
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"line {self.lines[row]} of {self.file.name} has {shown(self.cells[name].iloc[row])} for {name}: "
                "correct or delete the line."
            )


def _check(path: Path) -> None:
    read_latest(path)


def _read_table(file: Path, needed: Sequence[str]) -> _Table:
    """Read a file whose first line names its columns, perhaps after a #; further lines with # are comments."""
    text = _read_text(file)
    if text.lstrip()[:1] == "<":
        raise InputError(
            f"{file.name} is a page of the web and not a table of observations: get the text file."
        )
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    first = [name.lstrip("#") for name in lines[0][1]] if lines else []
    names = [_OTHER_NAMES.get(name, name) for name in first]
    missing = [name for name in needed if name not in names]
    if missing or not {"WDIR", "MWD"} & set(names) or len(set(names)) < len(names):
        raise InputError(
            f"{file.name} is no table of NDBC: its first line must name the columns {listed(needed)}, and WDIR or MWD. "
            + (f"It names {listed(first)}." if first else "The file is empty.")
        )
    rows, numbers = [], []
    for number, cells in lines[1:]:
        if cells[0].startswith("#"):
            continue
        if names[-1] == "TIDE" and len(cells) == len(names) - 1:
            cells.append(_MISSING)  # tides begin in the middle of the year 2000, and of its files
        if len(cells) != len(names):
            raise InputError(
                f"line {number} of {file.name} has {len(cells)} values for {len(names)} columns: correct or delete the "
                "line, or get the file again."
            )
        rows.append(cells)
        numbers.append(number)
    if not rows:
        raise InputError(f"{file.name} has column names but no observations.")
    return _Table(pd.DataFrame(rows, columns=names), numbers, file)


def _read_text(file: Path) -> str:
    try:
        with open(file, "rb") as plain:
            packed = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            with gzip.open(plain) if packed else plain as opened:
                content = opened.read(_LARGEST_UNPACKED + 1)
        if len(content) > _LARGEST_UNPACKED:
            raise InputError(
                f"{file.name} has more than {_LARGEST_UNPACKED:,} bytes, which no file of observations has."
            )
        return content.decode("utf-8-sig", errors="replace")
    except (OSError, EOFError, zlib.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{file.name} cannot be read ({why}): look at the path and the file.") from error


def _observations(table: _Table) -> pd.DataFrame:
    """Return times and measurements under their names; a column that the file does not have is nan."""
    columns: dict[str, Any] = {"time": _times(table)}
    for name, (ours, nines) in _MEASURED.items():
        values = table.numbers(name) if name in table.cells else np.full(len(table.lines), np.nan)
        columns[ours] = np.where(values >= nines, np.nan, values)
    for ours in ("direction", "wave_direction"):
        values = columns[ours]
        columns[ours] = np.where((values >= 0.0) & (values <= 360.0), values % 360.0, np.nan)
    calm = (columns["direction"] == 0.0) & (columns["speed"] == 0.0)
    columns["direction"] = np.where(calm, np.nan, columns["direction"])
    return pd.DataFrame(columns)


def _times(table: _Table) -> pd.Series:
    parts = {name: table.numbers(name) for name in (*_TIME, "mm") if name in table.cells}
    for name, low, high in (("YY", 0, 9999), ("MM", 1, 12), ("DD", 1, 31), ("hh", 0, 23), ("mm", 0, 59)):
        if name in parts:
            whole = parts[name] == np.round(parts[name])
            table.refuse(name, ~(whole & (parts[name] >= low) & (parts[name] <= high)))
    year = parts["YY"]
    year = np.where(year < 100, year + np.where(year < _FIRST_YEAR, 2000, 1900), year)
    spelled = {"year": year, "month": parts["MM"], "day": parts["DD"], "hour": parts["hh"]}
    spelled["minute"] = parts.get("mm", np.zeros(len(year)))
    times = pd.to_datetime(pd.DataFrame(spelled).astype(int), errors="coerce", utc=True)
    table.refuse("DD", times.isna().to_numpy())
    return times
