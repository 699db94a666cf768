"""How long an inner chain has to be: autocorrelation times, the statistics that count, and what a probe asks for.

False alarms: estimates of autocorrelation times are allowed six of their standard errors, a rate of 2e-9 each.
"""

import itertools

import numpy as np
import pytest
from scipy.signal import lfilter

from references import size
from vmqp import kernels, model
from vmqp.learning import inner, make_problem
from vmqp.learning.inner import autocorrelation_time, energy_gradients, needed_steps
from vmqp.learning.moves import fields_support, make_sampler
from vmqp.learning.point import factorised, fields_target, sums
from vmqp.precision import factorise
from vmqp.priors import HalfNormal, LogNormal, Uniform
from vmqp.sampling import seed_streams
from vmqp.sampling.sampler import unit_vectors

BROAD = LogNormal(0, 1)
PLACES = np.random.default_rng(0).uniform(0.0, 3.0, (5, 2))
OBSERVED = np.array([0.3, -2.0, 1.1])
NU = 0.8


# Autocorrelation times


def autoregression(n, rho, seed):
    """x_t = ρ x_{t−1} + noise, started in equilibrium."""
    noise = np.random.default_rng(seed).standard_normal(n)
    noise[1:] *= np.sqrt(1.0 - rho**2)
    return lfilter([1.0], [1.0, -rho], noise)


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [0.0, 0.3, 0.7, 0.9, 0.98])
def test_the_time_of_an_autoregression(rho):
    """τ = (1 + ρ)/(1 − ρ). Sokal's standard error at a window of 5 τ is τ √(2 (10 τ + 1)/n)."""
    n, tau = size(400_000), (1.0 + rho) / (1.0 - rho)
    error = tau * np.sqrt(2.0 * (10.0 * tau + 1.0) / n)
    assert abs(autocorrelation_time(autoregression(n, rho, 1)) - tau) < 6.0 * error


def test_the_time_does_not_depend_on_scale_and_origin():
    series = autoregression(2000, 0.8, 2)
    assert autocorrelation_time(7.0 - 1e3 * series) == pytest.approx(autocorrelation_time(series), rel=1e-9)


def test_the_time_is_that_of_the_definition():
    """The same sum and the same window, term by term."""
    series = autoregression(300, 0.6, 3)
    gap = series - series.mean()
    time, lag = 1.0, 0
    while lag < 5.0 * time:
        lag += 1
        time += 2.0 * (gap[lag:] @ gap[:-lag]) / (gap @ gap)
    assert autocorrelation_time(series) == pytest.approx(time, rel=1e-10)


@pytest.mark.parametrize(
    "series",
    [np.full(50, 3.0), np.zeros(1), np.array([2.0]), np.tile([1.0, -1.0], 50), autoregression(500, -0.9, 4)],
    ids=["constant", "one zero", "one number", "alternating", "antithetic"],
)
def test_no_time_is_shorter_than_a_step(series):
    assert autocorrelation_time(series) == 1.0


def test_a_chain_that_has_not_come_back_asks_for_more():
    """A drift through the whole probe: the window finds no end, or a late one."""
    assert autocorrelation_time(np.arange(200.0)) > 20.0


# Statistics


def problem(drift="constant", kernel=None, **options):
    kernel = BROAD * kernels.Exponential(HalfNormal(1)) + kernels.Nugget(BROAD) if kernel is None else kernel
    options = {"concentration": HalfNormal(2)} | options
    return make_problem(PLACES[:3], OBSERVED, PLACES[3:], kernel=kernel, drift=drift, **options)


KERNELS = {
    "all learned": (None, [0.3, -0.2, -1.0, 0.4]),
    "bounded": (Uniform(0.1, 4.0) * kernels.Gaussian(Uniform(0.1, 1.0)) + kernels.Nugget(0.1), [0.2, -0.3, 0.4]),
    "two kernels": (BROAD * kernels.Exponential(1.0) + BROAD * kernels.Matern32(BROAD), [0.1, 0.5, -0.6, 0.2]),
}  # fmt: skip


