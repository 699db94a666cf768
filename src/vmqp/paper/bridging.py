"""The effect of bridging: acceptance of parameter moves against the number K of densities in between.

The exchange algorithm estimates a ratio of normalisers from one sample; bridging (``app:bridging``) does so through K
densities in between. Two transitions between them are compared: the paper's double augmentation (``eq_ap:pk_xi_y``)
and ours, a heat bath that sweeps there and back. Proposals are the same random walk for every K, since an adapted one
would hold the acceptance where it is.
"""

import time
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from vmqp import datasets, kernels, priors
from vmqp.errors import ConvergenceWarning
from vmqp.learning import Learner, Method, Problem, make_problem
from vmqp.paper import synthetic
from vmqp.paper.chains import LIMIT
from vmqp.paper.frame import Outcome, Setting
from vmqp.plots.style import COLOURS, DASHES
from vmqp.run import run_chains
from vmqp.run.diagnostics import blocks

__all__ = ["make"]

TRANSITIONS = {"heatbath": "heat bath, there and back (ours)", "augmented": "double augmentation (paper)"}
_STATIONS, _NEW = 40, 10


class _Row(NamedTuple):
    data: str
    transition: str
    K: int
    acceptance: float
    standard_error: float
    ms_per_iteration: float
    ess_per_iteration: float
    ess_per_cpu_second: float
    rhat: float


class _Case(NamedTuple):
    problem: Problem
    steps: tuple[float, float, float]
    """Of σ², l and κ on their unconstrained scales; some 15 to 30 % of the proposals are accepted without bridging."""


def make(setting: Setting) -> Outcome:
    """Run the exchange algorithm with and without bridging, on the observations of figure 1 and on a wind field."""
    counts = (0, 2, 10) if setting.quick else (0, 1, 2, 5, 10, 20)
    warmup, draws = (100, 200) if setting.quick else (500, 4000)
    rows: list[_Row] = []
    for label, case in _cases().items():
        for kind in TRANSITIONS:
            for count in counts:
                if count == 0 and kind != "heatbath":
                    rows.append(rows[-len(counts)]._replace(transition=TRANSITIONS[kind]))
                    continue
                rows.append(_measure(setting, label, case, kind, count, warmup, draws))
    table = pd.DataFrame(rows)
    best = float(table["acceptance"].max())
    rhat = float(table["rhat"].max())
    return Outcome(
        figures={"bridging": _draw(table)},
        tables={"bridging": table},
        paper=(
            "Bridging did not raise the acceptance rate of the parameter moves substantially; how many densities were "
            "tried is not stated, and there is no figure."
        ),
        ours=" ".join(_sentence(table, label) for label in table["data"].unique())
        + " On the data of figure 1 l has a uniform prior from 0.1 to 1.5: below, places do not know of each other. "
        + f"The largest R-hat of a parameter is {rhat:.3f}.",
        agrees=_verdict(table, setting.quick),
        length=(
            f"Four chains of {draws:,} iterations after {warmup:,} of warm-up for each K and transition, at least "
            f"{(table['ess_per_iteration'] * 4 * draws).min():,.0f} effective samples of every parameter. The paper "
            f"does not state its own.{' A quick run: its chains are too short to agree.' if setting.quick else ''}"
        ),
        facts={
            "chains": 4,
            "draws": draws,
            "warmup": warmup,
            "rhat": rhat,
            "largest_acceptance": best,
            "stations": _STATIONS,
            "new_places": _NEW,
        },
    )


def _cases() -> dict[str, _Case]:
    return {
        # Below 0.1 the places do not know of each other, and there is nothing to bridge.
        "figure 1, m = 10": _Case(synthetic.problem(10, priors.Uniform(0.1, 1.5)), (0.8, 1.0, 0.8)),
        f"wind field, {_STATIONS} stations": _Case(_wind(), (0.4, 0.4, 0.5)),
    }


def _wind() -> Problem:
    """A generated wind field with the paper's exponential kernel and priors, places in degrees."""
    field = datasets.wind_field(stations=_STATIONS, held_out=_NEW, grid=(2, 2), seed=1)
    columns = ["longitude", "latitude"]
    return make_problem(
        field.frame[columns].to_numpy(),
        np.deg2rad(field.frame["direction"].to_numpy()),
        field.held_out[columns].to_numpy(),
        kernel=priors.HalfNormal(1.0) * kernels.Exponential(priors.Squared(priors.HalfNormal(1.0))),
        concentration=priors.HalfNormal(1.0),
    )


