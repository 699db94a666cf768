"""Arrows: they point where they should, are as long as they are sure, and do not overlap."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver

from vmqp.errors import InputError
from vmqp.plots import Scale, arrows
from vmqp.plots.style import OBSERVED, PREDICTED, mixed
from vmqp.plots.vectors import _ink


def axes(size=(7, 6)):
    return Figure(figsize=size, layout="constrained").add_subplot()


def quivers(ax):
    return [artist for artist in ax.collections if isinstance(artist, Quiver)]


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.2]])
UNIT = {"right": (1, 0), "up": (0, 1), "left": (-1, 0), "down": (0, -1)}


@pytest.mark.parametrize(
    ("scale", "angles", "sides"),
    [
        (Scale(360, 0.0), [0, 90, 180, 270], ("right", "up", "left", "down")),
        (Scale(360, 0.0, compass=True), [0, 90, 180, 270], ("up", "right", "down", "left")),
        (Scale(), [0, np.pi / 2, np.pi, -np.pi / 2], ("right", "up", "left", "down")),
        (Scale(24, 0.0, zero="N", clockwise=True), [0, 6, 12, 18], ("up", "right", "down", "left")),
    ],
)
def test_arrows_point_as_the_scale_says(scale, angles, sides):
    # Equal variances keep the order in which the arrows are given.
    ax = arrows(PLACES, angles, np.zeros(4), scale=scale, observed=(PLACES + 0.1, angles), ax=axes())
    for quiver in quivers(ax):
        assert quiver.angles == "uv"  # directions of the page, not of the axes' units
        np.testing.assert_allclose(
            np.stack([quiver.U, quiver.V], 1), [UNIT[side] for side in sides], atol=1e-12
        )


def test_arrows_are_drawn_in_that_direction_whatever_the_proportion_of_the_axes():
    ax = arrows(PLACES * [100, 1], np.full(4, 45.0), np.zeros(4), scale=Scale(360), ax=axes((9, 3)))
    ax.figure.draw_without_rendering()
    tips = np.asarray(quivers(ax)[0].get_paths()[0].vertices)
    # The arrow's long axis on paper, from the spread of its corners.
    spread = np.linalg.eigh(np.cov(tips.T))[1][:, -1]
    assert abs(spread[0]) == pytest.approx(abs(spread[1]), rel=0.05)


def test_length_is_the_certainty_and_paleness_goes_with_it():
    variance = np.array([0.0, 0.75, 0.5, 0.25])
    ax = arrows(PLACES, np.zeros(4), variance, scale=Scale(360), ax=axes())
    (quiver,) = quivers(ax)
    np.testing.assert_allclose(np.hypot(quiver.U, quiver.V), [0.25, 0.5, 0.75, 1.0])  # the surest on top
    np.testing.assert_allclose(quiver.get_offsets(), PLACES[[1, 2, 3, 0]])
    pale = 1 - quiver.get_facecolor()[:, :3].mean(axis=1)
    assert (np.diff(pale) > 0.05).all()
    np.testing.assert_allclose(quiver.get_facecolor()[-1, :3], mixed(PREDICTED, np.array(1.0)))
    assert texts(ax) == ["predicted (4)", "less sure (R = 0.5)", "unsure (R = 0.1)"]


def test_place_without_a_direction_is_a_dot():
    ax = arrows(PLACES, [0, np.nan, 0, 0], [0.1, 0.9, 0.1, 0.1], scale=Scale(360), ax=axes())
    (quiver,) = quivers(ax)
    assert np.hypot(quiver.U, quiver.V).min() == 0.0
    ax.figure.draw_without_rendering()


def test_observed_differ_from_predicted_in_colour_and_in_shape():
    ax = arrows(
        PLACES, np.zeros(4), np.zeros(4), scale=Scale(360), observed=(PLACES[:3] + 0.2, [1, 2, 3]), ax=axes()
    )
    predicted, observed = quivers(ax)
    assert (predicted.pivot, observed.pivot) == ("middle", "tail")
    np.testing.assert_allclose(observed.get_facecolor()[0, :3], mixed(OBSERVED, np.array(1.0)))
    dots = next(line for line in ax.lines if line.get_label() == "_observed")
    np.testing.assert_allclose(dots.get_xydata(), PLACES[:3] + 0.2)
    assert texts(ax)[:2] == ["observed (3)", "predicted (4)"]


@pytest.mark.parametrize("regular", [True, False])
def test_3600_arrows_are_thinned_until_they_do_not_overlap(regular):
    side = np.linspace(0, 10, 60)
    places = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    if not regular:
        places = np.random.default_rng(1).uniform(0, 10, (3600, 2))
    ax = arrows(places, np.zeros(3600), np.zeros(3600), scale=Scale(360), names=("x", "y"), ax=axes())
    ax.figure.draw_without_rendering()
    (quiver,) = quivers(ax)
    drawn = quiver.get_offsets()
    assert 100 < len(drawn) < 1000
    on_paper = ax.transData.transform(drawn)
    distances = np.linalg.norm(on_paper[:, None] - on_paper, axis=-1) + 1e9 * np.eye(len(drawn))
    longest = ax.bbox.width / quiver.scale
    if regular:
        assert longest <= distances.min()
    else:  # scattered places: most
        assert np.mean(distances.min(axis=1) < longest) < 0.3
    assert texts(ax)[0] == f"predicted ({len(drawn)} of 3,600)"


def test_ten_arrows_are_all_drawn_and_of_moderate_length():
    places = np.random.default_rng(2).uniform(0, 10, (10, 2))
    ax = arrows(places, np.zeros(10), np.zeros(10), scale=Scale(360), names=("x", "y"), ax=axes())
    (quiver,) = quivers(ax)
    assert len(quiver.get_offsets()) == 10
    assert 0.02 < 1 / quiver.scale < 0.2  # in widths of the axes


def test_axes_have_no_head():
    ax = arrows(PLACES, [0, 45, 90, 135], np.zeros(4), scale=Scale(180, 0.0), ax=axes())
    (quiver,) = quivers(ax)
    assert quiver.headlength == 0
    np.testing.assert_allclose(np.arctan2(quiver.V, quiver.U), np.radians([0, 45, 90, 135]))


def test_background_has_a_wheel_and_white_arrows():
    ax = arrows(PLACES[:, ::-1], np.arange(4.0), np.zeros(4), scale=Scale(), background=True, ax=axes())
    assert [child.get_label() for child in ax.child_axes].count("wheel") == 1
    assert quivers(ax)[0].get_facecolor()[0, :3].tolist() == [1, 1, 1]
    assert _ink(np.array(1.0), True)["edgecolor"] == "black"


def test_legend_stays_within_the_figure():
    for size in ((4.5, 5.0), (9.0, 6.0)):
        ax = arrows(
            PLACES, np.zeros(4), np.zeros(4), scale=Scale(), observed=(PLACES, np.zeros(4)), ax=axes(size)
        )
        ax.figure.draw_without_rendering()
        box = ax.get_legend().get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= ax.figure.bbox.x1
        assert box.y1 <= ax.figure.bbox.y1 + 1


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"variance": [0, 0, 0, 2]}, r"\[0, 1\]"),
        ({"variance": [0, 0, 0]}, "4 numbers"),
        ({"places": PLACES[:, :1]}, "two columns"),
        ({"observed": PLACES}, "pair"),
        ({"observed": (PLACES, [1, 2, 3, np.nan])}, "finite"),
    ],
)
def test_bad_input_is_named(change, word):
    given = {"places": PLACES, "mean": np.zeros(4), "variance": np.zeros(4), "scale": Scale(), "ax": axes()}
    with pytest.raises(InputError, match=word):
        arrows(**{**given, **change})
