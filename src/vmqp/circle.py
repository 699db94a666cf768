"""The circle: wrapping, units, and moments and quantiles of angles.

An angle is a number modulo its period P: 2π radians, 360 degrees, 24 hours. Results are centred, in
(-P/2, P/2], or lie in [origin, origin + P) where an origin is given.

With unit vectors x_i at the angles φ_i and weights w_i that sum to one, the mean direction is arg Σ w_i x_i
and the resultant length is ``R = |Σ w_i x_i|``. Then 1 - R is the circular variance, in [0, 1], and √(-2 log R)
the circular standard deviation. Arcs and regions are in :mod:`vmqp.arcs`.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vmqp.errors import InputError

__all__ = [
    "difference",
    "from_radians",
    "mean",
    "quantile",
    "resultant_length",
    "standard_deviation",
    "to_radians",
    "variance",
    "wrap",
]

TWO_PI = 2 * np.pi
FloatArray: TypeAlias = NDArray[np.float64]
Axis: TypeAlias = int | tuple[int, ...] | None
# A float for a scalar, an array otherwise: as NumPy's own stubs, which spares callers a union.
FloatOrArray: TypeAlias = Any

# Angles that cancel exactly leave a resultant of a few roundings, whatever their number.
NO_DIRECTION = 8 * np.finfo(float).eps


def wrap(angle: ArrayLike, period: float = TWO_PI, origin: float | None = None) -> FloatOrArray:
    """Wrap angles to one turn: to (-P/2, P/2], or to [origin, origin + P) where an origin is given.

    An angle that is in the range already comes back unchanged to the last bit.

    >>> wrap(190, period=360)
    -170.0
    >>> wrap([-180, 180, 540], period=360).tolist()
    [180.0, 180.0, 180.0]
    >>> wrap([-10, 360, -1e-20], period=360, origin=0).tolist()
    [350.0, 0.0, 0.0]
    """
    period = check_period(period)
    return as_result(wrapped(check_angles(angle, empty=True), period, check_origin(origin)))


def to_radians(values: ArrayLike, period: float) -> FloatOrArray:
    """Convert angles of any period to radians in (-π, π].

    >>> to_radians([0, 6, 12, 18], period=24).round(3).tolist()
    [0.0, 1.571, 3.142, -1.571]
    """
    period = check_period(period)
    return as_result(_radians(wrapped(check_angles(values, "values", empty=True), period), period))


def from_radians(radians: ArrayLike, period: float, origin: float | None = None) -> FloatOrArray:
    """Convert radians to angles of any period, wrapped as by :func:`wrap`.

    >>> from_radians(-np.pi / 2, period=24)
    -6.0
    >>> from_radians(-np.pi / 2, period=24, origin=0)
    18.0
    """
    period, origin = check_period(period), check_origin(origin)
    turns = wrapped(check_angles(radians, "radians", empty=True), TWO_PI) / TWO_PI
    return as_result(wrapped(turns * period, period, origin))


def difference(a: ArrayLike, b: ArrayLike, period: float = TWO_PI) -> FloatOrArray:
    """Signed shortest way from b to a, in (-P/2, P/2], counter-clockwise positive.

    >>> difference(10, 350, period=360)
    20.0
    >>> difference([350, 180], [10, 0], period=360).tolist()
    [-20.0, 180.0]
    """
    period = check_period(period)
    # Both are wrapped first: the difference of two large angles would lose digits.
    first, second = wrapped(check_angles(a, "a", empty=True), period), check_angles(b, "b", empty=True)
    return as_result(wrapped(first - wrapped(second, period), period))


def mean(
    angles: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    period: float = TWO_PI,
    origin: float | None = None,
) -> FloatOrArray:
    """Mean direction, over all angles or along one or several axes, wrapped as by :func:`wrap`.

    Where the angles cancel (a resultant length of zero within rounding) there is no mean direction and the
    result is nan, without a warning. Weights broadcast against the angles.

    >>> round(mean([350, 20], period=360), 9)
    5.0
    >>> round(mean([350, 20], weights=[3, 1], period=360, origin=0), 3)
    357.369
    >>> mean([0, 180], period=360)
    nan
    """
    values, period = check_angles(angles), check_period(period)
    direction, _ = _direction_and_length(values, axis, weights, period)
    return as_result(wrapped(direction, period, check_origin(origin)).squeeze(all_axes(axis, values.ndim)))


def resultant_length(
    angles: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, period: float = TWO_PI
) -> FloatOrArray:
    """Length R of the mean of the unit vectors: 1 for equal angles, 0 for angles that cancel.

    >>> resultant_length([0, 0, 0])
    1.0
    >>> round(resultant_length([0, 90], period=360), 4)
    0.7071
    """
    values = check_angles(angles)
    _, length = _direction_and_length(values, axis, weights, check_period(period))
    return as_result(length.squeeze(all_axes(axis, values.ndim)))


def variance(
    angles: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, period: float = TWO_PI
) -> FloatOrArray:
    """Circular variance 1 - R, in [0, 1].

    It is computed about the mean direction μ, as Σ w_i 2 sin²((φ_i - μ)/2), which keeps its digits for
    concentrated angles where 1 - R would lose them.

    >>> variance([0, 180], period=360)
    1.0
    >>> f"{variance([-1e-9, 1e-9]):.3g}"
    '5e-19'
    """
    values, period = check_angles(angles), check_period(period)
    direction, length = _direction_and_length(values, axis, weights, period)
    directed = length > 0
    deviation = wrapped(wrapped(values, period) - np.where(directed, direction, 0.0), period)
    spread = _average(2 * np.sin(_radians(deviation, period) / 2) ** 2, axis, weights)
    result: FloatArray = np.where(directed, np.minimum(spread, 1.0), 1.0)
    return as_result(result.squeeze(all_axes(axis, values.ndim)))


def standard_deviation(
    angles: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, period: float = TWO_PI
) -> FloatOrArray:
    """Circular standard deviation √(-2 log R), in the period's units; inf for angles that cancel.

    >>> round(standard_deviation([10, 20, 30], period=360), 3)
    8.175
    """
    period = check_period(period)
    spread = np.asarray(variance(angles, axis, weights, period))
    with np.errstate(divide="ignore"):
        radians = np.sqrt(-2 * np.log1p(-spread))
    return as_result(radians / TWO_PI * period)


def quantile(
    angles: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    period: float = TWO_PI,
    origin: float | None = None,
) -> FloatOrArray:
    """Circular quantiles: the circle is cut opposite the mean direction.

    The angles become signed differences from their mean, whose linear quantiles are added to the mean and
    wrapped as by :func:`wrap`. The axes of q come first, as in :func:`numpy.quantile`. The result is nan
    where the angles have no mean direction.

    >>> quantile([340, 350, 0, 10, 20], [0.25, 0.5], period=360).round(9).tolist()
    [-10.0, 0.0]
    """
    values, period, origin = check_angles(angles), check_period(period), check_origin(origin)
    levels = np.asarray(q, dtype=float)
    if not np.all((levels >= 0) & (levels <= 1)):
        raise InputError(f"q must lie in [0, 1] but is {q!r}; give 0.05 for the 5 % quantile.")
    direction, _ = _direction_and_length(values, axis, None, period)
    center = np.nan_to_num(direction, nan=0.0)
    deviation = wrapped(wrapped(values, period) - center, period)
    shift = np.quantile(deviation, levels, axis=all_axes(axis, values.ndim))
    # A nan direction makes its quantiles nan here.
    return as_result(wrapped(direction.squeeze(all_axes(axis, values.ndim)) + shift, period, origin))


def wrapped(angle: FloatArray, period: float, origin: float | None = None) -> FloatArray:
    """Wrap checked angles: the arithmetic of :func:`wrap`; nan stays nan."""
    # fmod is exact, and so are the sums below, since their terms are within a factor of two.
    turned = np.fmod(angle, period)
    if origin is None:
        turned = np.where(turned > period / 2, turned - period, turned)
        return np.where(turned <= -period / 2, turned + period, turned)
    top = origin + period
    turned = turned + period * np.ceil((origin - turned) / period)
    turned = np.where(turned < origin, turned + period, turned)
    # Just below the origin the sum rounds to the top, which is the origin again.
    turned = np.where(turned >= top, origin, turned)
    return np.where((angle >= origin) & (angle < top), angle, turned)


def as_result(values: Any) -> FloatOrArray:
    """Turn an array without axes into a float; leave any other as it is."""
    array = np.asarray(values)
    return array.item() if array.ndim == 0 else array


def check_period(period: float) -> float:
    """Return the period as a float, or raise an error that says what a period is."""
    try:
        value = float(period)
    except (TypeError, ValueError):
        value = np.nan
    if not (np.isfinite(value) and value > 0):
        raise InputError(
            f"period must be positive and finite but is {period!r}; give 2π for radians, 360 for degrees."
        )
    return value


def check_origin(origin: float | None) -> float | None:
    """Return the origin as a float or None, or raise an error."""
    if origin is None:
        return None
    if not np.isfinite(origin):
        raise InputError(f"origin must be a finite number or None but is {origin!r}; give 0 for [0, period).")
    return float(origin)


def check_angles(angles: ArrayLike, name: str = "angles", *, empty: bool = False) -> FloatArray:
    """Return finite angles as an array of floats, or raise an error that names the first bad one."""
    try:
        values: FloatArray = np.asarray(angles, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers but are not ({error}); convert them first.") from error
    if not empty and values.size == 0:
        raise InputError(f"{name} must hold at least one angle but has shape {values.shape}; give some.")
    finite = np.isfinite(values)
    if not finite.all():
        first = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise InputError(
            f"{name} must be finite but {np.count_nonzero(~finite)} of {values.size} are nan or infinite, "
            f"the first at index {first}; drop or fill them."
        )
    return values


def all_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Write an axis, several, or None (all) as a tuple."""
    if axis is None:
        return tuple(range(ndim))
    return axis if isinstance(axis, tuple) else (axis,)


