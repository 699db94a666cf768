"""Roses: areas are shares, the density is on the same scale, marks stand where they should."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from vmqp.errors import InputError
from vmqp.plots import Scale, rose, roses

SCALES = [Scale(), Scale(360, 0.0, compass=True), Scale(24, 0.0), Scale(180, 0.0)]


def axes():
    return Figure(figsize=(5, 5), layout="constrained").add_subplot(projection="polar")


def areas(ax):
    return np.array([bar.get_height() ** 2 * bar.get_width() / 2 for bar in ax.patches])


def labelled(ax, label):
    return next(line for line in ax.lines if line.get_label() == label)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("bins", [8, 36])
def test_areas_of_the_petals_are_shares_that_sum_to_1(scale, bins):
    draws = scale.period * np.random.default_rng(1).beta(2, 5, 1000)
    ax = rose(draws, scale=scale, bins=bins, ax=axes())
    halves = 2 if scale.axial else 1
    assert len(ax.patches) == bins * halves
    assert areas(ax).sum() == pytest.approx(1)
    shares = np.histogram(draws, bins, (0, scale.period))[0] / 1000
    np.testing.assert_allclose(areas(ax), np.tile(shares / halves, halves), atol=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_petals_stand_at_their_angles(scale):
    ax = rose(np.full(10, 0.3 * scale.period), scale=scale, bins=10, ax=axes())
    longest = max(ax.patches, key=lambda bar: bar.get_height())
    turn = np.pi if scale.axial else 2 * np.pi
    assert longest.get_x() <= 0.3 * turn + 1e-12 <= longest.get_x() + longest.get_width() + 1e-9
    assert ax.get_theta_direction() == (-1 if scale.compass else 1)
    assert ax.get_theta_offset() == pytest.approx(np.pi / 2 if scale.compass else 0)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("size", [1.0, 7.0])
def test_density_has_area_1_on_the_scale_of_the_petals(scale, size):
    grid = scale.start + scale.period * np.arange(400) / 400
    density = size * np.exp(2 * np.cos(2 * np.pi * (grid / scale.period - 0.2)))
    ax = rose(scale.period * np.array([0.1, 0.2]), scale=scale, density=(grid, density), ax=axes())
    theta, radius = labelled(ax, "density").get_data()
    assert theta[-1] - theta[0] == pytest.approx(2 * np.pi)
    assert (np.diff(theta) > 0).all()
    assert (np.diff(theta) * (radius[1:] ** 2 + radius[:-1] ** 2) / 4).sum() == pytest.approx(1, abs=1e-6)
    peak = theta[np.argmax(radius)] % (np.pi if scale.axial else 2 * np.pi)
    assert peak == pytest.approx(float(scale.turned(0.2 * scale.period)), abs=0.02)


def test_constant_density_matches_even_petals():
    draws = np.arange(360.0)
    ax = rose(draws, scale=Scale(360), density=(draws, np.ones(360)), bins=36, ax=axes())
    radius = labelled(ax, "density").get_ydata()
    np.testing.assert_allclose(radius, ax.patches[0].get_height())


def test_mean_arc_truth_and_observed_are_marked_on_the_rim():
    scale = Scale(360, 0.0)
    ax = rose([350, 0, 10], scale=scale, interval=(345, 15), truth=20, observed=[30, 40], ax=axes())
    rim = ax.get_ylim()[1]
    for label, angles in (("mean", [0.0]), ("truth", [20.0]), ("observed", [30.0, 40.0])):
        theta, radius = labelled(ax, label).get_data()
        np.testing.assert_allclose(np.degrees(theta) % 360 % (360 - 1e-9), angles, atol=1e-9)
        np.testing.assert_allclose(radius, rim)
    theta, radius = labelled(ax, "90 % arc").get_data()
    np.testing.assert_allclose(np.degrees(theta[[0, -1]]), [345, 375])
    np.testing.assert_allclose(radius, rim)
    assert max(bar.get_height() for bar in ax.patches) < rim


def test_whole_circle_and_several_arcs():
    ax = rose([0, 1], scale=Scale(), interval=[[-np.pi, np.pi]], ax=axes())
    theta = labelled(ax, "90 % arc").get_xdata()
    assert theta[-1] - theta[0] == pytest.approx(2 * np.pi)
    ax = rose([0, 1], scale=Scale(), interval=[[0, 1], [2, 2.5]], probability=0.5, ax=axes())
    assert len([line for line in ax.lines if line.get_label() in ("50 % arc", "_arc")]) == 2


def test_axes_are_drawn_both_ways():
    ax = rose([30, 40], scale=Scale(180, 0.0), truth=35, interval=(30, 40), ax=axes())
    np.testing.assert_allclose(np.degrees(labelled(ax, "truth").get_xdata()), [35, 215])
    np.testing.assert_allclose(areas(ax)[:36], areas(ax)[36:])
    arcs = [line.get_xdata()[[0, -1]] for line in ax.lines if line.get_label() in ("90 % arc", "_arc")]
    np.testing.assert_allclose(np.degrees(arcs), [[30, 40], [210, 220]])


def test_draws_that_cancel_have_no_mean():
    ax = rose([0, 180], scale=Scale(360), ax=axes())
    assert "mean" not in [line.get_label() for line in ax.lines]


def test_the_whole_turn_is_shown_with_labels_of_the_scale():
    ax = rose([-100.0, -80.0], scale=Scale(360, compass=True), interval=(-110, -70), truth=-90, ax=axes())
    assert (ax.get_thetamin(), ax.get_thetamax()) == (0.0, 360.0)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["N 0°", "E 90°", "S 180°", "W −90°"]


def test_rings_tell_the_share_of_a_petal_that_reaches_them():
    ax = rose(np.random.default_rng(2).normal(0, 20, 1000), scale=Scale(360), bins=36, ax=axes())
    shares = [float(label.get_text().removesuffix(" %")) / 100 for label in ax.get_yticklabels()]
    assert len(shares) == 2
    np.testing.assert_allclose(np.square(ax.get_yticks()) / 2 * 2 * np.pi / 36, shares)


def test_legend_is_below_the_labels_and_within_the_figure():
    ax = rose([0.1, 0.2], scale=Scale(), interval=(0, 1), truth=0.3, observed=0.1, ax=axes())
    ax.figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    lowest = min(label.get_window_extent().y0 for label in ax.get_xticklabels())
    assert legend.y1 <= lowest + 1
    assert legend.y0 >= 0
    assert legend.x0 >= 0
    assert legend.x1 <= ax.figure.bbox.x1


def test_several_roses_one_panel_each_and_one_legend():
    panels = Figure().subplots(2, 2, subplot_kw={"projection": "polar"})
    draws = np.random.default_rng(3).normal(size=(3, 50))
    found = roses(draws, scale=Scale(), titles=["a", "b", "c"], truths=[0, 1, None], axes=panels)
    assert found.tolist() == panels.ravel()[:3].tolist()
    assert [ax.get_title() for ax in found] == ["a", "b", "c"]
    assert [ax.get_legend() is not None for ax in found] == [False, False, True]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"draws": []}, "at least one"),
        ({"draws": [1, np.nan]}, "finite"),
        ({"bins": 1}, "bins"),
        ({"interval": [1, 2, 3]}, "pairs"),
        ({"density": ([0, 1, 2], [1, -1, 1])}, "negative"),
        ({"density": ([0, 1], [1, 1])}, "3 points"),
        ({"density": [1, 2, 3]}, "pair"),
        ({"ax": Figure().add_subplot()}, "polar"),
    ],
)
def test_bad_input_is_named(change, word):
    with pytest.raises(InputError, match=word):
        rose(**{"draws": [1.0, 2.0], "scale": Scale(), "ax": axes(), **change})


def test_roses_refuse_lists_of_other_lengths():
    with pytest.raises(InputError, match="titles"):
        roses([[0.0], [1.0]], scale=Scale(), titles=["only one"], axes=[axes(), axes()])
    with pytest.raises(InputError, match="axes"):
        roses([[0.0], [1.0]], scale=Scale(), axes=[axes()])
