"""The table of predictions, and the inputs of the new places by name."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vmqp.arcs import arc_width, in_arc
from vmqp.circle import FloatArray
from vmqp.plots.scale import Scale
from vmqp.report.content import Cell, Column, Dial, Predictions
from vmqp.report.meanings import column_meanings
from vmqp.report.words import Angles, decimals

if TYPE_CHECKING:
    from vmqp.posterior import Posterior

__all__ = ["inputs_of", "predictions", "shown_rows"]

_MOST = 5000


def inputs_of(posterior: "Posterior") -> dict[str, list[Cell]]:
    """The columns of the new places: numbers, or the names of categories."""
    places = np.asarray(posterior.X_new, dtype=float)
    names = posterior.column_names or tuple(f"x{i}" for i in range(places.shape[1]))
    columns: dict[str, list[Cell]] = {}
    for i, name in enumerate(names):
        categories = posterior.categories.get(i)
        values = places[:, i].tolist()
        columns[str(name)] = [categories[int(value)] for value in values] if categories else values
    return columns


def shown_rows(m: int) -> list[int]:
    """Places of the table: all of them, or some at even steps where a page of all could not be opened.

    >>> len(shown_rows(300)), len(shown_rows(90_000))
    (300, 5000)
    """
    return np.linspace(0, m - 1, min(m, _MOST)).round().astype(int).tolist() if m else []


def predictions(
    posterior: "Posterior",
    inputs: Mapping[str, Sequence[Cell]],
    labels: Sequence[str] | None,
    truth: FloatArray | None,
    angles: Angles,
    probability: float,
    compass: bool,
) -> Predictions:
    """One row for each new place, or for some of very many: name, inputs, prediction, and the truth if known."""
    rows = shown_rows(len(posterior.X_new))
    lower, upper = np.asarray(posterior.interval(probability), dtype=float)[rows].T
    truth = None if truth is None else truth[rows]
    digits = angles.digits
    results: dict[str, tuple[list[Cell], int | None]] = {
        "mean": (posterior.mean[rows].tolist(), digits),
        "variance": (posterior.variance[rows].tolist(), 3),
        "lower": (lower.tolist(), digits),
        "upper": (upper.tolist(), digits),
        "width": (np.asarray(arc_width(lower, upper, angles.period)).tolist(), digits),
    }
    if truth is not None:
        results["truth"] = (truth.tolist(), digits)
        results["in arc"] = (_in_arc(truth, lower, upper, angles.period), None)
    meanings = column_meanings(angles, probability)
    columns = [Column("place", meanings["place"], numeric=labels is None)]
    cells: list[Sequence[Cell]] = [
        [labels[row] for row in rows] if labels else [float(row + 1) for row in rows]
    ]
    for name, given in inputs.items():
        values = [given[row] for row in rows]
        taken = name in results or name == "place"
        columns.append(
            Column(
                f"{name} (input)" if taken else name,
                numeric=not isinstance(values[0], str),
                digits=decimals(values, 10_000),
            )
        )
        cells.append(values)
    first = len(columns)
    for name, (entries, places) in results.items():
        columns.append(Column(name, meanings[name], numeric=name != "in arc", digits=places))
        cells.append(entries)
    axial = Scale(angles.period, unit=angles.unit).axial
    dial = Dial(first, first + 2, first + 3, angles.period, compass=compass, axial=axial)
    return Predictions(tuple(columns), tuple(zip(*cells, strict=True)), dial)


def _in_arc(truth: FloatArray, lower: FloatArray, upper: FloatArray, period: float) -> list[Cell]:
    known = ~np.isnan(truth)
    inside = np.zeros(truth.shape, dtype=bool)
    inside[known] = in_arc(truth[known], lower[known], upper[known], period)
    return [("yes" if held else "no") if there else None for held, there in zip(inside, known, strict=True)]
