"""A generated gait: running at several gradients, each joint angle a few harmonics over the cycle.

The paper's own data (running at five gradients) are not public. This gait stands in for them where no file is given.
The numbers below are ours: they give curves with the ranges of a slow run (hip about 40°, knee about 75°, ankle about
45°), and amplitudes, offsets and timing that change smoothly with the gradient. Uphill the hip and the knee bend more
at the first contact and the ankle is bent more throughout.
"""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from vmqp.circle import TWO_PI, FloatArray
from vmqp.datasets.gait import ANGLES, Gait
from vmqp.errors import InputError

__all__ = ["gait_angles", "generated_gait"]

GRADIENTS = (-10.0, -5.0, 0.0, 5.0, 10.0)

_REFERENCE = 10.0  # per cent: the gradient that the changes below belong to
# For each joint: offset in degrees, and its change at 10 %.
_OFFSET = np.array([[14.0, 7.0], [45.0, 4.0], [8.0, 4.0]])
# For each joint and harmonic 1 to 4: amplitude in degrees, its change at 10 %, phase in per cent of the cycle (where
# the harmonic is largest), and its change at 10 %.
_HARMONICS = np.array(
    [
        [[21.0, 2.5, 88.0, 1.0], [4.0, 0.8, 37.0, 0.5], [1.5, 0.3, 10.0, 0.3], [0.4, 0.1, 5.0, 0.0]],
        [[28.0, -1.5, 72.0, 1.2], [20.0, 1.5, 20.5, -0.6], [4.0, -0.6, 9.0, 0.4], [1.2, 0.2, 17.0, 0.0]],
        [[9.0, 1.2, 16.0, -0.8], [14.0, 1.0, 18.0, 0.5], [4.0, 0.5, 19.0, 0.3], [1.0, 0.2, 20.0, 0.0]],
    ]
)
_WIGGLES = 5  # harmonics of what is added to each curve


def gait_angles(cycle_pct: ArrayLike, gradient: ArrayLike) -> FloatArray:
    """True hip, knee and ankle angle in degrees of the generated gait, (…, 3), at phases and gradients in per cent.

    >>> gait_angles([0.0, 100.0], 0.0).round(6).tolist()[0] == gait_angles([0.0, 100.0], 0.0).round(6).tolist()[1]
    True
    """
    phase, slope = np.broadcast_arrays(np.asarray(cycle_pct, float), np.asarray(gradient, float) / _REFERENCE)
    phase, slope = phase[..., None], slope[..., None]
    result = _OFFSET[:, 0] + slope * _OFFSET[:, 1]
    for number in range(_HARMONICS.shape[1]):
        size, more, at, later = _HARMONICS[:, number].T
        turn = TWO_PI * (number + 1) * (phase - at - slope * later) / 100.0
        result = result + (size + slope * more) * np.cos(turn)
    return np.asarray(result)


def generated_gait(
    *,
    gradients: Sequence[float] = GRADIENTS,
    points: int = 100,
    scatter_sd: float = 0.5,
    seed: int = 1,
) -> Gait:
    """Generate running at several gradients: three joint angles at even phases of the cycle, with the truth known.

    Phases are 100/points, 200/points, … 100 %, as in the paper. Each curve deviates from the true one by smooth random
    harmonics of standard deviation `scatter_sd` degrees, as a mean over some strides does. The level of a curve is its
    gradient over 5 %, and the truth stands in the columns true_hip, true_knee and true_ankle.

    >>> gait = generated_gait(points=20)
    >>> gait.groups, len(gait.frame)
    (['-10 %', '-5 %', '0 %', '5 %', '10 %'], 100)
    """
    slopes = _read_gradients(gradients)
    count = _read_points(points)
    if not 0 <= scatter_sd <= 10:
        raise InputError(
            f"scatter_sd must lie between 0 and 10 degrees but is {scatter_sd!r}; give 0.5, for example."
        )
    phases = 100.0 * np.arange(1, count + 1) / count
    rng = np.random.default_rng(seed)
    parts = []
    for slope in slopes:
        true = gait_angles(phases, slope)
        seen = true + scatter_sd * _wiggles(rng, phases)
        part = pd.DataFrame({"group": f"{slope:g} %", "level": slope / 5.0, "cycle_pct": phases})
        part[list(ANGLES)] = seen
        part[[f"true_{name}" for name in ANGLES]] = true
        parts.append(part)
    return Gait(pd.concat(parts, ignore_index=True), "gradient", generated=True)


def _wiggles(rng: np.random.Generator, phases: FloatArray) -> FloatArray:
    """Smooth random curves of unit variance, one for each joint, (phases, 3)."""
    turns = TWO_PI * np.multiply.outer(phases / 100.0, np.arange(1, _WIGGLES + 1))
    weights = rng.standard_normal((2, _WIGGLES, len(ANGLES))) / np.sqrt(_WIGGLES)
    return np.asarray(np.cos(turns) @ weights[0] + np.sin(turns) @ weights[1])


def _read_gradients(gradients: Any) -> list[float]:
    try:
        values = [float(value) for value in gradients]
    except (TypeError, ValueError):
        values = []
    if not values or len(set(values)) < len(values) or not all(abs(value) <= 30 for value in values):
        raise InputError(
            f"gradients must be different numbers from -30 to 30 per cent but are {gradients!r}; "
            "give (-10, -5, 0, 5, 10), for example."
        )
    return values


def _read_points(points: Any) -> int:
    try:
        count = index(points)
    except TypeError:
        count = 0
    if count < 4:
        raise InputError(f"points must be a whole number from 4 but is {points!r}; give 100, for example.")
    return count
