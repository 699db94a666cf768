"""What an effective sample of the parameters costs, in units of one potrf + potri of the same matrix, one core.

An effective sample is one of the worst of σ², l and κ (bulk effective sample size of their draws after the warm-up,
one chain); what it costs is the time of an iteration over effective samples an iteration. The unit is the time in
which LAPACK factorises and inverts a kernel matrix of the same size; both are the best of several short runs.
"""

import time
from typing import NamedTuple

import numpy as np
from arviz_stats.base import array_stats
from scipy.linalg import lapack

from benchmarks.problems import stations
from benchmarks.sweep import best_time
from vmqp import kernels, priors
from vmqp.chain import State
from vmqp.learning import Learner, Method, Problem, make_problem
from vmqp.sampling import sample_angles

WORST = ("variance", "lengthscale", "concentration")
STEPS = (0.2, 0.2, 0.2, 0.04)  # of log σ², log l, log κ and ν: a quarter of the proposals are accepted
PAPER = Method(sampler="augmented", inner_start="angles", inner_steps=100, outer_steps=300, steps=STEPS)


class Cost(NamedTuple):
    """Of one chain."""

    iteration: float
    """Seconds."""
    effective: float
    """Effective samples an iteration, of the worst parameter."""
    unit: float
    """Seconds of one potrf + potri."""
    inner_steps: int
    means: dict[str, float]


def paper_kernel(kind: type[kernels.Kernel]) -> kernels.Kernel:
    """The paper's priors: half-normal on σ² and on l²."""
    return priors.HalfNormal(1.0) * kind(priors.Squared(priors.HalfNormal(1.0)))


def wind(kind: type[kernels.Kernel] = kernels.Exponential) -> tuple[Problem, np.ndarray]:
    """The wind data with a fifth of the stations held out, and the directions at those."""
    places, directions, _ = stations()
    new = np.random.RandomState(18).choice(260, 52, replace=False)
    old = np.setdiff1d(np.arange(260), new)
    problem = make_problem(places[old], directions[old], places[new], kernel=paper_kernel(kind))
    return problem, directions[new]


def drawn(n: int, m: int, seed: int) -> Problem:
    """Angles drawn from the model at parameters like those of the wind data; n places observed, m not."""
    rng = np.random.default_rng(seed)
    places = np.array([9.0, 7.7]) * np.sqrt((n + m) / 260.0) * rng.random((n + m, 2))
    K = (0.47 * kernels.Exponential(0.89)).bind(places).covariance({})
    field = np.tile([2.0, 0.0], (n + m, 1))
    angles = sample_angles(np.linalg.inv(K), field, draws=1, warmup=400, seed=seed)[0]
    return make_problem(places[:n], angles[:n], places[n:], kernel=paper_kernel(kernels.Exponential))


def unit_time(problem: Problem) -> float:
    """Seconds for LAPACK to factorise and invert a kernel matrix of all places."""
    K = problem.bound.covariance({"variance": 0.5, "lengthscale": 0.9})

    def factorise() -> None:
        upper, _ = lapack.dpotrf(np.array(K).T, lower=0, clean=0, overwrite_a=1)
        lapack.dpotri(upper, lower=0, overwrite_c=1)

    return best_time(factorise, 15)


def effective(values: np.ndarray) -> float:
    return float(array_stats.ess(values[None], chain_axis=0, draw_axis=1, method="bulk"))


def iteration_time(learner: Learner, state: State, seconds: float) -> float:
    """Seconds of an iteration: the best of some runs, each long enough that its start does not count."""
    some = max(40, round(0.4 / seconds))
    return best_time(lambda: learner.advance(state, some), 6) / some


def measure(problem: Problem, method: Method, warmup: int, draws: int) -> Cost:
    """Run one chain."""
    learner = Learner(problem, method, warmup=warmup)
    state, _ = learner.advance(learner.start(seed=1, chain=0), warmup)
    began = time.perf_counter()
    state, chunk = learner.advance(state, draws)
    seconds = (time.perf_counter() - began) / draws
    sizes = [effective(chunk.parameters[name]) for name in WORST]
    return Cost(
        iteration_time(learner, state, seconds),
        min(sizes) / draws,
        unit_time(problem),
        int(chunk.stats["inner_steps"][-1]),
        {name: float(chunk.parameters[name].mean()) for name in WORST},
    )


def show(label: str, cost: Cost) -> float:
    """Print a row; return the seconds of an effective sample."""
    price = cost.iteration / cost.effective
    print(
        f"  {label:44s} {1e3 * cost.iteration:8.2f} ms {cost.iteration / cost.unit:7.2f} {cost.effective:9.4f} "
        f"{price / cost.unit:9.1f} {cost.inner_steps:6d}",
        flush=True,
    )
    return price


def main() -> None:
    print(f"\nLearning: {stations()[2]}, 52 of them held out, exponential kernel, no noise, one core")
    print(f"  {'':44s} {'iteration':>11s} {'units':>7s} {'ESS/iter.':>9s} {'units/ESS':>9s} {'inner':>6s}")
    problem, _ = wind()
    ours = show("hybrid, adapted proposals", measure(problem, Method(), 1000, 6000))
    paper = show("the paper's scheme (λ1, 100 and 300 sweeps)", measure(problem, PAPER, 500, 10_000))
    print(f"  ratio of the cost of an effective sample {paper / ours:8.1f}   wanted: at least 100")
    print("  units an effective sample: wanted at most 40; unit: one potrf + potri at d = 260")

    print("\nAn iteration at d = 1000 (800 angles observed), drawn from the model")
    large = measure(drawn(800, 200, 1), Method(), 150, 60)
    print(
        f"  {1e3 * large.iteration:.1f} ms, {large.iteration / large.unit:.2f} units   wanted: at most 1.6"
        f"   (inner chain: {large.inner_steps} steps)",
        flush=True,
    )

    print("\nLatent angles slow the parameters down: 60 places observed, drawn from the model")
    print(f"  {'':44s} {'iteration':>11s} {'units':>7s} {'ESS/iter.':>9s} {'units/ESS':>9s} {'inner':>6s}")
    for m in (6, 60, 600):
        for label, method in (("", Method()), (", dragged through 10 densities", Method(drag=10))):
            show(f"{m} new places{label}", measure(drawn(60, m, 2), method, 500, 2000 if m < 600 else 1500))
