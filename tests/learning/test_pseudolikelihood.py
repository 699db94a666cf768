"""The pseudo-likelihood: against quadrature, at its limits, and its maximum on hard problems and on the wind data."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.special import i0e
from scipy.stats import vonmises

from vmqp import kernels, model, priors
from vmqp.errors import InputError
from vmqp.learning import pseudolikelihood
from vmqp.learning.problem import make_problem
from vmqp.learning.pseudolikelihood import log_pseudolikelihood, maximize, maximize_latent

H = priors.HalfNormal(1)
RULE = pseudolikelihood._rule
WIND = Path(__file__).resolve().parents[3] / "shared" / "data" / "wind_germany.csv"

KERNEL = H * kernels.Exponential(priors.Squared(H))


def some_problem(kernel=KERNEL, n=5, m=2, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 3.0, (n + m, 2))
    return make_problem(X[:n], rng.uniform(-np.pi, np.pi, n), X[n:], kernel=kernel, **options)


def test_it_is_the_sum_of_the_conditionals():
    rng = np.random.default_rng(6)
    A = rng.standard_normal((3, 3))
    M, field, angles = A @ A.T + np.eye(3), rng.standard_normal((3, 2)), np.array([0.3, -2.0, 1.1])
    total, grid = 0.0, np.arange(256) * 2.0 * np.pi / 256
    for i in range(3):
        line = np.tile(angles, (256, 1))
        line[:, i] = grid
        weight = np.exp(model.log_density_unnormalised(line, M, field)).mean() * 2.0 * np.pi
        total += model.log_density_unnormalised(angles, M, field) - np.log(weight)
    assert log_pseudolikelihood(angles, M, field) == pytest.approx(total, rel=1e-12)


def test_it_is_the_density_where_angles_are_independent():
    field, angles = np.array([[1.0, 2.0], [-0.5, 0.1]]), np.array([0.4, 2.5])
    M = np.diag([2.0, 5.0])
    exact = model.log_density_unnormalised(angles, M, field) - model.log_normaliser_quadrature(M, field)
    assert log_pseudolikelihood(angles, M, field) == pytest.approx(exact, rel=1e-12)
    exact = model.log_density_unnormalised(angles[:1], M[:1, :1], field[:1])
    exact -= model.log_normaliser_quadrature(M[:1, :1], field[:1])
    assert log_pseudolikelihood(angles[:1], M[:1, :1], field[:1]) == pytest.approx(exact, rel=1e-12)


def test_limits_of_the_local_field():
    one = np.array([[1.0]])
    assert log_pseudolikelihood([1.0], one, np.zeros((1, 2))) == pytest.approx(-np.log(2.0 * np.pi))
    x = model.unit_vectors([1.0])
    np.testing.assert_array_equal(RULE(np.zeros((1, 2)), x)[1], x)
    np.testing.assert_allclose(RULE(np.array([[1e-300, 0.0]]), x)[1], x)
    turn = 3e-4
    value = log_pseudolikelihood([1.0 + turn], one, 1e8 * x)
    expected = -2e8 * np.sin(turn / 2.0) ** 2 - np.log(2.0 * np.pi * i0e(1e8))
    assert value == pytest.approx(expected, rel=1e-9)
    assert log_pseudolikelihood([1.0 + np.pi], one, 1e8 * x) == pytest.approx(-2e8, rel=1e-6)
    gradient = RULE(1e8 * x, x)[1]
    np.testing.assert_allclose(gradient, x / 2e8, rtol=1e-6)
    assert float(log_pseudolikelihood([0.3], one, np.array([[1.5, 0.0]]))) == pytest.approx(
        vonmises(1.5).logpdf(0.3)
    )


def test_noise_and_fixed_parameters_are_reported():
    learned = maximize(some_problem(noise=priors.HalfNormal(10), n=10))
    assert set(learned.values) == {"variance", "lengthscale", "concentration", "direction", "noise"}
    fixed = maximize(
        some_problem(0.7 * kernels.Exponential(1.3), noise=5.0, concentration=2.0, direction=0.5, n=10)
    )
    assert fixed.values == {"noise": 5.0, "direction": 0.5}
    assert fixed.u.shape == (0,)
    assert fixed.covariance.shape == (0, 0)
    assert np.isfinite(fixed.value)
    assert fixed.converged
    assert "direction" not in maximize(some_problem(concentration=0.0, n=10)).values


def test_distant_scales_are_found():
    """The length scale of the data is far from that of the prior's median."""
    X = np.linspace(0.0, 5000.0, 80)[:, None]
    kernel = H * kernels.Exponential(priors.LogNormal(0, 4))
    found = maximize(make_problem(X, np.sin(X[:, 0] / 700.0), kernel=kernel))
    assert found.converged
    assert found.values["lengthscale"] > 50.0


