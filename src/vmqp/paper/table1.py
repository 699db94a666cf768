"""Circular CRPS of six models on the wind data: ``tab:wind``.

The shares of test stations are the paper's, seven splits of each. Its seeds are not published; ours are those of the
published code's split (18) and six more. All models get the same splits, and the climatology, which is the training
directions themselves, stands beside them: what is not better than that has learned nothing from the places.

The CRPS with d = 1 − cos (``app:crps``) sees a law only through its mean vector; the CRPS with the arc length and the
log score stand beside it.
"""

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from vmqp import scores
from vmqp.circle import FloatArray
from vmqp.comparison import Comparison, compare
from vmqp.errors import InputError
from vmqp.paper.chains import LIMIT
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.table1_models import ELEVATION, LONGER, NUGGET, PAPER, make_models
from vmqp.paper.table1_picture import picture
from vmqp.paper.wind_task import stations
from vmqp.run.files import write_whole

__all__ = ["SEEDS", "make"]

SEEDS = (18, 1, 2, 3, 4, 5, 6)
"""Of the splits: ``np.random.RandomState(seed).choice(260, held, replace=False)`` are the test stations."""
_SHARES = (0.1, 0.2, 0.3, 0.4)
_CLIMATOLOGY = "climatology"
_WANTED = 0.057
_ENOUGH = 200  # effective samples of every parameter and angle


def make(setting: Setting) -> Outcome:
    """Fit all models to all splits; fits that are done are kept in ``fits`` and not made again."""
    data, source, published = stations(setting)
    shares, seeds = ((0.2,), SEEDS[:1]) if setting.quick else (_SHARES, SEEDS)
    models = make_models(setting, elevation="elevation_m" in data)
    with _clock(setting) as clock:
        parts = {share: _compared(setting, models, data, share, seeds) for share in shares}
    fits = pd.concat([_with_seeds(part, share, seeds) for share, part in parts.items()], ignore_index=True)
    table = pd.concat(
        [_rows(part, share, data, seeds, published) for share, part in parts.items()], ignore_index=True
    )
    worst = float(fits["rhat"].max())
    left_out = len(shares) * len(seeds) * len(models) - len(fits)
    working = float(fits["seconds"].sum())
    return Outcome(
        figures={"table1": picture(table)},
        tables={"table1": table, "table1_fits": fits},
        paper=(
            "Mean and standard deviation of the CRPS over seven random splits. vMQP with the exponential kernel is "
            "best from 20 % test stations on (0.060, 0.057, 0.061), with the Gaussian one at 10 % (0.057); the "
            "projected Gaussian process has 0.063 to 0.072, the wrapped one 0.221 to 0.399."
        ),
        ours=f"{source}. {_in_words(table)}",
        agrees=_agreement(table, published=published, quick=setting.quick),
        length=_length(fits, left_out, clock["seconds"], quick=setting.quick),
        facts={
            "data": source,
            "seeds": ", ".join(map(str, seeds)),
            "fits": len(fits),
            "left_out": left_out,
            "rhat": worst,
            "ess": float(fits["ess"].min()),
            "wall_seconds_of_all_calls": clock["seconds"],
            "seconds_of_all_fits": working,
        },
    )


def _length(fits: pd.DataFrame, left_out: int, seconds: float, *, quick: bool) -> str:
    rhat, ess = fits["rhat"].max(), fits["ess"].min()
    found = f"The smallest number of effective samples is {ess:.0f}, the largest R-hat {rhat:.3f}"
    if quick:
        return (
            f"{len(fits)} fits of two short chains to one split: a quick run, not to be quoted. {found}. The paper ran "
            "200,000 iterations of one chain and states no effective sample size."
        )
    return (
        f"{len(fits)} fits of 4 chains until R-hat is below {LIMIT} and each parameter and angle has {_ENOUGH} "
        "effective samples; those that did not get there were made again with longer ones. "
        f"{found}; {left_out or 'no'} fits had to be left out. All took {seconds:,.0f} s of wall time. The paper ran "
        "200,000 iterations of one chain and states no effective sample size."
    )


@contextmanager
def _clock(setting: Setting) -> Iterator[dict[str, float]]:
    """Wall time of this call and of those before it that were stopped, kept beside the fits."""
    kept = setting.out / "fits" / "wall.json"
    spent = {"seconds": 0.0}
    if not setting.quick and kept.is_file():
        spent = {"seconds": float(json.loads(kept.read_text(encoding="utf-8"))["seconds"])}
    began = time.perf_counter()
    try:
        yield spent
    finally:
        spent["seconds"] += time.perf_counter() - began
        if not setting.quick and kept.parent.is_dir():
            write_whole(kept, lambda file: file.write(json.dumps(spent).encode()))


def _split(rows: int, share: float, seed: int) -> tuple[Any, Any]:
    held = np.sort(np.random.RandomState(seed).choice(rows, round(share * rows), replace=False))
    return np.setdiff1d(np.arange(rows), held), held


def _compared(
    setting: Setting, models: dict[str, Any], data: pd.DataFrame, share: float, seeds: tuple[int, ...]
) -> Comparison:
    splits = [_split(len(data), share, seed) for seed in seeds]
    first = _fitted(setting, models, data, splits, f"{100 * share:.0f}")
    if setting.quick or _sound(first.fits).all():
        return first
    return replace(first, fits=_longer(setting, models, data, splits, share, first.fits))


