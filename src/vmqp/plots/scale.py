"""How angles of any period are written on axes and turned into directions on the page.

A scale holds what the reader needs to know of an angle: its period, the range it is given in, its unit, and
where 0 lies on a map or a rose. Without `compass` angles run counter-clockwise from east, as in mathematics;
with it clockwise from north, as bearings and wind directions do.

Angles whose period is half a turn (180 degrees, π radians) are axes, as of fibres or faults: they point both
ways, and are drawn so.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from vmqp.circle import TWO_PI, FloatArray, check_angles, check_origin, check_period, wrapped
from vmqp.errors import InputError

__all__ = ["Scale"]

_AXES = "(axes)"
# Periods written with four digits count.
_DIGITS = 1e-3
_UNITS = (
    (TWO_PI, "radians"),
    (np.pi, f"radians {_AXES}"),
    (360.0, "degrees"),
    (180.0, f"degrees {_AXES}"),
    (24.0, "hours"),
    (100.0, "percent"),
)
_HALF_TURN = {"radians": np.pi, "degrees": 180.0, "gradians": 200.0, "turns": 0.5}
_MARKS = {"radians": "", "degrees": "°", "hours": " h", "percent": " %"}
_COMPASS = ("N", "E", "S", "W")


@dataclass(frozen=True)
class Scale:
    """Period, range and unit of angles, and their directions on the page.

    The range is (−P/2, P/2] without an origin and [origin, origin + P) with one. An empty unit is the usual one
    of the period, if it has one. `zero` is the side of the page at which 0 lies, and `compass=True` is short
    for ``zero="N", clockwise=True``; afterwards `compass` says whether that is so.

    >>> Scale(360, origin=0.0).tick_labels()
    ('0°', '90°', '180°', '270°', '360°')
    >>> Scale().tick_labels()
    ('−π', '−π/2', '0', 'π/2', 'π')
    >>> Scale(24, origin=0.0, unit="hours").label("time")
    'time (hours)'
    """

    period: float = TWO_PI
    origin: float | None = None
    unit: str = ""
    zero: Literal["E", "N"] = "E"
    clockwise: bool = False
    compass: bool = False

    def __post_init__(self) -> None:
        if self.zero not in ("E", "N"):
            raise InputError(
                f'zero must be "E" or "N" but is {self.zero!r}; give the side of the page where 0 lies.'
            )
        zero, clockwise = ("N", True) if self.compass else (self.zero, bool(self.clockwise))
        settled = {
            "period": check_period(self.period),
            "origin": check_origin(self.origin),
            "unit": self.unit or _usual_unit(float(self.period)),
            "zero": zero,
            "clockwise": clockwise,
            "compass": zero == "N" and clockwise,
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @property
    def start(self) -> float:
        """Lower end of the range."""
        return -self.period / 2 if self.origin is None else self.origin

    @property
    def end(self) -> float:
        """Upper end of the range, one period above the lower one."""
        return self.start + self.period

    @property
    def axial(self) -> bool:
        """Whether the angles are axes: half a turn brings them back."""
        half = _HALF_TURN.get(self._measure)
        return self.unit.endswith(_AXES) or (
            half is not None and bool(np.isclose(self.period, half, rtol=_DIGITS))
        )

    @property
    def _measure(self) -> str:
        """The unit without the remark that it is one of axes."""
        return self.unit.removesuffix(_AXES).strip()

    @property
    def sides(self) -> tuple[str, ...]:
        """Names of the compass at :meth:`round_ticks`; none where the angles are no bearings, such as hours."""
        return _COMPASS if self.compass and self._measure in _HALF_TURN and not self.axial else ()

    def wrap(self, angles: ArrayLike) -> FloatArray:
        """Wrap angles to the range; nan stays nan."""
        return wrapped(np.asarray(angles, dtype=float), self.period, self.origin)

    def ticks(self) -> FloatArray:
        """Ticks at quarters of the period, from one end of the range to the other.

        >>> Scale(100, origin=10.0).ticks().tolist()
        [25.0, 50.0, 75.0, 100.0]
        """
        quarter = self.period / 4
        # A tick that is an end of the range shall not be lost by rounding.
        first = int(np.ceil(self.start / quarter - 1e-9))
        last = int(np.floor(self.end / quarter + 1e-9))
        return np.asarray(quarter * np.arange(first, last + 1), dtype=float)

    def tick_labels(self) -> tuple[str, ...]:
        """Labels of the ticks."""
        return tuple(self.write(tick) for tick in self.ticks())

    def round_ticks(self) -> FloatArray:
        """Ticks on a whole turn, each direction once, in the range.

        >>> Scale(360).round_ticks().tolist()
        [0.0, 90.0, 180.0, -90.0]
        """
        return self.wrap(np.arange(4) * self.period / 4)

    def round_tick_labels(self) -> tuple[str, ...]:
        """Labels of :meth:`round_ticks`; a compass names its four sides too.

        >>> Scale(360, origin=0.0, compass=True).round_tick_labels()
        ('N 0°', 'E 90°', 'S 180°', 'W 270°')
        >>> Scale(8, origin=0.0, unit="weeks").round_tick_labels()
        ('0 weeks', '2', '4', '6')
        """
        labels = [self.write(tick) for tick in self.round_ticks()]
        if self._measure not in _MARKS:
            labels[0] = f"{labels[0]} {self._measure}".strip()  # once is enough to tell the unit
        if self.sides:
            labels = [f"{side} {label}" for side, label in zip(self.sides, labels, strict=True)]
        return tuple(labels)

    def write(self, angle: float) -> str:
        """Write an angle with its sign: radians as multiples of π where they are.

        >>> Scale().write(-np.pi / 4), Scale().write(1.0), Scale(360).write(-90), Scale(100).write(25)
        ('−π/4', '1', '−90°', '25 %')
        """
        value = float(angle)
        sign = "−" if value < 0 else ""
        if self._measure == "radians":
            share = Fraction(abs(value) / np.pi).limit_denominator(12)
            if share and np.isclose(float(share) * np.pi, abs(value), rtol=1e-4):
                times = "" if share.numerator == 1 else str(share.numerator)
                return f"{sign}{times}π" + (f"/{share.denominator}" if share.denominator > 1 else "")
        number = f"{abs(value):.4g}"
        return ("" if number == "0" else sign) + number + _MARKS.get(self._measure, "")

    def label(self, what: str = "angle") -> str:
        """Label of an axis: what it shows, and the unit.

        >>> Scale(7).label("day of the week")
        'day of the week (period 7)'
        """
        unit = f"{self._measure}, axes" if self.unit.endswith(_AXES) else self.unit
        return f"{what} ({unit})" if unit else f"{what} (period {self.period:.4g})"

    def turned(self, angles: ArrayLike) -> FloatArray:
        """Radians from 0 on the page, in the sense in which the angles run. Axes take half a turn.

        >>> bool(Scale(24).turned(6.0) == np.pi / 2)
        True
        """
        turn = np.pi if self.axial else TWO_PI
        return np.asarray(angles, dtype=float) / self.period * turn

    def direction(self, angles: ArrayLike) -> FloatArray:
        """Direction on the page, in radians counter-clockwise from the right.

        >>> float(np.degrees(Scale(360, compass=True).direction(90)))
        0.0
        >>> float(np.degrees(Scale(360).direction(90)))
        90.0
        """
        zero = np.pi / 2 if self.zero == "N" else 0.0
        turned = self.turned(angles)
        return np.asarray(zero - turned if self.clockwise else zero + turned)

    def fraction(self, angles: ArrayLike) -> FloatArray:
        """Share of the period, in [0, 1), for the colour of an angle: the same whatever the range.

        >>> Scale(360).fraction([-90, 270, 360]).tolist()
        [0.75, 0.75, 0.0]
        """
        return wrapped(np.asarray(angles, dtype=float), self.period, 0.0) / self.period

    def checked(self, angles: ArrayLike, name: str) -> FloatArray:
        """Angles as a flat array of finite numbers, wrapped to the range."""
        return self.wrap(check_angles(angles, name, empty=True).ravel())


def _usual_unit(period: float) -> str:
    return next((unit for usual, unit in _UNITS if np.isclose(period, usual, rtol=_DIGITS)), "")
