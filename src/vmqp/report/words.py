"""Words for numbers: angles in the user's unit, how sure a prediction is, and what diagnostics say."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vmqp.arcs import arc_width
from vmqp.circle import wrap
from vmqp.run import Converged

__all__ = [
    "Angles",
    "certainty",
    "decimals",
    "ess_words",
    "join",
    "number",
    "percent",
    "plural",
    "rhat_words",
]

_RULE = Converged()
_NOUNS = {"degrees": "direction", "hours": "time", "percent": "phase"}
_SIGNS = {"degrees": "°", "percent": " %", "radians": " rad", "hours": " h"}
_STEPS = {"degrees": 1.0, "percent": 1.0, "radians": 0.1, "hours": 0.5}


@dataclass(frozen=True)
class Angles:
    """How angles of a period and unit are written for a reader.

    >>> degrees = Angles(360.0, "degrees")
    >>> degrees.told(35.2), degrees.told(359.8), degrees.arc(350.1, 12.0)
    ('35°', '0°', 'from 350° through 0° to 12°')
    >>> Angles(24.0, "hours").told(13.5)
    '13:30'
    """

    period: float
    unit: str = ""
    centred: bool = False

    @property
    def noun(self) -> str:
        """What the angle is, as far as its unit tells."""
        return _NOUNS.get(self.unit, "angle")

    @property
    def digits(self) -> int:
        """Digits after the point in tables: steps of at most a thousandth of a turn."""
        return _digits(self.period / 1000)

    def told(self, angle: float, *, fine: bool = False) -> str:
        """An angle in prose, to about a hundredth of a turn, or ten times finer."""
        if math.isnan(angle):
            return "no single value"
        if self.unit == "hours" and self.period == 24:
            minutes = round(float(wrap(angle, 24.0, 0.0)) * 60) % 1440
            return f"{minutes // 60}:{minutes % 60:02d}"
        digits = _digits(self.period / 100) + fine
        inside = float(wrap(round(angle, digits), self.period, None if self.centred else 0.0))
        return self._signed(inside, digits)

    def length(self, width: float) -> str:
        """The width of an arc in prose."""
        if self.unit == "hours":
            return f"{60 * width:.0f} minutes" if width < 0.95 else f"{width:.1f} hours"
        return self._signed(width, _digits(self.period / 100) + (width < self.period / 36))

    def arc(self, lower: float, upper: float) -> str:
        """An arc in prose, with the cut named where it is crossed."""
        width = arc_width(lower, upper, self.period)
        if width >= self.period * (1 - 1e-9):
            return "anywhere on the circle"
        fine = width < self.period / 36
        cut = self.period / 2 if self.centred else 0.0
        through = f" through {self.told(cut)}" if upper < lower else ""
        return f"from {self.told(lower, fine=fine)}{through} to {self.told(upper, fine=fine)}"

    def neighbours(self) -> str:
        """Two angles on either side of the cut, for a sentence.

        >>> Angles(360.0, "degrees").neighbours()
        '359° and 1° are neighbours, only 2° apart'
        """
        step = _STEPS.get(self.unit, self.period / 100)
        low, high = (-self.period / 2 + step, self.period / 2 - step) if self.centred else (step, -step)
        return f"{self.told(high)} and {self.told(low)} are neighbours, only {self.length(2 * step)} apart"

    def _signed(self, value: float, digits: int) -> str:
        written = f"{value:.{digits}f}"
        if float(written) == round(float(written)) and self.unit == "degrees":
            written = f"{float(written):.0f}"
        written = written.lstrip("-") if float(written) == 0 else written.replace("-", "−")
        return written + _SIGNS.get(self.unit, "")


def certainty(variance: float) -> str:
    """How well a direction is determined, by its circular variance.

    >>> certainty(0.07)
    'well determined'
    """
    for limit, words in (
        (0.02, "very well determined"),
        (0.1, "well determined"),
        (0.3, "known roughly"),
        (0.6, "poorly determined"),
    ):
        if variance < limit:
            return words
    return "hardly known: the data say little about it"


def rhat_words(rhat: float, *, angle: bool = False) -> tuple[bool, str]:
    """Whether R-hat is good, and what it says.

    >>> rhat_words(1.003)
    (True, 'the chains agree')
    """
    limit = _RULE.rhat_angles if angle else _RULE.rhat
    if math.isnan(rhat):
        return False, "R-hat is not defined, so nothing shows that the chains agree"
    if rhat < limit:
        return True, "the chains agree"
    if rhat < 1.1:
        return False, f"the chains do not quite agree yet (R-hat should be below {limit:g})"
    return (
        False,
        f"the chains disagree: they have not found the same answer (R-hat should be below {limit:g})",
    )


def ess_words(ess: float, enough: float = _RULE.ess) -> tuple[bool, str]:
    """Whether an effective sample size is good, and what it says.

    >>> ess_words(80)[0], ess_words(1200)[1]
    (False, 'enough independent draws')
    """
    if math.isnan(ess):
        return False, "the number of independent draws is not known"
    if ess >= enough:
        return True, "enough independent draws"
    few = "few" if ess >= enough / 4 else "far too few"
    return False, f"{few} independent draws (there should be {enough:.0f})"


def number(value: float) -> str:
    """A number for a reader: three significant digits, whole thousands in full.

    >>> number(0.012345), number(1234.5), number(float("nan"))
    ('0.0123', '1,234', '–')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    written = f"{value:,.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.3g}"
    return written.replace("-", "−")


def percent(share: float) -> str:
    """A share as a percentage.

    >>> percent(0.9), percent(0.925)
    ('90 %', '92.5 %')
    """
    return f"{100 * share:.3g} %"


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun.

    >>> plural(1, "place"), plural(3600, "place")
    ('1 place', '3,600 places')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def decimals(values: Sequence[object], steps: float) -> int | None:
    """Digits after the point that tell `steps` values of a column apart; None where six significant ones must do.

    >>> decimals([47.4, 55.01], 1000), decimals([1.0, 40.0], 1000), decimals([3e-9], 1000)
    (3, 0, None)
    """
    numbers = [float(value) for value in values if isinstance(value, int | float) and math.isfinite(value)]
    if not numbers or len(numbers) < len(values):
        return None
    if all(value == round(value) and abs(value) < 1e6 for value in numbers):
        return 0
    span = max(numbers) - min(numbers) or abs(numbers[0])
    digits = _digits(span / steps)
    return digits if digits <= 6 and max(map(abs, numbers)) < 1e9 else None


def join(words: list[str], last: str = "and") -> str:
    """A list as in a sentence.

    >>> join(["longitude", "latitude", "height"])
    'longitude, latitude and height'
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def _digits(step: float) -> int:
    """Digits after the point that show a step of this size.

    >>> _digits(0.36), _digits(3.6)
    (1, 0)
    """
    return max(0, math.ceil(-math.log10(step)))
