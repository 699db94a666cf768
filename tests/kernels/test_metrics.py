"""Distances on the earth."""

import math

import numpy as np
import pytest

from vmqp import kernels
from vmqp.kernels.metrics import EARTH_RADIUS, chord, great_circle


def test_the_earth_has_no_edge():
    """The same places written in other longitudes, and all longitudes of a pole."""
    X = np.array([[179.0, 10.0], [-179.0, 10.0], [0.0, 90.0], [135.0, 90.0], [350.0, 0.0], [-10.0, 0.0]])
    for kind in (kernels.Exponential, kernels.Gaussian):
        K = kind(1000.0, metric="geographic").bind(X).covariance({})
        assert K[2, 3] == pytest.approx(1.0, abs=1e-12)
        assert K[4, 5] == pytest.approx(1.0, abs=1e-12)
        turned = kind(1000.0, metric="geographic").bind(X + np.array([1.0, 0.0]))
        np.testing.assert_allclose(K, turned.covariance({}), rtol=1e-9)
    degree = kernels.Exponential(1.0, metric="geographic").bind([[0.0, 0.0], [0.0, 1.0]]).covariance({})[0, 1]
    assert -math.log(degree) == pytest.approx(111.195, abs=1e-3)


def test_close_places_on_the_earth_keep_their_digits():
    metre = 360.0 / (2 * math.pi * EARTH_RADIUS * 1000)
    K = (
        kernels.Exponential(1e-3, metric="geographic")
        .bind([[10.0, 50.0], [10.0, 50.0 + metre]])
        .covariance({})
    )
    assert -math.log(K[0, 1]) == pytest.approx(1.0, rel=1e-8)


def test_exponential_on_the_earth_is_positive_definite_at_any_length():
    rng = np.random.default_rng(3)
    latitude = np.degrees(np.arcsin(rng.uniform(-1, 1, 25)))
    places = np.vstack(
        (np.column_stack((rng.uniform(-180, 180, 25), latitude)), [[0, 90], [179.9, 5], [-179.9, 5]])
    )
    antipodes = np.column_stack((places[:, 0] % 360 - 180, -places[:, 1]))
    X = np.vstack((places, antipodes))
    for length in (10.0, 1000.0, 1e5):
        eigenvalues = np.linalg.eigvalsh(
            kernels.Exponential(length, metric="geographic").bind(X).covariance({})
        )
        assert eigenvalues[0] > -1e-12 * eigenvalues[-1]


def test_the_two_distances():
    """Against known angles: a quarter of the equator, the antipode, and a place with itself."""
    X = np.array([[0.0, 0.0], [90.0, 0.0], [180.0, 0.0], [-90.0, 30.0], [90.0, -30.0]])
    rows, cols = np.array([0, 0, 3, 3]), np.array([1, 2, 4, 3])
    angle = np.array([np.pi / 2, np.pi, np.pi, 0.0])
    np.testing.assert_allclose(great_circle(X, rows, cols), EARTH_RADIUS * angle, rtol=1e-14)
    np.testing.assert_allclose(chord(X, rows, cols), 2 * EARTH_RADIUS * np.sin(angle / 2), rtol=1e-14)
