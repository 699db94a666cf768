"""Whether the draws can be trusted: R-hat and effective sample sizes, and a verdict in words."""

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from vmqp.circle import FloatArray
from vmqp.learning.learner import doubts
from vmqp.posterior.predictive import ClosedForm, is_fast
from vmqp.run import Converged
from vmqp.run.diagnostics import LEAST_DRAWS, blocks
from vmqp.tables import AngleRange

__all__ = [
    "CHOICE",
    "CONVERGED",
    "DOUBTS",
    "REMARKS",
    "REPLACED",
    "SIMULATION",
    "Verdict",
    "diagnose",
    "judge",
    "kernel_choice",
    "learned_draws",
    "parameters_in",
    "precision_of_means",
]

# Attributes of a result.
CONVERGED = "converged"
"""Of a fast fit: whether it is at a maximum."""
REPLACED = "replaces_chains"
"""Of a fast fit that stands for chains whose time was over."""
CHOICE = "kernel_choice"
"""The kernels that the default was chosen among, as JSON."""
REMARKS = "remarks"
"""Sentences about the parameters, as JSON."""

SIMULATION = "conditional simulation"
"""What results of a simulation say of their method."""
DOUBTS = "learning_doubts"
"""The attribute of a simulation that says why its parameters are not to be trusted."""
_CIRCULAR = {"direction"}
# R-hat of 50 independent draws of each of 4 chains exceeds 1.06 at one location in a thousand.
_RHAT_SIMULATED, _FEW = 1.1, 0.05
_SHOWN = 2  # of the kernels that were not chosen
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
    posterior = tree["posterior"].dataset
    angles = {str(name): array.values for name, array in posterior.data_vars.items() if array.ndim == 3}
    if "learning" in tree.children:  # angles at other data, drawn at some of the parameters
        angles = {}
    parameters = {str(name): array.values for name, array in learned_draws(tree).data_vars.items()}
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


def learned_draws(tree: xr.DataTree) -> xr.Dataset:
    """All draws of the parameters: where others are used with other data, those that were learned."""
    found = tree["learning" if "learning" in tree.children else "posterior"].to_dataset()
    return found[[name for name, array in found.data_vars.items() if array.ndim == 2]]


def parameters_in(tree: xr.DataTree, angles: AngleRange) -> dict[str, FloatArray]:
    """Draws of the learned parameters by name, (chains, draws); the direction ν in the period of the data."""
    found = {str(name): array.values for name, array in learned_draws(tree).data_vars.items()}
    if "direction" in found:
        draws = found["direction"]
        found["direction"] = np.asarray(angles.from_radians(draws), dtype=draws.dtype)
    return found


def precision_of_means(predictive: ClosedForm, table: pd.DataFrame, angles: AngleRange) -> tuple[str, ...]:
    """Say what the finite number of parameter draws leaves open in the mean directions."""
    if not len(table) or predictive.fast:
        return ()
    scarce = float(table["ess"].min())
    error = (
        predictive.monte_carlo_error(scarce if np.isfinite(scarce) else 1.0) / (2.0 * np.pi) * angles.period
    )
    unit = {"degrees": "°", "": ""}.get(angles.unit, f" {angles.unit}")
    used, every = predictive.sets, predictive.chains * predictive.drawn
    typical, largest = (f"{value:.2g}{unit}" for value in (np.median(error), error.max()))
    return (
        f"Predictions use {used:,} of {every:,} parameter draws, which leaves a Monte Carlo error of {typical} in a "
        f"typical mean direction and of at most {largest}.",
    )


def judge(table: pd.DataFrame, tree: xr.DataTree, target_ess: float) -> Verdict:
    """Say in words whether the draws can be trusted; every reason against it is named with what to do."""
    rule = Converged(ess=target_ess)
    posterior = tree["learning" if "learning" in tree.children else "posterior"].dataset
    if not len(table):
        return Verdict(True, ("Nothing was learned: all parameters are fixed numbers.",))
    if tree.attrs.get("method") == SIMULATION:
        found, learning = _judge_simulation(table, posterior), tree.attrs.get(DOUBTS)
        return found if learning is None else Verdict(False, (str(learning), *found.sentences))
    beside = (*_other_data(tree), *_about_kernel(tree))
    if is_fast(tree):
        return _judge_fast(tree, beside)
    against = list(_judged(table, posterior, tree, rule))
    if against:
        return Verdict(False, (*against, *beside))
    worst_rhat, scarce = table["rhat"].max(), table["ess"].min()
    return Verdict(
        True,
        (
            f"The {posterior.sizes.get('chain', 1)} chains agree (R-hat at most {worst_rhat:.3f}) and hold at least "
            f"{scarce:.0f} effective samples of every parameter"
            + (" and angle." if table.index.str.contains("[", regex=False).any() else "."),
            *beside,
        ),
    )


