"""Maps: grids are found in any order, cells get their own value, proportions and colours are right."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from vmqp.errors import InputError
from vmqp.plots import Scale, direction_map, variance_map
from vmqp.plots.grids import full_grid, spread_out


def axes():
    return Figure(figsize=(7, 5), layout="constrained").add_subplot()


def grid(columns=4, rows=3, seed=None):
    places = np.stack(np.meshgrid(np.linspace(5, 8, columns), np.linspace(50, 51, rows)), -1).reshape(-1, 2)
    return places if seed is None else np.random.default_rng(seed).permutation(places)


def test_grid_is_found_in_any_order_and_despite_rounding():
    places = grid(seed=1)
    found = full_grid(places + 1e-12 * np.random.default_rng(2).normal(size=places.shape))
    assert (len(found.x), len(found.y)) == (4, 3)
    np.testing.assert_allclose(places[found.number[2, 1]], [6.0, 51.0])
    np.testing.assert_allclose(found.edges()[0], [4.5, 5.5, 6.5, 7.5, 8.5])


@pytest.mark.parametrize("spoil", ["missing", "moved", "twice", "line"])
def test_other_places_are_no_grid(spoil):
    places = grid()
    if spoil == "missing":
        places = places[:-1]
    elif spoil == "moved":
        places[3] += 0.01
    elif spoil == "twice":
        places[3] = places[4]
    else:
        places = places[:4]
    assert full_grid(places) is None


def test_thinned_grid_is_a_grid_whose_places_are_far_enough_apart():
    places = np.stack(np.meshgrid(np.arange(60.0), np.arange(40.0)), -1).reshape(-1, 2)
    chosen = places[spread_out(places, 2.5)]
    thin = full_grid(chosen)
    assert np.diff(thin.x).min() == np.diff(thin.y).min() == 3.0
    assert len(chosen) == 20 * 13
    assert len(spread_out(places, 1.0)) == len(places)


def test_scattered_places_are_thinned_without_leaving_holes():
    places = np.random.default_rng(3).uniform(size=(500, 2))
    chosen = places[spread_out(places, 0.1)]
    distances = np.linalg.norm(chosen[:, None] - chosen, axis=-1) + np.eye(len(chosen))
    assert distances.min() >= 0.1 - 1e-6
    assert np.linalg.norm(places[:, None] - chosen, axis=-1).min(axis=1).max() <= 0.1


def test_each_cell_shows_the_variance_of_its_place():
    places = grid(seed=4)
    variance = (places[:, 0] - 5) / 4 + (places[:, 1] - 50) / 10
    ax = variance_map(places, variance, ax=axes())
    cells = np.asarray(ax.collections[0].get_array()).reshape(3, 4)
    expected = (np.linspace(5, 8, 4) - 5) / 4 + (np.linspace(50, 51, 3)[:, None] - 50) / 10
    np.testing.assert_allclose(cells, expected, atol=1e-12)


def test_scattered_places_are_coloured_points():
    places = np.random.default_rng(5).uniform(size=(20, 2))
    variance = np.linspace(0, 1, 20)
    ax = variance_map(places, variance, names=("x", "y"), ax=axes())
    np.testing.assert_allclose(ax.collections[0].get_offsets(), places)
    np.testing.assert_allclose(ax.collections[0].get_array(), variance)


def test_colour_bar_runs_from_0_to_1_whatever_the_values():
    ax = variance_map(grid(), np.full(12, 0.2), observed=grid()[:3], ax=axes())
    bar = next(other for other in ax.figure.axes if other is not ax)
    assert bar.get_ylim() == (0.0, 1.0)
    assert "circular variance" in bar.get_ylabel()
    assert ax.get_legend().get_texts()[0].get_text() == "observed (3)"


def test_proportion_of_the_map():
    lonlat = variance_map(grid(), np.zeros(12), names=("longitude", "latitude"), ax=axes())
    assert lonlat.get_aspect() == pytest.approx(1 / np.cos(np.radians(50.5)))
    assert (lonlat.get_xlabel(), lonlat.get_ylabel()) == ("longitude", "latitude")
    assert variance_map(grid(), np.zeros(12), names=("east", "north"), ax=axes()).get_aspect() == 1.0
    strip = grid() * [100.0, 1.0]
    assert variance_map(strip, np.zeros(12), names=("hour", "depth"), ax=axes()).get_aspect() == "auto"


def test_directions_have_the_colours_of_the_wheel():
    places = grid(seed=6)
    angles = np.linspace(0, 330, 12)
    scale = Scale(360, 0.0)
    ax = direction_map(places, angles, scale=scale, observed=(places[:2] + 0.1, angles[:2]), ax=axes())
    mesh = ax.collections[0]
    number = full_grid(places).number
    np.testing.assert_allclose(np.asarray(mesh.get_array()).ravel(), angles[number].ravel() / 360)
    mesh.update_scalarmappable()
    wheel = next(child for child in ax.child_axes if child.get_label() == "wheel")
    ring = wheel.collections[0]
    assert ring.get_cmap() is mesh.get_cmap()
    assert (ring.norm.vmin, ring.norm.vmax) == (mesh.norm.vmin, mesh.norm.vmax) == (0.0, 1.0)
    # The points of observation are filled as their cells would be.
    np.testing.assert_allclose(ax.collections[2].get_facecolor(), mesh.cmap(angles[:2] / 360), atol=1e-6)


@pytest.mark.parametrize("layout", [None, "tight", "constrained"])
def test_wheel_has_room_beside_the_map_in_any_layout(layout):
    figure = Figure(figsize=(6.4, 4.8), layout=layout)
    ax = direction_map(grid(), np.zeros(12), scale=Scale(360), ax=figure.add_subplot())
    figure.draw_without_rendering()
    wheel = next(child for child in ax.child_axes if child.get_label() == "wheel").get_window_extent()
    assert wheel.x0 >= ax.get_window_extent().x1
    assert wheel.x1 <= figure.bbox.x1
    assert wheel.width == pytest.approx(wheel.height)


def test_place_without_a_direction_is_masked():
    angles = np.full(12, 10.0)
    angles[5] = np.nan
    ax = direction_map(grid(), angles, scale=Scale(360), ax=axes())
    assert np.ma.count_masked(ax.collections[0].get_array()) == 1


@pytest.mark.parametrize(
    ("places", "variance", "word"),
    [
        (np.zeros((3, 3)), np.zeros(3), "two columns"),
        (np.zeros((0, 2)), [], "at least one row"),
        ([[0, np.inf]], [0.5], "row 0"),
        (grid(), np.zeros(11), "12 numbers"),
        (grid(), np.full(12, 1.5), r"\[0, 1\]"),
    ],
)
def test_bad_input_is_named(places, variance, word):
    with pytest.raises(InputError, match=word):
        variance_map(places, variance, ax=axes())
