"""The wind experiment as a regression: 260 stations, a fifth of them held out as in the published code.

Directions are in radians from -π to π, clockwise from north, where the air goes to. Without a file they are downloaded;
a quick run takes the generated field `vmqp.datasets.wind_field`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from vmqp import circle, kernels, priors
from vmqp.circle import TWO_PI, FloatArray
from vmqp.datasets import wind_field, wind_germany
from vmqp.errors import InputError
from vmqp.paper.frame import Setting
from vmqp.plots import Scale

__all__ = ["SCALE", "SEED", "Stations", "Wind", "paper_kernel", "stations", "the_wind"]

SEED = 18
"""Of the split into stations to learn from and to predict."""
SCALE = Scale(TWO_PI, -np.pi, "radians", compass=True)
_STATIONS, _HELD_OUT = 260, 0.2
_FEWEST = 20
_ROUNDING = 0.01  # degrees


@dataclass(frozen=True, eq=False)
class Wind:
    """Places (longitude and latitude) and directions, learned from and held out."""

    places: FloatArray
    directions: FloatArray
    new_places: FloatArray
    new_directions: FloatArray
    source: str

    def grid(self, cells: int) -> FloatArray:
        """Middles of cells × cells even cells over the stations, row by row from the south-west."""
        everywhere = np.concatenate([self.places, self.new_places])
        low, high = everywhere.min(axis=0), everywhere.max(axis=0)
        steps = (np.arange(cells) + 0.5) / cells
        east, north = np.meshgrid(*(low[i] + (high[i] - low[i]) * steps for i in range(2)))
        return np.stack([east.ravel(), north.ravel()], axis=1)


class Stations(NamedTuple):
    """All stations, before any is held out."""

    frame: pd.DataFrame
    """longitude, latitude, dir_rad (where the air goes to), direction_deg (where it comes from, 0 to 360), and
    elevation_m where it is known."""
    source: str
    published: bool
    """Whether they are those of the paper, so that its numbers can stand beside ours."""


def stations(setting: Setting) -> Stations:
    """The table of --data; without one it is downloaded, and generated for a quick run."""
    if setting.wind is None and setting.quick:
        field = wind_field(stations=_STATIONS, held_out=0, seed=1).frame
        frame = field[["longitude", "latitude"]].astype(float)
        frame["direction_deg"] = np.remainder(field["direction"].to_numpy(dtype=float), 360.0)
        frame["dir_rad"] = circle.wrap(np.radians(frame["direction_deg"].to_numpy() - 180.0))
        return Stations(frame.reset_index(drop=True), "generated wind field", published=False)
    table = wind_germany(setting.wind)
    source = "the published wind data" if setting.wind is None else setting.wind.name
    if len(table) < _FEWEST:
        raise InputError(f"{source} has {len(table)} stations: give a table with at least {_FEWEST}.")
    known = [name for name in ("longitude", "latitude", "dir_rad", "elevation_m") if name in table]
    frame = table[known].astype(float)
    exact = np.degrees(frame["dir_rad"].to_numpy() + np.pi)
    tens = table["dd10_deg"].to_numpy(dtype=float)
    # The published radians are whole tens of degrees, up to rounding.
    rounded = np.abs(np.asarray(circle.difference(exact, tens, period=360.0))).max() < _ROUNDING
    frame["direction_deg"] = np.remainder(tens if rounded else exact, 360.0)
    return Stations(frame.reset_index(drop=True), source, published=_is_germany(frame))


def _is_germany(frame: pd.DataFrame) -> bool:
    inside = frame["longitude"].between(5.0, 16.0) & frame["latitude"].between(47.0, 56.0)
    return len(frame) == _STATIONS and bool(inside.all())


def the_wind(setting: Setting) -> Wind:
    """The stations with a fifth held out by the seed 18."""
    frame, source, _ = stations(setting)
    places = frame[["longitude", "latitude"]].to_numpy(dtype=np.float64)
    directions = frame["dir_rad"].to_numpy(dtype=np.float64)
    new = np.random.RandomState(SEED).choice(len(places), round(_HELD_OUT * len(places)), replace=False)
    old = np.setdiff1d(np.arange(len(places)), new)
    return Wind(places[old], directions[old], places[new], directions[new], source)


def paper_kernel(kind: type[kernels.Kernel], columns: Sequence[str] | None = None) -> kernels.Kernel:
    """``eq:gaussian_kernel`` or ``eq:exponential_kernel`` with the priors of ``app:wind_experiment``."""
    lengthscale = priors.Squared(priors.HalfNormal(1.0))
    return priors.HalfNormal(1.0) * kind(lengthscale, columns=columns)  # type: ignore[call-arg]
