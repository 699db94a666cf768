"""The wind experiment as a regression: 260 stations, a fifth of them held out as in the published code.

Directions are in radians from -π to π, clockwise from north, where the air goes to. Without a file they come from the
generated field `vmqp.datasets.wind_field`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from vmqp import circle, kernels, priors
from vmqp.circle import TWO_PI, FloatArray
from vmqp.datasets import read_wind, wind_field
from vmqp.errors import InputError
from vmqp.paper.frame import Setting
from vmqp.plots import Scale

__all__ = ["SCALE", "SEED", "Wind", "paper_kernel", "stations", "the_wind"]

SEED = 18
"""Of the split into stations to learn from and to predict."""
SCALE = Scale(TWO_PI, -np.pi, "radians", compass=True)
_STATIONS, _HELD_OUT = 260, 0.2
_FEWEST = 20


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


def stations(setting: Setting) -> tuple[pd.DataFrame, str]:
    """Longitude, latitude, direction in degrees (dd10_deg), elevation where it is known; and where they are from."""
    if setting.data is not None:
        table = read_wind(setting.data)
        known = [name for name in ("longitude", "latitude", "elevation_m") if name in table]
        frame = table[[*known, "dd10_deg"]].astype(float)
        frame["dd10_deg"] = np.remainder(frame["dd10_deg"], 360.0)
        source = setting.data.name
    else:
        field = wind_field(stations=_STATIONS, held_out=0, seed=1)
        frame = field.frame[["longitude", "latitude"]].astype(float)
        frame["dd10_deg"] = np.remainder(field.frame["direction"].to_numpy(dtype=float), 360.0)
        source = "generated wind field"
    if len(frame) < _FEWEST:
        raise InputError(f"{source} has {len(frame)} stations: give a table with at least {_FEWEST}.")
    return frame.reset_index(drop=True), source


def the_wind(setting: Setting) -> Wind:
    """The stations of --data, or generated ones; a fifth is held out by the seed 18."""
    if setting.data is not None:
        table = read_wind(setting.data)
        places = table[["longitude", "latitude"]].to_numpy(dtype=np.float64)
        directions = table["dir_rad"].to_numpy(dtype=np.float64)
        source = setting.data.name
    else:
        field = wind_field(stations=_STATIONS, held_out=0, seed=1)
        places = field.frame[["longitude", "latitude"]].to_numpy(dtype=np.float64)
        # It says where the wind comes from.
        directions = np.asarray(circle.wrap(np.radians(field.frame["direction"].to_numpy() - 180.0)))
        source = "generated wind field"
    if len(places) < _FEWEST:
        raise InputError(f"{source} has {len(places)} stations: give a table with at least {_FEWEST}.")
    new = np.random.RandomState(SEED).choice(len(places), round(_HELD_OUT * len(places)), replace=False)
    old = np.setdiff1d(np.arange(len(places)), new)
    return Wind(places[old], directions[old], places[new], directions[new], source)


def paper_kernel(kind: type[kernels.Kernel], columns: Sequence[str] | None = None) -> kernels.Kernel:
    """``eq:gaussian_kernel`` or ``eq:exponential_kernel`` with the priors of ``app:wind_experiment``."""
    lengthscale = priors.Squared(priors.HalfNormal(1.0))
    return priors.HalfNormal(1.0) * kind(lengthscale, columns=columns)  # type: ignore[call-arg]
