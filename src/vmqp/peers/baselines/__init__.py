"""Baselines: what a user would try first, to see what a process of angles is worth beside it.

Each learns by `fit(X, y)` at once, and answers `predict`, `draws`, `crps` and `score` for any new places, one by one:
predictions at a place do not depend on which other places are asked for, and have no dependence between places.
`TanHalfRegression` and `CosineSineGP` have a density, and so a `log_score`.

>>> X, y = [[0.0], [1.0], [2.0], [3.0]], [350.0, 0.0, 10.0, 20.0]
>>> Climatology(period=360).fit(X, y).predict([[1.5]]).round(6)
array([5.])
>>> CircularNeighbours(period=360, k=2).fit(X, y).predict([[1.4]]).round(6)
array([5.])
>>> TanHalfRegression(period=360).fit(X, y).predict([[5.0]]).round(0)
array([39.])
"""

from vmqp.peers.baselines.climatology import Climatology
from vmqp.peers.baselines.cosine_sine import CosineSineGP
from vmqp.peers.baselines.neighbours import CircularNeighbours
from vmqp.peers.baselines.tan_half import TanHalfRegression

__all__ = ["CircularNeighbours", "Climatology", "CosineSineGP", "TanHalfRegression"]
