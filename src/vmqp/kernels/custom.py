"""A user's own kernel, from a plain function."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.kernels.algebra import Index, Parameter, Setting, shown
from vmqp.kernels.inputs import Columns, as_columns
from vmqp.kernels.leaf import Leaf, check_name
from vmqp.priors import Prior, as_prior

__all__ = ["Custom"]


@dataclass(frozen=True, repr=False, init=False)
class Custom(Leaf):
    """A kernel from a function ``f(a, b, **parameters)`` of two arrays of rows.

    The function gets two arrays of shape (N, columns) and the parameters by name, each a float, and returns
    N covariances. It has to be symmetric, f(a, b) = f(b, a), which is checked on some pairs, and positive
    definite, which is not checked here.

    >>> import numpy as np
    >>> from vmqp import priors
    >>> def triangle(a, b, width):
    ...     return np.maximum(0.0, 1.0 - np.abs(a[:, 0] - b[:, 0]) / width)
    >>> kernel = Custom(triangle, width=priors.HalfNormal(1))
    >>> kernel
    Custom(triangle, width=HalfNormal(scale=1.0))
    >>> kernel.bind([[0.0], [1.0]]).covariance({"width": 4.0})
    array([[1.  , 0.75],
           [0.75, 1.  ]])
    """

    function: Callable[..., npt.ArrayLike]
    settings: tuple[tuple[str, Prior], ...]
    columns: Columns
    name: str | None

    def __init__(
        self,
        function: Callable[..., npt.ArrayLike],
        *,
        columns: Columns = None,
        name: str | None = None,
        **parameters: Setting,
    ) -> None:
        if not callable(function):
            raise InputError(f"Custom was given {function!r}: give a function f(a, b, **parameters).")
        settings = tuple((key, as_prior(value, key, positive=False)) for key, value in parameters.items())
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "settings", settings)
        object.__setattr__(self, "columns", as_columns(columns))
        object.__setattr__(self, "name", name)
        check_name(self)

    def own_parameters(self) -> tuple[Parameter, ...]:
        """Return the named parameters, in the order in which they were given."""
        return tuple(Parameter(name, prior) for name, prior in self.settings)

    def geometry(self, X: FloatArray, rows: Index, cols: Index) -> Any:
        """Return both rows of each pair, after a look at the function's symmetry."""
        first, second = X[rows], X[cols]
        typical = {name: prior.typical() for name, prior in self.settings}
        some = np.linspace(0, len(first) - 1, min(len(first), 50)).astype(np.intp)
        forth = self._call(first[some], second[some], typical)
        back = self._call(second[some], first[some], typical)
        if not np.allclose(forth, back, rtol=1e-8, atol=1e-12):
            worst = some[int(np.argmax(np.abs(forth - back)))]
            raise InputError(
                f"the function {self._function_name} is not symmetric at rows {rows[worst]} and "
                f"{cols[worst]}: give one with f(a, b) = f(b, a)."
            )
        return first, second

    def evaluate(self, geometry: Any, parameters: Sequence[float]) -> FloatArray:
        """Return the function's values."""
        first, second = geometry
        values = {name: number for (name, _), number in zip(self.settings, parameters, strict=True)}
        # A copy: the function may hand out an array that it keeps.
        return np.array(self._call(first, second, values))

    def _call(self, first: FloatArray, second: FloatArray, parameters: Mapping[str, float]) -> FloatArray:
        result = np.asarray(self.function(first, second, **parameters), dtype=np.float64)
        if result.shape != (len(first),):
            raise InputError(
                f"the function {self._function_name} returned shape {result.shape} for {len(first)} pairs: "
                f"return one covariance a pair, shape ({len(first)},)."
            )
        if not np.isfinite(result).all():
            raise InputError(
                f"the function {self._function_name} returned a value that is not finite at "
                f"{dict(parameters)}: return finite covariances."
            )
        return result

    @property
    def _function_name(self) -> str:
        return str(getattr(self.function, "__name__", repr(self.function)))

    def __repr__(self) -> str:
        parts = [self._function_name, *(f"{name}={shown(prior)}" for name, prior in self.settings)]
        if self.columns is not None:
            parts.append(f"columns={shown(self.columns)}")
        if self.name is not None:
            parts.append(f"name={self.name!r}")
        return f"Custom({', '.join(parts)})"
