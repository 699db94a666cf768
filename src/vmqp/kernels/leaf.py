"""What all kernels with a formula of their own share: parameters, columns, metric, name.

To add a kernel, write a frozen dataclass that derives from `Leaf` or `ColumnLeaf`, name its parameters in
``_parameters``, and give it ``geometry`` (once for each set of places) and ``evaluate`` (for each set of
parameters; elementwise over the pairs).
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.kernels.algebra import Index, Kernel, Parameter, shown
from vmqp.kernels.inputs import Columns, Inputs, as_columns
from vmqp.priors import Prior, as_prior

__all__ = ["ColumnLeaf", "Leaf", "check_name"]


class Leaf(Kernel):
    """A kernel with a formula of its own; subclasses are frozen dataclasses."""

    _parameters: ClassVar[dict[str, str]] = {}
    """Fields that are parameters, with the parameters' names."""

    columns: Columns = None
    name: str | None = None

    @abstractmethod
    def geometry(self, X: FloatArray, rows: Index, cols: Index) -> Any:
        """Return what the formula needs of each pair of rows, (pairs,); X has only this kernel's columns."""

    @property
    def label(self) -> str | None:
        """The kernel's name."""
        return self.name

    def own_parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters in the order of the fields, one for each column where there are several."""
        result: list[Parameter] = []
        for attribute, name in self._parameters.items():
            value = getattr(self, attribute)
            if isinstance(value, tuple):
                result.extend(Parameter(name, prior, column) for column, prior in enumerate(value))
            else:
                result.append(Parameter(name, value))
        return tuple(result)

    def prepare(self, inputs: Inputs, rows: Index, cols: Index) -> Any:
        """Return the geometry of this kernel's columns."""
        indices = inputs.indices(as_columns(self.columns))
        for attribute in self._parameters:
            _check_length(self, attribute, len(indices))
        return self.geometry(inputs.X[:, indices], rows, cols)

    def __repr__(self) -> str:
        options = [
            item.name
            for item in fields(self)  # type: ignore[arg-type]
            if item.name not in self._parameters and getattr(self, item.name) != item.default
        ]
        parts = [f"{name}={shown(getattr(self, name))}" for name in (*self._parameters, *options)]
        return f"{type(self).__name__}({', '.join(parts)})"


@dataclass(frozen=True, repr=False)
class ColumnLeaf(Leaf):
    """A leaf that looks at chosen columns of the inputs."""

    columns: Columns = field(default=None, kw_only=True)
    metric: str = field(default="euclidean", kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    _metrics: ClassVar[tuple[str, ...]] = ("euclidean",)
    _by_column: ClassVar[tuple[str, ...]] = ()
    """Parameters that may have one value for each column."""
    _any_sign: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        kind = type(self).__name__
        if self.metric not in self._metrics:
            allowed = " or ".join(repr(metric) for metric in self._metrics)
            raise InputError(
                f"metric={self.metric!r} was given to {kind}, which is made for {allowed}: use that."
            )
        check_name(self)
        object.__setattr__(self, "columns", as_columns(self.columns))
        for attribute in self._parameters:
            object.__setattr__(self, attribute, self._setting(attribute))
            columns = as_columns(self.columns)
            if columns is not None:
                _check_length(self, attribute, len(columns))

    def _setting(self, attribute: str) -> Prior | tuple[Prior, ...]:
        """Turn what was given for a parameter into a prior, or one for each column."""
        value = getattr(self, attribute)
        positive = attribute not in self._any_sign
        if attribute not in self._by_column:
            return as_prior(value, attribute, positive=positive)
        if isinstance(value, Mapping):
            keys = as_columns(list(value)) or ()
            columns = as_columns(self.columns) or keys
            if set(keys) != set(columns):
                raise InputError(
                    f"{attribute} was given for the columns {list(keys)} and columns={list(columns)}: "
                    "give one value for each of the columns."
                )
            object.__setattr__(self, "columns", columns)
            value = [value[column] for column in columns]
        if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
            return tuple(as_prior(item, attribute, positive=positive) for item in value)
        return as_prior(value, attribute, positive=positive)

    def _count(self, attribute: str) -> int:
        """Return the number of values of a parameter."""
        value = getattr(self, attribute)
        return len(value) if isinstance(value, tuple) else 1

    def _is_fixed(self, attribute: str) -> bool:
        value = getattr(self, attribute)
        return all(prior.is_fixed for prior in (value if isinstance(value, tuple) else (value,)))


def check_name(kernel: Leaf) -> None:
    """Check that the kernel's name is a text, or None."""
    if kernel.name is not None and not (isinstance(kernel.name, str) and kernel.name):
        raise InputError(f"name={kernel.name!r} was given to {type(kernel).__name__}: give a short text.")


def _check_length(kernel: Leaf, attribute: str, columns: int) -> None:
    value = getattr(kernel, attribute)
    if isinstance(value, tuple) and len(value) != columns:
        raise InputError(
            f"{attribute} of {type(kernel).__name__} has {len(value)} values for {columns} columns: "
            "give one value, or one for each column."
        )
