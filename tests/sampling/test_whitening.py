"""The mass of whitened HMC: momenta with covariance W, its inverse, and diagonals raised where they have to be.

False alarms: each comparison of covariances fails by chance with the probability RATE = 1e-6.
"""

import numpy as np
import pytest
from scipy import sparse

from compiled import compiled_momentum, compiled_unwhiten
from references import RATE, lattice, p_value, size, spin_glass
from vmqp.sampling import make_target, seed_streams
from vmqp.sampling.factor import apply_root
from vmqp.sampling.whitening import CovarianceRoot, DenseWhitening, draw_momentum, unwhiten, whiten


def positive_definite(m):
    rng = np.random.default_rng(m)
    root = rng.normal(size=(m, m)) * (rng.uniform(size=(m, m)) < 0.6)
    return root @ root.T + np.diag(rng.uniform(0.5, 2.0, m))


def inverse_of(mass, m, solve=unwhiten):
    """W⁻¹, column by column."""
    out = np.full((m, m), np.nan)
    solve(mass, np.eye(m), out)
    return out


def matrix_of(mass, m):
    """W from its root."""
    if isinstance(mass, DenseWhitening):
        return mass.root.T @ mass.root
    if isinstance(mass, CovarianceRoot):
        return np.linalg.inv(mass.scale * mass.lower @ mass.lower.T)
    x, out = np.zeros((2, m, m)), np.empty((2, m, m))
    x[0] = np.eye(m)
    apply_root(mass, x, out)
    return out[0] @ out[0].T


def mass_of(coupling, form=np.asarray, extra=None):
    m = coupling.shape[0]
    return matrix_of(whiten(make_target(form(coupling), np.zeros((m, 2))), extra), m)


FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])


@pytest.mark.parametrize("solve", [unwhiten, compiled_unwhiten])
@FORMS
@pytest.mark.parametrize("m", range(1, 10))
def test_unwhiten_is_the_inverse(m, form, solve):
    """And W differs from a positive definite coupling on its diagonal only."""
    coupling = positive_definite(m)
    mass = whiten(make_target(form(coupling), np.zeros((m, 2))))
    W = matrix_of(mass, m)
    np.testing.assert_allclose(inverse_of(mass, m, solve), np.linalg.inv(W), rtol=1e-9, atol=1e-11)
    off = ~np.eye(m, dtype=bool)
    np.testing.assert_allclose(W[off], coupling[off], rtol=1e-12, atol=1e-13)


@FORMS
def test_a_precision_is_its_own_mass(form):
    """The inverse of a smooth kernel matrix, which is not diagonally dominant, is taken as it is."""
    places = np.linspace(0.0, 1.0, 8)
    precision = np.linalg.inv(np.exp(-0.5 * ((places[:, None] - places) / 0.3) ** 2) + 0.01 * np.eye(8))
    precision = 0.5 * (precision + precision.T)
    np.testing.assert_allclose(mass_of(precision, form), precision, rtol=1e-10, atol=1e-10)


@FORMS
def test_chains_are_solved_one_by_one(form):
    mass = whiten(make_target(form(positive_definite(6)), np.zeros((6, 2))))
    p, v = np.random.default_rng(0).normal(size=(3, 6)), np.empty((3, 6))
    unwhiten(mass, p, v)
    np.testing.assert_allclose(v, np.linalg.solve(matrix_of(mass, 6), p.T).T, rtol=1e-10)


@pytest.mark.statistical
@pytest.mark.parametrize("draw", [draw_momentum, compiled_momentum])
@FORMS
@pytest.mark.parametrize(
    "coupling", [positive_definite(1), positive_definite(5), spin_glass(6, 2.0, 1)], ids=len
)
def test_momenta_have_the_mass_as_covariance(coupling, form, draw):
    """Means and products of all pairs over independent chains."""
    m = len(coupling)
    mass = whiten(make_target(form(coupling), np.zeros((m, 2))))
    W = matrix_of(mass, m)
    p = np.full((size(20_000), m), np.nan)
    draw(seed_streams(1, len(p)), mass, p)
    a, b = np.triu_indices(m)
    means = np.concatenate([p, p[:, a] * p[:, b]], axis=1)
    assert p_value(means, np.concatenate([np.zeros(m), W[a, b]])) > RATE


def covariance_root(m, scale):
    """Of a kernel matrix of some size; what lies above the diagonal of a factor is never to be looked at."""
    lower = np.linalg.cholesky(positive_definite(m))
    lower[np.triu_indices(m, 1)] = np.nan
    return CovarianceRoot(lower, scale), CovarianceRoot(np.nan_to_num(lower, nan=0.0), scale)


@pytest.mark.parametrize("solve", [unwhiten, compiled_unwhiten])
@pytest.mark.parametrize("scale", [1.0, 0.3, 1e4])
@pytest.mark.parametrize("m", range(1, 10))
def test_a_covariance_root_is_the_inverse_mass(m, scale, solve):
    """W⁻¹ = scale · L Lᵀ: the kernel matrix itself."""
    mass, _ = covariance_root(m, scale)
    np.testing.assert_allclose(
        inverse_of(mass, m, solve), scale * positive_definite(m), rtol=1e-12, atol=1e-12 * scale
    )


