"""The result of a comparison: each fit, and a table of the models."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["Comparison"]

_SCORES = ("crps", "crps_arc", "log_score", "coverage", "width")
_PAIRED = ("crps", "crps_arc", "log_score")


@dataclass(frozen=True, eq=False)
class Comparison:
    """How models did on the same splits; made by `vmqp.comparison.compare`.

    >>> from vmqp import CircularRegressor, comparison
    >>> X = np.linspace(0.0, 4.0, 12)[:, None]
    >>> short = {"period": 360, "concentration": 0, "warmup": 20, "draws": 50, "chains": 2}
    >>> models = {
    ...     name: CircularRegressor(kernel=f"1.0 * {name}(2.0)", **short) for name in ("exponential", "matern32")
    ... }
    >>> found = comparison.compare(models, X, 80.0 * X[:, 0], folds=2, progress=False)
    >>> found.best, len(found.fits), found.complete
    ('matern32', 4, True)
    """

    fits: pd.DataFrame
    """One row for each fit.

    Columns are model, fold, the mean scores (crps, with the distance 1 − cos; crps_arc, with the arc length in the
    user's unit; log_score, nan for a model without a density), coverage and mean width of the 90 % arcs, the largest
    rhat and the smallest ess of its parameters and angles (nan for a baseline), trusted, seconds.
    """
    failures: dict[str, str]
    """Models that could not be fitted, and why; they are not in the table."""
    complete: bool
    """Whether all fits were made; False after Ctrl-C."""
    ratio: float
    """Held-out rows for each row that was learned from; the mean over splits."""

    @property
    def table(self) -> pd.DataFrame:
        """One row for each model, the best by CRPS first.

        Scores, coverage and width are means over the splits, with their standard deviations as ``…_sd``. Of both CRPS
        and the log score, ``…_difference`` is the mean of the paired differences from the best, and
        ``…_difference_se`` its standard error, with the correction for splits that share data (Nadeau and Bengio,
        2003). ``rhat`` is the largest and ``ess`` the smallest of all fits. ``untrusted`` counts fits whose diagnostics
        did not hold; ``seconds`` is the time of a fit while others shared the machine.
        """
        groups = {str(name): rows.set_index("fold") for name, rows in self.fits.groupby("model", sort=False)}
        order = sorted(groups, key=lambda name: float(groups[name]["crps"].mean()))
        rows: dict[str, dict[str, float]] = {}
        for name in order:
            own, row = groups[name], dict[str, float]()
            for score in _SCORES:
                row |= {score: float(own[score].mean()), f"{score}_sd": float(own[score].std(ddof=1))}
            for score in _PAIRED:
                apart = (own[score] - groups[order[0]][score]).dropna().to_numpy()
                row[f"{score}_difference"] = float(apart.mean()) if len(apart) else math.nan
                row[f"{score}_difference_se"] = self._standard_error(apart)
            row |= {"rhat": float(own["rhat"].max()), "ess": float(own["ess"].min())}
            row["seconds"] = float(own["seconds"].mean())
            rows[name] = {**row, "folds": len(own), "untrusted": int((~own["trusted"].astype(bool)).sum())}
        table = pd.DataFrame.from_dict(rows, orient="index")
        return table.astype({"folds": int, "untrusted": int}) if len(table) else table

    @property
    def best(self) -> str:
        """The model with the smallest mean CRPS."""
        return str(self.table.index[0])

    def _standard_error(self, apart: NDArray[np.float64]) -> float:
        if len(apart) < 2:
            return math.nan
        return float(np.sqrt((1.0 / len(apart) + self.ratio) * apart.var(ddof=1)))

    def __repr__(self) -> str:
        lost = "".join(f"\n{name}: {reason}" for name, reason in self.failures.items())
        return f"{self.table.round(4).to_string()}{lost}"

    def _repr_html_(self) -> str:
        return str(self.table.to_html(float_format=lambda value: f"{value:.4g}", border=0))
