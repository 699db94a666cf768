"""A year of hourly wind directions at one made-up station, with gaps whose true directions are known.

The wind has two components, to the east and to the north, and each is a sum of parts in m/s. Weather changes within
about five days, and what passes in it within about a day: both are Ornstein-Uhlenbeck processes, and so rough. A steady
wind comes from the west-south-west. A sea breeze turns once a day, strongest on summer afternoons. Turbulence is new
each hour. Only the direction is recorded. Where the wind is strong it is steady; in a lull it can turn through all
directions within a few hours.

Hour 0 is midnight at the start of the first of January. Directions are those of meteorology: where the wind comes from,
in degrees clockwise from north, 0 ≤ φ < 360.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator
from scipy.signal import lfilter

from vmqp.checks import check_count
from vmqp.circle import TWO_PI, FloatArray, wrapped
from vmqp.errors import InputError

__all__ = ["HourlyWind", "hourly_wind"]

# Speeds in m/s, times in hours.
_STEADY = np.array([2.0, 1.0])
_SYNOPTIC, _SYNOPTIC_TIME = 3.0, 120.0
_PASSING, _PASSING_TIME = 2.0, 24.0
_TURBULENCE = 0.5
_BREEZE_WINTER, _BREEZE_SUMMER = 0.3, 3.0
_ALONG_COAST = 0.5  # the breeze runs through an ellipse, so much narrower along the coast
_LAND = math.radians(60.0)  # where a wind from the sea blows to, counter-clockwise from east
_MIDSUMMER, _AFTERNOON = 4700.0, 15.0  # mid-July, and the hour of the strongest breeze
_DAY, _YEAR = 24.0, 8766.0

_IN_OUTAGES, _IN_RUNS = 0.3, 0.4  # shares of the missing hours; the others are single ones
_OUTAGE, _RUN = (24, 72), (2, 23)
_LARGEST_SHARE = 0.5  # beyond it there would be fewer hours than are needed to part the gaps


@dataclass(frozen=True, eq=False)
class HourlyWind:
    """Hourly directions with gaps; made by `hourly_wind`.

    >>> wind = hourly_wind(hours=200, gap_share=0.1, seed=1)
    >>> wind
    HourlyWind(gap_share=0.1, seed=1)
    >>> len(wind.frame), len(wind.observed), len(wind.gaps), wind.truth.shape
    (200, 180, 20, (200,))
    """

    frame: pd.DataFrame = field(repr=False)
    """One row an hour: hour, direction (nan in gaps)."""
    truth: FloatArray = field(repr=False)
    """Directions of all hours, (hours,)."""
    gap_share: float
    """Share of the hours that was asked to be missing."""
    seed: int

    @property
    def observed(self) -> pd.DataFrame:
        """Hours to learn from: hour, direction."""
        return self.frame.dropna(ignore_index=True)

    @property
    def gaps(self) -> pd.DataFrame:
        """Hours to be filled: hour, gap (counted from 0), length (of the gap, in hours), true_direction."""
        missing = self.frame["direction"].isna().to_numpy()
        number = np.cumsum(np.diff(missing.astype(int), prepend=0) == 1)[missing] - 1
        return pd.DataFrame(
            {
                "hour": self.frame["hour"].to_numpy()[missing],
                "gap": number,
                "length": np.bincount(number)[number],
                "true_direction": self.truth[missing],
            }
        )


def hourly_wind(hours: int = 8760, gap_share: float = 0.15, seed: int = 0) -> HourlyWind:
    """Generate hourly wind directions at one station, some of them missing.

    Of the missing hours three in ten are in outages of one to three days, four in ten in runs of 2 to 23 hours, and
    the others are single; a series too short for an outage has none. At least one observed hour lies between two gaps,
    before the first and after the last. The wind depends on the seed only: a shorter series is the beginning of a
    longer one, but its gaps are others.

    >>> wind = hourly_wind(hours=1000, seed=3)
    >>> len(wind.observed), len(wind.gaps)
    (850, 150)
    >>> wind.frame.columns.tolist(), bool(wind.gaps["length"].max() >= 24)
    (['hour', 'direction'], True)
    """
    count = check_count(hours, "hours", 24, "hours of the series")
    share = _read_share(gap_share)
    seed = check_count(seed, "seed", 0, "a stream of random numbers")
    weather, holes = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2))
    truth = _directions(weather, np.arange(float(count)))
    seen = np.where(_missing(holes, count, round(share * count)), np.nan, truth)
    frame = pd.DataFrame({"hour": np.arange(float(count)), "direction": seen})
    return HourlyWind(frame, truth, share, seed)


def _directions(rng: Generator, hour: FloatArray) -> FloatArray:
    """Where the wind comes from, in degrees clockwise from north."""
    # All numbers of an hour are drawn before those of the next, so that a longer series begins like a shorter one.
    numbers = rng.standard_normal((len(hour), 3, 2))
    wind = _STEADY + _sea_breeze(hour) + _TURBULENCE * numbers[:, 2]
    wind += _SYNOPTIC * _correlated(numbers[:, 0], _SYNOPTIC_TIME)
    wind += _PASSING * _correlated(numbers[:, 1], _PASSING_TIME)
    east, north = wind.T
    return wrapped(np.degrees(np.arctan2(-east, -north)), 360.0, 0.0)


def _correlated(numbers: FloatArray, time: float) -> FloatArray:
    """Ornstein-Uhlenbeck processes of unit variance and a decorrelation time, (hours, 2), stationary from the start."""
    kept = math.exp(-1.0 / time)
    pushes = math.sqrt(1.0 - kept**2) * numbers
    pushes[0] = numbers[0]
    return np.asarray(lfilter([1.0], [1.0, -kept], pushes, axis=0))


def _sea_breeze(hour: FloatArray) -> FloatArray:
    """A wind that turns clockwise once a day, from the sea in the afternoon; strong in summer, (hours, 2)."""
    summer = 0.5 + 0.5 * np.cos(TWO_PI * (hour - _MIDSUMMER) / _YEAR)
    strength = _BREEZE_WINTER + (_BREEZE_SUMMER - _BREEZE_WINTER) * summer
    turn = TWO_PI * (hour - _AFTERNOON) / _DAY
    inland, along = strength * np.cos(turn), -_ALONG_COAST * strength * np.sin(turn)
    across, beside = math.cos(_LAND), math.sin(_LAND)
    return np.stack([across * inland - beside * along, beside * inland + across * along], axis=1)


def _missing(rng: Generator, hours: int, missing: int) -> npt.NDArray[np.bool_]:
    """Which hours are missing."""
    lengths = rng.permutation(_gap_lengths(rng, missing))
    # The observed hours are dealt at random to the stretches between gaps, one at least to each.
    stretches = len(lengths) + 1
    cuts = np.sort(rng.choice(np.arange(1, hours - missing), stretches - 1, replace=False))
    observed = np.diff(cuts, prepend=0, append=hours - missing)
    every = np.empty(2 * len(lengths) + 1, dtype=int)
    every[::2], every[1::2] = observed, lengths
    return np.repeat(np.arange(len(every)) % 2 == 1, every)


def _gap_lengths(rng: Generator, missing: int) -> list[int]:
    """Lengths of gaps that together are so many hours: outages, then runs, and single hours for the rest."""
    outages = _some(rng, int(_IN_OUTAGES * missing), *_OUTAGE)
    runs = _some(rng, int((_IN_OUTAGES + _IN_RUNS) * missing) - sum(outages), *_RUN)
    return outages + runs + [1] * (missing - sum(outages) - sum(runs))


def _some(rng: Generator, total: int, shortest: int, longest: int) -> list[int]:
    """Lengths that together come to about the total and not above it; short ones are more frequent."""
    lengths: list[int] = []
    while total >= shortest:
        length = int(shortest * ((longest + 1) / shortest) ** rng.uniform())
        lengths.append(min(length, total))
        total -= lengths[-1]
    return lengths


def _read_share(gap_share: Any) -> float:
    try:
        share = math.nan if isinstance(gap_share, bool | str) else float(gap_share)
    except (TypeError, ValueError):
        share = math.nan
    if not 0 <= share <= _LARGEST_SHARE:
        raise InputError(
            f"gap_share must lie between 0 and {_LARGEST_SHARE} but is {gap_share!r}; give 0.15, for example."
        )
    return share
