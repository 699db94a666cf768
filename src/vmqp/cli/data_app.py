"""The commands of `vmqp data`: measurements and generated data become tables that `vmqp predict` takes."""

from typing import Annotated

import typer

from vmqp.cli import arguments as a

__all__ = ["data"]

data = typer.Typer(
    name="data",
    help="Get a table to predict from: the weather service's files, buoys, gridded winds, generated data.",
    epilog="Example: vmqp data dwd --folder files/ --at 2024-05-01T12:00 --out snapshot.csv",
    rich_markup_mode="markdown",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Out = Annotated[str, typer.Option(help="The table to write, a .csv file.", metavar="FILE")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")]
Url = Annotated[str | None, typer.Option(help="Another address to download from.", metavar="ADDRESS")]
Cache = Annotated[
    str | None,
    typer.Option(help="Keep downloads here, and not in the user's cache directory.", metavar="DIR"),
]


@data.callback()
def _data(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@data.command("list", epilog="Example: vmqp data list")
def list_data() -> int:
    """List what there is, and what each table holds."""
    from vmqp.cli.data import print_list
    from vmqp.cli.output import Terminal

    return print_list(Terminal(as_json=False, quiet=False))


@data.command(epilog="Example: vmqp data dwd --folder files/ --at 2024-05-01T12:00 --out snapshot.csv")
def dwd(
    at: Annotated[
        str, typer.Option(help="The time, in UTC if it has no offset: 2024-05-01T12:00.", metavar="TIME")
    ],
    out: Out,
    folder: Annotated[
        str | None,
        typer.Option(help="Read the files of this directory; without it they are downloaded.", metavar="DIR"),
    ] = None,
    stations: Annotated[
        str | None, typer.Option(help="Only these stations: numbers with commas between.", metavar="A,B")
    ] = None,
    keep_calm: Annotated[
        bool,
        typer.Option("--keep-calm", help="Keep stations without a direction (calm, variable), with a blank."),
    ] = False,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out files that cannot be read, and say which.")
    ] = False,
    url: Url = None,
    cache: Cache = None,
    overwrite: Overwrite = False,
    json: a.Json = False,
    quiet: a.Quiet = False,
) -> int:
    """Wind of all German stations at one time, from the 10-minute product of the German weather service.

    The table has station, lon, lat, elevation (m), speed (m/s) and direction: where the wind comes from, in degrees
    clockwise from north.
    """
    from vmqp.cli.data import Given, write_dwd
    from vmqp.cli.output import Terminal

    given = Given(out, overwrite, Terminal(as_json=json, quiet=quiet))
    numbers = None if stations is None else [one.strip() for one in stations.split(",")]
    return write_dwd(
        given,
        at,
        folder,
        stations=numbers,
        keep_calm=keep_calm,
        skip_broken=skip_broken,
        url=url,
        cache=cache,
    )


@data.command(epilog="Example: vmqp data ndbc latest_obs.txt --angle waves --out waves.csv")
def ndbc(
    out: Out,
    file: Annotated[
        str | None,
        typer.Argument(
            help="latest_obs.txt; without it, it is downloaded.", metavar="FILE", show_default=False
        ),
    ] = None,
    angle: Annotated[str, typer.Option(help="wind or waves.", metavar="NAME")] = "wind",
    url: Url = None,
    cache: Cache = None,
    overwrite: Overwrite = False,
    json: a.Json = False,
    quiet: a.Quiet = False,
) -> int:
    """Wind or waves at the buoys and coast stations of NOAA's data buoy center, in their newest report.

    Directions are where wind or waves come from, in degrees clockwise from north.
    """
    from vmqp.cli.data import Given, write_ndbc
    from vmqp.cli.output import Terminal

    given = Given(out, overwrite, Terminal(as_json=json, quiet=quiet))
    return write_ndbc(given, file, angle, url=url, cache=cache)


@data.command(epilog="Example: vmqp data grid era5.nc --at 2024-05-01T12:00 --every 4 --out wind.csv")
def grid(
    file: Annotated[
        str, typer.Argument(help="A NetCDF file with the two components.", metavar="FILE", show_default=False)
    ],
    out: Out,
    at: Annotated[str | None, typer.Option(help="One of the times of the file.", metavar="TIME")] = None,
    u: Annotated[str | None, typer.Option(help="Name of the component to the east.", metavar="NAME")] = None,
    v: Annotated[str | None, typer.Option(help="Name of the component to the north.", metavar="NAME")] = None,
    convention: Annotated[
        str,
        typer.Option(
            help="from (where it comes from, clockwise from north), to (where it goes, likewise) or math (where it "
            "goes, counter-clockwise from east).",
            metavar="NAME",
        ),
    ] = "from",
    lon: Annotated[str | None, typer.Option(help="Name of the longitude.", metavar="NAME")] = None,
    lat: Annotated[str | None, typer.Option(help="Name of the latitude.", metavar="NAME")] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            help="One value of another dimension, such as level=850; may be given again.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    every: Annotated[int, typer.Option(help="Take every so many points of the grid.", metavar="N")] = 1,
    overwrite: Overwrite = False,
    json: a.Json = False,
    quiet: a.Quiet = False,
) -> int:
    """Directions and speeds from gridded components of wind or current, as ERA5 has them."""
    from vmqp.cli.data import Given, write_grid
    from vmqp.cli.output import Terminal

    given = Given(out, overwrite, Terminal(as_json=json, quiet=quiet))
    names = {"u": u, "v": v, "lon": lon, "lat": lat}
    return write_grid(given, file, at, names=names, convention=convention, every=every, select=select or [])


@data.command(epilog="Example: vmqp data make headings --out headings.csv")
def make(
    name: Annotated[
        str, typer.Argument(help="One of the names of vmqp data list.", metavar="NAME", show_default=False)
    ],
    out: Annotated[
        str, typer.Option(help="The table to write, a .csv file; for dwd-files a directory.", metavar="PATH")
    ],
    seed: a.Seed = 0,
    overwrite: Overwrite = False,
    json: a.Json = False,
    quiet: a.Quiet = False,
) -> int:
    """Write data that the package makes, whose truth is known, or a small classical set.

    dwd-files writes generated files in the format of the German weather service, to try vmqp data dwd on.
    """
    from vmqp.cli.data import Given, write_made
    from vmqp.cli.output import Terminal

    return write_made(Given(out, overwrite, Terminal(as_json=json, quiet=quiet)), name, seed)
