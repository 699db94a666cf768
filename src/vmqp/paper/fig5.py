"""Map of wind directions and of their circular variance: ``fig:wind_direction_variance``.

Left: 208 stations to learn from, 52 to predict, with their circular means. Right: the circular variance over a grid of
60 × 60 points, as in the paper. It is drawn in two stages, with the drift "mean", which does not depend on how fine the
grid is.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.spatial import cKDTree
from scipy.stats import rankdata, spearmanr

from vmqp import circle, kernels
from vmqp.circle import FloatArray
from vmqp.paper.chains import fit, health, length, run_options
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.wind_task import Wind, paper_kernel, the_wind
from vmqp.plots.ground import map_axes, mark_places, surface
from vmqp.plots.style import PREDICTED, TRUTH, legend_above
from vmqp.posterior import Posterior
from vmqp.run import Converged

__all__ = ["make"]

_ITERATIONS = 200_000
_NEIGHBOURS = 5
_NAMES = ("longitude", "latitude")
_MAP_DRAWS = 300
_SHORT = Converged(rhat=1.5, rhat_angles=1.5, ess=10, first=250)


def make(setting: Setting) -> Outcome:
    """Make both maps and measure where the variance is large."""
    wind = the_wind(setting)
    stations = _fit(setting, wind, wind.new_places, drift="constant", stages=1)
    cells = 30 if setting.quick else 60
    grid = wind.grid(cells)
    rule = {"until": _SHORT} if setting.quick else {}
    field = _fit(setting, wind, grid, drift="mean", stages=2, **rule)
    near = _surroundings(wind, grid, field.variance)
    claim = _claim(near)
    errors = np.abs(np.asarray(circle.difference(stations.mean, wind.new_directions)))
    score = float(stations.crps(wind.new_directions).mean())
    cover = stations.coverage(wind.new_directions, 0.9)
    first, second = health(stations), health(field)
    return Outcome(
        figures={"fig5": _draw(wind, stations, grid, field)},
        tables={
            "fig5_stations": _station_table(wind, stations),
            "fig5_grid": near,
            "fig5_claim": pd.DataFrame([claim]),
        },
        paper=(
            "Left: 260 stations in Germany, 208 to learn from and 52 to test, with the predicted circular means. "
            "Right: the circular variance over 60 × 60 points, which grows close to stations with non-aligned "
            "directions."
        ),
        ours=(
            f"{wind.source}, {len(wind.places)} stations learned, {len(wind.new_places)} predicted (seed 18), "
            f"exponential kernel with the paper's priors: median error {np.degrees(np.median(errors)):.0f}°, CRPS "
            f"{score:.4f}, 90 % arcs cover {100 * cover:.0f} %. On a grid of {cells} × {cells}, drift "
            f'"mean": the variance goes from {field.variance.min():.2f} to '
            f"{field.variance.max():.2f}. Its rank correlation with the distance to the nearest station is "
            f"{claim['distance']:.2f}; with the circular variance of the {_NEIGHBOURS} nearest observed "
            f"directions it is {claim['near_plain']:.2f} over the {claim['near_cells']:.0f} cells closest to a "
            f"station; with that distance taken out, {claim['near']:.2f} there and {claim['all']:.2f} over all."
        ),
        agrees=_verdict(claim, sound=first.sound and second.sound, coarse=setting.quick),
        length=f"Stations: {length(first, _ITERATIONS, quick=setting.quick)} Grid: in two stages, "
        f"{second.chains} chains of {second.draws:,} draws, R-hat at most {second.rhat:.3f}.",
        facts={
            "data": wind.source,
            "crps": score,
            "grid": f"{cells}x{cells}",
            "rhat_stations": first.rhat,
            "rhat_grid": second.rhat,
        },
    )


def _fit(setting: Setting, wind: Wind, places: FloatArray, **more: Any) -> Posterior:
    options: dict[str, Any] = run_options(setting, quick_draws=250) | more
    if options["stages"] == 2:
        options["draws"] = _MAP_DRAWS
    kernel = paper_kernel(kernels.Exponential)
    return fit(setting, wind.places, wind.directions, places, kernel=kernel, **options)[0]


def _surroundings(wind: Wind, grid: FloatArray, variance: FloatArray) -> pd.DataFrame:
    """Of each cell: predicted variance, disagreement of the nearest observed directions, distance to the nearest."""
    # Kilometres would weigh longitude less; the kernel, like the paper's, takes degrees as they are.
    distance, rows = cKDTree(wind.places).query(grid, k=_NEIGHBOURS)
    return pd.DataFrame(
        {
            "longitude": grid[:, 0],
            "latitude": grid[:, 1],
            "circular_variance": variance,
            "neighbours_disagree": circle.variance(wind.directions[rows], axis=1),
            "nearest_deg": distance[:, 0],
        }
    )


def _claim(near: pd.DataFrame) -> dict[str, float]:
    """Rank correlations of the variance with the disagreement, over the closer half of the cells and over all."""
    inside = (near["nearest_deg"] <= near["nearest_deg"].median()).to_numpy()
    close = near[inside]
    return {
        "near": _apart_from_distance(close),
        "near_p": _share_of_shifts(near, inside),
        "near_plain": float(spearmanr(close["circular_variance"], close["neighbours_disagree"]).statistic),
        "near_cells": float(len(close)),
        "all": _apart_from_distance(near),
        "all_p": _share_of_shifts(near, np.ones(len(near), dtype=bool)),
        "distance": float(spearmanr(near["circular_variance"], near["nearest_deg"]).statistic),
    }


def _share_of_shifts(near: pd.DataFrame, inside: npt.NDArray[np.bool_]) -> float:
    """Share of all shifts of one map against the other with a correlation as large as that without a shift.

    Neighbouring cells are alike in both maps, so that cells are no independent pairs. A shift, round the edges, keeps
    each map as it is.
    """
    cells = round(np.sqrt(len(near)))
    disagree = near["neighbours_disagree"].to_numpy().reshape(cells, cells)
    variance, distance = (near[name].to_numpy()[inside] for name in ("circular_variance", "nearest_deg"))
    found = [
        _partial(variance, np.roll(disagree, shift, axis=(0, 1)).ravel()[inside], distance)
        for shift in np.ndindex(cells, cells)
    ]
    return float(np.mean(np.array(found) >= found[0]))


def _verdict(claim: dict[str, float], *, sound: bool, coarse: bool) -> str:
    clear, rising = (claim["near"] > 0 and claim["near_p"] < level for level in (0.01, 0.05))
    grows = "grows" if clear else "grows a little" if rising else "does not grow"
    most = (
        "; the distance to the nearest station matters most" if claim["distance"] > abs(claim["all"]) else ""
    )
    doubt = "" if sound else ", and the chains do not agree yet"
    grid = " The grid is coarser than the paper's" if coarse else " The grid is the paper's"
    answer = "yes" if clear and sound else "in part" if rising else "no"
    return (
        f"{answer}: at equal distance from the stations the variance "
        f"{grows} where neighbours point in different directions (rank correlation {claim['near']:.2f}; "
        f"{100 * claim['near_p']:.1f} % of all shifts of the map of directions against that of the variance have as "
        f"much or more){most}.{grid}{doubt}."
    )


def _apart_from_distance(rows: pd.DataFrame) -> float:
    """Rank correlation of variance and disagreement, with the ranks of the distance taken out of both."""
    columns = rows[["circular_variance", "neighbours_disagree", "nearest_deg"]].to_numpy(dtype=np.float64).T
    return _partial(*columns)


def _partial(one: FloatArray, other: FloatArray, out: FloatArray) -> float:
    """Correlation of the ranks of two columns, with those of a third taken out of both."""
    ranks = rankdata(np.stack([one, other, out]), axis=1)
    ranks = ranks - ranks.mean(axis=1, keepdims=True)
    third = ranks[2] / np.linalg.norm(ranks[2])
    first, second = (row - third * (third @ row) for row in ranks[:2])
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def _station_table(wind: Wind, post: Posterior) -> pd.DataFrame:
    lower, upper = post.interval(0.9).T
    return pd.DataFrame(
        {
            "longitude": wind.new_places[:, 0],
            "latitude": wind.new_places[:, 1],
            "observed_rad": wind.new_directions,
            "mean_rad": post.mean,
            "circular_variance": post.variance,
            "lower_rad": lower,
            "upper_rad": upper,
        }
    )


def _draw(wind: Wind, stations: Posterior, grid: FloatArray, field: Posterior) -> Figure:
    figure = Figure(figsize=(13.0, 7.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    everywhere = np.concatenate([wind.places, wind.new_places])
    for ax in (left, right):
        map_axes(ax, everywhere, _NAMES)
    _arrows(left, wind.places, wind.directions, f"learned from ({len(wind.places)})", "0.55", 0.0025)
    _arrows(left, wind.new_places, wind.new_directions, "held out: observed", TRUTH, 0.005)
    _arrows(left, wind.new_places, stations.mean, "held out: predicted mean", PREDICTED, 0.0032)
    legend_above(left)
    left.set_title(f"Where the wind goes to ({wind.source})")

    # The paper's colours, too, go from the least to the largest variance.
    coloured = surface(
        right, grid, field.variance, cmap="cividis", vmin=0.0, vmax=float(field.variance.max())
    )
    figure.colorbar(coloured, ax=right, label="circular variance (0: certain, 1: any direction)", shrink=0.8)
    mark_places(right, wind.places, f"learned from ({len(wind.places)})")
    legend_above(right)
    right.set_title(f"Circular variance on a grid of {len(grid)} cells")
    return figure


def _arrows(ax: Axes, places: FloatArray, angles: FloatArray, label: str, colour: str, width: float) -> None:
    x, y = np.sin(angles), np.cos(angles)  # clockwise from north
    ax.quiver(*places.T, x, y, color=colour, width=width, scale=22.0, headwidth=4.0, headlength=5.0)
    ax.plot(*places.T, ".", color=colour, markersize=2.5)
    ax.plot([], [], color=colour, linewidth=400 * width, label=label)
