"""Colours: the circle of colours is closed, even and readable without colour; lines differ in lightness."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from vmqp.plots import Scale, circle_colours
from vmqp.plots.colours import colour_of, draw_wheel
from vmqp.plots.style import BAND, COLOURS, DASHES, OBSERVED, PALE, PREDICTED, TRUTH
from vmqp.plots.traces import shades

# What is left of linear red, green and blue to eyes without one kind of cones (Machado et al. 2009).
BLIND = {
    "none": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colours):
    rgb = np.atleast_2d(np.array([to_rgb(colour) for colour in colours]))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lightness(colour):
    """CIE L*, from 0 for black to 100 for white: what a grey copy keeps."""
    luminance = float(linear([colour])[0] @ [0.2126, 0.7152, 0.0722])
    return 116 * np.cbrt(luminance) - 16 if luminance > 0.008856 else 903.3 * luminance


def oklab(rgb):
    """Ottosson's space, written from sRGB to it: the reverse of what the package has."""
    cones = np.clip(rgb, 0, None) @ np.array(
        [
            [0.4122214708, 0.2119034982, 0.0883024619],
            [0.5363325363, 0.6806995451, 0.2817188376],
            [0.0514459929, 0.1073969566, 0.6299787005],
        ]
    )
    return np.cbrt(cones) @ np.array(
        [
            [0.2104542553, 1.9779984951, 0.0259040371],
            [0.7936177850, -2.4285922050, 0.7827717662],
            [-0.0040720468, 0.4505937099, -0.8086757660],
        ]
    )


def circle(kind="none"):
    """The 360 colours of the map in OKLab, as an eye sees them."""
    return oklab(linear(circle_colours()(np.arange(360))) @ np.array(BLIND[kind]).T)


def apart(colours, steps):
    return np.linalg.norm(colours - np.roll(colours, steps, axis=0), axis=1)


def test_circle_of_colours_is_closed_and_even():
    steps = apart(circle(), 1)
    assert steps.max() / steps.min() < 1.05


def test_circle_of_colours_stays_within_what_screens_show():
    rgb = circle_colours()(np.arange(360))[:, :3]
    assert rgb.min() > 0.0
    assert rgb.max() < 1.0


@pytest.mark.parametrize(
    ("kind", "least"), [("none", 0.24), ("protan", 0.21), ("deutan", 0.21), ("tritan", 0.21)]
)
def test_directions_a_quarter_apart_differ_to_any_eye(kind, least):
    # matplotlib's twilight has 0.10, 0.08, 0.09 and 0.12.
    assert apart(circle(kind), 90).min() > least


def test_a_grey_copy_tells_0_from_half_a_turn():
    grey = np.array([lightness(colour) for colour in circle_colours()(np.arange(360))])
    assert grey[0] - grey[180] > 50
    # From light to dark and back, without a second hill: the cosine can be read off.
    assert np.sign(np.diff(grey[3:177])).max() < 0
    assert np.sign(np.diff(grey[183:357])).min() > 0


def test_an_angle_has_one_colour_whatever_its_range_and_unit():
    degrees = np.array([-170.0, -90.0, 0.0, 45.0, 180.0])
    expected = colour_of(degrees, Scale(360))
    np.testing.assert_allclose(colour_of(degrees % 360, Scale(360, 0.0)), expected)
    np.testing.assert_allclose(colour_of(np.radians(degrees), Scale()), expected, atol=0.02)
    assert colour_of(np.array([np.nan]), Scale())[0, :3] == pytest.approx([0.85] * 3)


def test_wheel_shows_the_colours_where_the_directions_are():
    for scale, light in ((Scale(360, 0.0), (1, 0)), (Scale(360, 0.0, compass=True), (0, 1))):
        wheel = draw_wheel(Figure().add_subplot(), scale)
        mesh = wheel.collections[0]
        middles = mesh.get_coordinates().mean(axis=0)
        # The lightest colour is that of 0: right in mathematics, up on a compass.
        lightest = middles[int(np.argmin(np.abs(mesh.get_array().ravel() - 0.0)))]
        np.testing.assert_allclose(lightest / np.linalg.norm(lightest), light, atol=0.02)


@pytest.mark.parametrize(
    ("one", "other", "least"),
    [
        (OBSERVED, PREDICTED, 40),
        (BAND, PREDICTED, 35),
        (BAND, TRUTH, 25),
        (BAND, OBSERVED, 80),
        (PALE, PREDICTED, 20),
        ("white", BAND, 12),
    ],
)
def test_what_is_told_apart_by_colour_differs_in_lightness(one, other, least):
    assert abs(lightness(one) - lightness(other)) > least


def test_chains_are_told_apart_by_lightness():
    light = [lightness(colour) for colour in shades(4)]
    assert np.diff(light).min() > 15


def test_35_lines_differ_in_colour_or_dashes():
    pairs = {(COLOURS[i % len(COLOURS)], str(DASHES[i % len(DASHES)])) for i in range(35)}
    assert len(pairs) == 35
    neighbours = itertools.pairwise([DASHES[i % len(DASHES)] for i in range(35)])
    assert all(one != other for one, other in neighbours)
