"""The demonstration behind ``make demo``: random functions with values on the circle, saved as one picture.

Above, functions drawn from the prior (``eq:prior``) on a line, for two kernels and two length scales. Below,
the posterior given seven observed angles (``eq:conditional_density``): circular mean and 90 % arcs.

A curve on the circle has no break at ±π. It is drawn as an unbroken line, once for every turn that shows
between −π and π, and the axes cut the copies off: what leaves at the top comes back at the bottom.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from vmqp import arcs, circle, kernels, model, precision
from vmqp.sampling import sample_angles, sample_angles_batch

__all__ = ["PICTURE", "main", "make_picture"]

PICTURE = "circle-valued-functions.png"
"""The name of the picture's file."""

FloatArray = NDArray[np.float64]

_LENGTH = 10.0
_TURN = 2.0 * np.pi
_PROBABILITY = 0.9
# Three dashes beside three colours: the curves differ in print and to any eye.
_CURVES = (("#000000", "-"), ("#0072B2", (0, (5, 1.5))), ("#D55E00", (0, (1.0, 1.0))))

_PRIORS: dict[str, kernels.Kernel] = {
    "exponential kernel, length scale 8": kernels.Exponential(8.0) + kernels.Nugget(1e-4),
    "exponential kernel, length scale 40": kernels.Exponential(40.0) + kernels.Nugget(1e-4),
    "Gaussian kernel, length scale 0.7": kernels.Gaussian(0.7) + kernels.Nugget(1e-4),
    "Gaussian kernel, length scale 2": kernels.Gaussian(2.0) + kernels.Nugget(1e-4),
}

_OBSERVED_AT = np.array([0.4, 1.3, 2.0, 3.1, 6.3, 7.4, 8.8])
_OBSERVED = np.array([0.4, 1.5, 2.4, -2.9, -1.2, -0.3, 0.9])
_POSTERIOR = kernels.Gaussian(1.2) + kernels.Nugget(0.01)


class Band(NamedTuple):
    """A posterior at some places: circular mean, and lower and upper end of an arc at each."""

    places: FloatArray
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray


def draw_prior(kernel: kernels.Kernel, places: FloatArray, functions: int, seed: int) -> FloatArray:
    """Draw functions from the prior without drift: one angle for each place, (functions, places).

    >>> draw_prior(kernels.Exponential(1.0), np.linspace(0.0, 1.0, 5), functions=3, seed=1).shape
    (3, 5)
    """
    M = precision.factorise(kernel.bind(places[:, None]).covariance({})).M
    field = model.drift_field(M, concentration=0.0, direction=0.0, drift="constant")
    # Chains of one draw each are independent functions.
    return sample_angles_batch(M, field, chains=functions, draws=1, seed=seed)[:, 0]


def posterior_band(kernel: kernels.Kernel, places: FloatArray, draws: int, seed: int) -> Band:
    """Draw from the posterior given the observed angles and summarise the draws at each place."""
    everywhere = np.concatenate([_OBSERVED_AT, places])[:, None]
    M = precision.factorise(kernel.bind(everywhere).covariance({})).M
    field = model.drift_field(M, concentration=0.0, direction=0.0, drift="constant")
    Q, rho = model.conditional(M, _OBSERVED, field)
    angles = sample_angles(Q, rho, draws=draws, seed=seed)
    lower, upper = arcs.shortest_arc(angles, _PROBABILITY, axis=0).T
    return Band(places, circle.mean(angles, axis=0), lower, upper)


