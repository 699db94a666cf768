"""The commands. What they need is imported when they run: ``vmqp --help`` loads nothing heavy."""

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from vmqp._version import __version__
from vmqp.cli import arguments as a
from vmqp.cli.data_app import data
from vmqp.errors import InputError, VmqpError

__all__ = ["app", "main"]

# The parser's own errors: older releases of typer take them from click, newer ones bring them along.
_UsageError: Any = typer.BadParameter.__mro__[1]
_ClickException: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="vmqp",
    epilog="Example: vmqp predict stations.csv --angle dir --inputs lon,lat --period 360 --holdout 0.2",
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    >>> main(["--version"])
    vmqp ...
    0
    """
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    for stream in (sys.stdout, sys.stderr):  # a terminal without Greek letters shows a question mark for them
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        return int(app(given, prog_name="vmqp", standalone_mode=False, obj=given) or 0)
    except _ClickException as error:
        message = str(error.format_message()).rstrip(".")
        message += "" if message.endswith("?") else "."
        if isinstance(error, _UsageError) and getattr(error, "ctx", None) is not None:
            message += f" See {error.ctx.command_path} --help."
        return _fail(message, given)
    except VmqpError as error:
        return _fail(str(error), given)


def _fail(message: str, given: Sequence[str]) -> int:
    from vmqp.cli.errors import WRONG, in_shell_words
    from vmqp.cli.output import Terminal

    Terminal(as_json="--json" in given, quiet=False).fail(in_shell_words(message), WRONG)
    return WRONG


def _version(wanted: bool) -> None:
    if wanted:
        print(f"vmqp {__version__}")
        raise typer.Exit


@app.callback()
def _vmqp(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Bayesian regression for angles: wind directions, headings, phases of a cycle, times of day."""


@app.command(
    epilog="Example: vmqp fit stations.csv --angle dir --inputs lon,lat --period 360 --metric geographic --out model/"
)
def fit(
    context: typer.Context,
    file: a.File,
    angle: a.Angle,
    inputs: a.Inputs,
    period: a.Period = "radians",
    metric: a.Metric = "euclidean",
    drift: a.Drift = None,
    noise: a.Noise = "none",
    kernel: a.KernelText = None,
    fast: a.Fast = False,
    precision: a.Precision = "auto",
    neighbors: a.Neighbors = 20,
    seed: a.Seed = 0,
    chains: a.Chains = 4,
    warmup: a.Warmup = 1000,
    draws: a.Draws = None,
    target_ess: a.TargetEss = 400,
    time_limit: a.TimeLimit = None,
    engine: a.Engine = "auto",
    allow_unconverged: a.AllowUnconverged = False,
    out: Annotated[
        str | None,
        typer.Option(
            help="Directory of the model; if not given, it is named after the table: stations-model for stations.csv.",
            metavar="DIR",
            rich_help_panel=a.OUTPUT,
        ),
    ] = None,
    overwrite: a.Overwrite = False,
    json: a.Json = False,
    quiet: a.Quiet = False,
) -> int:
    """Learn a model from a table of locations and angles; vmqp predict then takes it.

    Chains run until the diagnostics hold or a limit comes, and model.nc is written either way.

    The exit code is 0 if the model can be trusted, 3 if not yet, 2 if something given is wrong, 130 after Ctrl-C.
    """
    began = time.monotonic()
    from vmqp.cli.carry_out import begin
    from vmqp.cli.output import Terminal
    from vmqp.cli.predict import ModelOptions, prepare

    options = ModelOptions(
        file=file,
        angle=angle,
        inputs=inputs,
        period=period,
        metric=metric,
        drift=drift,
        noise=noise,
        kernel=kernel,
        fast=fast,
        precision=precision,
        neighbors=neighbors,
        transductive=False,
        seed=seed,
        chains=chains,
        warmup=warmup,
        draws=draws,
        target_ess=target_ess,
        time_limit=time_limit,
        engine=engine,
    )
    work = prepare(options, None, out or _default_folder(file, "model"), _command(context))
    terminal = Terminal(as_json=json, quiet=quiet)
    return begin(work, terminal, overwrite=overwrite, allow_unconverged=allow_unconverged, began=began)


