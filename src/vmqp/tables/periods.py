"""Periods and their units: 360 or "degrees", 24 or "hours"; and which period given values are likely to have.

>>> read_period("hours"), read_period(360)
((24.0, 'hours'), (360.0, 'degrees'))
>>> suggestion(0.0, 355.0, "y")
'did you mean period=360?'
"""

import math
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from vmqp.errors import InputError
from vmqp.tables.cells import as_number
from vmqp.tables.words import listed, nearest, shown

__all__ = ["fits", "read_period", "suggestion", "written"]

TWO_PI = 2 * math.pi
_AXES = "degrees (axes)"

# Each name with its period and the unit that results carry.
_NAMED: dict[str, tuple[float, str]] = {
    "radians": (TWO_PI, "radians"),
    "degrees": (360.0, "degrees"),
    "gradians": (400.0, "gradians"),
    "turns": (1.0, "turns"),
    "axes": (180.0, _AXES),
    "percent": (100.0, "percent"),
    "minutes": (60.0, "minutes"),
    "hours": (24.0, "hours"),
    "weekdays": (7.0, "weekdays"),
    "months": (12.0, "months"),
    "days of year": (366.0, "days of year"),  # so that the last day of a leap year fits
}
_OTHER_NAMES = {
    "rad": "radians",
    "2pi": "radians",
    "2π": "radians",
    "deg": "degrees",
    "°": "degrees",
    "gon": "gradians",
    "grad": "gradians",
    "axis": "axes",
    "axial": "axes",
    "%": "percent",
    "min": "minutes",
    "h": "hours",
    "day of year": "days of year",
}
# Units of plain numbers; one that is typed with four digits counts.
_UNITS = (
    (TWO_PI, "radians"),
    (math.pi, "radians (axes)"),
    (360.0, "degrees"),
    (180.0, _AXES),
    (100.0, "percent"),
    (24.0, "hours"),
)
# Numbers that were rounded to three digits after the point reach beyond ±π, or beyond 2π, by this part of the period.
ROUNDING = 2e-4


def read_period(period: Any) -> tuple[float, str]:
    """Return the period as a float, and its unit ("" where the number alone does not tell).

    >>> read_period(2 * math.pi), read_period(365)
    ((6.283185307179586, 'radians'), (365.0, ''))
    >>> read_period("axial")
    (180.0, 'degrees (axes)')
    >>> read_period("degreees")
    Traceback (most recent call last):
    vmqp.errors.InputError: period is 'degreees', which is not known: did you mean 'degrees'? The names are
    'radians', 'degrees', 'gradians', 'turns', 'axes', 'percent', 'minutes', 'hours', 'weekdays', 'months',
    'days of year'; or give a number.
    """
    if isinstance(period, str):
        named = _named(period)
        if named is not None:
            return named
        number = as_number(period)
        if number is None:
            near = nearest(period.strip(), _NAMED)
            raise InputError(
                f"period is {shown(period)}, which is not known: did you mean {near!r}? "
                f"The names are {listed(_NAMED)}; or give a number."
            )
        period = number
    value = _as_float(period)
    # Far beyond these sizes, fractions of a period would overflow or vanish.
    if not 1e-100 <= value <= 1e100:
        raise InputError(
            f"period must be a positive number or the name of a unit but is {shown(period)}: "
            "give 2 * pi or 'radians', 360 or 'degrees', 24 or 'hours'."
        )
    unit = next((unit for known, unit in _UNITS if math.isclose(value, known, rel_tol=1e-3)), "")
    return value, unit


def fits(low: float, high: float, period: float) -> bool:
    """Tell whether values from low to high are angles of the period: from −P/2 to P, with a span of at most P.

    >>> fits(-170.0, 180.0, 360.0), fits(-170.0, 355.0, 360.0), fits(-3.142, 3.142, TWO_PI)
    (True, False, True)
    """
    slack = ROUNDING * period
    return low >= -period / 2 - slack and high <= period + slack and high - low <= period + slack


def suggestion(low: float, high: float, name: str, *, whole: bool = False) -> str:
    """Say which period values from low to high are likely to have; `whole` for whole numbers.

    >>> suggestion(1.0, 12.0, "y", whole=True)
    'did you mean period=24 (or 12 for months)?'
    >>> suggestion(-80.0, 85.0, "y")
    'did you mean period=360 (or 180 for axes)?'
    >>> suggestion(0.0, 720.0, "y")
    'if they are degrees beyond one turn, give y % 360 with period=360.'
    """
    if fits(low, high, TWO_PI):
        return "did you mean period=2 * pi?"
    if fits(low, high, 24.0):
        months = whole and low >= 1 and fits(low, high, 12.0)
        return f"did you mean period=24{' (or 12 for months)' if months else ''}?"
    if not fits(low, high, 360.0):
        return f"if they are degrees beyond one turn, give {name} % 360 with period=360."
    if low >= 0 and fits(low, high, 100.0):
        return "did you mean period=360 (or 100 for percent)?"
    return f"did you mean period=360{' (or 180 for axes)' if fits(low, high, 180.0) else ''}?"


def written(number: float) -> str:
    """Return the number with four digits, whole numbers in full.

    >>> written(TWO_PI), written(360.0), written(-3.5)
    ('6.283', '360', '-3.5')
    """
    return f"{number:.0f}" if number == round(number) and abs(number) < 1e9 else f"{number:.4g}"


def _named(text: str) -> tuple[float, str] | None:
    name = " ".join(text.casefold().split())
    name = _OTHER_NAMES.get(name, name)
    return _NAMED.get(name, _NAMED.get(name + "s"))


def _as_float(period: Any) -> float:
    """Return the number, or NaN for anything that is none."""
    if isinstance(period, np.ndarray) and period.ndim == 0:
        period = period.item()
    if isinstance(period, bool | np.bool_) or not isinstance(period, Real | Decimal):
        return math.nan
    try:
        return float(period)
    except (
        Exception
    ):  # an integer that is too large, a Decimal that is no number, a __float__ of somebody else
        return math.nan
