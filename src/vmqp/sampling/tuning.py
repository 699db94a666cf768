"""Step size of HMC by dual averaging, in warm-up only (Hoffman and Gelman 2014, section 3.2).

The adaptation's counters are an array of a sampler's state, so that a chain can stop and go on at any step.
"""

import math

import numpy as np

from vmqp.sampling.target import Array

__all__ = ["adapted", "frozen", "start_tuning", "step_size"]

_STEP, _AVERAGE, _ERROR, _COUNT, _CENTRE = range(5)
_GAMMA, _DELAY, _DECAY = 0.05, 10.0, 0.75


def start_tuning(step: float) -> Array:
    """Counters before the first adaptation.

    >>> step_size(start_tuning(0.25))
    0.25
    """
    log_step = math.log(step)
    return np.array([log_step, log_step, 0.0, 0.0, log_step + math.log(2.0)])


def adapted(tuning: Array, acceptance: float, wanted: float) -> Array:
    """Counters after a move that was accepted with the probability ``acceptance``."""
    new = tuning.copy()
    new[_COUNT] += 1.0
    weight = 1.0 / (new[_COUNT] + _DELAY)
    new[_ERROR] += weight * (wanted - acceptance - new[_ERROR])
    new[_STEP] = new[_CENTRE] - math.sqrt(new[_COUNT]) / _GAMMA * new[_ERROR]
    share = new[_COUNT] ** -_DECAY
    new[_AVERAGE] += share * (new[_STEP] - new[_AVERAGE])
    return new


def frozen(tuning: Array) -> Array:
    """Counters whose step size is the average over the warm-up."""
    new = tuning.copy()
    new[_STEP] = new[_AVERAGE]
    return new


def step_size(tuning: Array) -> float:
    """The step size now in force."""
    return math.exp(tuning[_STEP])
