"""Phase of the gait cycle from joint angles: ``fig:gait_data``, and the histograms of ``fig:gait_traces_hist``.

Learned at four levels of gradient or speed, predicted at the fifth; or learned from some runners, predicted for others.
The paper's noiseless Gaussian kernel (``eq:gait_kernel``) stands beside ours, exponential with a learned nugget. κ is
0, as in the paper: phases lie evenly round the circle.
"""

import numpy as np
import pandas as pd
from scipy.stats import gaussian_kde

from vmqp.circle import FloatArray
from vmqp.datasets import Gait
from vmqp.paper.chains import LIMIT, Health, health, length, rhat_of_angles
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.gait_pictures import draw_data, draw_histograms
from vmqp.paper.gait_runs import Run, run_ours, run_paper, the_gait

__all__ = ["DOUBT", "make", "peaks"]

_WANTED_ERROR, _WANTED_COVER = 2.5, (0.80, 0.97)
_ITERATIONS = 600_000
DOUBT = {
    True: "by chains that are too short to agree, so that it is not claimed",
    False: "by chains that disagree, so that it is not claimed",
}
"""Why modes are not claimed where chains disagree: after a quick run, and after a full one."""


def make(setting: Setting) -> Outcome:
    """Make the figure, its tables and its text."""
    gait = the_gait(setting)
    ours = run_ours(setting, gait)
    paper = run_paper(setting, gait)
    all_points = run_ours(setting, gait, whole=True)
    runs = [paper, ours, all_points]
    if not setting.quick and gait.by != "runner":
        others = [name for name in gait.groups if name != ours.task.held_out]
        runs += [run_ours(setting, gait, held_out=name) for name in others]
    scores = pd.DataFrame([run.row() for run in runs])
    modes = _modes([paper, ours])
    return Outcome(
        figures={
            "gait": draw_data(gait, [paper, ours]),
            "gait_parameters": draw_histograms({run.model: run.squares for run in (paper, ours)}),
        },
        tables={
            "gait_scores": scores,
            "gait_points": _points([paper, ours]),
            "gait_parameters": modes,
        },
        paper=(
            "Learned at gradients of ±5 and ±10 %, the phase at 20 points of the level run is predicted with high "
            "accuracy (no number is given; bars are proportional to the circular variance). The histogram of g², "
            "the third parameter, has two modes."
        ),
        ours=_what_we_got(gait, paper, ours, all_points, scores, modes),
        agrees=_agrees(ours, all_points, paper, modes, quick=setting.quick),
        length=f"Ours: {length(health(ours.posterior), _ITERATIONS, quick=setting.quick)} "
        f"The paper's kernel: {_short(health(paper.posterior))}.",
        facts={
            "data": _source(gait, setting),
            "held_out": ours.task.held_out,
            "mean_error_pct": float(ours.error.mean()),
            "coverage_90": ours.posterior.coverage(ours.truth, 0.9),
            "rhat_ours": health(ours.posterior).rhat,
            "rhat_paper_kernel": health(paper.posterior).rhat,
        },
    )


def peaks(draws: FloatArray) -> list[float]:
    """Modes of positive draws: peaks of a density of their logarithm, with a valley below 0.7 of the lower one.

    >>> rng = np.random.default_rng(1)
    >>> [round(peak) for peak in peaks(np.exp(np.log(4.0) + 0.2 * rng.standard_normal(1000)))]
    [4]
    >>> len(peaks(np.concatenate([rng.gamma(50.0, 0.02, 500), rng.gamma(50.0, 0.2, 500)])))
    2
    """
    logs = np.log(np.maximum(np.ravel(draws), 1e-300))
    grid = np.linspace(logs.min() - 0.5, logs.max() + 0.5, 400)
    height = gaussian_kde(logs)(grid)
    tops = [
        i
        for i in range(1, 399)
        if height[i - 1] < height[i] >= height[i + 1] and height[i] > 0.05 * height.max()
    ]
    found: list[int] = []
    for top in tops:
        if found and height[found[-1] : top + 1].min() > 0.7 * min(height[found[-1]], height[top]):
            found[-1] = max(found[-1], top, key=lambda i: float(height[i]))
        else:
            found.append(top)
    return [float(np.exp(grid[i])) for i in found]


