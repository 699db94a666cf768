"""How good predictions are: one location at a time, beside joint draws and two Gaussian processes of cosine and sine.

A fifth of the rows is held out, in seven splits of each data set: the wind data with and without elevation, a snapshot
of winds at buoys and coast stations, and escape directions of sandhoppers, 300 rows of each of the last two. The kernel
is chosen by leave-one-out but for elevation, which multiplies an exponential. Scores are means over the held-out rows
and the splits; CRPS with 1 − cos, and by arc in degrees; the log score is of densities a degree.

``python -m benchmarks accuracy`` takes about an hour on two cores. It is not part of ``make bench``.
"""

import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import vmqp
from vmqp import scores
from vmqp.peers import CosineSineGP

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SEEDS = (18, 1, 2, 3, 4, 5, 6)
ROWS = 300
ELEVATION = "exponential(columns=[longitude, latitude]) * exponential(columns=[elevation_m]) + nugget"
WANTED = {"wind": "CRPS at most 0.056", "wind, elevation": "CRPS at most 0.052"}


def problems() -> Iterator[tuple[str, pd.DataFrame, np.ndarray, dict[str, Any]]]:
    """Name, inputs, angles in degrees and options."""
    wind = pd.read_csv(DATA / "wind_germany.csv")
    angles = np.degrees(wind["dir_rad"].to_numpy()) % 360.0
    yield "wind", wind[["longitude", "latitude"]], angles, {}
    yield "wind, elevation", wind[["longitude", "latitude", "elevation_m"]], angles, {"kernel": ELEVATION}
    buoys = pd.read_csv(DATA / "ndbc_latest.csv").dropna(subset=["WDIR"])
    buoys = buoys.sample(ROWS, random_state=0)
    yield "ndbc", buoys[["LON", "LAT"]], buoys["WDIR"].to_numpy() % 360.0, {"metric": "geographic"}
    hoppers = pd.read_csv(DATA / "sandhoppers.csv").dropna(subset=["azim", "temp", "humid"])
    hoppers = hoppers.sample(ROWS, random_state=0)
    yield (
        "sandhoppers",
        hoppers[["azim", "temp", "humid"]],
        np.degrees(hoppers["angle"].to_numpy()) % 360.0,
        {},
    )


def splits(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    held = np.random.RandomState(seed).choice(n, n // 5, replace=False)
    return np.setdiff1d(np.arange(n), held), held


def scored(post: vmqp.Posterior, truth: np.ndarray) -> dict[str, float]:
    return {
        "crps": float(post.crps(truth).mean()),
        "crps_arc": float(post.crps(truth, distance="arc").mean()),
        "log_score": float(post.log_score(truth).mean()),
        "coverage_90": post.coverage(truth, 0.9),
        "coverage_50": post.coverage(truth, 0.5),
    }


def baseline(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame, truth: np.ndarray) -> dict[str, float]:
    model = CosineSineGP(period=360).fit(X, y)
    draws, actual = np.radians(model.draws(new, n=4000)), np.radians(truth)
    ends = {p: np.asarray(vmqp.arcs.shortest_arc(draws, p, axis=0)) for p in (0.9, 0.5)}
    return {
        "crps": float(scores.crps(draws, actual).mean()),
        "crps_arc": float(np.degrees(scores.crps(draws, actual, distance="arc")).mean()),
        "log_score": float("nan"),
        "coverage_90": float(scores.covered(ends[0.9][:, 0], ends[0.9][:, 1], actual).mean()),
        "coverage_50": float(scores.covered(ends[0.5][:, 0], ends[0.5][:, 1], actual).mean()),
    }


def fits(seeds: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    for name, X, y, options in problems():
        for seed in seeds:
            old, held = splits(len(y), seed)
            given = X.iloc[old], y[old], X.iloc[held]
            for mode in ("one location at a time", "fast", "transductive", "cosine and sine"):
                began = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", vmqp.ConvergenceWarning)
                    if mode == "cosine and sine":
                        found = baseline(*given, y[held])
                    else:
                        post = vmqp.regress(
                            *given,
                            period=360,
                            transductive=mode == "transductive",
                            inference="fast" if mode == "fast" else "bayes",
                            until=vmqp.run.Converged(rhat=1.02, ess=200),
                            draws=10_000,
                            progress=False,
                            **options,
                        )
                        found = scored(post, y[held])
                seconds = time.perf_counter() - began
                yield {"data": name, "mode": mode, "seed": seed, **found, "seconds": seconds}


def main(seeds: tuple[int, ...] = SEEDS) -> None:
    if not DATA.exists():
        print("\nAccuracy: the data are not here")
        return
    rows: list[dict[str, Any]] = []
    for row in fits(seeds):
        rows.append(row)
        print(
            f"  {row['data']}, {row['mode']}, split {row['seed']}: CRPS {row['crps']:.4f}",
            file=sys.stderr,
            flush=True,
        )
    table = pd.DataFrame(rows)
    print(f"\nAccuracy, means over {len(seeds)} splits; the worst split's CRPS in the last column")
    grouped = table.groupby(["data", "mode"], sort=False)
    summary = grouped.mean().drop(columns="seed").assign(worst_crps=grouped["crps"].max())
    print(summary.round(4).to_string())
    for name, wanted in WANTED.items():
        print(f"  wanted, {name}: {wanted}, 90 % arcs cover 0.88 to 0.94")
