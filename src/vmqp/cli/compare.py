"""`vmqp compare`: kernels, peers and baselines on the same splits; a table in the terminal, JSON, or CSV files."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from rich.table import Table
from rich.text import Text

from vmqp.cli.checks import check_choices, check_counts, check_fast, read_noise
from vmqp.cli.errors import DONE, INTERRUPTED, UNTRUSTED, said
from vmqp.cli.options import engine_for, number_or_name, read_columns, read_engine, read_share
from vmqp.cli.output import Terminal
from vmqp.cli.request import Noise
from vmqp.comparison import Comparison, compare
from vmqp.errors import InputError
from vmqp.peers import (
    CircularNeighbours,
    Climatology,
    CosineSineGP,
    ProjectedGP,
    TanHalfRegression,
    WrappedGP,
)
from vmqp.priors import HalfNormal
from vmqp.regression import CircularRegressor
from vmqp.regression.text import kernel_from_text
from vmqp.run import Converged
from vmqp.run.files import write_whole
from vmqp.tables import choose, nearest, read_angles, read_file, read_inputs

__all__ = ["KERNELS", "Options", "run_comparison"]

KERNELS = ("exponential + nugget", "gaussian + nugget", "matern32 + nugget", "exponential")
"""The models that are compared where none is given; the last is the paper's."""
PEERS = {"wrapped": WrappedGP, "projected": ProjectedGP}
BASELINES = {
    "cosine-sine": CosineSineGP,
    "tan-half": TanHalfRegression,
    "neighbors": CircularNeighbours,
    "climatology": Climatology,
}
_FILES = ("comparison.csv", "fits.csv")
_KEPT = "fits"


@dataclass(frozen=True)
class Options:
    """The options of `vmqp compare` as they were given."""

    file: str
    angle: str
    inputs: str
    period: str
    folds: int
    test: str
    kernels: tuple[str, ...]
    peers: tuple[str, ...]
    baselines: tuple[str, ...]
    metric: str
    drift: str | None
    noise: str
    fast: bool
    transductive: bool
    seed: int
    chains: int
    warmup: int
    draws: int
    target_ess: float
    engine: str
    out: str | None
    overwrite: bool


def run_comparison(options: Options, terminal: Terminal, *, allow_unconverged: bool) -> int:
    """Read, fit, and show; what is wrong is said before the first fit."""
    check_counts(options.chains, options.warmup, options.draws, options.target_ess, options.seed)
    check_choices(options.metric, options.drift)
    check_fast(options.fast, options.transductive)
    test, engine = read_share(options.test, "--test"), read_engine(options.engine)
    frame = read_file(options.file)
    noise = read_noise(options.noise, frame)
    if noise.kind == "column":
        raise InputError(
            f"--noise {options.noise!r} is a column, which compare does not split: give learned or a number."
        )
    chosen = choose(frame, options.angle, read_columns(options.inputs), path=options.file)
    models = _models(options, noise)
    table = read_inputs(chosen.inputs, "X")
    read_angles(chosen.angles, number_or_name(options.period))
    for model in models.values():
        if getattr(model, "kernel", None) is not None:
            kernel_from_text(model.kernel, table, options.metric)
    out = None if options.out is None else Path(options.out)
    _check_out(out, options.overwrite)
    terminal.say(*chosen.dropped)
    try:
        with said():
            found = compare(
                models,
                chosen.inputs,
                chosen.angles,
                folds=options.folds,
                test=test,
                seed=options.seed,
                executor=engine_for(engine, len(chosen.angles)),
                checkpoint=None if out is None else out / _KEPT,
                progress=terminal.progress,
            )
    except KeyboardInterrupt:
        terminal.fail("stopped before the first fit was done.", INTERRUPTED)
        return INTERRUPTED
    # A table of some fits would stand in the way when the same command goes on with the rest.
    files = _write(found, out) if found.complete else {}
    code = _code(found, allow_unconverged)
    if terminal.as_json:
        terminal.print_json(
            {"exit_code": code, **_answer(found), "notes": list(chosen.dropped), "files": files}
        )
    else:
        terminal.print_table(_scores(found.table))
        terminal.print_table(_differences(found.table))
        terminal.say(*_sentences(found, kept=out is not None), *files.values())
    return code


def _models(options: Options, noise: Noise) -> dict[str, Any]:
    kernels = options.kernels or KERNELS
    settings = {"none": None, "learned": HalfNormal(50.0), "fixed": noise.value}
    _check_once("--kernel", kernels)
    _check_names("--peer", options.peers, PEERS)
    _check_names("--baseline", options.baselines, BASELINES)
    run: dict[str, Any] = {
        "period": number_or_name(options.period),
        "metric": options.metric,
        "warmup": options.warmup,
        "chains": options.chains,
        "draws": options.draws,
        "seed": options.seed,
        "until": Converged(ess=options.target_ess),
    }
    models: dict[str, Any] = {
        name: CircularRegressor(
            kernel=name,
            drift=options.drift,
            noise=settings[noise.kind],
            inference="fast" if options.fast else "bayes",
            transductive=options.transductive,
            **run,
        )
        for name in kernels
    }
    models |= {f"{name} GP": PEERS[name](**run) for name in options.peers}
    return models | {name: _baseline(name, run["period"], options.metric) for name in options.baselines}


def _baseline(name: str, period: float | str, metric: str) -> Any:
    """Only the neighbors ask for distances."""
    return BASELINES[name](period=period, **({"metric": metric} if name == "neighbors" else {}))


