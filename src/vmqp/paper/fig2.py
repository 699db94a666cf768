"""Figure 2 (``fig:cont_div``): the two terms of the likelihood's gradient by κ, whose difference drowns in noise.

The gradient (``eq:cd_gradient``) is the mean of ∂κU over all angles drawn from the model, less the mean over the
angles at new places given the observed ones. Here ∂κU = −Σ_i cos(φ_i − ν).
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from vmqp.circle import FloatArray
from vmqp.learning.contrastive import energy_gradient
from vmqp.learning.objective import draw_complete, precision_and_field
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.synthetic import CLOSE, problem
from vmqp.plots.style import PREDICTED, TRUTH
from vmqp.sampling import sample_angles
from vmqp.scores import relative_ess

__all__ = ["make"]

M = 40
_SHARE = 0.1  # the accuracy that is asked for, as a share of the gradient


def make(setting: Setting) -> Outcome:
    """Draw both laws at typical parameters and compare ∂κU under them."""
    draws = 20_000 if setting.quick else 100_000
    both = _terms(draws, setting.seed)
    means = [float(values.mean()) for values in both]
    spreads = [float(values.std(ddof=1)) for values in both]
    worth = [relative_ess(values) for values in both]
    gradient = means[0] - means[1]
    error = float(np.sqrt(sum(s**2 / (draws * r) for s, r in zip(spreads, worth, strict=True))))
    apart = abs(gradient) / float(np.sqrt(np.mean(np.square(spreads))))
    needed = sum(s**2 for s in spreads) / (_SHARE * gradient) ** 2
    edges = np.histogram_bin_edges(np.concatenate(both), 60)
    heights = [np.histogram(values, edges, density=True)[0] for values in both]
    overlap = float((np.minimum(*heights) * np.diff(edges)).sum())
    table = pd.DataFrame({"left": edges[:-1], "right": edges[1:], "p2": heights[0], "p1": heights[1]})
    summary = pd.DataFrame(
        {
            "law": ["p2(φ', θ')", "p1(φ')"],
            "mean": means,
            "sd": spreads,
            "draws": draws,
            "effective_samples": [draws * share for share in worth],
        }
    )
    return Outcome(
        figures={"fig2": _draw(edges, heights, means)},
        tables={"fig2": table, "fig2-summary": summary},
        paper=(
            "With m = 40 the histograms of ∂κU under p2(φ', θ') and p1(φ') look alike, so that their difference, the "
            "gradient of the log-likelihood by κ, is highly inaccurate when it is estimated from samples."
        ),
        ours=(
            f"Means {means[0]:.3f} and {means[1]:.3f}, standard deviations {spreads[0]:.2f} and {spreads[1]:.2f}: the "
            f"gradient, {gradient:.3f} ± {error:.3f}, is {apart:.2f} standard deviations of one sample. To know it to "
            f"{_SHARE:.0%} takes {needed:,.0f} effective samples of each law, anew at every step of an ascent; to know "
            f"it to ±0.1 takes {sum(s**2 for s in spreads) / 0.01:,.0f}."
        ),
        agrees=_verdict(apart, overlap),
        length=(
            f"{draws:,} draws of each law, {draws * min(worth):,.0f} effective samples or more. The paper does not "
            "state its length."
        ),
        facts={
            "m": M,
            "draws": draws,
            "gradient": gradient,
            "overlap": overlap,
            "gradient_error": error,
            "effective_samples_needed": needed,
            **{f"parameter_{name}": value for name, value in CLOSE.items()},
        },
    )


def _verdict(apart: float, overlap: float) -> str:
    words = f"the histograms overlap by {overlap:.0%}, their means {apart:.2f} standard deviations apart"
    if overlap > 0.7:
        return f"yes: {words}; no ascent can afford an accurate gradient at each of its steps."
    return f"{'in part' if overlap > 0.4 else 'no'}: {words} for these observations."


def _terms(draws: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """∂κU at draws of p2, all angles of the model, and of p1, the new ones given the observed."""
    whole = problem(M)
    first, second = (int(own) for own in np.random.SeedSequence(seed).generate_state(2))
    with threadpool_limits(1):
        coupling, field = precision_and_field(whole, CLOSE)
        prior = sample_angles(coupling, field, draws=draws, seed=first)
        posterior = draw_complete(whole, CLOSE, draws=draws, seed=second)
        one, two = (energy_gradient(whole, CLOSE, angles)["concentration"] for angles in (prior, posterior))
    return one, two


def _draw(edges: FloatArray, heights: list[FloatArray], means: list[float]) -> Figure:
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    ax = figure.add_subplot()
    ax.stairs(heights[0], edges, fill=True, color=PREDICTED, alpha=0.35)
    ax.stairs(
        heights[0], edges, color=PREDICTED, linewidth=1.4, label="p2(φ', θ'): all angles from the model"
    )
    ax.stairs(
        heights[1], edges, color=TRUTH, linewidth=2.0, linestyle="--", label="p1(φ'): given the observations"
    )
    ax.axvline(means[0], color=PREDICTED, linewidth=1.4)
    ax.axvline(means[1], color=TRUTH, linewidth=1.8, linestyle="--")
    ax.set_xlabel("∂U/∂κ = −Σ cos(φ − ν); upright lines: the means, whose difference is the gradient")
    ax.set_ylabel("density")
    ax.set_yticks([])
    ax.legend(frameon=False, loc="upper left")
    ax.set_ylim(top=1.3 * max(float(height.max()) for height in heights))
    return figure
