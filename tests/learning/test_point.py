"""A point's matrices against the plain functions of `model`, and points that share a factorisation."""

import numpy as np
import pytest

from vmqp import kernels, model, priors
from vmqp.learning import make_problem
from vmqp.learning.point import (
    angles_target,
    angles_whitening,
    drift_field,
    energy,
    factorised,
    fields_target,
    fields_whitening,
    log_density,
    mass_noise,
    rescaled,
    sums,
)
from vmqp.precision import factorise
from vmqp.sampling.factor import DenseFactor
from vmqp.sampling.whitening import DenseWhitening, unwhiten

H = priors.HalfNormal(1.0)
N, D = 4, 7
NU, CHI = 0.8, 3.0
DRIFTS = pytest.mark.parametrize("drift", ["constant", "mean"])
RNG = np.random.default_rng(3)
X, OBSERVED = RNG.uniform(0.0, 3.0, (D, 2)), RNG.uniform(-np.pi, np.pi, N)


def problem(drift="constant", n=N, **options):
    kernel = H * kernels.Exponential(H) + kernels.Nugget(H)
    return make_problem(X[:n], OBSERVED[:n], X[n:], kernel=kernel, drift=drift, **options)


U = np.array([0.3, -0.2, -1.5, 0.4])  # variance, lengthscale, nugget, concentration


def at(given, u=U):
    point = factorised(given, u, given.values(u))
    assert point is not None
    return point


def scaled(given, log_scale=1.3, kappa=0.7, u=U):
    """A point by a common scale and κ away from u, without and with a factorisation of its own."""
    there = u + np.array([log_scale, 0.0, log_scale, kappa])
    return rescaled(given, at(given, u), there, given.values(there)), at(given, there)


def precision(given, u=U):
    return factorise(given.bound.covariance(given.kernel_values(given.values(u)))).M


def field_of(given, u=U):
    M, kappa = precision(given, u), given.values(u)["concentration"]
    return model.drift_field(M, kappa, NU, given.drift)


def unit_vectors(angles):
    """The (2, 1, d) of the samplers."""
    return np.stack([np.cos(angles), np.sin(angles)])[:, None]


def angles_of(x):
    return np.arctan2(x[1, 0], x[0, 0])


@pytest.fixture
def x():
    """Angles of which the first n are those observed."""
    return unit_vectors(np.concatenate([OBSERVED, np.random.default_rng(5).uniform(-np.pi, np.pi, D - N)]))


# Energies


