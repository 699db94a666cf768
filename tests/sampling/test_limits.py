"""Targets and options at the edge of what floating point can hold."""

import numpy as np
import pytest

import vmqp
from vmqp.errors import InputError
from vmqp.sampling import SAMPLERS, build_sampler, make_target, seed_streams
from vmqp.sampling.augmented import augmentation


@pytest.mark.parametrize("strength", [1e-300, 1e-162, 1e-150])
@pytest.mark.parametrize("name", ["heatbath", "hybrid", "augmented"])
def test_fields_whose_square_underflows_leave_unit_vectors(name, strength):
    target = make_target(np.zeros((3, 3)), strength * np.array([[2.2, 0.0], [0.0, 3.0], [1.0, 1.0]]))
    sampler = build_sampler(name, target, {})
    rng = seed_streams(1, 1)
    state, _ = sampler.run(rng, sampler.init(rng), 5)
    np.testing.assert_allclose((state.x**2).sum(axis=0), 1.0, rtol=1e-12)


@pytest.mark.parametrize("name", list(SAMPLERS))
def test_strong_couplings_and_fields_give_finite_angles(name):
    coupling = 1e12 * np.array([[0.0, -1.0, 0.5], [-1.0, 0.0, -1.0], [0.5, -1.0, 0.0]])
    angles = vmqp.sample_angles(coupling, 1e12 * np.ones((3, 2)), draws=20, sampler=name, warmup=20)
    assert np.isfinite(angles).all()


def test_values_whose_square_overflows_are_refused():
    with pytest.raises(InputError, match="rescale"):
        vmqp.sample_angles([[0.0, 1e200], [1e200, 0.0]], np.zeros((2, 2)), draws=1)
    with pytest.raises(InputError, match="rescale"):
        vmqp.sample_angles(np.zeros((1, 1)), [[1e200, 0.0]], draws=1)


def test_a_step_size_that_is_far_too_small_still_ends():
    options = {"sampler": "hmc-whitened", "step_size": 1e-308, "warmup": 0}
    assert vmqp.sample_angles(np.zeros((2, 2)), np.zeros((2, 2)), draws=2, **options).shape == (2, 2)


def test_a_huge_diagonal_does_not_slow_a_sampler_down():
    """The diagonal does not matter for the density, so no sampler may build its steps on 1e8."""
    coupling = np.array([[1e8, 0.3, -0.2], [0.3, 1e8, 0.4], [-0.2, 0.4, 1e8]])
    for name in ("augmented", "hmc-whitened", "hybrid"):
        cosine = np.cos(vmqp.sample_angles(coupling, np.zeros((3, 2)), draws=4000, sampler=name, seed=1))[
            :, 0
        ]
        assert abs(np.corrcoef(cosine[1:], cosine[:-1])[0, 1]) < 0.6, name


def test_augmentation_of_places_that_hardly_know_each_other():
    """LAPACK's search for the largest eigenvalue alone fails on some matrices that are almost the identity."""
    places = np.concatenate([[1.2, 1.7, 3.3, 5.2, 5.7, 7.7, 8.2], np.arange(0.5, 10.0)])
    gaps = places[:, None] - places
    for length in np.linspace(0.02, 0.06, 200):
        M = np.linalg.inv(np.exp(-0.5 * (gaps / length) ** 2))
        factor = augmentation(make_target(M, np.zeros((len(M), 2))), "scalar")
        assert factor is not None