def test_a_nearly_singular_kernel_is_no_obstacle():
    X = np.linspace(0.0, 1.0, 60)[:, None]
    kernel = H * kernels.Gaussian(priors.LogNormal(2, 1))
    found = maximize(make_problem(X, np.sin(9 * X[:, 0]), kernel=kernel))
    assert np.isfinite(found.value)
    assert np.isfinite(found.covariance).all()


def test_many_places_start_from_a_part(monkeypatch):
    rng = np.random.default_rng(10)
    X = rng.uniform(0.0, 3.0, (60, 2))
    problem = make_problem(X, np.sin(X[:, 0]) + 0.3 * rng.standard_normal(60), kernel=KERNEL)
    whole = maximize(problem)
    monkeypatch.setattr(pseudolikelihood, "_CLIMBED", (30,))
    part = maximize(problem)
    np.testing.assert_allclose(part.u, whole.u, atol=1e-3)


def test_latent_angles_are_averaged():
    rng = np.random.default_rng(11)
    X = rng.uniform(0.0, 3.0, (40, 1))
    angles = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(40)
    kernel = H * kernels.Exponential(priors.LogNormal(0, 0.5))
    problem = make_problem(X[:35], angles[:35], X[35:], kernel=kernel)
    found, again = (maximize_latent(problem, rounds=4, draws=40, seed=1) for _ in range(2))
    np.testing.assert_array_equal(found.u, again.u)
    known = maximize(problem)
    assert np.abs(found.u - known.u).max() < 1.0
    noisy = make_problem(X[:35], angles[:35], X[35:], kernel=kernel, noise=priors.HalfNormal(20))
    found = maximize_latent(noisy, rounds=4, draws=40)
    assert 2.0 < found.values["noise"] < 100.0
    assert np.isfinite(found.u).all()
    nothing = make_problem(X, angles, kernel=kernel)
    np.testing.assert_array_equal(maximize_latent(nothing).u, maximize(nothing).u)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="rounds is 0"):
        maximize_latent(some_problem(), rounds=0)
    with pytest.raises(InputError, match="M has 2 rows"):
        log_pseudolikelihood(np.zeros(3), np.eye(2), np.zeros((2, 2)))


@pytest.mark.skipif(not WIND.exists(), reason=f"the wind data are not at {WIND}")
@pytest.mark.parametrize(
    ("kernel", "centre"), [(kernels.Exponential, (0.47, 0.89, 2.1)), (kernels.Gaussian, (1.2, 0.25, 4.4))]
)
def test_wind_maximum_is_near_the_posterior(kernel, centre):
    """Posterior means by full Bayes: the maximum lies within some deviations on the log scale."""
    with WIND.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row["longitude"]), float(row["latitude"])] for row in rows])
    angles = np.array([float(row["dir_rad"]) for row in rows])
    new = np.random.RandomState(18).choice(260, 52, replace=False)
    old = np.setdiff1d(np.arange(260), new)
    problem = make_problem(X[old], angles[old], X[new], kernel=H * kernel(priors.Squared(H)))
    found = maximize(problem)
    assert found.converged
    gap = np.abs(found.u - np.log(centre)) / np.sqrt(np.diagonal(found.covariance))
    assert gap.max() < 3.0
