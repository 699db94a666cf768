"""Headings of made-up animals that are released far from home: at each place the true law has two pieces.

Home is at 0, 0. A share of the animals goes straight home and scatters about that direction by a von Mises law. The
others go the opposite way, or along a coast, with a scatter of their own. The nearer the place, the more know the way.
The true density at a place is a mixture of two pieces, known everywhere, and a mean direction says little about it.

Places are kilometres east and north of home. Headings are compass directions of motion: where the animal goes to, in
degrees clockwise from north, 0 ≤ φ < 360.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import i0e

from vmqp.checks import check_count
from vmqp.circle import FloatArray, FloatOrArray, as_result, check_angles, wrapped
from vmqp.datasets.noise import concentration, read_deviation, von_mises_noise
from vmqp.errors import InputError

__all__ = ["Headings", "headings"]

# Kilometres and degrees.
_WEST, _EAST, _SOUTH, _NORTH = -60.0, 60.0, -40.0, 40.0
_NEAREST = 8.0  # no release nearer to home
_SHARE_FAR, _SHARE_NEAR, _REACH = 0.5, 0.9, 40.0
_COAST = 205.0  # where the coast leads to
_REST = ("opposite", "coast")


@dataclass(frozen=True, eq=False)
class Headings:
    """Headings of released animals, and their true law; made by `headings`.

    >>> released = headings(places=4, animals=5, held_out=2, seed=1)
    >>> released.frame.columns.tolist(), len(released.frame), len(released.held_out)
    (['place', 'east', 'north', 'heading'], 20, 10)
    """

    frame: pd.DataFrame = field(repr=False)
    """Animals to learn from, one a row: place, east, north (km from home), heading."""
    held_out: pd.DataFrame = field(repr=False)
    """Animals at other places: the same columns, and went_home, home_direction, other_direction, home_share."""
    rest: Literal["opposite", "coast"]
    """Where those go that do not go home."""
    home_sd: float
    """Circular standard deviation of those that go home, in degrees."""
    other_sd: float
    """Likewise of the others."""
    seed: int

    def pieces(self, east: ArrayLike, north: ArrayLike) -> pd.DataFrame:
        """The true law at places, a row each: home_direction, other_direction, home_share (the weight of the first).

        >>> headings(seed=1).pieces([0.0, 30.0], [20.0, 0.0]).round(2)  # north and east of home
           home_direction  other_direction  home_share
        0           180.0              0.0        0.74
        1           270.0             90.0        0.69
        """
        x, y = (np.ravel(part) for part in _places(east, north))
        home, other, share = _law(x, y, self.rest)
        return pd.DataFrame({"home_direction": home, "other_direction": other, "home_share": share})

    def density(self, heading: ArrayLike, east: ArrayLike, north: ArrayLike) -> FloatOrArray:
        """True density of headings at places, per degree; the three broadcast.

        >>> released, around = headings(seed=1), np.arange(360.0)
        >>> float(released.density(around, 30.0, 0.0).sum().round(6))
        1.0
        """
        angle = check_angles(heading, "heading", empty=True)
        x, y = _places(east, north)
        home, other, share = _law(x, y, self.rest)
        try:
            first = _von_mises(angle - home, self.home_sd)
            second = _von_mises(angle - other, self.other_sd)
        except ValueError as error:
            raise InputError(
                f"heading has the shape {angle.shape} and the places have {x.shape}: give shapes that broadcast."
            ) from error
        return as_result(share * first + (1.0 - share) * second)


def headings(
    *,
    places: int = 20,
    animals: int = 12,
    held_out: int = 5,
    rest: Literal["opposite", "coast"] = "opposite",
    home_sd: float = 20.0,
    other_sd: float = 25.0,
    seed: int = 1,
) -> Headings:
    """Generate headings: so many animals at each of so many places, and as many at others, which are held out.

    Places are spread evenly over 120 km by 80 km, none within 8 km of home, and rounded to 0.1 km. `rest` says where
    those go that do not go home. `home_sd` and `other_sd`, in degrees, are positive.

    >>> released = headings(places=10, animals=8, rest="coast", seed=3)
    >>> len(released.frame), released.held_out["other_direction"].unique().tolist()
    (80, [205.0])
    >>> bool(released.frame["heading"].between(0, 360, inclusive="left").all())
    True
    """
    seen = check_count(places, "places", 1, "places to learn from")
    unseen = check_count(held_out, "held_out", 0, "places to be tested on")
    each = check_count(animals, "animals", 1, "animals at a place")
    seed = check_count(seed, "seed", 0, "a stream of random numbers")
    if rest not in _REST:
        raise InputError(f"rest is {rest!r}: give 'opposite' or 'coast'.")
    spreads = [_positive(home_sd, "home_sd"), _positive(other_sd, "other_sd")]
    where, which, scatter = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(3))

    x, y = _release(where, seen + unseen)
    home, other, share = (np.repeat(part, each) for part in _law(x, y, rest))
    went_home = which.uniform(size=share.size) < share
    noise = [von_mises_noise(scatter, share.size, spread, 360.0) for spread in spreads]
    heading = np.where(went_home, home + noise[0], other + noise[1])
    digits = len(str(seen + unseen))
    names = [f"R{number:0{digits}d}" for number in range(1, seen + unseen + 1)]
    table = pd.DataFrame(
        {
            "place": np.repeat(names, each),
            "east": np.repeat(x, each),
            "north": np.repeat(y, each),
            "heading": wrapped(heading, 360.0, 0.0),
        }
    )
    truth = table.assign(went_home=went_home, home_direction=home, other_direction=other, home_share=share)
    return Headings(
        frame=table.iloc[: seen * each].copy(),
        held_out=truth.iloc[seen * each :].reset_index(drop=True),
        rest=rest,
        home_sd=spreads[0],
        other_sd=spreads[1],
        seed=seed,
    )


def _law(x: FloatArray, y: FloatArray, rest: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Direction home, direction of the others, and the share that goes home."""
    home = wrapped(np.degrees(np.arctan2(-x, -y)), 360.0, 0.0)
    other = wrapped(home + 180.0, 360.0, 0.0) if rest == "opposite" else np.full(home.shape, _COAST)
    share = _SHARE_FAR + (_SHARE_NEAR - _SHARE_FAR) * np.exp(-np.hypot(x, y) / _REACH)
    return home, other, share


