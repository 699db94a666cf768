"""Mean field against quadrature, scipy's Bessel functions and its own stationarity. Nothing here is random."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import i0e, ive

from references import spin_glass
from vmqp.errors import ConvergenceWarning, InputError
from vmqp.learning import variational
from vmqp.learning.variational import approximate_angles, bessel_ratio, mean_field
from vmqp.model import conditional, log_normaliser_quadrature, noisy, unit_vectors

TRIANGLE = np.array([[1.0, 3.0, 3.0], [3.0, 1.0, 3.0], [3.0, 3.0, 1.0]])
FIELD = np.array([[0.5, 0.0], [-0.2, 0.4], [0.0, 0.0]])
NONE = np.zeros((3, 2))


def smooth(d, length, nugget):
    """Precision of a Gaussian kernel on a line: stiff, with signs that alternate."""
    x = np.arange(d) / length
    return np.linalg.inv(np.exp(-0.5 * (x[:, None] - x) ** 2) + nugget * np.eye(d))


CASES = {
    "soft": (np.array([[2.0, -1.0], [-1.0, 2.0]]), FIELD[:2]),
    "opposed": (np.array([[2.0, 4.0], [4.0, 2.0]]), FIELD[:2]),
    "frustrated": (TRIANGLE, FIELD),
    "frustrated without field": (TRIANGLE, NONE),
    "ferromagnet": (-5.0 * TRIANGLE, NONE),
    "stiff": (smooth(3, 2.0, 1e-2), FIELD),
    "large diagonal": (TRIANGLE + 1e3 * np.eye(3), FIELD),
}


@pytest.mark.parametrize("name", CASES)
def test_the_bound_is_below_log_z(name):
    M, field = CASES[name]
    q, exact = mean_field(M, field), log_normaliser_quadrature(M, field)
    assert q.converged
    assert q.bound < exact
    # Minus infinity is a bound too; here the gap is at most two units for each angle.
    assert q.bound > exact - 2.0 * len(M)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("scale", [0.0, 0.3, 30.0])
def test_the_bound_is_exact_for_independent_angles(d, scale):
    M, field = np.diag([3.0, -1.0, 0.5][:d]), scale * FIELD[:d]
    q = mean_field(M, field)
    assert q.bound == pytest.approx(log_normaliser_quadrature(M, field), abs=1e-12)
    np.testing.assert_allclose(q.field, field, atol=1e-15)


@pytest.mark.parametrize("name", CASES)
def test_the_bound_is_the_expectation_that_it_claims_to_be(name):
    """E_q log f + entropy, with each factor of q summed on a grid: checks the closed form and its ½ tr M."""
    M, field = CASES[name]
    q = mean_field(M, field)
    grid = 2.0 * np.pi * np.arange(400) / 400
    logs = unit_vectors(grid) @ q.field.T
    logs -= np.log(np.exp(logs).mean(axis=0) * 2.0 * np.pi)
    weights = np.exp(logs) * 2.0 * np.pi / 400
    means = weights.T @ unit_vectors(grid)
    np.testing.assert_allclose(q.means, means, atol=1e-12)
    pairs = M * (means @ means.T)
    np.fill_diagonal(pairs, np.diagonal(M))
    expected = -0.5 * pairs.sum() + np.sum(field * means) - np.sum(weights * logs)
    assert q.bound == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_the_field_is_stationary(name):
    M, field = CASES[name]
    q = mean_field(M, field, tolerance=1e-13)
    hollow = M - np.diag(np.diagonal(M))
    np.testing.assert_allclose(q.field, field - hollow @ q.means, atol=1e-9)
    np.testing.assert_allclose(q.means, bessel_ratio(q.concentration)[:, None] * unit_vectors(q.direction))


@pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    ("M", "field"),
    [
        (TRIANGLE, NONE),
        (smooth(12, 2.0, 1e-3), np.zeros((12, 2)) + 0.3),
        (spin_glass(12, 3.0, 1), np.ones((12, 2))),
    ],
    ids=["frustrated", "stiff", "glass"],
)
def test_the_bound_never_falls(M, field):
    """From sweep to sweep, and across the trials of Newton's method after 50 and 100 sweeps."""
    start = 0.1 * unit_vectors(np.arange(len(M)))
    bounds = np.array(
        [mean_field(M, field, start=start, max_sweeps=k, tolerance=1e-14).bound for k in range(1, 121)]
    )
    assert (np.diff(bounds) > -1e-12 * np.abs(bounds).max()).all()
    assert bounds[-1] > bounds[0] + 0.1


