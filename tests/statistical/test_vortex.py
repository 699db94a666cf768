"""Angles that wind once round: far from what the model expects before it sees them.

Fields drawn from the model hardly ever wind, and one that winds does not unwind soon. An inner chain that starts at the
observed angles then ends where it began, whatever its autocorrelation time says, and the parameters are wrong.
"""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from vmqp import kernels, priors
from vmqp.learning import Learner, Method, make_problem
from vmqp.run import run_chains

TURN = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
PLACES = np.column_stack([np.cos(TURN), np.sin(TURN)])
KERNEL = priors.HalfNormal(1) * kernels.Exponential(3.0) + kernels.Nugget(0.02)

# Means of log κ and log σ² and their standard errors, from 2 chains of 2,500 draws with inner chains of 60 steps.
LONG = {"concentration": (-2.699, 0.017), "variance": (-0.348, 0.010)}


def deviations(method):
    """How far the means of a run are from those of the long one, in standard errors of both."""
    problem = make_problem(PLACES, TURN, kernel=KERNEL)
    tree = run_chains(Learner(problem, method, warmup=500), chains=2, draws=1500, seed=3, progress=False)
    result = []
    for name, (wanted, error) in LONG.items():
        draws = np.log(tree.posterior[name].values)
        size = float(array_stats.ess(draws, chain_axis=0, draw_axis=1))
        result.append((draws.mean() - wanted) / np.hypot(draws.std() / np.sqrt(size), error))
    return np.abs(result)


@pytest.mark.statistical
def test_the_length_that_the_probes_ask_for_is_enough():
    """Five standard errors are allowed: a false alarm in 1,000,000 runs."""
    assert deviations(Method()).max() < 5.0


@pytest.mark.statistical
@pytest.mark.filterwarnings("ignore::vmqp.ConvergenceWarning")
def test_short_inner_chains_from_the_observed_angles_would_be_caught():
    """The planted fault: the paper's start."""
    assert deviations(Method(inner_start="angles", inner_steps=3)).max() > 20.0
