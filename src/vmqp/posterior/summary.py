"""Learned parameters in one table."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from vmqp import arcs, circle
from vmqp.circle import FloatArray
from vmqp.tables import AngleRange

__all__ = ["MEANINGS", "meaning", "summarise"]

MEANINGS = {
    "variance": "how far the angles swing between distant places (σ²)",
    "lengthscale": "the distance over which angles are alike (l)",
    "nugget": "scatter of single observations, in radians squared (τ²)",
    "concentration": "how strongly all angles are pulled to one direction (κ)",
    "direction": "the direction that all angles are drawn to (ν)",
    "noise": "how closely observations follow the process (χ); larger is closer",
    "correlation": "how alike the angles of different categories are",
    "period": "the period of repetition",
    "alpha": "the mixture of length scales",
    "mean": "mean of the vectors whose directions the angles are, in units of the process",
    "stretch": "how much longer the vectors scatter along one axis; the axis stands at half its angle",
}
"""Parameters in words, by the first part of their name."""


def meaning(name: str) -> str:
    """Say what a parameter is.

    >>> meaning("lengthscale_east")
    'the distance over which angles are alike (l), east'
    """
    first, _, rest = name.partition("_")
    words = MEANINGS.get(first, "")
    return f"{words}, {rest}" if words and rest else words


def summarise(
    parameters: Mapping[str, FloatArray], diagnostics: pd.DataFrame, probability: float, angles: AngleRange
) -> pd.DataFrame:
    """Mean, standard deviation, shortest interval, R-hat and effective sample size; circular ones of the direction."""
    rows = {}
    for name, draws in parameters.items():
        flat = np.asarray(draws, dtype=float).reshape(-1)
        if name == "direction":
            mean = circle.mean(flat, period=angles.period, origin=angles.origin)
            deviation = circle.standard_deviation(flat, period=angles.period)
            lower, upper = arcs.shortest_arc(flat, probability, period=angles.period, origin=angles.origin)
        else:
            mean, deviation = flat.mean(), flat.std(ddof=1) if flat.size > 1 else 0.0
            lower, upper = np.quantile(flat, [0.5 - probability / 2, 0.5 + probability / 2])
        rows[name] = (mean, deviation, lower, upper, *diagnostics.loc[name, ["rhat", "ess"]], meaning(name))
    columns = ["mean", "sd", "lower", "upper", "rhat", "ess", "meaning"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)
