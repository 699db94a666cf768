"""Log densities and moments on the circle of distributions that come from the line and the plane."""

import math

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy.typing import ArrayLike

from vmqp.circle import TWO_PI, FloatArray

__all__ = ["projected_moment", "projected_normal", "wrapped_normal"]

_TURNS = (
    3  # whole turns to each side: up to the variance at which the series takes over, ten standard deviations
)
_WIDE = math.pi  # a variance from which the Fourier series needs fewer terms
_WAVES = 5  # of the series: the next one is below 1e-19
_BEHIND = -5.0  # below, one minus Mills' ratio is read from its continued fraction
_AHEAD = 9.0  # from here on nothing of a normal distribution with mean D is below zero
_LEAST, _NOTHING = 1e-300, 1e-18
_NODES = (
    48  # of the moment's integral: 1e-13 where one deviation is at most twice the other, 1e-8 up to 7 times
)
_STEP = 0.5 * math.pi / _NODES
_SINES = np.sin((np.arange(_NODES) + 0.5) * _STEP) ** 2


def _flat(*values: ArrayLike) -> tuple[tuple[int, ...], list[FloatArray]]:
    """The common shape of some arrays, and their elements one after the other."""
    arrays = [np.asarray(value, dtype=float) for value in values]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    return shape, [
        np.ravel(array if array.shape == shape else np.broadcast_to(array, shape)) for array in arrays
    ]


@njit(cache=True, nogil=True)
def _wrapped(angle, mean, variance):  # type: ignore[no-untyped-def]
    gap = angle - mean
    gap -= TWO_PI * math.floor((gap + math.pi) / TWO_PI)
    if variance < _WIDE:
        narrow = max(variance, _LEAST)
        total = 1.0
        for turn in range(1, _TURNS + 1):
            # ½ gap² − ½ (gap + shift)² without the squares, whose difference loses digits
            shift = -turn * TWO_PI if gap > 0.0 else turn * TWO_PI
            near = -shift * (gap + 0.5 * shift) / narrow
            size = math.exp(near)
            if size < _NOTHING:
                break
            total += size + math.exp(shift * (gap - 0.5 * shift) / narrow)
        return -0.5 * gap * gap / narrow + math.log(total) - 0.5 * math.log(TWO_PI * narrow)
    series, cos = 0.0, math.cos(gap)
    before, wave = 1.0, cos  # cos(p gap) by its recurrence
    for p in range(1, _WAVES + 1):
        size = math.exp(-0.5 * p * p * variance)
        if size < _NOTHING:
            break
        series += size * wave
        before, wave = wave, 2.0 * cos * wave - before
    return math.log1p(2.0 * series) - math.log(TWO_PI)


@njit(cache=True, nogil=True)
def _each_wrapped(angle, mean, variance, out):  # type: ignore[no-untyped-def]
    for i in range(out.size):
        out[i] = _wrapped(angle[i], mean[i], variance[i])


def wrapped_normal(angle: ArrayLike, mean: ArrayLike, variance: ArrayLike) -> FloatArray:
    """Log density of an angle that is a normal number modulo 2π.

    >>> wrapped_normal([0.0], [TWO_PI], [0.01]).round(4)  # whole turns of the mean make no difference
    array([1.3836])
    >>> wrapped_normal([0.0], [2.0], [100.0]).round(4)  # uniform: 1 / 2π
    array([-1.8379])
    """
    shape, given = _flat(angle, mean, variance)
    found = np.empty(given[0].size)
    _each_wrapped(*given, found)  # type: ignore[call-arg]
    return found.reshape(shape)


@njit(cache=True, nogil=True)
def _projected(theta, x, y, xx, xy, yy):  # type: ignore[no-untyped-def]
    cos, sin = math.cos(theta), math.sin(theta)
    determinant = max(xx * yy - xy * xy, _LEAST)
    own = (yy * cos * cos - 2.0 * xy * cos * sin + xx * sin * sin) / determinant
    along = (yy * cos * x - xy * (cos * y + sin * x) + xx * sin * y) / determinant
    D = along / math.sqrt(own)
    # ½ D² − ½ mᵀΣ⁻¹m: what is across the direction, without a difference of large numbers
    across = -0.5 * (cos * y - sin * x) ** 2 / (determinant * own)
    scale = 1.0 / (TWO_PI * own * math.sqrt(determinant))
    if D > _AHEAD:
        return across + math.log(scale * D * math.sqrt(TWO_PI))
    if D > 0.0:
        # φ(D)/φ(0) + D Φ(D)/φ(0): the peak ½ D² is in `across` already
        mass = 0.5 * math.erfc(-D / math.sqrt(2.0))
        return across + math.log(scale * (math.exp(-0.5 * D * D) + D * math.sqrt(TWO_PI) * mass))
    if D > _BEHIND:
        mills = math.sqrt(0.5 * math.pi) * math.exp(0.5 * D * D) * math.erfc(-D / math.sqrt(2.0))
        return across + math.log(scale * (1.0 + D * mills)) - 0.5 * D * D
    # Mills' ratio is 1 / (x + f), f = 1 / (x + 2 / (x + 3 / ...)) at x = −D; one minus x times it is f / (x + f).
    f = 0.0
    for k in range(4 - int(120.0 / D), 0, -1):  # so many that the rest is below 1e-15
        f = k / (f - D)
    return across + math.log(scale * f / (f - D)) - 0.5 * D * D


