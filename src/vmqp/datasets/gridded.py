"""Winds on a grid: directions and speeds from the components of a reanalysis or a forecast, such as ERA5.

The components are found by the names that they usually have, or by the CF standard names in their attributes. A dataset
is one of xarray, or the path of a NetCDF file.

>>> import numpy as np, xarray as xr
>>> wind = xr.Dataset(
...     {"u10": (("latitude", "longitude"), [[5.0, 0.0]]), "v10": (("latitude", "longitude"), [[0.0, -2.0]])},
...     coords={"latitude": [51.0], "longitude": [9.0, 350.0]},
... )
>>> wind_table(wind)
    lon   lat  speed  direction
0   9.0  51.0    5.0      270.0
1 -10.0  51.0    2.0        0.0
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from vmqp.checks import check_count
from vmqp.circle import FloatArray, wrapped
from vmqp.convert import Convention, direction_and_speed
from vmqp.datasets.grid_names import find_components, find_place, find_time
from vmqp.errors import InputError
from vmqp.tables.words import listed, shown

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["add_direction", "wind_table"]

_STANDARD_NAMES = {"from": "wind_from_direction", "to": "wind_to_direction"}
_LONG_NAMES = {
    "from": "direction that the wind comes from, clockwise from north",
    "to": "direction that the wind goes to, clockwise from north",
    "math": "direction that the wind goes to, counter-clockwise from east",
}


def wind_table(
    dataset: "xr.Dataset | str | os.PathLike[str]",
    *,
    u: str | None = None,
    v: str | None = None,
    convention: Convention = "from",
    time: Any = None,
    lon: str | None = None,
    lat: str | None = None,
    every: int = 1,
    select: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Return a table of the winds on a grid: lon, lat, time where there is one, speed, direction.

    `u`, `v`, `lon` and `lat` name the variables where they have other names than usual. Directions are in degrees, in
    [0, 360), as `convention` says (see `vmqp.convert.components`); in a calm, and where a component is missing, they
    are nan. Longitudes lie from −180 to 180. `every` takes each so many-th row and column of the grid. `time` picks one
    time, which must be there; without it the table has all times, one after the other. `select` picks one value of
    other dimensions, such as levels: ``{"level": 850}``. Stations and tracks are taken too: there the places, and
    perhaps the times, go along one dimension.

    >>> import pandas as pd
    >>> import xarray as xr
    >>> from vmqp.datasets.gridded import wind_table
    >>> over = ("valid_time", "y", "x")
    >>> wind = xr.Dataset(
    ...     {"uas": (over, [[[1.0]], [[0.0]]]), "vas": (over, [[[0.0]], [[3.0]]])},
    ...     coords={"x": [9.0], "y": [51.0], "valid_time": pd.to_datetime(["2024-05-01 00:00", "2024-05-01 06:00"])},
    ... )
    >>> wind_table(wind, time="2024-05-01 06:00", convention="to")
       lon   lat       time  speed  direction
    0  9.0  51.0 2024-05-01 06:00:00    3.0        0.0
    >>> wind_table(wind, time="2024-05-01 03:00")
    Traceback (most recent call last):
    vmqp.errors.InputError: there is no time 2024-05-01 03:00:00 in the dataset: the nearest is 2024-05-01 00:00:00...
    """
    step = check_count(every, "every", 1, "rows and columns from one to the next")
    with _opened(dataset) as whole:
        data = _select(whole, select or {})
        clock = find_time(data, find_components(data, u, v)[0])
        if time is not None:
            data = _at_time(data, clock, time)
        east, north = find_components(data, u, v)
        places = {name: find_place(data, name, given) for name, given in (("lon", lon), ("lat", lat))}
        columns = {**places, "u": east, "v": north}
        if clock is not None:
            columns["time"] = east[clock]
        along = [] if clock is None else [str(name) for name in east[clock].dims]
        over, own = _dimensions(east, places, along)
        picked = {name: slice(None, None, step) for name in own}
        parts = _flat(
            {name: part.isel(picked, missing_dims="ignore") for name, part in columns.items()}, over
        )
    direction, speed = direction_and_speed(parts["u"], parts["v"], convention=convention)
    longitude = wrapped(_degrees(parts["lon"], "longitude", -180.0, 360.0), 360.0)
    latitude = _degrees(parts["lat"], "latitude", -90.0, 90.0)
    nowhere = np.isnan(longitude) | np.isnan(latitude)
    if np.isfinite(np.asarray(speed)[nowhere]).any():
        raise InputError("there is wind at points without longitude or latitude: give those of its grid.")
    table = pd.DataFrame({"lon": longitude, "lat": latitude})
    if "time" in parts:
        table["time"] = parts["time"]
    return table.assign(speed=speed, direction=direction)[~nowhere].reset_index(drop=True)


