"""The gradient of the likelihood: against quadrature of log p(θ | w) and against differences of the energy."""

import numpy as np
import pytest

from references import RATE, exact_draws, p_value, size
from vmqp import kernels, model, priors
from vmqp.errors import InputError
from vmqp.learning.contrastive import draw_gradient, energy_gradient, gradient
from vmqp.learning.objective import precision_and_field
from vmqp.learning.problem import make_problem

H = priors.HalfNormal(1)
KERNELS = {
    "one": H * kernels.Exponential(priors.Squared(H)),
    "nugget and interval": H * kernels.Gaussian(priors.Uniform(0.2, 4.0))
    + kernels.Nugget(priors.HalfNormal(0.3)),
    "two": H * kernels.Exponential(H) + 0.5 * kernels.Matern32([H, H]),
}
PLACES = np.array([[0.0, 0.0], [0.7, 0.1], [0.2, 1.1]])


def some_problem(kernel=KERNELS["one"], n=1, **options):
    return make_problem(PLACES[:n], [0.4, 1.5, -0.3][:n], PLACES[n:], kernel=kernel, **options)


def some_values(problem):
    names = [name for name in problem.learned if name not in ("direction", "noise")]
    values = dict(zip(names, np.linspace(0.6, 1.4, len(names)), strict=True))
    return values | {"direction": 0.7, "noise": 4.0}


def slopes(function, values, names, step=1e-4):
    """Central differences of a function of the values, by name."""
    moved = {name: [values | {name: values[name] + sign * step} for sign in (1, -1)] for name in names}
    return {name: (function(up) - function(down)) / (2 * step) for name, (up, down) in moved.items()}


def log_likelihood(problem, values):
    """log p(θ | w) by quadrature over the latent angles; the two normalisers of ``eq:Z_w_definition``."""
    M, field = precision_and_field(problem, values)
    if problem.noise is not None:
        tied = model.noisy(M, problem.observed, field, values["noise"])
        return model.log_normaliser_quadrature(*tied) - model.log_normaliser_quadrature(M, field)
    Q, rho = model.conditional(M, problem.observed, field)
    n = problem.n
    # The part of −U that holds observed angles only.
    known = -model.energy(problem.observed, M[:n, :n], field[:n])
    free = model.log_normaliser_quadrature(Q, rho) if n < 3 else 0.0
    return float(known + free - model.log_normaliser_quadrature(M, field))


@pytest.mark.parametrize("drift", ["constant", "mean"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_gradient_of_the_energy_is_its_derivative(kernel, drift):
    problem = some_problem(kernel, drift=drift)
    values = some_values(problem)
    angles = np.random.default_rng(1).uniform(-np.pi, np.pi, (5, 3))
    found = energy_gradient(problem, values, angles)
    assert list(found) == [*problem.exchanged, "direction"]
    expected = slopes(lambda w: model.energy(angles, *precision_and_field(problem, w)), values, found)
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-5, atol=1e-7)


def test_fixed_parameters_have_no_gradient():
    problem = some_problem(concentration=2.0, direction=0.3)
    found = energy_gradient(problem, {"variance": 1.0, "lengthscale": 1.0}, np.zeros((1, 3)))
    assert list(found) == ["variance", "lengthscale"]


@pytest.mark.statistical
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("drift", ["constant", "mean"])
def test_exact_draws_give_the_derivative_of_the_likelihood(drift, n):
    """Fails by chance at the rate RATE; the gradient with the two laws exchanged is noticed."""
    problem = some_problem(n=n, drift=drift)
    values = some_values(problem)
    M, field = precision_and_field(problem, values)
    draws = 40 * size(250)
    prior = exact_draws(M, field, draws, 2)
    latent = exact_draws(*model.conditional(M, problem.observed, field), draws, 3)
    posterior = np.concatenate([np.tile(problem.observed, (draws, 1)), latent], axis=1)
    expected = slopes(lambda w: log_likelihood(problem, w), values, [*problem.exchanged, "direction"])

    def batches(first, second):
        parts = zip(np.split(first, 40), np.split(second, 40), strict=True)
        found = [gradient(problem, values, prior_draws=a, posterior_draws=b) for a, b in parts]
        assert list(found[0]) == list(expected)
        return np.array([[estimate.value for estimate in one.values()] for one in found])

    exact = np.array(list(expected.values()))
    assert p_value(batches(prior, posterior), exact) > RATE
    assert p_value(batches(posterior, prior), exact) < RATE


@pytest.mark.statistical
@pytest.mark.parametrize("noise", [None, priors.HalfNormal(10)])
def test_drawn_gradient_agrees_within_its_error(noise):
    """Each of four estimates lies within 6 of its standard errors: by chance it fails below 1e-5.

    With 31 batches the ratio has Student's law with about 30 degrees of freedom.
    """
    problem = some_problem(noise=noise)
    values = some_values(problem)
    found = draw_gradient(problem, values, draws=size(1000), seed=4)
    assert found == draw_gradient(problem, values, draws=size(1000), seed=4)
    expected = slopes(lambda w: log_likelihood(problem, w), values, found)
    for name, estimate in found.items():
        assert 0.0 < estimate.error < 0.3
        assert abs(estimate.value - expected[name]) < 6.0 * estimate.error


def test_errors_are_right_for_independent_draws():
    """The error is that of the mean: σ/√draws, within a third for 100 batches (5 deviations)."""
    problem = some_problem(KERNELS["one"])
    values = some_values(problem)
    angles = np.random.default_rng(5).uniform(-np.pi, np.pi, (10_000, 3))
    still = np.zeros((4, 3))
    found = gradient(problem, values, prior_draws=angles, posterior_draws=still)["concentration"]
    spread = energy_gradient(problem, values, angles)["concentration"].std() / 100.0
    assert found.error == pytest.approx(spread, rel=0.36)


def test_no_latent_angles():
    problem = some_problem(n=3)
    values = some_values(problem)
    found = draw_gradient(problem, values, draws=400)
    expected = slopes(lambda w: log_likelihood(problem, w), values, found)
    assert abs(found["concentration"].value - expected["concentration"]) < 6.0 * found["concentration"].error


def test_bad_input_is_refused():
    problem = some_problem()
    values = some_values(problem)
    with pytest.raises(InputError, match="no 'lengthscale'"):
        draw_gradient(problem, {"variance": 1.0})
    with pytest.raises(InputError, match="an end of its prior"):
        energy_gradient(problem, values | {"variance": 0.0}, np.zeros((1, 3)))
    with pytest.raises(InputError, match=r"give shape \(draws, 3\)"):
        energy_gradient(problem, values, np.zeros(3))
    with pytest.raises(InputError, match="posterior_draws has 1 draws"):
        gradient(problem, values, prior_draws=np.zeros((4, 3)), posterior_draws=np.zeros((1, 3)))
    with pytest.raises(InputError, match="draws is 1"):
        draw_gradient(problem, values, draws=1)
