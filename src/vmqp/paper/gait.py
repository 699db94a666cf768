"""Phase of the gait cycle from joint angles: ``fig:gait_data``, and the histograms of ``fig:gait_traces_hist``.

Learned at four levels of gradient or speed, predicted at the fifth; or learned from some runners, predicted for others.
The paper's noiseless Gaussian kernel (``eq:gait_kernel``) stands beside ours, exponential with a learned nugget. κ is
0, as in the paper: phases lie evenly round the circle. Both predict in two ways: transductive, as in the paper, and one
location at a time from what was learned without the new locations.
"""

import numpy as np
import pandas as pd
from scipy.stats import gaussian_kde

from vmqp.circle import FloatArray
from vmqp.datasets import Gait
from vmqp.paper.chains import LIMIT, Health, health, length, rhat_of_angles
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.gait_pictures import draw_data, draw_histograms
from vmqp.paper.gait_runs import JOINT, OURS, PAPER, Run, run_alone, run_jointly, the_gait

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
    paper, ours = (run_jointly(setting, gait, model) for model in (PAPER, OURS))
    whole = run_jointly(setting, gait, OURS, whole=True)
    (paper_alone, _), (ours_alone, whole_alone) = (run_alone(setting, gait, model) for model in (PAPER, OURS))
    runs = [paper, ours, whole, paper_alone, ours_alone, whole_alone]
    others: list[Run] = []
    if not setting.quick and gait.by != "runner":
        for name in gait.groups:
            if name != ours.task.held_out:
                others.append(run_jointly(setting, gait, OURS, held_out=name))
                others.append(run_alone(setting, gait, OURS, held_out=name)[0])
    shown = [paper, ours, paper_alone, ours_alone]
    modes = _modes([paper, ours])
    return Outcome(
        figures={
            "gait": draw_data(gait, shown),
            "gait_parameters": draw_histograms({run.model: run.squares for run in (paper, ours)}),
        },
        tables={
            "gait_scores": pd.DataFrame([run.row() for run in (*runs, *others)]),
            "gait_points": _points(shown),
            "gait_parameters": modes,
        },
        paper=(
            "Learned at gradients of ±5 and ±10 %, the phase at 20 points of the level run is predicted with high "
            "accuracy (no number is given; bars are proportional to the circular variance). The histogram of g², "
            "the third parameter, has two modes."
        ),
        ours=_what_we_got(gait, runs, others, modes),
        agrees=_agrees(runs, modes, quick=setting.quick),
        length=f"Ours: {length(health(ours.posterior), _ITERATIONS, quick=setting.quick)} "
        f"The paper's kernel: {_short(health(paper.posterior))}. One location at a time, ours: "
        f"{_short(health(ours_alone.posterior))}; the paper's kernel: {_short(health(paper_alone.posterior))}.",
        facts={
            "data": _source(gait, setting),
            "held_out": ours.task.held_out,
            "mean_error_pct": float(ours.error.mean()),
            "coverage_90": ours.coverage,
            "mean_error_pct_one_at_a_time": float(ours_alone.error.mean()),
            "coverage_90_one_at_a_time": ours_alone.coverage,
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
                    "prediction": run.prediction,
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


def _what_we_got(gait: Gait, runs: list[Run], others: list[Run], modes: pd.DataFrame) -> str:
    paper, ours, whole, paper_alone, ours_alone, whole_alone = runs
    what = "Generated gait" if gait.generated else "Gait from a file"
    text = (
        f"{what}, {ours.task.by} {ours.task.held_out} held out; joint angles in radians"
        f"{', levels in steps' if ours.task.by != 'runner' else ', each curve about its own mean'}. "
        f"Ours, transductive as in the paper, at {len(ours.rows)} points: {_scored(ours)}; at all {len(whole.rows)} "
        f"points: {_scored(whole)}. Ours, learned without the new locations and predicted one location at a time, at "
        f"{len(ours.rows)} points: {_scored(ours_alone)}; at all {len(whole.rows)} points: {_scored(whole_alone)}. "
        f"The paper's kernel, learned from {len(paper.task.train)} points, transductive: {_scored(paper)}; one "
        f"location at a time: {_scored(paper_alone)}. The largest R-hat of ours, transductive, is "
        f"{health(ours.posterior).rhat:.2f}, of its predicted angles alone {rhat_of_angles(ours.posterior):.3f}; of "
        f"the paper's kernel {health(paper.posterior).rhat:.2f}. With the paper's kernel {_third(modes, paper)}; with "
        f"ours {_third(modes, ours)}."
    )
    if others:
        pairs = zip(others[::2], others[1::2], strict=True)
        text += " The other levels held out in turn, transductive and one location at a time: " + "; ".join(
            f"{joint.task.held_out} {_brief(joint)} and {_brief(alone)}" for joint, alone in pairs
        )
        text += "."
    return text


def _scored(run: Run) -> str:
    return (
        f"mean error {run.error.mean():.2f} % of the cycle (RMSE {run.rmse:.2f}, at most {run.error.max():.1f}), 90 % "
        f"arcs cover {100 * run.coverage:.0f} % and are {run.posterior.width(0.9).mean():.1f} % long, log score "
        f"{run.posterior.log_score(run.truth).mean():.2f}"
    )


def _brief(run: Run) -> str:
    return f"{run.error.mean():.2f} % ({100 * run.coverage:.0f} % covered)"


def _agrees(runs: list[Run], modes: pd.DataFrame, *, quick: bool) -> str:
    paper, ours = runs[0], [run for run in runs if run.model == OURS]
    rhat = max(rhat_of_angles(run.posterior) for run in ours if run.prediction == JOINT)
    accurate = max(run.error.mean() for run in ours) <= _WANTED_ERROR
    calibrated = all(_WANTED_COVER[0] <= run.coverage <= _WANTED_COVER[1] for run in ours)
    shown = [run for run in ours if len(run.rows) == len(ours[0].rows)]
    errors = " and ".join(f"{run.error.mean():.2f} % {run.prediction}" for run in shown)
    covers = " and ".join(f"{100 * run.coverage:.0f} % {run.prediction}" for run in shown)
    parts = [
        f"the phase is predicted accurately (mean error {errors})"
        if accurate
        else f"the error is above {_WANTED_ERROR} % of the cycle ({errors})",
        "the arcs hold what they promise"
        if calibrated
        else f"the 90 % arcs cover {covers}, where 80 to 97 % are wanted",
    ]
    if rhat > LIMIT:
        parts.append(f"by chains that do not agree yet (R-hat of predicted angles {rhat:.2f})")
    third = modes[(modes["parameter"] == "g²") & (modes["model"] == PAPER)]
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
