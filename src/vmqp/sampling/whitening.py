"""A positive definite matrix W near the coupling, with a root and its inverse.

Whitened HMC takes W as its mass: momentum p ~ N(0, W), velocity W⁻¹p. Where W is the coupling itself the
method is nearly indifferent to conditioning. The diagonal of a coupling never matters for the density, so it may
be raised until W is positive definite, as for a lattice or a spin glass whose diagonal is zero.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload
from scipy.linalg import eigvalsh, lapack

from vmqp.sampling.factor import SparseFactor, cholesky
from vmqp.sampling.linear import FAST_SUM, apply_coupling, matvec
from vmqp.sampling.random import normal
from vmqp.sampling.rooted import Rooted, RootMass, root_momentum, root_solve, with_diagonal
from vmqp.sampling.target import Array, Target

__all__ = ["CovarianceRoot", "DenseWhitening", "RootMass", "Whitening", "draw_momentum", "unwhiten", "whiten"]

_MARGIN = 0.1  # by which a raised diagonal clears the smallest eigenvalue, as a share of the row's coupling
_TOO_LONG = 2.0
_WORTHWHILE = 0.1  # an excess above this share of the diagonal is worth a second factorisation


class DenseWhitening(NamedTuple):
    """W = rootᵀ root and its inverse."""

    root: Array
    inverse: Array


class CovarianceRoot(NamedTuple):
    """W⁻¹ = scale · lower lowerᵀ: the Cholesky factor of a kernel matrix serves as it is, with no inverse."""

    lower: Array
    scale: float


Whitening = DenseWhitening | CovarianceRoot | SparseFactor | RootMass


def whiten(target: Target, extra: Array | None = None) -> Whitening:
    """Factorise the coupling of a target, its diagonal raised where needed.

    ``extra`` is added to the diagonal: the noise concentration χ at observed rows, for example. Where it is not
    given, it is found by :func:`_excess`.
    """
    diagonal = target.useful_diagonal()
    if extra is not None:
        return _factorise(target, diagonal + extra)
    first = _factorise(target, diagonal)
    excess = _excess(target, first)
    if (excess > _WORTHWHILE * np.abs(diagonal)).any():
        return _factorise(target, diagonal + excess)
    return first


def _factorise(target: Target, diagonal: Array) -> Whitening:
    if isinstance(target.coupling, Rooted):
        return _rooted(target, diagonal - target.diagonal)
    hollow = target.matrix()
    factor = cholesky(hollow, diagonal) if diagonal.min(initial=1.0) > 0.0 else None
    if factor is None:
        factor = cholesky(hollow, _raised(hollow, diagonal))
    assert factor is not None, "a raised diagonal makes W positive definite"
    if isinstance(factor, SparseFactor):
        return factor
    if not target.size:
        return DenseWhitening(factor.upper, factor.upper)
    upper, _ = lapack.dpotri(factor.lower.T, lower=0)
    upper = np.triu(upper)
    return DenseWhitening(factor.upper, np.ascontiguousarray(upper + np.triu(upper, 1).T))


def _rooted(target: Target, extra: Array) -> RootMass:
    """The root itself, or an incomplete one where something is added to the diagonal."""
    assert isinstance(target.coupling, Rooted)
    assert target.order is not None
    starts, columns, values, _, scale = target.coupling
    if extra.any():
        values = with_diagonal(starts, columns, values, target.order, extra / scale)
    return RootMass(starts, columns, values, target.order, 1.0 / scale)


def _excess(target: Target, mass: Whitening) -> Array:
    """By how much the curvature of the log-density exceeds the diagonal of the coupling.

    At unit vectors x the second derivative by φ_i is h_i·x_i, h the field of the heat bath. It is taken at the
    directions of W⁻¹ρ, where a strong field leads, and only where W⁻¹ρ is longer than a unit vector can be: there
    the field belongs to the angle itself, as with noise, whose concentration χ is found to within some per cent.
    Elsewhere it comes from neighbours that are held fixed, and the coupling accounts for it.
    """
    if not target.field.any():
        return np.zeros(target.size)
    x, product = np.empty((2, 1, target.size)), np.empty((2, 1, target.size))
    for part in range(2):
        unwhiten(mass, target.field[part : part + 1], x[part])
    length = np.hypot(x[0], x[1])
    x /= np.where(length > 0.0, length, 1.0)
    apply_coupling(target.coupling, x, product)
    along = ((target.field[:, None] - product) * x).sum(axis=0)[0]
    excess: Array = np.clip(along - target.useful_diagonal(), 0.0, np.hypot(target.field[0], target.field[1]))
    excess[length[0] < _TOO_LONG] = 0.0
    return excess


def _raised(hollow: Any, diagonal: Array) -> Array:
    """The given diagonal, raised in proportion to the size of the rows until W is positive definite."""
    scale = np.asarray(abs(hollow).sum(axis=1)).ravel()
    scale = np.where(scale > 0.0, scale, 1.0)
    base = np.maximum(diagonal, 0.0)
    root = 1.0 / np.sqrt(scale)
    if isinstance(hollow, np.ndarray):
        lowest = eigvalsh(hollow * np.outer(root, root) + np.diag(base / scale), subset_by_index=[0, 0])[0]
    else:
        lowest = -1.0  # Gershgorin's bound, which a ferromagnetic lattice attains
    result: Array = base + (_MARGIN + max(0.0, -lowest)) * scale
    return result


@njit(cache=True, fastmath=FAST_SUM)
def _dense_momentum(streams, root, p):  # type: ignore[no-untyped-def]
    chains, m = p.shape
    for k in range(chains):
        p[k] = 0.0
        for i in range(m):
            e = normal(streams, k)
            for j in range(m):
                p[k, j] += root[i, j] * e


@njit(cache=True)
def _dense_solve(inverse, p, v):  # type: ignore[no-untyped-def]
    for k in range(p.shape[0]):
        matvec(inverse, p[k], v[k])


@njit(cache=True, fastmath=FAST_SUM)
def _root_momentum(streams, lower, scale, p):  # type: ignore[no-untyped-def]
    """p = L⁻ᵀ e / √scale by back substitution, which walks along the rows of L."""
    chains, m = p.shape
    size = 1.0 / math.sqrt(scale)
    for k in range(chains):
        own = p[k]
        for i in range(m):
            own[i] = size * normal(streams, k)
        for i in range(m - 1, -1, -1):
            row = lower[i, : i + 1]
            value = own[i] / row[i]
            own[i] = value
            for j in range(i):
                own[j] -= row[j] * value


@njit(cache=True, fastmath=FAST_SUM)
def _root_solve(lower, scale, p, v):  # type: ignore[no-untyped-def]
    """v = scale · L (Lᵀ p): each triangle is walked along its rows."""
    m = p.shape[1]
    work = np.empty(m)
    for k in range(p.shape[0]):
        for j in range(m):
            work[j] = 0.0
        for i in range(m):
            row, value = lower[i, : i + 1], scale * p[k, i]
            for j in range(i + 1):
                work[j] += row[j] * value
        for i in range(m):
            row, total = lower[i, : i + 1], 0.0
            for j in range(i + 1):
                total += row[j] * work[j]
            v[k, i] = total


@njit(cache=True)
def _sparse_momentum(streams, starts, rows, values, order, p):  # type: ignore[no-untyped-def]
    chains, m = p.shape
    for k in range(chains):
        p[k] = 0.0
        for j in range(m):
            e = normal(streams, k)
            for q in range(starts[j], starts[j + 1]):
                p[k, order[rows[q]]] += values[q] * e


@njit(cache=True)
def _sparse_solve(starts, rows, values, order, p, v):  # type: ignore[no-untyped-def]
    chains, m = p.shape
    work = np.empty(m)
    for k in range(chains):
        for j in range(m):
            work[j] = p[k, order[j]]
        for j in range(m):
            work[j] /= values[starts[j]]
            for q in range(starts[j] + 1, starts[j + 1]):
                work[rows[q]] -= values[q] * work[j]
        for j in range(m - 1, -1, -1):
            total = work[j]
            for q in range(starts[j] + 1, starts[j + 1]):
                total -= values[q] * work[rows[q]]
            work[j] = total / values[starts[j]]
        for j in range(m):
            v[k, order[j]] = work[j]


def draw_momentum(streams: Any, mass: Any, p: Any) -> None:
    """p ~ N(0, W) for each chain; compiled code picks by the type of ``mass``, None meaning W = 1."""
    if isinstance(mass, DenseWhitening):
        _dense_momentum(streams, mass.root, p)
    elif isinstance(mass, CovarianceRoot):
        _root_momentum(streams, mass.lower, mass.scale, p)
    elif isinstance(mass, SparseFactor):
        _sparse_momentum(streams, mass.starts, mass.rows, mass.values, mass.order, p)
    elif isinstance(mass, RootMass):
        root_momentum(streams, mass.starts, mass.columns, mass.values, mass.scale, p)
    else:
        _plain_momentum(streams, p)


def unwhiten(mass: Any, p: Any, v: Any) -> None:
    """v = W⁻¹ p for each chain; compiled code picks by the type of ``mass``, None meaning W = 1."""
    if isinstance(mass, DenseWhitening):
        _dense_solve(mass.inverse, p, v)
    elif isinstance(mass, CovarianceRoot):
        _root_solve(mass.lower, mass.scale, p, v)
    elif isinstance(mass, SparseFactor):
        _sparse_solve(mass.starts, mass.rows, mass.values, mass.order, p, v)
    elif isinstance(mass, RootMass):
        root_solve(*mass, p, v)
    else:
        _copy(p, v)


@njit(cache=True)
def _copy(p, v):  # type: ignore[no-untyped-def]
    for k in range(p.shape[0]):
        for i in range(p.shape[1]):
            v[k, i] = p[k, i]


@njit(cache=True)
def _plain_momentum(streams, p):  # type: ignore[no-untyped-def]
    for k in range(p.shape[0]):
        for i in range(p.shape[1]):
            p[k, i] = normal(streams, k)


@overload(draw_momentum)
def _draw_momentum(streams, mass, p):  # type: ignore[no-untyped-def]
    kind = getattr(mass, "instance_class", None)
    if kind is DenseWhitening:
        return lambda streams, mass, p: _dense_momentum(streams, mass.root, p)
    if kind is CovarianceRoot:
        return lambda streams, mass, p: _root_momentum(streams, mass.lower, mass.scale, p)
    if kind is SparseFactor:
        return lambda streams, mass, p: _sparse_momentum(
            streams, mass.starts, mass.rows, mass.values, mass.order, p
        )
    if kind is RootMass:
        return lambda streams, mass, p: root_momentum(
            streams, mass.starts, mass.columns, mass.values, mass.scale, p
        )
    return lambda streams, mass, p: _plain_momentum(streams, p)


@overload(unwhiten)
def _unwhiten(mass, p, v):  # type: ignore[no-untyped-def]
    kind = getattr(mass, "instance_class", None)
    if kind is DenseWhitening:
        return lambda mass, p, v: _dense_solve(mass.inverse, p, v)
    if kind is CovarianceRoot:
        return lambda mass, p, v: _root_solve(mass.lower, mass.scale, p, v)
    if kind is SparseFactor:
        return lambda mass, p, v: _sparse_solve(mass.starts, mass.rows, mass.values, mass.order, p, v)
    if kind is RootMass:
        return lambda mass, p, v: root_solve(
            mass.starts, mass.columns, mass.values, mass.order, mass.scale, p, v
        )
    return lambda mass, p, v: _copy(p, v)
