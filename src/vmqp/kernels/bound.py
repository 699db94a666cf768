"""A kernel tied to its places: geometry computed once, covariances for any parameters.

The names of an expression's parameters are given here, at its root: ``lengthscale`` where one kernel has it;
``lengthscale_coast`` or ``lengthscale_2`` where several have it (the kernel's ``name=``, or its number in
order); ``lengthscale_east`` where each column has its own.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.kernels.algebra import Index, Kernel
from vmqp.kernels.inputs import Inputs, as_columns, check_pairs
from vmqp.kernels.leaf import Leaf
from vmqp.priors import Prior

__all__ = ["Bound", "BoundPairs", "parameter_names"]


def parameter_names(kernel: Kernel, inputs: Inputs) -> tuple[str, ...]:
    """Return the names of the kernel's parameters, in their flat order.

    >>> from vmqp.kernels import Exponential, Gaussian
    >>> kernel = 2.0 * Gaussian([1.0, 2.0]) + Exponential(1.0, name="coast")
    >>> parameter_names(kernel, Inputs.check([[0.0, 0.0]], ["east", "north"]))
    ('variance', 'lengthscale_1_east', 'lengthscale_1_north', 'lengthscale_coast')
    """
    carriers = Counter(name for node in kernel.nodes() for name in {p.name for p in node.own_parameters()})
    seen: Counter[str] = Counter()
    names: list[str] = []
    for node in kernel.nodes():
        own = node.own_parameters()
        seen.update({parameter.name for parameter in own})
        for parameter in own:
            parts = [parameter.name]
            if carriers[parameter.name] > 1:
                parts.append(node.label or str(seen[parameter.name]))
            if parameter.column is not None and isinstance(node, Leaf):
                parts.append(inputs.label(inputs.indices(as_columns(node.columns))[parameter.column]))
            names.append("_".join(parts))
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"two parameters of the kernel would be called {twice[0]!r}: give the kernels different name=..."
        )
    return tuple(names)


@dataclass(frozen=True, eq=False)
class BoundPairs:
    """A kernel and the geometry of some pairs of rows; made by `Kernel.bind_pairs`.

    >>> from vmqp import kernels, priors
    >>> kernel = priors.HalfNormal(1) * kernels.Exponential(1.0)
    >>> pairs = kernel.bind_pairs([[0.0], [1.0], [3.0]], [0, 2], [1, 1])
    >>> pairs.scale_parameters, pairs.values({"variance": 2.0}).round(3).tolist()
    (('variance',), [0.736, 0.271])
    """

    kernel: Kernel
    parameters: Mapping[str, Prior]
    """Each parameter's name and prior, in order; a number is `Fixed`."""
    scale_parameters: tuple[str, ...] | None
    """Names of parameters that, all times c, multiply every covariance by c; None where there are none."""
    geometry: Any
    shape: tuple[int, ...]

    @classmethod
    def of(cls, kernel: Kernel, inputs: Inputs, rows: npt.ArrayLike, cols: npt.ArrayLike) -> "BoundPairs":
        """Compute the geometry of the pairs of rows."""
        first, second = check_pairs(rows, cols, len(inputs.X))
        with np.errstate(over="ignore", under="ignore"):
            geometry = kernel.prepare(inputs, first.ravel(), second.ravel())
        names = parameter_names(kernel, inputs)
        priors = dict(zip(names, (parameter.prior for parameter in kernel.parameters()), strict=True))
        positions = kernel.scale_positions()
        scales = None if positions is None else tuple(names[i] for i in positions)
        return cls(kernel, priors, scales, geometry, first.shape)

    def values(self, values: Mapping[str, float]) -> FloatArray:
        """Return the covariance of each pair, in the shape of the pairs.

        Fixed parameters keep their value and may be left out.
        """
        unknown = [name for name in values if name not in self.parameters]
        if unknown:
            raise InputError(
                f"the kernel has no parameter {unknown[0]!r}: its parameters are {list(self.parameters)}."
            )
        try:
            numbers = [
                prior.typical() if prior.is_fixed else float(values[name])
                for name, prior in self.parameters.items()
            ]
        except KeyError as missing:
            raise InputError(
                f"the kernel's parameter {missing} has no value: give values for "
                f"{[name for name, prior in self.parameters.items() if not prior.is_fixed]}."
            ) from None
        with np.errstate(over="ignore", under="ignore"):
            return self.kernel.evaluate(self.geometry, numbers).reshape(self.shape)


@dataclass(frozen=True, eq=False)
class Bound:
    """A kernel and the geometry of all pairs of d rows; made by `Kernel.bind`.

    >>> from vmqp import kernels, priors
    >>> bound = kernels.Exponential(priors.LogNormal(0, 1)).bind([[0.0], [1.0]])
    >>> bound.parameters
    {'lengthscale': LogNormal(mu=0.0, sigma=1.0)}
    >>> bound.covariance({"lengthscale": 1.0}).round(3).tolist(), bound.triangle({"lengthscale": 1.0}).round(3).tolist()
    ([[1.0, 0.368], [0.368, 1.0]], [1.0, 0.368, 1.0])
    """

    pairs: BoundPairs
    """The lower triangle with its diagonal, row by row: half of the work of the full matrix."""
    index: Index
    """Where each entry of the matrix stands in the triangle, (d, d)."""

    @classmethod
    def of(cls, kernel: Kernel, inputs: Inputs) -> "Bound":
        """Compute the geometry of all pairs of rows."""
        d = len(inputs.X)
        rows, cols = np.tril_indices(d)
        place = np.arange(d, dtype=np.intp)
        later, earlier = np.maximum(place[:, None], place), np.minimum(place[:, None], place)
        return cls(BoundPairs.of(kernel, inputs, rows, cols), later * (later + 1) // 2 + earlier)

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self.pairs.kernel

    @property
    def parameters(self) -> Mapping[str, Prior]:
        """Each parameter's name and prior, in order; a number is `Fixed`."""
        return self.pairs.parameters

    @property
    def scale_parameters(self) -> tuple[str, ...] | None:
        """Names of parameters that, all times c, make K c times as large; None where there are none."""
        return self.pairs.scale_parameters

    def covariance(self, values: Mapping[str, float]) -> FloatArray:
        """Return the kernel matrix K, (d, d), symmetric to the last bit."""
        return self.pairs.values(values).take(self.index)

    def triangle(self, values: Mapping[str, float]) -> FloatArray:
        """Return the lower triangle of the kernel matrix, row by row, (d (d + 1) / 2,)."""
        return self.pairs.values(values)
