"""Linear regression of an angle with the tan-half link (Fisher and Lee 1992), by maximum likelihood.

The angle of row i is von Mises about μ_i = μ + 2 arctan(x_iᵀβ) with one concentration κ. Given β the likelihood is
largest at μ = arg S and A(κ) = |S|/n with S = Σ exp(i (y_i − 2 arctan(x_iᵀβ))) and A = I₁/I₀, and then grows with |S|
alone. So |S|² is what is climbed, from several starts, for it has several tops.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import i0e, i1e
from threadpoolctl import threadpool_limits

from vmqp.checks import check_count
from vmqp.circle import TWO_PI, FloatArray
from vmqp.peers.baselines.baseline import Baseline, Standard, numbers_only
from vmqp.tables import Table

__all__ = ["TanHalfRegression"]

_STEEPEST = 50.0  # of standardised columns: beyond it 2 arctan is a step, and the likelihood rises for ever
_SCALES = (0.2, 1.0, 5.0)  # of random starts
_MOST = 1e8  # κ of data that the curve meets exactly


class TanHalfRegression(Baseline):
    """Von Mises regression with the tan-half link: its mean direction turns once as xᵀβ goes from −∞ to ∞.

    Columns are standardised inside. After `fit`, ``slopes_`` holds β of the standardised columns, ``direction_`` μ in
    radians, ``concentration_`` κ.

    **Parameters**

    period
        Of the angles, as in `vmqp.CircularRegressor`.
    starts
        Climbs of the likelihood, the first from β = 0 and the others from random places that are always the same.

    >>> x = np.linspace(-2.0, 2.0, 30)[:, None]
    >>> model = TanHalfRegression().fit(x, 3.0 + 2.0 * np.arctan(x[:, 0]))
    >>> model.predict([[1.0]]).round(4) == round(3.0 + np.pi / 2.0, 4)
    array([ True])
    """

    def __init__(self, *, period: float | str = TWO_PI, starts: int = 20) -> None:
        self.period = period
        self.starts = starts

    def _learn(self, table: Table, radians: FloatArray) -> None:
        values = numbers_only(table, type(self).__name__)
        starts = check_count(self.starts, "starts", 1, "climbs of the likelihood")
        self._standard = Standard(values)
        columns, unit = self._standard(values), np.exp(1j * radians)
        with threadpool_limits(limits=1):  # the matrices are small, and threads would wait for each other
            tops = [_climb(columns, unit, start) for start in _starts(columns.shape[1], starts)]
        best = max(tops, key=lambda top: top[0])
        self.slopes_ = best[1]
        turned = unit * np.exp(-1j * _curve(columns, self.slopes_))
        resultant = turned.mean()
        self.direction_ = float(np.angle(resultant))
        off = np.angle(turned * np.exp(-1j * self.direction_))
        self.concentration_ = _concentration(float(np.mean(2.0 * np.sin(off / 2.0) ** 2)))

    def _mean(self, new: Table) -> FloatArray:
        return np.asarray(self.direction_ + _curve(self._standard(new.values), self.slopes_))

    def _draw(self, new: Table, n: int, rng: np.random.Generator) -> FloatArray:
        mean = self._mean(new)
        return np.asarray(mean + rng.vonmises(0.0, self.concentration_, size=(n, mean.size)))

    def _log_density(self, new: Table, truth: FloatArray) -> FloatArray:
        off = (
            2.0 * np.sin((truth - self._mean(new)) / 2.0) ** 2
        )  # 1 − cos, without a difference of nearly equal numbers
        return np.asarray(-self.concentration_ * off - np.log(TWO_PI * i0e(self.concentration_)))


def _curve(columns: FloatArray, slopes: FloatArray) -> FloatArray:
    return np.asarray(2.0 * np.arctan(columns @ slopes))


def _starts(columns: int, count: int) -> list[FloatArray]:
    rng = np.random.default_rng(0)
    scales = [_SCALES[number % len(_SCALES)] for number in range(count - 1)]
    return [np.zeros(columns), *(scale * rng.normal(size=columns) for scale in scales)]


def _climb(columns: FloatArray, unit: NDArray[np.complex128], start: FloatArray) -> tuple[float, FloatArray]:
    """A top of |S|²/n² and where it is."""

    def below(slopes: FloatArray) -> tuple[float, FloatArray]:
        line = columns @ slopes
        turned = unit * np.exp(-2j * np.arctan(line))
        mean = turned.mean()
        # d|S|²/dβ = 2 Re(S̄ dS/dβ), and exp(−2i arctan t) changes by −2i/(1 + t²) times itself.
        pull = (np.conj(mean) * turned).imag * 2.0 / (1.0 + line**2)
        return -(abs(mean) ** 2), np.asarray(-2.0 * (pull @ columns) / len(line))

    found = minimize(
        below,
        np.clip(start, -_STEEPEST, _STEEPEST),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_STEEPEST, _STEEPEST)] * columns.shape[1],
        options={"ftol": 1e-14, "gtol": 1e-10},
    )
    return -float(found.fun), np.asarray(found.x)


def _concentration(variance: float) -> float:
    """The κ of the von Mises law with circular variance 1 − I₁(κ)/I₀(κ).

    >>> round(_concentration(1.0 - i1e(3.0) / i0e(3.0)), 9), _concentration(1.0), _concentration(0.0)
    (3.0, 0.0, 100000000.0)
    """
    if variance >= 1.0:
        return 0.0
    if variance < 1e-4:  # 1 − A(κ) is (1 + 1/4κ + …)/2κ there, which needs no difference
        return min(_MOST, (0.5 + math.sqrt(0.25 + 0.5 * variance)) / (2.0 * max(variance, 0.5 / _MOST)))
    return float(brentq(lambda kappa: 1.0 - i1e(kappa) / i0e(kappa) - variance, 0.0, 1e5, xtol=1e-12))
