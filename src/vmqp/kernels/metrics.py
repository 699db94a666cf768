"""Distances between rows, for any set of pairs of rows.

Each function takes the columns, (d, p), and the two rows of every pair, ``rows`` and ``cols``.

>>> import numpy as np
>>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
>>> squared_distance(X, np.array([1]), np.array([0]))
array([25.])
"""

import numpy as np
import numpy.typing as npt

from vmqp.circle import FloatArray
from vmqp.errors import InputError

__all__ = ["EARTH_RADIUS", "chord", "great_circle", "squared_differences", "squared_distance"]

EARTH_RADIUS = 6371.0088
"""The mean radius of the earth in km."""

Index = npt.NDArray[np.intp]


def squared_differences(X: FloatArray, rows: Index, cols: Index) -> FloatArray:
    """Return the squared difference in each column, (p, pairs)."""
    return np.stack([(column[rows] - column[cols]) ** 2 for column in X.T])


def squared_distance(X: FloatArray, rows: Index, cols: Index) -> FloatArray:
    """Return the squared Euclidean distance."""
    result = np.zeros(rows.shape)
    for column in X.T:
        result += (column[rows] - column[cols]) ** 2
    return result


def great_circle(X: FloatArray, rows: Index, cols: Index) -> FloatArray:
    """Return the distance in km along the earth's surface, of columns longitude and latitude in degrees.

    >>> import numpy as np
    >>> poles = np.array([[0.0, 90.0], [0.0, -90.0]])
    >>> great_circle(poles, np.array([1]), np.array([0])).round(3)
    array([20015.114])
    """
    near, far = _haversines(X, rows, cols)
    return np.asarray(2.0 * EARTH_RADIUS * np.arctan2(np.sqrt(near), np.sqrt(far)))


def chord(X: FloatArray, rows: Index, cols: Index) -> FloatArray:
    """Return the distance in km straight through the earth: it embeds the sphere in Euclidean space.

    >>> import numpy as np
    >>> poles = np.array([[0.0, 90.0], [0.0, -90.0]])
    >>> chord(poles, np.array([1]), np.array([0])).round(3)
    array([12742.018])
    """
    near, _ = _haversines(X, rows, cols)
    return np.asarray(2.0 * EARTH_RADIUS * np.sqrt(near))


def _haversines(X: FloatArray, rows: Index, cols: Index) -> tuple[FloatArray, FloatArray]:
    """Haversine of each pair, and of each first place with the antipode of the second.

    The two add up to 1; either is computed without cancellation where it is small.
    """
    if X.shape[1] != 2:
        raise InputError(
            f"metric='geographic' was given for {X.shape[1]} columns: give columns=[longitude, latitude]."
        )
    outside = (np.abs(X[:, 1]) > 90.0) | (X[:, 0] < -180.0) | (X[:, 0] > 360.0)
    if outside.any():
        raise InputError(
            f"row {int(np.argmax(outside))} is off the earth for metric='geographic': give "
            "columns=[longitude, latitude], in degrees from -180 to 360 and from -90 to 90."
        )
    longitude, latitude = np.radians(X.T)
    half = 0.5 * (longitude[rows] - longitude[cols])
    cosines = np.cos(latitude)
    product = cosines[rows] * cosines[cols]
    near = np.sin(0.5 * (latitude[rows] - latitude[cols])) ** 2 + product * np.sin(half) ** 2
    far = np.sin(0.5 * (latitude[rows] + latitude[cols])) ** 2 + product * np.cos(half) ** 2
    return np.asarray(near), np.asarray(far)
