"""Kernels of the distance r between two places.

With one length scale l they are functions of r/l. With one for each column, l_c, they are functions of
``√Σ_c (Δ_c / l_c)²`` (automatic relevance determination).

With ``metric="geographic"`` the two columns are longitude and latitude in degrees, and r is in km. On a
sphere a kernel of the great-circle distance need not be positive definite: the exponential is, and uses it;
the others use the chord, the distance through the earth, which is Euclidean in three dimensions.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.kernels import metrics
from vmqp.kernels.algebra import Index, Setting
from vmqp.kernels.inputs import Column
from vmqp.kernels.leaf import ColumnLeaf

__all__ = ["Exponential", "Gaussian", "LengthScale", "Matern32", "Matern52", "RationalQuadratic", "weights"]

LengthScale = Setting | Sequence[Setting] | Mapping[Column, Setting]
"""One value for all columns, a list with one for each, or a mapping from columns to values."""


def weights(lengthscales: Sequence[float]) -> FloatArray:
    """Return 1/l² for each length scale, kept finite and positive so that 0 · ∞ cannot occur."""
    return np.asarray(1.0 / np.square(np.clip(lengthscales, 1e-150, 1e150)))


@dataclass(frozen=True, repr=False)
class Stationary(ColumnLeaf):
    """A kernel of r/l; subclasses give the correlation as a function of it or of its square."""

    lengthscale: LengthScale

    _parameters: ClassVar[dict[str, str]] = {"lengthscale": "lengthscale"}
    _by_column: ClassVar[tuple[str, ...]] = ("lengthscale",)
    _metrics: ClassVar[tuple[str, ...]] = ("euclidean", "geographic")
    _of_square: ClassVar[bool] = False
    """Whether the correlation is a function of (r/l)² and not of r/l; saves a square root."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.metric == "geographic" and isinstance(self.lengthscale, tuple):
            raise InputError(
                f"{type(self).__name__} with metric='geographic' was given a length scale for each column: "
                "give one length scale, in km."
            )

    def geometry(self, X: FloatArray, rows: Index, cols: Index) -> Any:
        """Return r or r²; with a length scale for each column, the squared differences of each."""
        if self.metric == "geographic":
            distance = self._on_the_earth(X, rows, cols)
            return np.square(distance) if self._of_square else distance
        if isinstance(self.lengthscale, tuple):
            return metrics.squared_differences(X, rows, cols)
        square = metrics.squared_distance(X, rows, cols)
        return square if self._of_square else np.sqrt(square)

    def evaluate(self, geometry: Any, parameters: Sequence[float]) -> FloatArray:
        """Return the correlation of each pair."""
        count = self._count("lengthscale")
        inverse_square = weights(parameters[:count])
        if isinstance(self.lengthscale, tuple):
            scaled = np.asarray(np.tensordot(inverse_square, geometry, axes=1))
            if not self._of_square:
                scaled = np.sqrt(scaled)
        else:
            factor = inverse_square[0] if self._of_square else np.sqrt(inverse_square[0])
            scaled = np.asarray(geometry * factor)
        return self._correlation(scaled, *parameters[count:])

    def _on_the_earth(self, X: FloatArray, rows: Index, cols: Index) -> FloatArray:
        return metrics.chord(X, rows, cols)

    @abstractmethod
    def _correlation(self, scaled: FloatArray, *others: float) -> FloatArray:
        """Return the correlation at r/l, or at (r/l)²; may overwrite it."""


@dataclass(frozen=True, repr=False)
class Gaussian(Stationary):
    """exp(−r²/2l²): smooth functions.

    >>> Gaussian(2.0, columns=["east", "north"])
    Gaussian(lengthscale=2.0, columns=['east', 'north'])
    """

    _of_square: ClassVar[bool] = True

    def _correlation(self, scaled: FloatArray, *others: float) -> FloatArray:
        scaled *= -0.5
        return np.exp(scaled, out=scaled)  # eq:gaussian_kernel


@dataclass(frozen=True, repr=False)
class Exponential(Stationary):
    """exp(−r/l): continuous, rough functions. On the earth r is the great-circle distance.

    >>> Exponential(300.0, columns=["lon", "lat"], metric="geographic")
    Exponential(lengthscale=300.0, columns=['lon', 'lat'], metric='geographic')
    """

    def _on_the_earth(self, X: FloatArray, rows: Index, cols: Index) -> FloatArray:
        return metrics.great_circle(X, rows, cols)

    def _correlation(self, scaled: FloatArray, *others: float) -> FloatArray:
        np.negative(scaled, out=scaled)
        return np.exp(scaled, out=scaled)  # eq:exponential_kernel


@dataclass(frozen=True, repr=False)
class Matern32(Stationary):
    """(1 + s) exp(−s) with s = √3 r/l: functions with one derivative.

    >>> Matern32({"east": 1.0, "north": 2.0})
    Matern32(lengthscale=[1.0, 2.0], columns=['east', 'north'])
    """

    def _correlation(self, scaled: FloatArray, *others: float) -> FloatArray:
        s = _bounded(np.sqrt(3.0) * scaled)
        return np.asarray((1.0 + s) * np.exp(-s))


@dataclass(frozen=True, repr=False)
class Matern52(Stationary):
    """(1 + s + s²/3) exp(−s) with s = √5 r/l: functions with two derivatives.

    >>> Matern52(1.0, name="coast")
    Matern52(lengthscale=1.0, name='coast')
    """

    def _correlation(self, scaled: FloatArray, *others: float) -> FloatArray:
        s = _bounded(np.sqrt(5.0) * scaled)
        return np.asarray((1.0 + s * (1.0 + s / 3.0)) * np.exp(-s))


@dataclass(frozen=True, repr=False)
class RationalQuadratic(Stationary):
    """(1 + r²/(2 a l²))^(−a) with the shape a: a mixture of Gaussian kernels of many length scales.

    >>> RationalQuadratic(1.0, shape=0.5)
    RationalQuadratic(lengthscale=1.0, shape=0.5)
    """

    shape: Setting

    _parameters: ClassVar[dict[str, str]] = {"lengthscale": "lengthscale", "shape": "shape"}
    _of_square: ClassVar[bool] = True

    def _correlation(self, scaled: FloatArray, *others: float) -> FloatArray:
        shape = np.clip(others[0], 1e-300, 1e300)
        scaled *= 0.5 / shape
        np.log1p(scaled, out=scaled)
        scaled *= -shape
        return np.exp(scaled, out=scaled)


def _bounded(s: FloatArray) -> FloatArray:
    """Cut s where exp(−s) is zero anyway: a polynomial of inf times zero would not be a number."""
    return np.minimum(s, 800.0)
