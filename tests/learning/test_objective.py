"""What the pseudo-likelihood and score matching share, checked for both: gradients, exact draws, symmetries, optima."""

import numpy as np
import pytest

from references import RATE, exact_draws, p_value, size
from vmqp import kernels, model, priors
from vmqp.errors import InputError, NotPositiveDefiniteError
from vmqp.learning import pseudolikelihood, score_matching
from vmqp.learning.objective import complete_angles, observed_angles
from vmqp.learning.problem import make_problem
from vmqp.learning.pseudolikelihood import log_pseudolikelihood, maximize
from vmqp.learning.score_matching import minimise, score

H = priors.HalfNormal(1)
KERNELS = {
    "one": H * kernels.Exponential(priors.Squared(H)),
    "nugget": H * kernels.Gaussian(priors.LogNormal(0, 1)) + kernels.Nugget(priors.HalfNormal(0.3)),
    "two": H * kernels.Exponential(H) + H * kernels.Matern32(priors.Uniform(0.1, 5.0)),
    "ard": H * kernels.Exponential([H, H]),
    "fixed": 0.7 * kernels.Exponential(1.3),
}
RULES = {"pseudolikelihood": pseudolikelihood._rule, "score": score_matching._rule}
ESTIMATES = {"pseudolikelihood": maximize, "score": minimise}
TRUTH = {"variance": 0.5, "lengthscale": 0.7, "concentration": 0.7, "direction": 0.7}

both = pytest.mark.parametrize("method", RULES)
drifts = pytest.mark.parametrize("drift", ["constant", "mean"])


def some_problem(kernel=KERNELS["one"], n=5, m=2, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 3.0, (n + m, 2))
    return make_problem(X[:n], rng.uniform(-np.pi, np.pi, n), X[n:], kernel=kernel, **options)


def differences(function, t, step=1e-3):
    """Central differences of fourth order."""
    near, far = (
        np.array([function(t + k * e) - function(t - k * e) for e in step * np.eye(len(t))]) for k in (1, 2)
    )
    return (8.0 * near - far) / (12.0 * step)


def check_gradient(rule, complete, seed):
    """Of the objective and of the prior, at a point that is nowhere special."""
    t = np.random.default_rng(seed).normal(0.0, 0.5, len(complete.names))
    value, gradient = complete.value_and_gradient(rule, t)
    assert value == complete.value(rule, t)
    expected = differences(lambda s: complete.value(rule, s), t)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7 * np.abs(expected).max())
    expected = differences(lambda s: complete.log_prior(s)[0], t)
    np.testing.assert_allclose(complete.log_prior(t)[1], expected, rtol=1e-5, atol=1e-7)


@both
@drifts
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_gradient_is_the_derivative(kernel, drift, method):
    problem = some_problem(kernel, drift=drift)
    check_gradient(RULES[method], observed_angles(problem), 1)
    angles = np.random.default_rng(2).uniform(-4.0, 4.0, (3, 7))
    check_gradient(RULES[method], complete_angles(problem, angles), 3)


@drifts
@pytest.mark.parametrize("noise", [priors.HalfNormal(10), 5.0])
def test_gradient_with_noise(noise, drift):
    complete = observed_angles(some_problem(noise=noise, drift=drift))
    assert ("noise" in complete.names) == (noise != 5.0)
    check_gradient(RULES["pseudolikelihood"], complete, 4)
    t = np.zeros(len(complete.names))
    plain = observed_angles(some_problem()).covariance(t[:4])
    chi = complete.values(t).get("noise", 5.0)
    np.testing.assert_allclose(complete.covariance(t), plain + np.eye(5) / chi, rtol=1e-14)


def test_a_wrong_gradient_would_be_noticed():
    true = pseudolikelihood._rule

    def faulty(h, x):
        value, slope = true(h, x)
        return value, slope * 1.001

    with pytest.raises(AssertionError, match="Not equal"):
        check_gradient(faulty, observed_angles(some_problem()), 1)


@drifts
@pytest.mark.parametrize(("method", "plain"), [("pseudolikelihood", log_pseudolikelihood), ("score", score)])
def test_value_is_that_of_the_plain_function(method, plain, drift):
    problem = some_problem(drift=drift)
    angles = np.random.default_rng(5).uniform(-np.pi, np.pi, (4, 7))
    complete, t = complete_angles(problem, angles), np.array([0.2, -0.3, 0.4, 1.0])
    values = complete.values(t)
    K = problem.bound.covariance({name: values[name] for name in ("variance", "lengthscale")})
    M = np.linalg.inv(K)
    expected = plain(angles, M, model.drift_field(M, values["concentration"], 1.0, drift)).mean()
    sign = 1.0 if method == "pseudolikelihood" else -1.0
    assert sign * complete.value(RULES[method], t) == pytest.approx(expected, rel=1e-10)


def exact_problem(drift, d, draws, seed):
    """A problem of d places, and independent draws of its angles at `TRUTH`, which three places tell within 0.1."""
    X = np.array([[0.0, 0.0], [0.4, 0.0], [0.2, 1.5]])[:d]
    problem = make_problem(X[:1], [0.0], X[1:], kernel=KERNELS["one"], drift=drift)
    M = np.linalg.inv(problem.bound.covariance({"variance": 0.5, "lengthscale": 0.7}))
    return problem, exact_draws(M, model.drift_field(M, 0.7, 0.7, drift), draws, seed)


