"""The curve on the circle: no break at the cut, bands that meet across it, arcs that fill the circle."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from vmqp.circle import wrap
from vmqp.errors import InputError
from vmqp.plots import Scale, curve
from vmqp.plots.style import BAND
from vmqp.plots.unbroken import draw_band, draw_curve, draw_stripes

SCALES = [Scale(), Scale(360, 0.0), Scale(24, None, "hours")]


def axes():
    return Figure(figsize=(7, 4), layout="constrained").add_subplot()


def covered(ax, x, y):
    """How many of the filled shapes hold each of the points."""
    points = np.column_stack([x, y])
    return sum(path.contains_points(points) for shape in ax.collections for path in shape.get_paths())


@pytest.mark.parametrize("scale", SCALES)
def test_curve_has_no_vertical_line_at_the_cut(scale):
    x = np.linspace(0.0, 1.0, 200)
    winding = np.linspace(-0.16, 1.75, 200) * scale.period
    ax = axes()
    draw_curve(ax, x, scale.wrap(winding), scale, label="curve")
    shown = np.zeros(200, dtype=int)
    for line in ax.lines:
        y = np.asarray(line.get_ydata())
        assert np.abs(np.diff(y)).max() < 0.02 * scale.period
        np.testing.assert_allclose(wrap(y - winding, scale.period), 0, atol=1e-9 * scale.period)
        shown += (y >= scale.start) & (y <= scale.end)
    assert (shown == 1).all()  # each place once
    assert [line.get_label() for line in ax.lines].count("curve") == 1


def test_curve_of_unknown_angles_has_a_gap_and_goes_on():
    ax = axes()
    draw_curve(ax, np.arange(4.0), np.array([340.0, np.nan, 350.0, 10.0]), Scale(360, 0.0))
    lines = [line.get_ydata() for line in ax.lines]
    np.testing.assert_array_equal(lines, [[-20, np.nan, -10, 10], [340, np.nan, 350, 370]])
    draw_curve(ax, np.arange(2.0), np.full(2, np.nan), Scale())
    assert len(ax.lines) == 2


def test_band_crosses_the_cut_in_two_pieces_that_meet():
    scale = Scale(360, 0.0)
    x = np.linspace(0.0, 1.0, 50)
    mean = np.linspace(300.0, 420.0, 50)
    ax = axes()
    draw_band(ax, x, scale.wrap(mean), scale.wrap(mean - 30), scale.wrap(mean + 20), scale)
    assert len(ax.collections) == 2
    below, above = (shape.get_paths()[0].vertices for shape in ax.collections)
    # The same shape one turn apart: what the axes cut off at the top, they show at the bottom.
    np.testing.assert_allclose(above - below, np.tile([0.0, 360.0], (len(above), 1)), atol=1e-9)
    inside = np.linspace(-29, 19, 25)
    for place, middle in zip(x[1:-1], mean[1:-1], strict=True):
        assert (covered(ax, np.full(25, place), scale.wrap(middle + inside)) == 1).all()
    outside = covered(ax, x, scale.wrap(mean + 40)) + covered(ax, x, scale.wrap(mean - 50))
    assert (outside == 0).all()


@pytest.mark.parametrize("scale", SCALES)
def test_whole_circle_fills_the_height(scale):
    x = np.linspace(0.0, 1.0, 30)
    rng = np.random.default_rng(1)
    # Where the whole circle begins is arbitrary, and must not matter.
    lower = scale.start + scale.period * rng.uniform(size=30)
    ax = axes()
    curve(x, scale.wrap(lower + 0.3 * scale.period), lower, lower + scale.period, scale=scale, ax=ax)
    heights = np.linspace(scale.start, scale.end, 203)[1:-1]
    for place in (0.013, 0.5, 0.987):
        assert (covered(ax, np.full(201, place), heights) >= 1).all()


def test_whole_circle_beside_a_narrow_arc_grows_out_of_it_evenly():
    scale = Scale(360)
    ax = axes()
    # The whole circle from 100 on: its middle says nothing, the mean is where the narrow arc is.
    draw_band(ax, np.array([0.0, 1.0]), np.zeros(2), np.array([-10.0, 100.0]), np.array([10.0, 460.0]), scale)
    np.testing.assert_array_equal(covered(ax, np.full(4, 0.5), [-90, 90, -100, 100]), [1, 1, 0, 0])


def test_a_point_arc_is_not_the_whole_circle():
    ax = axes()
    curve([0, 1], [10, 10], [10, 10], [10, 10], scale=Scale(360, 0.0), ax=ax)
    assert (covered(ax, np.full(5, 0.5), [40, 100, 180, 270, 350]) == 0).all()


def test_order_of_the_places_does_not_matter():
    scale = Scale(360, 0.0)
    x = np.linspace(0, 3, 20)
    mean = scale.wrap(200 * x)

    def drawn(order):
        ax = axes()
        curve(x[order], mean[order], mean[order] - 5, mean[order] + 5, scale=scale, truth=mean[order], ax=ax)
        return [line.get_xydata() for line in ax.lines] + [s.get_paths()[0].vertices for s in ax.collections]

    shuffled = drawn(np.random.default_rng(2).permutation(20))
    for one, other in zip(shuffled, drawn(np.arange(20)), strict=True):
        np.testing.assert_allclose(one, other)


def test_regions_are_drawn_in_place_of_the_band():
    scale = Scale(360, 0.0)
    x = np.array([0.0, 1.0, 2.0])
    regions = [[[10, 20], [100, 130]], [[350, 10]], [[0, 360]]]
    ax = axes()
    curve(x, [15, 0, 50], [0, 0, 0], [90, 90, 90], scale=scale, regions=regions, ax=ax)
    assert len(ax.collections) == 1
    assert len(ax.collections[0].get_paths()) == 2 + 2 + 1  # the arc across the cut is in two pieces
    np.testing.assert_array_equal(covered(ax, np.full(5, 0.1), [15, 50, 110, 140, 355]), [1, 0, 1, 0, 0])
    np.testing.assert_array_equal(covered(ax, np.full(5, 1.1), [5, 15, 110, 345, 355]), [1, 0, 0, 0, 1])
    assert (covered(ax, np.full(9, 2.2), np.linspace(1, 359, 9)) == 1).all()


def test_stripes_reach_half_way_to_their_neighbours():
    ax = axes()
    draw_stripes(ax, np.array([0.0, 1.0, 3.0]), [[[0, 1]]] * 3, Scale())
    ends = [(p.vertices[:, 0].min(), p.vertices[:, 0].max()) for p in ax.collections[0].get_paths()]
    assert ends == [(-0.5, 0.5), (0.5, 2.0), (2.0, 4.0)]


def test_one_place_is_a_stripe_with_a_mark():
    ax = axes()
    curve([3.0], [350], [340], [10], scale=Scale(360, 0.0), ax=ax)
    assert (covered(ax, np.full(3, 3.0), [345, 5, 180]) == [1, 1, 0]).all()
    assert ax.lines[0].get_marker() == "s"


def test_axis_shows_one_turn_with_its_unit_and_the_legend_covers_nothing():
    ax = axes()
    observed = ([0.5, 1.5], [-0.1, 6.0])
    curve(
        [0, 1, 2],
        [0.1, 0.2, 0.3],
        [0, 0.1, 0.2],
        [0.2, 0.3, 0.4],
        scale=Scale(origin=0.0),
        observed=observed,
        ax=ax,
    )
    assert ax.get_ylim() == (0.0, 2 * np.pi)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "π/2", "π", "3π/2", "2π"]
    assert ax.get_ylabel() == "angle (radians)"
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["90 % arc", "predicted mean", "observed (2)"]
    points = next(line for line in ax.lines if line.get_label().startswith("observed"))
    np.testing.assert_allclose(points.get_ydata(), [2 * np.pi - 0.1, 6.0])
    ax.set_title("A title")
    ax.figure.draw_without_rendering()
    renderer = ax.figure._get_renderer()
    box = legend.get_window_extent(renderer)
    assert box.y0 >= ax.get_window_extent(renderer).y1
    assert ax.title.get_window_extent(renderer).y0 >= box.y1 - 2
    assert ax.title.get_window_extent(renderer).y1 <= ax.figure.bbox.y1


def test_band_has_the_colour_that_the_greyscale_test_checks():
    ax = axes()
    curve([0, 1], [1, 1], [0, 0], [2, 2], scale=Scale(), ax=ax)
    assert to_hex(ax.collections[0].get_facecolor()[0]).upper() == BAND


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"x": []}, "at least one"),
        ({"x": [[0.0], [1.0]]}, "one axis"),
        ({"x": [0, np.nan]}, "finite"),
        ({"mean": [1.0]}, "2 numbers"),
        ({"mean": ["north", "south"]}, "numbers"),
        ({"upper": None}, "together"),
        ({"regions": [[[0, 1]]]}, "regions"),
        ({"observed": [1.0, 2.0, 3.0]}, "pair"),
        ({"observed": ([1.0], [1.0, 2.0])}, "1 numbers"),
    ],
)
def test_bad_input_is_named(change, word):
    given = {
        "x": [0, 1],
        "mean": [1, 1],
        "lower": [0, 0],
        "upper": [2, 2],
        "scale": Scale(),
        "ax": axes(),
        **change,
    }
    with pytest.raises(InputError, match=word):
        curve(**given)