def test_a_stiff_problem_converges_only_with_newton(monkeypatch):
    M, field = smooth(40, 4.0, 1e-5), np.zeros((40, 2)) + 0.3
    with_newton = mean_field(M, field, max_sweeps=3000)
    assert with_newton.converged
    monkeypatch.setattr(variational, "_newton", lambda coupling, pull, means, h: (means, h))
    with pytest.warns(ConvergenceWarning, match="raise max_sweeps"):
        sweeps_only = mean_field(M, field, max_sweeps=3000)
    assert not sweeps_only.converged
    assert sweeps_only.bound < with_newton.bound


def test_a_broken_symmetry_is_found():
    """Without a field all means 0 is stationary; the default start leaves it, and leaves the first axis too."""
    flat = mean_field(-5.0 * TRIANGLE, NONE, start=NONE)
    assert flat.converged
    assert flat.sweeps == 1
    assert mean_field(-5.0 * TRIANGLE, NONE).bound > flat.bound + 5.0
    axis = mean_field(TRIANGLE, NONE, start=0.1 * np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]))
    q = mean_field(TRIANGLE, NONE)
    assert q.bound > axis.bound + 0.1
    between = np.sort(np.abs(np.angle(np.exp(1j * (q.direction - np.roll(q.direction, 1))))))
    np.testing.assert_allclose(between, 2.0 * np.pi / 3.0, atol=1e-6)


def test_below_the_transition_there_is_no_mean():
    """Two angles with coupling −J: A(h) ≈ h/2, so means vanish for J < 2 and exist above."""
    weak, strong = (np.array([[0.0, -j], [-j, 0.0]]) for j in (1.5, 2.5))
    assert np.abs(mean_field(weak, NONE[:2]).means).max() < 1e-8
    assert np.abs(mean_field(strong, NONE[:2]).means).max() > 0.4


def test_bessel_ratio_from_zero_to_huge():
    k = np.concatenate([[0.0, 1e-12], np.geomspace(1e-8, 1e8, 4001), np.linspace(31.0, 33.0, 201)])
    expected = ive(1, k) / i0e(k)
    np.testing.assert_allclose(bessel_ratio(k), expected, rtol=1e-13)
    assert bessel_ratio([1e-300])[0] == 5e-301
    large = np.geomspace(1e3, 1e8, 50)
    # 1 − A loses digits as a difference; its own series does not. The next term is 0.4 k⁻³ of the first.
    gap = 0.5 / large + 0.125 / large**2 + 0.125 / large**3
    np.testing.assert_allclose(variational._ratios(large)[1], gap, rtol=1e-9)
    gap = variational._ratios(np.array([32.0, np.nextafter(32.0, 33.0)]))[1]
    assert gap[0] == pytest.approx(gap[1], rel=1e-13)


@pytest.mark.parametrize("k", [0.0, 1e-300, 1e-8, 1.0, 31.9, 32.1, 1e4, 1e8])
def test_one_angle_in_any_field_is_exact(k):
    q = mean_field([[2.0]], [[0.6 * k, 0.8 * k]])
    assert q.bound == pytest.approx(np.log(2.0 * np.pi * i0e(k)) + k - 1.0, rel=1e-13)
    assert q.concentration[0] == pytest.approx(k, rel=1e-15)


