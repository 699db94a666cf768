"""The demonstration behind ``make demo``: a generated wind field, whose truth is known, from stations to a report.

A model is learned from 150 of 200 stations and saved. It predicts the wind at the other 50 and on a grid, and the
predictions are compared with what the held-out stations observed and with the true field.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console

from vmqp import arcs
from vmqp.circle import FloatArray
from vmqp.datasets import WindField, wind_field
from vmqp.errors import InputError
from vmqp.posterior import Posterior
from vmqp.regression import CircularRegressor
from vmqp.report import report
from vmqp.run import Converged
from vmqp.run.files import make_writable

__all__ = ["FILES", "demonstrate"]

FILES = {
    "stations": "stations.csv",
    "held out": "held-out.csv",
    "model": "model.nc",
    "predictions": "predictions.csv",
    "draws": "posterior.nc",
    "report": "report.html",
}
"""What the demonstration writes."""

STATIONS, HELD_OUT, GRID = 150, 50, (10, 8)
_INPUTS = ["longitude", "latitude"]
_TIME_LIMIT = 80.0  # seconds of sampling, so that the whole stays below two minutes on a slow machine too


def demonstrate(
    folder: str | os.PathLike[str] = "demo-output",
    *,
    seed: int = 1,
    target_ess: float = 400.0,
    time_limit: float = _TIME_LIMIT,
    executor: str | None = None,
    progress: bool | None = None,
) -> Posterior:
    """Run the demonstration, write its files into a folder and say on the terminal what they show.

    ``demonstrate("demo-output")`` takes about a minute. A folder that cannot be made is refused at once:

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         demonstrate(file.name)
    ...     except InputError as error:
    ...         print(error)
    '...' cannot be written to (...): give another folder with --out.
    """
    console = Console()
    out = Path(folder)
    _make_folder(out)
    console.print(f"A wind field with {STATIONS + HELD_OUT} stations, {HELD_OUT} of them held out.")
    field = wind_field(stations=STATIONS, held_out=HELD_OUT, grid=GRID, seed=seed)
    new = pd.concat([field.held_out[_INPUTS], field.grid[_INPUTS]], ignore_index=True)
    model = CircularRegressor(
        period=360,
        metric="geographic",
        draws=20_000,
        until=Converged(ess=target_ess),
        time_limit=time_limit,
        executor=executor,
        progress=progress,
        seed=seed,
    )
    with _timed(console, f"Learning from {STATIONS} stations (the first run compiles for some seconds)"):
        model.fit(field.frame[_INPUTS], field.frame["direction"])
    with _timed(console, f"Predicting {len(new)} locations"):
        posterior = model.posterior(new)
        predictions = posterior.to_frame()
    with _timed(console, "Writing the report"):
        model.save(out / FILES["model"])
        _write(out, field, posterior, predictions)
    _tell(console, field, posterior, out)
    return posterior


def _tell(console: Console, field: WindField, posterior: Posterior, out: Path) -> None:
    """The verdict, the scores at held-out stations and on the grid, and where the report is."""
    verdict = posterior.verdict()
    headline = "The predictions can be trusted." if verdict.trusted else "Do not trust these numbers yet."
    console.print(f"\n[bold]{headline}[/bold] {verdict}", highlight=False)
    seen = field.held_out["direction"].to_numpy()
    truth = np.concatenate([seen, field.grid["true_direction"].to_numpy()])
    score = posterior.crps(truth)[:HELD_OUT].mean()
    console.print(
        f"\nAt the {HELD_OUT} stations that were held out: mean CRPS {score:.4f} (0 is perfect, 0.5 knows nothing).",
        highlight=False,
    )
    for probability in (0.5, 0.9):
        inside = _inside(posterior, truth, probability)
        true = _inside(
            posterior, np.concatenate([field.held_out["true_direction"], truth[HELD_OUT:]]), probability
        )
        console.print(
            f"  The {probability:.0%} arcs hold {inside[:HELD_OUT].mean():.0%} of the observed directions there, "
            f"{true[:HELD_OUT].mean():.0%} of the true ones, and {true[HELD_OUT:].mean():.0%} of the true ones on "
            "the grid.",
            highlight=False,
        )
    console.print(
        "  An arc is for what a station would observe, noise included; so it holds the true direction more often."
    )
    console.print(
        f"\nThe model is kept: vmqp.load({str(out / FILES['model'])!r}).predict([[10.0, 51.0]]) tells the wind at any "
        "longitude and latitude, without learning again.",
        highlight=False,
        soft_wrap=True,
    )
    console.print(f"\nOpen {out / FILES['report']} in a browser.", highlight=False, soft_wrap=True)


def _inside(posterior: Posterior, truth: FloatArray, probability: float) -> FloatArray:
    lower, upper = posterior.interval(probability).T
    return np.asarray(arcs.in_arc(truth, lower, upper, 360.0))


def _write(out: Path, field: WindField, posterior: Posterior, frame: pd.DataFrame) -> None:
    names = [*field.held_out["station"], *(f"cell {row + 1}" for row in range(len(field.grid)))]
    observed = np.concatenate([field.held_out["direction"], np.full(len(field.grid), np.nan)])
    try:
        field.frame.to_csv(out / FILES["stations"], index=False)
        field.held_out.to_csv(out / FILES["held out"], index=False)
        frame.insert(0, "place", names)
        frame.to_csv(out / FILES["predictions"], index=False)
    except OSError as error:
        raise _unwritable(out, error) from error
    posterior.save(out / FILES["draws"])
    report(
        posterior,
        out / FILES["report"],
        truth=observed,
        names=names,
        title="Wind over a made-up region",
        notes=[
            f"The wind is invented: a cyclone that drifts over {STATIONS + HELD_OUT} stations. Each observed direction "
            f"is the true one with an error of about {field.noise_sd:g}°.",
            f"S… are stations that were held out ({HELD_OUT}), cell … are cells of a grid ({len(field.grid)}).",
            "Directions are where the wind comes from, in degrees clockwise from north.",
        ],
        call="from vmqp import demo\n\ndemo.demonstrate()",
        compass=True,
    )


def _make_folder(out: Path) -> None:
    try:
        make_writable(out)
    except OSError as error:
        raise _unwritable(out, error) from error


def _unwritable(out: Path, error: OSError) -> InputError:
    return InputError(
        f"{str(out)!r} cannot be written to ({error.strerror or error}): give another folder with --out."
    )


@contextmanager
def _timed(console: Console, what: str) -> Iterator[None]:
    """Say what is being done, and how long it took."""
    console.print(f"{what} …")
    start = time.perf_counter()
    yield
    console.print(f"… {time.perf_counter() - start:.0f} s")
