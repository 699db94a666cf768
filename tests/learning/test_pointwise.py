"""The law of one angle given all others, against the joint density by quadrature."""

import numpy as np
import pytest

from vmqp import kernels, priors
from vmqp.errors import InputError
from vmqp.learning import Learner, make_problem
from vmqp.learning.point import factorised
from vmqp.learning.pointwise import fields_at, log_density_of, log_likelihood

X = np.array([[0.0], [0.7], [1.9], [2.5]])
OBSERVED = np.array([0.3, 1.4, -2.8])
ANGLES = np.array([0.3, 1.4, -2.8, 2.0])
GRID = np.linspace(-np.pi, np.pi, 400, endpoint=False)
KERNEL = 0.8 * kernels.Exponential(1.3)
M = np.linalg.inv(KERNEL.bind(X).covariance({}))
KAPPA, NU, CHI = 0.6, 0.9, np.array([3.0, 7.0, 0.5])


def problem(**options):
    return make_problem(X[:3], OBSERVED, X[3:], kernel=KERNEL, concentration=KAPPA, direction=NU, **options)


def log_joint(angles):
    """Of the process, written as in the paper (eq:prior), with the whole of M."""
    return -0.5 * np.sum(M * np.cos(angles[:, None] - angles)) + KAPPA * np.cos(angles - NU).sum()


def fields(given):
    x = np.stack([np.cos(ANGLES), np.sin(ANGLES)])[:, None, :]
    point = factorised(given, np.zeros(0), {})
    return fields_at(point, x, NU)


def conditional(i, extra=0.0):
    """Of angle i on the grid, from the joint density."""
    values = []
    for angle in GRID:
        moved = ANGLES.copy()
        moved[i] = angle
        values.append(log_joint(moved))
    density = np.exp(np.array(values) + extra - np.max(values))
    return density / density.sum() / (GRID[1] - GRID[0])


@pytest.mark.parametrize("i", range(4))
def test_one_angle_given_the_rest_is_the_joint_density_cut_along_it(i):
    x, y = fields(problem())[:, i]
    found = np.exp(log_density_of(GRID, np.arctan2(y, x), np.hypot(x, y)))
    np.testing.assert_allclose(found, conditional(i), rtol=1e-9)


@pytest.mark.parametrize("i", range(3))
def test_likelihood_with_noise_integrates_over_the_angle_itself(i):
    given = problem(noise=CHI)
    found = log_likelihood(given, fields(given), CHI)[i]
    step = GRID[1] - GRID[0]
    noise = np.exp(CHI[i] * np.cos(OBSERVED[i] - GRID)) / (2 * np.pi * np.i0(CHI[i]))
    assert found == pytest.approx(np.log(np.sum(conditional(i) * noise) * step), abs=1e-9)


def test_likelihood_without_noise_is_the_density_at_the_observed_angle():
    given = problem()
    found = log_likelihood(given, fields(given), None)
    for i in range(3):
        at = np.interp(OBSERVED[i], GRID, np.log(conditional(i)))
        assert found[i] == pytest.approx(at, abs=1e-3)


@pytest.mark.parametrize("strength", [0.0, 1e-300, 1e6, 1e12])
@pytest.mark.parametrize("noise", [None, 1e-8, 5.0, 1e12])
def test_densities_are_finite_and_normalised_at_any_strength(strength, noise):
    width = 1.0 / np.sqrt(
        max(1.0, strength if noise is None else 1.0 / (1.0 / max(strength, 1e-9) + 1.0 / noise))
    )
    grid = 0.4 + np.linspace(-1.0, 1.0, 20001) * min(np.pi, 12.0 * width)
    found = np.exp(log_density_of(grid, np.array(0.4), np.array(strength), noise))
    assert np.isfinite(found).all()
    assert np.trapezoid(found, grid) == pytest.approx(1.0, rel=2e-5)


def test_noise_that_is_known_for_each_row_enters_field_mass_and_fingerprint():
    given = problem(noise=CHI)
    assert given.learned == ()
    assert given.latent == slice(0, 4)
    assert given.fingerprint != problem(noise=CHI + 1.0).fingerprint
    same = problem(noise=np.full(3, 4.0))
    alone = problem(noise=4.0)
    runs = [
        Learner(p, warmup=30).advance(Learner(p, warmup=30).start(seed=3, chain=0), 60)[1].angles["latent"]
        for p in (same, alone)
    ]
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize(
    ("noise", "word"),
    [
        ([1.0, 2.0], "shape"),
        ([1.0, -2.0, 3.0], "row 1"),
        ([1.0, np.nan, 3.0], "row 1"),
        (["a", "b", "c"], "real"),
    ],
)
def test_wrong_noise_by_row_is_refused(noise, word):
    with pytest.raises(InputError, match=word):
        problem(noise=noise)


def test_rows_with_more_noise_are_followed_less():
    """At χ = 200 an angle stays near its observation, at χ = 0.2 near its neighbours: means over 4,000 draws."""
    places = np.arange(6.0)[:, None] * 0.2
    angles = np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    spread = {}
    for chi in (200.0, 0.2):
        noise = np.array([50.0, 50.0, chi, 50.0, 50.0, 50.0])
        given = make_problem(
            places, angles, kernel=1.0 * kernels.Exponential(2.0), concentration=0.0, noise=noise
        )
        learner = Learner(given, warmup=200)
        _, chunk = learner.advance(learner.start(seed=1, chain=0), 4200)
        spread[chi] = float(np.angle(np.exp(1j * chunk.angles["latent"][:, 2]).mean()))
    assert spread[200.0] > 1.7
    assert spread[0.2] < 0.7


def test_pointwise_is_kept_by_chunk_whatever_the_cut():
    kernel = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1))
    given = make_problem(X[:3], OBSERVED, X[3:], kernel=kernel)
    learner = Learner(given, warmup=20, pointwise=True)
    state = learner.start(seed=1, chain=0)
    _, whole = learner.advance(state, 40)
    half, first = learner.advance(state, 27)
    _, second = learner.advance(half, 13)
    for name, rows in learner.describe().pointwise.items():
        assert whole.pointwise[name].shape == (20, len(rows))
        assert whole.pointwise[name].dtype == np.float32
        joined = np.concatenate([first.pointwise[name], second.pointwise[name]])
        np.testing.assert_array_equal(whole.pointwise[name], joined)
    assert Learner(given, warmup=20).describe().pointwise == {}
