import numpy as np
import pytest
from scipy.special import i0e

from vmqp import model
from vmqp.errors import InputError

DRIFTS = ("constant", "mean")


def precision(d, seed=0):
    A = np.random.default_rng(seed).normal(size=(d, d + 2))
    return np.linalg.inv(A @ A.T / d + 0.1 * np.eye(d))


def angles(shape, seed=1):
    return np.random.default_rng(seed).uniform(-np.pi, np.pi, shape)


def field(d, seed=2):
    return np.random.default_rng(seed).normal(size=(d, 2))


def naive_energy(phi, M, f):
    total = 0.0
    for i in range(len(phi)):
        for j in range(len(phi)):
            total += 0.5 * M[i, j] * np.cos(phi[i] - phi[j])
        total -= f[i, 0] * np.cos(phi[i]) + f[i, 1] * np.sin(phi[i])
    return total


def log_i0(kappa):
    return np.log(i0e(kappa)) + np.abs(kappa)


@pytest.mark.parametrize("d", [1, 2, 7])
def test_energy_is_the_double_sum(d):
    phi, M, f = angles(d), precision(d), field(d)
    assert model.energy(phi, M, f) == pytest.approx(naive_energy(phi, M, f), rel=1e-12)
    assert model.log_density_unnormalised(phi, M, f) == -model.energy(phi, M, f)


def test_energy_with_a_constant_drift_is_the_prior_of_the_paper():
    phi, M, kappa, nu = angles(5), precision(5), 0.7, 2.0
    f = model.drift_field(M, kappa, nu, "constant")
    expected = naive_energy(phi, M, np.zeros((5, 2))) - kappa * np.cos(phi - nu).sum()
    assert model.energy(phi, M, f) == pytest.approx(expected, rel=1e-12)


def test_leading_axes():
    phi, M, f = angles((3, 4, 6)), precision(6), field(6)
    for function, shape in ((model.energy, ()), (model.gradient, (6,)), (model.local_field, (6, 2))):
        batched = function(phi, M, f)
        assert batched.shape == (3, 4, *shape)
        np.testing.assert_allclose(batched[2, 1], function(phi[2, 1], M, f), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 7])
def test_gradient_against_finite_differences(d):
    phi, M, f, step = angles(d), precision(d), field(d), 1e-5
    shifts = step * np.eye(d)
    numeric = (model.energy(phi + shifts, M, f) - model.energy(phi - shifts, M, f)) / (2 * step)
    np.testing.assert_allclose(model.gradient(phi, M, f), numeric, atol=1e-7)


def test_the_diagonal_changes_neither_gradient_nor_field():
    phi, M, f = angles(5), precision(5), field(5)
    raised = M + np.diag([1.0, 2.0, 3.0, 4.0, 1e6])
    np.testing.assert_array_equal(model.gradient(phi, raised, f), model.gradient(phi, M, f))
    np.testing.assert_array_equal(model.local_field(phi, raised, f), model.local_field(phi, M, f))
    change = model.energy(phi, raised, f) - model.energy(phi, M, f)
    assert change == pytest.approx(0.5 * (10.0 + 1e6), rel=1e-9)


def test_one_angle_changes_the_energy_by_the_dot_product_with_its_field():
    phi, M, f = angles(6), precision(6), field(6)
    h = model.local_field(phi, M, f)
    for i in range(6):
        moved = phi.copy()
        moved[i] += 1.3
        change = model.energy(moved, M, f) - model.energy(phi, M, f)
        expected = -h[i] @ (model.unit_vectors(moved[i]) - model.unit_vectors(phi[i]))
        assert change == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(model.local_field(moved, M, f)[i], h[i], atol=1e-13)


def test_the_mean_drift_is_the_gaussian_process_conditioned_on_the_circle():
    M, mu = precision(6), np.array([0.8, -0.5])
    f = model.drift_field(M, np.hypot(*mu), np.arctan2(mu[1], mu[0]), "mean")
    phi = angles((50, 6))
    residual = model.unit_vectors(phi) - mu
    gaussian = -0.5 * np.einsum("bik,ij,bjk->b", residual, M, residual)  # eq:2d_Gaussian
    ours = model.log_density_unnormalised(phi, M, f)
    np.testing.assert_allclose(ours - ours[0], gaussian - gaussian[0], atol=1e-10)


def test_the_two_drifts_agree_when_places_are_independent():
    np.testing.assert_allclose(
        model.drift_field(np.eye(3), 0.7, 0.2, "mean"), model.drift_field(np.eye(3), 0.7, 0.2, "constant")
    )


