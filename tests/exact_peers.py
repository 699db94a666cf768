"""What the wrapped and the projected process say exactly of two or three angles, and draws of parameters and data.

None of it uses the formulas of `vmqp.peers`. The wrapped process is taken by differences to the first location: these
are normal with the covariance D K Dᵀ, whatever the mean. The projected process is taken by the covariance of all parts
of all vectors with the mean in it, K ⊗ T + s² 1 ⊗ I; of its radii the length is integrated in closed form and the way
on the sphere by Gauss and Legendre's rule. Parameters stand on regular grids: for smooth integrands that have died out
at both ends the trapezoidal rule is exact to far more digits than are tested.
"""

import copy
import functools
import itertools

import numpy as np
from scipy import stats

from calibration import with_observed
from vmqp import kernels
from vmqp.learning import make_problem
from vmqp.peers.locations import NewLocations
from vmqp.peers.projected import ProjectedTask
from vmqp.peers.proposer import start_proposer
from vmqp.peers.wrapped import WrappedTask
from vmqp.priors import LogNormal
from vmqp.sampling import seed_streams

TWO_PI = 2.0 * np.pi

# Wrapped


def wrapped_point(K, observed, window=6):
    """At one kernel matrix of n ≤ 3 observed locations and a new one: log p(θ), E e^{iμ} and E e^{iθ*}, given θ."""
    n = len(observed)
    every = list(itertools.product(range(-window, window + 1), repeat=n - 1))
    cells = np.array(every).reshape(len(every), n - 1)
    D = np.concatenate([-np.ones((n, 1)), np.eye(n)], axis=1)  # of the locations 1, …, n − 1 and the new one
    C = D @ K @ D.T
    own, across, last = C[:-1, :-1], C[-1, :-1], C[-1, -1]
    gaps = observed[1:] - observed[0] + TWO_PI * cells
    weights = np.zeros(1)
    if n > 1:
        weights = np.atleast_1d(stats.multivariate_normal(np.zeros(n - 1), own).logpdf(gaps))
    level = np.logaddexp.reduce(weights)
    share = np.exp(weights - level)
    slope = np.linalg.solve(own, across) if n > 1 else np.zeros(0)
    new = share @ np.exp(1j * (observed[0] + gaps @ slope) - 0.5 * (last - slope @ across))
    pull = np.linalg.solve(K[:n, :n], np.ones(n))
    middle = (observed[0] + np.pad(gaps, ((0, 0), (1, 0)))) @ pull / pull.sum()
    return level, share @ np.exp(1j * middle - 0.5 / pull.sum()), new


# Projected


def matrix_of(e):
    """T = exp(E), by its eigenvalues; e is (..., 2)."""
    e = np.asarray(e, dtype=float)
    E = np.stack([np.stack([e[..., 0], e[..., 1]], -1), np.stack([e[..., 1], -e[..., 0]], -1)], -2)
    values, vectors = np.linalg.eigh(E)
    return np.einsum("...ij,...j,...kj->...ik", vectors, np.exp(values), vectors)


def covariance_of_parts(K, e, mean_scale):
    """Of all parts of all vectors, (..., 2d, 2d), location by location."""
    T, d = matrix_of(e), K.shape[-1]
    whole = np.einsum("...ij,...ab->...iajb", K, T)
    whole = whole + mean_scale**2 * np.einsum("ij,ab->iajb", np.ones((d, d)), np.eye(2))
    return whole.reshape(*whole.shape[:-4], 2 * d, 2 * d)