def test_a_coupling_of_1e8_is_finite_and_stationary():
    q = mean_field(1e8 * np.array([[2.0, -1.0], [-1.0, 2.0]]), [[1e8, 0.0], [0.0, 1.0]])
    assert q.converged
    np.testing.assert_allclose(q.concentration, [2e8, 1e8], rtol=1e-7)


def test_sparse_and_dense_couplings_give_the_same():
    dense, other = mean_field(TRIANGLE, FIELD), mean_field(sparse.csr_array(TRIANGLE), FIELD)
    np.testing.assert_array_equal(dense.means, other.means)
    assert dense.bound == other.bound


def test_approximate_angles_use_the_conditional_and_the_noise():
    M, observed, field = smooth(6, 2.0, 1e-2), [0.1, 0.4], np.zeros((6, 2)) + 0.2
    clean = approximate_angles(M, observed, field)
    np.testing.assert_array_equal(clean.means, mean_field(*conditional(M, observed, field)).means)
    latent = approximate_angles(M, observed, field, noise=[5.0, 9.0])
    np.testing.assert_array_equal(latent.means, mean_field(*noisy(M, observed, field, [5.0, 9.0])).means)
    assert (len(clean.means), len(latent.means)) == (4, 6)
    # An observation of high concentration fixes its latent angle, which is the case without noise.
    sharp = approximate_angles(M, observed, field, noise=1e8)
    np.testing.assert_allclose(sharp.direction[:2], observed, atol=1e-4)
    np.testing.assert_allclose(sharp.direction[2:], clean.direction, atol=1e-4)


def test_approximate_angles_recover_a_smooth_function():
    """The start matters: a push along the field alone ends at another maximum, with a bound far below."""
    x = np.linspace(0.0, 1.0, 60)
    order = np.random.default_rng(1).permutation(60)
    K = 2.0 * np.exp(-50.0 * (x[:, None] - x) ** 2) + 1e-6 * np.eye(60)
    M, truth = np.linalg.inv(K)[np.ix_(order, order)], 2.0 * np.sin(5.0 * x[order])
    q = approximate_angles(0.5 * (M + M.T), truth[:30], np.zeros((60, 2)))
    assert np.abs(np.angle(np.exp(1j * (q.direction - truth[30:])))).max() < 0.05


def test_nothing_unobserved_is_nothing_to_fit():
    q = approximate_angles(np.eye(2), [0.0, 1.0], np.zeros((2, 2)))
    assert (q.means.shape, q.bound, q.converged) == ((0, 2), 0.0, True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_field(np.ones((2, 3)), NONE[:2]), r"shape \(2, 3\)"),
        (lambda: mean_field(np.eye(3), NONE[:2]), r"field has shape \(2, 2\)"),
        (lambda: mean_field([[0.0, 1.0], [2.0, 0.0]], NONE[:2]), "not symmetric"),
        (lambda: mean_field([[np.nan]], [[0.0, 0.0]]), "finite"),
        (lambda: mean_field(TRIANGLE, NONE, start=np.ones((3, 2))), "length at most 1"),
        (lambda: mean_field(TRIANGLE, NONE, start=np.full((3, 2), np.nan)), "length at most 1"),
        (lambda: mean_field(TRIANGLE, NONE, start=np.zeros(3)), r"shape \(3,\)"),
        (lambda: mean_field(TRIANGLE, NONE, tolerance=0.0), "tolerance is 0.0"),
        (lambda: mean_field(TRIANGLE, NONE, max_sweeps=0), "max_sweeps is 0"),
        (lambda: bessel_ratio([-1.0]), "negative"),
        (lambda: approximate_angles(TRIANGLE, [0.0] * 4, NONE), "n at most 3"),
        (lambda: approximate_angles(TRIANGLE, [0.0], NONE, noise=-1.0), "noise is -1.0"),
        (lambda: approximate_angles(TRIANGLE, [0.0], NONE, noise=[1.0, 2.0]), "1 observations"),
    ],
)
def test_bad_input_is_refused_at_the_door(call, message):
    with pytest.raises(InputError, match=message):
        call()
