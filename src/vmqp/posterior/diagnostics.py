"""Whether the draws can be trusted: R-hat and effective sample sizes, and a verdict in words."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from vmqp.learning.learner import doubts
from vmqp.run import Converged
from vmqp.run.diagnostics import LEAST_DRAWS, blocks

__all__ = ["Verdict", "diagnose", "judge"]

_CIRCULAR = {"direction"}


class Verdict(NamedTuple):
    """Whether to trust a result, and why or why not."""

    trusted: bool
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.sentences)


def diagnose(tree: xr.DataTree) -> pd.DataFrame:
    """R-hat and bulk effective sample size of each parameter and of each angle, the worse of its cosine and sine.

    Angles are named by what they are and their row among all places: ``angle[12]``. Where there are too few draws, or
    one chain only, the numbers that are not defined are missing.
    """
    posterior = tree["posterior"].dataset
    angles = {str(name): array.values for name, array in posterior.data_vars.items() if array.ndim == 3}
    parameters = {str(name): array.values for name, array in posterior.data_vars.items() if array.ndim == 2}
    rows: dict[str, tuple[float, float]] = {}
    for block in blocks(parameters, angles, _CIRCULAR):
        chains, draws, columns = block.values.shape
        rhat, ess = np.full(columns, np.nan), np.full(columns, np.nan)
        if draws >= LEAST_DRAWS:
            ess = block.ess()
            rhat = block.rhat() if chains > 1 else rhat
        if block.angular:
            rhat, ess = rhat.reshape(-1, 2).max(axis=1), ess.reshape(-1, 2).min(axis=1)
        labels = [block.name]
        if block.name in angles:
            places = posterior[f"{block.name}_place"].values[block.first : block.first + len(rhat)]
            labels = [f"{block.name}[{place}]" for place in places]
        rows |= dict(zip(labels, zip(rhat, ess, strict=True), strict=True))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["rhat", "ess"])


def judge(table: pd.DataFrame, tree: xr.DataTree, target_ess: float) -> Verdict:
    """Say in words whether the draws can be trusted; every reason against it is named with what to do."""
    rule = Converged(ess=target_ess)
    posterior = tree["posterior"]
    against: list[str] = []
    chains, draws = posterior.sizes.get("chain", 1), posterior.sizes.get("draw", 0)
    if chains < 2:
        against.append("There is one chain only, so nothing says whether it has converged: run 4 chains.")
    elif draws < LEAST_DRAWS:
        against.append(f"There are {draws} draws of each chain, too few to judge: draw 1,000 or more.")
    else:
        limits = np.where(_is_angular(table), rule.rhat_angles, rule.rhat)
        excess = (table["rhat"].to_numpy() - 1.0) / (limits - 1.0)
        worst = int(excess.argmax())
        if excess[worst] >= 1.0:
            against.append(
                f"The chains disagree: R-hat of {table.index[worst]} is {table['rhat'].iloc[worst]:.3f}, where less "
                f"than {limits[worst]:g} is needed. Draw more, or warm up for longer."
            )
    scarce = table["ess"].min()
    if draws >= LEAST_DRAWS and scarce < target_ess:
        name = table["ess"].idxmin()
        against.append(
            f"There are {scarce:.0f} effective samples of {name}, where {target_ess:.0f} are asked for: draw "
            f"{target_ess / max(scarce, 1.0):.1f} times as many."
        )
    stats = {} if "sample_stats" not in tree.children else tree["sample_stats"].dataset
    found = doubts({str(name): stats[name].values for name in stats})
    against += [sentence[0].upper() + sentence[1:] for sentence in found]
    if against:
        return Verdict(False, tuple(against))
    worst_rhat = table["rhat"].max()
    return Verdict(
        True,
        (
            f"The {chains} chains agree (R-hat at most {worst_rhat:.3f}) and hold at least {scarce:.0f} effective "
            "samples of every parameter and angle.",
        ),
    )


def _is_angular(table: pd.DataFrame) -> list[bool]:
    return ["[" in str(name) or name in _CIRCULAR for name in table.index]
