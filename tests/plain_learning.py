"""Cases of `plain_cases`: learning, the peers, joint draws, and predictions one location at a time."""

from dataclasses import replace

import numpy as np

from bridges import ends
from learners import CASES as METHODS
from learners import problem as dense_problem
from simulations import make_task
from sparse_problems import problem as sparse_problem
from vmqp import kernels, priors
from vmqp.learning import Learner, Method
from vmqp.learning.bridging import AugmentedBridge, HeatBathBridge, cross
from vmqp.learning.inner import energy_gradients
from vmqp.learning.objective import Ruled, observed_angles
from vmqp.learning.optimum import Maximum, Search
from vmqp.learning.point import factorised
from vmqp.learning.pseudolikelihood import maximize
from vmqp.learning.variational import bessel_ratio, mean_field
from vmqp.peers import radii, stretch, windings
from vmqp.peers.collapsed import find_frame
from vmqp.peers.projected import ProjectedTask
from vmqp.peers.wrapped import WrappedTask
from vmqp.posterior import mixture
from vmqp.posterior.components import ProjectedNormal, VonMises, WrappedNormal
from vmqp.precision.kriging import Kriging
from vmqp.sampling import seed_streams
from vmqp.sampling.augmented import augmentation
from vmqp.sampling.sampler import unit_vectors

SHORT = {"inner_steps": 2, "outer_steps": 1, "cheap_moves": 1}
ENOUGH = 1000
"""A warm-up that is far from over: its long probes of the inner chain come later."""


def settled(problem):
    """A start that is the same to the last digit: a search would make rounding larger."""
    zeros = np.zeros(len(problem.learned))
    maximum = Maximum(Search(Ruled(observed_angles(problem), None, prior=True)), zeros, 0.0, zeros)
    maximum.__dict__["_whole"] = 0.1 * np.eye(len(zeros))
    return maximum


def walked(name, task, iterations=2):
    """The state after some iterations, and what they left."""
    if isinstance(task, Learner):
        task.__dict__["maximum"] = settled(task.problem)
    state, chunk = task.advance(task.start(seed=11, chain=0), iterations)
    groups = (state, chunk.parameters, chunk.angles, chunk.stats, chunk.pointwise)
    return {f"{name}, {key}": value for group in groups for key, value in group.items()}


# Learning


def exchange():
    found = {}
    for name in (
        "noiseless",
        "noisy",
        "mean drift",
        "several kernels",
        "drag, noisy",
        "heat bath",
        "augmented",
    ):
        model, method = METHODS[name]
        found |= walked(name, Learner(dense_problem(**model), Method(**(SHORT | method)), 0, pointwise=True))
    return found | walked("adapting", Learner(dense_problem(), Method(**SHORT), ENOUGH))


def exchange_by_bridges():
    found = {}
    for name in ("bridge", "augmented bridge"):
        model, method = METHODS[name]
        found |= walked(name, Learner(dense_problem(**model), Method(**(SHORT | method)), 0))
    return found


def exchange_on_neighbours():
    found = {}
    for name in ("noiseless", "noisy", "mean drift"):
        given = sparse_problem(4, **METHODS[name][0])
        found |= walked(name, Learner(given, Method(**SHORT), 0, pointwise=True))
    return found | walked("adapting", Learner(sparse_problem(4), Method(**SHORT), ENOUGH))


def bridging():
    found = {}
    first, second = ends(7)
    for name in ("heat bath", "double augmentation"):
        rng, x = seed_streams(3, 1), unit_vectors(np.linspace(-3.0, 2.0, 7)[None])
        roots = augmentation(first, "scalar"), augmentation(second, "scalar")
        way = HeatBathBridge(first, second) if name == "heat bath" else AugmentedBridge(first, second, roots)
        found[f"{name}, logs"] = cross(rng, first, second, x, 3, way)
        found |= {f"{name}, x": x, f"{name}, streams": rng}
    return found


