"""Predictions from a learned model: one query, many locations beside the triangular solves, a map, nearest neighbors.

Learning is short here but for the map: how long a prediction takes does not depend on which parameters were learned.
"""

import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

import vmqp
from benchmarks.problems import stations
from vmqp import circle, datasets
from vmqp.posterior.predictive import ClosedForm
from vmqp.run import machine

SHORT = {"period": 360, "chains": 4, "draws": 100, "warmup": 100, "progress": False}
NEIGHBORS = (10, 20, 30, 40, 50, 100)
MAP = 1000


def learned(X: np.ndarray, y: np.ndarray, **more: object) -> vmqp.CircularRegressor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vmqp.ConvergenceWarning)
        return vmqp.CircularRegressor(**SHORT | more).fit(X, y)  # type: ignore[arg-type]


def wind(n: int = 260) -> tuple[np.ndarray, np.ndarray]:
    X, radians, _ = stations()
    return X[:n], np.degrees(radians[:n]) % 360.0


def generated(n: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    field = datasets.wind_field(stations=n, held_out=1, seed=seed)
    return field.frame[["longitude", "latitude"]].to_numpy(float), field.frame["direction"].to_numpy(float)


def smooth(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A smooth field on a square, with scatter of 10 degrees."""
    rng = np.random.default_rng(4)
    X = rng.uniform(0.0, 6.0, (n, 2))
    return X, np.mod(70.0 * np.sin(X[:, 0]) + 40.0 * X[:, 1] + rng.normal(0.0, 10.0, n), 360.0)


def inside(X: np.ndarray, m: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(X.min(axis=0), X.max(axis=0), (m, X.shape[1]))


def median_time(work: Callable[[int], object], count: int) -> float:
    work(0)
    taken = []
    for i in range(count):
        began = time.perf_counter()
        work(i)
        taken.append(time.perf_counter() - began)
    return float(np.median(taken))


def one_query() -> None:
    print("\nOne query, from input to mean direction, n = 400 observed")
    X, y = generated(400)
    new = inside(X, 200)
    model = learned(X, y)
    for draws, wanted in ((200, 5), (32, 1)):
        model.set_params(parameter_draws=draws)
        taken = median_time(lambda i: model.predict(new[i : i + 1]), 200)
        print(f"  {draws:3d} parameter draws {1e3 * taken:6.2f} ms   wanted: below {wanted} ms")


def beside_solves() -> None:
    m, n, sets = 10_000, 208, 200
    X, y = wind(n)
    model = learned(X, y, parameter_draws=sets)
    new = inside(X, m)
    post = model.posterior(new[:10])
    assert isinstance(post._predictive, ClosedForm)
    _ = post.mean
    factors = [
        np.asfortranarray(np.linalg.inv(f[:n]).T) for f in post._predictive.kriging._factors if f is not None
    ]
    right = np.asfortranarray(np.random.default_rng(0).normal(size=(n, m)))
    cores = machine.cores()

    def solves() -> None:
        for upper in factors:
            solve_triangular(upper, right, trans=1, lower=False, check_finite=False)

    def solves_in_threads() -> None:
        with ThreadPoolExecutor(cores) as pool:
            list(pool.map(lambda u: solve_triangular(u, right, trans=1, check_finite=False), factors))

    taken = {}
    for name, work in (("predictions", lambda: model.posterior(new).mean), ("solves", solves)):
        began = time.perf_counter()
        with threadpool_limits(cores):
            work()
        taken[name] = time.perf_counter() - began
    began = time.perf_counter()
    with threadpool_limits(1):
        solves_in_threads()
    taken["solves"] = min(taken["solves"], time.perf_counter() - began)
    print(f"\n{m:,} locations from n = {n} with {len(factors)} parameter draws, {cores} threads")
    print(
        f"  mean directions {taken['predictions']:.2f} s, triangular solves alone {taken['solves']:.2f} s: ratio "
        f"{taken['predictions'] / taken['solves']:.2f}   wanted: at most 2"
    )
    began = time.perf_counter()
    model.posterior(new).interval(0.9)
    print(f"  mean, variance and 90 % arcs {time.perf_counter() - began:.2f} s", flush=True)


def large_map() -> None:
    X, y = wind()
    model = vmqp.CircularRegressor(period=360, progress=False).fit(X, y)
    axes = [np.linspace(X[:, c].min(), X[:, c].max(), MAP) for c in range(2)]
    grid = np.stack([part.ravel() for part in np.meshgrid(*axes)], axis=1)
    with threadpool_limits(machine.cores()):
        began = time.perf_counter()
        post = model.posterior(grid)
        post.interval(0.9)
        print(
            f"\nA map of {MAP} x {MAP} from {len(X)} stations: mean, variance and 90 % arcs in "
            f"{time.perf_counter() - began:.0f} s on {machine.cores()} cores   wanted: below 300 s"
        )
    print(f"  {post.verdict()}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"  {post._predictive.components(slice(0, 1)).direction.shape[0]} parameter draws; peak memory of the "  # type: ignore[attr-defined]
        f"process {peak:.2f} GB   wanted: at most 2 GB",
        flush=True,
    )


def nearest_against_all() -> None:
    print("\nThe k nearest observed locations in place of all: mean directions, at the same parameter draws")
    print(
        "  data                      k    rms of the difference    as a fraction of the predictive deviation, worst"
    )
    for name, (X, y) in {
        "wind, n = 260": wind(),
        "generated wind, n = 1,000": generated(1000),
        "smooth field, n = 400": smooth(400),
        "line, n = 350": (
            np.sort(smooth(350)[0][:, :1], axis=0),
            np.mod(60.0 * np.arange(350) / 58.0, 360.0),
        ),
    }.items():
        model = learned(X, y, precision="dense", parameter_draws=32)
        new = inside(X, 400)
        fit = model._model

        def at(k: int, fit=fit, new=new, names=None) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[no-untyped-def]
            found = ClosedForm(fit.tree, fit.kernel, new, column_names=names, parameter_draws=32, neighbors=k)
            moment = found.components(slice(None)).moment().mean(axis=0)
            return np.angle(moment), np.sqrt(-2.0 * np.log(np.abs(moment)))

        exact, deviation = at(len(X))
        for k in NEIGHBORS:
            apart = np.abs(circle.difference(at(k)[0], exact))
            print(
                f"  {name:26s} {k:4d}   {np.sqrt((apart**2).mean()):.5f} rad              "
                f"{np.sqrt(((apart / deviation) ** 2).mean()):.4f}, {(apart / deviation).max():.4f}",
                flush=True,
            )


def main() -> None:
    with threadpool_limits(machine.cores()):
        one_query()
        nearest_against_all()
    beside_solves()
    alone = multiprocessing.get_context("spawn").Process(target=large_map)  # its peak memory is its own
    alone.start()
    alone.join()
