"""Kernels and their algebra: sums, products and variances.

A kernel is an expression. Its leaves turn pairs of places into a geometry once, and the geometry and the
parameters into covariances as often as needed. The parameters of an expression stand in one flat order,
depth first and from left to right, and `evaluate` takes their values in that order.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.kernels.inputs import Inputs
from vmqp.priors import Prior, as_prior

if TYPE_CHECKING:
    from vmqp.kernels.bound import Bound, BoundPairs

__all__ = ["Index", "Kernel", "Parameter", "Product", "Scaled", "Setting", "Sum", "shown"]

Index = npt.NDArray[np.intp]

Setting = float | Prior
"""A number (fixed) or a prior (learned)."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of one kernel; `column` counts the kernel's columns where each has its own value."""

    name: str
    prior: Prior
    column: int | None = None


class Kernel(ABC):
    """A covariance function, or an expression of several.

    Kernels add and multiply; a leading number or prior is a variance.

    >>> from vmqp import kernels, priors
    >>> 2.0 * kernels.Gaussian(1.0) + kernels.Nugget(priors.HalfNormal(0.1))
    2.0 * Gaussian(lengthscale=1.0) + Nugget(variance=HalfNormal(scale=0.1))
    """

    # NumPy's numbers leave the multiplication to us instead of making an object array.
    __array_ufunc__ = None

    @property
    def label(self) -> str | None:
        """The name that tells this kernel's parameters from those of others."""
        return None

    def own_parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters of this node, without its parts."""
        return ()

    def parts(self) -> tuple["Kernel", ...]:
        """Return the kernels that this one is made of."""
        return ()

    def nodes(self) -> Iterator["Kernel"]:
        """Yield this kernel and all below it, in the order of the parameters."""
        yield self
        for part in self.parts():
            yield from part.nodes()

    def parameters(self) -> tuple[Parameter, ...]:
        """Return all parameters in their flat order."""
        return tuple(parameter for node in self.nodes() for parameter in node.own_parameters())

    @cached_property
    def size(self) -> int:
        """The number of parameters."""
        return len(self.parameters())

    def scale_positions(self) -> tuple[int, ...] | None:
        """Return positions of parameters that, all times c, make the kernel c times as large; or None."""
        return None

    @abstractmethod
    def prepare(self, inputs: Inputs, rows: Index, cols: Index) -> Any:
        """Return the geometry of the pairs: all that does not depend on learned parameters."""

    @abstractmethod
    def evaluate(self, geometry: Any, parameters: Sequence[float]) -> FloatArray:
        """Return the covariance of each pair, in a new array that the caller may overwrite."""

    def bind(self, X: npt.ArrayLike, column_names: Sequence[str] | None = None) -> "Bound":
        """Tie the kernel to its places: distances are computed here, once.

        >>> import numpy as np
        >>> from vmqp import kernels, priors
        >>> kernel = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1))
        >>> bound = kernel.bind([[0.0], [1.0]])
        >>> list(bound.parameters)
        ['variance', 'lengthscale']
        >>> bound.covariance({"variance": 2.0, "lengthscale": 1.0}).round(3)
        array([[2.   , 0.736],
               [0.736, 2.   ]])
        """
        from vmqp.kernels.bound import Bound

        return Bound.of(self, Inputs.check(X, column_names))

    def bind_pairs(
        self,
        X: npt.ArrayLike,
        rows: npt.ArrayLike,
        cols: npt.ArrayLike,
        column_names: Sequence[str] | None = None,
    ) -> "BoundPairs":
        """Tie the kernel to any pairs of rows of X, such as the neighbour blocks of a sparse method.

        >>> from vmqp import kernels
        >>> kernels.Exponential(1.0).bind_pairs([[0.0], [1.0], [3.0]], [0, 2], [1, 1]).values({}).round(3)
        array([0.368, 0.135])
        """
        from vmqp.kernels.bound import BoundPairs

        return BoundPairs.of(self, Inputs.check(X, column_names), rows, cols)

    def __add__(self, other: object) -> "Kernel":
        if isinstance(other, Kernel):
            return Sum((*_terms(self, Sum), *_terms(other, Sum)))
        if isinstance(other, Real | Prior):
            raise InputError(
                f"{other!r} was added to a kernel: write kernels.Constant(...) for an offset common to all "
                "rows, or kernels.Nugget(...) for a variance of each row."
            )
        return NotImplemented

    def __radd__(self, other: object) -> "Kernel":
        # sum([...]) starts from 0.
        return self if isinstance(other, Real) and other == 0 else self.__add__(other)

    def __mul__(self, other: object) -> "Kernel":
        if isinstance(other, Kernel):
            return Product((*_terms(self, Product), *_terms(other, Product)))
        if isinstance(other, Real | Prior):
            return Scaled(other, self)  # type: ignore[arg-type]  # Scaled checks the number
        return NotImplemented

    def __rmul__(self, other: object) -> "Kernel":
        return self.__mul__(other)


def _terms(kernel: Kernel, kind: type[Kernel]) -> tuple[Kernel, ...]:
    return kernel.parts() if type(kernel) is kind else (kernel,)


def _split(parts: Sequence[Kernel], parameters: Sequence[float]) -> Iterator[Sequence[float]]:
    start = 0
    for part in parts:
        stop = start + part.size
        yield parameters[start:stop]
        start = stop


def _shifted_scales(parts: Sequence[Kernel]) -> list[tuple[int, ...] | None]:
    """Scale positions of each part, counted in the parameters of the whole."""
    result: list[tuple[int, ...] | None] = []
    start = 0
    for part in parts:
        positions = part.scale_positions()
        result.append(None if positions is None else tuple(start + i for i in positions))
        start += part.size
    return result


@dataclass(frozen=True, repr=False)
class _Composite(Kernel):
    terms: tuple[Kernel, ...]
    _combine: ClassVar[np.ufunc]

    def parts(self) -> tuple[Kernel, ...]:
        """Return the terms."""
        return self.terms

    def prepare(self, inputs: Inputs, rows: Index, cols: Index) -> Any:
        """Return the geometry of each term."""
        return tuple(part.prepare(inputs, rows, cols) for part in self.terms)

    def evaluate(self, geometry: Any, parameters: Sequence[float]) -> FloatArray:
        """Return the terms' covariances, added or multiplied."""
        split = zip(self.terms, geometry, _split(self.terms, parameters), strict=True)
        values = (term.evaluate(own, numbers) for term, own, numbers in split)
        total = next(values)
        for value in values:
            self._combine(total, value, out=total)
        return total


