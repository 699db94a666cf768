"""A wind field over a made-up region, whose true direction is known everywhere.

The region lies between 5 and 15° E and 47 and 55° N so that distances are those of the earth, but the weather
is invented. A cyclone turns counter-clockwise about a centre in the middle of the region, and air flows into
it. A steady wind carries it along, a front trails from its centre, where the wind veers within some 50 km,
and waves of 150 to 400 km lie over everything. Few stations stand near the centre. There the wind turns
through all directions within a short way, and what is known about it is little: a good prediction is broad.

Directions are those of meteorology: where the wind comes from, in degrees clockwise from north, 0 ≤ φ < 360.
"""

import math
from dataclasses import dataclass, field
from operator import index
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import expit

from vmqp.circle import FloatArray, FloatOrArray, as_result, check_angles, wrapped
from vmqp.datasets.noise import read_deviation, von_mises_noise
from vmqp.errors import InputError

__all__ = ["WindField", "wind_field"]

_WEST, _EAST, _SOUTH, _NORTH = 5.0, 15.0, 47.0, 55.0
_KM_IN_DEGREE = 111.195
_KM_EAST = _KM_IN_DEGREE * math.cos(math.radians((_SOUTH + _NORTH) / 2))

# Lengths in km, speeds in m/s.
_CORE, _SWIRL, _INFLOW = 140.0, 11.0, math.radians(20.0)
_STEERING = 5.0
_FRONT_WIDTH, _FRONT_START, _FRONT_SHEAR = 25.0, 60.0, 6.0
_WAVES, _SHORTEST_WAVE, _LONGEST_WAVE, _WAVE_SPEED = 12, 150.0, 400.0, 2.2
_UNWATCHED = 80.0

_TOWNS, _IN_TOWNS, _TOWN_SIZE = 12, 0.4, 40.0