def energies(given, u, angles):
    """U at u without the diagonal of M, by the plain functions."""
    values = given.values(u)
    M = factorise(given.bound.covariance(given.kernel_values(values))).M
    field = model.drift_field(M, given.concentration_of(values), NU, given.drift)
    return model.energy(angles, M, field) - 0.5 * np.trace(M)


def derivative(given, u, angles, j, step=4e-3):
    """By differences of the fourth order, with steps other than the code's."""
    way = np.eye(len(u))[j]
    near, far = (
        (energies(given, u + s * way, angles) - energies(given, u - s * way, angles)) / (2.0 * s)
        for s in (step, 2.0 * step)
    )
    return (4.0 * near - far) / 3.0


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("drift", ["constant", "mean"])
def test_gradients_are_those_of_the_energy(drift, name):
    kernel, u = KERNELS[name]
    given, u = problem(drift, kernel), np.array(u)
    angles = np.random.default_rng(1).uniform(-np.pi, np.pi, (6, 5))
    point = factorised(given, u, given.values(u))
    found = energy_gradients(given, point, NU, angles)
    expected = np.stack([derivative(given, u, angles, j) for j in range(len(u))], axis=1)
    assert found.shape == (6, len(u))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_gradients_by_scale_and_concentration_are_known():
    """With U = quadratic/σ² − κ drift and logs as coordinates they are −quadratic/σ² and −κ drift."""
    given = problem(kernel=BROAD * kernels.Exponential(1.0))
    u = np.array([0.7, -0.4])
    point = factorised(given, u, given.values(u))
    angles = np.random.default_rng(2).uniform(-np.pi, np.pi, (4, 5))
    known = [sums(point.base, unit_vectors(row[None])) for row in angles]
    quadratic = [-one.quadratic for one in known]
    drift = [-np.exp(-0.4) * (np.cos(NU) * one.along + np.sin(NU) * one.across) for one in known]
    found = energy_gradients(given, point, NU, angles)
    np.testing.assert_allclose(found, np.stack([quadratic, drift], axis=1), rtol=1e-6)


def test_a_parameter_at_the_edge_is_left_to_the_others(monkeypatch):
    """Where one of the two matrices has no factor there is no difference of them."""
    given, u = problem(), np.array([0.3, -0.2, -1.0, 0.4])
    point = factorised(given, u, given.values(u))
    angles = np.random.default_rng(1).uniform(-np.pi, np.pi, (6, 5))
    all_of_them = energy_gradients(given, point, NU, angles)
    monkeypatch.setattr(inner, "factorised", lambda g, v, w: None if v[1] > u[1] else factorised(g, v, w))
    np.testing.assert_array_equal(energy_gradients(given, point, NU, angles), all_of_them[:, [0, 2, 3]])
    monkeypatch.setattr(inner, "factorised", lambda *_: None)
    assert energy_gradients(given, point, NU, angles).shape == (6, 0)


def test_with_nothing_to_learn_there_are_no_statistics():
    given = problem(kernel=1.0 * kernels.Exponential(1.0), concentration=0.5)
    point = factorised(given, np.zeros(0), {})
    assert energy_gradients(given, point, NU, np.zeros((6, 5))).shape == (6, 0)


# The length


def steps_of(kind, given, u, seed=1):
    """What a probe of a sampler asks for, after a warm-up."""
    u, rng = np.array(u), seed_streams(seed, 1)
    point = factorised(given, u, given.values(u))
    sampler = make_sampler(kind, fields_target(point, 0.0), fields_support(kind, point))
    state = sampler.warm_up(rng, sampler.init(rng, np.zeros((1, given.d))), 200)
    return needed_steps(rng, given, point, 0.0, sampler, state)


def pair(lengthscale):
    return make_problem(
        [[0.0], [1.0]], [2.0, 2.1], kernel=BROAD * kernels.Exponential(lengthscale), concentration=BROAD
    )


