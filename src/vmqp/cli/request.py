"""The request of a run: all that decides its results, and where they came from, as a JSON file.

With the files beside it, `vmqp resume` needs nothing else. A request has a part for learning, a part for predicting, or
both. It is read field by field: a file that is damaged, foreign or of another format is refused.
"""

import json
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from vmqp._version import __version__
from vmqp.errors import InputError

__all__ = ["FORMAT", "Learning", "Noise", "Predicting", "Request"]

FORMAT = 3
_PROGRAM = "vmqp"
# What may differ between two requests of the same result.
_ASIDE = {"command", "created", "version", "source", "engine", "time_limit", "title", "compass"}
# Of each kind of noise: what its value and its column are.
_KINDS: dict[str, tuple[Any, Any]] = {
    "none": (NoneType, NoneType),
    "learned": (NoneType, NoneType),
    "fixed": (float, NoneType),
    "column": (NoneType, str),
}
_WRITTEN_AS: dict[Any, Any] = {float: (int, float)}  # JSON has one kind of number
_Part = TypeVar("_Part")


@dataclass(frozen=True)
class Noise:
    """The noise of observations: "none", "learned", "fixed" with its χ, or a "column" with one for each row."""

    kind: str
    value: float | None = None
    column: str | None = None


@dataclass(frozen=True)
class Learning:
    """What is learned, from ``data.csv``.

    Parameters
    ----------
    angle
        The column of the angles.
    period
        As given: a number, or the name of a unit.
    metric, drift, kernel, inference, precision, neighbors, noise, transductive, warmup, draws, chains, seed,
    target_ess, time_limit, engine
        Of the regression; the draws are a maximum.
    data
        SHA-256 of ``data.csv``.
    rows
        Rows of the table that was given.
    """

    angle: str
    period: float | str
    metric: str
    drift: str | None
    kernel: str | None
    inference: str
    precision: str
    neighbors: int
    noise: Noise
    transductive: bool
    warmup: int
    draws: int
    chains: int
    seed: int
    target_ess: float
    time_limit: float | None
    engine: str
    data: str
    rows: int


@dataclass(frozen=True)
class Predicting:
    """What is predicted, at the rows of ``places.csv``.

    Parameters
    ----------
    task
        "at", "grid", "holdout" or "fill".
    observed
        The column with the true angles, where they are known; a cell that is no number is not known.
    noise
        The column with the known noise of each observation, if there is one.
    label
        The column that names the locations, if one does.
    parameter_draws
        Of a prediction; None leaves it to the number of locations.
    title, compass
        Of the report.
    places
        SHA-256 of ``places.csv``.
    unfilled
        SHA-256 of ``unfilled.csv``, where the gaps of a table are filled.
    """

    task: str
    observed: str | None
    noise: str | None
    label: str | None
    parameter_draws: int | None
    title: str | None
    compass: bool
    places: str
    unfilled: str | None = None


@dataclass(frozen=True)
class Request:
    """What was asked for.

    Parameters
    ----------
    inputs
        Columns of the inputs; of each whether it is a "number" or "text".
    learning, predicting
        Its parts; None for what is not asked for.
    model
        SHA-256 of ``model.nc``, where predictions are made from a model that was learned elsewhere.
    source
        The files that were given: path, rows, digest.
    notes
        Sentences for the reader, such as how many rows were dropped.
    command
        The command line.
    created, version
        When, and by which version.
    """

    inputs: dict[str, str]
    learning: Learning | None
    predicting: Predicting | None
    model: str | None
    source: dict[str, Any]
    notes: list[str]
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
            raise InputError(f"{name} is damaged ({error}): restore it, or run it again.") from error
        if not isinstance(own, dict) or own.get("program") != _PROGRAM:
            raise InputError(
                f"{name} is not a request of vmqp: give a directory that vmqp fit or vmqp predict made."
            )
        if own.get("format") != FORMAT:
            raise InputError(
                f"{name} has format {own.get('format')!r}, written by vmqp {own.get('version')!r}, but this version "
                f"reads format {FORMAT}: resume it with the version that wrote it, or run it again."
            )
        return _read(cls, own, name)

    def same_result(self, other: "Request") -> bool:
        """Whether the other request has the same results."""
        return bool(_essence(asdict(self)) == _essence(asdict(other)))


def _essence(own: Any) -> Any:
    if not isinstance(own, dict):
        return own
    return {part: _essence(value) for part, value in own.items() if part not in _ASIDE}


def _read(kind: type[_Part], own: dict[str, Any], name: str) -> _Part:
    """Make a part of a request from what JSON holds of it."""
    hints, found = get_type_hints(kind), {}
    for field in fields(kind):  # type: ignore[arg-type]  # it is a dataclass
        if field.name not in own and field.default is not MISSING:  # of a version that did not know it
            continue
        value, hint = own.get(field.name), hints[field.name]
        if field.name not in own or not _fits(value, hint) or not _makes_sense(field.name, value):
            raise InputError(f"{name} is damaged: its {field.name!r} is {value!r}; restore it.")
        parts = [part for part in (hint, *get_args(hint)) if is_dataclass(part)]
        found[field.name] = _read(parts[0], value, name) if parts and value is not None else value  # type: ignore[arg-type]
    return kind(**found)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value read from JSON is of the kind that a field holds.

    >>> _fits(3, float | None), _fits(True, int), _fits(["a", 1], list[str])
    (True, False, False)
    """
    origin = get_origin(hint)
    if origin is UnionType:
        return any(_fits(value, part) for part in get_args(hint))
    if origin is list:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if origin is dict or is_dataclass(hint):
        return isinstance(value, dict)
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, _WRITTEN_AS.get(hint, hint))


def _makes_sense(part: str, value: Any) -> bool:
    """Whether a value of the right kind is one that a field can have."""
    if part == "inputs":
        return bool(value) and all(kind in ("number", "text") for kind in value.values())
    if part == "noise" and isinstance(value, dict):
        kinds = _KINDS.get(str(value.get("kind")))
        return kinds is not None and all(
            isinstance(value.get(name), kind) for name, kind in zip(("value", "column"), kinds, strict=True)
        )
    return True