def test_chains_of_a_covariance_root_are_solved_one_by_one():
    mass, whole = covariance_root(6, 0.7)
    p, v = np.random.default_rng(0).normal(size=(3, 6)), np.empty((3, 6))
    unwhiten(mass, p, v)
    np.testing.assert_allclose(v, np.linalg.solve(matrix_of(whole, 6), p.T).T, rtol=1e-10)


@pytest.mark.statistical
@pytest.mark.parametrize("draw", [draw_momentum, compiled_momentum])
@pytest.mark.parametrize(("m", "scale"), [(1, 2.0), (5, 1.0), (6, 0.2)])
def test_momenta_of_a_covariance_root_have_the_mass_as_covariance(m, scale, draw):
    """Means and products of all pairs over independent chains."""
    mass, whole = covariance_root(m, scale)
    W = matrix_of(whole, m)
    p = np.full((size(5_000), m), np.nan)
    draw(seed_streams(1, len(p)), mass, p)
    a, b = np.triu_indices(m)
    means = np.concatenate([p, p[:, a] * p[:, b]], axis=1)
    assert p_value(means, np.concatenate([np.zeros(m), W[a, b]])) > RATE


@pytest.mark.statistical
@pytest.mark.parametrize("condition", [1e6, 1e10, 1e14])
def test_kinetic_energy_fits_the_momenta_of_a_stiff_covariance_root(condition):
    """pᵀW⁻¹p is χ² with m degrees of freedom, also where the kernel matrix is close to singular."""
    m = 12
    basis = np.linalg.qr(np.random.default_rng(3).normal(size=(m, m)))[0]
    kernel = basis * np.geomspace(1.0, condition, m) @ basis.T
    mass = CovarianceRoot(np.linalg.cholesky(0.5 * (kernel + kernel.T)), 0.5)
    p, v = np.empty((size(5_000), m)), np.empty((size(5_000), m))
    draw_momentum(seed_streams(1, len(p)), mass, p)
    unwhiten(mass, p, v)
    square = (p * v).sum(axis=1)
    assert p_value(np.stack([square, square**2], axis=1), np.array([m, m * (m + 2.0)])) > RATE


@pytest.mark.statistical
def test_no_mass_means_unit_mass():
    p, v = np.empty((size(20_000), 3)), np.empty((size(20_000), 3))
    draw_momentum(seed_streams(1, len(p)), None, p)
    unwhiten(None, p, v)
    np.testing.assert_array_equal(p, v)
    assert p_value(np.concatenate([p, p**2], axis=1), np.repeat([0.0, 1.0], 3)) > RATE


RAISED = {
    "square lattice": lattice((6, 6), 1.0).toarray(),
    "cubic lattice": lattice((3, 3, 3), 0.3).toarray(),
    "repelling lattice": -lattice((5, 5), 2.0).toarray(),
    "spin glass": spin_glass(20, 3.0, 1),
    "negative diagonal": spin_glass(8, 3.0, 2) - 5.0 * np.eye(8),
    "no coupling": np.zeros((4, 4)),
    "one angle": np.array([[-2.0]]),
    "an angle apart": np.diag([0.0, 3.0, 0.0]) + np.array([[0, 0, -9.0], [0, 0, 0], [-9.0, 0, 0]]),
    "singular": np.array([[1.0, -1.0], [-1.0, 1.0]]),
}


@FORMS
@pytest.mark.parametrize("name", RAISED)
def test_raised_diagonal_makes_it_positive_definite(name, form):
    """Only the diagonal differs from the coupling, and the condition is moderate."""
    coupling = RAISED[name]
    W = mass_of(coupling, form)
    off = ~np.eye(len(W), dtype=bool)
    np.testing.assert_allclose(W[off], coupling[off], rtol=1e-9, atol=1e-9)
    values = np.linalg.eigvalsh(0.5 * (W + W.T))
    assert values[0] > 0.0
    assert values[-1] / values[0] < 100.0


@FORMS
def test_extra_is_added_to_the_diagonal(form):
    coupling, extra = positive_definite(5), np.arange(5.0)
    without = mass_of(coupling, form, np.zeros(5))
    np.testing.assert_allclose(
        mass_of(coupling, form, extra), without + np.diag(extra), rtol=1e-9, atol=1e-10
    )


def test_sparse_and_dense_agree():
    coupling = positive_definite(9)
    np.testing.assert_allclose(mass_of(coupling), mass_of(coupling, sparse.csr_array), rtol=1e-9, atol=1e-10)


@pytest.mark.statistical
@pytest.mark.parametrize("condition", [1e6, 1e10, 1e14])
def test_kinetic_energy_fits_the_momenta_of_a_stiff_mass(condition):
    """pᵀW⁻¹p is χ² with m degrees of freedom, or HMC would not leave the target unchanged."""
    m = 12
    places = np.linspace(0.0, 1.0, m)
    basis = np.linalg.eigh(np.exp(-((places[:, None] - places) ** 2)))[1]
    coupling = basis * np.geomspace(1.0, condition, m) @ basis.T
    target = make_target(0.5 * (coupling + coupling.T), np.zeros((m, 2)))
    mass = whiten(target)
    p, v = np.empty((size(20_000), m)), np.empty((size(20_000), m))
    draw_momentum(seed_streams(1, len(p)), mass, p)
    unwhiten(mass, p, v)
    square = (p * v).sum(axis=1)
    assert p_value(np.stack([square, square**2], axis=1), np.array([m, m * (m + 2.0)])) > RATE
