"""Map of wind directions and of their circular variance: ``fig:wind_direction_variance``.

Left: 208 stations to learn from, 52 to predict, with their circular means. Beside it the circular variance over a grid
of 60 × 60 points, as in the paper, drawn in two ways from parameters that are learned on the stations: all angles of
the grid jointly, as the paper has them, and one location at a time in closed form. The drift is "mean" for both, which
does not depend on how fine the grid is.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.spatial import cKDTree
from scipy.stats import rankdata, spearmanr

from vmqp import circle, kernels, priors
from vmqp.circle import FloatArray
from vmqp.paper.chains import fit, health, learn, length, run_options
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.wind_task import Wind, paper_kernel, the_wind
from vmqp.plots.ground import map_axes, mark_places, surface
from vmqp.plots.style import PREDICTED, TRUTH, legend_above
from vmqp.posterior import Posterior

__all__ = ["make"]

_ITERATIONS = 200_000
_NEIGHBORS = 5
_NAMES = ("longitude", "latitude")
_JOINT, _ALONE = "drawn jointly", "one location at a time"
_NUGGET = "one location at a time, nugget"
_DRAWS = 1000  # joint ones; with fewer their own noise hides what the variance follows


def make(setting: Setting) -> Outcome:
    """Make the maps and measure where the variance is large."""
    wind = the_wind(setting)
    kernel, options = paper_kernel(kernels.Exponential), run_options(setting, quick_draws=250)
    stations, _ = fit(
        setting, wind.places, wind.directions, wind.new_places, kernel=kernel, drift="constant", **options
    )
    model, _ = learn(setting, wind.places, wind.directions, kernel=kernel, drift="mean", **options)
    rough = kernel + kernels.Nugget(priors.HalfNormal(0.1))
    other, _ = learn(setting, wind.places, wind.directions, kernel=rough, drift="mean", **options)

    cells = 30 if setting.quick else 60
    grid = wind.grid(cells)
    joint = model.joint_posterior(grid, 200 if setting.quick else _DRAWS)
    maps = {_JOINT: joint.variance, _ALONE: model.posterior(grid).variance}
    near = {
        name: _surroundings(wind, grid, variance)
        for name, variance in (*maps.items(), (_NUGGET, other.posterior(grid).variance))
    }
    claims = {name: _claim(table) for name, table in near.items()}
    first, second, third = health(stations), health(model), health(other)
    sound = first.sound and second.sound and joint.verdict().trusted
    return Outcome(
        figures={"fig5": _draw(wind, stations, grid, maps)},
        tables={
            "fig5_stations": _station_table(wind, stations),
            "fig5_grid": _grid_table(near),
            "fig5_claim": pd.DataFrame([{"map": name, **claim} for name, claim in claims.items()]),
        },
        paper=(
            "Left: 260 stations in Germany, 208 to learn from and 52 to test, with the predicted circular means. "
            "Right: the circular variance over 60 × 60 points, which grows close to stations with non-aligned "
            "directions."
        ),
        ours=_what_we_got(wind, stations, cells, maps, claims),
        agrees=_verdict(claims, sound=sound, coarse=setting.quick),
        length=(
            f"Stations: {length(first, _ITERATIONS, quick=setting.quick)} Maps: parameters by {second.chains} chains "
            f"of {second.draws:,} draws, R-hat at most {second.rhat:.3f} (with the nugget {third.draws:,} draws, "
            f"{third.rhat:.3f}). {joint.verdict()}"
        ),
        facts={
            "data": wind.source,
            "crps": float(stations.crps(wind.new_directions).mean()),
            "grid": f"{cells}x{cells}",
            "rank_correlation_joint": claims[_JOINT]["near"],
            "rank_correlation_one_at_a_time": claims[_ALONE]["near"],
            "rank_correlation_nugget": claims[_NUGGET]["near"],
            "rhat_stations": first.rhat,
            "rhat_grid": second.rhat,
        },
    )


def _what_we_got(
    wind: Wind,
    stations: Posterior,
    cells: int,
    maps: dict[str, FloatArray],
    claims: dict[str, dict[str, float]],
) -> str:
    errors = np.abs(np.asarray(circle.difference(stations.mean, wind.new_directions)))
    score, cover = stations.crps(wind.new_directions).mean(), stations.coverage(wind.new_directions, 0.9)
    both = " ".join(
        f"{name[0].upper()}{name[1:]}: the variance goes from {variance.min():.3f} to {variance.max():.3f}; its rank "
        f"correlation with the distance to the nearest station is {claims[name]['distance']:.2f}, and with the "
        f"disagreement, that distance taken out, {claims[name]['near']:.2f} near the stations and "
        f"{claims[name]['all']:.2f} over all cells."
        for name, variance in maps.items()
    )
    nugget = claims[_NUGGET]
    return (
        f"{wind.source}, {len(wind.places)} stations learned, {len(wind.new_places)} predicted (seed 18), exponential "
        f"kernel with the paper's priors. Stations, transductive as in the paper: median error "
        f"{np.degrees(np.median(errors)):.0f}°, CRPS {score:.4f}, 90 % arcs cover {100 * cover:.0f} %. Maps of "
        f'{cells} × {cells}: the parameters are learned on the stations (drift "mean"), then {cells * cells:,} angles '
        "are drawn jointly, or predicted one location at a time in closed form. We compare the variance with the "
        f"disagreement of the {_NEIGHBORS} nearest stations, which is the circular variance of their directions, over "
        f"all cells and over the {nugget['near_cells']:.0f} that are nearest to a station. {both} With a learned "
        f"nugget, one location at a time, it is {nugget['near']:.2f} near the stations and {nugget['all']:.2f} over "
        "all."
    )


def _grid_table(near: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Both maps cell by cell, with as many digits as are worth keeping."""
    table = near[_JOINT].copy()
    table.insert(3, "circular_variance_one_at_a_time", near[_ALONE]["circular_variance"])
    return table.round(5)


