"""A Gaussian process on the cosine and one on the sine, and the angle of what they predict.

The two are independent and share one kernel, σ² times a Matérn kernel plus white noise, whose parameters maximize the
likelihood of both. So a rotation of the data rotates the predictions: with a kernel for each it would not.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from vmqp.checks import check_count
from vmqp.circle import TWO_PI, FloatArray
from vmqp.errors import InputError
from vmqp.laws import projected_normal
from vmqp.peers.baselines.baseline import Baseline, Standard, numbers_only
from vmqp.tables import Table

__all__ = ["CosineSineGP"]

_SMOOTHNESS = (0.5, 1.5, 2.5, float("inf"))


class CosineSineGP(Baseline):
    """Gaussian processes on cos y and sin y by scikit-learn; draws are angles of drawn pairs.

    Columns are standardised inside, and the mean of the pairs is subtracted. After `fit`, ``kernel_`` is the kernel
    with its parameters.

    **Parameters**

    period
        Of the angles, as in `vmqp.CircularRegressor`.
    nu
        Smoothness of the Matérn kernel: 0.5 (exponential), 1.5, 2.5, or infinite (Gaussian).
    restarts
        Climbs of the likelihood beyond the first, from random places that are always the same.

    >>> x = np.linspace(0.0, 3.0, 12)[:, None]
    >>> model = CosineSineGP(period=360).fit(x, 350.0 * np.ones(12) + 3.0 * x[:, 0])
    >>> model.predict([[1.5]]).round(0), model.draws([[1.5]], n=10).shape
    (array([354.]), (10, 1))
    """

    def __init__(self, *, period: float | str = TWO_PI, nu: float = 0.5, restarts: int = 2) -> None:
        self.period = period
        self.nu = nu
        self.restarts = restarts

    def _learn(self, table: Table, radians: FloatArray) -> None:
        values = numbers_only(table, type(self).__name__)
        restarts = check_count(self.restarts, "restarts", 0, "climbs of the likelihood beyond the first")
        if self.nu not in _SMOOTHNESS:
            raise InputError(f"nu is {self.nu!r}: give 0.5, 1.5, 2.5 or float('inf').")
        self._standard = Standard(values)
        pairs = np.stack([np.cos(radians), np.sin(radians)], axis=1)
        self._middle = pairs.mean(axis=0)
        kernel = ConstantKernel(0.5, (1e-4, 1e2)) * Matern(1.0, (1e-2, 1e3), nu=float(self.nu))
        self._process = GaussianProcessRegressor(
            kernel + WhiteKernel(0.1, (1e-6, 1e1)), n_restarts_optimizer=restarts, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a parameter at its bound is an answer
            self._process.fit(self._standard(values), pairs - self._middle)
        self.kernel_ = self._process.kernel_

    def _mean(self, new: Table) -> FloatArray:
        # The mean direction of a pair with two equal independent deviations is the direction of its mean.
        center, _ = self._predicted(new)
        return np.asarray(np.arctan2(center[:, 1], center[:, 0]))

    def _draw(self, new: Table, n: int, rng: np.random.Generator) -> FloatArray:
        center, deviation = self._predicted(new)
        noise = rng.normal(size=(2, n, len(center))) * deviation
        # Along and across the mean: so draws of rotated data are the rotated draws.
        length = np.hypot(center[:, 0], center[:, 1])
        return np.asarray(np.arctan2(center[:, 1], center[:, 0]) + np.arctan2(noise[1], length + noise[0]))

    def _log_density(self, new: Table, truth: FloatArray) -> FloatArray:
        center, deviation = self._predicted(new)
        variance = deviation**2
        return projected_normal(
            truth, center[:, 0], center[:, 1], variance, np.zeros_like(variance), variance
        )

    def _predicted(self, new: Table) -> tuple[FloatArray, FloatArray]:
        """Means of cosine and sine, (m, 2), and the standard deviation that both have, (m,), white noise included."""
        mean, deviation = self._process.predict(self._standard(new.values), return_std=True)
        return np.asarray(mean + self._middle), np.asarray(deviation[:, 0])
