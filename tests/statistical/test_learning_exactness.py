"""The learner against exact posteriors of two and three angles, where the normaliser is known by quadrature.

One long chain a case. Smooth functions of all parameters and their products are compared with their expectations:
means over 32 batches, each many autocorrelation times long, are treated as independent (`references.p_value`). The
distribution function of each parameter is compared by Kolmogorov and Smirnov's test on every 20th draw, which are
close to independent. Each comparison fails by chance with the probability RATE = 1e-6; with fixed seeds it does not
flicker. The faults that are planted here have p-values below RATE.
"""

import numpy as np
import pytest
from scipy import stats

from exact_posterior import ExactPosterior
from references import RATE, batch_means, p_value, size
from vmqp import kernels
from vmqp.learning import Learner, Method, make_problem
from vmqp.learning import exchange as exchange_room
from vmqp.priors import LogNormal

pytestmark = pytest.mark.statistical

PLACES = np.array([[0.0], [0.5], [1.0]])
ANGLES = np.array(
    [0.0, 2.2, -2.4]
)  # at odds with a smooth function and with a common direction: they tell much
REACH = {
    "variance": (-3.8, 4.2),
    "lengthscale": (-4.0, 3.6),
    "concentration": (-4.2, 3.8),
    "noise": (-2.0, 3.5),
}
BROAD = LogNormal(0, 0.8)


def problem(d, n, *, noise=None, drift="constant", lengthscale=BROAD, concentration=BROAD):
    return make_problem(
        PLACES[:n],
        ANGLES[:n],
        PLACES[n:d],
        kernel=BROAD * kernels.Exponential(lengthscale),
        concentration=concentration,
        noise=noise,
        drift=drift,
    )


def stiff():
    """Two angles that act as one, and a pull to another side: all hangs on how the inner chain turns both."""
    return make_problem(
        [[0.0], [1.0]],
        [2.0, 2.1],
        kernel=BROAD * kernels.Exponential(50.0),
        concentration=BROAD,
        direction=0.0,
    )


PROBLEMS = {
    "three angles, one latent": (lambda: problem(3, 2), {"angle_points": 64}),
    "two angles, one latent": (lambda: problem(2, 1), {"angle_points": 128}),
    "mean drift": (lambda: problem(3, 2, drift="mean"), {"angle_points": 64}),
    "noise, two angles": (
        lambda: problem(2, 2, noise=LogNormal(1, 0.5)),
        {"turns": 16, "noise_points": 13, "angle_points": 96},
    ),
    "noise, three angles": (
        lambda: problem(3, 2, noise=LogNormal(1, 0.5), lengthscale=0.8, concentration=0.7),
        {"turns": 16},
    ),
    "stiff": (stiff, {"angle_points": 300}),
}
METHODS = {
    "exchange": Method(),
    "exchange from the angles": Method(inner_start="angles"),
    "exchange from equal angles": Method(inner_start="aligned"),
    "bridge 1": Method(bridge=1),
    "bridge 5": Method(bridge=5),
    "bridge 5 from the angles": Method(bridge=5, inner_start="angles"),
    "augmented bridge 1": Method(bridge=1, bridging="augmented"),
    "augmented bridge 5": Method(bridge=5, bridging="augmented"),
    "dragged angles": Method(drag=3),
    "the paper's sampler": Method(sampler="augmented", inner_steps=60, outer_steps=5),
}
CASES = [
    *[("three angles, one latent", method) for method in METHODS],
    ("two angles, one latent", "exchange"),
    ("two angles, one latent", "augmented bridge 1"),
    ("mean drift", "exchange"),
    ("mean drift", "bridge 5"),
    ("noise, two angles", "exchange"),
    ("noise, two angles", "exchange from the angles"),
    ("noise, two angles", "bridge 5"),
    ("noise, two angles", "augmented bridge 1"),
    ("noise, two angles", "dragged angles"),
    ("noise, three angles", "exchange"),
    ("stiff", "exchange"),
]
EXACT = {}


def exact(name):
    if name not in EXACT:
        make, options = PROBLEMS[name]
        EXACT[name] = ExactPosterior(make(), reach=REACH, **options)
    return EXACT[name]


def p_values(name, method, draws, seed=1, warmup=300):
    """Of all moments together, and of each parameter's distribution function; and the chain's statistics."""
    posterior = exact(name)
    learner = Learner(posterior.problem, method, warmup=warmup)
    _, chunk = learner.advance(learner.start(seed, 0), warmup + draws)
    values = {
        key: np.mod(drawn, 2.0 * np.pi)
        if key == "direction"
        else posterior.problem.priors[key].to_unconstrained(drawn)
        for key, drawn in chunk.parameters.items()
    }
    means = batch_means(posterior.statistics(values), 32).mean(axis=1)
    moments = p_value(means, posterior.expectations())
    laws = {
        key: stats.kstest(values[key][::20], posterior.distribution_function(key)).pvalue
        for key in posterior.axes
    }
    return moments, laws, learner.warnings({key: stat[None] for key, stat in chunk.stats.items()})


@pytest.mark.parametrize(("name", "method"), CASES)
def test_the_posterior_of_the_parameters_is_exact(name, method):
    moments, laws, warnings = p_values(name, METHODS[method], size(4000))
    assert moments > RATE
    assert min(laws.values()) > RATE, laws
    assert not warnings


def test_one_sweep_of_heat_bath_is_not_enough_on_a_stiff_problem():
    """The inner chain stays where it starts; the same comparison sees it, and the diagnostics warn."""
    moments, laws, warnings = p_values(
        "stiff", Method(sampler="heatbath", inner_start="angles", inner_steps=1), 3000
    )
    assert moments < RATE
    assert laws["concentration"] < RATE
    assert len(warnings) == 1
    assert "inner chain of the exchange algorithm has 1 steps" in warnings[0]


@pytest.mark.parametrize("name", ["three angles, one latent", "mean drift"])
def test_fictitious_angles_that_do_not_move_are_caught(name, monkeypatch):
    """Then the ratio is that of the priors, and the data say nothing."""
    monkeypatch.setattr(exchange_room, "move", lambda rng, sampler, x, counters, *_: (x, counters))
    moments, _, _ = p_values(name, Method(inner_start="angles"), 4000)
    assert moments < RATE


def test_a_missing_jacobian_is_caught(monkeypatch):
    reference = exact("two angles, one latent")
    monkeypatch.setattr(
        type(reference.problem),
        "log_prior",
        lambda self, u, values=None: sum(
            float(self.priors[name].log_density(self.priors[name].from_unconstrained(u[i])))
            for i, name in enumerate(self.exchanged)
        ),
    )
    moments, _, _ = p_values("two angles, one latent", Method(), 4000)
    assert moments < RATE
