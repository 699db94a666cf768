"""The models that one would pick instead: Gaussian processes that are wrapped or projected, and simple baselines.

`WrappedGP` and `ProjectedGP` have the options of `vmqp.CircularRegressor` and return the same `vmqp.Posterior`, so that
`vmqp.comparison.compare` takes both beside it.
"""

from vmqp.peers.baselines import CircularNeighbours, Climatology, CosineSineGP, TanHalfRegression
from vmqp.peers.estimators import ProjectedGP, WrappedGP

__all__ = [
    "CircularNeighbours",
    "Climatology",
    "CosineSineGP",
    "ProjectedGP",
    "TanHalfRegression",
    "WrappedGP",
]