@pytest.mark.parametrize("drift", DRIFTS)
def test_rotating_angles_and_direction_together_changes_nothing(drift):
    phi, M, c = angles((4, 5)), precision(5), 0.9
    f, rotated = (model.drift_field(M, 0.6, nu, drift) for nu in (0.4, 0.4 + c))
    np.testing.assert_allclose(model.energy(phi + c, M, rotated), model.energy(phi, M, f), atol=1e-12)
    np.testing.assert_allclose(model.gradient(phi + c, M, rotated), model.gradient(phi, M, f), atol=1e-12)
    R = np.array([[np.cos(c), -np.sin(c)], [np.sin(c), np.cos(c)]])
    np.testing.assert_allclose(
        model.local_field(phi + c, M, rotated), model.local_field(phi, M, f) @ R.T, atol=1e-12
    )


@pytest.mark.parametrize("drift", DRIFTS)
def test_the_sign_of_the_concentration(drift):
    M = precision(4)
    for kappa, nu in (
        (-0.7, 0.3),
        (0.7, 9.0),
        (-2.0, -3.0),
        (0.0, 1.0),
        (1.0, -np.pi),
        (1.0, np.nextafter(np.pi, 4)),
    ):
        concentration, direction = model.canonical(kappa, nu)
        assert concentration >= 0.0
        assert -np.pi < direction <= np.pi
        np.testing.assert_allclose(
            model.drift_field(M, float(concentration), float(direction), drift),
            model.drift_field(M, kappa, nu, drift),
            atol=1e-12,
        )


def test_canonical_of_arrays_keeps_what_is_canonical():
    kappa, nu = np.array([[1.0, -1.0], [0.0, 3.0]]), np.array([[0.1, -0.1], [-3.1, 3.1]])
    concentration, direction = model.canonical(kappa, nu)
    np.testing.assert_array_equal(concentration, np.abs(kappa))
    np.testing.assert_array_equal(direction[[0, 1, 1], [0, 0, 1]], nu[[0, 1, 1], [0, 0, 1]])
    assert direction[0, 1] == pytest.approx(np.pi - 0.1)


@pytest.mark.parametrize("drift", DRIFTS)
def test_direction_conditional_is_the_law_of_the_direction(drift):
    """As a function of ν, the density of φ is von Mises with that mean and concentration."""
    phi, M, kappa = angles((3, 5)), precision(5), 0.8
    mean, concentration = model.direction_conditional(phi, M, kappa, drift)
    assert mean.shape == concentration.shape == (3,)
    nu = np.linspace(-3, 3, 11)
    for b in range(3):
        exact = [
            float(model.log_density_unnormalised(phi[b], M, model.drift_field(M, kappa, v, drift)))
            for v in nu
        ]
        ours = concentration[b] * np.cos(nu - mean[b])
        np.testing.assert_allclose(ours - ours[0], np.array(exact) - exact[0], atol=1e-12)
    flipped, same = model.direction_conditional(phi, M, -kappa, drift)
    np.testing.assert_allclose(np.cos(flipped - mean), -1.0)
    np.testing.assert_allclose(same, concentration)


def test_an_unknown_drift():
    with pytest.raises(InputError, match="'constant' or 'mean'"):
        model.drift_field(np.eye(2), 1.0, 0.0, "linear")


@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_conditional_is_the_joint_at_fixed_observations(n):
    M, f, theta = precision(6), field(6), angles(n)
    Q, rho = model.conditional(M, theta, f)
    assert (Q.shape, rho.shape) == ((6 - n, 6 - n), (6 - n, 2))
    phi = angles((20, 6 - n), seed=3)
    joint = model.energy(np.concatenate((np.tile(theta, (20, 1)), phi), axis=1), M, f)
    np.testing.assert_allclose(np.diff(model.energy(phi, Q, rho)), np.diff(joint), atol=1e-10)


@pytest.mark.parametrize("noise", [3.0, [0.5, 2.0, 8.0]])
def test_noise_adds_its_cosines(noise):
    M, f, theta, phi = precision(5), field(5), angles(3), angles((20, 5), seed=3)
    before = f.copy()
    M_noisy, f_noisy = model.noisy(M, theta, f, noise)
    np.testing.assert_array_equal(f, before)
    expected = model.energy(phi, M, f) - np.sum(noise * np.cos(theta - phi[:, :3]), axis=1)  # eq:noisy
    np.testing.assert_allclose(model.energy(phi, M_noisy, f_noisy), expected, rtol=1e-12)
    likelihood = model.noise_log_likelihood(theta, phi[:, :3], noise)
    assert likelihood.shape == (20,)
    np.testing.assert_allclose(np.diff(likelihood), np.diff(model.energy(phi, M, f) - expected), atol=1e-12)


@pytest.mark.parametrize("chi", [0.0, 0.1, 3.0, 200.0])
def test_noise_likelihood_integrates_to_one(chi):
    grid = np.arange(400) * 2 * np.pi / 400
    density = np.exp(model.noise_log_likelihood(grid[:, None], 1.0, chi))
    assert density.sum() * 2 * np.pi / 400 == pytest.approx(1.0, rel=1e-12)


