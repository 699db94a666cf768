"""Tables of numbers with their words: diagnostics, parameters and scores."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vmqp import scores
from vmqp.arcs import in_arc
from vmqp.circle import TWO_PI, FloatArray, difference
from vmqp.report.content import Measure
from vmqp.report.meanings import parameter_meaning
from vmqp.report.words import Angles, ess_words, number, percent, rhat_words

if TYPE_CHECKING:
    import pandas as pd

    from vmqp.posterior import Posterior

__all__ = ["diagnostic_rows", "parameter_rows", "score_rows", "too_few_covered"]

_LABELS = {
    "rhat": "R-hat",
    "ess": "ESS",
    "ess_bulk": "ESS",
    "ess_tail": "ESS of the tails",
    "sd": "spread (sd)",
    "lower": "from",
    "upper": "to",
}
_ALARM = 1e-4  # chance of saying that arcs are too narrow when they are right, for independent places


def diagnostic_rows(table: "pd.DataFrame", trusted: bool) -> tuple[tuple[str, ...], tuple[Measure, ...]]:
    """Columns and rows of R-hat and effective sample sizes; the angles of all places are told by the worst one.

    A trusted result may have been asked for fewer effective samples than usual; they are then enough.

    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"rhat": [1.001, 1.003, 1.3], "ess": [900.0, 800.0, 20.0]}, index=["nugget", "angle[4]", "angle[5]"]
    ... )
    >>> columns, rows = diagnostic_rows(table, False)
    >>> columns, [(row.name, row.values, row.good) for row in rows]
    (('R-hat', 'ESS'), [('nugget', ('1.001', '900'), True), ('angles (worst of 2)', ('1.300', '20'), False)])
    """
    columns = [
        str(column) for column in table.columns if _LABELS.get(str(column), "").startswith(("R-hat", "ESS"))
    ]
    groups: dict[str, list[int]] = {}
    for place, label in enumerate(table.index):
        groups.setdefault(str(label).partition("[")[0], []).append(place)
    rows = []
    for name, places in groups.items():
        angular = "[" in str(table.index[places[0]])
        values = {
            column: _worst(np.asarray(table[column], dtype=float)[places], column.startswith("rhat"))
            for column in columns
        }
        shown = f"{name}s (worst of {len(places):,})" if angular else name
        rows.append(_diagnostic(shown, values, trusted, angle=angular or name == "direction"))
    return tuple(_LABELS[column] for column in columns), tuple(rows)


def parameter_rows(table: "pd.DataFrame", angles: Angles) -> tuple[tuple[str, ...], tuple[Measure, ...]]:
    """Columns and rows of the parameters' posterior, with the meaning of each; diagnostics have their own table.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"mean": [0.1234, 359.9], "rhat": 1.0}, index=["nugget", "direction"])
    >>> columns, rows = parameter_rows(table, Angles(360.0, "degrees"))
    >>> columns, [row.values for row in rows]
    (('mean',), [('0.123',), ('0°',)])
    """
    kept = [
        str(column)
        for column in table.columns
        if not str(column).startswith(("rhat", "ess", "mcse")) and _is_numeric(table[column])
    ]
    rows = tuple(
        Measure(
            str(name),
            tuple(_written(str(name), column, float(table.loc[name, column]), angles) for column in kept),
            parameter_meaning(str(name)),
        )
        for name in table.index
    )
    return tuple(_LABELS.get(column, column.replace("_", " ")) for column in kept), rows


def choice_rows(table: "pd.DataFrame") -> tuple[tuple[str, ...], tuple[Measure, ...]]:
    """Columns and rows of the kernels that the default was chosen among.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"elpd": [-3.0], "difference": 0.0, "se": 0.0}, index=["Matérn 3/2"])
    >>> choice_rows(table)[1][0].values
    ('−3.0', '0.0', '0.0')
    """
    rows = tuple(
        Measure(
            str(name),
            tuple(f"{float(value):.1f}".replace("-", "−") for value in table.loc[name]),
            "chosen" if i == 0 else "",
        )
        for i, name in enumerate(table.index)
    )
    return ("log density", "difference", "its error"), rows


def score_rows(
    posterior: "Posterior", truth: FloatArray, angles: Angles, probability: float
) -> tuple[Measure, ...]:
    """How the predictions did where the truth is known; `truth` is nan elsewhere."""
    known = np.flatnonzero(~np.isnan(truth))
    rows = []
    for share in sorted({0.5, probability}):
        held = _held(posterior, truth, known, share)
        good = None if share != probability else not too_few_covered(posterior, truth, probability)
        rows.append(
            Measure(
                f"{percent(share)} arcs",
                (percent(held / len(known)),),
                f"of the truths lie in their arc ({held:,} of {len(known):,}); it should be about {percent(share)}.",
                good,
            )
        )
    mean = np.asarray(posterior.mean, dtype=float)[known]
    some = ~np.isnan(mean)
    if some.any():
        off = np.abs(difference(mean[some], truth[known][some], angles.period))
        rows.append(
            Measure(
                "Median error",
                (angles.length(float(np.median(off))),),
                "of the best single guess: half of the guesses were closer to the truth than this.",
            )
        )
    return (*rows, *_crps(posterior, truth, known))


def too_few_covered(posterior: "Posterior", truth: FloatArray, probability: float) -> bool:
    """Whether so few arcs hold the truth that chance does not explain it."""
    from scipy.stats import binom

    known = np.flatnonzero(~np.isnan(truth))
    if not known.size:
        return False
    held = _held(posterior, truth, known, probability)
    return bool(binom.cdf(held, known.size, probability) < _ALARM)


def _held(posterior: "Posterior", truth: FloatArray, known: Any, share: float) -> int:
    arcs = np.asarray(posterior.interval(share), dtype=float)[known]
    return int(np.sum(in_arc(truth[known], arcs[:, 0], arcs[:, 1], posterior.period)))


def _crps(posterior: "Posterior", truth: FloatArray, known: Any) -> tuple[Measure, ...]:
    """The model's scores, by 1 − cos and by arc length, beside those of a guess which ignores the places.

    That guess is the observed angles themselves, at most 1,000 of them.
    """
    to_radians = posterior.range.to_radians
    aim = to_radians(truth[known])
    observed = np.asarray(to_radians(posterior.y), dtype=float)
    thinned = observed[:: -(-observed.size // 1000)]
    guess = np.repeat(thinned[:, None], known.size, axis=1)
    filled = np.where(np.isnan(truth), 0.0, truth)
    unit = posterior.period / TWO_PI
    measures = []
    for name, distance, scale, words in (
        ("CRPS", "cosine", 1.0, "mean distance of the whole prediction from the truth"),
        ("Arc CRPS", "arc", unit, "the same with the arc length as distance, in the unit of the angles"),
    ):
        own = float(np.mean(posterior.crps(filled, distance=distance)[known]))
        plain = scale * float(np.mean(scores.crps(guess, aim, distance=distance, unbiased=False)))
        words += "; 0 is perfect, smaller is better."
        if not plain > 0:
            measures.append(Measure(name, (number(own),), words))
            continue
        gain = 1 - own / plain
        side = f"{abs(gain):.0%}".replace("%", " %") + (" better" if gain >= 0 else " worse")
        words += f" Guessing from the observed angles alone, wherever the place, scores {number(plain)}: "
        words += f"this is {side}."
        measures.append(Measure(name, (number(own),), words, gain > 0))
    return tuple(measures)


def _written(name: str, column: str, value: float, angles: Angles) -> str:
    """A number of the summary; the direction is an angle in the user's unit."""
    if name != "direction" or math.isnan(value):
        return number(value)
    return angles.length(min(value, angles.period)) if column == "sd" else angles.told(value)


def _diagnostic(name: str, values: dict[str, float], trusted: bool, *, angle: bool) -> Measure:
    judged = [
        rhat_words(value, angle=angle)
        if column.startswith("rhat")
        else ess_words(value, *((value,) if trusted else ()))
        for column, value in values.items()
    ]
    written = tuple(
        number(value)
        if not math.isfinite(value)
        else f"{value:.3f}"
        if column.startswith("rhat")
        else f"{value:,.0f}"
        for column, value in values.items()
    )
    words = "; ".join(dict.fromkeys(words for _, words in judged)) + "."
    return Measure(name, written, words, all(good for good, _ in judged))


def _worst(values: FloatArray, largest: bool) -> float:
    if np.isnan(values).any():
        return math.nan
    return float(values.max() if largest else values.min())


def _is_numeric(column: Any) -> bool:
    return bool(np.issubdtype(np.asarray(column).dtype, np.number))
