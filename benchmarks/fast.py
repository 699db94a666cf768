"""Fast fits: seconds beside scikit-learn's, the choice of the kernel, few observations; and how long chains take.

``python -m benchmarks fast`` takes half a minute. The parts ``smooth``, ``choice``, ``long`` and ``few`` take a minute
to an hour, and run only where they are asked for by name.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

import vmqp
from vmqp import kernels
from vmqp.peers import CosineSineGP
from vmqp.precision import factorise
from vmqp.sampling import sample_angles

SMOOTHNESS = {
    "exponential": (kernels.Exponential, 0.5),
    "Matérn 3/2": (kernels.Matern32, 1.5),
    "Matérn 5/2": (kernels.Matern52, 2.5),
}
KERNEL = "matern32 + nugget"


def field(X: np.ndarray, rng: np.random.Generator, waves: int = 6) -> np.ndarray:
    """A smooth direction in radians over a square of width 10: waves 4 to 20 long, 0.5 radians high each."""
    lengths, headings = rng.uniform(4.0, 20.0, waves), rng.uniform(0.0, 2.0 * np.pi, waves)
    numbers = 2.0 * np.pi / lengths * np.stack([np.cos(headings), np.sin(headings)])
    return 0.5 * np.sin(X @ numbers + rng.uniform(0.0, 2.0 * np.pi, waves)).sum(axis=1)


def observed(n: int, m: int, degrees: float, seed: int) -> tuple[np.ndarray, ...]:
    """Locations and angles in degrees with von Mises noise: n to learn from, m held out."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 10.0, (n + m, 2))
    y = field(X, rng) + rng.vonmises(0.0, 1.0 / np.radians(degrees) ** 2, n + m)
    y = np.degrees(y) % 360.0
    return X[:n], y[:n], X[n:], y[n:]


def clock(work: Callable[[], Any], repeats: int = 3) -> float:
    """The fastest of some runs."""
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def learn(X: np.ndarray, y: np.ndarray, **options: Any) -> vmqp.CircularRegressor:
    return vmqp.CircularRegressor(**{"period": 360, "inference": "fast", "progress": False} | options).fit(
        X, y
    )


def main() -> None:
    """Seconds of a fit, one process, one thread for matrices."""
    print(
        "\nSeconds of a fast fit, and of scikit-learn's Gaussian process on cosine and sine (Matérn 3/2 + white noise,"
    )
    print("one start) on the same data; then a fast fit that chooses among six kernels")
    rows = []
    for n in (40, 208, 1000):
        X, y, _, _ = observed(n, 1, 10.0, seed=1)
        pairs = np.stack([np.cos(np.radians(y)), np.sin(np.radians(y))], axis=1)
        kernel = ConstantKernel(0.5, (1e-4, 1e2)) * Matern(1.0, (1e-2, 1e3), nu=1.5) + WhiteKernel(0.1)

        def theirs(X: Any = X, pairs: Any = pairs, kernel: Any = kernel) -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return GaussianProcessRegressor(kernel).fit(X, pairs)

        repeats = 5 if n < 1000 else 2
        ours = clock(lambda X=X, y=y: learn(X, y, kernel=KERNEL), repeats)
        other = clock(theirs, repeats)
        chosen = clock(lambda X=X, y=y: learn(X, y), repeats)
        rows.append(
            {"n": n, "fast": ours, "scikit-learn": other, "ratio": other / ours, "with choice": chosen}
        )
    print(pd.DataFrame(rows).round(3).to_string(index=False))


