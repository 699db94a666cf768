"""Laws small enough for quadrature, and what every sampler is asked on them, whatever the form of its coupling."""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

import vmqp
from references import StiffTarget, chain_moments, exact_moments, p_value, size
from vmqp.sampling import build_sampler, make_target, seed_streams


class Case(NamedTuple):
    """A target small enough for quadrature."""

    coupling: np.ndarray
    field: np.ndarray


def case(diagonal, pairs, field):
    d = len(diagonal)
    coupling = np.diag(np.asarray(diagonal, float))
    coupling[np.triu_indices(d, 1)] = pairs
    return Case(np.triu(coupling) + np.triu(coupling, 1).T, np.asarray(field, float).reshape(d, 2))


CASES = {
    "1-uniform": case([0], [], [0, 0]),
    "1-weak-field": case([-2], [], [0.3, -0.2]),
    "1-strong-field": case([3], [], [-8, 5]),
    "2-weak-attraction": case([0, 0], [-1.5], [0, 0, 0, 0]),
    "2-repulsion-field": case([-1, -4], [2], [1, 0.5, -0.4, 0.2]),
    "2-strong-attraction-field": case([11, 12], [-10], [0.5, 0.2, 0, -0.3]),
    "2-strong-repulsion": case([-3, 2], [10], [0, 0, 0, 0]),
    "2-no-coupling": case([1, -1], [0], [1, -1, 0, 4]),
    "3-mixed-signs": case([4, 3, 5], [-2, 1, 1.5], [0.4, 0.1, -0.5, 0, 0, 0.3]),
    "3-frustrated": case([0, 0, 0], [3, 3, 3], [0, 0, 0, 0, 0, 0]),
    "3-frustrated-field": case([0, -2, 1], [1.5, 2, 1], [0.6, 0, 0, 0.6, 0.2, -0.3]),
    "3-strong-field": case([-3, -3, -3], [-10, 4, -8], [0, 0, 0, 0, 1.0, 0.5]),
    "3-chain": case([2, 2, 2], [6, 0, -6], [0.3, 0.4, 0, 0, 0, 0]),
    "3-field-wins": case([1, 1, 1], [0.5, -0.5, 0.25], [6, 0, -3, 3, 0, -5]),
}


@cache
def expected(name):
    return exact_moments(*CASES[name])


def suite_p_value(name, sampler, options, *, form=np.asarray, chains=256, draws=200, seed=1):
    """Chains from the sampler's own start, all first and second moments against quadrature.

    `form` makes of the matrix what the sampler is given.
    """
    coupling, field = CASES[name]
    angles = vmqp.sample_angles_batch(
        form(coupling),
        field,
        chains=chains,
        draws=size(draws),
        warmup=150,
        sampler=sampler,
        seed=seed,
        **options,
    )
    return p_value(chain_moments(angles), expected(name))


def moved(target, kind, options, starts, steps):
    """``starts`` (C, d) after some steps, with the tuning that other chains have found."""
    sampler = build_sampler(kind, target, options)
    others = seed_streams(11, 50)
    tuned = sampler.warm_up(others, sampler.init(others, starts[-50:]), 300)
    rng = seed_streams(12, len(starts))
    state = sampler.init(rng, starts)._replace(tuning=tuned.tuning)
    return sampler.run(rng, state, 1, steps)[1][:, 0]


# Stiff: condition number 1e6


def _kernel_precision(places):
    """Gaussian kernel, its length scale such that the condition number is 1e6."""
    places = np.asarray(places)

    def kernel(scale):
        return np.exp(-0.5 * ((places[:, None] - places) / scale) ** 2)

    scale = np.exp(brentq(lambda log: np.log(np.linalg.cond(kernel(np.exp(log))) / 1e6), 0.0, 10.0))
    precision = np.linalg.inv(kernel(scale))
    return 0.5 * (precision + precision.T)


STIFF = {
    "2-close-pair": (_kernel_precision([0.0, 1.0]), np.array([[1.0, 0.5], [-0.3, 0.8]])),
    "3-smooth": (_kernel_precision([0.0, 1.0, 2.5]), np.array([[1.0, 0.0], [0.0, 0.5], [-0.4, 0.2]])),
    "3-smooth-no-field": (_kernel_precision([0.0, 1.0, 2.0]), np.zeros((3, 2))),
    "3-two-scales": (
        np.array([[500_001.0, -5e5, 0.0], [-5e5, 500_201.0, -200.0], [0.0, -200.0, 201.0]]),
        np.array([[0.0, 0.0], [0.0, 0.0], [2.0, -1.0]]),
    ),
}


@cache
def stiff_target(name):
    return StiffTarget(*STIFF[name])


def stiff_p_value(name, kind, options, steps, form=np.asarray):
    """Exact draws after some steps: all moments, and the stiff coordinates at their own scale."""
    reference = stiff_target(name)
    coupling, field = STIFF[name]
    starts = reference.draws(size(6000), seed=7)
    ends = moved(make_target(form(coupling), field), kind, options, starts, steps)
    return p_value(reference.statistics(ends), reference.expectations())
