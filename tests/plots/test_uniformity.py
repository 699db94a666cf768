"""Calibration pictures: counts, bands of the right size, and coverage at its levels."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import binom

from vmqp.errors import InputError
from vmqp.plots import calibration


def pair():
    return Figure(figsize=(9, 4), layout="constrained").subplots(1, 2)


def bars(ax):
    return [patch for patch in ax.patches if patch.get_label() != "95 % band if calibrated"]


def band(ax):
    return next(patch for patch in ax.patches if patch.get_label() == "95 % band if calibrated")


def test_bars_count_the_cases():
    pit = np.random.default_rng(1).uniform(size=200)
    given = pair()
    axes = calibration(pit, bins=8, axes=given)
    assert axes.tolist() == given.tolist()
    np.testing.assert_array_equal(
        [bar.get_height() for bar in bars(axes[0])], np.histogram(pit, 8, (0, 1))[0]
    )
    assert axes[0].get_ylabel() == "cases (n = 200)"
    assert "n = 200" in axes[1].get_ylabel()


@pytest.mark.parametrize(("cases", "bins"), [(30, 4), (200, 10), (5000, 20)])
def test_number_of_bars_follows_the_number_of_cases(cases, bins):
    assert len(bars(calibration(np.linspace(0, 1, cases), axes=pair())[0])) == bins


def test_all_bars_lie_in_the_band_in_95_percent_of_calibrated_samples():
    n, bins = 300, 10
    shown = band(calibration(np.linspace(0, 1, n), bins=bins, axes=pair())[0]).get_bbox()
    counts = np.random.default_rng(2).multinomial(n, np.full(bins, 1 / bins), size=20_000)
    alarms = np.mean(((counts < shown.y0) | (counts > shown.y1)).any(axis=1))
    # Bonferroni and whole numbers make it a little less than 5 %.
    assert 0.02 < alarms < 0.05


def test_band_shows_a_sample_that_is_not_calibrated():
    overconfident = np.random.default_rng(3).beta(0.5, 0.5, 300)
    ax = calibration(overconfident, axes=pair())[0]
    shown = band(ax).get_bbox()
    assert any(bar.get_height() > shown.y1 for bar in bars(ax))


def test_coverage_is_drawn_at_its_levels_in_order():
    ax = calibration(np.full(40, 0.5), ([0.9, 0.5], [0.85, 0.55]), axes=pair())[1]
    line = next(line for line in ax.lines if line.get_label() == "observed")
    np.testing.assert_allclose(line.get_xydata(), [[50, 55], [90, 85]])
    assert ax.get_xlabel() == "probability of the arcs (%)"


def test_coverage_band_is_binomial():
    n = 50
    ax = calibration(np.full(n, 0.5), ([0.5], [0.5]), axes=pair())[1]
    corners = ax.collections[0].get_paths()[0].vertices
    at_half = corners[np.isclose(corners[:, 0], 50.0)][:, 1]
    np.testing.assert_allclose(sorted(at_half), 100 * binom.ppf([0.025, 0.975], n, 0.5) / n)


def test_without_coverage_it_is_that_of_the_central_arcs():
    ax = calibration(np.array([0.5, 0.4, 0.1, 0.96]), axes=pair())[1]
    line = next(line for line in ax.lines if line.get_label() == "observed")
    shares = dict(zip(np.round(line.get_xdata()).astype(int), line.get_ydata(), strict=True))
    assert (shares[5], shares[25], shares[85], shares[95]) == (25.0, 50.0, 75.0, 100.0)
    assert "central" in ax.get_xlabel()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"pit": []}, "one case"),
        ({"pit": [0.5, 1.5]}, "probabilities"),
        ({"pit": [0.5, np.nan]}, "finite"),
        ({"coverage": ([50, 90], [0.5, 0.9])}, "0.9 for 90 %"),
        ({"coverage": ([0.5, 0.9], [0.5])}, "2 numbers"),
        ({"bins": 1}, "bins"),
        ({"axes": [Figure().add_subplot()]}, "two"),
    ],
)
def test_bad_input_is_named(change, word):
    with pytest.raises(InputError, match=word):
        calibration(**{"pit": [0.2, 0.8], "axes": pair(), **change})