@dataclass(frozen=True, repr=False)
class Sum(_Composite):
    """The sum of kernels: ``a + b``.

    >>> from vmqp import kernels
    >>> kernel = kernels.Gaussian(1.0) + kernels.Nugget(0.1)
    >>> type(kernel).__name__, kernel.terms[1]
    ('Sum', Nugget(variance=0.1))
    """

    _combine = np.add

    def scale_positions(self) -> tuple[int, ...] | None:
        """Return the scales of all terms, if each has one."""
        scales = _shifted_scales(self.terms)
        found = [positions for positions in scales if positions is not None]
        return tuple(i for positions in found for i in positions) if len(found) == len(scales) else None

    def __repr__(self) -> str:
        return " + ".join(repr(term) for term in self.terms)


@dataclass(frozen=True, repr=False)
class Product(_Composite):
    """The product of kernels: ``a * b``.

    >>> from vmqp import kernels
    >>> kernel = kernels.Gaussian(1.0, columns=[0]) * kernels.Periodic(1.0, period=24.0, columns=[1])
    >>> type(kernel).__name__, kernel.terms[0]
    ('Product', Gaussian(lengthscale=1.0, columns=[0]))
    """

    _combine = np.multiply

    def scale_positions(self) -> tuple[int, ...] | None:
        """Return the scale of the first factor that has one."""
        return next((positions for positions in _shifted_scales(self.terms) if positions is not None), None)

    def __repr__(self) -> str:
        first, *others = self.terms
        start = f"({first!r})" if isinstance(first, Sum) else repr(first)
        # `a * v * b` would put the variance on a, so a scaled factor after the first keeps its brackets.
        return " * ".join([start, *(_in_brackets(factor) for factor in others)])


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    """A kernel times a variance σ²: ``variance * kernel``.

    >>> from vmqp import kernels
    >>> kernel = 2.0 * kernels.Gaussian(1.0)
    >>> type(kernel).__name__, kernel.kernel
    ('Scaled', Gaussian(lengthscale=1.0))
    """

    variance: Setting
    kernel: Kernel

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", as_prior(self.variance, "variance"))

    @property
    def label(self) -> str | None:
        """The name of the kernel that is scaled."""
        return self.kernel.label

    def own_parameters(self) -> tuple[Parameter, ...]:
        """Return the variance."""
        return (Parameter("variance", as_prior(self.variance, "variance")),)

    def parts(self) -> tuple[Kernel, ...]:
        """Return the kernel that is scaled."""
        return (self.kernel,)

    def prepare(self, inputs: Inputs, rows: Index, cols: Index) -> Any:
        """Return the geometry of the kernel that is scaled."""
        return self.kernel.prepare(inputs, rows, cols)

    def evaluate(self, geometry: Any, parameters: Sequence[float]) -> FloatArray:
        """Return the variance times the kernel's covariances."""
        values = self.kernel.evaluate(geometry, parameters[1:])
        values *= parameters[0]
        return values

    def scale_positions(self) -> tuple[int, ...] | None:
        """Return the variance, or the scale below it where the variance is fixed."""
        if not self.own_parameters()[0].prior.is_fixed:
            return (0,)
        below = self.kernel.scale_positions()
        return None if below is None else tuple(1 + i for i in below)

    def __repr__(self) -> str:
        return f"{shown(self.variance)} * {_in_brackets(self.kernel)}"


def _in_brackets(kernel: Kernel) -> str:
    return f"({kernel!r})" if kernel.parts() else repr(kernel)


def shown(value: object) -> str:
    """Write a field's value so that it evaluates back."""
    if isinstance(value, tuple):
        return f"[{', '.join(shown(item) for item in value)}]"
    return repr(value.typical()) if isinstance(value, Prior) and value.is_fixed else repr(value)