@njit(cache=True, nogil=True)
def _each_projected(angle, x, y, xx, xy, yy, out):  # type: ignore[no-untyped-def]
    for i in range(out.size):
        out[i] = _projected(angle[i], x[i], y[i], xx[i], xy[i], yy[i])


def projected_normal(
    angle: ArrayLike, x: ArrayLike, y: ArrayLike, xx: ArrayLike, xy: ArrayLike, yy: ArrayLike
) -> FloatArray:
    """Log density of the angle of a bivariate normal vector with mean (x, y) and covariance [xx xy; xy yy].

    With u the unit vector of the angle, A = uᵀΣ⁻¹u, B = uᵀΣ⁻¹m and D = B/√A it is

        −log(2π A √|Σ|) − ½ mᵀΣ⁻¹m + log(1 + D Φ(D)/φ(D)).

    >>> projected_normal([0.3], [0.0], [0.0], [1.0], [0.0], [1.0]).round(4)  # no mean: uniform
    array([-1.8379])
    """
    shape, given = _flat(angle, x, y, xx, xy, yy)
    found = np.empty(given[0].size)
    _each_projected(*given, found)  # type: ignore[call-arg]
    return found.reshape(shape)


@njit(cache=True, nogil=True)
def _moment(x, y, xx, xy, yy):  # type: ignore[no-untyped-def]
    half, gap = 0.5 * (xx + yy), 0.5 * (xx - yy)
    size = math.hypot(gap, xy)
    long = max(half + size, _LEAST)
    short = max((xx * yy - xy * xy) / long, _LEAST)
    turn = 0.5 * math.atan2(xy, gap)
    c, s = math.cos(turn), math.sin(turn)
    a, b = c * x + s * y, c * y - s * x
    scale = 1.0 / (2.0 * math.sqrt(long) * math.sqrt(short) + a * a + b * b)
    first = second = 0.0
    for sine in _SINES:
        # With t² = scale · tan² α, each factor 1 + 2 t² λ is multiplied by cos² α.
        square, cosine = scale * sine, 1.0 - sine
        one, two = cosine + 2.0 * square * long, cosine + 2.0 * square * short
        weight = cosine * math.exp(-square * (a * a / one + b * b / two)) / math.sqrt(one * two)
        first += weight / one
        second += weight / two
    factor = 2.0 * math.sqrt(scale / math.pi) * _STEP
    first, second = factor * a * first, factor * b * second
    return complex(c * first - s * second, s * first + c * second)


@njit(cache=True, nogil=True)
def _each_moment(x, y, xx, xy, yy, out):  # type: ignore[no-untyped-def]
    for i in range(out.size):
        out[i] = _moment(x[i], y[i], xx[i], xy[i], yy[i])


def projected_moment(
    x: ArrayLike, y: ArrayLike, xx: ArrayLike, xy: ArrayLike, yy: ArrayLike
) -> npt.NDArray[np.complex128]:
    """First trigonometric moment E exp(iθ) of the angle of a bivariate normal vector z, as in `projected_normal`.

    It is ``E z/|z|``, where ``1/|z| = 2/√π ∫ exp(−t²|z|²) dt`` over t > 0. In the axes of the covariance, with
    variances λ and means m, that makes::

        E z_a/|z| = 2/√π ∫ m_a / (1 + 2t²λ_a) Π_b (1 + 2t²λ_b)^(−½) exp(−t²m_b² / (1 + 2t²λ_b)) dt.

    In α, with t in proportion to tan α, the integrand is smooth and periodic: a sum over evenly spaced points is
    exact to rounding.

    >>> projected_moment([0.0, 3.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]).real.round(4)
    array([0.    , 0.9374])
    """
    shape, given = _flat(x, y, xx, xy, yy)
    found = np.empty(given[0].size, dtype=np.complex128)
    _each_moment(*given, found)  # type: ignore[call-arg]
    return found.reshape(shape)
