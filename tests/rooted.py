"""Couplings by their root, small enough for their matrix."""

import numpy as np

from vmqp.precision import make_graph, vecchia
from vmqp.sampling.rooted import Rooted
from vmqp.sampling.target import Target


def precision_of(m, k=4, length=0.5):
    """Of places in the plane, half of them new: so the order of the rows is not that of the solves."""
    X = np.random.default_rng(m).uniform(size=(m, 2))

    def covariance(i, j):
        return 0.2 * np.exp(-np.linalg.norm(X[i] - X[j], axis=1) / length)

    return vecchia(covariance, make_graph(X, m // 2, k))


def matrix_of(precision):
    M = (precision.U @ precision.U.T).toarray()
    return 0.5 * (M + M.T)


def field_of(m):
    return np.random.default_rng(m + 1).normal(size=(m, 2))


def scaled_target(precision, scale, field=None):
    """What learning makes of a point with a scale: one root serves all of them."""
    pattern, diagonal = precision.pattern, precision.diagonal
    coupling = Rooted(pattern.starts, pattern.columns, precision.values, diagonal, scale)
    field = field_of(precision.d) if field is None else field
    return Target(coupling, scale * diagonal, np.ascontiguousarray(field.T), pattern.order)