@dataclass(frozen=True, eq=False)
class _Flow:
    """The wind as a function of the place."""

    centre: tuple[float, float]
    steering: float
    """Where the steady wind blows to, in radians counter-clockwise from east."""
    front: float
    """Where the front trails to from the centre, likewise."""
    wave_numbers: FloatArray
    phases: FloatArray

    @classmethod
    def draw(cls, rng: Generator) -> "_Flow":
        lengths = _SHORTEST_WAVE * (_LONGEST_WAVE / _SHORTEST_WAVE) ** rng.uniform(size=_WAVES)
        headings = rng.uniform(0.0, 2 * np.pi, _WAVES)
        return cls(
            centre=(round(rng.uniform(9.0, 11.0), 4), round(rng.uniform(50.2, 51.8), 4)),
            steering=math.radians(rng.uniform(0.0, 40.0)),
            front=math.radians(rng.uniform(215.0, 245.0)),
            wave_numbers=2 * np.pi / lengths * np.stack([np.cos(headings), np.sin(headings)]),
            phases=rng.uniform(0.0, 2 * np.pi, _WAVES),
        )

    def offset(self, longitude: FloatArray, latitude: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Kilometres east and north of the centre."""
        return (longitude - self.centre[0]) * _KM_EAST, (latitude - self.centre[1]) * _KM_IN_DEGREE

    def velocity(self, longitude: FloatArray, latitude: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Speed to the east and to the north; both vanish at the centre."""
        x, y = self.offset(longitude, latitude)
        cores = (x**2 + y**2) / _CORE**2
        # It is fastest, _SWIRL, at the distance _CORE.
        turning = 2 * _SWIRL / _CORE / (1 + cores)
        cyclone_east = -turning * (y * math.cos(_INFLOW) + x * math.sin(_INFLOW))
        cyclone_north = turning * (x * math.cos(_INFLOW) - y * math.sin(_INFLOW))

        front_east, front_north = math.cos(self.front), math.sin(self.front)
        behind = np.tanh((x * front_north - y * front_east) / _FRONT_WIDTH)
        shear = _FRONT_SHEAR * behind * expit((x * front_east + y * front_north) / _FRONT_START)

        # The waves are those of a stream function, so they only turn the air and never gather it.
        k_east, k_north = self.wave_numbers
        waves = np.cos(np.multiply.outer(x, k_east) + np.multiply.outer(y, k_north) + self.phases)
        waves *= _WAVE_SPEED * math.sqrt(2 / _WAVES) / np.hypot(k_east, k_north)

        # The rest of the weather leaves the centre of the cyclone in peace.
        share = -np.expm1(-cores / 2)
        rest_east = _STEERING * math.cos(self.steering) + shear * front_east - waves @ k_north
        rest_north = _STEERING * math.sin(self.steering) + shear * front_north + waves @ k_east
        return cyclone_east + share * rest_east, cyclone_north + share * rest_north


@dataclass(frozen=True, eq=False)
class WindField:
    """Stations, held-out stations and a grid in a wind field; made by `wind_field`.

    >>> field = wind_field(stations=50, held_out=10, grid=(6, 4), seed=1)
    >>> field
    WindField(grid_shape=(6, 4), centre=(10.3916, 51.0817), noise_sd=10.0, seed=1)
    >>> len(field.frame), field.held_out.columns.tolist()
    (50, ['station', 'longitude', 'latitude', 'direction', 'true_direction'])
    """

    frame: pd.DataFrame = field(repr=False)
    """Stations to learn from: station, longitude, latitude, direction (observed)."""
    held_out: pd.DataFrame = field(repr=False)
    """Stations to be tested on, of the same kind: station, longitude, latitude, direction, true_direction."""
    grid: pd.DataFrame = field(repr=False)
    """Middles of the cells of a grid, row by row from the south-west: longitude, latitude, true_direction."""
    grid_shape: tuple[int, int]
    """How many cells the grid has from west to east and from south to north."""
    centre: tuple[float, float]
    """Longitude and latitude of the cyclone's centre, where there is no wind and no direction."""
    noise_sd: float
    """Circular standard deviation of an observed direction about the true one, in degrees."""
    seed: int
    _flow: _Flow = field(repr=False)

    def truth(self, longitude: ArrayLike, latitude: ArrayLike) -> FloatOrArray:
        """True direction at any places, in degrees from 0 to 360: where the wind comes from.

        >>> field = wind_field(seed=1)
        >>> east, north = field.centre
        >>> field.truth([east, east], [north - 0.1, north + 0.1]).round().tolist()  # south and north of it
        [250.0, 70.0]
        """
        east, north = (
            check_angles(longitude, "longitude", empty=True),
            check_angles(latitude, "latitude", empty=True),
        )
        try:
            east, north = np.broadcast_arrays(east, north)
        except ValueError as error:
            raise InputError(
                f"longitude and latitude have shapes {east.shape} and {north.shape}; give one of each for a place."
            ) from error
        if (np.abs(north) > 90).any() or (east < -180).any() or (east > 360).any():
            raise InputError(
                "some places are off the earth: give longitudes from -180 to 360 and latitudes from -90 to 90."
            )
        return as_result(_coming_from(*self._flow.velocity(east, north)))


def wind_field(
    *,
    stations: int = 200,
    held_out: int = 40,
    grid: tuple[int, int] = (24, 18),
    seed: int = 1,
    noise_sd: float = 10.0,
) -> WindField:
    """Generate a wind field: observed directions at stations, and the truth at others and on a grid.

    Stations are scattered, two in five of them about a dozen towns, and are rare within 80 km of the cyclone's
    centre. Held-out stations come from the same law. Coordinates are rounded to 4 decimals (10 m); directions
    are not rounded. An observed direction is the true one plus von Mises noise whose circular standard
    deviation is `noise_sd` degrees; 0 gives the truth itself. The wind depends on the seed only, and not on
    how many stations or cells are asked for. Directions say where the wind comes from, in degrees clockwise from
    north.

    >>> field = wind_field(stations=100, held_out=20, seed=3)
    >>> len(field.frame), len(field.held_out), len(field.grid)
    (100, 20, 432)
    >>> bool(field.frame["direction"].between(0, 360, inclusive="left").all())
    True
    """
    counts = _whole(stations, "stations", 1), _whole(held_out, "held_out", 0)
    shape = _grid_shape(grid)
    seed = _whole(seed, "seed", 0)
    deviation = read_deviation(noise_sd, "noise_sd", 360.0, "degrees")
    weather, place, noise = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(3))

    flow = _Flow.draw(weather)
    longitude, latitude = _places(place, sum(counts), flow).T
    true = _coming_from(*flow.velocity(longitude, latitude))
    observed = wrapped(true + von_mises_noise(noise, true.size, deviation, 360.0), 360.0, 0.0)
    digits = len(str(sum(counts)))
    table = pd.DataFrame(
        {
            "station": [f"S{number:0{digits}d}" for number in range(1, sum(counts) + 1)],
            "longitude": longitude,
            "latitude": latitude,
            "direction": observed,
        }
    )
    unseen = table.iloc[counts[0] :].assign(true_direction=true[counts[0] :]).reset_index(drop=True)
    return WindField(
        frame=table.iloc[: counts[0]].copy(),
        held_out=unseen,
        grid=_cells(shape, flow),
        grid_shape=shape,
        centre=flow.centre,
        noise_sd=deviation,
        seed=seed,
        _flow=flow,
    )