@DRIFTS
def test_matrices_are_those_of_the_model(drift):
    given = problem(drift)
    point = at(given)
    np.testing.assert_allclose(
        point.base.hollow + np.diag(point.base.diagonal), precision(given), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_array_equal(point.base.hollow.diagonal(), 0.0)
    np.testing.assert_allclose(drift_field(point, NU), field_of(given).T, rtol=1e-12)
    assert point.scale == 1.0


@DRIFTS
def test_energies_are_those_of_the_model_without_the_diagonal(drift):
    given = problem(drift)
    for u in (U, U + np.array([0.9, 0.5, -0.4, -1.0])):
        point, M = at(given, u), precision(given, u)
        for angles in np.random.default_rng(1).uniform(-np.pi, np.pi, (5, D)):
            plain = model.energy(angles, M, field_of(given, u)) - 0.5 * np.trace(M)
            own = energy(point, sums(point.base, unit_vectors(angles)), NU)
            assert own == pytest.approx(plain, rel=1e-12, abs=1e-11)


@DRIFTS
def test_energies_at_a_rescaled_point_need_no_new_sums(drift):
    given = problem(drift)
    point, fresh = scaled(given)
    first, second = np.random.default_rng(2).uniform(-np.pi, np.pi, (2, D))
    known = [sums(at(given).base, unit_vectors(angles)) for angles in (first, second)]
    difference = energy(point, known[0], NU) - energy(point, known[1], NU)
    M, field = precision(given, fresh.u), field_of(given, fresh.u)
    plain = model.energy(first, M, field) - model.energy(second, M, field)
    assert difference == pytest.approx(plain, rel=1e-12)


@DRIFTS
def test_a_rescaled_point_equals_a_fresh_factorisation(drift, x):
    """Matrices, fields, roots, masses and targets, to 1e-12."""
    given = problem(drift)
    point, fresh = scaled(given)
    assert point.base.u is not fresh.base.u
    np.testing.assert_array_equal(point.base.u, U)
    close = {"rtol": 1e-12, "atol": 1e-12}
    for make in (lambda p: fields_target(p, NU), lambda p: angles_target(given, p, x, NU, None)):
        one, other = make(point), make(fresh)
        np.testing.assert_allclose(one.matrix(), other.matrix(), **close)
        np.testing.assert_allclose(one.diagonal, other.diagonal, **close)
        np.testing.assert_allclose(one.field, other.field, **close)
    np.testing.assert_allclose(np.sqrt(point.scale) * point.base.lower, fresh.base.lower, **close)
    # λ exceeds an eigenvalue by a share of 1e-6, so that the roots keep fewer digits than what they are roots of.
    one, other = (root.upper.T @ root.upper for root in (point.root, fresh.root))
    np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    assert point.concentration == fresh.concentration


@DRIFTS
def test_rescaling_twice_is_rescaling_once(drift):
    """A point depends on its u and its base, not on the way: a chain is the same wherever it is cut."""
    given = problem(drift)
    once, _ = scaled(given)
    between = U + np.array([-2.0, 0.0, -2.0, 1.0])
    twice = rescaled(given, at(given), between, given.values(between))
    twice = rescaled(given, twice, once.u, given.values(once.u))
    assert (twice.scale, twice.pull, twice.concentration) == (once.scale, once.pull, once.concentration)


def test_a_scale_that_would_overflow_is_refused():
    given = problem()
    for far in (150.0, -150.0, 1000.0):
        u = U + np.array([far, 0.0, far, 0.0])
        assert rescaled(given, at(given), u, given.values(u)) is None


def test_a_matrix_without_a_factor_is_none():
    given = make_problem([[0.0], [0.0]], [0.1, 0.2], kernel=H * kernels.Exponential(1.0))
    u = np.zeros(2)
    assert factorised(given, u, given.values(u)) is None


# Targets


@DRIFTS
@pytest.mark.parametrize("rescale", [False, True])
def test_the_target_of_new_angles_is_the_models_conditional(drift, rescale, x):
    given = problem(drift)
    point = scaled(given)[0] if rescale else at(given)
    target = angles_target(given, point, x, NU, None)
    Q, rho = model.conditional(precision(given, point.u), OBSERVED, field_of(given, point.u))
    np.testing.assert_allclose(target.matrix(), Q - np.diag(Q.diagonal()), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(target.diagonal, Q.diagonal(), rtol=1e-12)
    np.testing.assert_allclose(target.field, rho.T, rtol=1e-11, atol=1e-11)
    assert target.field.flags.c_contiguous
    assert target.coupling.matrix.flags.c_contiguous


@DRIFTS
@pytest.mark.parametrize("rescale", [False, True])
def test_the_target_of_noisy_angles_is_the_models(drift, rescale, x):
    given = problem(drift, noise=H)
    point = scaled(given)[0] if rescale else at(given)
    target = angles_target(given, point, x, NU, CHI)
    M, field = model.noisy(precision(given, point.u), OBSERVED, field_of(given, point.u), CHI)
    np.testing.assert_allclose(target.matrix() + np.diag(target.diagonal), M, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(target.field, field.T, rtol=1e-12, atol=1e-12)


@DRIFTS
def test_log_densities_of_targets_differ_as_energies_do(drift, x):
    """Of all angles, and of the new ones given the others: the same differences."""
    given = problem(drift)
    point = scaled(given)[0]
    other = x.copy()
    other[:, :, N:] = unit_vectors(np.random.default_rng(9).uniform(-np.pi, np.pi, D - N))
    gain = energy(point, sums(point.base, x), NU) - energy(point, sums(point.base, other), NU)
    fields = fields_target(point, NU)
    assert log_density(fields, other) - log_density(fields, x) == pytest.approx(gain, rel=1e-11)
    angles = angles_target(given, point, x, NU, None)
    one, two = (np.ascontiguousarray(y[:, :, N:]) for y in (x, other))
    assert log_density(angles, two) - log_density(angles, one) == pytest.approx(gain, rel=1e-11)


def test_nothing_to_draw_is_an_empty_target():
    given = make_problem(X[:N], OBSERVED, kernel=H * kernels.Exponential(H))
    u = np.zeros(3)
    point = factorised(given, u, given.values(u))
    assert angles_target(given, point, unit_vectors(OBSERVED), NU, None).size == 0


# Roots and masses


@DRIFTS
@pytest.mark.parametrize("rescale", [False, True])
def test_the_root_is_that_of_lambda_minus_the_precision(drift, rescale):
    """AᵀA = λ1 − M, eq:cholesky_full."""
    given = problem(drift)
    point = scaled(given)[0] if rescale else at(given)
    root = point.root
    assert isinstance(root, DenseFactor)
    np.testing.assert_array_equal(root.upper.T, root.lower)
    rest = root.upper.T @ root.upper + precision(given, point.u)
    lam = rest.diagonal().mean()
    np.testing.assert_allclose(rest, lam * np.eye(D), rtol=1e-11, atol=1e-11 * lam)
    largest = np.linalg.eigvalsh(precision(given, point.u))[-1]
    assert largest < lam < largest * (1.0 + 1e-4)


def inverse_of(mass, m):
    out = np.empty((m, m))
    unwhiten(mass, np.eye(m), out)
    return out


@pytest.mark.parametrize("rescale", [False, True])
def test_the_mass_of_all_angles_has_the_kernel_matrix_as_inverse(rescale):
    given = problem()
    point = scaled(given)[0] if rescale else at(given)
    K = given.bound.covariance(given.kernel_values(given.values(point.u)))
    np.testing.assert_allclose(inverse_of(fields_whitening(point), D), K, rtol=1e-12)


@pytest.mark.parametrize("rescale", [False, True])
def test_the_mass_of_new_angles_is_the_precision_of_their_conditional(rescale, x):
    """W = Q: the corner of the kernel's factor is the factor of Q⁻¹."""
    given = problem()
    point = scaled(given)[0] if rescale else at(given)
    target = angles_target(given, point, x, NU, None)
    mass = angles_whitening(given, point, target, None)
    Q = target.matrix() + np.diag(target.diagonal)
    np.testing.assert_allclose(inverse_of(mass, D - N), np.linalg.inv(Q), rtol=1e-10)


@pytest.mark.parametrize("rescale", [False, True])
def test_the_mass_of_noisy_angles_has_the_noise_on_its_diagonal(rescale, x):
    given = problem(noise=H)
    point = scaled(given)[0] if rescale else at(given)
    target = angles_target(given, point, x, NU, CHI)
    mass = angles_whitening(given, point, target, CHI)
    assert isinstance(mass, DenseWhitening)
    extra = np.where(np.arange(D) < N, mass_noise(CHI), 0.0)
    W = target.matrix() + np.diag(target.useful_diagonal() + extra)
    np.testing.assert_allclose(inverse_of(mass, D), np.linalg.inv(W), rtol=1e-9, atol=1e-12)


def test_the_mass_follows_the_noise_in_coarse_steps():
    values = np.geomspace(0.01, 100.0, 301)
    taken = np.array([mass_noise(float(value)) for value in values])
    assert np.abs(np.log(taken / values)).max() <= 0.25 + 1e-12
    assert len(set(taken)) < 25
    assert (np.diff(taken) >= 0.0).all()


def test_the_block_of_new_rows_is_computed_once():
    base = at(problem()).base
    block = base.new_rows(N)
    np.testing.assert_array_equal(block, base.hollow[N:, N:])
    assert base.new_rows(N) is block
    assert base.new_rows(2).shape == (D - 2, D - 2)
