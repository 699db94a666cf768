"""What a report says, as plain values: no posterior, no HTML.

:mod:`vmqp.report.build` makes it from a posterior, :mod:`vmqp.report.page` turns it into a page.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

from vmqp.errors import InputError

__all__ = [
    "MISSING",
    "Call",
    "Cell",
    "Column",
    "Content",
    "Dial",
    "Fact",
    "Measure",
    "Picture",
    "Place",
    "Predictions",
    "Term",
    "Verdict",
]

Cell: TypeAlias = float | str | None
"""One entry of the table of predictions; None and NaN are missing."""

MISSING = "–"

_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Verdict:
    """Whether the numbers may be used, in words; `caution` is the middle way between yes and no.

    >>> Verdict(True, "These predictions can be trusted").level
    'good'
    >>> Verdict(True, "Use them with care", caution=True).level
    'care'
    """

    trusted: bool
    headline: str
    sentences: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    """What to do about it."""
    caution: bool = False

    @property
    def level(self) -> str:
        """The banner's kind: good, care or bad."""
        if not self.trusted:
            return "bad"
        return "care" if self.caution else "good"


@dataclass(frozen=True)
class Fact:
    """A labelled value, such as "Observed angles: 200"."""

    label: str
    value: str


@dataclass(frozen=True)
class Picture:
    """A picture, PNG or SVG, with the text for those who cannot see it.

    >>> Picture("Map", "Arrows", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "A map").media_type
    'image/svg+xml'
    """

    heading: str
    caption: str
    data: bytes
    alt: str

    @property
    def media_type(self) -> str:
        """PNG or SVG, told by the first bytes; anything else is refused."""
        if self.data.startswith(_PNG):
            return "image/png"
        if b"<svg" in self.data[:2000]:
            return "image/svg+xml"
        raise InputError(
            f"The picture {self.heading!r} is neither PNG nor SVG; save it as one of these, "
            'with matplotlib: figure.savefig(buffer, format="png").'
        )


@dataclass(frozen=True)
class Place:
    """One prediction told in words."""

    name: str
    role: str
    """Why it is shown: "a typical place", "the least certain place"."""
    sentences: tuple[str, ...]
    picture: Picture | None = None


@dataclass(frozen=True)
class Column:
    """A column of the table of predictions: its name, what it means, and how its numbers are written.

    >>> Column("mean", digits=1).text(12.3456), Column("mean", digits=1).text(float("nan"))
    ('12.3', '–')
    >>> Column("variance", digits=2).key(0.123456)
    '0.123456'
    """

    name: str
    meaning: str = ""
    numeric: bool = True
    digits: int | None = None
    """Digits after the point; None for up to six significant ones."""

    def text(self, cell: Cell) -> str:
        """What a reader sees."""
        if _missing(cell):
            return MISSING
        if isinstance(cell, str):
            return cell
        assert cell is not None
        if math.isinf(cell):
            return "∞" if cell > 0 else "−∞"
        written = f"{cell:.6g}" if self.digits is None else f"{cell:.{self.digits}f}"
        # A true minus sign, and no "-0.0": the table is read, and its keys are what is sorted.
        return written.replace("-", "−") if float(written) else written.lstrip("-")

    def key(self, cell: Cell) -> str | None:
        """The value by which rows are sorted: nothing for a missing cell, None where the text itself serves."""
        if _missing(cell):
            return ""
        if isinstance(cell, str):
            return None
        assert cell is not None
        if math.isinf(cell):
            return "Infinity" if cell > 0 else "-Infinity"
        key = f"{cell:.9g}"
        return None if key == self.text(cell) else key


@dataclass(frozen=True)
class Dial:
    """Which columns hold the mean and the arc, so that each row can be drawn as a small clock face.

    `compass` puts zero on top and lets angles grow clockwise; else zero is on the right and they grow
    counter-clockwise, as in mathematics. With `axial` the period is half a turn, and the hand points both ways.
    """

    mean: int
    lower: int
    upper: int
    period: float
    compass: bool = False
    axial: bool = False


@dataclass(frozen=True)
class Predictions:
    """The table of predictions. Rows are as long as there are columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    dial: Dial | None = None

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InputError(
                    f"Row {number} of the predictions has {len(row)} cells, but there are "
                    f"{len(self.columns)} columns; give one cell a column."
                )


@dataclass(frozen=True)
class Measure:
    """A row of numbers with the words for them, such as a parameter or a diagnostic.

    `good` is None where a number is neither good nor bad.
    """

    name: str
    values: tuple[str, ...]
    words: str
    good: bool | None = None


@dataclass(frozen=True)
class Term:
    """A word of the report, explained."""

    word: str
    meaning: str


@dataclass(frozen=True)
class Call:
    """How to get the same numbers again: the language ("Python", "shell") and the exact text.

    >>> Call("shell", "vmqp predict stations.csv --angle dir").language
    'shell'
    """

    language: str
    text: str


@dataclass(frozen=True)
class Content:
    """All that a report says.

    >>> verdict = Verdict(True, "These predictions can be trusted")
    >>> table = Predictions((Column("place", numeric=False), Column("mean", digits=0)), (("Bergen", 35.2),))
    >>> Content("Wind", ("Directions at 1 place.",), verdict, predictions=table).predictions.rows
    (('Bergen', 35.2),)
    """

    title: str
    question: tuple[str, ...]
    verdict: Verdict
    predictions: Predictions
    facts: tuple[Fact, ...] = ()
    reading: tuple[str, ...] = ()
    """Sentences on how angles and arcs are read, before the examples."""
    highlighted: tuple[Place, ...] = ()
    overview: tuple[Picture, ...] = ()
    """The pictures of all predictions together, shown before the table."""
    pictures: tuple[Picture, ...] = ()
    scores: tuple[Measure, ...] = ()
    parameters_note: str = ""
    parameter_columns: tuple[str, ...] = ()
    parameters: tuple[Measure, ...] = ()
    choice_columns: tuple[str, ...] = ()
    choice: tuple[Measure, ...] = ()
    """The kernels that the default was chosen among."""
    diagnostic_columns: tuple[str, ...] = ()
    diagnostics: tuple[Measure, ...] = ()
    remarks: tuple[str, ...] = ()
    """What a reader must know before using the numbers elsewhere."""
    calls: tuple[Call, ...] = ()
    versions: tuple[Fact, ...] = ()
    glossary: tuple[Term, ...] = ()


def _missing(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))
