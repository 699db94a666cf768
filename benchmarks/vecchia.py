"""How much a sparse precision costs in accuracy: the same predictions with few neighbours and with all.

Both are drawn at the same sets of parameters, about the maximum of the pseudo-likelihood, so that what differs is the
precision and the noise of the draws alone. The last row is what two dense runs with different seeds differ by.
"""

import time
from dataclasses import replace

import numpy as np

from benchmarks.problems import stations
from vmqp import circle, datasets, kernels, priors
from vmqp.learning import Problem, make_problem
from vmqp.learning.pseudolikelihood import maximize
from vmqp.posterior import Facts, Posterior
from vmqp.regression.simulate import simulation_task
from vmqp.run import run_chains
from vmqp.tables import AngleRange

SETS, DRAWS, CHAINS = 16, 96, 2
NEIGHBOURS = (5, 10, 20, 30)
WANTED = {"crps": 0.001, "mean": 0.03}
Found = tuple[np.ndarray, float, float]  # means in radians, mean CRPS, seconds


def wind() -> tuple[str, Problem, np.ndarray]:
    places, directions, source = stations()
    new = np.random.RandomState(18).choice(260, 52, replace=False)
    old = np.setdiff1d(np.arange(260), new)
    return source, problem(places[old], directions[old], places[new]), directions[new]


def generated() -> tuple[str, Problem, np.ndarray]:
    field = datasets.wind_field(stations=1200, held_out=300, seed=5)
    seen, held = field.frame, field.held_out
    angles = [np.radians(frame["direction"].to_numpy(dtype=float)) for frame in (seen, held)]
    places = [frame[["longitude", "latitude"]].to_numpy(dtype=float) for frame in (seen, held)]
    return "generated wind field, 1,500 stations", problem(places[0], angles[0], places[1]), angles[1]


def problem(places: np.ndarray, angles: np.ndarray, new: np.ndarray) -> Problem:
    kernel = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1))
    kernel = kernel + kernels.Nugget(priors.HalfNormal(0.1))
    return make_problem(places, angles, new, kernel=kernel, drift="mean")


def sets(given: Problem) -> dict[str, np.ndarray]:
    """Parameters about the maximum."""
    best = maximize(given)
    rng = np.random.default_rng(3)
    steps = best.u + rng.standard_normal((SETS, len(best.u))) @ np.linalg.cholesky(best.covariance).T
    values = [given.values(u) | {"direction": best.direction} for u in steps]
    return {name: np.array([value[name] for value in values]) for name in values[0]}


def predict(given: Problem, at: dict[str, np.ndarray], truth: np.ndarray, seed: int) -> Found:
    task = simulation_task(given, at)
    began = time.perf_counter()
    tree = run_chains(task, chains=CHAINS, draws=DRAWS, seed=seed, progress=False, workers=1)
    seconds = time.perf_counter() - began
    post = Posterior(tree, Facts(AngleRange(2.0 * np.pi, True, "radians")))
    # The mean of the distributions given all other angles is less noisy than that of the draws.
    moment = post._predictive.components(slice(None)).moment().mean(axis=0)
    return np.angle(moment), float(post.crps(truth).mean()), seconds


def main() -> None:
    for make in (wind, generated):
        source, given, truth = make()
        at = sets(given)
        exact = predict(given, at, truth, 1)
        again = predict(given, at, truth, 2)
        new = given.d - given.n
        print(f"\nSparse against dense: {source}, {given.n} observed, {new} new, {SETS} sets of parameters")
        print(f"  {'neighbours':>12s} {'CRPS':>8s} {'difference':>11s} {'means, rms':>11s} {'seconds':>8s}")
        print(f"  {'all (dense)':>12s} {exact[1]:8.4f} {'':>11s} {'':>11s} {exact[2]:8.1f}")
        for k in NEIGHBOURS:
            wanted = "" if k != 30 else f"   wanted: below {WANTED['crps']} and {WANTED['mean']}"
            show(str(k), predict(replace(given, neighbors=k), at, truth, 1), exact, wanted)
        show("dense again", again, exact)


def show(label: str, found: Found, exact: Found, wanted: str = "") -> None:
    gap = np.asarray(circle.difference(found[0], exact[0]))
    rms = float(np.sqrt(np.mean(gap**2)))
    line = f"  {label:>12s} {found[1]:8.4f} {found[1] - exact[1]:11.5f} {rms:11.4f} {found[2]:8.1f}{wanted}"
    print(line, flush=True)
