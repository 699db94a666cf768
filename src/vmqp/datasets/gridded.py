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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from vmqp.checks import check_count
from vmqp.circle import wrapped
from vmqp.convert import Convention, direction_and_speed
from vmqp.errors import InputError
from vmqp.tables.words import listed, nearest, shown

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["add_direction", "wind_table"]

# What a variable may be called, without regard to capitals, and its standard name in the CF conventions.
_NAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "u": (("u10", "u", "10m_u_component_of_wind", "uas", "u100", "ugrd10m"), ("eastward_wind",)),
    "v": (("v10", "v", "10m_v_component_of_wind", "vas", "v100", "vgrd10m"), ("northward_wind",)),
    "lon": (("lon", "longitude", "x"), ("longitude",)),
    "lat": (("lat", "latitude", "y"), ("latitude",)),
    "time": (("time", "valid_time"), ("time",)),
}
_MEANINGS = {
    "u": "the component to the east",
    "v": "the component to the north",
    "lon": "the longitude",
    "lat": "the latitude",
}
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
) -> pd.DataFrame:
    """Return a table of the winds on a grid: lon, lat, time where there is one, speed, direction.

    `u`, `v`, `lon` and `lat` name the variables where they have other names than usual. Directions are in degrees, in
    [0, 360), as `convention` says (see `vmqp.convert.components`); in a calm, and where a component is missing, they
    are nan. Longitudes lie from −180 to 180. `every` takes each so many-th row and column of the grid. `time` picks one
    time, which must be there; without it the table has all times, one after the other. Other dimensions, such as
    levels, have to be chosen before: ``dataset.sel(level=850)``.

    >>> import xarray as xr
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
    with _opened(dataset) as data:
        east, north = _components(data, u, v)
        places = {name: data[_found(data, name, given)] for name, given in (("lon", lon), ("lat", lat))}
        clock = _time_name(data, east)
        if time is not None:
            east, north = (_at_time(part, clock, time) for part in (east, north))
        over = _dimensions(east, places, clock)
        picked = {name: slice(None, None, step) for name in over if name != clock}
        columns = {**places, "u": east, "v": north}
        if clock is not None:
            columns["time"] = east[clock]
        parts = _flat(
            {name: part.isel(picked, missing_dims="ignore") for name, part in columns.items()}, over
        )
    direction, speed = direction_and_speed(parts["u"], parts["v"], convention=convention)
    table = pd.DataFrame({"lon": _longitudes(parts["lon"]), "lat": _latitudes(parts["lat"])})
    if "time" in parts:
        table["time"] = parts["time"]
    return table.assign(speed=speed, direction=direction)


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
        east, north = _components(data, u, v)
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


def _components(data: "xr.Dataset", u: str | None, v: str | None) -> "tuple[xr.DataArray, xr.DataArray]":
    east, north = data[_found(data, "u", u)], data[_found(data, "v", v)]
    if set(east.dims) != set(north.dims):
        raise InputError(
            f"{east.name!r} is over {listed(map(str, east.dims))} and {north.name!r} over "
            f"{listed(map(str, north.dims))}: give two components of one grid."
        )
    units = [part.attrs.get("units") for part in (east, north)]
    if units[0] != units[1]:
        raise InputError(
            f"{east.name!r} is in {units[0]} and {north.name!r} in {units[1]}: convert one of them."
        )
    return east, north


def _found(data: "xr.Dataset", role: str, given: str | None) -> str:
    """Return the name of a variable: the given one, or the first that is known."""
    names = [str(name) for name in data.variables]
    if given is not None:
        if given not in names:
            near = nearest(str(given), names)
            raise InputError(
                f"the dataset has no variable {given!r}: did you mean {near!r}? Its variables are {listed(names)}."
            )
        return given
    usual, standard = _NAMES[role]
    lower = {name.lower(): name for name in reversed(names)}
    known = [lower[name] for name in usual if name in lower]
    known += [name for name in names if data[name].attrs.get("standard_name") in standard]
    if not known:
        raise InputError(
            f"the dataset has no variable that is known as {_MEANINGS[role]}: give its name, {role}='…'. Its variables "
            f"are {listed(names)}."
        )
    return known[0]


def _time_name(data: "xr.Dataset", east: "xr.DataArray") -> str | None:
    """Return the name of the coordinate that is the time, if there is one."""
    usual, standard = _NAMES["time"]
    names = [str(name) for name in east.coords]
    known = [name for name in usual if name in names and east[name].ndim <= 1]
    known += [name for name in names if data[name].attrs.get("standard_name") in standard]
    # That along which the wind changes comes before one that only stands beside it.
    return next((name for name in known if name in east.dims), known[0] if known else None)


def _at_time(part: "xr.DataArray", clock: str | None, time: Any) -> "xr.DataArray":
    if clock is None:
        raise InputError(f"time is {shown(time)} but the dataset has no times: leave time out.")
    times = part[clock]
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
    nearest_one = int(np.argmin(gaps))
    if gaps[nearest_one] != np.timedelta64(0):
        near = pd.Timestamp(np.atleast_1d(times.values)[nearest_one])
        raise InputError(
            f"there is no time {wanted} in the dataset: the nearest is {near}. Give one of its {times.size} times."
        )
    return part.isel({clock: nearest_one}) if clock in part.dims else part


def _dimensions(east: "xr.DataArray", places: "dict[str, xr.DataArray]", clock: str | None) -> Sequence[str]:
    """Return the dimensions of the table's rows, time first; refuse those that are neither place nor time."""
    own = [str(name) for place in places.values() for name in place.dims]
    others = [str(name) for name in east.dims if name not in own and name != clock and east.sizes[name] > 1]
    if others:
        raise InputError(
            f"{east.name!r} is also over {listed(others)}: choose one before, as in dataset.isel({others[0]}=0)."
        )
    missing = [name for name in own if name not in east.dims]
    if missing:
        raise InputError(
            f"the places are over {listed(missing)} but {east.name!r} is over {listed(map(str, east.dims))}: give lon "
            "and lat of its grid."
        )
    over = [str(name) for name in east.dims if name in own]
    return [clock, *over] if clock is not None and clock in east.dims else over


def _flat(columns: "dict[str, xr.DataArray]", over: Sequence[str]) -> dict[str, Any]:
    """Return all columns row by row."""
    bare = {
        name: part.squeeze([own for own in part.dims if own not in over], drop=True)
        for name, part in columns.items()
    }
    return {
        name: part.broadcast_like(bare["u"]).transpose(*over).values.ravel() for name, part in bare.items()
    }


def _longitudes(values: Any) -> Any:
    lon = np.asarray(values, dtype=np.float64)
    if not ((lon >= -180.0) & (lon <= 360.0)).all():
        raise InputError(
            "some longitudes are not from -180 to 360: give the name of those in degrees, lon='…'."
        )
    return wrapped(lon, 360.0)


def _latitudes(values: Any) -> Any:
    lat = np.asarray(values, dtype=np.float64)
    if not (np.abs(lat) <= 90.0).all():
        raise InputError("some latitudes are not from -90 to 90: give the name of those in degrees, lat='…'.")
    return lat
