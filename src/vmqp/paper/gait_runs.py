"""The runs of the gait experiment: the paper's model and ours on the held-out curve, with their scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from vmqp import circle
from vmqp.circle import FloatArray
from vmqp.datasets import Gait, generated_gait, read_gait
from vmqp.learning import Method
from vmqp.paper.chains import fit, health, rhat_of_angles
from vmqp.paper.frame import Setting
from vmqp.paper.gait_task import Task, our_kernel, paper_kernel, task
from vmqp.posterior import Posterior
from vmqp.run import Converged

__all__ = ["Run", "run_ours", "run_paper", "the_gait"]

_METHOD = Method(
    inner_start="aligned"
)  # phases wind round a closed curve of places, fields of the model seldom do
_SQUARES = {"variance": "σ²", "lengthscale": "l²", "lengthscale_1": "l²", "lengthscale_2": "g²"}


@dataclass(frozen=True, eq=False)
class Run:
    """A posterior on the held-out curve, with the truth."""

    model: str
    task: Task
    rows: pd.DataFrame
    """The rows that were predicted."""
    posterior: Posterior
    seconds: float

    @property
    def truth(self) -> FloatArray:
        """True phases of the rows, in per cent."""
        return self.task.y(self.rows)

    @property
    def error(self) -> FloatArray:
        """Circular distance of the predicted mean from the truth, in per cent of the cycle."""
        return np.asarray(np.abs(circle.difference(self.posterior.mean, self.truth, period=100.0)))

    @property
    def squares(self) -> dict[str, FloatArray]:
        """Draws of σ², l² and g², (chains, draws)."""
        drawn = self.posterior.parameters
        return {
            mark: drawn[name] if name == "variance" else drawn[name] ** 2
            for name, mark in _SQUARES.items()
            if name in drawn
        }

    def row(self) -> dict[str, Any]:
        """A row of the table of scores."""
        post, found = self.posterior, health(self.posterior)
        return {
            "model": self.model,
            "held_out": self.task.held_out,
            "learned_points": len(self.task.train),
            "predicted_points": len(self.rows),
            "mean_error_pct": self.error.mean(),
            "largest_error_pct": self.error.max(),
            "coverage_90": post.coverage(self.truth, 0.9),
            "mean_arc_pct": post.width(0.9).mean(),
            "crps": post.crps(self.truth).mean(),
            "log_score": post.log_score(self.truth).mean(),
            "rhat": found.rhat,
            "rhat_angles": rhat_of_angles(post),
            "ess": found.ess,
            "chains": found.chains,
            "draws": found.draws,
            "seconds": self.seconds,
        }


def the_gait(setting: Setting) -> Gait:
    """The table of --data, or a generated one: with fewer phases if it has to be quick."""
    if setting.gait is not None:
        return read_gait(setting.gait)
    return generated_gait(points=30 if setting.quick else 50, seed=1)


def run_ours(setting: Setting, gait: Gait, *, held_out: str | None = None, whole: bool = False) -> Run:
    """Exponential factors and a nugget; predict 20 points of the held-out curve, or the whole of it."""
    made = task(gait, held_out)
    rows = made.test if whole else made.points
    options: dict[str, Any] = {"chains": 4, "warmup": 1000, "draws": 8000, "until": _enough()}
    if setting.quick:
        options = {"chains": 2, "warmup": 600, "draws": 250}
    post, seconds = fit(
        setting,
        made.X(made.train),
        made.y(made.train),
        made.X(rows),
        period=100.0,
        kernel=our_kernel(made),
        concentration=0.0,
        method=_METHOD,
        **options,
    )
    return Run("ours: exponential + nugget", made, rows, post, seconds)


def run_paper(setting: Setting, gait: Gait) -> Run:
    """The paper's kernel; a quick run learns from every third phase, since an iteration of the stiff kernel is long."""
    made = task(gait, every=3 if setting.quick else 1)
    options: dict[str, Any] = {"chains": 4, "warmup": 500, "draws": 12_000, "until": _enough()}
    if setting.quick:
        options = {"chains": 2, "warmup": 120, "draws": 150}
    post, seconds = fit(
        setting,
        made.X(made.train),
        made.y(made.train),
        made.X(made.points),
        period=100.0,
        kernel=paper_kernel(made),
        concentration=0.0,
        method=_METHOD,
        **options,
    )
    return Run("paper: Gaussian, no noise", made, made.points, post, seconds)


def _enough() -> Converged:
    return Converged(rhat=1.02, rhat_angles=1.02, ess=200, first=500)
