"""Names of the weather service's files: what kind one is, of which station, and from when to when it reaches."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

__all__ = ["FOLDERS", "KINDS", "LISTS", "Kind", "Source", "is_archive", "is_list", "source_of"]

Kind = Literal["hist", "akt", "now"]
KINDS: tuple[Kind, ...] = ("hist", "akt", "now")
"""From what was looked over most to what came in today: the first that holds a time is believed."""
FOLDERS: dict[Kind, str] = {"hist": "historical", "akt": "recent", "now": "now"}
LISTS: dict[Kind, str] = {
    "hist": "zehn_min_ff_Beschreibung_Stationen.txt",
    "akt": "zehn_min_ff_Beschreibung_Stationen.txt",
    "now": "zehn_now_ff_Beschreibung_Stationen.txt",
}

_ENDINGS: dict[str, Kind] = {"hist": "hist", "akt": "akt", "now": "now"}
_ARCHIVE = re.compile(r"10minutenwerte_wind_(\d{5})_(?:(\d{8})_(\d{8})_(?=hist))?(hist|akt|now)\.zip")
_PRODUCT = re.compile(r"produkt_zehn_(min|now)_ff_(\d{8})_(\d{8})_(\d{5})\.txt")


@dataclass(frozen=True)
class Source:
    """A file with rows of one station."""

    path: Path
    station: str
    kind: Kind
    begin: str | None = None
    """The first day, YYYYMMDD in the clock of the file's stamps, where the name tells."""
    end: str | None = None

    def may_hold(self, first: str, last: str) -> bool:
        """Whether it can have rows between two stamps, by its name, give or take a day."""
        if self.begin is None or self.end is None:
            return True
        return _shift(first, -1) <= self.end and self.begin <= _shift(last, 1)


def source_of(path: Path) -> Source | None:
    """Read the name of an archive or of an unpacked product; None if it is neither.

    >>> source_of(Path("10minutenwerte_wind_00003_19930429_19991231_hist.zip")).begin
    '19930429'
    >>> source_of(Path("now/produkt_zehn_now_ff_20240501_20240501_00003.txt")).kind
    'now'
    >>> source_of(Path("10minutenwerte_TU_00003_akt.zip"))
    """
    if found := _ARCHIVE.fullmatch(path.name):
        station, begin, end, ending = found.groups()
        return Source(path, station, _ENDINGS[ending], begin, end)
    if found := _PRODUCT.fullmatch(path.name):
        product, begin, end, station = found.groups()
        if product == "now":
            return Source(path, station, "now", begin, end)
        # The same name stands for both others; the folder tells, if it is named as on the server.
        return Source(path, station, "akt" if path.parent.name == FOLDERS["akt"] else "hist", begin, end)
    return None


def is_archive(name: str) -> bool:
    """Whether the whole of a text is the name of an archive, without a folder before it.

    >>> is_archive("10minutenwerte_wind_00003_akt.zip"), is_archive("../10minutenwerte_wind_00003_akt.zip")
    (True, False)
    """
    return _ARCHIVE.fullmatch(name) is not None


def is_list(name: str) -> bool:
    """Whether a file is a list of stations, by its name."""
    return name in LISTS.values()


def _shift(stamp: str, days: int) -> str:
    day = pd.Timestamp(f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}")
    return str((day + pd.Timedelta(days=days)).strftime("%Y%m%d"))
