"""Arcs cover at about their rate on data that are not from the model: a smooth function with von Mises noise.

Each data set has 25 observations and 20 new ones. How many of the latter a 90 % arc holds scatters between data sets
with a standard deviation of 0.08, so that the mean over 25 of them has one of 0.016: a model that covers 0.90 leaves
0.85 to 0.95 by chance in one of 500 choices of seeds. The seeds are fixed.
"""

import numpy as np
import pytest

import vmqp
from references import size

pytestmark = [
    pytest.mark.statistical,
    pytest.mark.xdist_group("coverage"),
    pytest.mark.filterwarnings("ignore::vmqp.ConvergenceWarning"),
]

SHORT = {"period": 360, "chains": 2, "warmup": 300, "draws": 300, "progress": False}


def truth(x):
    """Degrees; it winds round the circle once."""
    return 100.0 * np.sin(0.7 * x) + 36.0 * x


def coverage(seeds, levels=(0.5, 0.9), **more):
    """Fraction of new observations in the arcs, (data sets, levels)."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        x = rng.uniform(0.0, 10.0, 45)
        y = np.mod(truth(x) + np.degrees(rng.vonmises(0.0, 8.0, 45)), 360.0)
        post = vmqp.regress(x[:25, None], y[:25], x[25:, None], seed=seed, **SHORT | more)
        found.append([post.coverage(y[25:], level) for level in levels])
    return np.array(found)


@pytest.fixture(scope="module")
def found():
    return coverage(range(size(25)))


def test_ninety_percent_arcs(found):
    assert 0.85 <= found[:, 1].mean() <= 0.95


def test_half_arcs(found):
    """Of 50 % arcs the mean over 25 data sets has a standard deviation of about 0.025."""
    assert 0.40 <= found[:, 0].mean() <= 0.60


def test_arcs_that_are_too_narrow_are_seen(found, monkeypatch):
    """A planted fault: fields twice as strong as they are."""
    right = vmqp.model.predictive_field
    monkeypatch.setattr(vmqp.model, "predictive_field", lambda *given: 2.0 * right(*given))
    assert coverage(range(size(25)))[:, 1].mean() < 0.85
