"""What a run leaves for its reader: model, predictions, report, and the verdict as a small JSON file."""

import json
import math
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vmqp._version import __version__
from vmqp.circle import FloatArray
from vmqp.cli.sheet import Numbers, Sheet
from vmqp.cli.work import Work
from vmqp.errors import InputError
from vmqp.posterior import Posterior
from vmqp.posterior.diagnostics import CHOICE
from vmqp.posterior.predictive import INFERENCE
from vmqp.regression.base import PosteriorRegressor
from vmqp.report import Call, report

__all__ = ["PROBABILITY", "Outcome", "read_outcome", "summarise", "write_outputs"]

PROBABILITY = 0.9
_DIGITS = 10  # more would only show rounding


@dataclass(frozen=True)
class Outcome:
    """A run in a few numbers, as ``result.json`` and ``--json`` hold them; what is not finite is None."""

    trusted: bool
    verdict: list[str]
    inference: str
    stopped: str
    chains: int
    draws: int
    target_ess: float
    parameters: dict[str, dict[str, Any]]
    worst: dict[str, dict[str, Any]]
    scores: dict[str, float | None] | None
    rows: dict[str, int]
    notes: list[str]
    model: dict[str, str]
    kernel_choice: list[dict[str, Any]]
    files: dict[str, str]
    seconds: float
    seconds_predicting: float
    version: str

    def to_text(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def summarise(work: Work, found: Posterior | PosteriorRegressor, seconds: float = 0.0) -> Outcome:
    """Gather the verdict, the parameters, the scores and where they came from, of predictions or of a model.

    `seconds` is how long the predictions took.
    """
    verdict, table, diagnostics = found.verdict(), found.summary(PROBABILITY), found.diagnostics()
    columns = [name for name in table.columns if name != "meaning"]
    parameters = {
        str(name): {
            **{column: _finite(table.at[name, column]) for column in columns},
            "meaning": table.at[name, "meaning"],
        }
        for name in table.index
    }
    worst = {}
    for column, extreme in (("rhat", diagnostics["rhat"].max()), ("ess", diagnostics["ess"].min())):
        where = diagnostics.index[(diagnostics[column] == extreme).to_numpy()]
        worst[column] = {"value": _finite(extreme), "of": str(where[0]) if len(where) else None}
    attributes: Mapping[Any, Any]
    if isinstance(found, Posterior):
        attributes, target, n = found.attributes, found.target_ess, len(found.y)
        truth, predicted = work.truth(), {"predicted": len(found.X_new)}
        scores = None if truth is None else _scores(found, truth)
        predicted |= {} if truth is None else {"scored": int((~np.isnan(truth)).sum())}
    else:
        learned = found._model
        attributes, target, n = learned.tree.attrs, learned.facts.target_ess, len(found.data_.radians)
        scores, predicted = None, {}
    chains, draws = next((values.shape for values in found.parameters.values()), (0, 0))
    read = {} if work.request.learning is None else {"read": work.request.learning.rows}
    return Outcome(
        trusted=verdict.trusted,
        verdict=list(verdict.sentences),
        inference=str(attributes.get(INFERENCE, "bayes")),
        stopped=str(attributes["stopped"]),
        chains=int(chains),
        draws=int(draws),
        target_ess=target,
        parameters=parameters,
        worst=worst,
        scores=scores,
        rows={**read, "used": n, **predicted},
        notes=list(work.request.notes),
        model={name: str(attributes[name]) for name in ("kernel", "drift", "noise") if name in attributes},
        kernel_choice=json.loads(attributes.get(CHOICE, "[]")),
        files={name: str(path) for name, path in work.outputs.items()},
        seconds=round(float(attributes.get("sampling_time", 0.0)), 3),
        seconds_predicting=round(seconds, 3),
        version=__version__,
    )


def read_outcome(work: Work) -> Outcome | None:
    """Read the verdict of a finished run; None where there is none that can be read."""
    try:
        return Outcome(**json.loads(work.folder.read(work.folder.result)))
    except (InputError, ValueError, TypeError):
        return None


def write_outputs(work: Work, posterior: Posterior, names: Iterable[str]) -> None:
    """Write the named ones of the files that hold predictions."""
    folder, told = work.folder, work.predicting
    assert work.places is not None
    for name in names:
        if name == "predictions":
            folder.write(folder.predictions, _predictions(work, posterior, work.places).pieces())
        elif name == "filled":
            assert work.unfilled is not None
            folder.write(folder.filled, _filled(work.unfilled, work.learning.angle, posterior).pieces())
        elif name == "posterior":
            posterior.save(folder.posterior)
        elif name == "report":
            report(
                posterior,
                folder.report,
                truth=work.truth(),
                call=[Call("shell", shlex.join(work.request.command)), Call("Python", posterior.call)],
                title=told.title,
                names=None if told.label is None else list(work.places.columns[told.label]),
                notes=work.request.notes,
                probability=PROBABILITY,
                compass=told.compass,
            )


def _predictions(work: Work, posterior: Posterior, places: Sheet) -> Sheet:
    """The rows that were asked for, with the results behind."""
    lower, upper = posterior.interval(PROBABILITY).T
    columns = {
        "mean": posterior.mean,
        "variance": posterior.variance,
        "lower": lower,
        "upper": upper,
        "width": posterior.width(PROBABILITY),
    }
    written: dict[str, Any] = {name: Numbers(values, _DIGITS) for name, values in columns.items()}
    truth, told = work.truth(), work.predicting
    if truth is not None and told.observed is not None:
        if told.task == "holdout":  # of a file it stays where it is
            written[told.observed] = places.columns[told.observed]
        written["crps"] = Numbers(posterior.crps(truth), _DIGITS)
        written["crps_arc"] = Numbers(posterior.crps(truth, distance="arc"), _DIGITS)
        written["log_score"] = Numbers(posterior.log_score(truth), _DIGITS)
    return places.with_columns(written)


def _filled(unfilled: Sheet, angle: str, posterior: Posterior) -> Sheet:
    """The whole table with the predicted means in its gaps, and the arcs of those rows behind."""
    rows = [row for row, cell in enumerate(unfilled.columns["filled"]) if cell == "true"]
    means = list(Numbers(posterior.mean, _DIGITS))
    columns = {angle: list(unfilled.columns[angle]), "filled": list(unfilled.columns["filled"])}
    for row, mean in zip(rows, means, strict=True):
        columns[angle][row] = mean
        columns["filled"][row] = "true" if mean else "false"  # a distribution all round has no mean
    for name, ends in zip(("lower", "upper"), posterior.interval(PROBABILITY).T, strict=True):
        whole = np.full(len(unfilled), np.nan)
        whole[rows] = ends
        columns[name] = list(Numbers(whole, _DIGITS))
    return Sheet({**unfilled.columns, **columns})


def _scores(posterior: Posterior, truth: FloatArray) -> dict[str, float | None]:
    return {
        "crps": _finite(np.nanmean(posterior.crps(truth))),
        "crps_arc": _finite(np.nanmean(posterior.crps(truth, distance="arc"))),
        "log_score": _finite(np.nanmean(posterior.log_score(truth))),
        "coverage_50": _finite(posterior.coverage(truth, 0.5)),
        "coverage_90": _finite(posterior.coverage(truth, 0.9)),
    }


def _finite(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
