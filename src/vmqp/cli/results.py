"""What a run leaves for its reader: predictions, draws, report, and the verdict as a small JSON file."""

import json
import math
import shlex
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vmqp._version import __version__
from vmqp.circle import FloatArray
from vmqp.cli.sheet import Sheet
from vmqp.cli.work import Work
from vmqp.errors import InputError
from vmqp.posterior import Posterior
from vmqp.report import Call, report

__all__ = ["Outcome", "read_outcome", "summarise", "write_missing", "write_outputs"]

PROBABILITY = 0.9


@dataclass(frozen=True)
class Outcome:
    """A run in a few numbers, as ``result.json`` and ``--json`` hold them; what is not finite is None."""

    trusted: bool
    verdict: list[str]
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
    files: dict[str, str]
    seconds: float
    version: str

    def to_text(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def summarise(work: Work, posterior: Posterior, target_ess: float) -> Outcome:
    """Gather the verdict, the parameters, the scores and where they came from."""
    verdict = posterior.verdict()
    table = posterior.summary(PROBABILITY)
    columns = [name for name in table.columns if name != "meaning"]
    parameters = {
        str(name): {
            **{column: _finite(table.at[name, column]) for column in columns},
            "meaning": table.at[name, "meaning"],
        }
        for name in table.index
    }
    diagnostics = posterior.diagnostics()
    worst = {}
    for column, extreme in (("rhat", diagnostics["rhat"].max()), ("ess", diagnostics["ess"].min())):
        where = diagnostics.index[(diagnostics[column] == extreme).to_numpy()]
        worst[column] = {"value": _finite(extreme), "of": str(where[0]) if len(where) else None}
    attributes = posterior.attributes
    chains, draws = (
        posterior.to_datatree()["posterior"].sizes["chain"],
        posterior.to_datatree()["posterior"].sizes["draw"],
    )
    return Outcome(
        trusted=verdict.trusted,
        verdict=list(verdict.sentences),
        stopped=posterior.stopped,
        chains=int(chains),
        draws=int(draws),
        target_ess=target_ess,
        parameters=parameters,
        worst=worst,
        scores=_scores(posterior, work.truth()),
        rows={
            "read": work.request.source["data"]["rows"],
            "used": len(work.data),
            "predicted": len(work.places),
        },
        notes=list(work.request.notes),
        model={name: str(attributes[name]) for name in ("kernel", "drift", "noise") if name in attributes},
        files={name: str(path) for name, path in work.folder.outputs.items()},
        seconds=round(float(attributes.get("sampling_time", 0.0)), 3),
        version=__version__,
    )


def write_outputs(work: Work, posterior: Posterior, outcome: Outcome) -> None:
    """Write all files; the verdict comes last, so that where it is the others are."""
    _write(work, posterior, work.folder.outputs)
    work.folder.write(work.folder.result, outcome.to_text())


def write_missing(work: Work, posterior: Posterior) -> list[str]:
    """Write the files of a finished run that are gone; return their names."""
    missing = [name for name, path in work.folder.outputs.items() if not path.exists()]
    _write(work, posterior, missing)
    return missing


def read_outcome(work: Work) -> Outcome | None:
    """Read the verdict of a finished run; None where there is none that can be read."""
    try:
        return Outcome(**json.loads(work.folder.read(work.folder.result)))
    except (InputError, ValueError, TypeError):
        return None


def _write(work: Work, posterior: Posterior, names: Iterable[str]) -> None:
    folder, request = work.folder, work.request
    for name in names:
        if name == "predictions":
            folder.write(folder.predictions, _predictions(work, posterior).text())
        elif name == "posterior":
            posterior.save(folder.posterior)
        else:
            report(
                posterior,
                folder.report,
                truth=work.truth(),
                call=[Call("shell", shlex.join(request.command)), Call("Python", posterior.call)],
                title=request.title,
                names=None if request.label is None else list(work.places.columns[request.label]),
                notes=request.notes,
                probability=PROBABILITY,
                compass=request.compass,
            )


def _predictions(work: Work, posterior: Posterior) -> Sheet:
    """The rows that were asked for, with the results behind."""
    lower, upper = posterior.interval(PROBABILITY).T
    columns = {
        "mean": posterior.mean,
        "variance": posterior.variance,
        "lower": lower,
        "upper": upper,
        "width": posterior.width(PROBABILITY),
    }
    written = {name: _numbers(values) for name, values in columns.items()}
    truth = work.truth()
    if truth is not None and work.request.observed is not None:
        written[work.request.observed] = list(work.places.columns[work.request.observed])
        written["crps"] = _numbers(posterior.crps(truth))
        written["crps_arc"] = _numbers(posterior.crps(truth, distance="arc"))
        written["log_score"] = _numbers(posterior.log_score(truth))
    return work.places.with_columns(written)


def _numbers(values: FloatArray) -> list[str]:
    """Ten digits: more would only show rounding."""
    return [
        "" if math.isnan(value) else f"{value:.10g}" for value in np.asarray(values, dtype=float).tolist()
    ]


def _scores(posterior: Posterior, truth: FloatArray | None) -> dict[str, float | None] | None:
    if truth is None:
        return None
    return {
        "crps": _finite(posterior.crps(truth).mean()),
        "crps_arc": _finite(posterior.crps(truth, distance="arc").mean()),
        "log_score": _finite(posterior.log_score(truth).mean()),
        "coverage_50": _finite(posterior.coverage(truth, 0.5)),
        "coverage_90": _finite(posterior.coverage(truth, 0.9)),
    }


def _finite(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