def _check_once(option: str, given: Sequence[str]) -> None:
    doubled = [name for name in given if given.count(name) > 1]
    if doubled:
        raise InputError(f"{option} {doubled[0]!r} was given more than once: give each once.")


def _check_names(option: str, given: Sequence[str], choices: Mapping[str, Any]) -> None:
    _check_once(option, given)
    unknown = [name for name in given if name not in choices]
    if unknown:
        raise InputError(
            f"{option} is {unknown[0]!r}: did you mean {nearest(unknown[0], choices)!r}? The choices are "
            f"{', '.join(map(repr, choices))}."
        )


def _check_out(out: Path | None, overwrite: bool) -> None:
    """Refuse a directory that cannot be written to, without a change to the disk."""
    if out is None:
        return
    there = next(path for path in (out, *out.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{out} cannot be written to: give another directory with --out.")
    taken = [name for name in _FILES if (out / name).exists()]
    if taken and not overwrite:
        raise InputError(
            f"{out} holds {taken[0]!r}: give another directory with --out, or --overwrite, "
            "which writes the tables again and keeps the fits that are done."
        )


def _write(found: Comparison, out: Path | None) -> dict[str, str]:
    if out is None:
        return {}
    texts = (found.table.rename_axis("model").to_csv(), found.fits.to_csv(index=False))
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in zip(_FILES, texts, strict=True):
            write_whole(out / name, lambda file, text=text: file.write(text.encode()))  # type: ignore[misc]
    except OSError as error:
        raise InputError(
            f"{out} cannot be written to ({error.strerror or error}): give another directory."
        ) from error
    return {name: str(out / name) for name in _FILES}


def _code(found: Comparison, allow_unconverged: bool) -> int:
    if not found.complete:
        return INTERRUPTED
    return DONE if allow_unconverged or not found.table["untrusted"].any() else UNTRUSTED


def _answer(found: Comparison) -> dict[str, Any]:
    models: Mapping[Any, Mapping[Any, Any]] = found.table.to_dict(orient="index")
    return {
        "best": found.best,
        "complete": found.complete,
        "models": {
            str(name): {str(key): value if math.isfinite(value) else None for key, value in row.items()}
            for name, row in models.items()
        },
        "failures": found.failures,
    }


def _sentences(found: Comparison, *, kept: bool) -> list[str]:
    sentences = [f"{name} could not be fitted: {reason}" for name, reason in found.failures.items()]
    if not found.complete:
        sentences.append(
            "Stopped by Ctrl-C; what is shown are the fits that were done. "
            + (
                "The same command goes on from them."
                if kept
                else "They are not kept: give --out, so that they are."
            )
        )
    bad = found.table["untrusted"]
    if bad.any():
        names = ", ".join(f"{name} ({bad[name]})" for name in bad.index[bad > 0])
        sentences.append(f"Fits whose diagnostics do not hold: {names}. Give more --draws or --warmup.")
    return sentences


def _scores(models: pd.DataFrame) -> Table:
    """Means over the splits and their standard deviations."""
    headings = ("CRPS", "arc CRPS", "log score", "in 90 % arcs", "arc width")
    table = _headed("Scores: mean and standard deviation over splits", *headings)
    for name, row in models.iterrows():
        arc, width = _digits(row["crps_arc"]), _digits(row["width"])
        table.add_row(
            Text(str(name)),
            _spread(row["crps"], row["crps_sd"], 4),
            _spread(row["crps_arc"], row["crps_arc_sd"], arc),
            _spread(row["log_score"], row["log_score_sd"], 3),
            f"{row['coverage']:.0%}",
            f"{row['width']:.{width}f}",
        )
    return table


def _differences(models: pd.DataFrame) -> Table:
    """Paired differences from the best, and how the fits went."""
    headings = ("CRPS", "arc CRPS", "log score", "R-hat", "splits", "seconds")
    table = _headed("Differences from the best: mean and standard error", *headings)
    for name, row in models.iterrows():
        arc = _digits(row["crps_arc"]) + 1  # differences are smaller
        table.add_row(
            Text(str(name)),
            _spread(row["crps_difference"], row["crps_difference_se"], 4),
            _spread(row["crps_arc_difference"], row["crps_arc_difference_se"], arc),
            _spread(row["log_score_difference"], row["log_score_difference_se"], 3),
            f"{row['rhat']:.3f}" if math.isfinite(row["rhat"]) else "–",
            f"{row['folds']:.0f}",
            f"{row['seconds']:.0f}",
        )
    return table


def _headed(title: str, *headings: str) -> Table:
    table = Table("model", box=None, pad_edge=False, title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _digits(value: float) -> int:
    """Digits after the point that show three of a positive number.

    >>> _digits(14.03), _digits(0.2449), _digits(250.0), _digits(0.0)
    (1, 3, 0, 3)
    """
    return min(max(2 - math.floor(math.log10(value)), 0), 6) if 0.0 < value < math.inf else 3


def _spread(value: float, spread: float, digits: int) -> str:
    """A mean and its spread, where they are known.

    >>> _spread(0.05631, 0.0042, 4), _spread(0.05631, float("nan"), 4), _spread(float("nan"), 1.0, 4)
    ('0.0563 ± 0.0042', '0.0563', '–')
    """
    if not math.isfinite(value):
        return "–"
    beside = f" ± {spread:.{digits}f}" if math.isfinite(spread) else ""
    return f"{value:.{digits}f}{beside}"
