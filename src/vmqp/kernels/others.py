"""Kernels for other kinds of inputs and terms: circular, categorical, linear, constant, nugget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.kernels.algebra import Index, Parameter, Setting, shown
from vmqp.kernels.inputs import Column
from vmqp.kernels.leaf import ColumnLeaf, Leaf, check_name
from vmqp.kernels.stationary import LengthScale, weights
from vmqp.priors import as_prior

__all__ = ["Categorical", "Constant", "Linear", "Nugget", "Periodic"]


@dataclass(frozen=True, repr=False)
class Periodic(ColumnLeaf):
    """exp(−2 Σ_c sin²(π Δ_c / period) / l_c²), for circular inputs: a time of day, a month, a direction.

    It is the Gaussian kernel of the chord, 2 sin(π Δ / period), between two points of the unit circle.

    >>> Periodic(1.0, period=24.0, columns=["hour"])
    Periodic(lengthscale=1.0, period=24.0, columns=['hour'])
    """

    lengthscale: LengthScale
    period: Setting

    _parameters: ClassVar[dict[str, str]] = {"lengthscale": "lengthscale", "period": "period"}
    _by_column: ClassVar[tuple[str, ...]] = ("lengthscale",)

    def geometry(self, X: FloatArray, rows: Index, cols: Index) -> Any:
        """Return sin² where the period is fixed, and the differences where it is learned."""
        differences = np.stack([column[rows] - column[cols] for column in X.T])
        if not self._is_fixed("period"):
            return differences
        return self._by_lengthscale(_squared_sine(differences, self.own_parameters()[-1].prior.typical()))

    def evaluate(self, geometry: Any, parameters: Sequence[float]) -> FloatArray:
        """Return the correlation of each pair."""
        *lengthscales, period = parameters
        squares = geometry
        if not self._is_fixed("period"):
            squares = self._by_lengthscale(_squared_sine(geometry, period))
        result = np.asarray(np.tensordot(-2.0 * weights(lengthscales), squares, axes=1))
        return np.asarray(np.exp(result, out=result))

    def _by_lengthscale(self, squares: FloatArray) -> FloatArray:
        """Sum over the columns that share a length scale."""
        return squares if isinstance(self.lengthscale, tuple) else squares.sum(axis=0, keepdims=True)


def _squared_sine(differences: FloatArray, period: float) -> FloatArray:
    # fmod is exact, so a difference of many periods loses no digits and never overflows.
    period = max(period, 1e-300)
    return np.asarray(np.sin(np.pi * (np.fmod(differences, period) / period)) ** 2)


@dataclass(frozen=True, repr=False)
class Categorical(ColumnLeaf):
    """1 for equal categories and `correlation` for different ones; with several columns, the product.

    The correlation lies in [0, 1): then the kernel is positive definite for any number of categories.

    >>> Categorical(0.5, columns=["species"])
    Categorical(correlation=0.5, columns=['species'])
    """

    correlation: Setting | Sequence[Setting] | Mapping[Column, Setting] = 0.0

    _parameters: ClassVar[dict[str, str]] = {"correlation": "correlation"}
    _by_column: ClassVar[tuple[str, ...]] = ("correlation",)
    _any_sign: ClassVar[tuple[str, ...]] = ("correlation",)

    def __post_init__(self) -> None:
        super().__post_init__()
        for parameter in self.own_parameters():
            lower, upper = parameter.prior.support
            if not (lower >= 0.0 and upper <= 1.0 and parameter.prior.typical() < 1.0):
                raise InputError(
                    f"correlation of Categorical must be at least 0 and less than 1 but is "
                    f"{shown(parameter.prior)}: give a number such as 0.5 or a prior such as Uniform(0, 1)."
                )

    def geometry(self, X: FloatArray, rows: Index, cols: Index) -> Any:
        """Return the number of columns that differ; with a correlation for each, which ones."""
        differs = np.stack([column[rows] != column[cols] for column in X.T]).astype(np.intp)
        return differs if isinstance(self.correlation, tuple) else differs.sum(axis=0, keepdims=True)

    def evaluate(self, geometry: Any, parameters: Sequence[float]) -> FloatArray:
        """Return the product of the correlations over the columns that differ."""
        result = np.ones(geometry.shape[1:])
        for count, correlation in zip(geometry, parameters, strict=True):
            powers = correlation ** np.arange(int(count.max(initial=0)) + 1)
            result *= powers[count]
        return result


@dataclass(frozen=True, repr=False)
class Linear(ColumnLeaf):
    """Σ_c (a_c − center_c)(b_c − center_c): linear functions that vanish at the center.

    Add a `Constant` for an intercept, and give each column its own term for a slope variance of its own.

    >>> 2.0 * Linear(columns=["height"]) + Constant(1.0)
    2.0 * Linear(center=0.0, columns=['height']) + Constant(variance=1.0)
    """

    center: Setting | Sequence[Setting] | Mapping[Column, Setting] = 0.0

    _parameters: ClassVar[dict[str, str]] = {"center": "center"}
    _by_column: ClassVar[tuple[str, ...]] = ("center",)
    _any_sign: ClassVar[tuple[str, ...]] = ("center",)

    def geometry(self, X: FloatArray, rows: Index, cols: Index) -> Any:
        """Return the products where the center is fixed, and both places of each pair where it is learned."""
        places = X[rows], X[cols]
        if not self._is_fixed("center"):
            return places
        return _inner(places, [parameter.prior.typical() for parameter in self.own_parameters()])

    def evaluate(self, geometry: Any, parameters: Sequence[float]) -> FloatArray:
        """Return the inner product of each pair."""
        return np.array(geometry) if self._is_fixed("center") else _inner(geometry, parameters)


def _inner(places: tuple[FloatArray, FloatArray], center: Sequence[float]) -> FloatArray:
    first, second = places
    return np.asarray(np.einsum("...c,...c->...", first - np.asarray(center), second - np.asarray(center)))


@dataclass(frozen=True, repr=False)
class Constant(Leaf):
    """The same covariance everywhere: one unknown offset.

    >>> Constant(2.0)
    Constant(variance=2.0)
    """

    variance: Setting = 1.0
    name: str | None = field(default=None, kw_only=True)

    _parameters: ClassVar[dict[str, str]] = {"variance": "variance"}

    def __post_init__(self) -> None:
        check_name(self)
        object.__setattr__(self, "variance", as_prior(self.variance, "variance"))

    def geometry(self, X: FloatArray, rows: Index, cols: Index) -> Any:
        """Return the shape of the pairs."""
        return rows.shape

    def evaluate(self, geometry: Any, parameters: Sequence[float]) -> FloatArray:
        """Return the variance for each pair."""
        return np.full(geometry, parameters[0])

    def scale_positions(self) -> tuple[int, ...] | None:
        """Return the variance, unless it is fixed."""
        return _unless_fixed(self.own_parameters())


@dataclass(frozen=True, repr=False)
class Nugget(Leaf):
    """A variance of each row alone: it adds to the diagonal only, also where two rows share a place.

    A variance of zero is allowed. Its parameter is called ``nugget``.

    >>> Nugget(0.1).bind([[5.0], [5.0]]).covariance({})
    array([[0.1, 0. ],
           [0. , 0.1]])
    """

    variance: Setting
    name: str | None = field(default=None, kw_only=True)

    _parameters: ClassVar[dict[str, str]] = {"variance": "nugget"}

    def __post_init__(self) -> None:
        check_name(self)
        none = isinstance(self.variance, Real) and self.variance == 0
        object.__setattr__(self, "variance", as_prior(self.variance, "nugget", positive=not none))

    def geometry(self, X: FloatArray, rows: Index, cols: Index) -> Any:
        """Return whether the two rows of each pair are one."""
        return rows == cols

    def evaluate(self, geometry: Any, parameters: Sequence[float]) -> FloatArray:
        """Return the variance where the rows are one, and zero elsewhere."""
        return np.where(geometry, parameters[0], 0.0)

    def scale_positions(self) -> tuple[int, ...] | None:
        """Return the variance, unless it is fixed."""
        return _unless_fixed(self.own_parameters())


def _unless_fixed(parameters: tuple[Parameter, ...]) -> tuple[int, ...] | None:
    """Return the position of a variance that is the only parameter, or None if it is fixed."""
    return None if parameters[0].prior.is_fixed else (0,)