def slopes():
    """Sums at two factorisations, and their difference; the maximum that chains start from."""
    turns, found = np.random.default_rng(4).uniform(-np.pi, np.pi, (3, 12)), {}
    for name, given in (("dense", dense_problem()), ("neighbours", sparse_problem(4))):
        u = np.full(len(given.exchanged), 0.1)
        point = factorised(given, u, given.values(u))
        found[name] = energy_gradients(given, point, 0.4, turns)
        found[f"{name}, maximum"] = maximize(given).u.round(6)
    return found


def variational():
    rng = np.random.default_rng(5)
    root = rng.normal(size=(5, 5))
    stiff = 40.0 * (root @ root.T) + np.eye(5)
    found = {"ratio": bessel_ratio([0.0, 1e-8, 1.0, 31.9, 32.1, 1e8])}
    for name, coupling, field in (
        ("stiff", stiff, rng.normal(size=(5, 2))),
        ("soft", 0.02 * stiff, rng.normal(size=(5, 2))),
        ("no field", np.diag([1.0, 2.0, 3.0]), np.zeros((3, 2))),
    ):
        fit = mean_field(coupling, field, tolerance=1e-8)
        found |= {f"{name}, means": fit.means, f"{name}, bound": fit.bound, f"{name}, sweeps": fit.sweeps}
    return found


# Peers


def numbers_of_turns():
    """Laws from all but fixed to wide, about an integer, a half, and a number beside which one is nothing."""
    rng = seed_streams(2, 1)
    deviations = (1e-200, 0.02, 0.3, 1.0, 5.0, 25.0, 1e6)
    drawn = [
        windings.discrete_normal(rng, centre, deviation)
        for deviation in deviations
        for centre in (0.0, 0.3, -1.5, 1234.25, 1e17)
        for _ in range(6)
    ]
    return {"drawn": np.array(drawn, dtype=float), "streams": rng}


def turns():
    """A matrix with a constant in its kernel, a row of zeros, and too few places for groups."""
    rng, found = seed_streams(3, 1), {}
    for n in (2, 6):
        root = np.random.default_rng(n).normal(size=(n, n))
        precision = np.linalg.inv(root @ root.T + 5.0 * np.eye(n))
        weights = precision.sum(axis=1)
        P = precision - np.outer(weights, weights / weights.sum())
        order = np.argsort(-precision, axis=1)
        without = P * np.outer(np.arange(n) > 0, np.arange(n) > 0)
        for name, matrix in (("all", P), ("without one", without), ("nothing", np.zeros((n, n)))):
            y = np.linspace(-3.0, 3.0, n)
            product = matrix @ y
            windings.turn_places(rng, y, matrix, 9.0, product)
            windings.turn_groups(rng, y, matrix, 9.0, product, order, 8)
            found |= {f"{n}, {name}, y": y, f"{n}, {name}, product": product}
    return found | {"streams": rng}


def lengths():
    """Radii with a pull forward and far back, and matrices that rounding has spoilt."""
    rng = seed_streams(4, 1)
    pulls = (-30.0, -2.0, -1.2, -0.5, 0.0, 3.0, 50.0)
    drawn = [radii.draw_radius(rng, a, b) for a in (0.5, 2.0) for b in pulls for _ in range(12)]
    matrix = np.array([[2.0, 0.3, -0.1], [0.3, 1.5, 0.2], [-0.1, 0.2, -1.0]])
    own, same = np.array([0.5, 1.0, 2.0]), np.array([0.5, 1.0, 2.0])
    radii.sweep(rng, matrix, own)
    radii.rescale(rng, matrix, own)
    radii.rescale(rng, -np.eye(3), same)
    frame = find_frame(matrix + 2.0 * np.eye(3), np.ones(3))
    return {
        "drawn": drawn,
        "own": own,
        "same": same,
        "mode": frame.mode,
        "upper": frame.upper,
        "streams": rng,
    }