def _measure(
    setting: Setting, label: str, case: _Case, kind: str, count: int, warmup: int, draws: int
) -> _Row:
    method = Method(bridge=count, bridging=kind, steps=case.steps)  # type: ignore[arg-type]
    task = Learner(case.problem, method, warmup=warmup)
    long = setting.engine is None and not setting.quick
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # R-hat stands in the table
        tree = run_chains(
            task,
            draws=draws,
            seed=setting.seed,
            executor="processes" if long else setting.executor(case.problem.d),
            progress=setting.progress,
        )
    rates = np.asarray(tree["sample_stats"]["acceptance_factorised"].values)
    each = rates.mean(axis=1)
    found = {name: np.asarray(tree["posterior"][name].values) for name in case.problem.exchanged}
    own = list(blocks(found, {}, set()))
    worth = min(float(block.ess().min()) for block in own) / rates.size
    seconds = _iteration_time(task, setting.seed, 40 if setting.quick else 300)
    return _Row(
        label,
        TRANSITIONS[kind],
        count,
        float(each.mean()),
        float(each.std(ddof=1) / np.sqrt(len(each))),
        1e3 * seconds,
        worth,
        worth / seconds,
        max(float(block.rhat().max()) for block in own),
    )


def _iteration_time(task: Learner, seed: int, iterations: int) -> float:
    """CPU seconds of an iteration after a short warm-up: the best of some runs."""
    short = Learner(task.problem, task.method, warmup=iterations)
    times = []
    with threadpool_limits(1):
        state, _ = short.advance(short.start(seed, 0), iterations)
        for _ in range(3):
            begin = time.process_time()
            short.advance(state, iterations)
            times.append(time.process_time() - begin)
    return min(times) / iterations


def _sentence(table: pd.DataFrame, label: str) -> str:
    own = table[table["data"] == label]
    none = own[own["K"] == 0].iloc[0]
    parts = []
    for transition in TRANSITIONS.values():
        most = own[(own["transition"] == transition) & (own["K"] == own["K"].max())].iloc[0]
        parts.append(
            f"{most['acceptance']:.3f} with K = {most['K']} by {transition}, {most['ms_per_iteration']:.2g} ms and "
            f"{most['ess_per_cpu_second']:.3g} effective samples a CPU second"
        )
    return (
        f"{label}: acceptance {none['acceptance']:.3f} ± {none['standard_error']:.3f} without bridging "
        f"({none['ms_per_iteration']:.2g} ms an iteration, {none['ess_per_cpu_second']:.3g} effective samples a CPU "
        f"second); {'; '.join(parts)}."
    )


def _verdict(table: pd.DataFrame, quick: bool) -> str:
    gains = []
    for _, own in table.groupby("data", sort=False):
        none = own[own["K"] == 0]
        rest = own[own["K"] > 0]
        gains.append(
            (
                float(rest["acceptance"].max() / none["acceptance"].iloc[0]),
                float(rest["ess_per_cpu_second"].max() / none["ess_per_cpu_second"].iloc[0]),
            )
        )
    most, rate = max(gain[0] for gain in gains), max(gain[1] for gain in gains)
    words = f"acceptance rises at most {most:.2f}-fold"
    if not quick:  # a short run cannot tell
        words += f", and effective samples a CPU second are at best {rate:.2f} times those without bridging"
    if most < 1.25:
        sound = table["rhat"].max() <= LIMIT
        return f"yes: {words}." if sound else f"in part: {words}, by chains that do not agree yet."
    return f"in part: {words}; with steps this large the rise is there, but it has to pay for its sweeps."


def _draw(table: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(10.0, 7.0), layout="constrained")
    labels = list(table["data"].unique())
    grid = figure.subplots(2, len(labels), sharex=True)
    for place, label in enumerate(labels):
        own = table[table["data"] == label]
        _panel(grid[0, place], own, "acceptance", "standard_error")
        _panel(grid[1, place], own, "ess_per_cpu_second", None)
        grid[0, place].set_title(label)
        grid[1, place].set_xlabel("densities in between, K")
    grid[0, 0].set_ylabel("acceptance of parameter moves")
    grid[1, 0].set_ylabel("effective samples a CPU second,\nworst parameter")
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2, frameon=False, handlelength=3.2)
    return figure


def _panel(ax: Axes, own: pd.DataFrame, column: str, error: str | None) -> None:
    for number, transition in enumerate(TRANSITIONS.values(), start=1):
        line = own[own["transition"] == transition]
        ax.errorbar(
            line["K"],
            line[column],
            None if error is None else 2.0 * line[error],
            color=COLOURS[number],
            linestyle=DASHES[number],
            marker="os"[number - 1],
            capsize=3,
            label=transition,
        )
    ax.set_ylim(bottom=0.0)
    ax.grid(True, color="0.92")