def _ways(d, points):
    """Points and weights on the positive part of the sphere, with Π ω_i in the weights."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    angle, step = 0.25 * np.pi * (nodes + 1.0), 0.25 * np.pi * weights
    if d == 1:
        return np.ones((1, 1)), np.ones(1)
    flat = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if d == 2:
        return flat, step * flat.prod(axis=1)
    ways = np.stack([np.outer(np.sin(angle), flat[:, 0]), np.outer(np.sin(angle), flat[:, 1])], -1)
    up = np.repeat(np.cos(angle)[:, None], points, axis=1)[..., None]
    ways = np.concatenate([ways, up], axis=-1).reshape(-1, 3)
    return ways, np.outer(step * np.sin(angle), step).ravel() * ways.prod(axis=1)


def log_density_of_angles(C, angles, points=24):
    """Of d ≤ 3 angles, (..., d), whose vectors are normal about 0 with covariance C, (..., 2d, 2d)."""
    d = angles.shape[-1]
    M = np.linalg.inv(C).reshape(*C.shape[:-2], d, 2, d, 2)
    u = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    A = np.einsum("...ia,...iajb,...jb->...ij", u, M, u)
    # Lengths of the order of the radii make the integrand round.
    root = np.sqrt(np.einsum("...ii->...i", A))
    ways, weights = _ways(d, points)
    quadratic = np.einsum("gi,...ij,gj->...g", ways, A / root[..., :, None] / root[..., None, :], ways)
    radial = 2.0 ** (d - 1) * (1.0, 1.0, 2.0)[d - 1]  # ∫ R^(2d−1) exp(−½ q R²) dR = this / q^d
    integral = radial * (weights / quadratic**d).sum(axis=-1)
    return np.log(integral) - 2.0 * np.log(root).sum(-1) - 0.5 * np.linalg.slogdet(C)[1] - d * np.log(TWO_PI)


# Posteriors on grids


class PeerPosterior:
    """Weights on a grid of standardised parameters z, with E e^{iθ*} of the new angle (and E e^{iμ}) at each point."""

    def __init__(self, axes, logs, directions):
        logs = logs - 0.5 * sum(z**2 for z in np.meshgrid(*axes, indexing="ij"))
        self.weights = np.exp(logs - logs.max())
        self.weights /= self.weights.sum()
        for i in range(len(axes)):
            edge = self.weights.sum(axis=tuple(j for j in range(len(axes)) if j != i))
            assert max(edge[0], edge[-1]) < 1e-5 * edge.max(), f"the grid has to reach further: {edge}"
        self._z = np.stack([z.ravel() for z in np.meshgrid(*axes, indexing="ij")], axis=1)
        self._directions = [direction.ravel() for direction in directions]

    def expectations(self):
        weights = self.weights.ravel()
        single = _single(self._z)
        vectors = [part for e in self._directions for part in (e.real, e.imag)]
        return weights @ _all(single, np.stack(vectors, axis=1))


def _single(z):
    return np.concatenate([np.cos(z), np.sin(z), np.ones((len(z), 1))], axis=1)


def _all(single, vectors):
    """Products of pairs of functions of the parameters, and of each of them with the unit vectors."""
    a, b = np.triu_indices(single.shape[1])
    pairs = (single[:, a] * single[:, b])[:, :-1]
    return np.concatenate([pairs, (single[:, :, None] * vectors[:, None]).reshape(len(single), -1)], axis=1)


def statistics(z, *vectors):
    """Of draws: parameters (draws, p) standardised by their prior, and complex unit vectors or their means (draws,)."""
    parts = [part for e in vectors for part in (e.real, e.imag)]
    return _all(_single(z), np.stack(parts, axis=1))


def standardised(problem, parameters, stretch_scale=0.0):
    """z of draws by name: logs of the kernel's, and both parts of the stretch."""
    columns = []
    for name in problem.exchanged:
        prior = problem.priors[name]
        columns.append((np.log(parameters[name]) - prior.mu) / prior.sigma)
    if stretch_scale:
        columns += [parameters[name] / stretch_scale for name in ("stretch_x", "stretch_y")]
    return np.stack(columns, axis=1)


def _values(problem, z):
    return {
        name: float(np.exp(problem.priors[name].mu + problem.priors[name].sigma * own))
        for name, own in zip(problem.exchanged, z, strict=False)
    }


def wrapped_posterior(problem, points=25, reach=5.5):
    axes = [np.linspace(-reach, reach, points)] * len(problem.exchanged)
    found = [
        wrapped_point(problem.bound.covariance(_values(problem, z)), problem.observed)
        for z in itertools.product(*axes)
    ]
    shape = (points,) * len(axes)
    logs, mean, new = (np.array(part).reshape(shape) for part in zip(*found, strict=True))
    return PeerPosterior(axes, logs.real, [mean, new])


def projected_posterior(problem, mean_scale, stretch_scale, points=19, reach=5.5, turns=32):
    """Over the kernel's parameters and, unless its scale is 0, the stretch; θ* on a grid of its own."""
    p = len(problem.exchanged)
    kernel_axes = [np.linspace(-reach, reach, points)] * p
    axes = kernel_axes + [np.linspace(-reach, reach, points)] * (2 if stretch_scale else 0)
    new = TWO_PI * np.arange(turns) / turns
    angles = np.concatenate([np.tile(problem.observed, (turns, 1)), new[:, None]], axis=1)
    grid = (
        np.stack(np.meshgrid(*axes[p:], indexing="ij"), -1).reshape(-1, 2)
        if stretch_scale
        else np.zeros((1, 2))
    )
    logs, directions = [], []
    for z in itertools.product(*kernel_axes):
        K = problem.bound.covariance(_values(problem, z))
        C = covariance_of_parts(K, stretch_scale * grid, mean_scale)
        both = log_density_of_angles(C[:, None], angles, points=16)  # (stretch, θ*)
        level = np.logaddexp.reduce(both, axis=1)
        logs.append(level)
        directions.append(np.exp(both - level[:, None]) @ np.exp(1j * new))
    shape = [len(axis) for axis in axes]
    return PeerPosterior(axes, np.reshape(logs, shape), [np.reshape(directions, shape)])


# Draws of parameters, latent variables and data

WIDTH = 0.9
LOCATIONS = np.array([0.0, 1.0, 1.6, 3.0, 4.2, 4.8, 6.5, 2.2, 5.5])[:, None]  # the last two are the new ones
N = 7
ITERATION = 1000  # beyond the warm-up: leaps are made, and nothing adapts


