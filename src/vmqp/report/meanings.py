"""One line for each parameter, column and word of a report, for a reader who has not met the model."""

from vmqp.report.content import Term
from vmqp.report.words import Angles, percent

__all__ = ["column_meanings", "glossary", "parameter_meaning"]

_PARAMETERS = (
    (
        "variance",
        "Variance σ²{of}: how freely the angle turns from place to place; small means nearly the same everywhere.",
    ),
    (
        "lengthscale",
        "Length scale{of}: how far influence reaches; places much farther apart hardly inform each other.",
    ),
    ("nugget", "Nugget τ²: scatter of single observations that no smooth field explains; 0 means none."),
    (
        "concentration",
        "Concentration κ: how strongly all angles are drawn to one common direction; 0 means not at all.",
    ),
    (
        "direction",
        "Direction ν: the common direction to which all angles are drawn; it matters only where κ is large.",
    ),
    ("noise", "Noise χ: how exact an observation is; large means exact, 0 means that it says nothing."),
    ("period", "Period{of}: after what distance the pattern repeats."),
    ("shape", "Shape α{of}: mixes short and long length scales; large means a single one."),
    ("correlation", "Correlation{of}: how much one category tells about another; 1 means all, 0 nothing."),
    ("center", "Center{of}: where the linear part of the kernel vanishes."),
)


def parameter_meaning(name: str) -> str:
    """What a parameter is, by its name; kernels append a number or a column to it.

    >>> parameter_meaning("lengthscale_east")
    "Length scale of 'east': how far influence reaches; places much farther apart hardly inform each other."
    >>> parameter_meaning("nugget")[:10]
    'Nugget τ²:'
    """
    base, _, rest = name.partition("_")
    of = "" if not rest else f" (kernel {rest})" if rest.isdigit() else f" of {rest!r}"
    for known, words in _PARAMETERS:
        if base == known:
            return words.replace("{of}", of)
    return "A parameter of the kernel that was chosen."


def column_meanings(angles: Angles, probability: float) -> dict[str, str]:
    """What the columns of predictions mean.

    >>> column_meanings(Angles(360.0, "degrees"), 0.9)["width"]
    'How wide the arc is, of 360° in all.'
    """
    arc, noun = percent(probability), angles.noun
    return {
        "place": "Name of the place, or its number from 1 in the order in which the places were asked for.",
        "mean": f"The best single guess of the {noun} (the circular mean).",
        "variance": f"Circular variance: 0 when the {noun} is certain, 1 when nothing is known about it.",
        "lower": f"Where the arc that holds the {noun} with a probability of {arc} begins.",
        "upper": "Where that arc ends, counted upwards from its beginning; it may go through the cut of the circle.",
        "width": f"How wide the arc is, of {angles.length(angles.period)} in all.",
        "truth": f"The {noun} that was measured here; the model did not see it.",
        "in arc": "Whether the arc holds the truth.",
    }


def glossary(angles: Angles, probability: float, *, joint: bool = False) -> tuple[Term, ...]:
    """The words of the report; `joint` where all locations were drawn together.

    >>> [term.word for term in glossary(Angles(24.0, "hours"), 0.9)][:2]
    ['Arc', 'Chain, draw']
    """
    arc, noun = percent(probability), angles.noun
    return (
        Term(
            "Arc",
            f"A piece of the circle, from a lower end upwards to an upper end. The {arc} arc is the shortest one that "
            f"holds the {noun} with a probability of {arc}: of ten such arcs, about "
            f"{10 * probability:.2g} should hold the truth.",
        ),
        Term(
            "Chain, draw",
            "The prediction is a large sample of possible answers (draws), produced by several independent random "
            "walks (chains). All numbers on this page summarize these draws."
            if joint
            else "What was learned is a large sample of possible parameters (draws), produced by several independent "
            "random walks (chains). A prediction averages over many of them.",
        ),
        Term(
            "Circular mean",
            f"The average of angles as arrows: {angles.neighbours()}, and their mean lies between them, not on the "
            "other side of the circle.",
        ),
        Term(
            "Circular variance",
            f"How spread out the possible {noun}s are: 0 when all agree, 1 when they cancel. "
            "Below 0.1 is sharp, above 0.6 is little more than a guess.",
        ),
        Term(
            "CRPS",
            "Continuous ranked probability score: a distance between the whole prediction and the truth. "
            "0 is perfect, smaller is better; it rewards predictions that are both sharp and honest.",
        ),
        Term(
            "Effective sample size (ESS)",
            "How many independent draws the chains are worth. 400 or more is good.",
        ),
        Term(
            "R-hat", "Compares the chains with each other. 1.00 when they agree; above 1.01 they do not yet."
        ),
        Term(
            "Rose",
            "A picture of one prediction: the farther the shape reaches out in a direction, the more probable "
            "that direction is.",
        ),
        _together() if joint else _one_at_a_time(),
    )


def _together() -> Term:
    return Term(
        "Transductive",
        "All locations that were asked for are part of one model. The prediction at a location changes somewhat when "
        "other locations are asked for with it; ask for the same set to get the same answer.",
    )


def _one_at_a_time() -> Term:
    return Term(
        "One location at a time",
        "The parameters are learned from the observations alone. Then each location is predicted as if it were the "
        "only one, so that the answer does not depend on what else is asked for.",
    )
