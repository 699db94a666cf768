"""Fits in a fraction of a second: the maximum of the penalized pseudo-likelihood in place of draws.

It has the form of a run's result with one draw of the parameters, so that predictions, files, `condition` and reports
are those of any model. The uncertainty of the parameters is left out, and the verdict says so. The terms of the
pseudo-likelihood are the leave-one-out log densities at these parameters.
"""

import math
import time
from collections.abc import Callable

import numpy as np
import xarray as xr

from vmqp.learning import Learner, Problem
from vmqp.learning.optimum import Maximum
from vmqp.learning.pseudolikelihood import Observed, is_compiled
from vmqp.posterior.diagnostics import CONVERGED
from vmqp.posterior.predictive import FAST, INFERENCE
from vmqp.run import machine
from vmqp.run.result import make_result
from vmqp.run.store import Groups

__all__ = ["as_result", "fit_fast"]


def fit_fast(
    problem: Problem, seed: int, time_limit: float | None, fit: Callable[[Problem, float], Maximum]
) -> xr.DataTree:
    """Maximize by `fit`, which takes a deadline, and return the parameters with the data."""
    began = time.monotonic()
    maximum = fit(problem, math.inf if time_limit is None else began + time_limit)
    converged = maximum.converged
    tree = as_result(problem, maximum, seed, time.monotonic() - began, "optimum")
    tree.attrs[CONVERGED] = int(converged)
    return tree


def as_result(problem: Problem, maximum: Maximum, seed: int, seconds: float, stopped: str) -> xr.DataTree:
    """One draw of the parameters in the form of a run's result, and where there is no noise leave-one-out."""
    own = {name: np.full((1, 1), maximum.values[name]) for name in problem.learned}
    learner = Learner(problem, pointwise=problem.noise is None)
    description = learner.describe()
    pointwise = {}
    if problem.noise is None and is_compiled(problem):
        objective = maximum.search.objective
        same = isinstance(objective, Observed) and len(objective.rows) == problem.n
        terms = objective if same else Observed(problem, at=maximum.t, workers=machine.cores())
        assert isinstance(terms, Observed)
        pointwise["log_likelihood/angle"] = terms.pointwise(maximum.t)[None, None]
    tree = make_result(
        Groups(own, {}, {}, pointwise), description, seed=seed, stopped=stopped, seconds=seconds
    )
    for name in ("method", "warmup", "thin"):  # of chains
        del tree.attrs[name]
    tree.attrs[INFERENCE] = FAST
    return tree
