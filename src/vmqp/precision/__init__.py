"""From a kernel matrix K to the precision M = K⁻¹ that the model needs.

>>> import numpy as np
>>> from vmqp.precision import factorise
>>> factorise(np.array([[2.0, 1.0], [1.0, 2.0]])).M.round(6)
array([[ 0.666667, -0.333333],
       [-0.333333,  0.666667]])
"""

from vmqp.precision.dense import (
    Cholesky,
    ConditionalPrecision,
    DensePrecision,
    factorise,
    try_cholesky_triangle,
    try_factorise,
    try_factorise_triangle,
)
from vmqp.precision.on_graph import KernelOnGraph
from vmqp.precision.vecchia import Graph, VecchiaPrecision, make_graph, vecchia

__all__ = [
    "Cholesky",
    "ConditionalPrecision",
    "DensePrecision",
    "Graph",
    "KernelOnGraph",
    "VecchiaPrecision",
    "factorise",
    "make_graph",
    "try_cholesky_triangle",
    "try_factorise",
    "try_factorise_triangle",
    "vecchia",
]