def _coming_from(east: FloatArray, north: FloatArray) -> FloatArray:
    """Direction that a wind comes from, in degrees clockwise from north."""
    return wrapped(np.degrees(np.arctan2(-east, -north)), 360.0, 0.0)


def _places(rng: Generator, count: int, flow: _Flow) -> FloatArray:
    """Longitude and latitude of stations, (count, 2), no two at one place."""
    corner, size = np.array([_WEST, _SOUTH]), np.array([_EAST - _WEST, _NORTH - _SOUTH])
    towns = corner + size * rng.uniform(size=(_TOWNS, 2))
    found = np.empty((0, 2))
    while len(found) < count:
        tries = 2 * (count - len(found)) + 50
        scattered = corner + size * rng.uniform(size=(tries, 2))
        reach = _TOWN_SIZE / np.array([_KM_EAST, _KM_IN_DEGREE])
        in_town = towns[rng.integers(_TOWNS, size=tries)] + reach * rng.standard_normal((tries, 2))
        places = np.where(rng.uniform(size=(tries, 1)) < _IN_TOWNS, in_town, scattered).round(4)
        inside = ((places > corner) & (places < corner + size)).all(axis=1)
        x, y = flow.offset(*places.T)
        watched = rng.uniform(size=tries) > 0.97 * np.exp(-(((x**2 + y**2) / _UNWATCHED**2) ** 2))
        found = np.concatenate([found, places[inside & watched]])
        _, first = np.unique(found, axis=0, return_index=True)
        found = found[np.sort(first)]
    return found[:count]


def _cells(shape: tuple[int, int], flow: _Flow) -> pd.DataFrame:
    columns, rows = shape
    east = _WEST + (_EAST - _WEST) * (np.arange(columns) + 0.5) / columns
    north = _SOUTH + (_NORTH - _SOUTH) * (np.arange(rows) + 0.5) / rows
    longitude, latitude = np.tile(east, rows), np.repeat(north, columns)
    true = _coming_from(*flow.velocity(longitude, latitude))
    return pd.DataFrame({"longitude": longitude, "latitude": latitude, "true_direction": true})


def _whole(value: Any, name: str, least: int) -> int:
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise InputError(f"{name} must be a whole number from {least} but is {value!r}; give such a number.")
    return number


def _grid_shape(grid: Any) -> tuple[int, int]:
    try:
        columns, rows = grid
    except (TypeError, ValueError):
        raise InputError(
            f"grid must be two whole numbers but is {grid!r}; give the cells from west to east and from south "
            "to north, such as (24, 18)."
        ) from None
    return _whole(columns, "grid", 1), _whole(rows, "grid", 1)
