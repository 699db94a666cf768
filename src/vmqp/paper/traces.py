"""Traces and histograms: ``fig:wind_par_traces``, ``fig:wind_angles_traces`` and ``fig:gait_traces_hist``.

Wind: the Gaussian kernel (``eq:gaussian_kernel``) with the paper's priors, four test stations. Gait: the paper's kernel
(``eq:gait_kernel``).
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from vmqp import circle, kernels, plots, priors
from vmqp.arcs import shortest_arc
from vmqp.circle import FloatArray
from vmqp.paper.chains import Health, fit, health, length, run_options
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.gait import DOUBT, peaks
from vmqp.paper.gait_runs import PAPER, run_jointly, the_gait
from vmqp.paper.wind_task import SCALE, Wind, paper_kernel, the_wind
from vmqp.plots.style import round_layout
from vmqp.posterior import Posterior

__all__ = ["make"]

_SHOWN = 4
_CIRCULAR = ("ν",)
_WIND, _GAIT = 200_000, 600_000
_HALF_NORMAL = priors.HalfNormal(1.0)


def make(setting: Setting) -> Outcome:
    """Run both experiments and draw their chains."""
    wind, gait = the_wind(setting), the_gait(setting)
    post = _fit_wind(setting, wind)
    walk = run_jointly(setting, gait, PAPER)
    rows = _spread(post.variance)
    drawn = post.parameters
    named = {
        "σ²": drawn["variance"],
        "l²": drawn["lengthscale"] ** 2,
        "κ": drawn["concentration"],
        "ν": drawn["direction"],
    }
    places = {f"station {row}": post.draws[..., row] for row in rows}
    table = pd.DataFrame(
        _numbers("wind", named, post)
        + _numbers("gait", walk.squares, walk.posterior)
        + _angles(wind, post, rows)
    )
    of_wind, of_gait = health(post), health(walk.posterior)
    third = peaks(walk.squares["g²"]) if "g²" in walk.squares else []
    what = "generated" if gait.generated else "from a file"
    return Outcome(
        figures={
            "traces_wind_parameters": _draw(
                named,
                f"Wind ({wind.source})",
                circular=_CIRCULAR,
                densities=dict.fromkeys(("σ²", "l²", "κ"), _half_normal),
            ),
            "traces_wind_angles": _draw(
                places, f"Wind ({wind.source}): four test stations", circular=tuple(places)
            ),
            "traces_gait_parameters": _draw(
                walk.squares,
                f"Gait ({what}): the paper's kernel",
                densities=dict.fromkeys(walk.squares, _half_normal),
            ),
        },
        tables={"traces": table},
        paper=(
            "Traces and histograms of σ², l², κ and ν in the wind experiment with the Gaussian kernel, of the "
            "predicted directions at four test stations, and of σ², l² and g² in the gait experiment, where g² has "
            "two modes."
        ),
        ours=(
            f"Wind ({wind.source}): {_medians(named)}; R-hat at most {of_wind.rhat:.3f}. Gait ({what}), "
            f"{len(walk.task.train)} points learned: {_medians(walk.squares)}; R-hat at most {of_gait.rhat:.2f}; "
            f"modes of g²: {', '.join(f'{peak:.3g}' for peak in third) or 'none to look for'}."
        ),
        agrees=_agrees(of_wind, of_gait, third, quick=setting.quick),
        length=f"Wind: {length(of_wind, _WIND, quick=setting.quick)} "
        f"Gait: {length(of_gait, _GAIT, quick=setting.quick)}",
        facts={
            "wind": wind.source,
            "gait": what,
            "rhat_wind": of_wind.rhat,
            "rhat_gait": of_gait.rhat,
            "ess_wind": of_wind.ess,
        },
    )


def _fit_wind(setting: Setting, wind: Wind) -> Posterior:
    options = run_options(setting, quick_draws=300)
    kernel = paper_kernel(kernels.Gaussian)
    post, _ = fit(
        setting, wind.places, wind.directions, wind.new_places, kernel=kernel, drift="constant", **options
    )
    return post


def _spread(variance: FloatArray) -> list[int]:
    """Four places from the surest to the least sure, at even ranks."""
    order = np.argsort(variance)
    return [int(order[rank]) for rank in np.linspace(0, len(order) - 1, min(_SHOWN, len(order))).astype(int)]


def _numbers(what: str, draws: Mapping[str, FloatArray], post: Posterior) -> list[dict[str, Any]]:
    found = post.diagnostics()
    names = [name for name in post.parameters if name != "nugget"]
    rows = []
    for (mark, values), name in zip(draws.items(), names, strict=True):
        low, middle, high = _summary(mark, values)
        of_chains = circle.mean(values, axis=1) if mark in _CIRCULAR else values.mean(axis=1)
        rows.append(
            {
                "experiment": what,
                "quantity": mark,
                "quantile_05": low,
                "median": middle,
                "quantile_95": high,
                "rhat": found["rhat"][name],
                "ess": found["ess"][name],
                "chain_means": " ".join(f"{mean:.3g}" for mean in np.atleast_1d(of_chains)),
            }
        )
    return rows


def _angles(wind: Wind, post: Posterior, rows: list[int]) -> list[dict[str, Any]]:
    lower, upper = post.interval(0.9).T
    return [
        {
            "experiment": "wind",
            "quantity": f"station {row}",
            "longitude": wind.new_places[row, 0],
            "latitude": wind.new_places[row, 1],
            "quantile_05": lower[row],
            "median": post.mean[row],
            "quantile_95": upper[row],
            "observed": wind.new_directions[row],
        }
        for row in rows
    ]


def _medians(draws: Mapping[str, FloatArray]) -> str:
    found = {name: _summary(name, values) for name, values in draws.items()}
    return ", ".join(
        f"{name} {middle:.3g} ({low:.3g} to {high:.3g})" for name, (low, middle, high) in found.items()
    )


def _summary(name: str, values: FloatArray) -> tuple[float, float, float]:
    """Quantiles 0.05, 0.5 and 0.95; of an angle the ends of the shortest 90 % arc and the circular mean."""
    if name not in _CIRCULAR:
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        return float(low), float(middle), float(high)
    lower, upper = np.ravel(shortest_arc(values.ravel(), 0.9, origin=-np.pi))
    return float(lower), float(circle.mean(values.ravel())), float(upper)


def _agrees(of_wind: Health, of_gait: Health, third: list[float], *, quick: bool) -> str:
    parts = [f"the chains of the wind {'agree' if of_wind.sound else 'are too short to agree'}"]
    if third:
        doubt = "" if of_gait.sound else f", {DOUBT[quick]}"
        parts.append(f"g² of the gait has {'one mode' if len(third) == 1 else f'{len(third)} modes'}{doubt}")
    whole = of_wind.sound and of_gait.sound and len(third) > 1
    return f"{'yes' if whole else 'in part'}: {'; '.join(parts)}."


def _half_normal(values: FloatArray) -> FloatArray:
    return np.exp([_HALF_NORMAL.log_density(float(value)) for value in values])


def _draw(
    draws: Mapping[str, FloatArray],
    title: str,
    *,
    circular: Collection[str] = (),
    densities: Mapping[str, Callable[[FloatArray], FloatArray]] | None = None,
) -> Figure:
    heights = [2.9 if name in circular else 2.0 for name in draws]
    figure = Figure(figsize=(9.0, sum(heights) + 0.8), layout=round_layout())
    grid = figure.add_gridspec(len(draws), 2, width_ratios=(2.0, 1.0), height_ratios=heights)
    axes = [
        [
            figure.add_subplot(grid[row, 0]),
            figure.add_subplot(grid[row, 1], projection="polar" if name in circular else None),
        ]
        for row, name in enumerate(draws)
    ]
    plots.parameters(draws, circular=circular, scale=SCALE, priors=densities, axes=axes)
    figure.suptitle(title)
    return figure
