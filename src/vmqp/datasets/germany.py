"""Wind directions at 260 stations in Germany, the data of the paper's Table 1: from a file, or downloaded.

Directions `dir_rad` are in radians from -π to π, clockwise from north, and say where the air goes to: the German
weather service's `dd10_deg`, where it comes from in steps of 10°, less half a turn.

A download is kept only if its SHA-256 is one that is known. The two known ones are those of the file as the paper's
authors published it, with each of the two usual ends of a line: its text is known, how its lines end is not.
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vmqp.datasets.download import fetch, load_pooch
from vmqp.datasets.kept import file_hash
from vmqp.errors import InputError
from vmqp.tables import complete_rows, read_file
from vmqp.tables.words import listed

__all__ = ["WIND_HASHES", "WIND_URL", "read_wind", "wind_germany"]

WIND_URL = (
    "https://raw.githubusercontent.com/Yarden231/vMQP/845c8bd4196375ee403cd1e1c79f70472e8e0b99/data_calm.csv"
)
WIND_HASHES = (
    "08789d2c7dee2ba825c2c8bceed47a8f70b0013ec4f463ed238a470bf2f8878d",
    "9eb6db159865d0feec0e252694b3afc1a99ac2359fdbb61082a7521896d4c879",
)

_NEEDED = ("longitude", "latitude", "dir_rad")
_OPTIONAL = ("elevation_m",)
_ALSO = {"dir": "dir_rad"}  # as the paper's authors call it
_LARGEST = 10_000_000  # bytes; the published file has some 10,000
_ADVICE = "try again later, or get the file yourself and give its path (--data FILE on the command line)"


def read_wind(path: str | os.PathLike[str], *, columns: Sequence[str] = ()) -> pd.DataFrame:
    r"""Read a table of wind directions: longitude, latitude, dir_rad, dd10_deg, and elevation_m where it is there.

    Names of columns are read without regard to capitals, and ``dir`` stands for dir_rad, so that the file of the
    paper's authors can be read too. `dd10_deg` is computed where it is missing. `columns` names further columns that
    must be there. Rows with a blank in one of these columns are left out.

    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "wind.csv"
    >>> _ = path.write_text("SDO_CODE,Longitude,Latitude,dir\n368,9.9,52.8,-3.14159\n5319,9.7,47.9,-2.967057075\n")
    >>> read_wind(path)
       longitude  latitude   dir_rad  dd10_deg
    0        9.9      52.8 -3.141590       0.0
    1        9.7      47.9 -2.967057      10.0
    >>> read_wind(path, columns=["elevation_m"])
    Traceback (most recent call last):
    vmqp.errors.InputError: wind.csv has no column 'elevation_m': ...
    >>> folder.cleanup()
    """
    frame = read_file(path)
    lower = [str(name).strip().lower() for name in frame.columns]
    frame = frame.set_axis([_ALSO.get(name, name) for name in lower], axis=1)
    needed = [*_NEEDED, *(name for name in columns if name not in _NEEDED)]
    for name in needed:
        if name not in frame.columns and name != "dd10_deg":
            raise InputError(
                f"{Path(path).name} has no column {name!r}: a table of wind directions needs {listed(needed)}. "
                f"Its columns are {listed(map(str, frame.columns))}."
            )
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"{Path(path).name} has the column {twice!r} twice: leave one of them out.")
    wanted = [*needed, *(name for name in ("dd10_deg", *_OPTIONAL) if name in frame and name not in needed)]
    table = complete_rows(frame, [name for name in wanted if name in frame], path=path).frame
    for name in table.columns:
        if not pd.api.types.is_numeric_dtype(table[name]):
            raise InputError(f"{Path(path).name}: the column {name!r} holds text; give numbers.")
    _check_places(table, path)
    if "dd10_deg" not in table:
        ten = np.round(np.degrees(table["dir_rad"].to_numpy() + np.pi) / 10.0) * 10.0
        table.insert(3, "dd10_deg", np.mod(ten, 360.0))
    return table


def wind_germany(
    path: str | os.PathLike[str] | None = None,
    *,
    url: str = WIND_URL,
    sha256: str | Sequence[str] = WIND_HASHES,
    cache: str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    r"""Return the wind directions of the paper, as `read_wind` does: from a file, else from the address of its code.

    A download needs the package pooch (``pip install "vmqp[data]"``) and is kept in the user's cache, or in the
    directory `cache`, so that it is made once. It must have the SHA-256 that is known, or one of those given; there is
    no download without one. Give `url` and `sha256` together for a copy of your own. The published file has
    no elevations.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "wind.csv"
    ...     _ = path.write_text("longitude,latitude,dir_rad\n9.9,52.8,0.0\n9.7,47.9,-1.5708\n")
    ...     wind_germany(path)["dd10_deg"].tolist()
    [180.0, 90.0]
    """
    if path is not None:
        return read_wind(path)
    known = _read_hashes(sha256)
    pooch = load_pooch()
    folder = Path(pooch.os_cache("vmqp")) if cache is None else Path(cache)
    kept = folder / f"wind-{hashlib.sha256(' '.join((url, *known)).encode()).hexdigest()[:16]}.csv"
    if not (kept.is_file() and file_hash(kept) in known):
        _fetch(url, known, kept)
    return read_wind(kept)


def _check_places(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    limits = {"longitude": (-180.0, 360.0), "latitude": (-90.0, 90.0), "dir_rad": (-3.1416, 3.1416)}
    for name, (low, high) in limits.items():
        values = table[name].to_numpy(dtype=np.float64)
        wrong = ~((values >= low) & (values <= high))
        if wrong.any():
            raise InputError(
                f"{Path(path).name}: {name} is {values[int(np.argmax(wrong))]:g} in a row; give numbers from {low:g} "
                f"to {high:g}."
            )


def _read_hashes(sha256: Any) -> tuple[str, ...]:
    hashes = (sha256,) if isinstance(sha256, str) else tuple(sha256 or ())
    right = [
        isinstance(one, str) and len(one) == 64 and set(one) <= set("0123456789abcdef") for one in hashes
    ]
    if not hashes or not all(right):
        raise InputError(
            f"sha256 is {sha256!r}: give the 64 hexadecimal digits of the file's SHA-256 (as `sha256sum` prints them). "
            "Nothing is downloaded without."
        )
    return hashes


def _fetch(url: str, known: Sequence[str], target: Path) -> None:
    def check(file: Path) -> None:
        found = file_hash(file)
        if found not in known:
            raise InputError(f"its SHA-256 is {found}, and not {' or '.join(known)}.")

    fetch(url, target, check=check, largest=_LARGEST, advice=_ADVICE)
