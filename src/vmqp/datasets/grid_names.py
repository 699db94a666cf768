"""Which variables of a dataset are the components of the wind, its places and its times.

They are found by the names that they usually have, then by the CF standard names in their attributes. The two
components are found together, so that never one level is mixed with another.
"""

from typing import TYPE_CHECKING, Any

from vmqp.errors import InputError
from vmqp.tables.words import listed, nearest

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["find_components", "find_place", "find_time"]

# What the two components may be called, without regard to capitals.
_PAIRS = (
    ("u10", "v10"),
    ("u", "v"),
    ("10m_u_component_of_wind", "10m_v_component_of_wind"),
    ("uas", "vas"),
    ("u100", "v100"),
    ("ugrd10m", "vgrd10m"),
)
_STANDARD_PAIR = ("eastward_wind", "northward_wind")
_PLACES = {"lon": ("lon", "longitude", "x"), "lat": ("lat", "latitude", "y")}
_STANDARD_PLACES = {"lon": "longitude", "lat": "latitude"}
_TIMES = ("time", "valid_time")
_ROLES = ("u", "v")


def find_components(data: "xr.Dataset", u: str | None, v: str | None) -> "tuple[xr.DataArray, xr.DataArray]":
    """Return the components to the east and to the north: those that are named, or the first pair that is known."""
    given = [None if name is None else _named(data, name) for name in (u, v)]
    east, north = (data[name] for name in _pair(data, given))
    if set(east.dims) != set(north.dims):
        raise InputError(
            f"{east.name!r} is over {listed(map(str, east.dims))} and {north.name!r} over "
            f"{listed(map(str, north.dims))}: give two components of one grid."
        )
    units = [part.attrs.get("units") for part in (east, north)]
    # A component without units is taken to have those of the other.
    if None not in units and _spelled(units[0]) != _spelled(units[1]):
        raise InputError(
            f"{east.name!r} is in {units[0]} and {north.name!r} in {units[1]}: convert one of them."
        )
    return east, north


def _spelled(units: Any) -> str:
    """One spelling of a unit.

    >>> _spelled("m s**-1"), _spelled("m/s"), _spelled("m s-1"), _spelled("knots")
    ('ms-1', 'ms-1', 'ms-1', 'knots')
    """
    text = str(units).replace("/s", "s-1")
    return "".join(letter for letter in text if letter not in " *^.·")


def find_place(data: "xr.Dataset", role: str, given: str | None) -> "xr.DataArray":
    """Return the longitude or the latitude: the one that is named, or the first that is known and in degrees."""
    if given is not None:
        return data[_named(data, given)]
    lower = {name.lower(): name for name in reversed(_names(data))}
    known = [lower[name] for name in _PLACES[role] if name in lower]
    known += _with_standard_name(data, _STANDARD_PLACES[role])
    in_degrees = [name for name in known if str(data[name].attrs.get("units", "degrees")).startswith("deg")]
    if not in_degrees:
        raise _unknown(data, f"the {_STANDARD_PLACES[role]} in degrees", role)
    return data[in_degrees[0]]


def find_time(data: "xr.Dataset", east: "xr.DataArray") -> str | None:
    """Return the name of the coordinate that is the time, if there is one."""
    names = [str(name) for name in east.coords if east[name].ndim <= 1]
    known = [name for name in _TIMES if name in names]
    known += [name for name in names if data[name].attrs.get("standard_name") == "time"]
    # That along which the wind changes comes before one that only stands beside it.
    along = [name for name in known if east[name].dims]
    return next(iter([*(name for name in along if name in east.dims), *along, *known]), None)


def _pair(data: "xr.Dataset", given: list[str | None]) -> tuple[str, str]:
    u, v = given
    if u is not None and v is not None:
        return u, v
    lower = {name.lower(): name for name in reversed(_names(data))}
    pairs = [(lower[a], lower[b]) for a, b in _PAIRS if a in lower and b in lower]
    fits = [pair for pair in pairs if all(one in (None, name) for one, name in zip(given, pair, strict=True))]
    if fits:
        return fits[0]
    # Beside one that was named, any other may stand; two that were not must go together.
    usual = [[lower[pair[k]] for pair in _PAIRS if pair[k] in lower] if any(given) else [] for k in (0, 1)]
    candidates = [
        [given[k] or ""] if given[k] else _with_standard_name(data, _STANDARD_PAIR[k]) or usual[k]
        for k in (0, 1)
    ]
    for role, known, side in zip(_ROLES, candidates, ("east", "north"), strict=True):
        if not known:
            raise _unknown(data, f"the component to the {side}", role)
        if len(known) > 1:
            raise InputError(
                f"the dataset has several components to the {side}, {listed(known)}: say which, {role}='…'."
            )
    return candidates[0][0], candidates[1][0]


def _names(data: "xr.Dataset") -> list[str]:
    return [str(name) for name in data.variables]


def _with_standard_name(data: "xr.Dataset", standard: str) -> list[str]:
    return [name for name in _names(data) if data[name].attrs.get("standard_name") == standard]


def _named(data: "xr.Dataset", given: Any) -> str:
    names = _names(data)
    if given not in names:
        raise InputError(
            f"the dataset has no variable {given!r}: did you mean {nearest(str(given), names)!r}? Its variables are "
            f"{listed(names)}."
        )
    return str(given)


def _unknown(data: "xr.Dataset", what: str, role: str) -> InputError:
    return InputError(
        f"the dataset has no variable that is known as {what}: give its name, {role}='…'. Its variables are "
        f"{listed(_names(data))}."
    )