def test_noise_likelihood_of_an_almost_exact_observation():
    """At χ → ∞ the law is Gaussian with variance 1/χ; cos alone would lose the difference."""
    chi, gap = 1e20, 1e-10
    gaussian = -0.5 * chi * gap**2 + 0.5 * np.log(chi / (2 * np.pi))
    assert model.noise_log_likelihood([gap], [0.0], chi) == pytest.approx(gaussian, rel=1e-12)


@pytest.mark.parametrize("kappa", [0.0, 0.3, 10.0, 2000.0])
def test_normaliser_of_one_angle(kappa):
    M = np.array([[1.7]])
    f = model.drift_field(M, kappa, 0.4, "constant")
    expected = np.log(2 * np.pi) + log_i0(kappa) - 0.5 * 1.7
    assert model.log_normaliser_quadrature(M, f) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_normaliser_of_independent_angles(d):
    M, f = np.diag([2.0, 0.5, 4.0][:d]), field(d)
    expected = np.sum(np.log(2 * np.pi) + log_i0(np.hypot(f[:, 0], f[:, 1])) - 0.5 * np.diag(M))
    assert model.log_normaliser_quadrature(M, f) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("coupling", [-40.0, -1.0, 0.3, 25.0])
def test_normaliser_of_two_angles_without_drift(coupling):
    M = np.array([[50.0, coupling], [coupling, 60.0]])
    expected = 2 * np.log(2 * np.pi) + log_i0(coupling) - 55.0
    assert model.log_normaliser_quadrature(M, np.zeros((2, 2))) == pytest.approx(expected, rel=1e-12)


def test_normaliser_of_a_chain_of_three():
    """Without M_02 and drift the angles' differences are independent."""
    M = np.diag([3.0, 4.0, 5.0])
    M[0, 1] = M[1, 0] = 1.5
    M[1, 2] = M[2, 1] = -2.5
    expected = 3 * np.log(2 * np.pi) + log_i0(1.5) + log_i0(2.5) - 6.0
    assert model.log_normaliser_quadrature(M, np.zeros((3, 2))) == pytest.approx(expected, rel=1e-12)


def test_normaliser_is_the_sum_of_the_density_on_a_grid():
    M, f, points = precision(3), field(3), 60
    grid = np.arange(points) * 2 * np.pi / points
    phi = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    expected = np.log(np.exp(-model.energy(phi, M, f)).sum() * (2 * np.pi / points) ** 3)
    assert model.log_normaliser_quadrature(M, f) == pytest.approx(expected, rel=1e-10)
    assert model.log_normaliser_quadrature(M, f, points=60) == pytest.approx(expected, rel=1e-12)


def test_normaliser_does_not_depend_on_the_direction():
    M = precision(3)
    values = [
        model.log_normaliser_quadrature(M, model.drift_field(M, 0.8, nu, drift))
        for nu in (0.0, 2.0)
        for drift in DRIFTS
    ]
    assert values[0] == pytest.approx(values[2], rel=1e-12)
    assert values[1] == pytest.approx(values[3], rel=1e-12)


def test_normaliser_of_a_strong_coupling_converges():
    """Doubling the default grid changes nothing, also where the density is narrow."""
    M = np.array([[900.0, -400.0, 100.0], [-400.0, 800.0, -300.0], [100.0, -300.0, 700.0]]) / 4
    f = 30.0 * field(3)
    default = model.log_normaliser_quadrature(M, f)
    assert default == pytest.approx(model.log_normaliser_quadrature(M, f, points=400), rel=1e-12)


def test_normaliser_refuses():
    with pytest.raises(InputError, match="at most 3"):
        model.log_normaliser_quadrature(np.eye(4), np.zeros((4, 2)))
    with pytest.raises(InputError, match="fewer points"):
        model.log_normaliser_quadrature(1e9 * precision(3), np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda M, f: model.energy([0.0, 1.0], M.tolist(), f), "list"),
        (lambda M, f: model.energy([0.0, 1.0], M[:1], f), r"\(1, 2\)"),
        (lambda M, f: model.energy([0.0, 1.0, 2.0], M, f), r"\(3,\)"),
        (lambda M, f: model.local_field([0.0, 1.0], M, f[:1]), r"\(1, 2\)"),
        (lambda M, f: model.conditional(M, [0.0, 1.0, 2.0], f), r"at most 2"),
        (lambda M, f: model.conditional(M, [np.nan], f), "row 0 is nan"),
        (lambda M, f: model.noisy(M, [[0.0]], f, 1.0), r"\(1, 1\)"),
    ],
)
def test_shapes_that_do_not_belong_together_are_refused(call, named):
    with pytest.raises(InputError, match=named):
        call(np.eye(2), np.zeros((2, 2)))
