"""How long the inner chain of the exchange algorithm has to be.

What must have been renewed when an inner chain ends are the statistics that enter the ratio: ∂U/∂u_j for each
parameter. The energy alone misses the slow ones. So a probe runs the inner chain's sampler at the current parameters,
measures the integrated autocorrelation time τ_j of each statistic, and asks for 1.5 times the longest: with
τ = 2/rate, e^(−3) or 5 % of the start is left.

The statistic of κ is R cos ψ, where R and ψ are the length and the direction of the sum of all unit vectors. Under a
weak drift the sampler draws ψ anew at each step, so that R cos ψ looks renewed while R is not; but it is R that decides
how large the statistic can be. So R has to be renewed too.
"""

import numpy as np

from vmqp.circle import FloatArray
from vmqp.learning.point import Point, drift_field, factorised
from vmqp.learning.problem import Problem
from vmqp.sampling.sampler import Sampler, State, Streams

__all__ = ["Slopes", "autocorrelation_time", "energy_gradients", "needed_steps", "resultant"]

_STEP = 1e-4  # of the central differences of M, on the unconstrained scale
_TIMES = 1.5
_SHORTEST, _LONGEST = 3, 1000
_PROBE, _LONGEST_PROBE = 400, 6400
_LONGEST_SPARSE = (
    1600  # of many places, where a statistic is a sum over many regions that hardly know of each other
)
_NUMBERS = 8_000_000  # angles of a probe that are held at a time
_ENOUGH = 50.0  # autocorrelation times that make a probe long enough; with fewer the estimate is too short


def autocorrelation_time(series: FloatArray) -> float:
    """Integrated autocorrelation time 1 + 2 Σ ρ(t), summed to the first lag t ≥ 5 τ(t) (Sokal's window).

    >>> noise = np.random.default_rng(1).standard_normal(4000)
    >>> 0.8 < autocorrelation_time(noise) < 1.2
    True
    >>> 0.8 < autocorrelation_time(1e-200 * noise) < 1.2, autocorrelation_time(np.array([1.0, np.inf]))
    (True, 2.0)
    """
    from scipy.signal import fftconvolve  # its import takes a second

    n = len(series)
    if not np.isfinite(series).all():  # nothing is known of its renewal
        return float(n)
    values = series - series.mean()
    if not values.any():
        return 1.0
    values = values / np.abs(values).max()  # their squares must neither vanish nor overflow
    correlation = fftconvolve(values, values[::-1])[n - 1 :]
    times = 2.0 * np.cumsum(correlation / correlation[0]) - 1.0
    window = np.arange(n) >= 5.0 * times
    last = int(np.argmax(window)) if window.any() else n - 1
    return max(1.0, float(times[last]))


class Slopes:
    """∂U/∂u_j for each exchanged parameter, by central differences of M."""

    def __init__(self, problem: Problem, point: Point, direction: float) -> None:
        self._direction = direction
        self._pairs: list[tuple[Point, Point]] = []
        for j in range(len(problem.exchanged)):
            step = np.zeros(len(problem.exchanged))
            step[j] = _STEP
            upper, lower = (
                factorised(problem, u, problem.values(u)) for u in (point.u + step, point.u - step)
            )
            if (
                upper is not None and lower is not None
            ):  # else at the edge of what has a factor: the others decide
                self._pairs.append((upper, lower))

    def of(self, angles: FloatArray) -> FloatArray:
        """At angles (draws, d): (draws, p)."""
        c, s = np.cos(angles), np.sin(angles)
        columns = []
        for upper, lower in self._pairs:
            pull = drift_field(upper, self._direction) - drift_field(lower, self._direction)
            change = upper.base.quadratic_slopes(lower.base, c, s)
            columns.append((change - c @ pull[0] - s @ pull[1]) / (2.0 * _STEP))
        result: FloatArray = np.array(columns).T.reshape(len(angles), -1)
        return result


def energy_gradients(problem: Problem, point: Point, direction: float, angles: FloatArray) -> FloatArray:
    """∂U/∂u_j of angles (draws, d) for each exchanged parameter, (draws, p)."""
    return Slopes(problem, point, direction).of(angles)


def resultant(point: Point, angles: FloatArray) -> FloatArray:
    """Length R of the sum of unit vectors, with the weights of the drift, of angles (draws, d)."""
    return np.asarray(np.abs(np.exp(1j * angles) @ point.base.weights))


def needed_steps(
    rng: Streams, problem: Problem, point: Point, direction: float, sampler: Sampler, state: State
) -> int:
    """Measure how many steps of the sampler renew every statistic of the exchange ratio."""
    length, slopes = _PROBE, Slopes(problem, point, direction)
    most = _LONGEST_SPARSE if problem.is_sparse else _LONGEST_PROBE
    while True:
        rows: list[FloatArray] = []
        piece = max(1, _NUMBERS // problem.d)
        for first in range(0, length, piece):
            state, angles = sampler.run(rng, state, min(piece, length - first))
            columns = [slopes.of(angles[0])]
            if not problem.no_drift:
                columns.append(resultant(point, angles[0])[:, None])
            rows.append(np.hstack(columns))
        longest = max((autocorrelation_time(column) for column in np.concatenate(rows).T), default=1.0)
        if longest * _ENOUGH <= length or length >= most:
            return int(np.clip(np.ceil(_TIMES * longest), _SHORTEST, _LONGEST))
        length *= 4
