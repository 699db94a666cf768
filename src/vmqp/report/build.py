"""A posterior to the content of a report."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.report.content import Call, Content, Fact
from vmqp.report.meanings import glossary
from vmqp.report.measures import choice_rows, diagnostic_rows, parameter_rows, score_rows
from vmqp.report.page import check_writable, write
from vmqp.report.pictures import Gallery
from vmqp.report.places import choose, tell, where
from vmqp.report.sentences import facts, question, reading, remarks, verdict
from vmqp.report.table import inputs_of, predictions, shown_rows
from vmqp.report.words import Angles, percent, plural

if TYPE_CHECKING:
    from vmqp.posterior import Posterior

__all__ = ["make_content", "report"]

_PACKAGES = ("vmqp", "numpy", "scipy", "numba")


def report(
    posterior: "Posterior",
    path: str | os.PathLike[str],
    *,
    truth: ArrayLike | None = None,
    call: str | Sequence[Call] | None = None,
    title: str | None = None,
    names: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    probability: float = 0.9,
    compass: bool = False,
) -> Path:
    """Write a report of a posterior: one HTML file that needs nothing else.

    **Parameters**

    posterior
        What :func:`vmqp.regress` returned.
    path
        The file to write; it is replaced if it exists.
    truth
        The angles at the new places in the posterior's period, where they are known; nan elsewhere.
    call
        How to repeat it, as text or as :class:`~vmqp.report.content.Call`; by default what the posterior remembers.
    title
        The page's heading.
    names
        Of the new places, such as stations; by default their numbers, from 1.
    notes
        Sentences about the data, such as how many rows were dropped.
    probability
        Of the arcs.
    compass
        Whether 0 is north and angles run clockwise in pictures.

    **Returns**

    pathlib.Path
        The file.

    >>> import tempfile, warnings
    >>> import vmqp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [350.0, 5.0, 20.0, 30.0]
    >>> with warnings.catch_warnings(action="ignore"):  # so few draws are good for an example only
    ...     post = vmqp.regress(X, y, [[1.5]], period=360, draws=50, warmup=50, chains=2, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(post, Path(folder, "report.html"), title="Wind along the road").name
    'report.html'
    """  # noqa: D405, D407, D411  # "notes" is a parameter and no section
    check_writable(Path(path))
    content = make_content(
        posterior,
        truth=truth,
        call=call,
        title=title,
        names=names,
        notes=notes,
        probability=probability,
        compass=compass,
    )
    return write(content, path)


def make_content(
    posterior: "Posterior",
    *,
    truth: ArrayLike | None = None,
    call: str | Sequence[Call] | None = None,
    title: str | None = None,
    names: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    probability: float = 0.9,
    compass: bool = False,
) -> Content:
    """All that :func:`report` says, before it is a page; its parameters are those of `report`.

    >>> import vmqp
    >>> fixed = {"period": 360, "kernel": "2.0 * exponential(3.0)", "concentration": 0}  # nothing is learned
    >>> post = vmqp.regress([[0.0], [1.0]], [350.0, 5.0], [[0.5]], **fixed, chains=1, draws=50, progress=False)
    >>> content = make_content(post)
    >>> content.title, content.verdict.trusted  # fixed numbers need not converge
    ('Predicted directions at 1 place', True)
    """
    m = posterior.X_new.shape[0]
    if not m:
        raise InputError("The posterior has no new places, so there is nothing to report; give X_new.")
    angles = Angles(float(posterior.period), posterior.unit, posterior.range.centred)
    known = None if truth is None else _checked_truth(truth, m)
    labels = None if names is None else _checked_names(names, m)
    inputs = inputs_of(posterior)
    gallery = Gallery(posterior, angles, probability, compass)
    chosen = choose(np.asarray(posterior.variance, dtype=float))
    draws = posterior.draws_at([row for row, _ in chosen])
    chains, length, _ = draws.shape
    places = tuple(
        tell(
            posterior,
            row,
            role,
            draws=draws[..., number].ravel(),
            angles=angles,
            name=labels[row] if labels else f"Place {row + 1:,}",
            where=where(inputs, row, labels),
            truth=float("nan") if known is None else float(known[row]),
            gallery=gallery,
        )
        for number, (row, role) in enumerate(chosen)
    )
    table = posterior.summary(probability)
    parameter_columns, parameters = parameter_rows(table[["mean"]] if posterior.fast else table, angles)
    choice_columns, choice = choice_rows(posterior.kernel_choice)
    judged = verdict(posterior, known, angles, probability)
    diagnostic_columns, diagnostics = diagnostic_rows(posterior.diagnostics(), judged.trusted)
    overview, others = gallery.overview(inputs), gallery.others(known)
    return Content(
        title=title or f"Predicted {angles.noun}s at {plural(m, 'place')}",
        question=question(posterior, angles, list(inputs)),
        verdict=judged,
        predictions=predictions(posterior, inputs, labels, known, angles, probability, compass),
        facts=(
            *facts(posterior, angles, inputs, chains, length),
            *_notes((*notes, *_left_out(m)), gallery.failures),
        ),
        reading=reading(angles, probability, judged.trusted),
        highlighted=places,
        overview=overview,
        pictures=others,
        scores=() if known is None else score_rows(posterior, known, angles, probability),
        parameters_note="They were fitted, and their uncertainty is left out."
        if posterior.fast
        else f"Each lies with a probability of {percent(probability)} between the two numbers from and to.",
        parameter_columns=parameter_columns,
        parameters=parameters,
        choice_columns=choice_columns,
        choice=choice,
        diagnostic_columns=diagnostic_columns,
        diagnostics=() if posterior.fast else diagnostics,
        remarks=remarks(posterior),
        calls=_calls(posterior, call),
        versions=_versions(),
        glossary=glossary(angles, probability, joint=posterior.joint),
    )


def _checked_truth(truth: ArrayLike, m: int) -> FloatArray:
    try:
        values: FloatArray = np.asarray(truth, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"truth must be numbers but is not ({error}); give angles, nan where unknown."
        ) from error
    if values.shape != (m,):
        raise InputError(
            f"truth has shape {values.shape}, but there are {m} new places; give one angle for each."
        )
    if np.isinf(values).any() or np.isnan(values).all():
        raise InputError(
            "truth must have finite angles, and nan where they are unknown; it has none, or infinite ones."
        )
    return values


def _checked_names(names: Sequence[str], m: int) -> tuple[str, ...]:
    given = tuple(str(name) for name in names)
    if len(given) != m:
        raise InputError(f"There are {len(given)} names, but {m} new places; give one name for each.")
    return given


def _notes(notes: Sequence[str], failures: Sequence[str]) -> tuple[Fact, ...]:
    """What the caller says of the data, and pictures that could not be drawn."""
    return (
        *(Fact("Note", str(note)) for note in notes),
        *(Fact("Picture left out", failure) for failure in failures),
    )


def _left_out(m: int) -> tuple[str, ...]:
    shown = len(shown_rows(m))
    if shown == m:
        return ()
    return (
        f"The table shows {shown:,} of {m:,} places, at even steps; predictions.csv and to_frame() have all.",
    )


def _calls(posterior: "Posterior", call: str | Sequence[Call] | None) -> tuple[Call, ...]:
    given = posterior.call if call is None else call
    calls = (Call("Python", given),) if isinstance(given, str) else tuple(given)
    return tuple(each for each in calls if each.text)


def _versions() -> tuple[Fact, ...]:
    python = Fact("Python", platform.python_version())
    return (*(Fact(name, version(name)) for name in _PACKAGES), python)
