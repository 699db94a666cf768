"""Times of day at which made-up people fall asleep, whose true mean hour is known for everybody and every night.

The mean hour is a sum: half past eleven, later in summer by up to three quarters of an hour, later by up to two hours
with bright light in the evening, and a person's own habit, the chronotype. The hour of a night scatters about it by a
von Mises law, the same for all. Many hours lie about midnight, where 23.9 and 0.1 are neighbours: an arithmetic mean
fails.

Hours are those of the clock, 0 ≤ h < 24, with the period 24.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from vmqp.checks import check_count
from vmqp.circle import TWO_PI, FloatArray, FloatOrArray, as_result, check_angles, wrapped
from vmqp.datasets.noise import concentration, read_deviation, von_mises_noise
from vmqp.errors import InputError

__all__ = ["CircadianTimes", "circadian_times"]

# Hours, days and hours of light.
_DAY, _YEAR = 24.0, 365.25
_BASE = 23.5
_SEASON, _MIDSUMMER = 0.75, 172.0
_DELAY, _DELAY_LIGHT = 2.0, 1.5  # the most that light delays, and the light that gives three quarters of it
_CHRONOTYPE_SD = 0.8
_LIGHT_SHAPE, _LIGHT_SCALE, _MOST_LIGHT = 1.5, 0.8, 5.0


@dataclass(frozen=True, eq=False)
class CircadianTimes:
    """Hours at which people fell asleep; made by `circadian_times`.

    >>> sleep = circadian_times(subjects=3, nights=4, seed=1)
    >>> sleep.frame.columns.tolist(), len(sleep.frame), len(sleep.held_out)
    (['subject', 'day_of_year', 'light', 'hour'], 12, 12)
    """

    frame: pd.DataFrame = field(repr=False)
    """Nights to learn from: subject, day_of_year, light (hours of bright light in the evening), hour (observed)."""
    held_out: pd.DataFrame = field(repr=False)
    """Nights to be tested on, of the same people: the same columns, and true_hour."""
    chronotypes: pd.Series = field(repr=False)
    """How many hours later than the average each subject falls asleep."""
    noise_sd: float
    """Circular standard deviation of an hour about the true mean, in hours."""
    concentration: float
    """κ of the von Mises law of an hour about the true mean; inf without noise."""
    seed: int

    def truth(self, day_of_year: ArrayLike, light: ArrayLike, subject: Any = None) -> FloatOrArray:
        """True mean hour, in [0, 24): of a subject, of one for each row, or (None) of somebody average.

        >>> sleep = circadian_times(seed=1)
        >>> sleep.truth(172, [0.0, 5.0]).round(2).tolist()  # at midsummer, without light and with much of it
        [0.25, 2.24]
        >>> float(round(sleep.truth(355, 0.0), 2))
        22.75
        """
        day, hours = (
            check_angles(day_of_year, "day_of_year", empty=True),
            check_angles(light, "light", empty=True),
        )
        if (hours < 0).any():
            raise InputError(f"light is {float(hours.min()):g} hours: give numbers from 0.")
        own = 0.0 if subject is None else self._chronotype(subject)
        try:
            return as_result(wrapped(np.asarray(_mean_hour(day, hours) + own), _DAY, 0.0))
        except ValueError as error:
            raise InputError(
                f"day_of_year, light and subject have shapes {day.shape}, {hours.shape} and {np.shape(subject)}: give "
                "one of each for a row."
            ) from error

    def _chronotype(self, subject: Any) -> Any:
        names = np.asarray(subject, dtype=object)
        unknown = [name for name in names.ravel().tolist() if name not in self.chronotypes.index]
        if unknown:
            raise InputError(
                f"there is no subject {unknown[0]!r}: they are {self.chronotypes.index[0]!r} to "
                f"{self.chronotypes.index[-1]!r}."
            )
        return self.chronotypes.loc[names.ravel()].to_numpy().reshape(names.shape)


def circadian_times(
    *, subjects: int = 20, nights: int = 10, held_out: int = 4, noise_sd: float = 0.75, seed: int = 1
) -> CircadianTimes:
    """Generate hours of falling asleep: so many nights of each subject, and others of theirs held out.

    Nights are spread evenly over the year. The evening's light is 0 to 5 hours, mostly below 2, and does not depend on
    the season. An hour is the true mean plus von Mises noise of circular standard deviation `noise_sd` hours; 0 gives
    the truth itself.

    >>> sleep = circadian_times(subjects=5, nights=6, held_out=2, seed=3)
    >>> sleep.held_out.columns.tolist()
    ['subject', 'day_of_year', 'light', 'hour', 'true_hour']
    >>> bool(sleep.frame["hour"].between(0, 24, inclusive="left").all())
    True
    """
    people = check_count(subjects, "subjects", 1, "subjects")
    seen = check_count(nights, "nights", 1, "nights of a subject to learn from")
    unseen = check_count(held_out, "held_out", 0, "nights of a subject to be tested on")
    seed = check_count(seed, "seed", 0, "a stream of random numbers")
    deviation = read_deviation(noise_sd, "noise_sd", _DAY, "hours")
    who, when, scatter = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(3))

    digits = len(str(people))
    names = [f"P{number:0{digits}d}" for number in range(1, people + 1)]
    chronotypes = pd.Series(who.normal(0.0, _CHRONOTYPE_SD, people).round(2), index=names, name="chronotype")

    rows = people * (seen + unseen)
    day = when.integers(1, 366, rows).astype(float)
    light = np.minimum(when.gamma(_LIGHT_SHAPE, _LIGHT_SCALE, rows), _MOST_LIGHT).round(1)
    subject = np.repeat(names, seen + unseen)
    mean = wrapped(_mean_hour(day, light) + chronotypes.loc[subject].to_numpy(), _DAY, 0.0)
    noise = von_mises_noise(scatter, rows, deviation, _DAY)
    table = pd.DataFrame(
        {
            "subject": subject,
            "day_of_year": day,
            "light": light,
            "hour": wrapped(mean + noise, _DAY, 0.0),
        }
    )
    learn = np.arange(rows) % (seen + unseen) < seen
    return CircadianTimes(
        frame=table[learn].reset_index(drop=True),
        held_out=table.assign(true_hour=mean)[~learn].reset_index(drop=True),
        chronotypes=chronotypes,
        noise_sd=deviation,
        concentration=concentration(deviation / _DAY * TWO_PI),
        seed=seed,
    )


def _mean_hour(day: FloatArray, light: FloatArray) -> FloatArray:
    """Mean hour of somebody average, not wrapped."""
    season = _SEASON * np.cos(TWO_PI * (day - _MIDSUMMER) / _YEAR)
    return np.asarray(_BASE + season + _DELAY * np.tanh(light / _DELAY_LIGHT))
