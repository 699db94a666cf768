"""The weather service's server and what was fetched from it before.

The server has a folder for each kind of archive, and each folder a page with links. Only links whose whole text is the
name of an archive of the product are taken from it, and nothing else is followed. Pages and lists are fetched again
after a day; if that fails, those from before serve. An archive of recent or today's rows is fetched again if it ends
before the time that is asked for.
"""

import hashlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd

from vmqp.datasets.batch import Job, fetch_all
from vmqp.datasets.download import ADVICE, check_address, load_pooch
from vmqp.datasets.dwd.clock import said
from vmqp.datasets.dwd.names import FOLDERS, LISTS, Kind, Source, is_archive, source_of
from vmqp.datasets.dwd.product import check_product
from vmqp.datasets.dwd.station_list import latest, read_list
from vmqp.datasets.kept import unchanged
from vmqp.errors import InputError

__all__ = ["DWD_URL", "Server", "kinds_for", "may_have_grown", "open_server", "utc_now"]

DWD_URL = "https://opendata.dwd.de/climate_environment/CDC/observations_germany/climate/10_minutes/wind/"
VARIABLE = "VMQP_DWD_URL"

_DAY = 86_400.0
_INDEX = "index.html"
_NOW_REACHES, _RECENT_REACHES = pd.Timedelta(days=3), pd.Timedelta(days=500)
_SURELY_THERE = pd.Timedelta(days=2)  # after which a row that was measured has come to the server
_LARGEST_PAGE = 20_000_000
_ADVICE = f"{ADVICE.removesuffix('path')}folder (folder=...)"


def utc_now() -> pd.Timestamp:
    """The time now, in UTC without a zone."""
    return pd.Timestamp.now("UTC").tz_localize(None)


def kinds_for(moment: pd.Timestamp) -> tuple[Kind, ...]:
    """Which archives can hold a time, those to be asked first at the front."""
    age = utc_now() - moment
    if age < pd.Timedelta(0):
        raise InputError(
            f"time is {said(moment)}, and it is {said(utc_now())} now: give a time that has been."
        )
    if age <= _NOW_REACHES:
        return "now", "akt"
    return ("akt", "hist") if age <= _RECENT_REACHES else ("hist",)


def open_server(url: str | None, cache: str | os.PathLike[str] | None) -> "Server":
    """Return the server at an address, or at the usual one, with the folder of what was fetched from it."""
    address = check_address(os.environ.get(VARIABLE) or DWD_URL if url is None else url).rstrip("/") + "/"
    root = Path(load_pooch().os_cache("vmqp")) / "dwd" if cache is None else Path(cache)
    # Two servers may have different files under one name.
    name = f"{urlsplit(address).hostname}-{hashlib.sha256(address.encode()).hexdigest()[:8]}"
    return Server(address, root / name)


@dataclass(frozen=True)
class Server:
    """An address, and where its files are kept."""

    url: str
    folder: Path

    def stations(self, kinds: Iterable[Kind]) -> pd.DataFrame:
        """The lists of stations of some kinds, as one."""
        return latest([read_list(self._page(kind, LISTS[kind], LISTS[kind])) for kind in kinds])

    def sources(self, kind: Kind) -> list[Source]:
        """The archives of a kind that the server has, as they are or would be kept here."""
        folder = self.folder / FOLDERS[kind]
        names = _linked(self._page(kind, "", _INDEX))
        found = [source_of(folder / name) for name in names]
        return [one for one in found if one is not None and one.kind == kind]

    def has(self, source: Source) -> bool:
        """Whether an archive is kept and still what it was."""
        return unchanged(source.path)

    def fetch(
        self, sources: Iterable[Source], *, progress: bool | None, skip_broken: bool
    ) -> dict[Path, InputError]:
        """Fetch archives, and return why some could not be fetched, which is an error unless `skip_broken`."""
        jobs = [
            Job(f"{self.url}{FOLDERS[one.kind]}/{one.path.name}", one.path, _check_archive) for one in sources
        ]
        whole = False
        try:
            failed = fetch_all(
                jobs, label="wind stations", go_on=skip_broken, progress=progress, advice=_ADVICE
            )
            whole = not failed
            return failed
        finally:
            if not whole:
                self._doubt_pages()

    def _doubt_pages(self) -> None:
        """Let pages be fetched again at the next call: names of archives change, and a page may be from before."""
        for page in self.folder.glob(f"*/{_INDEX}"):
            os.utime(page, (0, 0))

    def _page(self, kind: Kind, name: str, kept: str) -> Path:
        """Fetch a page or list if there is none of today; one from before serves if the server does not answer."""
        target = self.folder / FOLDERS[kind] / kept
        there = unchanged(target)
        if there and 0 <= time.time() - target.stat().st_mtime < _DAY:
            return target
        job = Job(f"{self.url}{FOLDERS[kind]}/{name}", target, _check_list if name else _check_page)
        try:
            fetch_all([job], largest=_LARGEST_PAGE, progress=False, advice=_ADVICE)
        except InputError:
            if not there:
                raise
        return target


def may_have_grown(source: Source, wanted: pd.Timestamp) -> bool:
    """Whether an archive that is kept was fetched too early to have the rows of a time for certain."""
    fetched = pd.Timestamp(source.path.stat().st_mtime, unit="s")
    return source.kind != "hist" and bool(fetched < wanted + _SURELY_THERE)


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _linked(page: Path) -> list[str]:
    """Names of the archives that a page links to, each once."""
    links = _Links()
    links.feed(page.read_text(encoding="latin-1"))
    links.close()
    return sorted({link for link in links.found if is_archive(link)})


def _check_page(page: Path) -> None:
    if not _linked(page):
        raise InputError("the page has no link to an archive 10minutenwerte_wind_....zip.")
    if "</html" not in page.read_text(encoding="latin-1")[-1000:].casefold():
        raise InputError("the page is cut short: it has no end.")


def _check_list(path: Path) -> None:
    if read_list(path).empty:
        raise InputError(f"{path.name} has no stations.")


def _check_archive(path: Path) -> None:
    source = source_of(path)
    if source is None:
        raise InputError(f"{path.name} is not the name of an archive.")
    check_product(source)
