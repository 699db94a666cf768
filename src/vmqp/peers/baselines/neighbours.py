"""The angles of the k nearest observed places as the prediction: no model of the angles at all."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from vmqp import circle, scores
from vmqp.checks import check_count
from vmqp.circle import TWO_PI, FloatArray
from vmqp.errors import InputError
from vmqp.peers.baselines.baseline import Baseline, Standard, numbers_only
from vmqp.regression.earth import check_earth, latitude_first
from vmqp.tables import Table

__all__ = ["CircularNeighbours"]

_TRIED = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50)


class CircularNeighbours(Baseline):
    """The law with equal weight on the angles of the k nearest places; its score is exact.

    After `fit`, ``k_`` is the number of neighbours.

    **Parameters**

    period
        Of the angles, as in `vmqp.CircularRegressor`.
    k
        Neighbours. None takes that of 2, 3, 4, 5, 7, 10, 15, 20, 30, 50 with the smallest CRPS, each observed angle
        predicted by the others.
    metric
        "euclidean" on standardised columns, or "geographic" for columns longitude and latitude in degrees.

    >>> model = CircularNeighbours(period=360, k=2).fit([[0.0], [1.0], [5.0]], [350.0, 10.0, 90.0])
    >>> sorted(set(model.draws([[0.4]], n=100)[:, 0].round(6).tolist()))
    [10.0, 350.0]
    """

    def __init__(
        self, *, period: float | str = TWO_PI, k: int | None = None, metric: str = "euclidean"
    ) -> None:
        self.period = period
        self.k = k
        self.metric = metric

    def _learn(self, table: Table, radians: FloatArray) -> None:
        values, rows = numbers_only(table, type(self).__name__), len(radians)
        self._points = self._embedding(table)
        self._tree, self._angles = KDTree(self._points(values)), radians
        if self.k is None:
            self.k_ = self._chosen(values)
            return
        self.k_ = check_count(self.k, "k", 1, "neighbours")
        if self.k_ > rows:
            raise InputError(f"k is {self.k_}, but there are {rows} observed places: give at most that many.")

    def _embedding(self, table: Table) -> Callable[[FloatArray], FloatArray]:
        """What makes points of values, between which straight lines order the neighbours."""
        if self.metric == "euclidean":
            return Standard(table.values)
        if self.metric != "geographic":
            raise InputError(f"metric is {self.metric!r}: give 'euclidean' or 'geographic'.")
        if table.values.shape[1] != 2:
            raise InputError(
                f"metric='geographic' needs two columns, longitude and latitude, but X has {table.values.shape[1]}: "
                "give those two."
            )
        self._columns = [1, 0] if latitude_first(table, [0, 1]) else [0, 1]
        check_earth(self._columns, table, table)
        return lambda values: _on_sphere(values[:, self._columns])

    def _chosen(self, values: FloatArray) -> int:
        """The k with the smallest leave-one-out CRPS."""
        rows = len(self._angles)
        tried = [k for k in _TRIED if k < rows] or [1]
        _, near = self._tree.query(self._points(values), k=tried[-1] + 1)
        # A place is not its own neighbour; where many share its coordinates it may not be among the nearest at all.
        own = near == np.arange(rows)[:, None]
        own[~own.any(axis=1), -1] = True
        others = near[~own].reshape(rows, -1)
        return min(tried, key=lambda k: float(self._law_score(others[:, :k], self._angles, "cosine").mean()))

    def _mean(self, new: Table) -> FloatArray:
        return np.asarray(circle.mean(self._angles[self._near(new)], axis=1))

    def _draw(self, new: Table, n: int, rng: np.random.Generator) -> FloatArray:
        near = self._near(new)
        chosen = rng.integers(self.k_, size=(n, len(near)))
        return self._angles[near[np.arange(len(near)), chosen]]

    def _crps(self, new: Table, truth: FloatArray, distance: str) -> FloatArray:
        return self._law_score(self._near(new), truth, distance)

    def _law_score(self, near: NDArray[np.intp], truth: FloatArray, distance: str) -> FloatArray:
        return scores.crps(self._angles[near].T, truth, distance=distance, unbiased=False)

    def _near(self, new: Table) -> NDArray[np.intp]:
        """Rows of the k nearest observed places, (m, k)."""
        if self.metric == "geographic":
            check_earth(self._columns, self.table_, new)
        _, near = self._tree.query(self._points(new.values), k=[*range(1, self.k_ + 1)])
        return np.asarray(near)


def _on_sphere(values: FloatArray) -> FloatArray:
    """Points of the unit sphere; chords between them order places as great circles do.

    >>> _on_sphere(np.array([[90.0, 0.0]])).round(9).tolist()
    [[0.0, 1.0, 0.0]]
    """
    longitude, latitude = np.radians(values.T)
    flat = np.cos(latitude)
    return np.stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)], axis=1)