def _radians(centred: FloatArray, period: float) -> FloatArray:
    """Scale centred angles to radians; dividing first makes P/2 exactly π."""
    return centred / period * TWO_PI


def _average(values: FloatArray, axis: Axis, weights: ArrayLike | None) -> FloatArray:
    """Weighted average that keeps the reduced axes."""
    axes = all_axes(axis, values.ndim)
    if weights is None:
        return np.asarray(values.mean(axis=axes, keepdims=True))
    w = np.asarray(weights, dtype=float)
    if not (np.isfinite(w).all() and (w >= 0).all()):
        raise InputError("weights must be finite and not negative but some are not; drop or replace those.")
    try:
        w = np.broadcast_to(w, values.shape)
    except ValueError as error:
        raise InputError(
            f"weights must broadcast to the shape {values.shape} of the angles but have {w.shape}; "
            "add axes of length 1 to them."
        ) from error
    total = w.sum(axis=axes, keepdims=True)
    if not (total > 0).all():
        raise InputError("weights must have a positive sum but it is 0; give some angle a positive weight.")
    return np.asarray((w * values).sum(axis=axes, keepdims=True) / total)


def _direction_and_length(
    values: FloatArray, axis: Axis, weights: ArrayLike | None, period: float
) -> tuple[FloatArray, FloatArray]:
    """Mean direction (nan where there is none) and resultant length (then 0), with the reduced axes kept."""
    radians = _radians(wrapped(values, period), period)
    c, s = _average(np.cos(radians), axis, weights), _average(np.sin(radians), axis, weights)
    length = np.minimum(np.hypot(c, s), 1.0)
    directed = length > NO_DIRECTION
    direction = np.where(directed, np.arctan2(s, c) / TWO_PI * period, np.nan)
    return direction, np.where(directed, length, 0.0)
