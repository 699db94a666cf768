"""An inner chain that holds a winding must not hold the parameters that were accepted by its help.

Angles wind once round a ring of places. A chain is put where a frozen field that winds three times had led it: its
energy is so high that the data look likely at a variance of 1e-6, and at that variance no sweep unwinds it.
"""

import numpy as np
import pytest

from vmqp import kernels, priors
from vmqp.learning import Learner, Method, make_problem, walker

RING = 2.0 * np.pi * np.arange(30) / 30
SEEDS = (1, 2, 3, 4)
FROZEN = np.log(1e-6)


def last_variance(seed, inner_start):
    kernel = priors.HalfNormal(1.0) * kernels.Exponential(1.0)
    angles = RING + 0.15 * np.random.default_rng(1).standard_normal(30)
    places = np.stack([np.cos(RING), np.sin(RING)], axis=1)
    problem = make_problem(places, angles, None, kernel=kernel, concentration=0.0)
    task = Learner(problem, Method(inner_start=inner_start, steps=(1.0,)), warmup=0)
    wound = np.stack([np.cos(3.0 * RING), np.sin(3.0 * RING)])[:, None]
    trapped = {"u": np.array([FROZEN]), "base": np.array([FROZEN]), "iteration": np.array(1)}
    _, chunk = task.advance(task.start(seed, 0) | {"fictitious": wound} | trapped, 120)
    return float(chunk.parameters["variance"][-1])


@pytest.mark.parametrize("inner_start", ["persistent", "aligned"])
def test_a_chain_leaves_what_a_frozen_field_led_it_to(inner_start):
    """The posterior holds the variance between 0.05 and 1; a walk needs 15 steps to come there."""
    assert all(0.02 < last_variance(seed, inner_start) < 2.0 for seed in SEEDS)


def test_it_would_stay_there_for_good_without_fresh_starts(monkeypatch):
    monkeypatch.setattr(walker, "_AFRESH", 10**9)
    assert all(last_variance(seed, "persistent") < 1e-4 for seed in SEEDS)
