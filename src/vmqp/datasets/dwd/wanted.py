"""Which stations are asked for: numbers, as text or not, that the files or the list know."""

from collections.abc import Iterable
from typing import Any

from vmqp.datasets.dwd.names import Source
from vmqp.errors import InputError
from vmqp.tables.words import nearest, shown

__all__ = ["only", "station_number", "wanted_stations"]


def station_number(value: Any) -> str:
    """Read a station's number as its five digits.

    >>> station_number(3), station_number("00003")
    ('00003', '00003')
    """
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if hasattr(value, "dtype") and hasattr(value, "item"):
        return station_number(value.item())
    if not (text.isascii() and text.isdigit() and len(text) <= 5):
        raise InputError(
            f"station is {shown(value)}: give a number of up to five digits, such as '00003' or 3."
        )
    return text.zfill(5)


def wanted_stations(stations: Any) -> set[str] | None:
    """Read the numbers that are asked for; None is all."""
    if stations is None:
        return None
    several = isinstance(stations, Iterable) and not isinstance(stations, str)
    wanted = {station_number(one) for one in (stations if several else [stations])}
    if not wanted:
        raise InputError("stations is empty: give numbers of stations, or leave it out for all.")
    return wanted


def only(wanted: set[str] | None, sources: Iterable[Source], known: Iterable[str]) -> list[Source]:
    """Return the files of the stations that are asked for; one that neither a file nor the list has is an error."""
    sources = list(sources)
    if wanted is None:
        return sources
    every = {source.station for source in sources} | set(known)
    for one in sorted(wanted):
        if one not in every:
            raise InputError(
                f"there is no station {one!r} in the list or the files: did you mean {nearest(one, sorted(every))!r}?"
            )
    return [source for source in sources if source.station in wanted]
