"""Small problems and learners on which learning is tested."""

import pickle

import numpy as np

from vmqp import kernels, priors
from vmqp.learning import Learner, Method, make_problem

H = priors.HalfNormal(1.0)
BROAD = priors.LogNormal(0.0, 0.8)
RNG = np.random.default_rng(3)
X = np.sort(RNG.uniform(0.0, 4.0, 8))[:, None]
ANGLES = np.sin(X[:, 0]) + 0.3 * RNG.standard_normal(8)
X_NEW = RNG.uniform(0.0, 4.0, (4, 1))
ONE = BROAD * kernels.Exponential(BROAD)
SEVERAL = BROAD * kernels.Exponential(BROAD) + H * kernels.Gaussian(1.0) + kernels.Nugget(H)
NOTHING = 1.0 * kernels.Exponential(1.0)


def problem(kernel=ONE, new=X_NEW, angles=ANGLES, **options):
    return make_problem(X, angles, new, kernel=kernel, **options)


def triangle(a, b, width):
    """A user's own kernel; at the top of the module, so that it can be pickled."""
    return np.maximum(0.0, 1.0 - np.abs(a[:, 0] - b[:, 0]) / width)


CASES = {
    "noiseless": ({}, {}),
    "noisy": ({"noise": BROAD}, {}),
    "fixed noise": ({"noise": 3.0}, {}),
    "mean drift": ({"drift": "mean"}, {}),
    "mean drift, noisy": ({"drift": "mean", "noise": BROAD}, {}),
    "bridge": ({}, {"bridge": 3}),
    "augmented bridge": ({}, {"bridge": 3, "bridging": "augmented"}),
    "from the angles": ({}, {"inner_start": "angles"}),
    "aligned start": ({}, {"inner_start": "aligned"}),
    "bridge from the angles": ({"noise": BROAD}, {"bridge": 2, "inner_start": "angles"}),
    "drag": ({}, {"drag": 3}),
    "drag, noisy": ({"noise": BROAD}, {"drag": 2}),
    "several kernels": ({"kernel": SEVERAL}, {}),
    "several kernels, mean drift": ({"kernel": SEVERAL, "drift": "mean"}, {}),
    "heat bath": ({}, {"sampler": "heatbath"}),
    "augmented": ({}, {"sampler": "augmented"}),
    "augmented, noisy": ({"noise": BROAD}, {"sampler": "augmented"}),
    "fixed steps": ({}, {"steps": (0.3, 0.4, 0.5)}),
    "fixed steps and direction": ({}, {"steps": (0.3, 0.4, 0.5, 0.6)}),
    "given lengths": ({}, {"inner_steps": 4, "outer_steps": 2, "cheap_moves": 3}),
    "no drift": ({"concentration": 0.0}, {}),
    "fixed direction": ({"direction": 0.5}, {}),
    "no new places": ({"new": None}, {}),
    "no new places, noisy": ({"new": None, "noise": BROAD}, {}),
    "only the concentration": ({"kernel": NOTHING}, {}),
    "no common scale": ({"kernel": kernels.Exponential(BROAD), "concentration": 0.5}, {}),
    "custom kernel": ({"kernel": BROAD * kernels.Custom(triangle, width=BROAD)}, {}),
}
WARMUP, TOTAL = 55, 80
"""Leaps begin at iteration 50, so that there are some before and after the end of the warm-up."""


def learner(name, warmup=WARMUP, thin=1):
    model, method = CASES[name]
    return Learner(problem(**model), Method(**method), warmup, thin)


def in_pieces(task, state, pieces):
    """Advance by some numbers of iterations; return the last state and all draws."""
    chunks = []
    for iterations in pieces:
        state, chunk = task.advance(state, iterations)
        chunks.append({**chunk.parameters, **chunk.angles, **chunk.stats})
    draws = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}
    return state, draws


def check_cuts(task, pieces, before_each=lambda: None):
    """Draws in one piece are those in several, each with a task that was pickled; return the draws.

    A pickled task has lost its matrices, its graph and its maximum.
    """
    start = task.start(seed=11, chain=0)
    before = {key: value.copy() for key, value in start.items()}
    end, draws = in_pieces(task, start, [sum(pieces)])
    assert same(start, before), "the given state stays as it is"
    assert int(end["iteration"]) == sum(pieces)
    state, found = start, []
    for iterations in pieces:
        before_each()
        state, chunk = in_pieces(pickle.loads(pickle.dumps(task)), state, [iterations])
        found.append(chunk)
    assert same(state, end)
    assert same({key: np.concatenate([chunk[key] for chunk in found]) for key in draws}, draws)
    return draws


def same(one, other):
    """Whether two sets of arrays agree in every bit."""
    return one.keys() == other.keys() and all(
        one[name].dtype == other[name].dtype
        and one[name].shape == other[name].shape
        and one[name].tobytes() == other[name].tobytes()
        for name in one
    )