def gradients_at_truth(rule, drift, d):
    """The gradient of each of 40 batches of draws, (40, 4)."""
    problem, angles = exact_problem(drift, d, 40 * size(250), 7)
    t = np.array([*problem.vector(TRUTH), TRUTH["direction"]])
    parts = np.split(angles, 40)
    return np.array([complete_angles(problem, part).value_and_gradient(rule, t)[1] for part in parts])


@pytest.mark.statistical
@both
@pytest.mark.parametrize(("drift", "d"), [("constant", 2), ("constant", 3), ("mean", 3)])
def test_gradient_is_zero_at_the_truth_on_average(drift, d, method):
    """The expected objective is best at the truth. Fails by chance at the rate RATE."""
    assert p_value(gradients_at_truth(RULES[method], drift, d), np.zeros(4)) > RATE


@pytest.mark.statistical
@both
def test_a_faulty_rule_would_be_noticed(method):
    """The Laplacian of the score with the wrong sign; a normaliser of the pseudo-likelihood that is 5 % off."""

    def faulty(h, x):
        value, slope = RULES[method](h, x)
        return value, slope - 2.0 * x if method == "score" else x - 1.05 * (x - slope)

    assert p_value(gradients_at_truth(faulty, "constant", 3), np.zeros(4)) < RATE


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("method", "drift"),
    [("pseudolikelihood", "constant"), ("pseudolikelihood", "mean"), ("score", "constant")],
)
def test_many_draws_recover_the_truth(method, drift):
    """Within errors of the sandwich form H⁻¹ J H⁻¹: fails by chance at about the rate RATE."""
    problem, angles = exact_problem(drift, 3, 40 * size(250), 8)
    found = ESTIMATES[method](problem, angles=angles, prior=False)
    assert found.converged
    t = np.array([*found.u, found.direction])

    def gradient(s, some=angles):
        return complete_angles(problem, some).value_and_gradient(RULES[method], s)[1]

    inverse = np.linalg.inv(differences(gradient, t))
    moves = np.array([gradient(t, part) for part in np.split(angles, 40)]) @ inverse
    truth = np.array([*problem.vector(TRUTH), TRUTH["direction"]])
    assert p_value(t - moves, truth) > RATE
    for wrong in truth + 1.0 * np.eye(4):
        assert p_value(t - moves, wrong) < RATE


@both
@drifts
def test_a_rotation_turns_the_direction_alone(method, drift):
    problem = some_problem(n=12, m=0, seed=3, concentration=1.0, drift=drift)
    turned = make_problem(
        problem.X, problem.observed + 2.0, kernel=problem.kernel, concentration=1.0, drift=drift
    )
    one, other = (ESTIMATES[method](own, prior=True) for own in (problem, turned))
    np.testing.assert_allclose(one.u, other.u, atol=1e-4)
    assert np.cos(other.direction - one.direction - 2.0) > 1.0 - 1e-8
    assert one.value == pytest.approx(other.value, rel=1e-9)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-2, atol=1e-5)


@both
@drifts
def test_optimum_is_one(method, drift):
    problem = some_problem(n=25, m=3, drift=drift)
    found, complete, rule = ESTIMATES[method](problem, prior=True), observed_angles(problem), RULES[method]
    assert found.converged
    t = np.array([*found.u, found.direction])
    assert found.value == pytest.approx(complete.value(rule, t) + problem.log_prior(found.u), rel=1e-12)
    assert list(found.values) == ["variance", "lengthscale", "concentration", "direction"]
    np.testing.assert_allclose(problem.vector(found.values), found.u, rtol=1e-12)
    rng = np.random.default_rng(9)
    for _ in range(30):
        other = t + rng.normal(0.0, 0.3, 4)
        assert complete.value(rule, other) + complete.log_prior(other)[0] < found.value
    eigenvalues = np.linalg.eigvalsh(found.covariance)
    assert 1e-4 - 1e-12 <= eigenvalues.min() <= eigenvalues.max() <= 4.0 + 1e-12


@both
def test_bad_input_is_refused(method):
    estimate, problem = ESTIMATES[method], some_problem()
    with pytest.raises(InputError, match=r"give shape \(draws, 7\)"):
        estimate(problem, angles=np.zeros((3, 5)))
    with pytest.raises(InputError, match=r"give shape \(draws, 7\)"):
        estimate(problem, angles=np.zeros(7))
    with pytest.raises(InputError, match="draw 1 at place 2 is nan"):
        estimate(problem, angles=np.where(np.arange(14).reshape(2, 7) == 9, np.nan, 0.0))
    with pytest.raises(InputError, match="make_problem"):
        estimate("problem")
    with pytest.raises(NotPositiveDefiniteError, match="rows 0 and 1"):
        estimate(make_problem([[1.0], [1.0], [3.0]], [0.0, 0.1, 0.2], kernel=KERNELS["one"]))
