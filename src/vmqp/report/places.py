"""Single predictions in words: which places are told of, and what is said of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vmqp.arcs import arc_width, highest_density_regions, in_arc
from vmqp.circle import FloatArray, difference
from vmqp.report.content import Cell, Column, Place
from vmqp.report.pictures import Gallery
from vmqp.report.words import Angles, certainty, decimals, join, percent

if TYPE_CHECKING:
    from vmqp.posterior import Posterior

__all__ = ["choose", "tell", "where"]

_ENOUGH = 200  # draws of a place: gaps between fewer are chance
_ROLES = ("A typical place", "The place known best", "The place known least")


def choose(variance: FloatArray) -> list[tuple[int, str]]:
    """Rows of the places with the median, the smallest and the largest variance, with their roles.

    >>> choose(np.array([0.3, 0.1, 0.9, 0.2, 0.5]))
    [(0, 'A typical place'), (1, 'The place known best'), (2, 'The place known least')]
    >>> choose(np.array([0.3]))
    [(0, 'The place')]
    """
    order = np.argsort(np.where(np.isnan(variance), 1.0, variance), kind="stable")
    if len(order) == 1:
        return [(0, "The place")]
    if len(order) == 2:
        return [(int(order[0]), _ROLES[1]), (int(order[1]), _ROLES[2])]
    rows = (order[(len(order) - 1) // 2], order[0], order[-1])
    return [(int(row), role) for row, role in zip(rows, _ROLES, strict=True)]


def where(inputs: Mapping[str, Sequence[Cell]], row: int, labels: Sequence[str] | None) -> str:
    """A place in words: its name, if it has one, and its inputs.

    >>> where({"longitude": [9.924809, 6.1], "latitude": [52.8, 47.0]}, 0, ["Bergen", "Aachen"])
    'Bergen (longitude 9.925, latitude 52.800)'
    """
    parts = [
        f"{name} {Column(name, digits=decimals(values, 1000)).text(values[row])}"
        for name, values in inputs.items()
    ]
    told = ", ".join(parts)
    return f"{labels[row]} ({told})" if labels else told


def tell(
    posterior: "Posterior",
    row: int,
    role: str,
    *,
    draws: FloatArray,
    angles: Angles,
    where: str,
    name: str,
    truth: float,
    gallery: Gallery,
) -> Place:
    """One prediction: the best guess, the arc, how sure it is, its several modes and the truth, if it is known.

    `draws` are those of this place, in one row.
    """
    probability = gallery.probability
    mean, variance = float(posterior.mean[row]), float(posterior.variance[row])
    lower, upper = (float(end) for end in posterior.interval(probability)[row])
    origin = posterior.range.origin
    # Of this place alone: the posterior's own regions are computed for all places at once.
    regions = highest_density_regions(draws, probability, period=angles.period, origin=origin)
    apart = len(draws) >= _ENOUGH and _apart(regions, (lower, upper), angles.period)
    spread = f"{variance:.2f}" if variance >= 0.01 else "below 0.01"
    sentences = [
        _guess(angles, where, mean, variance, apart),
        _pieces(angles, regions, probability) if apart else _arc(angles, (lower, upper), probability),
        f"The circular variance is {spread}, on a scale from 0 (certain) to 1 (nothing is known): "
        f"the {angles.noun} is {certainty(variance)}.",
    ]
    if apart:
        sentences.append("Do not rely on a single best guess here: look at the shape of the rose.")
    if not np.isnan(truth):
        sentences.append(_truth(angles, truth, (lower, upper), apart))
    arcs = regions if apart else np.array([[lower, upper]])
    return Place(name, role, tuple(sentences), gallery.rose(draws, arcs, truth, name))


def _truth(angles: Angles, truth: float, arc: tuple[float, float], apart: bool) -> str:
    """Where the truth lies; "just" where the ends of the arc, as they are written, would leave that open.

    >>> _truth(Angles(360.0, "degrees"), 303.6, (303.8, 338.0), False)[-21:]
    'just outside the arc.'
    """
    side = "inside" if in_arc(truth, *arc, angles.period) else "outside"
    ends = np.abs(difference(truth, arc, angles.period))
    just = "just " if ends.min() < angles.period / 200 else ""
    which = f" {angles.arc(*arc)}" if apart else ""
    return (
        f"The true {angles.noun} here, which the model did not see, is {angles.told(truth)}: "
        f"{just}{side} the arc{which}."
    )


def _apart(regions: FloatArray, arc: tuple[float, float], period: float) -> bool:
    """Whether the likely angles fall into pieces that leave out a good part of the arc."""
    total = float(np.sum(arc_width(regions[:, 0], regions[:, 1], period)))
    return len(regions) > 1 and total < 0.9 * float(arc_width(*arc, period))


def _guess(angles: Angles, where: str, mean: float, variance: float, apart: bool) -> str:
    if np.isnan(mean):
        return f"At {where} there is no best guess: the possible {angles.noun}s cancel each other."
    if apart:
        return (
            f"At {where} there is more than one likely {angles.noun}; the mean of all is {angles.told(mean)}."
        )
    strength = "is probably" if variance < 0.3 else "may be"
    return f"At {where} the {angles.noun} {strength} about {angles.told(mean)}."


def _pieces(angles: Angles, regions: FloatArray, probability: float) -> str:
    pieces = join([angles.arc(float(low), float(high)) for low, high in regions], "or")
    total = float(np.sum(arc_width(regions[:, 0], regions[:, 1], angles.period)))
    return (
        f"With a probability of {percent(probability)} it lies in one of {len(regions)} pieces of the circle: "
        f"{pieces}. Together they are {angles.length(total)} of {angles.length(angles.period)} wide."
    )


def _arc(angles: Angles, arc: tuple[float, float], probability: float) -> str:
    share, width = percent(probability), float(arc_width(*arc, angles.period))
    if width >= angles.period * (1 - 1e-9):
        return f"No {angles.noun} can be ruled out: the {share} arc is the whole circle."
    return (
        f"With a probability of {share} it lies in the arc {angles.arc(*arc)}, "
        f"which is {angles.length(width)} of {angles.length(angles.period)} wide."
    )
