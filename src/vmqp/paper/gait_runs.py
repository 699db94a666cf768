"""The runs of the gait experiment: the paper's kernel and ours on the held-out curve, predicted in two ways."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from vmqp import circle
from vmqp.circle import FloatArray
from vmqp.datasets import Gait, generated_gait, read_gait
from vmqp.learning import Method
from vmqp.paper.chains import fit, health, learn, rhat_of_angles
from vmqp.paper.frame import Setting
from vmqp.paper.gait_task import Task, our_kernel, paper_kernel, task
from vmqp.posterior import Posterior
from vmqp.run import Converged

__all__ = ["ALONE", "JOINT", "OURS", "PAPER", "Run", "run_alone", "run_jointly", "the_gait"]

PAPER, OURS = "paper: Gaussian, no noise", "ours: exponential + nugget"
JOINT, ALONE = "transductive", "one location at a time"
# Phases wind round a closed curve of locations, fields of the model seldom do.
_METHOD = Method(inner_start="aligned")
_SQUARES = {"variance": "σ²", "lengthscale": "l²", "lengthscale_1": "l²", "lengthscale_2": "g²"}


@dataclass(frozen=True, eq=False)
class Run:
    """A posterior on the held-out curve, with the truth."""

    model: str
    """`PAPER` or `OURS`."""
    prediction: str
    """`JOINT`, as in the paper, or `ALONE`."""
    task: Task
    rows: pd.DataFrame
    """The rows that were predicted."""
    posterior: Posterior
    seconds: float
    """Of learning, and of the joint draws with it."""

    @property
    def truth(self) -> FloatArray:
        """True phases of the rows, in per cent."""
        return self.task.y(self.rows)

    @property
    def error(self) -> FloatArray:
        """Circular distance of the predicted mean from the truth, in per cent of the cycle."""
        return np.asarray(np.abs(circle.difference(self.posterior.mean, self.truth, period=100.0)))

    @property
    def rmse(self) -> float:
        """Root of the mean squared error, in per cent of the cycle."""
        return float(np.sqrt(np.mean(self.error**2)))

    @property
    def coverage(self) -> float:
        """Fraction of the true phases within the 90 % arcs."""
        return self.posterior.coverage(self.truth, 0.9)

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
            "prediction": self.prediction,
            "held_out": self.task.held_out,
            "learned_points": len(self.task.train),
            "predicted_points": len(self.rows),
            "mean_error_pct": self.error.mean(),
            "rmse_pct": self.rmse,
            "largest_error_pct": self.error.max(),
            "coverage_90": self.coverage,
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


def run_jointly(
    setting: Setting, gait: Gait, model: str, *, held_out: str | None = None, whole: bool = False
) -> Run:
    """Learn and predict together, as the paper does: 20 points of the held-out curve, or the whole of it."""
    made, options = _model(setting, gait, model, held_out)
    rows = made.test if whole else made.points
    post, seconds = fit(setting, made.X(made.train), made.y(made.train), made.X(rows), **options)
    return Run(model, JOINT, made, rows, post, seconds)


def run_alone(setting: Setting, gait: Gait, model: str, *, held_out: str | None = None) -> tuple[Run, Run]:
    """Learn once, then predict one location at a time: 20 points of the held-out curve, and the whole of it."""
    made, options = _model(setting, gait, model, held_out)
    learned, seconds = learn(setting, made.X(made.train), made.y(made.train), **options)
    points, whole = (
        Run(model, ALONE, made, rows, learned.posterior(made.X(rows)), seconds)
        for rows in (made.points, made.test)
    )
    return points, whole


def _model(setting: Setting, gait: Gait, model: str, held_out: str | None) -> tuple[Task, dict[str, Any]]:
    """What is learned from, and with which options.

    A quick run of the paper's kernel learns from every third phase, since an iteration of the stiff kernel is long.
    """
    paper = model == PAPER
    made = task(gait, held_out, every=3 if paper and setting.quick else 1)
    options: dict[str, Any] = {
        "period": 100.0,
        "kernel": paper_kernel(made) if paper else our_kernel(made),
        "drift": "constant",
        "concentration": 0.0,
        "method": _METHOD,
    }
    if setting.quick:
        length = {"warmup": 120, "draws": 150} if paper else {"warmup": 600, "draws": 250}
        return made, options | {"chains": 2} | length
    length = {"warmup": 500, "draws": 12_000} if paper else {"warmup": 1000, "draws": 8000}
    enough = Converged(rhat=1.02, rhat_angles=1.02, ess=200, first=500)
    return made, options | {"chains": 4, "until": enough} | length
