"""Figure 1 (``fig:synth_data``): transductive learning. The posterior of the parameters changes with the new places."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vmqp import circle
from vmqp.circle import TWO_PI, FloatArray
from vmqp.paper.chains import LIMIT
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.synthetic import ANGLES, PLACES, Draws, learn, new_places, observations
from vmqp.plots import Scale
from vmqp.plots.style import BAND, COLOURS, DASHES, OBSERVED, PREDICTED, legend_above
from vmqp.plots.unbroken import draw_band, draw_curve, show_range

__all__ = ["make", "modes"]

SIZES = (5, 10, 20, 40)
_HARMONICS = 4
_GRID = np.linspace(-np.pi, np.pi, 360, endpoint=False)


def make(setting: Setting) -> Outcome:
    """Learn with 5, 10, 20 and 40 new places."""
    draws, warmup, ess = (500, 500, 1e9) if setting.quick else (40_000, 1000, 400.0)
    found = {m: learn(setting, m, draws=draws, warmup=warmup, ess=ess) for m in SIZES}
    table = pd.concat([_summary(m, own) for m, own in found.items()], ignore_index=True)
    mean, variance = _curve(found[SIZES[-1]])
    curve = pd.DataFrame({"x": new_places(SIZES[-1]), "mean": mean, "circular_variance": variance})
    lengths = table[table["parameter"] == "l²"].set_index("m")
    peaks = {m: modes(own.parameters["ν"].ravel(), own.ess["ν"]) for m, own in found.items()}
    several = [m for m, own in peaks.items() if len(own) > 1]
    rhat = float(table["rhat"].max())
    return Outcome(
        figures={"fig1": _draw(found, mean, variance)},
        tables={"fig1": table, "fig1-observations": observations(), "fig1-curve": curve},
        paper=(
            "Posterior histograms of σ², l², κ and ν for seven observations and a growing number m of new places. They "
            "change with m: l² shrinks as m grows, and ν has several modes."
        ),
        ours=(
            "The observations are ours, since the paper's are not published: "
            + ", ".join(f"({x:g}, {y:g})" for x, y in zip(PLACES, ANGLES, strict=True))
            + ". Posterior mean of l²: "
            + ", ".join(
                f"{lengths.loc[m, 'mean']:.4f} ± {lengths.loc[m, 'standard_error']:.4f} (m = {m})"
                for m in SIZES
            )
            + ". Modes of ν: "
            + "; ".join(f"m = {m} {_listed(own)}" for m, own in peaks.items())
            + f". The largest R-hat of a parameter is {rhat:.3f}."
        ),
        agrees=_verdict(lengths, several, rhat, setting.quick),
        length=_length(found, rhat, setting.quick),
        facts={
            "chains": 4,
            "warmup": warmup,
            **{f"draws_m{m}": own.angles.shape[1] for m, own in found.items()},
            "rhat": rhat,
            "ess": float(table["ess"].min()),
        },
    )


def modes(directions: FloatArray, ess: float) -> list[float]:
    """Peaks of the density of angles, drawn from its first four harmonics that stand out of the noise.

    >>> rng = np.random.default_rng(1)
    >>> [round(peak, 1) for peak in modes(np.concatenate([rng.vonmises(-2, 9, 500), rng.vonmises(1, 9, 500)]), 1000)]
    [-2.0, 1.0]
    >>> modes(rng.uniform(-np.pi, np.pi, 2000), 2000)
    []
    """
    density = np.zeros_like(_GRID)
    for k in range(1, _HARMONICS + 1):
        moment = np.exp(1j * k * directions).mean()
        if abs(moment) > 3.0 / np.sqrt(ess):  # chance exceeds this in 1 of 8,000 harmonics
            # Fejér's weights: without them a sharp peak is surrounded by false ones.
            weight = 1.0 - k / (_HARMONICS + 1)
            density += 2.0 * weight * (moment.conjugate() * np.exp(1j * k * _GRID)).real
    peak = (density > np.roll(density, 1)) & (density > np.roll(density, -1))
    return [float(value) for value in _GRID[peak]]


def _listed(peaks: list[float]) -> str:
    return " and ".join(f"{peak:.1f}" for peak in peaks) or "none that stands out"


def _verdict(lengths: pd.DataFrame, several: list[int], rhat: float, quick: bool) -> str:
    first, last = lengths.loc[SIZES[0]], lengths.loc[SIZES[-1]]
    drop = (first["mean"] - last["mean"]) / np.hypot(first["standard_error"], last["standard_error"])
    shrinks = drop > 3.0
    change = "shrinks" if shrinks else "does not shrink"
    words = f"l² {change} from m = {SIZES[0]} to {SIZES[-1]} ({drop:.0f} standard errors)"
    many = (
        f"ν has several modes for m = {', '.join(map(str, several))}" if several else "ν has one mode at most"
    )
    answer = "yes" if shrinks and several else "in part" if shrinks or several else "no"
    doubt = (
        "" if rhat <= LIMIT else f"; the chains do not agree yet (R-hat {rhat:.2f}), so this is not claimed"
    )
    if doubt and answer == "yes":
        answer = "in part"
    return f"{answer}: {words}, and {many}{doubt}{' (by a quick run)' if quick else ''}."


def _length(found: dict[int, Draws], rhat: float, quick: bool) -> str:
    draws = ", ".join(f"{own.angles.shape[1]:,} (m = {m})" for m, own in found.items())
    least = min(min(own.ess.values()) for own in found.values())
    short = " This was a quick run, too short to be quoted." if quick else ""
    return (
        f"Four chains of {draws} draws: at least {least:.0f} effective samples of every parameter, R-hat at most "
        f"{rhat:.3f}. The paper does not state the length for this figure.{short}"
    )


def _summary(m: int, own: Draws) -> pd.DataFrame:
    rows = []
    for name, values in own.parameters.items():
        angle = name == "ν"
        mean = float(circle.mean(values.ravel())) if angle else float(values.mean())
        spread = float(circle.variance(values.ravel())) if angle else float(values.std())
        error = np.nan if angle else spread / np.sqrt(own.ess[name])
        rows.append((m, name, mean, spread, error, own.rhat[name], own.ess[name]))
    columns = ["m", "parameter", "mean", "sd_or_circular_variance", "standard_error", "rhat", "ess"]
    return pd.DataFrame(rows, columns=columns)


def _curve(own: Draws) -> tuple[FloatArray, FloatArray]:
    angles = own.angles.reshape(-1, own.angles.shape[2])
    return np.asarray(circle.mean(angles, axis=0)), np.asarray(circle.variance(angles, axis=0))


def _draw(found: dict[int, Draws], mean: FloatArray, variance: FloatArray) -> Figure:
    figure = Figure(figsize=(11.0, 7.4), layout="constrained")
    top, *panels = figure.subplot_mosaic(
        [["top"] * 4, list(found[SIZES[0]].parameters)], height_ratios=[1.2, 1.0]
    ).values()
    _top(top, mean, variance)
    for ax, name in zip(panels, found[SIZES[0]].parameters, strict=True):
        _histograms(ax, name, {m: own.parameters[name].ravel() for m, own in found.items()})
    panels[0].set_ylabel("posterior density")
    panels[0].legend(frameon=False)
    return figure


def _top(ax: Axes, mean: FloatArray, variance: FloatArray) -> None:
    scale = Scale(TWO_PI, -np.pi)
    x, half = new_places(len(mean)), 0.5 * np.pi * variance
    label = f"± π/2 · circular variance, m = {len(mean)}"
    draw_band(ax, x, mean, mean - half, mean + half, scale, label=label, facecolor=BAND, edgecolor=BAND)
    draw_curve(ax, x, mean, scale, "predicted mean", color=PREDICTED, lw=2.0, zorder=3)
    ax.plot(PLACES, ANGLES, "o", color=OBSERVED, markersize=6, label="observed (7)", zorder=4)
    ax.set_xlabel("x")
    show_range(ax, scale, "angle")
    legend_above(ax)


def _histograms(ax: Axes, name: str, draws: dict[int, FloatArray]) -> None:
    if name == "ν":
        low, high, bins = -np.pi, np.pi, 24
        ax.set_xticks([-np.pi, 0.0, np.pi], ["−π", "0", "π"])
    else:
        low, high, bins = 0.0, max(float(np.quantile(values, 0.98)) for values in draws.values()), 30
    for number, (m, values) in enumerate(draws.items()):
        heights, edges = np.histogram(values, bins, (low, high))
        ax.stairs(
            heights / (len(values) * np.diff(edges)),
            edges,
            color=COLOURS[number],
            linestyle=DASHES[number],
            linewidth=1.7,
            label=f"m = {m}",
        )
    ax.set_xlim(low, high)
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(name)
    ax.set_yticks([])
