"""Where chains start: around the maximum pseudo-likelihood on the observed places, over-dispersed between chains."""

import numpy as np

from vmqp.chain import State
from vmqp.circle import FloatArray, wrap
from vmqp.errors import NotPositiveDefiniteError
from vmqp.learning.method import Method
from vmqp.learning.moves import angles_support, fields_support, make_sampler, start_counters
from vmqp.learning.optimum import Maximum
from vmqp.learning.point import Point, angles_target, factorised, fields_target, tells_observed_apart
from vmqp.learning.problem import Problem
from vmqp.learning.proposals import start_adaptation
from vmqp.precision import factorise
from vmqp.sampling.random import seed_streams

__all__ = ["start"]

_SPREAD = 2.0  # standard deviations, so that chains start further apart than they will be
_PROBES = 5
_TRIES = 20
_SHORTER, _STEP = 20, 0.3  # times that a length scale is shortened, by so much in logs
_LITTLE = 2
_LEAP_RATE = 0.3  # acceptance of leaps before there were any


def start(problem: Problem, method: Method, maximum: Maximum, seed: int, chain: int) -> State:
    """Return the state of a chain before its first iteration."""
    own = np.random.SeedSequence(seed, spawn_key=(chain,))
    streams = seed_streams(own, 1)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 1)))
    point = _over_dispersed(problem, maximum, rng)
    direction = problem.direction.typical() if problem.direction.is_fixed else maximum.direction
    if not problem.direction.is_fixed and not problem.no_drift:
        direction = float(wrap(direction + 0.5 * rng.standard_normal()))
    noise_u, noise = 0.0, None
    if problem.noise is not None:
        noise = maximum.values.get("noise", problem.noise.typical())
        if not problem.noise.is_fixed:
            noise_u = float(problem.noise.to_unconstrained(noise)) + 0.5 * rng.standard_normal()
            noise = float(problem.noise.from_unconstrained(noise_u))
    pull = problem.noise_of(noise)
    # Angles are drawn in the frame of the data's mean direction, so that a rotation of the data rotates the start.
    frame = float(np.angle(np.exp(1j * problem.observed).sum()))
    x = np.ones((2, 1, problem.d))
    x[:, 0, : problem.n] = np.stack([np.cos(problem.observed - frame), np.sin(problem.observed - frame)])
    inner = make_sampler(
        method.sampler, fields_target(point, direction - frame), fields_support(method.sampler, point)
    )
    inner_counters = start_counters(inner, streams)
    fictitious = _turned(inner.init(streams).x, frame)
    outer_counters = inner_counters
    if problem.latent.start < problem.d:
        latent = angles_target(problem, point, x, direction - frame, pull, frame)
        support = angles_support(method.sampler, problem, point, latent, pull)
        outer = make_sampler(method.sampler, latent, support)
        outer_counters = start_counters(outer, streams)
        x[:, :, problem.latent] = _turned(outer.init(streams).x, frame)
    if problem.noise is None:  # not by turning back: what was observed stays as it is to the last bit
        x[:, 0, : problem.n] = np.stack([np.cos(problem.observed), np.sin(problem.observed)])
    adaptation = start_adaptation(maximum.u, maximum.covariance)
    return {
        "streams": streams,
        "x": x,
        "fictitious": fictitious,
        "u": point.u,
        "base": point.base.u,
        "direction": np.array(direction),
        "noise": np.array(noise_u),
        "iteration": np.array(0),
        "outer_tuning": outer_counters.tuning,
        "outer_steps": outer_counters.steps,
        "inner_tuning": inner_counters.tuning,
        "inner_steps": inner_counters.steps,
        "probes": np.zeros(_PROBES, np.int64),
        "leap_rates": np.full(2, _LEAP_RATE),
    } | {f"adaptation_{name}": value for name, value in adaptation._asdict().items()}


def _over_dispersed(problem: Problem, maximum: Maximum, rng: np.random.Generator) -> Point:
    """A point near the maximum whose kernel matrix of all d places has a factor.

    The maximum knows the observed places only. Where new ones are denser, its length scale can be too long for them:
    then shorter ones are tried. Where the observed places are the trouble, only a little shorter ones are: beyond, the
    data would be explained by what can be computed and not by what is likely.
    """
    shift = np.linalg.cholesky(maximum.covariance) @ rng.standard_normal(len(maximum.u))
    shorter = np.array([1.0 if name.startswith("lengthscale") else 0.0 for name in problem.exchanged])
    for step in range(_TRIES + _SHORTER):
        if step == _TRIES + _LITTLE and not tells_observed_apart(problem, maximum.u):
            break
        u = maximum.u + _SPREAD * 0.7 ** min(step, _TRIES) * shift
        u = u - _STEP * max(0, step - _TRIES + 1) * shorter
        values = problem.values(u)
        point = factorised(problem, u, values)
        if point is not None and np.isfinite(problem.log_prior(u, values)):
            return point
    if not problem.is_sparse:  # names the two rows that are closest
        factorise(problem.bound.covariance(problem.kernel_values(problem.values(maximum.u))))
    raise NotPositiveDefiniteError(
        "no parameters near the maximum pseudo-likelihood give all places a usable kernel matrix: "
        "add a kernels.Nugget, or remove places that are closer than the kernel can tell apart."
    )


def _turned(x: FloatArray, angle: float) -> FloatArray:
    """Unit vectors (2, 1, m), all turned by one angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * x[0] - s * x[1], s * x[0] + c * x[1]])
