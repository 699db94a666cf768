"""What `vmqp data` has: readers, and generated tables with the options of `vmqp predict` that go with each."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from vmqp import datasets

__all__ = ["DWD_FILES", "MADE", "READ", "Made"]

DWD_FILES = "dwd-files"

_FROM = "direction, degrees (360)"
READ = (
    ("dwd", "wind of the German stations at one time: files of the weather service, or downloaded", _FROM),
    ("ndbc", "wind or waves at NOAA's buoys: latest_obs.txt, or downloaded", f"{_FROM}; wave_direction"),
    ("grid", "gridded components of wind or current, such as ERA5's: a NetCDF file", _FROM),
)


@dataclass(frozen=True)
class Made:
    """A table that the package makes."""

    what: str
    angle: str
    frame: Callable[[int], pd.DataFrame]
    """The table of a seed."""
    predict: str
    """Options of `vmqp predict` for it; none for angles without inputs."""


def _month(seed: int) -> pd.DataFrame:
    return datasets.hourly_wind(hours=720, seed=seed).frame.dropna().reset_index(drop=True)


def _gait(seed: int) -> pd.DataFrame:
    frame = datasets.generated_gait(points=40, seed=seed).frame
    return frame[["group", "level", "hip", "knee", "ankle", "cycle_pct"]]


MADE = {
    "wind-field": Made(
        "wind at 200 invented stations about a cyclone",
        "direction, degrees (360)",
        lambda seed: datasets.wind_field(seed=seed).frame,
        "--angle direction --inputs longitude,latitude --period 360 --metric geographic --compass --holdout 0.2",
    ),
    "hourly-wind": Made(
        "a month of hourly winds at one invented station, with gaps",
        "direction, degrees (360)",
        _month,
        "--angle direction --inputs hour --period 360 --compass --holdout 0.2",
    ),
    "gait": Made(
        "hip, knee and ankle over the cycle of a run at five gradients",
        "cycle_pct, percent (100)",
        _gait,
        "--angle cycle_pct --inputs hip,knee,ankle,level --period 100 --holdout 0.2",
    ),
    "circadian": Made(
        "hours at which 20 invented people fell asleep, with day of the year and evening light",
        "hour, hours (24)",
        lambda seed: datasets.circadian_times(seed=seed).frame,
        "--angle hour --inputs subject,day_of_year,light --period 24 --compass --holdout 0.2",
    ),
    "headings": Made(
        "headings of invented animals, some home and some the opposite way: two modes",
        "heading, degrees (360)",
        lambda seed: datasets.headings(seed=seed).frame,
        "--angle heading --inputs east,north --period 360 --compass --holdout 0.2",
    ),
    "roulette": Made(
        "nine stops of a roulette wheel (Mardia 1972); angles alone, nothing to predict from",
        "direction, degrees (360)",
        lambda seed: pd.DataFrame({"direction": datasets.roulette()}),
        "",
    ),
    "turtles": Made(
        "directions of 76 sea turtles (Stephens 1969); angles alone",
        "direction, degrees (360)",
        lambda seed: pd.DataFrame({"direction": datasets.turtles()}),
        "",
    ),
}
