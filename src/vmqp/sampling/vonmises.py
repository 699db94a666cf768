"""One von Mises draw, right from concentration 0 to 10¹² and beyond.

A draw t from vM(0, k) is returned as (1 − cos t, sin t): the samplers work with unit vectors and need no
angle, and ``cos t`` itself would lose every digit of the deviation where k is 10⁶ and more.

Two exact rejection methods, both written without a division by k:

- k < 1: the wrapped Cauchy envelope 1/(q + k (1 − cos t)) of Best and Fisher (1979), whose ratio to the density is
  largest where the bracket is 1. Any q in (0, 1] is valid; here it is a parabola through the best one at k = 0, ½
  and 1. A point (a, b) uniform in the half disc gives ``1 − cos t = 2 q b² / (q (a² + b²) + 2 k a²)``; the sign of b is
  the sign of t.
- k ≥ 1: with g = 2 sin(t/2) and w = g²/2, ``1 − cos t = w`` exactly, so g is Gaussian with the weight
  1/√(1 − w/2). Where w < c the weight is below e^(a w), and the proposal is N(0, 1/(k − a)); the rest of the
  circle, of probability below 0.1, has the flat envelope e^(−k c). Nearly all proposals are accepted at large k.
"""

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from vmqp.sampling.random import normal, seed_streams, uniform

__all__ = ["sample_vonmises", "vonmises"]

_GAUSSIAN_FROM = 1.0
_CUT = 1.62  # c: the Gaussian part reaches to 1 − cos t = c
_EXCESS = -0.5 * math.log(1.0 - 0.5 * _CUT) / _CUT  # a: the least with (1 − w/2)^(−½) ≤ e^(a w) up to c
_FAR_ARC = 2.0 * math.pi - 4.0 * math.asin(math.sqrt(0.5 * _CUT))  # length of the rest of the circle
_FAR_SHARE = 0.1  # above the share of the flat part at any k ≥ 1; it is 0.0905 at k = 1
_FAR_SHARE_2 = 0.034  # the same for k ≥ 2
# The least value of (1 − w/2)^(−½) e^(−a w), 0.847, less a little for rounding: below it every near draw is accepted.
_SURE = (1.0 - 1e-12) * 2.0 * math.sqrt(_EXCESS) * math.exp(0.5 - 2.0 * _EXCESS)


@njit(cache=True, error_model="numpy")
def _concentrated(streams, chain, k, u, n):  # type: ignore[no-untyped-def]
    """Finish a draw at k ≥ 1 whose first pair (uniform u, normal n) was not accepted at once."""
    inverse = 1.0 / (k - _EXCESS)
    share = _FAR_SHARE if k < 2.0 else _FAR_SHARE_2
    while True:
        if u < share:
            ratio = _FAR_ARC * math.exp(-k * _CUT) / math.sqrt(2.0 * math.pi * inverse)
            far = u * (1.0 + ratio) < ratio
            u = uniform(streams, chain)
        else:
            far = False
            u = (u - share) / (1.0 - share)
        if far:
            t = math.pi - 0.5 * _FAR_ARC * uniform(streams, chain)
            w = 1.0 - math.cos(t)
            if u < math.exp(-k * (w - _CUT)):
                return w, (math.sin(t) if n > 0.0 else -math.sin(t))
        else:
            w = 0.5 * n * n * inverse
            if w < _CUT and u * u * (1.0 - 0.5 * w) < math.exp(-2.0 * _EXCESS * w):
                s = math.sqrt(w * (2.0 - w))
                return w, (s if n > 0.0 else -s)
        u = uniform(streams, chain)
        n = normal(streams, chain)


@njit(cache=True, error_model="numpy")
def _diffuse(streams, chain, k):  # type: ignore[no-untyped-def]
    """Draw at k < 1."""
    q = 1.0 - k * (0.79 - 0.408 * k)
    while True:
        a = uniform(streams, chain)
        b = 2.0 * uniform(streams, chain) - 1.0
        u = uniform(streams, chain)
        a2, b2 = a * a, b * b
        radius2 = a2 + b2
        if radius2 > 1.0 or radius2 == 0.0:
            continue
        w = min(2.0 * q * b2 / (q * radius2 + 2.0 * k * a2), 2.0)
        d = q + k * w - 1.0
        # (1 + d) e^(−d) ≥ 1 − ¾ d² for d ≥ −0.4: most draws end at this comparison.
        if u < 1.0 - 0.75 * d * d or u < (1.0 + d) * math.exp(-d):
            s = math.sqrt(w * (2.0 - w))
            return w, (s if b > 0.0 else -s)


@njit(inline="always", error_model="numpy")
def vonmises(streams, chain, k):  # type: ignore[no-untyped-def]
    """Draw t from vM(0, k) with the stream of a chain and return (1 − cos t, sin t)."""
    if k >= _GAUSSIAN_FROM:
        u = uniform(streams, chain)
        n = normal(streams, chain)
        w = 0.5 * n * n / (k - _EXCESS)
        # e^(−a w) ≥ 1 − a w and the weight is at least 1: most draws end at this comparison.
        share = _FAR_SHARE if k < 2.0 else _FAR_SHARE_2
        if u >= share and w < _CUT and u - share < (1.0 - share) * max(_SURE, 1.0 - _EXCESS * w):
            s = math.sqrt(w * (2.0 - w))
            return w, (s if n > 0.0 else -s)
        return _concentrated(streams, chain, k, u, n)
    return _diffuse(streams, chain, k)


@njit(cache=True)
def _fill(streams, concentration, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        w, s = vonmises(streams, 0, concentration)
        out[i] = math.atan2(s, 1.0 - w)


def sample_vonmises(concentration: float, size: int, seed: int = 0) -> npt.NDArray[np.float64]:
    """Draw ``size`` angles from vM(0, concentration), in (−π, π].

    >>> angles = sample_vonmises(4.0, 20000, seed=1)
    >>> round(float(np.cos(angles).mean()), 2)  # I₁(4) / I₀(4) = 0.864
    0.86
    """
    out = np.empty(size)
    _fill(seed_streams(seed, 1), float(concentration), out)
    return out
