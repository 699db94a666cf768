"""Calibration: whether the truth falls where the predictions said, by the integral transform and by arcs."""

from bisect import bisect_left
from operator import index

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc

from vmqp import circle
from vmqp.arcs import check_probability, in_arc
from vmqp.circle import TWO_PI, FloatArray, check_angles, wrapped
from vmqp.errors import InputError
from vmqp.scores.draws import blocks, checked

__all__ = ["coverage_band", "covered", "pit"]


def pit(draws: ArrayLike, truth: ArrayLike, rng: Generator | None = None) -> FloatArray:
    """Probability integral transform of each place, (m,): the share of the draws that come before the truth.

    The circle is cut opposite the mean direction of the draws, and counted counter-clockwise from there. Where
    the draws cancel and have no mean direction, it is cut at π; any other cut would be as good.

    Calibrated predictions have uniform transforms: a hump in their histogram says that predictions are too
    wide, a bowl that they are too narrow, a slope that they are turned to one side. A draw equal to the truth
    counts half. With an `rng` the truth instead gets a uniform place between the draws beside it, and a random
    one among its equals, which makes the transform exactly uniform for few draws too if none is near the cut.
    Where the law itself is nearly uniform, the cut depends on chance, and a slight bowl of the order of
    1/√draws is left.

    >>> draws = np.radians([[350.0], [355.0], [0.0], [10.0]])
    >>> pit(draws, np.radians([5.0])).tolist(), pit(draws, np.radians([0.0])).tolist()
    ([0.75], [0.625])
    """
    angles, observed = checked(draws, truth)
    if rng is not None and not isinstance(rng, Generator):
        raise InputError(
            f"rng must be a NumPy Generator or None but is {rng!r}; give np.random.default_rng(1)."
        )
    n = angles.shape[0]
    before, equal = np.empty(observed.size), np.empty(observed.size)
    for places, block in blocks(angles):
        center = np.nan_to_num(circle.mean(block, axis=0), nan=0.0)
        block -= center
        ahead = wrapped(block, TWO_PI)
        aim = wrapped(observed[places] - center, TWO_PI)
        before[places] = np.count_nonzero(ahead < aim, axis=0)
        equal[places] = np.count_nonzero(ahead == aim, axis=0)
    if rng is None:
        return np.asarray((before + equal / 2) / n)
    return np.asarray((before + rng.uniform(size=observed.size) * (equal + 1)) / (n + 1))


def covered(
    lower: ArrayLike, upper: ArrayLike, truth: ArrayLike, period: float = TWO_PI
) -> NDArray[np.bool_]:
    """Whether each truth lies in its arc from lower counter-clockwise to upper, ends included, (m,).

    >>> covered([350, 350], [10, 10], [5, 20], period=360).tolist()
    [True, False]
    """
    angles = check_angles(truth, "truth", empty=True)
    for name, ends in (("lower", lower), ("upper", upper)):
        shape = check_angles(ends, name, empty=True).shape
        if shape not in ((), angles.shape):
            raise InputError(
                f"{name} has shape {shape} and truth has {angles.shape}; give one arc for each truth."
            )
    return np.asarray(in_arc(angles, lower, upper, period), dtype=bool)


def coverage_band(count: int, probability: float, error: float = 0.05) -> tuple[float, float]:
    """Lowest and highest share of `count` truths that arcs of a probability may cover and be calibrated.

    The number that is covered is binomial for independent truths. It lies below the band with a probability
    of at most ``error / 2``, and above it with as much, exactly and not by a normal approximation. Truths of
    neighbouring places are covered together or missed together, so their share scatters more than the band
    says: for them it is a lower bound of the scatter.

    >>> coverage_band(40, 0.9)
    (0.8, 0.975)
    >>> coverage_band(1000, 0.9)
    (0.881, 0.918)
    """
    try:
        n = index(count)
    except TypeError:
        n = 0
    if n < 1:
        raise InputError(f"count must be a whole number from 1 but is {count!r}; give the number of truths.")
    if not 0 < error < 1:
        raise InputError(f"error must lie between 0 and 1 but is {error!r}; give 0.05 for 5 %.")
    share = check_probability(probability)
    possible = range(n + 1)
    lowest = bisect_left(possible, error / 2, key=lambda k: float(bdtr(k, n, share)))
    highest = bisect_left(possible, -error / 2, key=lambda k: -float(bdtrc(k, n, share)))
    return lowest / n, highest / n
