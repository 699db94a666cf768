"""Figures 1 to 4 and bridging, each in its quick form: the numbers in their tables.

Seeds are fixed, so nothing fails by chance on one machine; the bounds are many standard errors wide, for others. No
assertion is on time: effective samples and autocorrelations are counted, not timed.
"""

import json

import numpy as np
import pandas as pd
import pytest

from vmqp import paper
from vmqp.circle import difference
from vmqp.paper import fig4, synthetic
from vmqp.paper.bridging import TRANSITIONS
from vmqp.paper.fig1 import SIZES, modes
from vmqp.paper.samplers import OURS, PAPER, SAMPLERS, Kind, chains, gain


def made(name, tmp_path):
    """Make an item; its files are there, and what it wrote is what it returned."""
    outcome = paper.make(name, out=tmp_path, quick=True, progress=False)
    folder = tmp_path / name
    for stem in outcome.figures:
        assert (folder / f"{stem}.png").stat().st_size > 10_000
        assert (folder / f"{stem}.svg").is_file()
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    assert outcome.agrees in text
    assert outcome.agrees.split(":")[0] in ("yes", "in part", "no")
    facts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    assert facts["seconds"] < 600.0
    assert "nan" not in outcome.ours
    return outcome, pd.read_csv(folder / f"{name}.csv")


@pytest.mark.xdist_group("paper-1")
def test_fig1_learns_for_every_number_of_new_places(tmp_path):
    outcome, table = made("fig1", tmp_path)
    assert table["m"].unique().tolist() == list(SIZES)
    lengths = table[table["parameter"] == "l²"].set_index("m")
    # Converged: 0.067 at m = 5 and 0.016 at m = 40.
    assert 0.03 < lengths.loc[5, "mean"] < 0.1
    assert lengths.loc[40, "mean"] < lengths.loc[5, "mean"]
    assert (table["ess"] > 0).all()
    assert table.loc[table["m"] == 5, "rhat"].max() < 1.1
    assert outcome.facts["rhat"] == pytest.approx(table["rhat"].max())
    observed = pd.read_csv(tmp_path / "fig1" / "fig1-observations.csv")
    np.testing.assert_array_equal(observed["angle"], synthetic.ANGLES)
    for x, angle in zip(synthetic.PLACES, synthetic.ANGLES, strict=True):
        assert f"({x:g}, {angle:g})" in outcome.ours
    # The curve goes by the observations: the new place next to one is within its length scale of it.
    curve = pd.read_csv(tmp_path / "fig1" / "fig1-curve.csv")
    for x, angle in zip(synthetic.PLACES, synthetic.ANGLES, strict=True):
        near = curve.iloc[int(np.argmin(np.abs(curve["x"] - x)))]
        assert abs(difference(near["mean"], angle)) < 1.0
        assert near["circular_variance"] < 0.5


def test_modes_of_a_direction_are_counted_above_the_noise():
    rng = np.random.default_rng(3)
    one, two = rng.vonmises(3.0, 2.0, 4000), rng.vonmises(0.0, 4.0, 4000)
    assert len(modes(one, 4000.0)) == 1
    assert abs(difference(modes(one, 4000.0)[0], 3.0)) < 0.2
    assert len(modes(np.concatenate([one, two]), 8000.0)) == 2
    assert modes(one[:8], 8.0) == []  # of a handful of samples nothing is claimed


def test_new_places_never_meet_an_observed_one():
    for m in SIZES:
        apart = np.abs(synthetic.new_places(m)[:, None] - synthetic.PLACES).min()
        assert apart > 0.04


@pytest.mark.xdist_group("paper-2")
def test_fig2_has_two_overlapping_histograms_and_a_gradient(tmp_path):
    outcome, table = made("fig2", tmp_path)
    width = table["right"] - table["left"]
    for law in ("p1", "p2"):
        assert (table[law] * width).sum() == pytest.approx(1.0)
    assert 0.5 < outcome.facts["overlap"] < 1.0
    summary = pd.read_csv(tmp_path / "fig2" / "fig2-summary.csv")
    assert outcome.facts["gradient"] == pytest.approx(summary["mean"][0] - summary["mean"][1])
    # (sd₂² + sd₁²) / N is the squared error of the difference from N effective samples of each.
    wanted = (summary["sd"] ** 2).sum() / (0.1 * outcome.facts["gradient"]) ** 2
    assert outcome.facts["effective_samples_needed"] == pytest.approx(wanted)


@pytest.mark.xdist_group("paper-2")
def test_fig3_relative_ess_falls_with_lambda(tmp_path):
    outcome, table = made("fig3", tmp_path)
    assert outcome.agrees.startswith("yes")
    for _, own in table.groupby("lengthscale"):
        along = own.dropna(subset="lambda")
        assert along["relative_ess"].iloc[0] > 5.0 * along["relative_ess"].iloc[-1]
        assert along["lambda_over_largest"].is_monotonic_increasing
        beside = own[own["lambda"].isna()].set_index("sampler")["relative_ess"]
        assert (beside > along["relative_ess"].max()).all()
        assert beside.max() < 1.5


@pytest.mark.xdist_group("paper-3")
def test_fig4_our_default_is_above_the_papers_at_equal_time(tmp_path):
    _, table = made("fig4", tmp_path)
    assert len(table) == len(SAMPLERS) * len(fig4.SETTINGS)
    curves = pd.read_csv(tmp_path / "fig4" / "fig4-autocorrelation.csv")
    coupled, close, _ = fig4.SETTINGS
    for label in (coupled, close):
        own = table[table["setting"] == label].set_index("sampler")
        # A step of ours is worth 20 to 40 of the paper's; thinned to equal time the order stays.
        assert own.loc[OURS, "relative_ess_per_step"] > 5.0 * own.loc[PAPER, "relative_ess_per_step"]
        assert own["thin"].min() == 1
        line, paper_line = curves[f"{label}: {OURS}"], curves[f"{label}: {PAPER}"]
        assert line[1] < paper_line[1]
        assert line[0] == paper_line[0] == 1.0


@pytest.mark.xdist_group("paper-4")
def test_bridging_reports_both_transitions(tmp_path):
    outcome, table = made("bridging", tmp_path)
    assert set(table["transition"]) == set(TRANSITIONS.values())
    assert table["acceptance"].between(0.02, 0.9).all()
    for _, own in table.groupby("data"):
        none = own[own["K"] == 0]
        assert none["acceptance"].nunique() == 1  # without bridging there is one run for both
        best = own.loc[own["K"] == own["K"].max(), "acceptance"]
        # More densities never do harm beyond the noise of a short run (standard errors are about 0.015).
        assert (best > none["acceptance"].iloc[0] - 0.08).all()
    assert "CPU second" in outcome.ours


def test_relative_ess_of_a_chain_that_stands_still_is_small():
    """A planted fault: λ a thousand times too large must show."""
    density = synthetic.target(10)
    slow = Kind("augmented", {"scaling": "scalar", "lam": 2000.0})
    fast = SAMPLERS["heat bath + over-relaxation"]
    assert gain(chains(density, slow, draws=4000))[0] < 0.02
    assert gain(chains(density, fast, draws=4000))[0] > 0.7
