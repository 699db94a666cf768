"""Covariance functions and their algebra.

Kernels add and multiply; a leading number or prior is the variance σ², and without one it is 1. Each
parameter is a number (fixed) or a prior (learned). ``columns=`` chooses the inputs that a kernel looks at,
and a list of length scales gives one to each of them.

>>> from vmqp import kernels, priors
>>> joints = priors.HalfNormal(1) * kernels.Gaussian(priors.LogNormal(0, 1), columns=["hip", "knee"])
>>> kernel = joints * kernels.Gaussian(priors.HalfNormal(10), columns=["gradient"]) + kernels.Nugget(0.1)
>>> bound = kernel.bind([[1.0, 2.0, 0.0], [1.5, 2.0, 5.0]], column_names=["hip", "knee", "gradient"])
>>> list(bound.parameters)
['variance', 'lengthscale_1', 'lengthscale_2', 'nugget']
>>> bound.covariance({"variance": 2.0, "lengthscale_1": 1.0, "lengthscale_2": 5.0}).round(3)
array([[2.1 , 1.071],
       [1.071, 2.1 ]])
"""

from vmqp.kernels.algebra import Kernel, Product, Scaled, Sum
from vmqp.kernels.bound import Bound, BoundPairs
from vmqp.kernels.custom import Custom
from vmqp.kernels.others import Categorical, Constant, Linear, Nugget, Periodic
from vmqp.kernels.stationary import Exponential, Gaussian, Matern32, Matern52, RationalQuadratic
from vmqp.kernels.text import parse

__all__ = [
    "Bound",
    "BoundPairs",
    "Categorical",
    "Constant",
    "Custom",
    "Exponential",
    "Gaussian",
    "Kernel",
    "Linear",
    "Matern32",
    "Matern52",
    "Nugget",
    "Periodic",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sum",
    "parse",
]
