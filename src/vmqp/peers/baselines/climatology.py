"""The training directions themselves as the prediction everywhere: what a model that uses its inputs has to beat."""

import numpy as np

from vmqp import circle, scores
from vmqp.circle import TWO_PI, FloatArray
from vmqp.peers.baselines.baseline import Baseline
from vmqp.tables import Table

__all__ = ["Climatology"]


class Climatology(Baseline):
    """The law with equal weight on each observed angle, at every place; inputs are read and not used.

    Its score is exact: that of all observed angles, not of draws.

    >>> model = Climatology(period=24).fit([[0], [0], [0], [0]], [23, 0, 1, 2])
    >>> model.predict([[7], [8]]).round(6).tolist(), model.draws([[7]], n=50).shape
    ([0.5, 0.5], (50, 1))
    """

    def __init__(self, *, period: float | str = TWO_PI) -> None:
        self.period = period

    def _learn(self, table: Table, radians: FloatArray) -> None:
        self._angles = radians

    def _mean(self, new: Table) -> FloatArray:
        return np.full(len(new.values), circle.mean(self._angles))

    def _draw(self, new: Table, n: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(rng.choice(self._angles, size=(n, len(new.values))))

    def _crps(self, new: Table, truth: FloatArray, distance: str) -> FloatArray:
        # The observed angles are the law and no sample of it: a pair may be an angle and itself.
        law = np.broadcast_to(self._angles[:, None], (self._angles.size, truth.size))
        return scores.crps(law, truth, distance=distance, unbiased=False)