def test_a_stiff_pair_with_a_weak_drift_is_slow_for_the_heat_bath_alone():
    """Two angles that act as one turn together by small steps; the hybrid sampler turns both at once.

    Medians of nine probes: a single one of a slow chain is off by a factor of some units, since a short series
    that has seen little of the slow mode does not show it.
    """
    given, u = pair(5000.0), [0.0, -1.0]
    heatbath, hybrid = (
        np.median([steps_of(kind, given, u, seed) for seed in range(9)]) for kind in ("heatbath", "hybrid")
    )
    assert heatbath > 150
    assert hybrid < 10


def test_angles_on_their_own_need_few_steps():
    for kind in ("heatbath", "hybrid"):
        assert steps_of(kind, pair(0.1), [0.0, 0.0]) <= 6


class Standing:
    """A sampler that only remembers how long it was asked to run."""

    def __init__(self):
        self.lengths = []

    def run(self, rng, state, length):
        self.lengths.append(length)
        return state, np.zeros((1, length, 2))


def told(monkeypatch, *times):
    """What is asked for, and the lengths of the probes, where the statistics have given autocorrelation times."""
    given, u, sampler = pair(1.0), np.zeros(2), Standing()
    point = factorised(given, u, given.values(u))
    answers = itertools.cycle(times)
    monkeypatch.setattr(inner, "autocorrelation_time", lambda series: next(answers))
    return needed_steps(None, given, point, 0.0, sampler, None), sampler.lengths


@pytest.mark.parametrize(
    ("time", "lengths"),
    [(1.0, [400]), (8.0, [400]), (8.1, [400, 1600]), (32.0, [400, 1600]), (32.1, [400, 1600, 6400])],
)
def test_a_probe_grows_to_fifty_autocorrelation_times(monkeypatch, time, lengths):
    """From 400 steps by factors of four; 6400 are the most."""
    assert told(monkeypatch, time, 1.0)[1] == lengths
    assert told(monkeypatch, 1.0, time)[1] == lengths, "the slowest statistic decides"


@pytest.mark.parametrize(("time", "steps"), [(1.0, 3), (2.0, 3), (4.1, 7), (30.0, 45), (5000.0, 1000)])
def test_the_length_is_one_and_a_half_times_the_longest_time(monkeypatch, time, steps):
    """Within bounds."""
    assert told(monkeypatch, time, 1.0)[0] == steps
    assert told(monkeypatch, 1.0, time)[0] == steps


def test_with_nothing_to_learn_the_shortest_chain_will_do():
    given = problem(kernel=1.0 * kernels.Exponential(1.0), concentration=0.5)
    point = factorised(given, np.zeros(0), {})
    rng = seed_streams(1, 1)
    sampler = make_sampler("heatbath", fields_target(point, NU), None)
    assert needed_steps(rng, given, point, NU, sampler, sampler.init(rng, np.zeros((1, 5)))) == 3


def test_the_length_of_the_resultant_is_among_the_statistics(monkeypatch):
    """Under a weak drift the direction of the sum is drawn anew at each step, and hides that its length is not."""
    places = np.linspace(0.0, 1.0, 20)[:, None]
    problem = make_problem(places, np.zeros(20), kernel=HalfNormal(1) * kernels.Exponential(5.0))
    u = problem.vector({"variance": 2.0, "concentration": 1e-3})
    point = factorised(problem, u, problem.values(u))

    def steps():
        target = fields_target(point, 0.0)
        sampler = make_sampler("hybrid", target, fields_support("hybrid", point))
        streams = seed_streams(np.random.SeedSequence(5), 1)
        return needed_steps(streams, problem, point, 0.0, sampler, sampler.init(streams))

    with_it = steps()
    monkeypatch.setattr(inner, "resultant", lambda point, angles: np.zeros(len(angles)))
    assert with_it > 1.5 * steps()