def add_direction(
    dataset: "xr.Dataset | str | os.PathLike[str]",
    *,
    u: str | None = None,
    v: str | None = None,
    convention: Convention,
) -> "xr.Dataset":
    """Return the dataset with two more variables, direction in degrees and speed, described as the CF conventions ask.

    `u`, `v` and `convention` are those of `wind_table`. In a calm the direction is nan.

    >>> import xarray as xr
    >>> from vmqp.datasets.gridded import add_direction
    >>> wind = xr.Dataset({"u": ("x", [0.0, 3.0]), "v": ("x", [2.0, 4.0])})
    >>> more = add_direction(wind, convention="from")
    >>> more["direction"].values.round(1).tolist(), more["speed"].values.tolist()
    ([180.0, 216.9], [2.0, 5.0])
    >>> more["direction"].attrs["standard_name"], more["direction"].attrs["units"], more["speed"].attrs["units"]
    ('wind_from_direction', 'degree', 'm s-1')
    """
    import xarray as xr

    with _opened(dataset) as data:
        taken = [name for name in ("direction", "speed") if name in data.variables or name in data.dims]
        if taken:
            raise InputError(f"the dataset has {listed(taken)} already: rename it with dataset.rename first.")
        east, north = find_components(data, u, v)
        direction, speed = xr.apply_ufunc(
            lambda to_east, to_north: direction_and_speed(to_east, to_north, convention=convention),
            east,
            north,
            output_core_dims=((), ()),
            dask="parallelized",
            output_dtypes=(np.float64, np.float64),
        )
        result = data.assign(direction=direction, speed=speed)
        result = result.load() if isinstance(dataset, str | os.PathLike) else result
    result["direction"].attrs = {"units": "degree", "long_name": _LONG_NAMES[convention]}
    if convention in _STANDARD_NAMES:
        result["direction"].attrs["standard_name"] = _STANDARD_NAMES[convention]
    units = str(east.attrs.get("units", "m s-1")).replace("m s**-1", "m s-1")
    result["speed"].attrs = {"units": units, "long_name": "speed of the wind", "standard_name": "wind_speed"}
    return result


@contextmanager
def _opened(dataset: Any) -> "Iterator[xr.Dataset]":
    """Give the dataset itself, or that of a file, which is closed afterwards."""
    import xarray as xr

    if isinstance(dataset, xr.Dataset):
        yield dataset
        return
    if not isinstance(dataset, str | os.PathLike):
        raise InputError(
            f"an xarray Dataset or the path of a NetCDF file is needed but {shown(dataset)} was given; of a DataArray, "
            "give array.to_dataset(dim)."
        )
    file = Path(dataset)
    try:
        with open(file, "rb") as start:
            classic = start.read(3) == b"CDF"
        opened = xr.open_dataset(file, engine="scipy" if classic else "h5netcdf")
    except Exception as error:  # the engines have errors of many kinds for a file that is none of theirs
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)[:200]
        raise InputError(f"{file.name} cannot be read as NetCDF ({why}): look at the file.") from error
    with opened:
        yield opened


