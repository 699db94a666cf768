"""Two posteriors of the same data beside each other."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from vmqp.errors import InputError

if TYPE_CHECKING:
    from vmqp.posterior.posterior import Posterior

__all__ = ["compare"]


def compare(first: "Posterior", second: "Posterior", y_true: npt.ArrayLike | None = None) -> pd.DataFrame:
    """One row for each posterior: leave-one-out and, with the truth, CRPS and log score; the better one first.

    Columns ``…_difference`` are from the better row, with the standard error of the paired difference beside them.
    ``unreliable`` counts the observed angles whose k̂ is too high.
    """
    if not hasattr(second, "loo"):
        raise InputError(f"other is {second!r}: give another Posterior of the same data.")
    if len(first.y) != len(second.y) or not np.allclose(_turns(first), _turns(second)):
        raise InputError("the two posteriors have different observed angles: compare those of the same data.")
    pair = {"this": first, "other": second}
    loos = {name: posterior.loo() for name, posterior in pair.items()}
    # In densities per turn, so that posteriors in different units compare.
    shift = {name: np.log(posterior.period) for name, posterior in pair.items()}
    order = sorted(pair, key=lambda name: -(loos[name].elpd + len(first.y) * shift[name]))
    best = order[0]
    rows = {}
    for name in order:
        points = loos[name].pointwise + shift[name]
        apart = points - (loos[best].pointwise + shift[best])
        row = {
            "elpd_loo": points.sum(),
            "elpd_se": loos[name].se,
            "elpd_difference": apart.sum(),
            "difference_se": np.sqrt(len(apart)) * apart.std(),
            "unreliable": len(loos[name].unreliable),
        }
        if y_true is not None:
            row["crps"] = np.nanmean(pair[name].crps(y_true))
            # In turns, as the log score, so that units do not matter.
            row["crps_arc"] = np.nanmean(pair[name].crps(y_true, distance="arc")) / pair[name].period
            row["log_score"] = np.nanmean(pair[name].log_score(y_true) + shift[name])
        row["kernel"] = pair[name].attributes["kernel"]
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def _turns(posterior: "Posterior") -> npt.NDArray[np.complex128]:
    return np.asarray(np.exp(2j * np.pi * posterior.y / posterior.period))
