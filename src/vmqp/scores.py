"""How good predictions were, once the truth is known: CRPS, PIT and coverage.

`draws` are angles in radians, (draws, m), from the predictive law of each of m places, and `truth` holds the
m angles that were then seen there. Draws of several chains are stacked: ``draws.reshape(-1, m)``.

>>> rng = np.random.default_rng(1)
>>> truth = rng.vonmises(0, 4, size=3)
>>> draws = rng.vonmises(0, 4, size=(1000, 3))
>>> crps(draws, truth).shape, pit(draws, truth).shape
((3,), (3,))
"""

from bisect import bisect_left
from collections.abc import Iterator
from operator import index

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc

from vmqp import circle
from vmqp.arcs import check_probability, in_arc
from vmqp.circle import TWO_PI, FloatArray, check_angles, wrapped
from vmqp.errors import InputError

__all__ = ["coverage_band", "covered", "crps", "pit"]

# Work goes by blocks of places with so many draws in all: 4 MB for each array that a score needs.
_BLOCK = 1 << 19


def crps(draws: ArrayLike, truth: ArrayLike) -> FloatArray:
    """Circular continuous ranked probability score of each place, (m,); 0 is best and 2 is worst.

    It is E d(φ, y) − ½ E d(φ, φ′), where φ and φ′ are independent draws, y is the truth and
    d(a, b) = 1 − cos(a − b) (appendix app:crps). With the unit vectors x(·) that is ½ |E x(φ) − x(y)|², which
    is computed here as ½ (a² + s²) with a = E 2 sin²((φ − y)/2) and s = E sin(φ − y): no difference of
    nearly equal numbers loses digits where the draws are concentrated.

    The expectations are means over all draws and all pairs of draws, a draw with itself included, as it is
    for the law that puts equal weight on each draw. For N independent draws of a law with resultant length R
    this adds (1 − R²)/2N to the score of the law.

    The score is proper, but it sees only the mean vector of a law: two laws that share it score alike. The
    log score tells them apart.

    >>> float(crps([[0.1], [-0.1]], [0.0])[0].round(9))
    1.2479e-05
    >>> crps([[0.0, np.pi]], [0.0, 0.0]).tolist()
    [0.0, 2.0]
    """
    angles, observed = _checked(draws, truth)
    score = np.empty(observed.size)
    for places, block in _blocks(angles):
        half = block
        half -= observed[places]
        half *= 0.5
        sine = np.sin(half)
        along = 2 * np.square(sine).mean(axis=0)
        sine *= np.cos(half, out=half)
        across = 2 * sine.mean(axis=0)
        score[places] = 0.5 * (along**2 + across**2)
    return score


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
    angles, observed = _checked(draws, truth)
    if rng is not None and not isinstance(rng, Generator):
        raise InputError(
            f"rng must be a NumPy Generator or None but is {rng!r}; give np.random.default_rng(1)."
        )
    n = angles.shape[0]
    before, equal = np.empty(observed.size), np.empty(observed.size)
    for places, block in _blocks(angles):
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


def _checked(draws: ArrayLike, truth: ArrayLike) -> tuple[NDArray[np.generic], FloatArray]:
    """Check the shapes and the truth; the draws are checked by blocks, for they may be large."""
    observed = check_angles(truth, "truth", empty=True)
    try:
        angles = np.asarray(draws)
    except ValueError as error:
        raise InputError(f"draws must be a table of numbers but are not ({error}); give an array.") from error
    if angles.ndim != 2 or observed.ndim != 1 or angles.shape[1] != observed.size:
        raise InputError(
            f"draws must have shape (draws, m) and truth (m,) but they have {angles.shape} and "
            f"{observed.shape}; stack the draws of several chains with draws.reshape(-1, m)."
        )
    if angles.shape[0] == 0:
        raise InputError("draws must hold at least one draw of each place but hold none; give some.")
    if angles.dtype.kind not in "fiu":
        raise InputError(f"draws must be real numbers but are of type {angles.dtype}; convert them first.")
    return angles, wrapped(observed, TWO_PI)


def _blocks(angles: NDArray[np.generic]) -> Iterator[tuple[slice, FloatArray]]:
    """Yield some places at a time with a copy of their draws, wrapped, that may be overwritten."""
    n, m = angles.shape
    width = max(1, _BLOCK // n)
    for start in range(0, m, width):
        places = slice(start, min(start + width, m))
        block = angles[:, places].astype(float)
        if not np.isfinite(block).all():
            draw, place = (int(i) for i in np.argwhere(~np.isfinite(block))[0])
            raise InputError(
                f"draws must be finite but draw {draw} of place {start + place} is {block[draw, place]}; "
                "drop or fill it."
            )
        yield places, wrapped(block, TWO_PI)
