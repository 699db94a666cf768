"""Latent radii of a projected Gaussian process: exact draws of one radius, and sweeps over all of them.

With the angles given, ``log p(r) = Σ log r_i − ½ rᵀ A r`` for r > 0. One radius given the others has the density
``r exp(−½ a r² + b r)``, which is drawn exactly by rejection. All radii together have a common factor whose
distribution is that of the square root of a χ² number, which is drawn exactly too.
"""

import math

from numba import njit

from vmqp.sampling.random import normal, uniform

__all__ = ["draw_radius", "precision_of_radii", "rescale", "sweep"]

_BACK = -1.5  # where the gamma distribution takes over from the normal one as an envelope


@njit(cache=True)
def draw_radius(streams, a, b):  # type: ignore[no-untyped-def]
    """Draw from the density in proportion to r exp(−½ a r² + b r), r > 0, for a > 0.

    In x = r √a it is x exp(−½ (x − β)²) with β = b/√a. Its logarithm is more concave than that of a normal distribution
    with variance 1 about its mode, which therefore lies above it: at least half of the proposals are accepted down to
    β = −1.5. Further back it is below a gamma distribution with shape 2 and rate −β.
    """
    root = math.sqrt(a)
    beta = b / root
    if beta < _BACK:
        while True:
            x = -math.log((1.0 - uniform(streams, 0)) * (1.0 - uniform(streams, 0))) / -beta
            if uniform(streams, 0) < math.exp(-0.5 * x * x):
                return x / root
    mode = 0.5 * (beta + math.sqrt(beta * beta + 4.0))
    while True:
        shift = normal(streams, 0)
        x = mode + shift
        if x <= 0.0:
            continue
        # log x/mode − ½(x−β)² + ½(mode−β)² + ½(x−mode)², where 1/mode = mode − β
        if uniform(streams, 0) * mode < x * math.exp(-shift / mode):
            return x / root


@njit(cache=True, nogil=True)
def precision_of_radii(M, weights, cos, sin, inverse, mean, A):  # type: ignore[no-untyped-def]
    """Fill A, (n, n): M_ij u_iᵀ T⁻¹ u_j − w_i w_j u_iᵀ W u_j with the unit vectors u of the angles.

    `inverse` is T⁻¹ and `mean` W, each as its entries xx, xy, yy.
    """
    n = M.shape[0]
    for i in range(n):
        px = inverse[0] * cos[i] + inverse[1] * sin[i]
        py = inverse[1] * cos[i] + inverse[2] * sin[i]
        qx = weights[i] * (mean[0] * cos[i] + mean[1] * sin[i])
        qy = weights[i] * (mean[1] * cos[i] + mean[2] * sin[i])
        for j in range(n):
            A[i, j] = M[i, j] * (px * cos[j] + py * sin[j]) - weights[j] * (qx * cos[j] + qy * sin[j])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def sweep(streams, A, radii):  # type: ignore[no-untyped-def]
    """Draw each radius in turn given the others."""
    n = radii.shape[0]
    for i in range(n):
        row = A[i]
        pull = 0.0
        for j in range(n):
            pull += row[j] * radii[j]
        own = row[i]
        if not own > 0.0:  # rounding, where the stretch is extreme
            continue
        radii[i] = draw_radius(streams, own, own * radii[i] - pull)


@njit(cache=True, nogil=True)
def rescale(streams, A, radii):  # type: ignore[no-untyped-def]
    """Draw the common factor of all radii: its square is χ² with 2n degrees of freedom over rᵀ A r."""
    n = radii.shape[0]
    quadratic = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += A[i, j] * radii[j]
        quadratic += radii[i] * total
    square = 0.0
    for _ in range(2 * n):
        x = normal(streams, 0)
        square += x * x
    if not quadratic > 0.0:  # rounding, where A is all but singular
        return
    factor = math.sqrt(square / quadratic)
    for i in range(n):
        radii[i] *= factor
