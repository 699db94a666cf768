"""Leave-one-out: how well each observed angle is predicted by all others.

The law of θ_i given all other angles and the parameters is known in closed form (`vmqp.learning.pointwise`), so that
``p(θ_i | other observations) = 1 / E[1 / p(θ_i | rest)]`` over the posterior. A plain average would be wrong: the
posterior has seen θ_i. The weights 1/p can have heavy tails; they are smoothed by a Pareto law, whose shape k̂ says
whether the estimate can be trusted (Vehtari, Simpson, Gelman, Yao and Gabry, 2024). The place of θ_i stays in the
model as one that is not observed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import logsumexp

from vmqp.circle import TWO_PI, FloatArray
from vmqp.errors import InputError
from vmqp.posterior.predictive import is_fast

__all__ = ["LeaveOneOut", "leave_one_out", "pareto_smoothed"]


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out log densities of the observed angles, in the units of the data; made by `Posterior.loo`.

    >>> rng = np.random.default_rng(1)
    >>> found = pareto_smoothed(-1.0 + 0.1 * rng.standard_normal((2, 500, 3)))
    >>> round(found.elpd, 1), found.unreliable.size, list(found.to_frame())
    (-3.0, 0, ['elpd', 'pareto_k'])
    """

    pointwise: FloatArray
    """log p(θ_i | all other observations), (n,)."""
    pareto_k: FloatArray
    """The shape k̂ of the tail of the weights, (n,): below `limit` the estimate is reliable."""
    limit: float

    @property
    def elpd(self) -> float:
        """The sum over the observed angles; larger is better."""
        return float(self.pointwise.sum())

    @property
    def se(self) -> float:
        """The standard error of the sum, from the spread over the observed angles."""
        return float(np.sqrt(len(self.pointwise)) * self.pointwise.std())

    @property
    def unreliable(self) -> NDArray[np.intp]:
        """Rows whose k̂ is above the limit."""
        return np.flatnonzero(~(self.pareto_k <= self.limit))

    def to_frame(self) -> pd.DataFrame:
        """One row for each observed angle."""
        return pd.DataFrame({"elpd": self.pointwise, "pareto_k": self.pareto_k})

    def __repr__(self) -> str:
        bad = len(self.unreliable)
        return (
            f"LeaveOneOut(elpd={self.elpd:.2f}, se={self.se:.2f}, n={len(self.pointwise)}, "
            f"{bad} with k̂ above {self.limit:.2f})"
        )


def leave_one_out(tree: xr.DataTree, period: float) -> LeaveOneOut:
    """Compute from the log-likelihoods of a run, in densities a unit of the angles."""
    if "log_likelihood" not in tree.children:
        raise InputError(
            "there is no leave-one-out, for the likelihoods were not kept or the parameters were learned from other "
            "data: fit a model to these."
        )
    likelihood = tree["log_likelihood"].dataset["angle"].values
    found = (
        LeaveOneOut(likelihood[0, 0].astype(float), np.zeros(likelihood.shape[2]), 0.7)  # nothing is weighted
        if is_fast(tree)
        else pareto_smoothed(likelihood)
    )
    shift = np.log(TWO_PI / period)
    return LeaveOneOut(found.pointwise + shift, found.pareto_k, found.limit)


def pareto_smoothed(log_likelihood: FloatArray) -> LeaveOneOut:
    """Compute from log p(θ_i | rest), (chains, draws, n), in blocks of rows.

    >>> rng = np.random.default_rng(1)
    >>> pareto_smoothed(-1.0 + 0.1 * rng.standard_normal((2, 500, 3))).pointwise.round(1).tolist()
    [-1.0, -1.0, -1.0]
    """
    from arviz_stats.base import array_stats  # type: ignore[attr-defined]  # its import is slow

    stats: Any = array_stats

    chains, draws, n = log_likelihood.shape
    total = chains * draws
    pointwise, pareto_k = np.empty(n), np.empty(n)
    for i in range(n):
        values = log_likelihood[..., i].astype(np.float64)
        effective = float(stats.ess(np.exp(values - values.max()), chain_axis=0, draw_axis=1))
        share = min(1.0, effective / total) if np.isfinite(effective) else 1.0
        flat = values.reshape(-1)
        if flat.max() - flat.min() < 1e-6:  # no tail to fit where all draws say the same
            pointwise[i], pareto_k[i] = flat.mean(), 0.0 if total > 1 else np.nan
            continue
        try:
            weights, k = stats.psislw(flat, r_eff=share)  # takes 1/p itself
        except (ValueError, IndexError):  # too few draws for a tail: plain weights, and nothing to rely on
            weights, k = -flat - logsumexp(-flat), np.nan
        pointwise[i] = logsumexp(np.asarray(weights) + flat)
        pareto_k[i] = float(k)
    limit = min(1.0 - 1.0 / np.log10(max(total, 11)), 0.7)
    return LeaveOneOut(pointwise, pareto_k, limit)