def _select(data: "xr.Dataset", select: Mapping[str, Any]) -> "xr.Dataset":
    """Choose one value of dimensions, by what their coordinate says, or by number where they have none."""
    for name, value in select.items():
        if name not in data.dims:
            raise InputError(
                f"the dataset has no dimension {name!r} to select from: its dimensions are "
                f"{listed(map(str, data.dims))}."
            )
        values = data[name].values
        numbers = values.dtype.kind == "f" and isinstance(value, int | float)
        places = np.flatnonzero(np.isclose(values, value, rtol=1e-6) if numbers else values == value)
        if not places.size:
            raise InputError(
                f"{name} is {shown(value)} nowhere: its values are {listed(map(str, values[:20]))}."
            )
        data = data.isel({name: int(places[0])})
    return data


def _at_time(data: "xr.Dataset", clock: str | None, time: Any) -> "xr.Dataset":
    """Choose what is at one time, along whatever dimension the times go."""
    if clock is None:
        raise InputError(f"time is {shown(time)} but the dataset has no times: leave time out.")
    times = data[clock]
    if times.dtype.kind != "M":
        raise InputError(
            f"the times of the dataset are of type {times.dtype}: choose one with dataset.sel({clock}=…) first, and "
            "leave time out."
        )
    try:
        wanted = pd.Timestamp(time)
        wanted = wanted.tz_convert("UTC").tz_localize(None) if wanted.tz is not None else wanted
        gaps = np.abs(np.atleast_1d(times.values) - wanted.to_datetime64())
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"time is {shown(time)}: give a time such as '2024-05-01 06:00'.") from None
    known = np.flatnonzero(~np.isnat(gaps))
    if not known.size:
        raise InputError(f"time is {shown(time)} but the dataset has no times: leave time out.")
    if gaps[known].min() != np.timedelta64(0):
        near = pd.Timestamp(np.atleast_1d(times.values)[known[np.argmin(gaps[known])]])
        raise InputError(
            f"there is no time {wanted} in the dataset: the nearest is {near}. Give one of its {times.size} times."
        )
    rows = known[gaps[known] == np.timedelta64(0)]
    return data.isel({times.dims[0]: rows}) if times.dims else data


def _dimensions(
    east: "xr.DataArray", places: "dict[str, xr.DataArray]", along: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the dimensions of the table's rows, time first, and those of the places.

    Refuse those that are neither place nor time.
    """
    own = list(dict.fromkeys(str(name) for place in places.values() for name in place.dims))
    others = [
        str(name) for name in east.dims if name not in own and name not in along and east.sizes[name] > 1
    ]
    if others:
        raise InputError(
            f"{east.name!r} is also over {listed(others)}: choose one of each, as in select={{{others[0]!r}: "
            f"{_first_value(east, others[0])}}}."
        )
    missing = [name for name in own if name not in east.dims]
    if missing:
        raise InputError(
            f"the places are over {listed(missing)} but {east.name!r} is over {listed(map(str, east.dims))}: give lon "
            "and lat of its grid."
        )
    over = [name for name in along if name in east.dims]
    return [*over, *(str(name) for name in east.dims if name in own and name not in over)], own


def _first_value(east: "xr.DataArray", name: str) -> Any:
    value = east[name].values[0]
    return value.item() if hasattr(value, "item") and value.dtype.kind != "M" else str(value)


def _flat(columns: "dict[str, xr.DataArray]", over: Sequence[str]) -> dict[str, Any]:
    """Return all columns row by row."""
    bare = {
        name: part.squeeze([own for own in part.dims if own not in over], drop=True)
        for name, part in columns.items()
    }
    return {
        name: part.broadcast_like(bare["u"]).transpose(*over).values.ravel() for name, part in bare.items()
    }


def _degrees(values: Any, name: str, lowest: float, highest: float) -> FloatArray:
    """Return longitudes or latitudes, nan where there is no place."""
    try:
        degrees = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        degrees = np.array([np.inf])
    if not (np.isnan(degrees) | ((degrees >= lowest) & (degrees <= highest))).all():
        raise InputError(
            f"some {name}s are not from {lowest:g} to {highest:g}: give the name of those in degrees, "
            f"{name[:3]}='…'."
        )
    return degrees
