"""Some of many places, with short and long distances among them: groups of near ones, far apart from each other."""

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from vmqp.circle import FloatArray
from vmqp.precision.ordering import coarse_to_fine

__all__ = ["groups_of_near"]


def groups_of_near(points: FloatArray, count: int, size: int) -> npt.NDArray[np.intp]:
    """Rows of about `count` points, in groups of `size` neighbours; groups that overlap share their points.

    >>> rows = groups_of_near(np.arange(1000.0)[:, None], 60, 20)
    >>> len(rows), int(np.bincount(np.diff(rows)).argmax())
    (60, 1)
    """
    middles = points[coarse_to_fine(points)[: max(1, round(count / size))]]
    _, near = cKDTree(points).query(middles, k=min(size, len(points)))
    return np.unique(near).astype(np.intp)
