"""A coupling that is given by its root, Q = U Uᵀ, and the loops that never form it.

Beside the unit vectors x the sums ``t = Uᵀx`` are kept. The field of one angle is then a sum over row i of U,

    h_i = ρ_i − (U t)_i + Q_ii x_i,

and a new x_i changes only those entries of t that row i touches. So a sweep costs two passes over U, however dense
U Uᵀ is. Triangular systems are solved along the order of the rows, in both directions, by rows alone.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from vmqp.sampling.random import normal

__all__ = [
    "RootMass",
    "Rooted",
    "root_momentum",
    "root_solve",
    "rooted_product",
    "rooted_sums",
    "with_diagonal",
]

Array = npt.NDArray[np.float64]
Starts = npt.NDArray[np.int64]
Columns = npt.NDArray[np.int32]


class Rooted(NamedTuple):
    """The coupling scale · U Uᵀ, without its diagonal: rows of U with the entry of the diagonal first."""

    starts: Starts
    columns: Columns
    values: Array
    diagonal: Array
    """Of U Uᵀ."""
    scale: float = 1.0


class RootMass(NamedTuple):
    """W = U Uᵀ / scale as the mass of HMC, with the order in which triangular systems are solved."""

    starts: Starts
    columns: Columns
    values: Array
    order: Columns
    scale: float = 1.0


@njit(cache=True, nogil=True)
def rooted_sums(starts, columns, values, x, k, t):  # type: ignore[no-untyped-def]
    """t = Uᵀx of chain k, as rows (cos, sin)."""
    t[:] = 0.0
    for i in range(x.shape[2]):
        c, s = x[0, k, i], x[1, k, i]
        for e in range(starts[i], starts[i + 1]):
            t[columns[e], 0] += values[e] * c
            t[columns[e], 1] += values[e] * s


@njit(cache=True)
def rooted_product(starts, columns, values, diagonal, scale, x, out):  # type: ignore[no-untyped-def]
    """out = Q x, without the diagonal of Q, for x of shape (2, C, m)."""
    t = np.empty((x.shape[2], 2))
    for k in range(x.shape[1]):
        rooted_sums(starts, columns, values, x, k, t)
        for i in range(x.shape[2]):
            a = b = 0.0
            for e in range(starts[i], starts[i + 1]):
                a += values[e] * t[columns[e], 0]
                b += values[e] * t[columns[e], 1]
            out[0, k, i] = scale * (a - diagonal[i] * x[0, k, i])
            out[1, k, i] = scale * (b - diagonal[i] * x[1, k, i])


@njit(cache=True)
def root_momentum(streams, starts, columns, values, scale, p):  # type: ignore[no-untyped-def]
    """p = U e / √scale, which has the covariance W."""
    chains, m = p.shape
    numbers, size = np.empty(m), 1.0 / math.sqrt(scale)
    for k in range(chains):
        for i in range(m):
            numbers[i] = size * normal(streams, k)
        for i in range(m):
            total = 0.0
            for e in range(starts[i], starts[i + 1]):
                total += values[e] * numbers[columns[e]]
            p[k, i] = total


@njit(cache=True, error_model="numpy")
def root_solve(starts, columns, values, order, scale, p, v):  # type: ignore[no-untyped-def]
    """v = W⁻¹p: U z = p from the last row to the first, then Uᵀv = z from the first to the last."""
    chains, m = p.shape
    for k in range(chains):
        own = v[k]
        for r in range(m - 1, -1, -1):
            i = order[r]
            total = p[k, i]
            for e in range(starts[i] + 1, starts[i + 1]):
                total -= values[e] * own[columns[e]]
            own[i] = total / values[starts[i]]
        for r in range(m):
            i = order[r]
            value = own[i] / values[starts[i]]
            for e in range(starts[i] + 1, starts[i + 1]):
                own[columns[e]] -= values[e] * value
            own[i] = value
        for i in range(m):
            own[i] *= scale


@njit(cache=True, nogil=True, error_model="numpy")
def with_diagonal(starts, columns, values, order, extra):  # type: ignore[no-untyped-def]
    """Values of a root V, with the entries of U and no others, of about U Uᵀ with `extra` added to its diagonal.

    It is an incomplete factorisation: entries of V Vᵀ agree where V has one. Any positive definite matrix is a valid
    mass, so what it leaves out costs time only. Column by column from the last,
    V_ij V_jj = (U Uᵀ)_ij − Σ_e V_ie V_je over the columns e after j.
    """
    m = order.shape[0]
    rank = np.empty(m, np.int32)
    for r in range(m):
        rank[order[r]] = r
    result = np.zeros_like(values)
    # Columns of U: for each column j, the entries of its rows.
    counts = np.zeros(m + 1, np.int64)
    for e in range(columns.shape[0]):
        counts[columns[e] + 1] += 1
    for j in range(m):
        counts[j + 1] += counts[j]
    rows, places = np.empty(columns.shape[0], np.int32), np.empty(columns.shape[0], np.int64)
    room = counts[:-1].copy()
    for i in range(m):
        for e in range(starts[i], starts[i + 1]):
            rows[room[columns[e]]], places[room[columns[e]]] = i, e
            room[columns[e]] += 1
    found = np.full(m, -1, np.int64)  # where row j has its entry of a column
    for r in range(m - 1, -1, -1):
        j = order[r]
        pivot = extra[j]
        for e in range(starts[j], starts[j + 1]):
            found[columns[e]] = e
            pivot += values[e] * values[e] - (result[e] * result[e] if columns[e] != j else 0.0)
        # A complete factor's pivot is never below that of U with what is added to it, so that nor is this one.
        root = math.sqrt(max(pivot, values[starts[j]] * values[starts[j]] + extra[j]))
        for q in range(counts[j], counts[j + 1]):
            i = rows[q]
            if i == j:
                result[places[q]] = root
                continue
            total = 0.0
            for e in range(starts[i], starts[i + 1]):
                here = found[columns[e]]
                if here >= 0:
                    total += values[e] * values[here]
                    if columns[e] != j:
                        total -= result[e] * result[here]
            result[places[q]] = total / root
        for e in range(starts[j], starts[j + 1]):
            found[columns[e]] = -1
    return result