@app.command(
    epilog="Examples: vmqp predict model/ --grid 1000x1000 --out map/, or vmqp predict stations.csv --angle dir "
    "--inputs lon,lat --period 360 --metric geographic --grid 30x20 --out run/"
)
def predict(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            help="A model, as the directory that vmqp fit made or a model.nc, or a table: .csv, .tsv, .txt (also "
            ".gz), or .parquet.",
            metavar="MODEL|FILE",
            show_default=False,
        ),
    ],
    angle: Annotated[
        str | None,
        typer.Option(
            help="Of a table: column of the angles; rows where it is blank are dropped, or filled with --fill. Of a "
            "model: column of the true angles in the file of --at, if it is not that of the table.",
            metavar="COLUMN",
        ),
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option(
            help="Of a table: columns of the inputs with commas between; text columns are categories.",
            metavar="A,B",
        ),
    ] = None,
    period: a.Period = "radians",
    at: Annotated[
        str | None,
        typer.Option(
            help="Predict the rows of this file, and score those in which it holds the angle.", metavar="FILE"
        ),
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option(
            help="Predict a grid over the observed locations: first by second input.", metavar="NxM"
        ),
    ] = None,
    holdout: Annotated[
        str | None,
        typer.Option(
            help="Of a table: hold out this fraction of the rows, predict them and score.", metavar="FRACTION"
        ),
    ] = None,
    fill: Annotated[
        bool,
        typer.Option(
            "--fill", help="Of a table: predict the rows without an angle, and write the whole table filled."
        ),
    ] = False,
    parameter_draws: Annotated[
        int | None,
        typer.Option(
            help="Parameter draws that a prediction is a mixture over; 200 if not given, 64 beyond 100,000 locations.",
            metavar="N",
        ),
    ] = None,
    metric: a.Metric = "euclidean",
    drift: a.Drift = None,
    noise: a.Noise = "none",
    kernel: a.KernelText = None,
    fast: a.Fast = False,
    transductive: a.Transductive = False,
    precision: a.Precision = "auto",
    neighbors: a.Neighbors = 20,
    seed: a.Seed = 0,
    chains: a.Chains = 4,
    warmup: a.Warmup = 1000,
    draws: a.Draws = None,
    target_ess: a.TargetEss = 400,
    time_limit: a.TimeLimit = None,
    engine: a.Engine = "auto",
    allow_unconverged: a.AllowUnconverged = False,
    out: Annotated[
        str | None,
        typer.Option(
            help="Directory of the run; if not given, it is named after the table or model: stations-run for "
            "stations.csv.",
            metavar="DIR",
            rich_help_panel=a.OUTPUT,
        ),
    ] = None,
    overwrite: a.Overwrite = False,
    title: a.Title = None,
    compass: a.Compass = False,
    json: a.Json = False,
    quiet: a.Quiet = False,
) -> int:
    """Predict the angle at new locations: from a model, or from a table, which is learned from first.

    One of --at, --grid, --holdout and --fill says where. From a model nothing is sampled, and the options of the model
    and of its run are not given again. From a table chains run until the diagnostics hold or a limit comes, and
    model.nc is written too. predictions.csv, posterior.nc and report.html are written either way; with --fill also
    filled.csv.

    The exit code is 0 if the result can be trusted, 3 if not yet, 2 if something given is wrong, 130 after Ctrl-C.
    """
    began = time.monotonic()
    from vmqp.cli.carry_out import begin
    from vmqp.cli.output import Terminal
    from vmqp.cli.places import Where
    from vmqp.cli.predict import ModelOptions, is_model, prepare, prepare_from_model

    where = Where(at, grid, holdout, fill, parameter_draws, title, compass)
    place, command = out or _default_folder(file, "run"), _command(context)
    if is_model(file):
        _refuse_learning(context, file)
        work = prepare_from_model(file, angle, where, place, command)
    else:
        options = ModelOptions(
            file=file,
            angle=angle,
            inputs=inputs,
            period=period,
            metric=metric,
            drift=drift,
            noise=noise,
            kernel=kernel,
            fast=fast,
            precision=precision,
            neighbors=neighbors,
            transductive=transductive,
            seed=seed,
            chains=chains,
            warmup=warmup,
            draws=draws,
            target_ess=target_ess,
            time_limit=time_limit,
            engine=engine,
        )
        work = prepare(options, where, place, command)
    terminal = Terminal(as_json=json, quiet=quiet)
    return begin(work, terminal, overwrite=overwrite, allow_unconverged=allow_unconverged, began=began)


