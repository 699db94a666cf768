"""The list of stations: one line a station, columns told apart by their content.

The second line of the file draws dashes that do not match the columns below them. Names contain blanks, the end date
may be missing, and newer lists end each line with ``Frei``. The file is in latin-1; one that was saved again as UTF-8
is read too.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from vmqp.errors import InputError
from vmqp.tables.words import shown

__all__ = ["COLUMNS", "latest", "parse_list", "read_list"]

COLUMNS = ("station", "name", "state", "lon", "lat", "elevation", "begin", "end")

_HEAD = "stations_id von_datum bis_datum stationshoehe geobreite geolaenge stationsname bundesland"
_NUMBER = r"-?\d+(?:\.\d+)?"
# Possessive (?+): an end date must not be taken for an elevation where a later number is wrong.
_LINE = re.compile(
    rf"\s*(?P<station>\d{{1,5}})\s+(?P<begin>\d{{8}})(?:\s+(?P<end>\d{{8}}))?+\s+(?P<elevation>{_NUMBER})"
    rf"\s+(?P<lat>{_NUMBER})\s+(?P<lon>{_NUMBER})\s+(?P<rest>\S.*)",
    re.ASCII,
)
_LARGEST = 20_000_000  # bytes; real lists have some 200,000
_LONGEST_LINE = 2_000  # real ones have some 200; a pattern takes its time over long ones


def read_list(path: Path) -> pd.DataFrame:
    """Read a list of stations from a file; see `parse_list`."""
    try:
        size = path.stat().st_size
        if size > _LARGEST:
            raise InputError(f"{path} has {size:,} bytes, which is too much for a list of stations.")
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} could not be read ({error.strerror or error}).") from error
    return parse_list(content, str(path))


def parse_list(content: bytes, name: str = "the list of stations") -> pd.DataFrame:
    r"""Read a list of stations: station, name, state, lon, lat, elevation, begin and end (NaT where missing).

    >>> head = "Stations_id von_datum bis_datum Stationshoehe geoBreite geoLaenge Stationsname Bundesland Abgabe"
    >>> line = "00007 19930429                     202     50.7827    6.0941 Bad Nebel/Au       Hessen      Frei  "
    >>> parse_list(f"{head}\n----- --------\n{line}\n".encode("latin-1")).loc[0, ["station", "name", "state"]].tolist()
    ['00007', 'Bad Nebel/Au', 'Hessen']
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    # Not splitlines: latin-1 has characters that it takes for ends of lines.
    lines = text.replace("\r\n", "\n").split("\n")
    if not " ".join(lines[0].casefold().split()).startswith(_HEAD):
        raise InputError(
            f"{name} is not a list of stations of the weather service: it begins with {shown(lines[0])} and not with "
            "'Stations_id von_datum bis_datum ...'."
        )
    rows = [
        _row(line, number, name)
        for number, line in enumerate(lines[1:], 2)
        if line.strip() and set(line) - set("- \r")
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    for column in ("lon", "lat", "elevation"):
        frame[column] = frame[column].astype(float)
    for column in ("begin", "end"):
        times = pd.to_datetime(frame[column], format="%Y%m%d", errors="coerce")
        wrong = times.isna() & frame[column].notna()
        if wrong.any():
            row = frame[wrong].iloc[0]
            raise InputError(f"{name}: station {row['station']} has the date {row[column]!r}, which is none.")
        frame[column] = times
    outside = ~(frame["lat"].between(-90, 90) & frame["lon"].between(-180, 180))
    if outside.any():
        row = frame[outside].iloc[0]
        raise InputError(
            f"{name}: station {row['station']} is at latitude {row['lat']:g} and longitude {row['lon']:g}, which is "
            "off the earth."
        )
    return frame


def latest(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Join lists: each station once, as the list says that reaches furthest, in the order of the numbers."""
    every = pd.concat(list(frames), ignore_index=True)
    # A missing end is an open one. The sort is stable, so of equals the first list is believed.
    order = every["end"].fillna(pd.Timestamp.max.floor("D")).sort_values(ascending=False, kind="stable").index
    return every.loc[order].drop_duplicates("station").sort_values("station").reset_index(drop=True)


def _row(line: str, number: int, name: str) -> tuple[object, ...]:
    found = _LINE.fullmatch(line.rstrip()) if len(line) <= _LONGEST_LINE else None
    if found is None:
        raise InputError(
            f"{name}: line {number} cannot be read as a station: {shown(line.strip())}. It should have a number, one "
            "or two dates, elevation, latitude, longitude, name and state."
        )
    words = found["rest"]
    if words.casefold().endswith(" frei"):
        words = words[: -len("frei")].rstrip()
    place, _, state = words.rpartition(" ")
    if not place.strip():
        place, state = state, ""
    numbers = (found["lon"], found["lat"], found["elevation"])
    return (found["station"].zfill(5), place.strip(), state, *numbers, found["begin"], found["end"])