def _surroundings(wind: Wind, grid: FloatArray, variance: FloatArray) -> pd.DataFrame:
    """Of each cell: predicted variance, disagreement of the nearest observed directions, distance to the nearest."""
    # Kilometres would weigh longitude less; the kernel, like the paper's, takes degrees as they are.
    distance, rows = cKDTree(wind.places).query(grid, k=_NEIGHBORS)
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
        "near_p": _fraction_of_shifts(near, inside),
        "near_plain": float(spearmanr(close["circular_variance"], close["neighbours_disagree"]).statistic),
        "near_cells": float(len(close)),
        "all": _apart_from_distance(near),
        "all_p": _fraction_of_shifts(near, np.ones(len(near), dtype=bool)),
        "distance": float(spearmanr(near["circular_variance"], near["nearest_deg"]).statistic),
    }


def _fraction_of_shifts(near: pd.DataFrame, inside: npt.NDArray[np.bool_]) -> float:
    """Fraction of all shifts of one map against the other with a correlation as large as that without a shift.

    Neighboring cells are alike in both maps, so that cells are no independent pairs. A shift, round the edges, keeps
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


def _verdict(claims: dict[str, dict[str, float]], *, sound: bool, coarse: bool) -> str:
    """Whether the variance grows where neighbors disagree, at equal distance: on both maps, on one, on none."""
    joint, alone = claims[_JOINT], claims[_ALONE]
    found = [claim["near"] > 0 and claim["near_p"] < 0.01 for claim in (joint, alone)]
    answer = "yes" if all(found) and sound else "in part" if any(found) else "no"
    most = "; the distance to the nearest station matters most" if alone["distance"] > alone["all"] else ""
    doubt = "" if sound else ", and the chains do not agree yet"
    return (
        f"{answer}: at equal distance from the stations, where neighbors point in different directions, the variance "
        f"{_grows(joint, 'if all locations are drawn jointly')}, and {_grows(alone, 'with one location at a time')}"
        f"{most}. The grid is {'coarser than the paper' if coarse else 'the paper'}'s{doubt}."
    )


def _grows(claim: dict[str, float], when: str) -> str:
    clear, rising = (claim["near"] > 0 and claim["near_p"] < level for level in (0.01, 0.05))
    return (
        f"{'grows' if clear else 'grows a little' if rising else 'does not grow'} {when} (rank correlation "
        f"{claim['near']:.2f}; {100 * claim['near_p']:.1f} % of all shifts of one map against the other have as much "
        "or more)"
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


def _draw(wind: Wind, stations: Posterior, grid: FloatArray, maps: dict[str, FloatArray]) -> Figure:
    figure = Figure(figsize=(16.0, 7.0), layout="constrained")
    left, *others = figure.subplots(1, 1 + len(maps))
    everywhere = np.concatenate([wind.places, wind.new_places])
    for ax in (left, *others):
        map_axes(ax, everywhere, _NAMES)
    _arrows(left, wind.places, wind.directions, f"learned from ({len(wind.places)})", "0.55", 0.0025)
    _arrows(left, wind.new_places, wind.new_directions, f"held out ({len(wind.new_places)})", TRUTH, 0.005)
    _arrows(left, wind.new_places, stations.mean, "predicted mean", PREDICTED, 0.0032)
    legend_above(left)
    left.set_title(f"Where the wind goes to ({wind.source})")

    # The paper's colours, too, go from the least to the largest variance.
    largest = max(float(variance.max()) for variance in maps.values())
    for ax, (name, variance) in zip(others, maps.items(), strict=True):
        coloured = surface(ax, grid, variance, cmap="cividis", vmin=0.0, vmax=largest)
        mark_places(ax, wind.places, f"learned from ({len(wind.places)})")
        legend_above(ax)
        ax.set_title(f"Circular variance, {name}")
        ax.set(xlim=left.get_xlim(), ylim=left.get_ylim(), ylabel="")
    label = "circular variance (0: certain, 1: any direction)"
    figure.colorbar(coloured, ax=others, label=label, shrink=0.8)
    return figure


def _arrows(ax: Axes, places: FloatArray, angles: FloatArray, label: str, colour: str, width: float) -> None:
    x, y = np.sin(angles), np.cos(angles)  # clockwise from north
    ax.quiver(*places.T, x, y, color=colour, width=width, scale=22.0, headwidth=4.0, headlength=5.0)
    ax.plot(*places.T, ".", color=colour, markersize=2.5)
    ax.plot([], [], color=colour, linewidth=400 * width, label=label)