def _von_mises(degrees: FloatArray, deviation: float) -> FloatArray:
    """Density per degree, at differences from the centre."""
    kappa = concentration(np.radians(deviation))
    # With the scaled Bessel function, exp(κ cos φ)/I₀(κ) does not overflow.
    return np.asarray(np.exp(-2.0 * kappa * np.sin(np.radians(degrees) / 2.0) ** 2) / (360.0 * i0e(kappa)))


def _release(rng: np.random.Generator, count: int) -> tuple[FloatArray, FloatArray]:
    """Places of release, no two the same."""
    found = np.empty((0, 2))
    while len(found) < count:
        tries = rng.uniform((_WEST, _SOUTH), (_EAST, _NORTH), (count + 20, 2)).round(1)
        found = np.concatenate([found, tries[np.hypot(*tries.T) >= _NEAREST]])
        _, first = np.unique(found, axis=0, return_index=True)
        found = found[np.sort(first)]
    return found[:count, 0], found[:count, 1]


def _places(east: ArrayLike, north: ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, y = check_angles(east, "east", empty=True), check_angles(north, "north", empty=True)
    try:
        x, y = np.broadcast_arrays(x, y)
    except ValueError as error:
        raise InputError(
            f"east and north have shapes {x.shape} and {y.shape}: give one of each for a place."
        ) from error
    if ((x == 0) & (y == 0)).any():
        raise InputError("a place is home itself, from where no direction leads home: leave it out.")
    return x, y


def _positive(deviation: Any, name: str) -> float:
    value = read_deviation(deviation, name, 360.0, "degrees")
    if np.isinf(concentration(np.radians(value))):
        raise InputError(f"{name} is {value:g}, which has no density: give a positive number of degrees.")
    return value
