"""The observed angles: values in a person's period become radians, and radians go back the way they came.

>>> radians, range = read_angles([350, 10, 90], period=360)
>>> radians.round(3).tolist()
[-0.175, 0.175, 1.571]
>>> range
AngleRange(period=360.0, centred=False, unit='degrees')
>>> range.from_radians(radians).round(9).tolist()
[350.0, 10.0, 90.0]
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vmqp import circle
from vmqp.circle import TWO_PI, FloatArray, FloatOrArray
from vmqp.errors import InputError
from vmqp.tables.cells import Where, read_numbers, sort_of
from vmqp.tables.periods import fits, read_period, suggestion, written
from vmqp.tables.source import read_single

__all__ = ["AngleRange", "find_missing", "read_angles", "read_truth"]


@dataclass(frozen=True)
class AngleRange:
    """A period and where it is cut: [0, P), or centred, (−P/2, P/2].

    >>> radians, range = read_angles([-170, 20], period="degrees")
    >>> range.period, range.centred, range.unit
    (360.0, True, 'degrees')
    """

    period: float
    centred: bool
    unit: str  # "radians", "degrees", "hours", ...; "" where it is not known

    @property
    def origin(self) -> float | None:
        """The origin as in :mod:`vmqp.circle`: 0, or None for a centred range."""
        return None if self.centred else 0.0

    def to_radians(self, values: ArrayLike) -> FloatOrArray:
        """Return any finite values of the period as radians in (−π, π].

        >>> AngleRange(24.0, False, "hours").to_radians(12.0) == np.pi
        True
        """
        return circle.to_radians(values, self.period)

    def from_radians(self, radians: ArrayLike) -> FloatOrArray:
        """Return radians as values in the range; nan, a mean that does not exist, stays nan.

        >>> AngleRange(24.0, False, "hours").from_radians([-np.pi / 2, np.nan]).tolist()
        [18.0, nan]
        """
        turns = circle.wrapped(np.asarray(radians, dtype=np.float64), TWO_PI) / TWO_PI
        return circle.as_result(circle.wrapped(turns * self.period, self.period, self.origin))


def read_angles(
    y: Any, period: Any = TWO_PI, name: str = "y", count: int | None = None
) -> tuple[FloatArray, AngleRange]:
    """Read the observed angles, one for each of the `count` rows of X: radians in (−π, π], and their range.

    Values from −P/2 to P with a span of at most P are angles of the period P; others are an error that suggests
    one. Where some value is negative the range is centred, otherwise it is [0, P).

    >>> read_angles([0, 355], period=6.2832)
    Traceback (most recent call last):
    vmqp.errors.InputError: y has values up to 355, outside a period of 6.283: did you mean period=360?
    >>> read_angles([-170, 20], period="degrees")[1].centred
    True
    """
    length, unit = read_period(period)
    values = _read_values(y, name)
    if count is not None and len(values) != count:
        raise InputError(f"X has {count} rows and {name} has {len(values)}: give one angle for each row.")
    if len(values) < 2:
        raise InputError(f"{name} has 1 sample, but at least 2 observed angles are needed: give more rows.")
    low, high = float(values.min()), float(values.max())
    if not fits(low, high, length):
        raise InputError(_outside(values, low, high, length, name))
    return circle.to_radians(values, length), AngleRange(length, low < 0, unit)


def read_truth(y_true: Any, range: AngleRange, count: int | None = None, name: str = "y_true") -> FloatArray:
    """Read true angles to compare predictions with: radians in (−π, π], and nan for those that are missing.

    Values outside the range are wrapped.

    >>> read_truth([-10, 370, None], AngleRange(360.0, False, "degrees"), 3).round(3).tolist()
    [-0.175, 0.175, nan]
    >>> read_truth([-10], AngleRange(360.0, False, "degrees"), 2)
    Traceback (most recent call last):
    vmqp.errors.InputError: there are 2 predicted places and y_true has 1 rows: give one angle for each place.
    """
    missing = find_missing(y_true, name)
    values = _read_values(y_true, name, missing)
    if count is not None and len(values) != count:
        raise InputError(
            f"there are {count} predicted places and {name} has {len(values)} rows: give one angle for each place."
        )
    if missing.all():
        raise InputError(f"all {len(values)} values of {name} are missing: give at least one angle.")
    return np.where(missing, np.nan, range.to_radians(values))


def find_missing(y: Any, name: str = "y") -> NDArray[np.bool_]:
    """Tell which values of a column are missing: None, nan, a masked entry, or blank text.

    >>> find_missing([350.0, None, float("nan"), " "]).tolist()
    [False, True, True, True]
    """
    cells = read_single(y, name).cells(0)
    if cells.dtype.kind in "fiub":
        return np.asarray(np.isnan(cells))
    return np.array([sort_of(cell) == "missing" for cell in cells], dtype=bool)


def _read_values(y: Any, name: str, missing: NDArray[np.bool_] | None = None) -> FloatArray:
    """Return one column of finite numbers, 0 where they are known to be missing."""
    source = read_single(y, name)
    cells = source.cells(0)
    if missing is not None and missing.any():
        cells = np.where(missing, 0.0, cells)
    sorts = {sort_of(cell) for cell in cells} if cells.dtype.kind in "OMm" else set()
    if source.is_category(0) or cells.dtype.kind == "b" or "true or false" in sorts:
        raise InputError(f"{name} holds categories or True and False, where angles are needed: give numbers.")
    if "date" in sorts:
        raise InputError(
            f"{name} holds dates or times, where angles are needed: give a number, such as the hour with period=24."
        )
    return read_numbers(cells, Where(name))


def _outside(values: FloatArray, low: float, high: float, period: float, name: str) -> str:
    """Say how the values leave the period, and which period is likely."""
    if high > period or low < -period / 2:
        reach = f"up to {written(high)}" if high > period else f"down to {written(low)}"
        whole = bool(np.all(values == np.round(values)))
        found = f"{name} has values {reach}, outside a period of {written(period)}"
        if period == 360.0 and not fits(low, high, 360.0):
            return f"{found}: give {name} % 360."
        return f"{found}: {suggestion(low, high, name, whole=whole)}"
    return (
        f"{name} has values from {written(low)} to {written(high)}, more than one turn of {written(period)}: "
        f"give {name} % {written(period)}, or the period that they have."
    )
