"""Files of --data: which experiment each is for, by its columns."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from vmqp.errors import InputError
from vmqp.tables import read_file
from vmqp.tables.words import listed

__all__ = ["Kind", "read_kind", "sort_files"]

Kind = Literal["wind", "gait"]


def read_kind(path: Path) -> Kind:
    r"""Tell whether a table is one of winds or of gaits.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.csv")
    ...     _ = file.write_text("Longitude,Latitude,dir\n9.9,52.8,0.1\n")
    ...     read_kind(file)
    'wind'
    """
    names = [str(name).strip() for name in read_file(path).columns]
    lower = {name.lower() for name in names}
    if lower & {"speed_class", "subject"}:
        return "gait"
    if {"longitude", "latitude"} <= lower:
        return "wind"
    raise InputError(
        f"{path.name} is neither a table of winds (longitude, latitude, dir_rad) nor one of gaits (speed_class or "
        f"subject): its columns are {listed(names)}."
    )


def sort_files(data: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None) -> dict[Kind, Path]:
    """Files by what they are for, at most one of each kind."""
    given: Iterable[Any] = () if data is None else (data,) if isinstance(data, str | os.PathLike) else data
    found: dict[Kind, Path] = {}
    for path in map(Path, given):
        if not path.is_file():
            raise InputError(f"there is no file {str(path)!r}: give the path of the data with --data.")
        kind = read_kind(path)
        if kind in found:
            raise InputError(
                f"{found[kind].name} and {path.name} are both tables of {kind}: give one of each kind."
            )
        found[kind] = path
    return found