def _judge_fast(tree: xr.DataTree, beside: tuple[str, ...]) -> Verdict:
    """Of a fit without draws."""
    left_out = (
        "The parameters are those of the largest penalized pseudo-likelihood (a fast fit). Their uncertainty is left "
        "out, so that arcs are too narrow where observations are few."
    )
    if REPLACED in tree.attrs:
        over = "The time limit came before the chains were of use: these are the predictions of a fast fit."
        return Verdict(False, (over, left_out, *beside))
    if not tree.attrs[CONVERGED]:
        lost = "The search for the parameters has not ended at a maximum: give narrower priors, or more time."
        return Verdict(False, (lost, left_out, *beside))
    return Verdict(True, (left_out, *beside))


def kernel_choice(tree: xr.DataTree) -> pd.DataFrame:
    """The kernels that the default was chosen among, the best first; no rows where a kernel was given.

    Columns are the sum of the leave-one-out log densities at the fitted parameters, its difference from that of the
    chosen kernel, and the standard error of the difference.
    """
    columns = ["kernel", "elpd", "difference", "se"]
    return pd.DataFrame(json.loads(tree.attrs.get(CHOICE, "[]")), columns=columns).set_index("kernel")


def _about_kernel(tree: xr.DataTree) -> tuple[str, ...]:
    """Say which kernel was chosen and what came next, and name length scales that ran away."""
    remarks = tuple(json.loads(tree.attrs.get(REMARKS, "[]")))
    choice = kernel_choice(tree)
    if not len(choice):
        return remarks
    others = choice[1 : 1 + _SHOWN].itertuples()
    near = " and ".join(f"{row.Index} ({row.difference:+.1f} ± {row.se:.1f})" for row in others)
    return (
        f"Of {len(choice)} kernels {choice.index[0]} was chosen by leave-one-out; the next differ in log density by "
        f"{near}.",
        *remarks,
    )


def _other_data(tree: xr.DataTree) -> tuple[str, ...]:
    """Say where parameters were learned from other data than those that predictions are conditioned on."""
    if "conditioned" in tree.attrs:
        return ("The parameters were learned from other data.",)
    if "learned_with" not in tree.attrs:
        return ()
    n = tree["observed_data"].dataset["angle"].size
    return (f"The parameters were learned from {tree.attrs['learned_with']:,} of the {n:,} observations.",)


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
    stats = {} if "sample_stats" not in tree.children else tree["sample_stats"].dataset
    for sentence in doubts({str(name): stats[name].values for name in stats}):
        yield sentence[0].upper() + sentence[1:]


def _judge_simulation(table: pd.DataFrame, posterior: xr.Dataset) -> Verdict:
    """Of joint draws at parameters that were learned before: whether the chains agree on the angles."""
    rhat = table["rhat"][table.index.str.startswith("angle[")].dropna()
    chains, draws = posterior.sizes.get("chain", 1), posterior.sizes.get("draw", 0)
    if not len(rhat):
        return Verdict(False, (f"{chains} chains of {draws} draws are too few to judge: draw 200 or more.",))
    above = float((rhat >= _RHAT_SIMULATED).mean())
    if above > _FEW:
        sentence = (
            f"The chains of the simulation disagree: R-hat is {_RHAT_SIMULATED:g} or more at {100 * above:.0f} % of "
            f"the locations, and {rhat.max():.2f} at {rhat.idxmax()}. Draw more."
        )
        return Verdict(False, (sentence,))
    return Verdict(
        True,
        (
            f"The {chains} chains of {draws} joint draws agree (R-hat is {rhat.median():.3f} at a typical location, "
            f"and {_RHAT_SIMULATED:g} or more at {100 * above:.1f} % of them).",
        ),
    )


def _is_angular(table: pd.DataFrame) -> list[bool]:
    return ["[" in str(name) or name in _CIRCULAR for name in table.index]
