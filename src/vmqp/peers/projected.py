"""A projected Gaussian process: the angle of a plane vector whose two parts are Gaussian processes.

The vectors z_i = r_i (cos θ_i, sin θ_i) have mean μ and covariance ``cov(z_i, z_j) = K_ij T`` with a 2×2 matrix T of
determinant 1; the radii r_i are not observed. In its general form T is any such matrix. Here it is ``T = exp(E)`` with

    E = [e_x e_y; e_y −e_x]:

its long axis stands at half the angle of the vector e, and the ratio of its eigenvalues is exp(2|e|). The vectors μ and
e have isotropic normal distributions, so that a rotation of the data rotates the posterior: μ by its angle, e by twice
that. The scale of z is not identified, so the kernel's variance is 1 by default.

With the mean integrated out, ``log p(r) = Σ log r_i − ½ rᵀ A r`` (`vmqp.peers.radii`). One iteration draws the radii
and moves T at given radii (`vmqp.peers.stretch`), then moves T and the kernel's parameters together with radii that
follow (`vmqp.peers.collapsed`): given radii say twice as much of the parameters as the angles do, and hold them fast.
A kept draw adds μ | r. A prediction is kriging of the vectors, whose angle has a projected normal distribution.

Reference: Wang and Gelfand (2014), "Modeling space and space-time directional data using projected Gaussian
processes".
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vmqp.chain import State
from vmqp.circle import FloatArray
from vmqp.laws import projected_normal
from vmqp.learning import Problem
from vmqp.peers.collapsed import Frame, find_frame
from vmqp.peers.locations import Conditional, factor_of, learned_factor, solved
from vmqp.peers.proposer import Proposer, start_proposer
from vmqp.peers.radii import precision_of_radii
from vmqp.peers.stretch import precisions, renew
from vmqp.peers.task import Draw, PeerTask, Walker
from vmqp.peers.walk import start_parameters
from vmqp.precision import Cholesky
from vmqp.sampling.random import fill_normal, seed_streams
from vmqp.sampling.sampler import Streams

__all__ = ["ProjectedTask"]

_CYCLES = 2  # over radii and stretch, for each move of all parameters
_FRESH = 60  # cycles over the radii at each set of parameters, for data that were not learned from
_WANTED = 0.3
_WIDEST = 1.0  # deviation of e at the start: with a vague prior it would be out of reach of the data


class ProjectedTask(PeerTask):
    """The chains of a `vmqp.peers.ProjectedGP`."""

    model = "projected Gaussian process"
    latent = "radius"
    circular = ""
    own_parameters = ("mean_x", "mean_y", "stretch_x", "stretch_y")

    def __init__(
        self, problem: Problem, warmup: int = 1000, thin: int = 1, *, mean_scale: float, stretch_scale: float
    ) -> None:
        super().__init__(problem, warmup, thin)
        self.mean_scale, self.stretch_scale = mean_scale, stretch_scale

    @property
    def options(self) -> dict[str, float]:
        """Scales of the normal distributions of μ and e."""
        return {"mean_scale": self.mean_scale, "stretch_scale": self.stretch_scale}

    @property
    def kinds(self) -> tuple[bool, bool]:
        """All parameters move together."""
        return bool(self.problem.exchanged) or self.stretch_scale > 0.0, False

    def start(self, seed: int, chain: int) -> State:
        """Parameters about the middle of their priors, and radii about one."""
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 1)))
        streams = seed_streams(np.random.SeedSequence(seed, spawn_key=(chain,)), 1)
        # In the frame of the data's mean direction, so that a rotation of the data rotates the start.
        frame = 2.0 * float(np.angle(np.exp(1j * self.problem.observed).sum()))
        turn = np.array([[math.cos(frame), -math.sin(frame)], [math.sin(frame), math.cos(frame)]])
        wide = min(self.stretch_scale, _WIDEST)
        u, e = start_parameters(self.problem, rng), wide * turn @ rng.standard_normal(2)
        return start_proposer(np.append(u, e) if self.stretch_scale else u) | {
            "u": u,
            "stretch": e,
            "radii": np.exp(0.5 * rng.standard_normal(self.problem.n)),
            "mode": np.zeros(self.problem.n),
            "stretch_step": np.array(math.log(0.5)),
            "streams": streams,
            "iteration": np.array(0),
        }

    def walker(self, state: State) -> "_Projected":
        """Resume a chain."""
        return _Projected(self, state)

    def redraw(self, sets: Sequence[dict[str, float]], seed: int) -> list[Draw]:
        """Draw the radii at given parameters; each set starts where the last one ended."""
        streams = seed_streams(np.random.SeedSequence(seed, spawn_key=(0,)), 1)
        angles, drawn = self.problem.observed, []
        radii, scratch = np.ones(len(angles)), np.empty((len(angles), len(angles)))
        for parameters in sets:
            values = {name: parameters[name] for name in self.problem.exchanged}
            e = np.array([parameters["stretch_x"], parameters["stretch_y"]])
            M = learned_factor(self.problem, values).M
            # Without a scale of its own the stretch stays as it is.
            given = (np.cos(angles), np.sin(angles), self.mean_scale, 0.0, radii, e)
            renew(streams, M, M.sum(axis=1), *given, 1.0, scratch, _FRESH)
            drawn.append(_drawn(streams, values, M, radii, e, angles, self.mean_scale))
        return drawn

    def joint(
        self, parameters: dict[str, float], latent: FloatArray, given: Conditional, rng: np.random.Generator
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Two paths in the plane, and their angle."""
        mean = np.array([parameters["mean_x"], parameters["mean_y"]])
        T = _matrix(np.array([parameters["stretch_x"], parameters["stretch_y"]]))
        z = latent[:, None] * np.column_stack([np.cos(self.problem.observed), np.sin(self.problem.observed)])
        center = mean + given.weights.T @ solved(given.L, z - mean)
        drawn = center + (given.root @ rng.standard_normal(center.shape)) @ np.linalg.cholesky(T).T
        parts = np.stack([*center.T, *(T[[0, 0, 1], [0, 1, 1]][:, None] * given.variances)])
        names = (f"projected/{name}" for name in ("x", "y", "xx", "xy", "yy"))
        return np.arctan2(drawn[:, 1], drawn[:, 0]), dict(zip(names, parts, strict=True))


