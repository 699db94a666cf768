"""Places on the earth: which two columns they are, in which order, and whether they are there at all."""

from collections.abc import Sequence

import numpy as np

from vmqp.errors import InputError
from vmqp.tables import Table

__all__ = ["check_earth", "latitude_first"]


def latitude_first(table: Table, columns: Sequence[int]) -> bool:
    """Whether the names say that two columns are latitude and longitude, in this order.

    >>> latitude_first(Table(np.zeros((1, 2)), ("Latitude", "lon_deg"), {}, "pandas"), [0, 1])
    True
    """
    first, second = (table.label(column).strip().casefold() for column in columns)
    return first.startswith("lat") and second.startswith(("lon", "lng"))


def check_earth(columns: Sequence[int], X: Table, X_new: Table) -> None:
    """Refuse columns that are not longitude and latitude, by their number, names and values."""
    labels = [X.label(column) for column in columns]
    if len(columns) != 2:
        raise InputError(
            f"metric='geographic' needs two columns, longitude and latitude, but there are {len(columns)} "
            f"({', '.join(labels)}): give a kernel with columns=[longitude, latitude]."
        )
    if latitude_first(X, columns):
        raise InputError(
            f"metric='geographic' takes the longitude first, but the columns are {labels[0]!r} and {labels[1]!r}: give "
            f"the kernel columns=[{labels[1]!r}, {labels[0]!r}]."
        )
    for name, table in (("X", X), ("X_new", X_new)):
        longitude, latitude = table.values[:, list(columns)].T
        outside = (np.abs(latitude) > 90.0) | (longitude < -180.0) | (longitude > 360.0)
        if outside.any():
            row = int(np.argmax(outside))
            raise InputError(
                f"row {row} of {name} has longitude {longitude[row]:g} and latitude {latitude[row]:g}, which is not on "
                "the earth: give longitude, from -180 to 360 degrees, then latitude, from -90 to 90."
            )
