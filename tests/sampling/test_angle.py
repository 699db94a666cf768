"""The vectorised angle of a unit vector against the library's arctangent."""

import numpy as np
import pytest

from vmqp.sampling.angle import angles_of

EIGHTHS = np.arange(-8, 9) * np.pi / 8.0


@pytest.mark.parametrize(
    "angles",
    [
        np.random.default_rng(1).uniform(-np.pi, np.pi, 100_000),
        np.concatenate([np.nextafter(EIGHTHS, -9.0), EIGHTHS, np.nextafter(EIGHTHS, 9.0)]),
        10.0 ** np.random.default_rng(2).uniform(-300.0, 0.0, 10_000),
        np.pi - 10.0 ** np.random.default_rng(3).uniform(-16.0, 0.0, 10_000),
        -np.pi / 2.0 + 10.0 ** np.random.default_rng(4).uniform(-16.0, 0.0, 10_000),
    ],
    ids=["uniform", "seams", "tiny", "near the cut", "near the sine's end"],
)
def test_within_four_units_in_the_last_place(angles):
    x = np.array([[np.cos(angles)], [np.sin(angles)]])
    expected = np.arctan2(x[1], x[0])
    found = angles_of(x)
    apart = np.abs(found - expected)
    apart = np.minimum(apart, 2.0 * np.pi - apart)  # one unit beside the cut is on its other side
    assert (apart <= 4.0 * np.spacing(np.abs(expected))).all()
    assert found.min() > -np.pi
    assert found.max() <= np.pi


def test_the_axes_are_exact():
    x = np.array([[[1.0, 0.0, -1.0, 0.0, -1.0, 1.0]], [[0.0, 1.0, 0.0, -1.0, -0.0, -0.0]]])
    assert (np.abs(angles_of(x)[0]) == [0.0, np.pi / 2, np.pi, np.pi / 2, np.pi, 0.0]).all()
    assert angles_of(x)[0, 4] == np.pi


def test_vectors_that_are_not_quite_of_length_one():
    """Rounding leaves lengths of 1 ± 1e-16; any length has the same angle."""
    angles = np.linspace(-3.0, 3.0, 101)
    x = 0.7 * np.array([[np.cos(angles)], [np.sin(angles)]])
    np.testing.assert_allclose(angles_of(x)[0], angles, rtol=1e-14)