class _Point(NamedTuple):
    """Parameters, with the distribution of the radii at them."""

    u: FloatArray
    e: FloatArray
    factor: Cholesky
    A: FloatArray
    """The precision of the radii."""
    log_normalizer: float
    """Of log p(r, θ), with the priors: all but Σ log r − ½ rᵀ A r."""


class _Projected(Walker):
    def __init__(self, task: ProjectedTask, state: State) -> None:
        self._task, self._problem = task, task.problem
        self._rng, self._radii = state["streams"].copy(), state["radii"].copy()
        self._mode = state["mode"].copy()
        self._u, self._e = state["u"].copy(), state["stretch"].copy()
        self._step, self._iteration = float(state["stretch_step"]), int(state["iteration"])
        count = self._u.size + (2 if task.stretch_scale else 0)
        self._proposer = Proposer(state, np.empty((count, 0)), task.warmup)
        angles = task.problem.observed
        self._cos, self._sin = np.cos(angles), np.sin(angles)
        self._scratch = np.empty((len(angles), len(angles)))
        factor = factor_of(self._problem, self._problem.values(self._u))
        assert factor is not None, "the state's parameters have a factor"
        self._factor: Cholesky = factor

    def state(self) -> State:
        return self._proposer.state() | {
            "u": self._u.copy(),
            "stretch": self._e.copy(),
            "radii": self._radii.copy(),
            "mode": self._mode.copy(),
            "stretch_step": np.array(self._step),
            "streams": self._rng.copy(),
            "iteration": np.array(self._iteration),
        }

    @property
    def iteration(self) -> int:
        return self._iteration

    @property
    def acceptance(self) -> list[float]:
        return list(self._proposer.acceptance)

    def iterate(self) -> None:
        M, task, warming = self._factor.M, self._task, self._iteration < self._task.warmup
        given = (self._cos, self._sin, task.mean_scale, task.stretch_scale, self._radii, self._e)
        rate = renew(self._rng, M, M.sum(axis=1), *given, math.exp(self._step), self._scratch, _CYCLES)
        if warming and task.stretch_scale:
            self._step += 2.0 / math.sqrt(self._iteration + 4.0) * (rate - _WANTED)
        if self._proposer.movable:
            self._move_together()
            self._proposer.adapt(self._joint(self._u, self._e), self._iteration)
        self._iteration += 1

    def _joint(self, u: FloatArray, e: FloatArray) -> FloatArray:
        return np.append(u, e) if self._task.stretch_scale else u

    def _move_together(self) -> None:
        """Propose parameters and stretch, with the radii that keep their coordinates."""
        p = self._u.size
        proposal = self._proposer.propose(self._rng, self._joint(self._u, self._e), 0, self._iteration)
        u, e = proposal.u[:p], proposal.u[p:] if self._task.stretch_scale else self._e
        gain, moved = -math.inf, None
        values = self._problem.values(u)
        factor = (
            factor_of(self._problem, values) if math.isfinite(self._problem.log_prior(u, values)) else None
        )
        if factor is not None:
            current, proposed = self._point(self._u, self._e, self._factor), self._point(u, e, factor)
            first = find_frame(current.A, np.exp(self._mode))
            second = None if first is None else find_frame(proposed.A, np.exp(first.mode))
            if first is not None and second is not None:
                self._mode = first.mode  # a start for the next search, no more
                moved = second.radii(first.rest(self._radii))
                gain = _log_density(proposed, moved, second) - _log_density(current, self._radii, first)
                gain += proposal.log_back
        if self._proposer.judge(self._rng, 0, gain, self._iteration) and moved is not None:
            assert factor is not None
            self._u, self._e, self._factor, self._radii = u.copy(), e.copy(), factor, moved

    def _point(self, u: FloatArray, e: FloatArray, factor: Cholesky) -> _Point:
        weights = factor.M.sum(axis=1)
        ones, spread = float(weights.sum()), self._task.mean_scale**2
        A = np.empty_like(factor.M)
        inverse, mean = precisions(e, ones, self._task.mean_scale)
        precision_of_radii(factor.M, weights, self._cos, self._sin, inverse, mean, A)
        size = math.hypot(*e)
        normalizer = -factor.log_determinant + self._problem.log_prior(u)
        for part in (size, -size):  # ½ log(1 + s² S / λ)
            normalizer -= 0.5 * float(np.logaddexp(0.0, math.log(spread * ones) - part))
        if self._task.stretch_scale:
            normalizer -= 0.5 * (size / self._task.stretch_scale) ** 2
        return _Point(u, e, factor, A, normalizer)

    def draw(self) -> Draw:
        values, M = self._problem.values(self._u), self._factor.M
        observed = self._problem.observed
        return _drawn(self._rng, values, M, self._radii, self._e, observed, self._task.mean_scale)


