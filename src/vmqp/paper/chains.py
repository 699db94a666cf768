"""Regressions of the paper's experiments: run quietly, with their health in numbers and in words.

A short run is meant to be short, so its warnings are left out here; R-hat stands in every text and table instead.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from vmqp.errors import ConvergenceWarning
from vmqp.paper.frame import Setting
from vmqp.posterior import Posterior
from vmqp.regression import CircularRegressor, regress
from vmqp.run import Converged

__all__ = ["LIMIT", "Health", "fit", "health", "learn", "length", "rhat_of_angles", "run_options"]

_Result = TypeVar("_Result")

LIMIT = 1.02
"""R-hat up to which numbers are claimed."""


class Health(NamedTuple):
    """How far a run can be trusted: the worst of all parameters and angles."""

    rhat: float
    """Of all parameters and angles."""
    ess: float
    chains: int
    draws: int

    @property
    def sound(self) -> bool:
        """Whether the chains agree."""
        return self.rhat <= LIMIT


def fit(setting: Setting, X: Any, y: Any, X_new: Any, **options: Any) -> tuple[Posterior, float]:
    """Draw parameters and new angles together, as the paper does; return the posterior and the seconds that it took."""
    own = _run(setting, len(X) + len(X_new)) | {"transductive": True}
    return _timed(lambda: regress(X, y, X_new, **own | options))


def learn(setting: Setting, X: Any, y: Any, **options: Any) -> tuple[CircularRegressor, float]:
    """Learn the parameters from the observed data alone; return the model and the seconds that it took."""
    model = CircularRegressor(**_run(setting, len(X)) | options)
    return _timed(lambda: model.fit(X, y))


def _run(setting: Setting, locations: int) -> dict[str, Any]:
    return {"executor": setting.executor(locations), "progress": setting.progress, "seed": setting.seed}


def _timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return work(), time.perf_counter() - begin


def run_options(setting: Setting, *, quick_draws: int) -> dict[str, Any]:
    """Chains of the wind: until they agree and hold 200 effective samples, or short ones."""
    if setting.quick:
        return {"chains": 2, "warmup": 250, "draws": quick_draws}
    enough = Converged(rhat=LIMIT, rhat_angles=LIMIT, ess=200, first=500)
    return {"chains": 4, "warmup": 1000, "draws": 6000, "until": enough}


def rhat_of_angles(posterior: Posterior) -> float:
    """The largest R-hat of the predicted angles alone: a slow parameter need not be felt there.

    It is missing for predictions in closed form, which draw no angles.
    """
    table = posterior.diagnostics()
    return float(table["rhat"][[str(name).startswith("angle[") for name in table.index]].max())


def health(found: Posterior | CircularRegressor) -> Health:
    """The worst R-hat and effective sample size of a posterior, or of a learned model."""
    table = found.diagnostics()
    chains, draws = next(iter(found.parameters.values())).shape
    return Health(float(table["rhat"].max()), float(table["ess"].min()), chains, draws)


def length(found: Health, iterations: int, *, quick: bool) -> str:
    """How long a transductive run was beside the paper's number of iterations.

    >>> length(Health(1.0049, 512.3, 4, 1000), 200_000, quick=False)
    '4 chains of 1,000 draws: at least 512 effective samples of every parameter and angle, R-hat at most 1.005. The
    paper ran one chain of 200,000 iterations, 20,000 of them discarded, and states no effective sample size.'
    """
    short = " This was a quick run: short, and not to be quoted." if quick else ""
    return (
        f"{found.chains} chains of {found.draws:,} draws: at least {found.ess:.0f} effective samples of every "
        f"parameter and angle, R-hat at most {found.rhat:.3f}. The paper ran one chain of {iterations:,} "
        f"iterations, 20,000 of them discarded, and states no effective sample size.{short}"
    )
