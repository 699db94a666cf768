"""The request of a run: all that decides its draws, and where they came from, as a JSON file.

With ``data.csv`` and ``places.csv`` beside it, `vmqp resume` needs nothing else. It is read field by field: a file that
is damaged, foreign or of another format is refused.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

from vmqp._version import __version__
from vmqp.errors import InputError

__all__ = ["FORMAT", "Noise", "Request"]

FORMAT = 1
_PROGRAM = "vmqp"
_REMEDY = "give a directory that vmqp predict made"
# What may differ between two requests of the same result.
_ASIDE = ("command", "created", "version", "source", "given", "engine", "time_limit", "title", "compass")


@dataclass(frozen=True)
class Noise:
    """The noise of observations: "none", "learned", "fixed" with its χ, or a "column" with one for each row."""

    kind: str
    value: float | None = None
    column: str | None = None


@dataclass(frozen=True)
class Request:
    """What was asked for, resolved: no option is left to be decided, but those that do not change the draws.

    Parameters
    ----------
    angle, inputs
        Columns of ``data.csv``; of each input whether it is a "number" or "text".
    period
        As given: a number, or the name of a unit.
    metric, drift, kernel, precision, neighbors, noise, warmup, draws, chains, seed, target_ess, time_limit, engine,
    memory
        Of the regression; the draws are a maximum.
    task
        "at", "grid" or "holdout".
    observed
        The column of ``places.csv`` with the true angles, where they are known.
    label
        The column of ``places.csv`` that names the places, if one does.
    title, compass
        Of the report.
    data, places
        SHA-256 of the two files.
    source
        The files that were given: path, rows, digest.
    notes
        Sentences for the reader, such as how many rows were dropped.
    given
        All options as they were given.
    command
        The command line.
    created, version
        When, and by which version.
    """

    angle: str
    inputs: dict[str, str]
    period: float | str
    metric: str
    drift: str
    kernel: str | None
    precision: str
    neighbors: int
    memory: float | None
    noise: Noise
    warmup: int
    draws: int
    chains: int
    seed: int
    target_ess: float
    time_limit: float | None
    engine: str
    task: str
    observed: str | None
    label: str | None
    title: str | None
    compass: bool
    data: str
    places: str
    source: dict[str, Any]
    notes: list[str]
    given: dict[str, Any]
    command: list[str]
    created: str
    version: str = __version__

    def to_text(self) -> str:
        """Write as JSON."""
        own = {"program": _PROGRAM, "format": FORMAT, **asdict(self)}
        return json.dumps(own, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_text(cls, text: str, name: str) -> "Request":
        """Read what `to_text` wrote; `name` is the file's, for messages."""
        try:
            own = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{name} is damaged ({error}): restore it, or run vmqp predict again."
            ) from error
        if not isinstance(own, dict) or own.get("program") != _PROGRAM:
            raise InputError(f"{name} is not a request of vmqp: {_REMEDY}.")
        if own.get("format") != FORMAT:
            raise InputError(
                f"{name} has format {own.get('format')!r}, written by vmqp {own.get('version')!r}, but vmqp "
                f"{__version__} reads format {FORMAT}: resume it with the version that wrote it."
            )
        own = _LATER | own
        for part in _TYPES:
            if part not in own or not _fits(part, own[part]):
                raise InputError(f"{name} is damaged: its {part!r} is {own.get(part)!r}; restore it.")
        noise = Noise(**own["noise"])
        return cls(**{part: own[part] for part in _TYPES if part != "noise"}, noise=noise)

    def same_result(self, other: "Request") -> bool:
        """Whether the other request has the same results."""
        mine, theirs = asdict(self), asdict(other)
        return all(mine[part] == theirs[part] for part in mine if part not in _ASIDE)


_LATER: dict[str, Any] = {
    "precision": "auto",
    "neighbors": 20,
    "memory": None,
}  # what older requests do not have
_NUMBER = (int, float)
_NOTHING = type(None)
_TYPES: dict[str, tuple[type, ...]] = {
    "angle": (str,),
    "inputs": (dict,),
    "period": (*_NUMBER, str),
    "metric": (str,),
    "drift": (str,),
    "kernel": (str, _NOTHING),
    "precision": (str,),
    "neighbors": (int,),
    "memory": (*_NUMBER, _NOTHING),
    "noise": (dict,),
    "warmup": (int,),
    "draws": (int,),
    "chains": (int,),
    "seed": (int,),
    "target_ess": _NUMBER,
    "time_limit": (*_NUMBER, _NOTHING),
    "engine": (str,),
    "task": (str,),
    "observed": (str, _NOTHING),
    "label": (str, _NOTHING),
    "title": (str, _NOTHING),
    "compass": (bool,),
    "data": (str,),
    "places": (str,),
    "source": (dict,),
    "notes": (list,),
    "given": (dict,),
    "command": (list,),
    "created": (str,),
    "version": (str,),
}


def _fits(part: str, value: Any) -> bool:
    """Whether a value read from JSON is what a field holds."""
    kinds: Any = _TYPES[part]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return False
    if part == "inputs":
        return bool(value) and all(kind in ("number", "text") for kind in value.values())
    if part == "source":
        data = value.get("data")
        return isinstance(data, dict) and isinstance(data.get("rows"), int)
    if part == "noise":
        return value.keys() == {"kind", "value", "column"} and (
            value["kind"] in ("none", "learned")
            or (value["kind"] == "fixed" and isinstance(value["value"], float))
            or (value["kind"] == "column" and isinstance(value["column"], str))
        )
    return part not in ("notes", "command") or all(isinstance(item, str) for item in value)
