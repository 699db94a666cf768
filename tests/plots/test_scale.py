"""Ticks, labels and directions of angles on the page."""

import dataclasses

import numpy as np
import pytest

from vmqp.errors import InputError
from vmqp.plots import Scale


@pytest.mark.parametrize(
    ("scale", "ticks", "labels"),
    [
        (Scale(), np.pi * np.array([-1, -0.5, 0, 0.5, 1]), ("−π", "−π/2", "0", "π/2", "π")),
        (Scale(origin=0.0), np.pi * np.array([0, 0.5, 1, 1.5, 2]), ("0", "π/2", "π", "3π/2", "2π")),
        (Scale(360, 0.0, "degrees"), [0, 90, 180, 270, 360], ("0°", "90°", "180°", "270°", "360°")),
        (Scale(360), [-180, -90, 0, 90, 180], ("−180°", "−90°", "0°", "90°", "180°")),
        (Scale(24, 0.0, "hours"), [0, 6, 12, 18, 24], ("0 h", "6 h", "12 h", "18 h", "24 h")),
        (Scale(100, 0.0, "percent"), [0, 25, 50, 75, 100], ("0 %", "25 %", "50 %", "75 %", "100 %")),
        (Scale(7, 0.0, "days"), [0, 1.75, 3.5, 5.25, 7], ("0", "1.75", "3.5", "5.25", "7")),
        (Scale(180, 0.0, "degrees (axes)"), [0, 45, 90, 135, 180], ("0°", "45°", "90°", "135°", "180°")),
        (Scale(360, -45.0), [0, 90, 180, 270], ("0°", "90°", "180°", "270°")),
    ],
)
def test_ticks_stand_at_quarters_of_the_period(scale, ticks, labels):
    np.testing.assert_allclose(scale.ticks(), ticks, atol=1e-12)
    assert scale.tick_labels() == labels


def test_a_period_typed_with_four_digits_is_written_in_multiples_of_pi():
    assert Scale(6.283).tick_labels() == ("−π", "−π/2", "0", "π/2", "π")


@pytest.mark.parametrize(
    ("period", "unit"),
    [
        (2 * np.pi, "radians"),
        (360, "degrees"),
        (24, "hours"),
        (100, "percent"),
        (180, "degrees (axes)"),
        (7, ""),
    ],
)
def test_usual_units(period, unit):
    assert Scale(period).unit == unit


def test_label_tells_the_unit_or_else_the_period():
    assert Scale(360).label() == "angle (degrees)"
    assert Scale(7).label("day") == "day (period 7)"
    assert Scale(180).label("strike") == "strike (degrees, axes)"


# Right, up, left, down on the page, in radians counter-clockwise from the right.
RIGHT, UP, LEFT, DOWN = 0.0, np.pi / 2, np.pi, -np.pi / 2


@pytest.mark.parametrize(
    ("options", "sides"),
    [
        ({}, (RIGHT, UP, LEFT, DOWN)),
        ({"compass": True}, (UP, RIGHT, DOWN, LEFT)),
        ({"zero": "N", "clockwise": True}, (UP, RIGHT, DOWN, LEFT)),
        ({"zero": "N"}, (UP, LEFT, DOWN, RIGHT)),
        ({"clockwise": True}, (RIGHT, DOWN, LEFT, UP)),
    ],
)
@pytest.mark.parametrize(("period", "origin"), [(2 * np.pi, None), (360.0, 0.0), (24.0, 0.0)])
def test_directions_of_the_four_quarters(options, sides, period, origin):
    scale = Scale(period, origin, **options)
    found = np.exp(1j * scale.direction(np.arange(4) * period / 4))
    np.testing.assert_allclose(found, np.exp(1j * np.array(sides)), atol=1e-12)


def test_axes_take_half_a_turn():
    scale = Scale(180, 0.0)
    assert scale.axial
    np.testing.assert_allclose(scale.direction([0, 90, 180]), [0, np.pi / 2, np.pi])
    assert not Scale(360).axial
    assert not Scale(180, unit="days").axial


def test_compass_says_what_zero_and_clockwise_make():
    assert Scale(360, compass=True) == Scale(360, zero="N", clockwise=True)
    assert Scale(360, zero="N", clockwise=True).compass
    assert not Scale(360, zero="N").compass
    assert dataclasses.replace(Scale(360), compass=True).zero == "N"


def test_only_bearings_have_sides_of_the_compass():
    assert Scale(360, 0.0, compass=True).round_tick_labels() == ("N 0°", "E 90°", "S 180°", "W 270°")
    assert Scale(24, 0.0, compass=True).round_tick_labels() == ("0 h", "6 h", "12 h", "18 h")


def test_fraction_does_not_depend_on_the_range():
    angles = np.array([-170.0, -10.0, 0.0, 10.0, 350.0])
    np.testing.assert_allclose(Scale(360).fraction(angles), Scale(360, 0.0).fraction(angles))
    assert Scale(360).fraction(-1e-20) < 1


@pytest.mark.parametrize("bad", [{"period": 0}, {"period": "x"}, {"origin": np.inf}, {"zero": "W"}])
def test_bad_scales_are_refused(bad):
    with pytest.raises(InputError):
        Scale(**bad)