def _drawn(
    streams: Streams,
    values: dict[str, float],
    M: FloatArray,
    radii: FloatArray,
    e: FloatArray,
    observed: FloatArray,
    mean_scale: float,
) -> Draw:
    """Draw μ given the vectors, and keep it with the radii."""
    z = radii[:, None] * np.column_stack([np.cos(observed), np.sin(observed)])
    weights = M.sum(axis=1)
    T, inverse = _matrix(e), _matrix(-e)
    numbers = np.empty(2)
    fill_normal(streams, 0, numbers)
    # μ | z is normal with precision S T⁻¹ + 1/s².
    precision = float(weights.sum()) * inverse + np.eye(2) / mean_scale**2
    root = np.linalg.cholesky(precision)
    mean = np.linalg.solve(precision, inverse @ (weights @ z)) + np.linalg.solve(root.T, numbers)
    left_out = z - (M @ (z - mean)) / M.diagonal()[:, None]
    spread = T[[0, 0, 1], [0, 1, 1]]
    likelihood = projected_normal(observed, *left_out.T, *(spread[:, None] / M.diagonal()))
    own = dict(zip(ProjectedTask.own_parameters, [*mean.tolist(), *e.tolist()], strict=True))
    return Draw(values | own, {"log_likelihood/angle": likelihood, "latent/radius": radii.copy()})


def _log_density(point: _Point, radii: FloatArray, frame: Frame) -> float:
    """Of the parameters and the radii's coordinates: Σ log r once for the plane, once for the logarithm."""
    logs = float(np.log(radii).sum())
    return point.log_normalizer + 2.0 * logs - 0.5 * float(radii @ point.A @ radii) - frame.log_volume


def _matrix(e: FloatArray) -> FloatArray:
    """exp of the symmetric matrix without trace that e stands for; its inverse is that of −e."""
    size = math.hypot(*e)
    ratio = math.sinh(size) / size if size > 1e-8 else 1.0
    return np.array(
        [[math.cosh(size) + ratio * e[0], ratio * e[1]], [ratio * e[1], math.cosh(size) - ratio * e[0]]]
    )
