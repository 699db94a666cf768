"""The circular continuous ranked probability score, with two distances: 1 − cos, and the length of the arc.

For a distance d on the circle it is E d(φ, y) − ½ E d(φ, φ′), where φ and φ′ are independent draws from the predictive
law and y is the truth (appendix app:crps; Grimit, Gneiting, Berrocal and Johnson 2006, with the arc). The mean over
pairs is never formed: the score of the law with equal weight on each draw is a sum of terms of one sign, so that no
difference of nearly equal numbers loses digits where the draws are concentrated.

With 1 − cos and the unit vectors x(·) that score is ½ |E x(φ) − x(y)|². It is ½ (a² + s²) with
a = E 2 sin²((φ − y)/2) and s = E sin(φ − y), and ½ E d(φ, φ′) = a − ½ (a² + s²).

With the arc, two angles are as far apart as the measure of the half circles that hold the one and not the other, each
half circle counted with its complement once. Let the half circle from t to t + π hold the share F(t) of the draws.
Then the score is ∫ (F(t) − 1[y inside])² dt over half a turn, and ½ E d(φ, φ′) = ∫ F(t) (1 − F(t)) dt. F changes at the
draws and at their antipodes only: one sort gives it.
"""

import numpy as np
from numpy.typing import ArrayLike

from vmqp.circle import TWO_PI, FloatArray, wrapped
from vmqp.errors import InputError
from vmqp.scores.draws import blocks, checked

__all__ = ["check_distance", "crps"]

_DISTANCES = ("cosine", "arc")
_ARRAYS = 4  # a sort needs about so many times the memory of the cosine score


def crps(
    draws: ArrayLike, truth: ArrayLike, *, distance: str = "cosine", unbiased: bool = True
) -> FloatArray:
    """Circular continuous ranked probability score of each place, (m,); smaller is better.

    **Parameters**

    draws, truth
        Angles in radians, (draws, m) and (m,).
    distance
        "cosine" is d(a, b) = 1 − cos(a − b), as in the paper: 0 is perfect, ½ knows nothing, 2 is worst; in O(N) for N
        draws. "arc" is the length of the shorter arc in radians, as in Grimit et al. (2006): 0 is perfect, π/4 knows
        nothing, π is worst; in O(N log N).
    unbiased
        True takes the mean of d(φ, φ′) over pairs of distinct draws: the score of N independent draws is on average
        that of their law, whatever N. It can then be a little below 0. False pairs each draw with itself too, which is
        right where the draws are the law and not a sample of it; N independent draws then score E d(φ, φ′) / 2N too
        much. One draw has no pairs: its spread counts as 0, and its score is d(φ, y) either way.

    Both scores are proper, but neither sees all of a law. With 1 − cos it is the mean vector alone: a law with two
    modes scores like any other with that mean vector. The arc sees all odd harmonics, and so such modes, but no even
    ones: only the log score tells two opposite modes of equal weight from a law that knows nothing.

    >>> float(crps([[0.1], [-0.1]], [0.0], unbiased=False)[0].round(9))
    1.2479e-05
    >>> crps([[0.0, np.pi]], [0.0, 0.0]).tolist()
    [0.0, 2.0]
    >>> crps([[0.0, 2.0], [1.0, 2.0]], [0.0, -2.0], distance="arc", unbiased=False).round(4).tolist()
    [0.25, 2.2832]
    """
    angles, observed = checked(draws, truth)
    check_distance(distance)
    by_cosine = distance == "cosine"
    pairs = angles.shape[0] - 1 if unbiased else 0
    score = np.empty(observed.size)
    for places, block in blocks(angles, parts=1 if by_cosine else _ARRAYS):
        block -= observed[places]
        of_law, spread = _cosine(block) if by_cosine else _arc(block)
        score[places] = of_law - spread / pairs if pairs else of_law
    return score


def check_distance(distance: str) -> None:
    """Refuse a distance that there is not.

    >>> check_distance("chord")
    Traceback (most recent call last):
    vmqp.errors.InputError: distance is 'chord': give 'cosine' for 1 − cos, or 'arc' for the arc length.
    """
    if distance not in _DISTANCES:
        raise InputError(f"distance is {distance!r}: give 'cosine' for 1 − cos, or 'arc' for the arc length.")


def _cosine(errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Score of the law with equal weight on each draw, and its ½ E d(φ, φ′); overwrites the errors φ − y."""
    half = errors
    half *= 0.5
    sine = np.sin(half)
    along = 2 * np.square(sine).mean(axis=0)
    sine *= np.cos(half, out=half)
    across = 2 * sine.mean(axis=0)
    of_law = 0.5 * (along**2 + across**2)
    return of_law, np.maximum(along - of_law, 0.0)


def _arc(errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same with the arc, by half circles from t to t + π for t from −π/2 to π/2; the truth is at 0."""
    n, m = errors.shape
    errors = wrapped(errors, TWO_PI)
    near = np.abs(errors) < np.pi / 2
    # A near draw leaves the half circle at t = φ, and a far one enters it when t is at its antipode.
    place = np.where(near, errors, errors - np.copysign(np.pi, errors))
    place = np.concatenate([place, np.zeros((1, m))])  # the truth's own row changes no count
    jump = np.concatenate([np.where(near, -1, 1), np.zeros((1, m), dtype=int)]).astype(np.int32)
    order = np.argsort(place, axis=0)
    place, jump = np.take_along_axis(place, order, axis=0), np.take_along_axis(jump, order, axis=0)
    start = np.count_nonzero(near, axis=0).astype(np.int32)[None]
    share = np.concatenate([start, start + np.cumsum(jump, axis=0, dtype=np.int32)]) / n
    ends = np.concatenate([np.full((1, m), -np.pi / 2), place, np.full((1, m), np.pi / 2)])
    length = np.diff(ends, axis=0)
    outside = share * (1.0 - share)
    share -= ends[1:] <= 0.0  # the half circle holds the truth for t < 0
    np.square(share, out=share)
    return np.einsum("ij,ij->j", length, share), np.einsum("ij,ij->j", length, outside)
