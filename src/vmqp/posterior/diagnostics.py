"""Whether the draws can be trusted: R-hat and effective sample sizes, and a verdict in words."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from vmqp.learning.learner import doubts
from vmqp.maps import Moments
from vmqp.run import Converged
from vmqp.run.diagnostics import LEAST_DRAWS, blocks

__all__ = ["Verdict", "diagnose", "judge", "moments_of", "parameters_of"]

_CIRCULAR = {"direction"}
_ONE_CHAIN = "There is one chain only, so nothing says whether it has converged: run 4 chains."


class Verdict(NamedTuple):
    """Whether to trust a result, and why or why not; made by `Posterior.verdict`.

    >>> verdict = Verdict(False, ("There is one chain only.", "Run 4 chains."))
    >>> verdict.trusted, str(verdict)
    (False, 'There is one chain only. Run 4 chains.')
    """

    trusted: bool
    """Whether the numbers can be used."""
    sentences: tuple[str, ...]
    """Why, or why not and what to do."""

    def __str__(self) -> str:
        return " ".join(self.sentences)


def diagnose(tree: xr.DataTree) -> pd.DataFrame:
    """R-hat and bulk effective sample size of each parameter and of each angle, the worse of its cosine and sine.

    Angles are named by what they are and their row among all places: ``angle[12]``. Where there are too few draws, or
    one chain only, the numbers that are not defined are missing.
    """
    posterior, moments = tree["posterior"].dataset, moments_of(tree)
    angles = {str(name): array.values for name, array in posterior.data_vars.items() if array.ndim == 3}
    if moments is not None:
        angles = {}
    learned = parameters_of(tree)
    parameters = {str(name): array.values for name, array in learned.data_vars.items() if array.ndim == 2}
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
    if moments is not None:
        places = posterior["angle_place"].values
        found = zip(moments.rhat().max(axis=0), moments.effective(), strict=True)
        rows |= dict(zip([f"angle[{place}]" for place in places], found, strict=True))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["rhat", "ess"])


def moments_of(tree: xr.DataTree) -> Moments | None:
    """Summaries over all steps of a map; None where draws are all there is."""
    if "totals" not in tree.children:
        return None
    totals = tree["totals"].dataset
    return Moments(totals["sums"].values, totals["counts"].values)


def parameters_of(tree: xr.DataTree) -> xr.Dataset:
    """The posterior of the parameters: of a map, that of its first stage."""
    return tree["learning" if "learning" in tree.children else "posterior"].dataset


def judge(table: pd.DataFrame, tree: xr.DataTree, target_ess: float) -> Verdict:
    """Say in words whether the draws can be trusted; every reason against it is named with what to do."""
    rule = Converged(ess=target_ess)
    posterior = tree["posterior"].dataset
    if "totals" in tree.children:
        return _judge_map(table, tree, rule)
    against = list(_judged(table, posterior, tree, rule))
    if against:
        return Verdict(False, tuple(against))
    worst_rhat, scarce = table["rhat"].max(), table["ess"].min()
    return Verdict(
        True,
        (
            f"The {posterior.sizes.get('chain', 1)} chains agree (R-hat at most {worst_rhat:.3f}) and hold at least "
            f"{scarce:.0f} effective "
            "samples of every parameter and angle.",
        ),
    )


def _judged(table: pd.DataFrame, posterior: xr.Dataset, tree: xr.DataTree, rule: Converged) -> Iterator[str]:
    """Reasons not to trust the draws of a group."""
    chains, draws = posterior.sizes.get("chain", 1), posterior.sizes.get("draw", 0)
    if chains < 2:
        yield _ONE_CHAIN
    elif draws < LEAST_DRAWS:
        yield f"There are {draws} draws of each chain, too few to judge: draw 1,000 or more."
    else:
        limits = np.where(_is_angular(table), rule.rhat_angles, rule.rhat)
        excess = (table["rhat"].to_numpy() - 1.0) / (limits - 1.0)
        worst = int(excess.argmax())
        if excess[worst] >= 1.0:
            yield (
                f"The chains disagree: R-hat of {table.index[worst]} is {table['rhat'].iloc[worst]:.3f}, where less "
                f"than {limits[worst]:g} is needed. Draw more, or warm up for longer."
            )
    scarce = table["ess"].min()
    if draws >= LEAST_DRAWS and scarce < rule.ess:
        name = table["ess"].idxmin()
        yield (
            f"There are {scarce:.0f} effective samples of {name}, where {rule.ess:.0f} are asked for: draw "
            f"{rule.ess / max(scarce, 1.0):.1f} times as many."
        )
    group = "learning_stats" if "learning_stats" in tree.children else "sample_stats"
    stats = {} if group not in tree.children else tree[group].dataset
    for sentence in doubts({str(name): stats[name].values for name in stats}):
        yield sentence[0].upper() + sentence[1:]


def _judge_map(table: pd.DataFrame, tree: xr.DataTree, rule: Converged) -> Verdict:
    """Of a map: the parameters as ever, the places by R-hat of both maps.

    Effective samples of a place are those given the parameters: they are told, and not judged by.
    """
    if tree["posterior"].sizes.get("chain", 1) < 2:
        return Verdict(False, (_ONE_CHAIN,))
    places = table.index.str.startswith("angle[")
    parameters = table[~places]
    against = list(_judged(parameters, tree["learning"].dataset, tree, rule)) if len(parameters) else []
    rhat, ess = table["rhat"][places], float(table["ess"][places].median())
    above = float((rhat >= rule.rhat_angles).mean())
    if above > 0.0:
        against.append(
            f"The chains disagree on the map: R-hat reaches {rhat.max():.3f} at {rhat.idxmax()}, and at "
            f"{100 * above:.2g} % of the places it is not below {rule.rhat_angles:g}. Draw more of the map."
        )
    if against:
        return Verdict(False, tuple(against))
    return Verdict(
        True,
        (
            f"The chains agree on the maps of mean and variance (R-hat at most {rhat.max():.3f}), with about {ess:.0f} "
            f"effective samples at a typical place, given the parameters{_sets(tree)}.",
        ),
    )


def _sets(tree: xr.DataTree) -> str:
    """Of how many sets of parameters a map is made."""
    count = int(tree.attrs.get("sets", 1))
    return f", of which there are {count} sets" if count > 1 else ""


def _is_angular(table: pd.DataFrame) -> list[bool]:
    return ["[" in str(name) or name in _CIRCULAR for name in table.index]
