"""Places on a map: whether they form a grid, where cells end, and which of many places get an arrow."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from vmqp.circle import FloatArray

__all__ = ["Grid", "full_grid", "spread_out"]

_ROUNDING = 1e-6


@dataclass(frozen=True)
class Grid:
    """A full grid: its columns x, its rows y, and the number of the place at each row and column."""

    x: FloatArray
    y: FloatArray
    number: NDArray[np.intp]

    def cells(self, values: FloatArray) -> FloatArray:
        """Values of the places, one row of the result for each y."""
        return values[self.number]

    def edges(self) -> tuple[FloatArray, FloatArray]:
        """Ends of the cells, half-way between neighbours."""
        return _edges(self.x), _edges(self.y)


def full_grid(places: FloatArray) -> Grid | None:
    """Find the grid that places form, in any order; None if one is missing, twice there, or off the lines.

    >>> grid = full_grid(np.array([[1.0, 5.0], [0.0, 5.0], [0.0, 7.0], [1.0, 7.0]]))
    >>> grid.x.tolist(), grid.y.tolist(), grid.number.tolist()
    ([0.0, 1.0], [5.0, 7.0], [[1, 0], [2, 3]])
    >>> full_grid(np.array([[1.0, 5.0], [0.0, 5.0], [0.0, 7.0]])) is None
    True
    """
    x, column = _lines(places[:, 0])
    y, row = _lines(places[:, 1])
    if min(len(x), len(y)) < 2 or len(x) * len(y) != len(places):
        return None
    number = np.full((len(y), len(x)), -1)
    number[row, column] = np.arange(len(places))
    return None if (number < 0).any() else Grid(x, y, number)


def spread_out(places: FloatArray, distance: float) -> NDArray[np.intp]:
    """Choose places that are at least a distance apart; no other place is further than that from them.

    Places on a full grid are thinned to every second, third, ... row and column, so that a grid remains.

    >>> spread_out(np.array([[0.0, 0.0], [0.1, 0.0], [1.0, 0.0]]), 0.5).tolist()
    [0, 2]
    """
    grid = full_grid(places)
    if grid is not None:
        rows, columns = (_every(line, distance) for line in (grid.y, grid.x))
        return np.sort(grid.number[np.ix_(rows, columns)].ravel())
    tree = cKDTree(places)
    free = np.ones(len(places), dtype=bool)
    chosen = []
    for i, place in enumerate(places):
        if free[i]:
            chosen.append(i)
            free[tree.query_ball_point(place, distance * (1 - _ROUNDING))] = False
    return np.array(chosen, dtype=np.intp)


def _lines(values: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Distinct values but for rounding, and the number of the one that each belongs to."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    new = np.diff(ascending, prepend=-np.inf) > _ROUNDING * max(float(np.ptp(values)), np.finfo(float).tiny)
    number = np.empty(len(values), dtype=np.intp)
    number[order] = np.cumsum(new) - 1
    return ascending[new], number


def _edges(line: FloatArray) -> FloatArray:
    middle = (line[1:] + line[:-1]) / 2
    return np.concatenate([[line[0] - (middle[0] - line[0])], middle, [line[-1] + (line[-1] - middle[-1])]])


def _every(line: FloatArray, distance: float) -> NDArray[np.intp]:
    """Numbers of every k-th line, k the smallest for which they are far enough apart, and in the middle."""
    closest = float(np.diff(line).min())
    step = max(1, int(np.ceil(distance / closest * (1 - _ROUNDING))))
    return np.arange(min(step, len(line)) // 2 if step > 1 else 0, len(line), step)
