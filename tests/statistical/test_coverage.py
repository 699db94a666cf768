"""Arcs cover at their rate: on data sets drawn from the model, parameters from their priors, `vmqp.regress` end to end.

One location at a time, the observed angles are drawn from the model of their locations, and the new angle given them
and the parameters: that is the distribution whose predictive the mixture is. Where it is transductive, all angles are
drawn together. Each data set gives one independent yes or no (its first new location) for each probability. The numbers
of yes are binomial, and the test fails by chance with a probability of 1e-3 for each of the six numbers. The shortest
arc of few joint draws is a little too short (a 90 % arc of 500 independent draws covers 89 %), which is less than the
test can see.
"""

import numpy as np
import pytest
from scipy.stats import binomtest

import vmqp
from references import size
from vmqp import arcs, circle, kernels, model, priors
from vmqp.learning import Method
from vmqp.precision import factorise

pytestmark = [pytest.mark.statistical, pytest.mark.xdist_group("coverage")]

RATE = 1e-3
LEVELS = (0.5, 0.75, 0.9)
N, M = 7, 2
KERNEL = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1)) + kernels.Nugget(
    priors.HalfNormal(0.1)
)
METHOD = Method(cheap_moves=1)  # half of the time of the default, for draws of the same law
CONCENTRATION, CHI = priors.HalfNormal(1), priors.LogNormal(2, 0.5)


def data_set(seed, noisy, drift, transductive):
    """Locations, observed angles and what is to be predicted, in degrees."""
    rng = np.random.default_rng(seed)
    locations = rng.uniform(0.0, 3.0, (N + M if transductive else N + 1, 2))
    bound = KERNEL.bind(locations)
    values = {name: float(prior.sample(rng)) for name, prior in bound.parameters.items()}
    K = bound.covariance(values)
    kappa, nu = float(CONCENTRATION.sample(rng)), float(rng.uniform(-np.pi, np.pi))
    together = len(locations) if transductive else N
    precision = factorise(K[:together, :together]).M
    field = model.drift_field(precision, kappa, nu, drift)
    # Far more steps than most of these need: a stiff field forgets slowly, and 400 left 85 % in the 90 % arcs.
    angles = vmqp.sample_angles(precision, field, draws=1, warmup=5000, seed=int(rng.integers(2**32)))[0]
    if not transductive:
        every = np.linalg.inv(K)
        pull = kappa * (every[N].sum() if drift == "mean" else 1.0) * np.exp(1j * nu)
        h = pull - every[N, :N] @ np.exp(1j * angles)
        angles = np.append(angles, rng.vonmises(np.angle(h), np.abs(h)))
    if noisy:
        angles = circle.wrap(angles + rng.vonmises(0.0, CHI.sample(rng), len(angles)))
    degrees = np.asarray(circle.from_radians(angles, 360.0, origin=0.0))
    return locations, degrees


def covered(seeds, *, noisy=False, drift="mean", transductive=False):
    """Whether arcs hold the truth, (data sets, levels)."""
    result = []
    for seed in seeds:
        locations, degrees = data_set(seed, noisy, drift, transductive)
        post = vmqp.regress(
            locations[:N],
            degrees[:N],
            locations[N:],
            period=360,
            kernel=KERNEL,
            drift=drift,
            transductive=transductive,
            concentration=CONCENTRATION,
            noise=CHI if noisy else None,
            method=METHOD,
            chains=1,
            warmup=250,
            draws=500,
            seed=seed,
            progress=False,
        )
        ends = [post.interval(level)[0] for level in LEVELS]
        result.append([arcs.in_arc(degrees[N], *pair, 360.0) for pair in ends])
    return np.array(result)


@pytest.fixture(scope="module")
def plain():
    return covered(range(size(140)))


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_arcs_cover_at_their_rate(plain, level):
    inside = plain[:, LEVELS.index(level)]
    assert binomtest(int(inside.sum()), len(inside), level).pvalue > RATE, inside.mean()


def test_arcs_that_are_too_short_would_be_caught(plain):
    """The planted fault: 75 % arcs in place of 90 % ones."""
    inside = plain[:, LEVELS.index(0.75)]
    assert binomtest(int(inside.sum()), len(inside), 0.9).pvalue < RATE


@pytest.mark.parametrize("options", [{"noisy": True}, {"drift": "constant", "transductive": True}], ids=str)
def test_arcs_of_other_models_cover_at_their_rate(options):
    """New observations, noise included; and all locations together. Fewer data sets."""
    inside = covered(range(1000, 1000 + size(60)), **options)
    for level in (0.5, 0.9):
        counts = inside[:, LEVELS.index(level)]
        assert binomtest(int(counts.sum()), len(counts), level).pvalue > RATE, counts.mean()