@app.command(epilog="Example: vmqp resume run/ --time-limit 10m")
def resume(
    run: Annotated[
        str, typer.Argument(help="The directory that vmqp fit or vmqp predict wrote to.", metavar="DIR")
    ],
    draws: Annotated[
        int | None,
        typer.Option(
            help="Most draws of each chain, with those that are there.", metavar="N", rich_help_panel=a.RUN
        ),
    ] = None,
    target_ess: Annotated[
        float | None,
        typer.Option(
            help="Effective samples to reach, if others than asked for.", metavar="N", rich_help_panel=a.RUN
        ),
    ] = None,
    time_limit: a.TimeLimit = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="auto, threads, processes, or dask://host:port.", metavar="NAME", rich_help_panel=a.RUN
        ),
    ] = None,
    allow_unconverged: a.AllowUnconverged = False,
    json: a.Json = False,
    quiet: a.Quiet = False,
) -> int:
    """Go on with a run that was stopped, or whose diagnostics did not hold yet.

    It needs nothing but the directory, and gives what a run without a stop would have given. A run that is finished
    stays as it is, and the exit code is 0. There is no time limit unless one is given here.
    """
    began = time.monotonic()
    from vmqp.cli.carry_out import Changes, go_on
    from vmqp.cli.output import Terminal
    from vmqp.cli.work import load_work

    changes = Changes.read(draws=draws, target_ess=target_ess, time_limit=time_limit, engine=engine)
    terminal = Terminal(as_json=json, quiet=quiet)
    return go_on(load_work(Path(run)), terminal, changes, allow_unconverged=allow_unconverged, began=began)


@app.command(
    epilog="Example: vmqp compare stations.csv --angle dir --inputs lon,lat --period 360 "
    '--kernel "exponential + nugget" --kernel "matern32 + nugget"'
)
def compare(
    file: a.File,
    angle: a.Angle,
    inputs: a.Inputs,
    period: a.Period = "radians",
    folds: Annotated[int, typer.Option(help="Random splits of the rows.", metavar="N")] = 7,
    test: Annotated[
        str, typer.Option(help="Fraction of the rows that is held out in each.", metavar="FRACTION")
    ] = "0.2",
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            help="A model to compare; give it once for each. If not given: exponential, gaussian and matern32 with a "
            "nugget, and exponential without.",
            metavar="TEXT",
            rich_help_panel=a.MODEL,
            show_default=False,
        ),
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            help="Another model beside them: wrapped or projected, a Gaussian process with exponential kernel and "
            "nugget; give it once for each.",
            metavar="NAME",
            rich_help_panel=a.MODEL,
            show_default=False,
        ),
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            help="A baseline beside them: cosine-sine, tan-half, neighbors or climatology; give it once for each.",
            metavar="NAME",
            rich_help_panel=a.MODEL,
            show_default=False,
        ),
    ] = None,
    metric: a.Metric = "euclidean",
    drift: a.Drift = None,
    noise: a.Noise = "none",
    fast: a.Fast = False,
    transductive: a.Transductive = False,
    seed: a.Seed = 0,
    chains: a.Chains = 4,
    warmup: a.Warmup = 1000,
    draws: Annotated[
        int, typer.Option(help="Most draws of each chain.", metavar="N", rich_help_panel=a.RUN)
    ] = 5000,
    target_ess: a.TargetEss = 200,
    engine: a.Engine = "auto",
    allow_unconverged: a.AllowUnconverged = False,
    out: Annotated[
        str | None,
        typer.Option(
            help="Directory for comparison.csv (models), fits.csv (each fit) and the fits that are done.",
            metavar="DIR",
            rich_help_panel=a.OUTPUT,
        ),
    ] = None,
    overwrite: a.Overwrite = False,
    json: a.Json = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Show no progress.", rich_help_panel=a.OUTPUT)
    ] = False,
) -> int:
    """Compare models by how well they predict angles that they have not seen.

    Every model is fitted to the same random splits of the rows. With --out each fit is kept there as soon as it is
    done: the same command again goes on from them. Smaller CRPS is better; a difference from the best
    counts if it is large beside its standard error.
    """
    from vmqp.cli.compare import Options, run_comparison
    from vmqp.cli.output import Terminal

    options = Options(
        file=file,
        angle=angle,
        inputs=inputs,
        period=period,
        folds=folds,
        test=test,
        kernels=tuple(kernel or ()),
        peers=tuple(peer or ()),
        baselines=tuple(baseline or ()),
        metric=metric,
        drift=drift,
        noise=noise,
        fast=fast,
        transductive=transductive,
        seed=seed,
        chains=chains,
        warmup=warmup,
        draws=draws,
        target_ess=target_ess,
        engine=engine,
        out=out,
        overwrite=overwrite,
    )
    return run_comparison(options, Terminal(as_json=json, quiet=quiet), allow_unconverged=allow_unconverged)


