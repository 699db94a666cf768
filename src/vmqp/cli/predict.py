"""From the options of `vmqp fit` and `vmqp predict` to a run with its data and locations; nothing is written here."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from vmqp.cli.checks import check_choices, check_counts, check_fast, read_noise
from vmqp.cli.folder import RunFolder
from vmqp.cli.options import at_least, number_or_name, read_columns, read_engine, read_seconds
from vmqp.cli.places import FILLED, Places, Truth, Where, check_names, choose_places, is_number
from vmqp.cli.request import Learning, Predicting, Request
from vmqp.cli.sheet import Sheet
from vmqp.cli.work import MOST_DRAWS, Work, affordable_draws, read_model
from vmqp.errors import InputError
from vmqp.posterior.tables import column_labels
from vmqp.regression.defaults import default_kernel
from vmqp.regression.kernel import check_columns
from vmqp.regression.places import check_constant, check_scale, first_repeat, has_nugget
from vmqp.regression.text import kernel_from_text
from vmqp.tables import (
    Chosen,
    Table,
    choose,
    complete_rows,
    digest,
    place_in_file,
    read_angles,
    read_file,
    read_inputs,
    read_new_inputs,
    read_period,
)

__all__ = ["ModelOptions", "is_model", "prepare", "prepare_from_model"]


@dataclass(frozen=True)
class ModelOptions:
    """The options that say what is learned, as they were given."""

    file: str
    angle: str | None
    inputs: str | None
    period: str
    metric: str
    drift: str | None
    noise: str
    kernel: str | None
    fast: bool
    precision: str
    neighbors: int
    transductive: bool
    seed: int
    chains: int
    warmup: int
    draws: int | None
    target_ess: float
    time_limit: str | None
    engine: str


@dataclass(frozen=True, eq=False)
class _Gaps:
    """The rows of a table that are filled: their inputs are complete, and their angle is blank."""

    rows: NDArray[np.intp]
    frame: pd.DataFrame
    note: str


def is_model(file: str) -> bool:
    """Whether the first argument of `vmqp predict` is a model: a directory, or a NetCDF file.

    >>> is_model("stations.csv"), is_model("model/model.nc")
    (False, True)
    """
    return Path(file).is_dir() or Path(file).suffix == ".nc"


def prepare(options: ModelOptions, where: Where | None, out: str, command: list[str]) -> Work:
    """Read and check all that was given; an error comes before anything is written.

    Without `where` the run learns and predicts nothing.
    """
    check_counts(options.chains, options.warmup, options.draws, options.target_ess, options.seed)
    check_choices(options.metric, options.drift, options.precision)
    at_least(options.neighbors, 1, "--neighbors", "it is a number of locations")
    _check_parameter_draws(where, transductive=options.transductive)
    check_fast(options.fast, options.transductive)
    time_limit = None if options.time_limit is None else read_seconds(options.time_limit)
    engine = read_engine(options.engine)
    angle, inputs = _columns(options)
    if where is not None:
        where.check_one(table=True)
    frame = read_file(options.file)
    noise = read_noise(options.noise, frame)
    columns = [*inputs, noise.column] if noise.column and noise.column not in inputs else inputs
    chosen = choose(frame, angle, columns, path=options.file)
    check_names(inputs)
    gaps = None
    if where is not None and where.fill:
        gaps = _gaps(frame, angle, inputs, noise.column, options.file)
    places = None if where is None else _places(options, where, frame, chosen, angle, inputs, columns, gaps)
    learned = slice(None) if places is None else places.learned
    data = chosen.inputs.iloc[learned].reset_index(drop=True)
    data[angle] = chosen.angles[learned]
    sheet = Sheet.of(data)
    n, m = len(data), 0 if places is None or not options.transductive else len(places.frame)
    affordable = affordable_draws(n, m, options.chains, latent=noise.kind != "none")
    learning = Learning(
        angle=angle,
        period=number_or_name(options.period),
        metric=options.metric,
        drift=options.drift,
        kernel=options.kernel,
        inference="fast" if options.fast else "bayes",
        precision=options.precision,
        neighbors=options.neighbors,
        noise=noise,
        transductive=options.transductive,
        warmup=options.warmup,
        draws=min(MOST_DRAWS, affordable) if options.draws is None else options.draws,
        chains=options.chains,
        seed=options.seed,
        target_ess=options.target_ess,
        time_limit=time_limit,
        engine=engine,
        data=sheet.digest(),
        rows=len(frame),
    )
    kinds = {name: "number" if is_number(data[name]) else "text" for name in inputs}
    given = {"file": options.file, "rows": len(frame), "digest": digest(frame)}
    unfilled = None if gaps is None else _unfilled(frame, gaps)
    work = _work(out, command, kinds, {"data": given}, places, where, noise.column, sheet, learning, unfilled)
    # Rows without an angle, of which the first sentence tells, are filled and not dropped.
    work.request.notes[:0] = chosen.dropped if gaps is None else (*chosen.dropped[1:], gaps.note)
    _check_sources(work.folder, {"the table": options.file, "--at": None if where is None else where.at})
    _check_data(work, _Lines(options, where, chosen, places, len(frame)))
    return work


def prepare_from_model(file: str, angle: str | None, where: Where, out: str, command: list[str]) -> Work:
    """The same for predictions from a model that was learned before; `angle` is the column of true angles, if given."""
    _check_parameter_draws(where, transductive=False)
    if where.holdout is not None:
        raise InputError(
            f"--holdout was given with the model {file}, but which rows are held out is decided before learning: give "
            "the table, as in vmqp predict stations.csv --holdout 0.2."
        )
    if where.fill:
        raise InputError(
            f"--fill was given with the model {file}, but the gaps are those of the table that is learned from: give "
            "the table, as in vmqp predict stations.csv --fill, or the rows without an angle with --at."
        )
    where.check_one(table=False)
    if angle is not None and where.at is None:
        raise InputError(
            f"--angle was given with the model {file}, where it names the true angles in the file of --at: leave it "
            "out, or give the table in place of the model."
        )
    path, column, learned = _model_file(Path(file))
    model = read_model(path)
    table = model.data_.table
    names = column_labels(table.names, table.values.shape[1])
    check_names(names)
    observed = _as_frame(table, names)
    if angle in names:
        raise InputError(f"--angle is {angle!r}, which is an input of the model {file}: name another column.")
    truth = None
    if angle is not None or learned is not None:
        truth = Truth(angle or str(learned), model.data_.range.period, needed=angle is not None)
    places = choose_places(where, observed, names, truth=truth)
    kinds = {name: "number" if is_number(observed[name]) else "text" for name in names}
    source = {"model": {"file": str(path)}}
    work = _work(out, command, kinds, source, places, where, column, model=path)
    _check_sources(work.folder, {"the model": str(path), "--at": where.at})
    return work


def _check_parameter_draws(where: Where | None, *, transductive: bool) -> None:
    if where is None or where.parameter_draws is None:
        return
    at_least(where.parameter_draws, 1, "--parameter-draws", "a prediction is a mean over parameter draws")
    if transductive:
        raise InputError(
            "--parameter-draws was given with --transductive, where every draw of the parameters has angles of its "
            "own: leave one of them out."
        )


def _columns(options: ModelOptions) -> tuple[str, list[str]]:
    """The columns of a table, which must be named."""
    for option, value, example in (
        ("--angle", options.angle, "dir"),
        ("--inputs", options.inputs, "lon,lat"),
    ):
        if value is None:
            raise InputError(
                f"{option} is missing: name the columns of {options.file}, as in {option} {example}."
            )
    assert options.angle is not None
    assert options.inputs is not None
    return options.angle, read_columns(options.inputs)


def _places(
    options: ModelOptions,
    where: Where,
    frame: pd.DataFrame,
    chosen: Chosen,
    angle: str,
    inputs: list[str],
    columns: list[str],
    gaps: _Gaps | None,
) -> Places:
    # All columns of the rows that are used, so that held-out stations keep their names.
    used = frame.iloc[chosen.kept].reset_index(drop=True)
    used[columns] = chosen.inputs[columns]
    return choose_places(
        where,
        used.drop(columns=angle),
        inputs,
        truth=Truth(angle, read_period(number_or_name(options.period))[0]),
        angles=list(chosen.angles),
        gaps=None if gaps is None else gaps.frame,
        seed=options.seed,
    )


def _gaps(frame: pd.DataFrame, angle: str, inputs: list[str], noise: str | None, path: str) -> _Gaps:
    """The rows to fill, with all columns but that of the angle."""
    for name in FILLED:
        if name in frame.columns:
            raise InputError(
                f"{path} has a column {name!r}, which the filled table adds: rename it in the file."
            )
    blank = np.setdiff1d(np.arange(len(frame)), complete_rows(frame, [angle], path=path).kept)
    if not len(blank):
        raise InputError(
            f"--fill was given, but no {angle!r} is blank in {path}: give --at, --grid or --holdout to say what is "
            "predicted."
        )
    complete = complete_rows(frame, inputs, path=path)
    rows, taken, _ = np.intersect1d(complete.kept, blank, return_indices=True)
    if not len(rows):
        raise InputError(
            f"--fill was given, but of the {len(blank)} rows of {path} without {angle!r} none has all of "
            f"{', '.join(inputs)}: give the missing inputs, or other --inputs."
        )
    found = frame.iloc[rows].reset_index(drop=True).drop(columns=angle)
    found[inputs] = complete.frame[inputs].iloc[taken].reset_index(drop=True)
    if noise is not None and found[noise].isna().any():
        found = found.drop(columns=noise)
    left = len(blank) - len(rows)
    more = f"; in {left} more an input is blank, so that it stays blank" if left else ""
    return _Gaps(rows, found, f"{angle!r} is filled in {len(rows)} of {len(frame)} rows{more}.")


def _unfilled(frame: pd.DataFrame, gaps: _Gaps) -> Sheet:
    filled = np.full(len(frame), "false", dtype=object)
    filled[gaps.rows] = "true"
    return Sheet.of(frame.assign(filled=filled))


def _model_file(given: Path) -> tuple[Path, str | None, str | None]:
    """The file of a model, and the columns of its noise and of its angles, if its directory tells of them."""
    if not given.is_dir():
        return given, None, None
    folder = RunFolder(given)
    if not folder.request.exists():
        if folder.model.exists():
            return folder.model, None, None
        raise InputError(
            f"{given} has no model.nc: give a directory that vmqp fit made, a model.nc, or a table."
        )
    request = folder.read_request()
    if request.learning is not None and request.learning.transductive:
        raise InputError(
            f"{given} was made with --transductive, which learns together with the locations that it predicts, so it "
            "has no model for others: run vmqp fit on the table."
        )
    if not folder.model.exists():
        raise InputError(f"{given} has no model.nc yet: vmqp resume {given} goes on with learning.")
    if request.learning is not None:
        return folder.model, request.learning.noise.column, request.learning.angle
    told = request.predicting
    return folder.model, None if told is None else told.noise, None if told is None else told.observed


def _as_frame(table: Table, names: list[str]) -> pd.DataFrame:
    """The observed locations of a model."""
    columns: dict[str, Any] = {}
    for i, name in enumerate(names):
        values = table.values[:, i]
        known = table.categories.get(i)
        columns[name] = values if known is None else [known[int(code)] for code in values]
    return pd.DataFrame(columns)


def _work(
    out: str,
    command: list[str],
    kinds: Mapping[str, str],
    source: dict[str, Any],
    places: Places | None,
    where: Where | None,
    noise: str | None,
    data: Sheet | None = None,
    learning: Learning | None = None,
    unfilled: Sheet | None = None,
    model: Path | None = None,
) -> Work:
    """Put a run together."""
    folder, sheet, predicting = RunFolder(Path(out)), None, None
    notes: list[str] = []
    if places is not None and where is not None:
        sheet = Sheet.of(places.frame)
        predicting = Predicting(
            task=places.task,
            observed=places.observed,
            noise=noise if noise in places.frame.columns else None,
            label=_label(places, kinds),
            parameter_draws=where.parameter_draws,
            title=where.title,
            compass=where.compass,
            places=sheet.digest(),
            unfilled=None if unfilled is None else unfilled.digest(),
        )
        notes = _notes(places, noise, 0 if data is None else len(data))
        source |= {"places": places.source} if places.source else {}
    request = Request(
        inputs=dict(kinds),
        learning=learning,
        predicting=predicting,
        model=None if model is None else folder.digest(model),
        source=source,
        notes=notes,
        command=command,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return Work(folder, request, data, sheet, model, unfilled)


@dataclass(frozen=True, eq=False)
class _Lines:
    """Where rows of the data and of the locations stand in the files that were given."""

    options: ModelOptions
    where: Where | None
    chosen: Chosen
    places: Places | None
    rows: int

    def name(self, row: str) -> str:
        """Translate "row 3 of X" and "row 2 of X_new"."""
        _, number, _, table = row.split()
        if table == "X" or self.where is None:
            learned = int(number) if self.places is None else self.places.learned[int(number)]
            return place_in_file(self.options.file, int(self.chosen.kept[learned]), self.rows)
        if self.where.at is not None:
            return f"row {int(number) + 1} of the locations in {Path(self.where.at).name}"
        which = (
            "the grid"
            if self.where.grid
            else "those to fill"
            if self.where.fill
            else "the held-out locations"
        )
        return f"row {int(number) + 1} of {which}"


def _label(places: Places, inputs: Mapping[str, str]) -> str | None:
    """The first column of text in which every location has a name of its own."""
    for name in places.frame.columns:
        column = places.frame[name]
        is_text = pd.api.types.is_string_dtype(column.dtype) or column.dtype == object
        if name not in (*inputs, places.observed) and is_text and column.notna().all() and column.is_unique:
            return str(name)
    return None


def _notes(places: Places, noise: str | None, n: int) -> list[str]:
    notes = [*places.notes]
    if places.task == "holdout":
        total = n + len(places.frame)
        notes.append(
            f"{len(places.frame)} of {total} rows were held out at random; the model has not seen their angles."
        )
    if noise is not None and noise not in places.frame.columns:
        notes.append(
            f"The noise {noise!r} of the locations is not known, so predictions are of the process without noise."
        )
    return notes


def _check_sources(folder: RunFolder, given: Mapping[str, str | None]) -> None:
    """A run must not replace the file that it is made from."""
    for what, file in given.items():
        if file is not None and folder.owns(Path(file)):
            raise InputError(
                f"{what} {file} is a file of the run in {folder.path} itself, and would be replaced: copy it "
                "elsewhere, or give another directory with --out."
            )


def _check_data(work: Work, lines: _Lines) -> None:
    """Find what the model would refuse, in the words of the files that were given, before it learns."""
    X, y = work.observed()
    asked, table = work.learning, read_inputs(X, "X")
    read_angles(y, asked.period, count=len(table.values))
    new = table if work.places is None else read_new_inputs(work.new(), table, "the locations")
    check_constant(table, table)
    check_scale(table, new)
    exact = asked.noise.kind == "none"
    kernel = (
        default_kernel(table, metric=asked.metric, nugget=exact)
        if asked.kernel is None
        else kernel_from_text(asked.kernel, table, asked.metric)
    )
    check_columns(kernel, table, new)
    if has_nugget(kernel) or not exact:
        return
    repeats = first_repeat(table, new if asked.transductive and work.places is not None else None)
    if repeats is not None:
        first, second = map(lines.name, repeats)
        raise InputError(
            f"{first} and {second} are the same location, and the model has neither noise nor nugget: give "
            f'--noise learned, or --kernel "{asked.kernel} + nugget", or drop one of the rows.'
        )
