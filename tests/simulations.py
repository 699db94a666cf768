"""Small simulations for tests: stations, a grid, and tasks at given parameters."""

import numpy as np

from vmqp import kernels, priors
from vmqp.learning import make_problem
from vmqp.regression.simulate import SimulationTask

N = 25
SETS = {"variance": np.array([0.6, 0.9, 0.5]), "lengthscale": np.array([0.8, 1.2, 0.6])}
KERNEL = priors.HalfNormal(1) * kernels.Matern32(priors.LogNormal(0, 1)) + kernels.Nugget(0.02)


def stations(n=N, seed=4):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2)) * 3.0
    return X, np.sin(1.3 * X[:, 0]) + 0.6 * X[:, 1] + 0.1 * rng.normal(size=n)


def square(side):
    line = np.linspace(0.0, 3.0, side)
    return np.array([(x, y) for y in line for x in line])


def make_task(
    side=7, *, neighbors=12, sets=SETS, drift="mean", noise=None, kernel=KERNEL, rows=None, **options
):
    """New locations in a square, drawn in the order of `rows`, as if sorted in space."""
    X, y = stations()
    locations = square(side)
    rows = np.random.default_rng(1).permutation(len(locations)) if rows is None else rows
    options = {"concentration": 0.4, "direction": 0.5} | options
    problem = make_problem(
        X, y, locations[rows], kernel=kernel, drift=drift, noise=noise, neighbors=neighbors, **options
    )
    return SimulationTask(problem, dict(sets), rows)