LEVELS = {"wrapped": 2.2, "narrow": 0.0}
"""Of the log variance of a wrapped process: with the first the windings are open, with the second mostly known."""
SCALES = {"mean_scale": 1.2, "stretch_scale": 0.5}


def kernel_of(process):
    variance = LogNormal(LEVELS[process], WIDTH) if process in LEVELS else 1.0
    return variance * kernels.Exponential(LogNormal(0.5, WIDTH)) + kernels.Nugget(LogNormal(-1.5, WIDTH))


def observed_problem(process, observed):
    return make_problem(LOCATIONS[:N], observed, kernel=kernel_of(process), concentration=0.0)


@functools.cache
def _task(process):
    """With the geometry of its locations, which is the same for all data."""
    problem = observed_problem(process, np.zeros(N))
    if process in LEVELS:
        task = WrappedTask(problem, ITERATION)
        assert task.nearness.shape == (N, N)
        return task
    return ProjectedTask(problem, ITERATION, **SCALES)


@functools.cache
def _whole(process):
    """The kernel at all locations."""
    return kernel_of(process).bind(LOCATIONS)


def _task_of(process, observed):
    task = copy.copy(_task(process))
    if process in LEVELS:
        task.nearness = _task(process).nearness  # a copy leaves it to the worker
    task.problem = with_observed(task.problem, observed)
    return task


def new_angles(task, chunk, rng):
    """Of the new locations together at each draw of a chunk, (draws, 2)."""
    latent = chunk.pointwise[f"latent/{task.latent}"]
    return joint_angles(task, chunk.parameters, latent, LOCATIONS[N:], rng)


def joint_angles(task, parameters, latents, X_new, rng):
    """Of some new locations together at each draw, (draws, m)."""
    new = NewLocations(task.problem, X_new)
    found = []
    for i, latent in enumerate(latents.astype(float)):
        values = {name: float(column[i]) for name, column in parameters.items()}
        given = new.given({name: values[name] for name in task.problem.exchanged})
        found.append(task.joint(values, latent, given, rng)[0])
    return np.array(found)


def _parameters(problem, rng):
    return {name: float(problem.priors[name].sample(rng)) for name in problem.exchanged}


def _angle(values):
    return np.mod(values + np.pi, TWO_PI) - np.pi


def _proposer(problem, u):
    """Proposals that fit the prior, but not too well."""
    centre = [problem.priors[name].mu for name in problem.exchanged] + [0.0] * (
        len(u) - len(problem.exchanged)
    )
    widths = [WIDTH] * len(problem.exchanged) + [SCALES["stretch_scale"]] * (len(u) - len(problem.exchanged))
    return start_proposer(u) | {
        "adaptation_mean": np.array(centre),
        "adaptation_covariance": 0.6 * np.diag(np.square(widths)),
    }


def draw_wrapped(rng, share=1.0, process="wrapped"):
    """A problem, the true parameters and angles, and the latent variables; `share` of the variance is a fault."""
    problem = _task(process).problem
    values = _parameters(problem, rng)
    L = np.linalg.cholesky(share * _whole(process).covariance(values))
    direction = rng.uniform(-np.pi, np.pi)
    y = direction + L @ rng.standard_normal(len(L))
    task = _task_of(process, _angle(y[:N]))
    u = problem.vector(values)
    state = {"u": u, "base": u, "iteration": np.array(ITERATION), "y": y[:N]} | _proposer(problem, u)
    return task, values | {"direction": direction}, _angle(y[N:]), state


def draw_projected(rng, share=1.0):
    problem = _task("projected").problem
    values = _parameters(problem, rng)
    L = np.linalg.cholesky(share * _whole("projected").covariance(values))
    e = SCALES["stretch_scale"] * rng.standard_normal(2)
    mean = SCALES["mean_scale"] * rng.standard_normal(2)
    z = mean + L @ rng.standard_normal((len(L), 2)) @ np.linalg.cholesky(matrix_of(e)).T
    angles = np.arctan2(z[:, 1], z[:, 0])
    task = _task_of("projected", angles[:N])
    u = problem.vector(values)
    state = _proposer(problem, np.append(u, e)) | {
        "u": u,
        "stretch": e,
        "radii": np.hypot(*z[:N].T),
        "mode": np.zeros(N),
        "stretch_step": np.array(np.log(0.7)),
        "iteration": np.array(ITERATION),
    }
    own = dict(zip(("mean_x", "mean_y", "stretch_x", "stretch_y"), (*mean, *e), strict=True))
    return task, values | own, angles[N:], state


DRAW = {
    "wrapped": draw_wrapped,
    "narrow": functools.partial(draw_wrapped, process="narrow"),
    "projected": draw_projected,
}


def streams_of(seed):
    return {"streams": seed_streams(np.random.SeedSequence(seed), 1)}