def make_picture(directory: Path, *, places: int = 120, draws: int = 4000, seed: int = 1) -> Path:
    """Draw the picture, save it in a directory that exists, and return its path.

    The posterior is drawn at five sixths as many places as the prior.
    """
    line = np.linspace(0.0, _LENGTH, places)
    functions: dict[str, FloatArray] = {}
    for number, (title, kernel) in enumerate(_PRIORS.items()):
        note = " (the first run also compiles)" if number == 0 else ""
        with _timed(f"prior: {len(_CURVES)} functions at {places} places, {title}{note}"):
            functions[title] = draw_prior(kernel, line, len(_CURVES), seed + number)
    new = np.linspace(0.0, _LENGTH, max(2, places * 5 // 6))
    with _timed(f"posterior: {draws} draws at {len(new)} places given {len(_OBSERVED)} angles"):
        band = posterior_band(_POSTERIOR, new, draws, seed)
    path = directory / PICTURE
    with _timed("picture"):
        figure = _figure(line, functions, band)
        figure.savefig(path, dpi=150)
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration from the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m vmqp.demo", description="Draw circle-valued functions.")
    parser.add_argument("--out", type=Path, default=Path("demo-output"), help="directory of the picture")
    parser.add_argument("--places", type=_at_least_two, default=120, help="places on the line")
    parser.add_argument("--draws", type=_at_least_two, default=4000, help="draws from the posterior")
    options = parser.parse_args(arguments)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        if not os.access(options.out, os.W_OK | os.X_OK):
            raise PermissionError("it is not writable")
        path = make_picture(options.out, places=options.places, draws=options.draws)
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"The picture cannot be saved in {str(options.out)!r} ({reason})"
        print(f"{message}: give another directory with --out.", file=sys.stderr)
        return 1
    print(path)
    return 0


def _at_least_two(text: str) -> int:
    number = int(text)
    if number < 2:
        raise argparse.ArgumentTypeError(f"{number} is too few: give 2 or more")
    return number


@contextmanager
def _timed(what: str) -> Iterator[None]:
    """Say what is being done, and how long it took."""
    print(what, end=" ", flush=True)
    start = time.perf_counter()
    yield
    print(f"... {time.perf_counter() - start:.1f} s", flush=True)


def _figure(line: FloatArray, functions: dict[str, FloatArray], band: Band) -> Figure:
    figure = Figure(figsize=(10.0, 9.5), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle("Functions with values on the circle: −π and π are the same direction", fontsize=14)
    grid = figure.add_gridspec(3, 2, height_ratios=(1.0, 1.0, 1.35))
    for number, (title, angles) in enumerate(functions.items()):
        axes = figure.add_subplot(grid[number // 2, number % 2])
        axes.set_title(f"Prior, {len(angles)} draws: {title}", fontsize=11)
        for curve, (colour, dashes) in zip(angles, _CURVES, strict=True):
            draw_curve(axes, line, curve, color=colour, linestyle=dashes, linewidth=1.6)
        _circle_axis(axes)
    _posterior_axes(figure.add_subplot(grid[2, :]), band)
    return figure


def _posterior_axes(axes: Axes, band: Band) -> None:
    title = f"Posterior given {len(_OBSERVED)} observed angles: Gaussian kernel, length scale 1.2"
    axes.set_title(title, fontsize=11)
    draw_band(axes, band, color="0.82", linewidth=0.0, label=f"{100 * _PROBABILITY:.0f} % arc")
    draw_curve(axes, band.places, band.mean, color="#0072B2", linewidth=2.0, label="circular mean")
    axes.plot(_OBSERVED_AT, _OBSERVED, "ko", markersize=6, label="observed")
    _circle_axis(axes)
    axes.legend(loc="lower right")


def _circle_axis(axes: Axes) -> None:
    axes.set_xlim(0.0, _LENGTH)
    axes.set_ylim(-np.pi, np.pi)
    axes.set_yticks([-np.pi, -np.pi / 2, 0.0, np.pi / 2, np.pi], ["−π", "−π/2", "0", "π/2", "π"])
    axes.set_xlabel("place on the line")
    axes.set_ylabel("angle (radians)")
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)


def draw_curve(axes: Axes, places: FloatArray, angles: FloatArray, label: str = "", **style: Any) -> None:
    """Draw a curve on the circle: from place to place it takes the shorter way round."""
    unbroken = np.unwrap(angles)
    for turn in _turns(unbroken, unbroken):
        axes.plot(places, unbroken + turn, label=label or None, **style)
        label = ""


def draw_band(axes: Axes, band: Band, label: str = "", **style: Any) -> None:
    """Fill the arcs between lower and upper, each in the turn in which its middle is next to the mean."""
    width = arcs.arc_width(band.lower, band.upper)
    middle = np.unwrap(band.mean) + circle.difference(band.lower + width / 2, band.mean)
    lower, upper = middle - width / 2, middle + width / 2
    for turn in _turns(lower, upper):
        axes.fill_between(band.places, lower + turn, upper + turn, label=label or None, **style)
        label = ""


def _turns(lower: FloatArray, upper: FloatArray) -> list[float]:
    """Shifts by whole turns that bring some part of a curve or band between −π and π.

    >>> [round(turn / _TURN) for turn in _turns(np.array([3.0]), np.array([4.0]))]
    [-1, 0]
    """
    first = int(np.ceil((-np.pi - upper.max()) / _TURN))
    last = int(np.floor((np.pi - lower.min()) / _TURN))
    return [_TURN * turn for turn in range(first, last + 1)]


if __name__ == "__main__":
    sys.exit(main())
