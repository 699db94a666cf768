"""What a report says in sentences: the question, the verdict, how to read it, and the facts of the data."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vmqp.circle import FloatArray
from vmqp.posterior.diagnostics import SIMULATION
from vmqp.report.content import Cell, Fact, Verdict
from vmqp.report.measures import score_rows, too_few_covered
from vmqp.report.words import Angles, join, number, percent, plural

if TYPE_CHECKING:
    from vmqp.posterior import Posterior

__all__ = ["facts", "question", "reading", "remarks", "verdict"]

_ENDINGS = {
    "time limit": "The time limit came first: allow more time, or resume the run.",
    "interrupted": "The run was interrupted: resume it, or start it again.",
    "checkpoint failed": "The checkpoint could not be written: make room on the disk and run it again.",
}


def question(posterior: "Posterior", angles: Angles, inputs: list[str]) -> tuple[str, ...]:
    """What was asked."""
    observed, asked = plural(len(posterior.y), "observation"), plural(posterior.X_new.shape[0], "place")
    return (
        f"What is the {angles.noun} at {asked}, judging by {observed}? A place is described by its {join(inputs)}.",
    )


def verdict(posterior: "Posterior", truth: FloatArray | None, angles: Angles, probability: float) -> Verdict:
    """Whether to use the numbers: not before the chains agree, and with care where the truth speaks against them."""
    found = posterior.verdict()
    if not found.trusted:
        lead = "The computation has not settled: the numbers below could still change a good deal."
        remedies = [_ENDINGS[posterior.stopped]] if posterior.stopped in _ENDINGS else []
        if posterior.fast:
            headline = "The predictions of a fast fit: the chains need more time"
            return Verdict(False, headline, found.sentences, tuple(remedies))
        return Verdict(False, "Do not use these numbers yet", (lead, *found.sentences), tuple(remedies))
    if posterior.fast:
        headline = "A fast fit: good for a first look"
        held_out = [] if truth is None else [score_rows(posterior, truth, angles, probability)]
        told = [f"{row.values[0]} {row.words}" for rows in held_out for row in rows if "arcs" in row.name]
        remedy = "For intervals that count the uncertainty of the parameters, fit without fast."
        return Verdict(True, headline, (*found.sentences, *told), (remedy,), caution=True)
    if truth is None:
        limits = (
            "This says that the computation has settled. Whether the model fits the world only angles that it has not "
            "seen can tell: hold some back and compare."
        )
        return Verdict(True, "These predictions can be trusted", (*found.sentences, limits))
    share = percent(probability)
    scores = {row.name: row for row in score_rows(posterior, truth, angles, probability)}
    held = scores[f"{share} arcs"]
    sentences = (*found.sentences, f"{held.values[0]} {held.words}")
    if too_few_covered(posterior, truth, probability):
        return Verdict(
            True,
            "Use these predictions with care: they are less certain than they say",
            sentences,
            (
                "Take the arcs to be too narrow. Try another kernel, noise, or inputs that matter and are missing.",
            ),
            caution=True,
        )
    return Verdict(True, "These predictions can be trusted", sentences)


def reading(angles: Angles, probability: float, trusted: bool) -> tuple[str, ...]:
    """How angles and arcs are read.

    >>> reading(Angles(360.0, "degrees"), 0.9, True)[0][:66]
    'Each prediction is a range of possible directions, not one number.'
    """
    share, noun = percent(probability), angles.noun
    cut = angles.period / 2 if angles.centred else 0.0
    before, after = cut - angles.period / 36, cut + angles.period / 36
    warning = "" if trusted else "These numbers are not final (see above); they only show how to read them. "
    return (
        f"{warning}Each prediction is a range of possible {noun}s, not one number. "
        f"Angles go round: {angles.neighbours()}.",
        f"An arc is a piece of the circle, read upwards from its lower to its upper end; it may pass the point where "
        f"counting starts again, as the arc {angles.arc(before, after)} does. Of ten arcs with a probability of "
        f"{share}, about {10 * probability:.2g} should hold the {noun} that is observed there.",
    )


def remarks(posterior: "Posterior") -> tuple[str, ...]:
    """What to know before using the numbers elsewhere."""
    count = posterior.X_new.shape[0]
    if count == 1:
        return ()
    if posterior.joint:
        return (
            f"These {count:,} locations were predicted together, and the predictions depend on the set: asking for "
            "other locations beside them changes each prediction somewhat. Compare only predictions of the same set.",
        )
    return (
        f"Each of these {count:,} locations was predicted on its own: the answer is the same whatever else is asked "
        "for. What two locations have in common is not told here; for a route, an area or a front draw them together, "
        "with simulate.",
    )


def facts(
    posterior: "Posterior", angles: Angles, inputs: Mapping[str, Sequence[Cell]], chains: int, draws: int
) -> tuple[Fact, ...]:
    """A summary of the data and of the run."""
    attributes = posterior.attributes
    observed = np.asarray(posterior.X, dtype=float)
    told = [
        Fact("Observed angles", f"{len(posterior.y):,}"),
        Fact("Places predicted", f"{posterior.X_new.shape[0]:,}"),
        Fact("Unit of the angles", f"{angles.unit or 'none'}; they repeat after {number(angles.period)}"),
    ]
    for column, (name, values) in enumerate(inputs.items()):
        told.append(Fact(f"Input: {name}", _span(values, observed[:, column])))
    if posterior.fast:
        told.append(Fact("How it was learned", "by the largest penalized pseudo-likelihood (a fast fit)"))
    else:
        told.append(Fact("Chains and draws", f"{plural(chains, 'chain')} of {plural(draws, 'draw')}"))
    if "learned_with" in attributes:
        told.append(Fact("Learned from", f"{attributes['learned_with']:,} of the observed angles"))
    told.append(
        Fact("How it was predicted", _how_together(attributes) if posterior.joint else _how(posterior))
    )
    for label, key in (("Kernel", "kernel"), ("Drift", "drift"), ("Seed", "seed")):
        if key in attributes:
            told.append(Fact(label, str(attributes[key])))
    if "sampling_time" in attributes:
        told.append(
            Fact(
                "Time" if posterior.joint else "Time of learning",
                f"{float(attributes['sampling_time']):.1f} seconds",
            )
        )
    return tuple(told)


def _how(posterior: "Posterior") -> str:
    """How predictions in closed form were made."""
    from vmqp.posterior.predictive import ClosedForm

    predictive = posterior._predictive
    assert isinstance(predictive, ClosedForm)
    kriging = predictive.kriging
    given = (
        f"all {kriging.n:,} observed locations"
        if kriging.exact
        else f"the {kriging.neighbors:,} observed locations nearest to it"
    )
    if not len(posterior.diagnostics()):
        return f"one location at a time, in closed form: at fixed parameters, conditioned on {given}"
    every = predictive.chains * predictive.drawn
    return (
        f"one location at a time, in closed form: a mixture over {predictive.sets:,} of {every:,} parameter draws, "
        f"conditioned on {given}"
    )


def _how_together(attributes: Mapping[str, Any]) -> str:
    """How joint draws were made."""
    how = "all locations together"
    if attributes.get("method") == SIMULATION:
        how += ", by conditional simulation at parameters that were learned before"
    elif str(attributes.get("model", "")).startswith("von Mises"):
        how += " and together with the parameters, as in the paper (transductive)"
    if "neighbors" in attributes:
        how += f"; on a sparse precision with {attributes['neighbors']} neighbors of each location"
    return how


def _span(asked: Sequence[Cell], observed: FloatArray) -> str:
    numbers = [float(value) for value in asked if value is not None and not isinstance(value, str)]
    if len(numbers) < len(asked):
        names = sorted({str(value) for value in asked})
        return f"{plural(len(names), 'category', 'categories')}: {join(names[:12])}{', …' if len(names) > 12 else ''}"
    return (
        f"observed from {number(float(observed.min()))} to {number(float(observed.max()))}, "
        f"predicted from {number(min(numbers))} to {number(max(numbers))}"
    )
