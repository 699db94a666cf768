"""The whole learner on twelve places, where no reference is known: calibration and Geweke's test.

*Calibration*: the ranks of the true values among the learner's draws are uniform. Every quantity of a configuration
has an envelope of its own; together they hold with 99 % (Bonferroni), so that a configuration fails by chance with a
probability of at most 1 %. A seed is fixed, so it does not flicker.

*Geweke's test*: parameters follow their prior if the data are redrawn in each iteration. It fails by chance with the
probability RATE = 1e-6 (`references.p_value`, across independent chains).

The faults that are planted here leave the same envelopes, or have p-values below RATE.
"""

import numpy as np
import pytest

import calibration
from calibration import DRAWS
from references import RATE, p_value, size
from vmqp.learning import Problem
from vmqp.learning import walker as walker_room

pytestmark = pytest.mark.statistical

COVERAGE = 0.99
CONFIGURATIONS = pytest.mark.parametrize("noise", [False, True], ids=["no noise", "noise"])


@pytest.fixture(autouse=True)
def _tuned():
    """Tune before a fault is planted: the tunings are kept for all tests of a process."""
    calibration.tuned(False)
    calibration.tuned(True)


def outside(ranks):
    """The quantities whose ranks leave their envelopes, with p-values."""
    own = 1.0 - (1.0 - COVERAGE) / len(ranks)
    return {
        name: calibration.rank_p_value(found, DRAWS)
        for name, found in ranks.items()
        if not calibration.is_inside(found, DRAWS, own)
    }


def geweke(noise, chains, iterations):
    means = calibration.joint_means(noise, chains, iterations, seed=1)
    return p_value(means, calibration.joint_expectations(noise))


def without_jacobian(self, u, values=None):
    values = self.values(u) if values is None else values
    return sum(float(self.priors[name].log_density(values[name])) for name in self.exchanged)


@pytest.mark.parametrize("replications", [60, 200])
@pytest.mark.parametrize("coverage", [0.9, 0.99, 0.999])
def test_the_envelope_has_its_coverage(replications, coverage):
    """Against the exact one: five standard errors of the simulation, and above it the steps of whole counts."""
    bounds = calibration.envelope(replications, DRAWS, coverage)
    exact = calibration.exact_coverage(*bounds, replications, DRAWS)
    error = 5.0 * np.sqrt(coverage * (1.0 - coverage) / 100_000)
    assert coverage - error < exact < coverage + error + 0.1 * (1.0 - coverage)


def test_uniform_ranks_lie_in_the_envelope_as_often_as_it_says():
    """Fresh ranks of another kind of draw; fails by chance with the probability 1e-6 (five standard errors)."""
    rng = np.random.default_rng(2)
    held = [calibration.is_inside(rng.integers(0, DRAWS + 1, 200), DRAWS, 0.99) for _ in range(10_000)]
    assert abs(np.mean(held) - 0.99) < 5.0 * np.sqrt(0.99 * 0.01 / 10_000)


@CONFIGURATIONS
def test_ranks_of_the_truth_are_uniform(noise):
    """Fails by chance with a probability of at most 1 % for each configuration."""
    assert not outside(calibration.ranks(noise, size(200), seed=1))


@CONFIGURATIONS
def test_parameters_follow_the_prior_where_data_are_redrawn(noise):
    """Fails by chance with the probability RATE for each configuration."""
    assert geweke(noise, 32, size(300)) > RATE


def test_ranks_catch_a_missing_jacobian(monkeypatch):
    monkeypatch.setattr(Problem, "log_prior", without_jacobian)
    assert outside(calibration.ranks(False, 60, seed=2))


def test_redrawn_data_catch_a_missing_jacobian(monkeypatch):
    monkeypatch.setattr(Problem, "log_prior", without_jacobian)
    assert geweke(False, 32, 60) < RATE


def test_redrawn_data_catch_leaps_without_their_way_back(monkeypatch):
    leap = walker_room.leap
    monkeypatch.setattr(walker_room, "leap", lambda *given: leap(*given)._replace(log_back=0.0))
    assert geweke(False, 32, 60) < RATE
