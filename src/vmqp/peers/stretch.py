"""The stretch of a projected Gaussian process: moves of T = exp(E) at given radii, in turn with moves of the radii.

Given the vectors z = r u, the likelihood of T needs the sums ZᵀMZ and ZᵀM1 only, so that a move costs nothing.
"""

import math

import numpy as np
from numba import njit

from vmqp.peers.radii import precision_of_radii, rescale, sweep
from vmqp.sampling.random import normal, uniform

__all__ = ["precisions", "renew"]

_MOVES = 10  # of T in a cycle


@njit(cache=True)
def precisions(e, ones, mean_scale):  # type: ignore[no-untyped-def]
    """T⁻¹, and W = Σ_a e_a e_aᵀ / (λ_a (λ_a/s² + S)) over the axes of T, each as xx, xy, yy."""
    size = math.hypot(e[0], e[1])
    c, s = (e[0] / size, e[1] / size) if size > 1e-12 else (1.0, 0.0)
    inverse, mean = np.empty(3), np.empty(3)
    long, short = math.exp(size), math.exp(-size)
    first = 1.0 / (long * (long / mean_scale**2 + ones))
    second = 1.0 / (short * (short / mean_scale**2 + ones))
    for out, one, two in ((inverse, short, long), (mean, first, second)):
        half, gap = 0.5 * (one + two), 0.5 * (one - two)
        out[0], out[1], out[2] = half + gap * c, gap * s, half - gap * c
    return inverse, mean


@njit(cache=True)
def _level(e, G, g, ones, mean_scale):  # type: ignore[no-untyped-def]
    """Log-likelihood of z without its part −log|K|: the determinant of T is one."""
    inverse, mean = precisions(e, ones, mean_scale)
    quadratic = inverse[0] * G[0] + 2.0 * inverse[1] * G[1] + inverse[2] * G[2]
    quadratic -= mean[0] * g[0] ** 2 + 2.0 * mean[1] * g[0] * g[1] + mean[2] * g[1] ** 2
    size = math.hypot(e[0], e[1])
    spread = mean_scale**2 * ones
    return -0.5 * (quadratic + math.log1p(spread * math.exp(-size)) + math.log1p(spread * math.exp(size)))


@njit(cache=True)
def _walk(streams, e, step, G, g, ones, mean_scale, stretch_scale, count):  # type: ignore[no-untyped-def]
    """Random-walk Metropolis of e, which is changed in place; return the mean acceptance."""
    level = _level(e, G, g, ones, mean_scale) - 0.5 * (e[0] ** 2 + e[1] ** 2) / stretch_scale**2
    total = 0.0
    new = np.empty(2)
    for _ in range(count):
        new[0] = e[0] + step * normal(streams, 0)
        new[1] = e[1] + step * normal(streams, 0)
        proposed = _level(new, G, g, ones, mean_scale) - 0.5 * (new[0] ** 2 + new[1] ** 2) / stretch_scale**2
        gain = proposed - level
        acceptance = 0.0 if math.isnan(gain) else math.exp(min(0.0, gain))
        total += acceptance
        if uniform(streams, 0) < acceptance:
            e[0], e[1], level = new[0], new[1], proposed
    return total / count


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _sums(M, weights, cos, sin, radii, G, g):  # type: ignore[no-untyped-def]
    """Fill ZᵀMZ as xx, xy, yy, and ZᵀM1."""
    n = radii.shape[0]
    x, y = radii * cos, radii * sin
    xx = xy = yy = gx = gy = 0.0
    for i in range(n):
        row = M[i]
        a = b = 0.0
        for j in range(n):
            a += row[j] * x[j]
            b += row[j] * y[j]
        xx += x[i] * a
        xy += x[i] * b
        yy += y[i] * b
        gx += weights[i] * x[i]
        gy += weights[i] * y[i]
    G[0], G[1], G[2], g[0], g[1] = xx, xy, yy, gx, gy


@njit(cache=True, nogil=True)
def renew(streams, M, weights, cos, sin, mean_scale, stretch_scale, radii, e, step, A, cycles):  # type: ignore[no-untyped-def]
    """Some cycles over the radii and the stretch; return the mean acceptance of the latter. A is scratch, (n, n)."""
    ones = weights.sum()
    G, g = np.empty(3), np.empty(2)
    rate = 0.0
    for _ in range(cycles):
        inverse, mean = precisions(e, ones, mean_scale)
        precision_of_radii(M, weights, cos, sin, inverse, mean, A)
        sweep(streams, A, radii)
        rescale(streams, A, radii)
        if stretch_scale > 0.0:
            _sums(M, weights, cos, sin, radii, G, g)
            rate += _walk(streams, e, step, G, g, ones, mean_scale, stretch_scale, _MOVES)
    return rate / cycles