def stretches():
    angles = np.array([0.1, 1.4, 2.0, -2.5])
    root = np.random.default_rng(8).normal(size=(4, 4))
    precision, found = np.linalg.inv(root @ root.T + np.eye(4)), {}
    for scale, first in ((0.5, 0.3), (0.0, 0.0), (2.0, 300.0)):
        rng, own, e = seed_streams(5, 1), np.ones(4), np.array([first, 0.0])
        given = (precision, precision.sum(axis=1), np.cos(angles), np.sin(angles), 2.0, scale, own, e)
        rate = stretch.renew(rng, *given, 0.4, np.empty((4, 4)), 2)
        found |= {
            f"{first}, {key}": value for key, value in zip(("rate", "r", "e"), (rate, own, e), strict=True)
        }
        found[f"{first}, streams"] = rng
    return found


def peers():
    given = dense_problem(concentration=0.0)
    given = replace(given, X=given.X[: given.n])
    found = walked("wrapped", WrappedTask(given, 0), 3)
    for scale in (0.5, 0.0):
        task = ProjectedTask(given, 0, mean_scale=2.0, stretch_scale=scale)
        found |= walked(f"projected, {scale}", task, 3)
    return found


# Predictions


def joint_draws():
    return walked("joint", make_task(side=2, neighbors=4))


def kriging():
    """Nearest neighbors by the program of a kernel, and by covariances of a function of the user's."""
    rng = np.random.default_rng(6)
    X, X_new, values = rng.normal(size=(9, 2)), rng.normal(size=(3, 2)), rng.normal(size=(2, 9, 2))
    X_new[0] = X[4]
    sets = {"lengthscale": np.array([0.8, 1.3]), "variance": np.array([1.0, 0.4])}
    scale = priors.LogNormal(0, 1)
    found = {}
    for name, kernel in (
        ("program", scale * kernels.Matern32(scale) + kernels.Nugget(0.1)),
        ("without nugget", scale * kernels.Exponential(scale)),
        ("function", kernels.Custom(near) + kernels.Nugget(0.1)),
    ):
        kriged = Kriging(kernel, X, values, sets, neighbors=4).at(X_new)
        found |= {f"{name}, {part}": value for part, value in kriged._asdict().items()}
    return found


def near(a, b):
    return np.exp(-np.abs(a - b).sum(axis=1))


def mixtures():
    """Tables that go round the circle and that do not, with one mode and two; ends of arcs that cross the cut."""
    rng = np.random.default_rng(7)
    turns = rng.normal(size=(6, 4)) * [0.1, 0.1, 0.5, 2.0] + [0.0, 3.1, 1.0, 2.0]
    turns[:3, 1] -= 2.0
    components = VonMises(turns, rng.uniform(0.5, 1.0, (6, 4)) * [400.0, 4000.0, 30.0, 1.0])
    truth = np.array([0.05, -3.1, 4.0, 2.0])
    return {
        "half": mixture.shortest_arcs(components, 0.5),
        "most": mixture.shortest_arcs(components, 0.99),
        "cdf": mixture.cdf(components, np.stack([truth, truth + 2.0], axis=1)),
        "arc score": mixture.arc_score(components, truth),
    }


def densities():
    """Wrapped normal distributions, narrow and wide; projected ones, ahead of their mean, across and far behind it."""
    angle = np.linspace(-3.0, 3.0, 7)[:, None]
    wrapped = WrappedNormal(np.zeros((1, 6)), np.array([[1e-8, 0.1, 2.0, 3.5, 20.0, 300.0]]))
    x, one = np.array([[0.0, 0.5, 3.0, 40.0, -8.0]]), np.ones((1, 5))
    projected = ProjectedNormal(x, 0.3 * x, one, 0.2 * one, 0.5 * one)
    return {
        "wrapped": wrapped.log_density(angle),
        "projected": projected.log_density(angle),
        "moment, real": projected.moment().real,
        "moment, imaginary": projected.moment().imag,
    }


CASES = {
    own.__name__: own
    for own in (
        exchange,
        exchange_by_bridges,
        exchange_on_neighbours,
        bridging,
        slopes,
        variational,
        numbers_of_turns,
        turns,
        lengths,
        stretches,
        peers,
        joint_draws,
        kriging,
        mixtures,
        densities,
    )
}
