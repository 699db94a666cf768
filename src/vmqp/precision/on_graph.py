"""A kernel tied to a graph of neighbours: the root U of the precision at any parameters."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from vmqp.circle import FloatArray
from vmqp.kernels import Kernel
from vmqp.kernels.bound import parameter_names
from vmqp.kernels.compiled import compile_kernel
from vmqp.kernels.embedding import embed, flat
from vmqp.kernels.inputs import Inputs
from vmqp.precision.vecchia import Graph, make_graph

__all__ = ["KernelOnGraph"]

_KEPT = (
    25_000_000  # pairs whose geometry is kept for a function of the user's; beyond, it is computed each time
)


class KernelOnGraph:
    """The neighbours of places in a kernel's own metric, and U at any of its parameters.

    >>> from vmqp import kernels, priors
    >>> kernel = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1))
    >>> inputs = Inputs.check(np.linspace(0.0, 3.0, 30)[:, None], None)
    >>> on_graph = KernelOnGraph(kernel, inputs, n=10, k=2)
    >>> values = on_graph.root({"variance": 1.0, "lengthscale": 0.5})
    >>> values.shape == on_graph.graph.pattern.columns.shape
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        inputs: Inputs,
        n: int,
        k: int,
        at: Mapping[str, float] | None = None,
        workers: int = 1,
    ) -> None:
        self.kernel, self.inputs = kernel, inputs
        self._names = parameter_names(kernel, inputs)
        points = embed(kernel, inputs, flat(kernel, self._names, at or {}))
        self.graph: Graph = make_graph(points, n, k, workers)
        self._program = compile_kernel(kernel, inputs)
        self._kept: dict[int, Any] | None = {} if self.graph.pairs <= _KEPT else None

    def root(
        self, values: Mapping[str, float], *, rows: int | None = None, workers: int = 1
    ) -> FloatArray | None:
        """Return the values of U; None where a block of the kernel matrix has no factor.

        With `rows`, only those of the first columns are computed.
        """
        parameters = flat(self.kernel, self._names, values)
        if self._program is not None:
            numbers = self._program.numbers(parameters)
            return self.graph.run(self._program, numbers, rows=rows, workers=workers)
        return self.graph.fill(functools.partial(self._covariances, parameters), rows=rows, workers=workers)

    def _covariances(self, parameters: list[float], part: int) -> FloatArray:
        with np.errstate(over="ignore", under="ignore"):
            geometry = None if self._kept is None else self._kept.get(part)
            if geometry is None:
                geometry = self.kernel.prepare(self.inputs, *self.graph.part_pairs(part))
                if self._kept is not None:
                    self._kept[part] = geometry
            return self.kernel.evaluate(geometry, parameters)
