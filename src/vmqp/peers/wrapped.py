"""A wrapped Gaussian process: y = θ + 2πk on the line, with unknown winding numbers k.

The observed θ is what is left of y ~ N(μ, K) when whole turns are lost. The mean μ has a uniform distribution on the
circle. As k and k + 1 with μ and μ + 2π are the same, that is a flat distribution on the line for one of each such
class, and μ is integrated out:

    log p(θ, k | w) = −½ log|K| − ½ log 1ᵀM1 − ½ yᵀPy + const,    P = M − M11ᵀM / 1ᵀM1.

So a rotation of the data rotates the posterior. One iteration draws the winding numbers (`vmqp.peers.windings`), then
moves the parameters (`vmqp.peers.walk`). A kept draw adds μ | k. A prediction is kriging on the line, wrapped.

References: Jona-Lasinio, Gelfand and Jona-Lasinio (2012), "Spatial analysis of wave direction data using wrapped
Gaussian processes".
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from vmqp.chain import State
from vmqp.circle import TWO_PI, FloatArray
from vmqp.laws import wrapped_normal
from vmqp.learning import Problem
from vmqp.peers.locations import Conditional, learned_factor, nearest_first, solved
from vmqp.peers.task import Draw, PeerTask, Walker
from vmqp.peers.walk import ParameterWalk, start_walk
from vmqp.peers.windings import turn_groups, turn_places
from vmqp.precision import Cholesky
from vmqp.sampling.random import fill_normal, seed_streams
from vmqp.sampling.sampler import Streams

__all__ = ["WrappedTask"]

_GROUPS = 20  # sets of neighbors whose winding is drawn in an iteration
_CYCLES = 30  # over the windings at each set of parameters, for data that were not learned from
_BLUR = 0.7  # of the log distances by which chains start with different windings


class _Sums(NamedTuple):
    log_determinant: float
    ones: float
    """1ᵀM1"""
    quadratic: float
    """yᵀPy"""
    locations: int


class WrappedTask(PeerTask):
    """The chains of a `vmqp.peers.WrappedGP`."""

    model = "wrapped Gaussian process"
    latent = "winding"
    circular = "direction"
    own_parameters = ("direction",)

    def start(self, seed: int, chain: int) -> State:
        """Parameters from the middle of their priors, and the angles unwrapped along a random tree of neighbors."""
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 1)))
        streams = seed_streams(np.random.SeedSequence(seed, spawn_key=(chain,)), 1)
        walk = start_walk(self.problem, rng)
        K = self.problem.bound.covariance(self.problem.values(walk["u"]))
        return walk | {"streams": streams, "y": _unwrapped(K, self.problem.observed, rng)}

    def walker(self, state: State) -> "_Wrapped":
        """Resume a chain."""
        return _Wrapped(self.problem, self.nearness, self.warmup, state)

    @cached_property
    def nearness(self) -> NDArray[np.int64]:
        """For each observed location all of them, the nearest first, by the kernel in the middle of its priors."""
        bound = self.problem.bound
        return nearest_first(
            bound.covariance({name: prior.typical() for name, prior in bound.parameters.items()})
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "nearness"}

    def redraw(self, sets: Sequence[dict[str, float]], seed: int) -> list[Draw]:
        """Draw the windings at given parameters; each set starts where the last one ended."""
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, 1)))
        streams = seed_streams(np.random.SeedSequence(seed, spawn_key=(0,)), 1)
        problem, drawn = self.problem, []
        kernel = [{name: values[name] for name in problem.exchanged} for values in sets]
        y = _unwrapped(problem.bound.covariance(kernel[0]), problem.observed, rng)
        for values in kernel:
            M = learned_factor(problem, values).M
            P = _without_mean(M)
            for _ in range(_CYCLES):
                product = P @ y
                turn_places(streams, y, P, 1.0, product)
                turn_groups(streams, y, P, 1.0, product, self.nearness, _GROUPS)
            drawn.append(_drawn(streams, values, M, y, problem.observed))
        return drawn

    def joint(
        self, parameters: dict[str, float], latent: FloatArray, given: Conditional, rng: np.random.Generator
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        """A path on the line, wrapped."""
        mean = parameters["direction"]
        gap = self.problem.observed + TWO_PI * latent - mean
        center = mean + given.weights.T @ solved(given.L, gap[:, None])[:, 0]
        angles = _on_circle(center + given.root @ rng.standard_normal(len(center)))
        return angles, {"wrapped/mean": _on_circle(center), "wrapped/variance": given.variances}


class _Wrapped(Walker):
    def __init__(self, problem: Problem, order: NDArray[np.int64], warmup: int, state: State) -> None:
        self._observed, self._order = problem.observed, order
        self._walk = ParameterWalk(problem, warmup, state)
        self._rng = state["streams"].copy()
        self._y = state["y"].copy()
        self._projected: tuple[Cholesky, FloatArray] | None = None

    def state(self) -> State:
        return self._walk.state() | {"streams": self._rng.copy(), "y": self._y.copy()}

    def iterate(self) -> None:
        P, scale = self._P(), self._walk.scale
        product = P @ self._y
        turn_places(self._rng, self._y, P, scale, product)
        turn_groups(self._rng, self._y, P, scale, product, self._order, _GROUPS)
        self._walk.move(self._rng, self._sums, _log_likelihood)

    @property
    def iteration(self) -> int:
        return self._walk.iteration

    @property
    def acceptance(self) -> list[float]:
        return self._walk.acceptance

    def draw(self) -> Draw:
        M = self._walk.factor.M / self._walk.scale
        return _drawn(self._rng, self._walk.values, M, self._y, self._observed)

    def _P(self) -> FloatArray:
        factor = self._walk.factor
        if self._projected is None or self._projected[0] is not factor:
            self._projected = factor, _without_mean(factor.M)
        return self._projected[1]

    def _sums(self, factor: Cholesky) -> _Sums:
        middle = self._y - self._y.mean()  # P has no use for a constant, and its digits would be lost
        both = solved(factor.L, np.column_stack([middle, np.ones(len(middle))]))
        ones = float(both[:, 1] @ both[:, 1])
        rest = both[:, 0] - both[:, 1] * (float(both[:, 0] @ both[:, 1]) / ones)
        return _Sums(factor.log_determinant, ones, float(rest @ rest), len(middle))


def _without_mean(M: FloatArray) -> FloatArray:
    """P = M − M11ᵀM / 1ᵀM1."""
    weights = M.sum(axis=1)
    return np.asarray(M - np.outer(weights, weights / weights.sum()))


def _drawn(
    streams: Streams, values: dict[str, float], M: FloatArray, y: FloatArray, observed: FloatArray
) -> Draw:
    """Draw μ given unwrapped angles y, and keep both; turns that μ and y share are taken off both."""
    weights = M.sum(axis=1)
    ones = float(weights.sum())
    numbers = np.empty(1)
    fill_normal(streams, 0, numbers)
    mean = float(weights @ y) / ones + numbers[0] / math.sqrt(ones)
    direction = float(_on_circle(mean))
    own = M.diagonal()
    left_out = y - (M @ (y - mean)) / own
    return Draw(
        values | {"direction": direction},
        {
            "log_likelihood/angle": wrapped_normal(observed, left_out, 1.0 / own),
            "latent/winding": np.round((y - observed - (mean - direction)) / TWO_PI),
        },
    )


def _log_likelihood(sums: _Sums, scale: float) -> float:
    """Of the angles and their windings where the kernel matrix is multiplied by `scale`."""
    free = (sums.locations - 1) * math.log(scale)
    return -0.5 * (sums.log_determinant + math.log(sums.ones) + free + sums.quadratic / scale)


def _on_circle(values: FloatArray | float) -> FloatArray:
    return np.asarray(np.remainder(np.asarray(values) + np.pi, TWO_PI) - np.pi)


def _unwrapped(K: FloatArray, angles: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Each angle within half a turn of its neighbor on a tree of near locations, which chance blurs."""
    n = len(angles)
    if n == 1:
        return angles.copy()
    spread = K.diagonal()[:, None] + K.diagonal() - 2.0 * K
    blur = np.exp(_BLUR * rng.standard_normal((n, n)))
    lengths = np.triu(np.maximum(spread, 1e-12) * blur, 1)
    tree = minimum_spanning_tree(lengths)
    order, before = breadth_first_order(tree, int(rng.integers(n)), directed=False)
    y = angles.copy()
    for i in order[1:]:
        y[i] += TWO_PI * round((y[before[i]] - y[i]) / TWO_PI)
    return y