@app.command(epilog="Example: vmqp paper fig1 fig4 --quick --out paper/")
def paper(
    names: Annotated[
        list[str],
        typer.Argument(
            help="Figures and tables by name, or all, or list.", metavar="NAME", show_default=False
        ),
    ],
    out: Annotated[
        str, typer.Option(help="Directory; each item has one in it.", metavar="DIR")
    ] = "paper-output",
    quick: Annotated[bool, typer.Option("--quick", help="A short run, under 90 s for each.")] = False,
    data: Annotated[
        list[str] | None,
        typer.Option(help="Table of winds or of gaits; give it twice for both.", metavar="FILE"),
    ] = None,
    engine: a.Engine = "auto",
    seed: a.Seed = 0,
    quiet: a.Quiet = False,
) -> int:
    """Make the figures and tables of the paper anew, with what they show beside it.

    Each is a directory with plots (PNG, SVG), numbers (CSV), a text (NAME.md) and NAME.json.
    """
    from vmqp.cli.output import Terminal
    from vmqp.cli.paper import Options, run_paper

    options = Options(tuple(names), out, quick, engine, tuple(data or ()), seed)
    return run_paper(options, Terminal(as_json=False, quiet=quiet))


@app.command(epilog="Example: vmqp demo --out wind/")
def demo(
    out: Annotated[str, typer.Option(help="Directory for the files.", metavar="DIR")] = "demo-output",
    seed: a.Seed = 1,
    target_ess: a.TargetEss = 400,
    quiet: a.Quiet = False,
) -> int:
    """Predict a generated wind field, whose truth is known, and write a report.

    It takes a minute or two. Nothing is needed but vmqp.
    """
    from vmqp.demo import demonstrate

    progress = False if quiet else None
    demonstrate(out, seed=seed, target_ess=target_ess, executor="processes", progress=progress)
    return 0


_LEARNING = (
    "inputs",
    "period",
    "metric",
    "drift",
    "noise",
    "kernel",
    "fast",
    "transductive",
    "precision",
    "neighbors",
    "seed",
    "chains",
    "warmup",
    "draws",
    "target_ess",
    "time_limit",
    "engine",
)


def _refuse_learning(context: typer.Context, file: str) -> None:
    """Refuse options that only belong to learning where a model was given."""
    for name in _LEARNING:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise InputError(
                f"--{name.replace('_', '-')} was given with the model {file}, but it belongs to learning, which is "
                "done: leave it out, or give the table in place of the model."
            )


def _command(context: typer.Context) -> list[str]:
    return ["vmqp", *(context.obj or sys.argv[1:])]


def _default_folder(file: str, kind: str) -> str:
    """A directory here, named after the table or the model.

    >>> _default_folder("data/stations.csv.gz", "run")
    'stations-run'
    """
    return f"{Path(file).name.split('.')[0] or 'vmqp'}-{kind}"
