"""From the options of `vmqp predict` to a request with its data and places; nothing is written here."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from vmqp.cli.checks import check_choices, check_counts, read_noise
from vmqp.cli.folder import RunFolder
from vmqp.cli.options import number_or_name, read_columns, read_engine, read_seconds
from vmqp.cli.places import Places, choose_places, is_number
from vmqp.cli.request import Noise, Request
from vmqp.cli.sheet import Sheet
from vmqp.cli.work import MOST_DRAWS, Work, affordable_draws, map_draws
from vmqp.errors import InputError
from vmqp.maps.memory import USUAL, read_memory
from vmqp.regression.places import check_constant, first_repeat, has_nugget
from vmqp.regression.stages import read_sizes
from vmqp.regression.text import kernel_from_text
from vmqp.tables import choose, digest, place_in_file, read_file, read_new_inputs

__all__ = ["Options", "prepare"]

_OBSERVED = "observed"


@dataclass(frozen=True)
class Options:
    """The options of `vmqp predict` as they were given."""

    file: str
    angle: str
    inputs: str
    period: str
    at: str | None
    grid: str | None
    holdout: str | None
    out: str
    metric: str
    drift: str
    noise: str
    kernel: str | None
    precision: str
    neighbors: int
    seed: int
    chains: int
    warmup: int
    draws: int | None
    target_ess: float
    time_limit: str | None
    engine: str
    memory: str | None
    title: str | None
    compass: bool


def prepare(options: Options, command: list[str]) -> Work:
    """Read and check all that was given; an error comes before anything is written."""
    check_counts(options.chains, options.warmup, options.draws, options.target_ess, options.seed)
    check_choices(options.metric, options.drift, options.precision)
    time_limit = None if options.time_limit is None else read_seconds(options.time_limit)
    engine = read_engine(options.engine)
    memory = None if options.memory is None else read_memory(options.memory)
    inputs = read_columns(options.inputs)
    frame = read_file(options.file)
    noise = read_noise(options.noise, frame)
    columns = [*inputs, noise.column] if noise.column and noise.column not in inputs else inputs
    chosen = choose(frame, options.angle, columns, path=options.file)
    # All columns of the rows that are used, so that held-out stations keep their names.
    used = frame.iloc[chosen.kept].reset_index(drop=True)
    used[columns] = chosen.inputs[columns]
    places = choose_places(
        used.drop(columns=options.angle),
        inputs,
        list(chosen.angles),
        at=options.at,
        grid=options.grid,
        holdout=options.holdout,
        seed=options.seed,
    )
    data = chosen.inputs.iloc[places.learned].reset_index(drop=True)
    data[options.angle] = chosen.angles[places.learned]
    data_sheet, places_sheet = Sheet.of(data), Sheet.of(places.frame)
    n, m = len(data), len(places.frame)
    sizes = read_sizes(
        n, m, {"precision": options.precision, "neighbors": options.neighbors, "stages": "auto"}
    )
    draws = options.draws
    if sizes.two_stages and options.drift == "constant":
        raise InputError(
            f"--drift constant was given for a map of {m:,} places, but a map in two stages needs --drift mean: "
            "under a constant drift the pull grows with the number of places. Leave it out, or ask for a coarser grid."
        )
    if sizes.two_stages:
        fits = map_draws(n, m, options.neighbors, options.chains, memory, noisy=noise.kind != "none")
        if draws is not None and draws > fits:
            raise InputError(
                f"--draws {draws} of {m:,} places do not fit the memory: give at most {fits}, or a larger --memory."
            )
        draws = min(USUAL, fits) if draws is None else draws
    elif draws is None:
        affordable = affordable_draws(n, m, options.chains, latent=noise.kind != "none")
        draws = min(MOST_DRAWS, affordable)
    request = Request(
        angle=options.angle,
        inputs={name: "number" if is_number(data[name]) else "text" for name in inputs},
        period=number_or_name(options.period),
        metric=options.metric,
        drift=_drift(options.drift, n, m, map_=sizes.two_stages),
        kernel=options.kernel,
        precision=options.precision,
        neighbors=options.neighbors,
        memory=memory,
        noise=noise,
        warmup=options.warmup,
        draws=draws,
        chains=options.chains,
        seed=options.seed,
        target_ess=options.target_ess,
        time_limit=time_limit,
        engine=engine,
        task=places.task,
        observed=_OBSERVED if places.task == "holdout" else None,
        label=_label(places, inputs),
        title=options.title,
        compass=options.compass,
        data=data_sheet.digest(),
        places=places_sheet.digest(),
        source=_source(options, frame, places),
        notes=_notes(chosen.dropped, places, noise, len(data)),
        given=asdict(options),
        command=command,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    work = Work(RunFolder(Path(options.out)), request, data_sheet, places_sheet)
    _check_sources(options, work.folder)
    _check_model(work, Lines(options, chosen.kept, places, len(frame)))
    return work


@dataclass(frozen=True, eq=False)
class Lines:
    """Where rows of the data and of the places stand in the files that were given."""

    options: Options
    kept: Any
    places: Places
    rows: int

    def name(self, row: str) -> str:
        """Translate "row 3 of X" and "row 2 of X_new"."""
        _, number, _, table = row.split()
        if table == "X":
            original = int(self.kept[self.places.learned[int(number)]])
            return place_in_file(self.options.file, original, self.rows)
        if self.options.at is not None:
            return f"row {int(number) + 1} of the places in {Path(self.options.at).name}"
        return f"row {int(number) + 1} of {'the grid' if self.options.grid else 'the held-out places'}"


def _drift(given: str, n: int, m: int, *, map_: bool) -> str:
    """A constant pull adds up over many places and drags them all to one direction: maps take the other."""
    return ("constant" if m <= n and not map_ else "mean") if given == "auto" else given


def _label(places: Places, inputs: list[str]) -> str | None:
    """The first column of text in which every place has a name of its own."""
    for name in places.frame.columns:
        column = places.frame[name]
        is_text = pd.api.types.is_string_dtype(column.dtype) or column.dtype == object
        if name not in inputs and is_text and column.notna().all() and column.is_unique:
            return str(name)
    return None


def _source(options: Options, frame: pd.DataFrame, places: Places) -> dict[str, Any]:
    data = {"file": options.file, "rows": len(frame), "digest": digest(frame)}
    return {"data": data, "places": places.source} if places.source else {"data": data}


def _notes(dropped: tuple[str, ...], places: Places, noise: Noise, n: int) -> list[str]:
    notes = [*dropped, *places.notes]
    if places.task == "holdout":
        total = n + len(places.frame)
        notes.append(
            f"{len(places.frame)} of {total} rows were held out at random; the model has not seen their angles."
        )
    if noise.column and noise.column not in places.frame.columns:
        notes.append(
            f"The places have no column {noise.column!r}, so predictions are of the process without noise."
        )
    return notes


def _check_sources(options: Options, folder: RunFolder) -> None:
    """A run must not replace the file that it is made from."""
    for option, given in (("the table", options.file), ("--at", options.at)):
        if given is not None and folder.owns(Path(given)):
            raise InputError(
                f"{option} {given} is a file of the run in {folder.path} itself, and would be replaced: copy it "
                "elsewhere, or give another directory with --out."
            )


def _check_model(work: Work, lines: Lines) -> None:
    """Find what the model would refuse, in the words of the files that were given."""
    regressor = work.regressor()
    X, y, X_new = work.arrays()
    table = regressor.fit(X, y).data_.table
    new = read_new_inputs(X_new, table, "the places")
    check_constant(table, new)
    given = work.request.kernel
    if given is None:
        return
    kernel = kernel_from_text(given, table, work.request.metric)
    told_apart = has_nugget(kernel) or work.request.noise.kind != "none"
    repeats = None if told_apart else first_repeat(table, new)
    if repeats is not None:
        first, second = map(lines.name, repeats)
        raise InputError(
            f"{first} and {second} are the same place, and the model has neither noise nor nugget: give "
            f'--noise learned, or --kernel "{given} + nugget", or drop one of the rows.'
        )
