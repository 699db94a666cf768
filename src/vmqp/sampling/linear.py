"""Products with a coupling, compiled: the inner loops under every sampler.

Four rows at a time: each entry of x is then loaded once for four products, and a pass over a dense coupling
with the two columns (cos, sin) costs less than the product of NumPy, which packs both factors first. The sums
are the only place where reassociation is allowed; the order does not depend on the number of threads.
"""

from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from vmqp.sampling.rooted import Rooted, rooted_product
from vmqp.sampling.target import Dense, Sparse

__all__ = ["FAST_SUM", "apply_coupling", "dense_product", "four_rows", "matvec", "one_row"]

FAST_SUM = {"reassoc", "contract", "nsz"}


@njit(cache=True, fastmath=FAST_SUM)
def four_rows(matrix, i, x, k, start, stop, out):  # type: ignore[no-untyped-def]
    """out[b] = Σ_j matrix[i+b, j] x_j of chain k, start ≤ j < stop, b = 0 … 3; a row of ``out`` is (cos, sin)."""
    # Slices that are indexed from 0: an index that might be negative would keep the loop from being vectorised.
    r0, r1 = matrix[i, start:stop], matrix[i + 1, start:stop]
    r2, r3 = matrix[i + 2, start:stop], matrix[i + 3, start:stop]
    c, s = x[0, k, start:stop], x[1, k, start:stop]
    c0 = c1 = c2 = c3 = s0 = s1 = s2 = s3 = 0.0
    for j in range(c.shape[0]):
        c0 += r0[j] * c[j]
        s0 += r0[j] * s[j]
        c1 += r1[j] * c[j]
        s1 += r1[j] * s[j]
        c2 += r2[j] * c[j]
        s2 += r2[j] * s[j]
        c3 += r3[j] * c[j]
        s3 += r3[j] * s[j]
    out[0, 0], out[0, 1] = c0, s0
    out[1, 0], out[1, 1] = c1, s1
    out[2, 0], out[2, 1] = c2, s2
    out[3, 0], out[3, 1] = c3, s3


@njit(cache=True, fastmath=FAST_SUM)
def one_row(matrix, i, x, k, start, stop):  # type: ignore[no-untyped-def]
    """Σ_j matrix[i, j] x_j of chain k, start ≤ j < stop, as (cos, sin)."""
    row, c, s = matrix[i, start:stop], x[0, k, start:stop], x[1, k, start:stop]
    a = b = 0.0
    for j in range(row.shape[0]):
        a += row[j] * c[j]
        b += row[j] * s[j]
    return a, b


@njit(cache=True, fastmath=FAST_SUM)
def matvec(matrix, v, out):  # type: ignore[no-untyped-def]
    """out = matrix v, four rows at a time."""
    m = v.shape[0]
    for i in range(0, m - 3, 4):
        r0, r1, r2, r3 = matrix[i], matrix[i + 1], matrix[i + 2], matrix[i + 3]
        a0 = a1 = a2 = a3 = 0.0
        for j in range(m):
            vj = v[j]
            a0 += r0[j] * vj
            a1 += r1[j] * vj
            a2 += r2[j] * vj
            a3 += r3[j] * vj
        out[i], out[i + 1], out[i + 2], out[i + 3] = a0, a1, a2, a3
    for i in range(m - m % 4, m):
        a0 = 0.0
        for j in range(m):
            a0 += matrix[i, j] * v[j]
        out[i] = a0


@njit(cache=True)
def dense_product(matrix, x, out, lower, upper):  # type: ignore[no-untyped-def]
    """out = matrix x for x of shape (2, C, m); ``lower`` and ``upper`` say where the matrix is not zero."""
    chains, m = x.shape[1], x.shape[2]
    block = np.empty((4, 2))
    for i in range(0, m - 3, 4):
        start, stop = 0 if lower else i, m if upper else i + 4
        for k in range(chains):  # the four rows stay in the cache for all chains
            four_rows(matrix, i, x, k, start, stop, block)
            for b in range(4):
                out[0, k, i + b], out[1, k, i + b] = block[b, 0], block[b, 1]
    for i in range(m - m % 4, m):
        start, stop = 0 if lower else i, m if upper else i + 1
        for k in range(chains):
            out[0, k, i], out[1, k, i] = one_row(matrix, i, x, k, start, stop)


@njit(cache=True)
def _sparse_product(starts, columns, values, x, out):  # type: ignore[no-untyped-def]
    chains, m = x.shape[1], x.shape[2]
    for i in range(m):
        for chain in range(chains):
            a = b = 0.0
            for k in range(starts[i], starts[i + 1]):
                j = columns[k]
                a += values[k] * x[0, chain, j]
                b += values[k] * x[1, chain, j]
            out[0, chain, i], out[1, chain, i] = a, b


@njit(cache=True)
def _scaled_product(matrix, scale, x, out):  # type: ignore[no-untyped-def]
    dense_product(matrix, x, out, True, True)
    for k in range(x.shape[1]):
        for i in range(x.shape[2]):
            out[0, k, i] *= scale
            out[1, k, i] *= scale


def apply_coupling(coupling: Any, x: Any, out: Any) -> None:
    """out = Q x for x of shape (2, C, m), Q without its diagonal; compiled code picks by the type of ``coupling``."""
    if isinstance(coupling, Dense):
        _scaled_product(coupling.matrix, coupling.scale, x, out)
    elif isinstance(coupling, Rooted):
        rooted_product(*coupling, x, out)
    else:
        _sparse_product(coupling.starts, coupling.columns, coupling.values, x, out)


@overload(apply_coupling)
def _apply_coupling(coupling, x, out):  # type: ignore[no-untyped-def]
    kind = getattr(coupling, "instance_class", None)
    if kind is Dense:
        return lambda coupling, x, out: _scaled_product(coupling.matrix, coupling.scale, x, out)
    if kind is Rooted:
        return lambda coupling, x, out: rooted_product(
            coupling.starts, coupling.columns, coupling.values, coupling.diagonal, coupling.scale, x, out
        )
    if kind is Sparse:
        return lambda coupling, x, out: _sparse_product(
            coupling.starts, coupling.columns, coupling.values, x, out
        )
    return None