def _longer(
    setting: Setting,
    models: dict[str, Any],
    data: pd.DataFrame,
    splits: list[Any],
    share: float,
    fits: pd.DataFrame,
) -> pd.DataFrame:
    """Make the fits that did not converge again, with longer chains; what does not even then is left out."""
    rows = [fits[_sound(fits)]]
    for fit in fits[~_sound(fits)].itertuples():
        name, fold = str(fit.model), int(fit.fold)
        longer = type(models[name])(**models[name].get_params(deep=False) | LONGER)
        again = _fitted(
            setting, {name: longer}, data, [splits[fold]], f"{100 * share:.0f}-longer-{fold}"
        ).fits
        rows.append(again[_sound(again)].assign(fold=fold))
    return pd.concat(rows).sort_values(["fold", "model"], kind="stable").reset_index(drop=True)


def _sound(fits: pd.DataFrame) -> "pd.Series[bool]":
    return (fits["rhat"] <= LIMIT) & (fits["ess"] >= _ENOUGH)


def _fitted(
    setting: Setting, models: dict[str, Any], data: pd.DataFrame, splits: list[Any], folder: str
) -> Comparison:
    columns = [name for name in ("longitude", "latitude", "elevation_m") if name in data]
    found = compare(
        models,
        data[columns],
        data["direction_deg"],
        splits=splits,
        executor=setting.executor(len(data)),
        checkpoint=None if setting.quick else setting.out / "fits" / folder,
        progress=setting.progress,
    )
    if found.failures:
        reasons = " ".join(f"{name}: {reason}" for name, reason in found.failures.items())
        raise InputError(f"Table 1 needs all of its models. {reasons}")
    if not found.complete:
        raise KeyboardInterrupt
    return found


def _with_seeds(part: Comparison, share: float, seeds: tuple[int, ...]) -> pd.DataFrame:
    fits = part.fits.copy()
    fits.insert(0, "test", share)
    fits.insert(2, "seed", [seeds[fold] for fold in fits["fold"]])
    return fits.drop(columns=["fold", "trusted"])  # that is for the stricter limits of `Posterior.verdict`


def _rows(
    part: Comparison, share: float, data: pd.DataFrame, seeds: tuple[int, ...], published: bool
) -> pd.DataFrame:
    """One row for each model, in the order of the paper's table, with the paper's numbers; then the climatology."""
    table = part.table.drop(columns="untrusted")
    paper = PAPER if published else {}
    order = [name for name in (*PAPER, NUGGET, ELEVATION) if name in table.index]
    rows = table.loc[order].reset_index(names="model")
    rows.insert(0, "test", share)
    for position, column in enumerate(("paper_crps", "paper_crps_sd")):
        known = [paper.get(name, {}).get(share, (math.nan, math.nan))[position] for name in rows["model"]]
        rows.insert(4 + position, column, known)
    own = [_climatology(data, share, seed) for seed in seeds]
    last: dict[str, Any] = {"test": share, "model": _CLIMATOLOGY, "folds": len(own)}
    for column, values in zip(("crps", "crps_arc"), np.transpose(own), strict=True):
        last |= {column: values.mean(), f"{column}_sd": values.std(ddof=1) if len(own) > 1 else math.nan}
    last_row = pd.DataFrame([last]).reindex(columns=rows.columns)
    return pd.concat([rows, last_row.astype(rows.dtypes.to_dict())], ignore_index=True)


def _climatology(data: pd.DataFrame, share: float, seed: int) -> tuple[float, float]:
    learned, held = _split(len(data), share, seed)
    angles: FloatArray = np.radians(data["direction_deg"].to_numpy(dtype=float))
    draws = np.repeat(angles[learned][:, None], len(held), axis=1)
    own = [
        float(scores.crps(draws, angles[held], distance=kind, unbiased=False).mean())
        for kind in ("cosine", "arc")
    ]
    return own[0], math.degrees(own[1])


def _in_words(table: pd.DataFrame) -> str:
    sentences = []
    for name, rows in table.groupby("model", sort=False):
        numbers = ", ".join(f"{row.crps:.4f} at {100 * row.test:.0f} %" for row in rows.itertuples())
        sentences.append(f"{name}: {numbers}")
    return "CRPS, " + "; ".join(sentences) + "."


def _agreement(table: pd.DataFrame, *, published: bool, quick: bool) -> str:
    if not published:
        return "no: these are not the paper's stations, so that nothing can be compared."
    if quick:
        return "in part: one split and short chains show that it runs, no more."
    means = table.pivot(index="model", columns="test", values="crps")
    vmqp = means.loc["vMQP exponential"]
    wrapped = means.loc["wrapped GP"]
    nugget = float(means.loc[NUGGET, 0.2]) if NUGGET in means.index else math.nan
    return (
        f"in part: vMQP with the exponential kernel is within {_gap(vmqp, 'vMQP exponential'):.3f} of the paper, "
        f"but the wrapped process is nowhere near the paper's 0.22 to 0.40 (ours {wrapped.min():.3f} to "
        f"{wrapped.max():.3f}): the package that the paper used fails rotation equivariance. With a nugget vMQP has "
        f"{nugget:.4f} at 20 % ({'at most' if nugget <= _WANTED else 'above'} {_WANTED})."
    )


def _gap(means: "pd.Series[float]", name: str) -> float:
    return max(abs(float(value) - PAPER[name][float(share)][0]) for share, value in means.items())
