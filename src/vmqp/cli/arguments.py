"""Arguments and options as the commands share them: their help, and where it is listed."""

from typing import Annotated

import typer

__all__ = [
    "AllowUnconverged",
    "Angle",
    "Chains",
    "Compass",
    "Draws",
    "Drift",
    "Engine",
    "Fast",
    "File",
    "Inputs",
    "Json",
    "KernelText",
    "Metric",
    "Neighbors",
    "Noise",
    "Overwrite",
    "Period",
    "Precision",
    "Quiet",
    "Seed",
    "TargetEss",
    "TimeLimit",
    "Title",
    "Transductive",
    "Warmup",
]

MODEL, RUN, OUTPUT = "The model", "The run", "The output"

File = Annotated[
    str,
    typer.Argument(
        help="A table: .csv, .tsv, .txt (also .gz), or .parquet.", metavar="FILE", show_default=False
    ),
]
Angle = Annotated[
    str, typer.Option(help="Column of the angles; rows where it is blank are dropped.", metavar="COLUMN")
]
Inputs = Annotated[
    str,
    typer.Option(
        help="Columns of the inputs with commas between; text columns are categories.", metavar="A,B"
    ),
]
Period = Annotated[
    str, typer.Option(help="Of the angles: a number such as 360, or degrees, hours, axes, …", metavar="P")
]
Metric = Annotated[
    str,
    typer.Option(
        help="euclidean, or geographic for inputs longitude,latitude in degrees (distances in km).",
        metavar="NAME",
        rich_help_panel=MODEL,
    ),
]
Drift = Annotated[
    str | None,
    typer.Option(
        help="mean, which does not depend on how dense the locations are, or constant, which pulls every location "
        "alike; mean if not given, constant with --transductive.",
        metavar="NAME",
        rich_help_panel=MODEL,
    ),
]
KernelText = Annotated[
    str | None,
    typer.Option(
        "--kernel",
        help='Such as "exponential + nugget" or "gaussian(lengthscale=2) + nugget"; what is left out is learned. If '
        "not given, exponential, Matérn 3/2 or Matérn 5/2 with a nugget, whichever predicts best by leave-one-out.",
        metavar="TEXT",
        rich_help_panel=MODEL,
    ),
]
Fast = Annotated[
    bool,
    typer.Option(
        "--fast",
        help="Fit the parameters in a fraction of a second, without their uncertainty: for a first look.",
        rich_help_panel=MODEL,
    ),
]
Transductive = Annotated[
    bool,
    typer.Option(
        "--transductive",
        help="Learn the parameters and the new angles together, as the paper does: slower, and the answer at a "
        "location depends on which others are asked for.",
        rich_help_panel=MODEL,
    ),
]
Noise = Annotated[
    str,
    typer.Option(
        "--noise",
        help="Scatter of the observations about the process, as a concentration (50 is 8 degrees; larger is less): "
        "none (the kernel's nugget stands for it), learned (prior half-normal, scale 50), a number, or a column with "
        "one for each row.",
        metavar="CHI",
        rich_help_panel=MODEL,
    ),
]
Precision = Annotated[
    str,
    typer.Option(
        help="dense, vecchia (sparse, for many locations), or auto: dense up to 500 observations, and beyond 20,000 "
        "some of them are learned from.",
        metavar="NAME",
        rich_help_panel=MODEL,
    ),
]
Neighbors = Annotated[
    int,
    typer.Option(
        help="Neighbors of a location in a sparse precision: more are more accurate, and slower.",
        metavar="N",
        rich_help_panel=MODEL,
    ),
]
Seed = Annotated[
    int, typer.Option(help="The same seed gives the same result.", metavar="N", rich_help_panel=RUN)
]
Chains = Annotated[int, typer.Option(help="Chains, two or more.", metavar="N", rich_help_panel=RUN)]
Warmup = Annotated[
    int, typer.Option(help="Iterations that adapt and are not kept.", metavar="N", rich_help_panel=RUN)
]
Draws = Annotated[
    int | None,
    typer.Option(
        help="Most draws of each chain; 20000 if not given, or as many as 1 GB holds.",
        metavar="N",
        rich_help_panel=RUN,
    ),
]
TargetEss = Annotated[
    float,
    typer.Option(
        help="Effective samples that every parameter must reach, and with --transductive every angle.",
        metavar="N",
        rich_help_panel=RUN,
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        help="Stop after so many seconds (or 10m, 1h30m) and write what is there; where that is too little, the "
        "predictions of a fast fit.",
        metavar="TIME",
        rich_help_panel=RUN,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        help="auto, threads, processes, or the address of a Dask scheduler, dask://host:port; auto takes processes "
        "from 100 locations on.",
        metavar="NAME",
        rich_help_panel=RUN,
    ),
]
AllowUnconverged = Annotated[
    bool,
    typer.Option(
        "--allow-unconverged",
        help="Exit with 0 also when the diagnostics do not hold; it is 3 otherwise.",
        rich_help_panel=RUN,
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace what is in the directory.", rich_help_panel=OUTPUT)
]
Title = Annotated[
    str | None, typer.Option(help="Heading of the report.", metavar="TEXT", rich_help_panel=OUTPUT)
]
Compass = Annotated[
    bool,
    typer.Option("--compass", help="In plots 0 is north and angles grow clockwise.", rich_help_panel=OUTPUT),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON object, and nothing else, on standard output.", rich_help_panel=OUTPUT
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only what is wrong.", rich_help_panel=OUTPUT)]
