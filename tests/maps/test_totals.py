"""Summaries of a map from sums, against the same from all angles."""

import numpy as np
import pytest

from vmqp import circle
from vmqp.maps.totals import Moments, add_up


def moments_of(angles):
    """Of angles (halves, steps, places)."""
    sums = np.zeros((len(angles), 4, angles.shape[2]))
    for half, steps in enumerate(angles):
        for step in steps:
            add_up(np.stack([np.cos(step), np.sin(step)])[:, None], sums[half])
    return Moments(sums, np.full(len(angles), angles.shape[1], dtype=float))


@pytest.fixture
def angles():
    return np.random.default_rng(2).vonmises([0.3, 3.1, -2.0], [4.0, 1.0, 50.0], size=(8, 300, 3))


def test_mean_and_variance(angles):
    found = moments_of(angles)
    flat = angles.reshape(-1, 3)
    np.testing.assert_allclose(found.mean(), circle.mean(flat, axis=0), atol=1e-12)
    np.testing.assert_allclose(found.variance(), circle.variance(flat, axis=0), atol=1e-12)


def test_rhat_is_that_of_both_parts_of_the_angle(angles):
    mu = circle.mean(angles.reshape(-1, 3), axis=0)
    for row, part in enumerate((np.cos(angles - mu), np.sin(angles - mu))):
        within, between = part.var(axis=1).mean(axis=0), part.mean(axis=1).var(axis=0, ddof=1)
        expected = np.sqrt(299 / 300 + between / within)
        np.testing.assert_allclose(moments_of(angles).rhat()[row], expected, rtol=1e-9)


def test_halves_that_agree_have_a_small_rhat(angles):
    assert moments_of(angles).rhat().max() < 1.02


@pytest.mark.parametrize("fault", ["mean", "variance"])
def test_one_chain_apart_is_seen(angles, fault):
    if fault == "mean":
        angles[:2] += 0.5
    else:
        angles[:2] = 0.3 + 0.2 * circle.difference(angles[:2], 0.3)
    assert moments_of(angles).rhat()[:, 0].max() > 1.03


def test_effective_samples_of_independent_draws(angles):
    many = np.random.default_rng(5).vonmises(0.0, 3.0, size=(8, 200, 400))
    sizes = moments_of(many).effective()
    assert 800 < np.median(sizes) <= 1600
    assert np.median(moments_of(np.repeat(many[:, :50], 4, axis=1)).effective()) < 500


def test_a_place_that_never_moves():
    still = moments_of(np.full((4, 10, 1), 0.7))
    np.testing.assert_allclose(still.rhat(), np.sqrt(0.9), rtol=1e-6)
    assert still.variance()[0] < 1e-12