def drawn_field(kernel: kernels.Kernel, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles drawn from the model itself."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 10.0, (n, 2))
    M = factorise(kernel.bind(X).covariance({})).M
    return X, sample_angles(M, np.zeros((n, 2)), draws=1, warmup=2000, seed=seed)[0]


def projected_log_score(model: CosineSineGP, X: np.ndarray, y: np.ndarray) -> float:
    """Mean log density a degree of the angle of a normal pair with equal deviations."""
    center, deviation = model._predicted(vmqp.tables.read_inputs(X, "X"))
    size = np.hypot(center[:, 0], center[:, 1]) / deviation
    apart = np.radians(y) - np.arctan2(center[:, 1], center[:, 0])
    along = size * np.cos(apart)
    ahead = along > 0.0
    ratio = np.log(np.abs(along)) + norm.logcdf(along) - norm.logpdf(along)
    inner = np.where(ahead, np.logaddexp(0.0, ratio), np.log1p(-np.exp(np.where(ahead, -1.0, ratio))))
    return float(np.mean(-0.5 * size**2 + inner - np.log(360.0)))


def covered(model: CosineSineGP, X: np.ndarray, y: np.ndarray) -> float:
    draws = model.draws(X, n=4000)
    lower, upper = np.asarray(vmqp.arcs.shortest_arc(draws, 0.9, axis=0, period=360)).T
    return float(np.mean(vmqp.arcs.in_arc(y, lower, upper, 360)))


def smooth(seeds: range) -> Iterator[dict[str, Any]]:
    """A smooth field with 2° of noise: the default kernel beside Gaussian processes of cosine and sine."""
    for seed in seeds:
        X, y, new, truth = observed(300, 300, 2.0, seed)
        began = time.perf_counter()
        model = learn(X, y)
        seconds = time.perf_counter() - began
        post = model.posterior(new)
        chosen = str(model.kernel_choice.index[0])
        nu = SMOOTHNESS[chosen.partition(",")[0]][1]
        other = CosineSineGP(period=360, nu=nu).fit(X, y)
        yield {
            "seed": seed,
            "chosen": chosen,
            "coverage": post.coverage(truth, 0.9),
            "log_score": float(post.log_score(truth).mean()),
            "crps_arc": float(post.crps(truth, distance="arc").mean()),
            "log_score_cs": projected_log_score(other, new, truth),
            "coverage_cs": covered(other, new, truth),
            "seconds": seconds,
        }


def choice(fields: int = 20, n: int = 200) -> Iterator[dict[str, Any]]:
    """Fields drawn with each of the three smoothnesses: which one is chosen, and how far apart they are in nats."""
    for name, (family, _) in SMOOTHNESS.items():
        kernel = 1.0 * family(3.0) + kernels.Nugget(0.01)
        for seed in range(fields):
            X, y = drawn_field(kernel, n, seed)
            table = learn(X, np.degrees(y) % 360.0).kernel_choice
            chosen = str(table.index[0])
            right = float(table.loc[name, "difference"])
            yield {
                "drawn": name,
                "seed": seed,
                "chosen": chosen,
                "right one": right,
                "se": table.loc[name, "se"],
            }


def few(sets: int = 100, sizes: tuple[int, ...] = (10, 25, 60)) -> Iterator[dict[str, Any]]:
    """A smooth function of one input with 10° of noise: how much the arcs hold, fast and by chains."""
    for n in sizes:
        for seed in range(sets):
            rng = np.random.default_rng([n, seed])
            x = rng.uniform(0.0, 1.0, n + 20)
            turns, phase, middle = rng.uniform(0.5, 1.5), rng.uniform(0.0, 1.0), rng.uniform(0.0, 360.0)
            y = middle + 100.0 * np.sin(2.0 * np.pi * (turns * x + phase))
            y = np.mod(y + np.degrees(rng.vonmises(0.0, 1.0 / np.radians(10.0) ** 2, n + 20)), 360.0)
            for inference in ("fast", "bayes"):
                until = vmqp.run.Converged(rhat=1.02, ess=200)
                began = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", vmqp.ConvergenceWarning)
                    model = learn(x[:n, None], y[:n], inference=inference, until=until)
                    post = model.posterior(x[n:, None])
                yield {
                    "n": n,
                    "inference": inference,
                    "coverage": post.coverage(y[n:], 0.9),
                    "log_score": float(post.log_score(y[n:]).mean()),
                    "crps": float(post.crps(y[n:]).mean()),
                    "seconds": time.perf_counter() - began,
                }


def long(sizes: tuple[int, ...] = (25, 60, 208, 500, 1500, 5000)) -> Iterator[dict[str, Any]]:
    """Seconds of learning by the number of observations and the kernel."""
    for n in sizes:
        X, y, _, _ = observed(n, 1, 10.0, seed=1)
        for kernel in ("exponential + nugget", "matern52 + nugget", None):
            for inference in ("fast", "bayes") if kernel else ("fast",):
                began = time.perf_counter()
                model = learn(X, y, kernel=kernel, inference=inference)
                seconds = time.perf_counter() - began
                trusted = model.verdict().trusted
                yield {
                    "n": n,
                    "kernel": kernel or "chosen",
                    "inference": inference,
                    "seconds": seconds,
                    "trusted": trusted,
                }


def main_smooth() -> None:
    print("\nA smooth field with 2° of noise, 300 observed and 300 held out, ten fields")
    print(pd.DataFrame(smooth(range(10))).round(3).to_string(index=False))


def main_choice() -> None:
    print(
        "\nFields drawn with three smoothnesses, n = 200, 20 each: which kernel is chosen, and how far the right one is"
    )
    table = pd.DataFrame(choice())
    same = [
        drawn == chosen.partition(",")[0]
        for drawn, chosen in zip(table["drawn"], table["chosen"], strict=True)
    ]
    table = table.assign(right=same, near=np.array(same) | (table["right one"].abs() <= 2.0))
    print(table.groupby("drawn")[["right", "near"]].sum().to_string())


def main_few() -> None:
    print("\nFew observations of a smooth function with 10° of noise, 100 data sets each")
    table = pd.DataFrame(few())
    print(table.groupby(["n", "inference"]).mean().round(3).to_string())


def main_long() -> None:
    print("\nSeconds of learning")
    print(pd.DataFrame(long()).round(2).to_string(index=False))