def _points(runs: list[Run]) -> pd.DataFrame:
    parts = []
    for run in runs:
        lower, upper = run.posterior.interval(0.9).T
        parts.append(
            pd.DataFrame(
                {
                    "model": run.model,
                    "group": run.rows["group"],
                    "true_pct": run.truth,
                    "mean_pct": run.posterior.mean,
                    "error_pct": run.error,
                    "lower_pct": lower,
                    "upper_pct": upper,
                    "circular_variance": run.posterior.variance,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _modes(runs: list[Run]) -> pd.DataFrame:
    rows = []
    for run in runs:
        for name, draws in run.squares.items():
            found = peaks(draws)
            low, middle, high = np.quantile(draws, [0.05, 0.5, 0.95])
            rows.append(
                {
                    "model": run.model,
                    "parameter": name,
                    "quantile_05": low,
                    "median": middle,
                    "quantile_95": high,
                    "modes": len(found),
                    "modes_at": " ".join(f"{peak:.3g}" for peak in found),
                    "chain_means": " ".join(f"{mean:.3g}" for mean in draws.mean(axis=1)),
                }
            )
    return pd.DataFrame(rows)


def _third(modes: pd.DataFrame, run: Run) -> str:
    found = modes[(modes["model"] == run.model) & (modes["parameter"] == "g²")]
    if found.empty:
        return "there is no g² between runners"
    row = found.iloc[0]
    what = "one mode" if row["modes"] == 1 else f"{row['modes']} modes"
    return f"g² has {what} (at {row['modes_at']}; means of the chains {row['chain_means']})"


def _what_we_got(
    gait: Gait, paper: Run, ours: Run, whole: Run, scores: pd.DataFrame, modes: pd.DataFrame
) -> str:
    what = "Generated gait" if gait.generated else "Gait from a file"
    text = (
        f"{what}, {ours.task.by} {ours.task.held_out} held out; joint angles in radians"
        f"{', levels in steps' if ours.task.by != 'runner' else ', each curve about its own mean'}. "
        f"Ours at {len(ours.rows)} points: {_scored(ours)}; at all {len(whole.rows)} points: {_scored(whole)}. "
        f"The largest R-hat of ours is {health(ours.posterior).rhat:.2f}, of its predicted angles alone "
        f"{rhat_of_angles(ours.posterior):.3f}. "
        f"The paper's kernel, learned from {len(paper.task.train)} points: {_scored(paper)}, R-hat "
        f"{health(paper.posterior).rhat:.2f}. With the paper's kernel {_third(modes, paper)}; with ours "
        f"{_third(modes, ours)}."
    )
    if len(scores) > 3:
        rest = scores.iloc[3:]
        text += " The other levels held out in turn: " + "; ".join(
            f"{row.held_out} {row.mean_error_pct:.2f} % ({100 * row.coverage_90:.0f} % covered)"
            for row in rest.itertuples()
        )
        text += "."
    return text


def _scored(run: Run) -> str:
    return (
        f"mean error {run.error.mean():.2f} % of the cycle (at most {run.error.max():.1f}), 90 % arcs cover "
        f"{100 * run.posterior.coverage(run.truth, 0.9):.0f} % and are {run.posterior.width(0.9).mean():.1f} % long"
    )


def _agrees(ours: Run, whole: Run, paper: Run, modes: pd.DataFrame, *, quick: bool) -> str:
    rhat = max(rhat_of_angles(run.posterior) for run in (ours, whole))
    accurate = max(ours.error.mean(), whole.error.mean()) <= _WANTED_ERROR
    covers = [run.posterior.coverage(run.truth, 0.9) for run in (ours, whole)]
    calibrated = all(_WANTED_COVER[0] <= cover <= _WANTED_COVER[1] for cover in covers)
    parts = [
        "the phase is predicted accurately"
        if accurate
        else f"the error is above {_WANTED_ERROR} % of the cycle",
        "the arcs hold what they promise" if calibrated else "the 90 % arcs do not cover 80 to 97 %",
    ]
    if rhat > LIMIT:
        parts.append(f"by chains that do not agree yet (R-hat of predicted angles {rhat:.2f})")
    third = modes[(modes["parameter"] == "g²") & (modes["model"] == paper.model)]
    bimodal = False
    if len(third):
        bimodal = bool(third["modes"].iloc[0] > 1)
        parts.append(f"g² has {'more than one mode' if bimodal else 'one mode'} under the paper's kernel")
        if not health(paper.posterior).sound:
            bimodal = False
            parts.append(DOUBT[quick])
    whole_story = accurate and calibrated and bimodal and rhat <= LIMIT
    answer = "yes" if whole_story else "in part" if accurate or calibrated else "no"
    return f"{answer}: {', '.join(parts)}."


def _short(found: Health) -> str:
    claim = "" if found.sound else ", so nothing is claimed from it but what is said above"
    return f"{found.chains} chains of {found.draws:,} draws, R-hat {found.rhat:.2f}{claim}"


def _source(gait: Gait, setting: Setting) -> str:
    return "generated" if setting.gait is None else f"{setting.gait.name} (by {gait.by})"
