"""Whether the learner draws from the posterior where that is not known: help for two tests without a reference.

Both rest on draws from the joint law of parameters w, angles φ and data θ, which are easy: w from the prior, φ at w
by a long chain, θ from φ.

*Calibration* (Talts et al. 2018, Modrák et al. 2023): given the data, the true values are a draw of the posterior like
any other. So the rank of a true value among L draws is uniform on 0 … L, for every function of w, φ and θ. The
empirical distribution of the ranks of N replications has to stay in an envelope (Säilynoja, Bürkner and Vehtari 2022).

*Geweke's test* (2004): redraw the data given all else after each iteration of the learner. The chain then draws from
the joint law, so its parameters follow the prior.
"""

import dataclasses
import functools
import math
from typing import NamedTuple

import numpy as np
from scipy import stats

from vmqp import kernels, model
from vmqp.circle import wrap
from vmqp.learning import Learner, Method, Problem, make_problem
from vmqp.learning.moves import Counters, make_sampler, move
from vmqp.learning.point import fields_target, sums
from vmqp.learning.walker import Walker
from vmqp.precision import factorise
from vmqp.priors import LogNormal
from vmqp.sampling import sample_angles, seed_streams
from vmqp.sampling.sampler import unit_vectors

# Uniform ranks


def _bounds(miss, replications, draws):
    """Binomial quantiles for the counts of ranks ≤ k, k = 0 … L; each misses `miss`, one half on either side."""
    share = np.arange(1, draws + 2) / (draws + 1)
    lower = stats.binom.ppf(0.5 * miss, replications, share)
    above = stats.binom.ppf(0.5 * miss, replications, 1.0 - share)
    return lower.astype(int), (replications - above).astype(int)


def _coverage(lower, upper, replications, draws):
    """The probability that the counts of uniform ranks stay between bounds everywhere: exact, by recursion.

    Independent Poisson numbers of each rank, given that their total is N, are the numbers of N uniform ranks. So the
    recursion over k is a convolution with one law.
    """
    counts = np.arange(replications + 1)
    one = stats.poisson.pmf(counts, replications / (draws + 1))
    kept = np.where(counts == 0, 1.0, 0.0)
    for low, high in zip(lower, upper, strict=True):
        kept = np.convolve(kept, one)[: replications + 1]
        kept[(counts < low) | (counts > high)] = 0.0
    return float(kept[-1] / stats.poisson.pmf(replications, replications))


@functools.cache
def envelope(replications, draws, coverage=0.99):
    """Lower and upper counts of ranks ≤ 0, …, ≤ L, which hold those of uniform ranks all at once.

    They do so with the given probability, or a little more: counts are whole numbers.
    """
    low, high = math.log(1e-9 * (1.0 - coverage)), math.log(1.0 - coverage)
    for _ in range(30):
        middle = 0.5 * (low + high)
        bounds = _bounds(math.exp(middle), replications, draws)
        if _coverage(*bounds, replications, draws) >= coverage:
            low = middle
        else:
            high = middle
    return _bounds(math.exp(low), replications, draws)


def counts_of(ranks, draws):
    """Numbers of ranks ≤ 0, …, ≤ L."""
    return np.cumsum(np.bincount(ranks, minlength=draws + 1))


def rank_p_value(ranks, draws):
    """One minus the coverage of the widest envelope that the ranks leave: uniform for uniform ranks, but for steps."""
    n, counts = len(ranks), counts_of(ranks, draws)
    share = np.arange(1, draws + 2) / (draws + 1)
    tails = stats.binom.cdf(counts, n, share), stats.binom.cdf(n - counts, n, 1.0 - share)
    miss = 2.0 * min(tail.min() for tail in tails)
    return 1.0 - _coverage(*_bounds(min(1.0, miss * (1.0 + 1e-9)), n, draws), n, draws)


# The joint law

_WIDTH = 0.6
_PRIOR, _NOISE = LogNormal(0.0, _WIDTH), LogNormal(1.0, _WIDTH)
_PLACES = np.array([0, 1, 3, 4, 6, 7, 9, 10, 2, 5, 8, 11.0])[:, None]  # a row; the last four are the new ones
_N = 8
_WARMUP = 400
_STEPS = 200
"""Steps of the hybrid sampler to draw angles, after the 500 in which it tunes itself.

Where parameters come from this prior it forgets its start in about 10 (`inner.needed_steps`: 3 to 10, and the
correlation falls by e⁻³ in each such stretch), so a draw is as good as exact.
"""


class World(NamedTuple):
    """One draw from the joint law."""

    problem: Problem
    values: dict[str, float]
    angles: np.ndarray
    """All d of them."""
    log_density: float


def problem_of(observed, noise):
    return make_problem(
        _PLACES[:_N],
        observed,
        _PLACES[_N:],
        kernel=_PRIOR * kernels.Exponential(_PRIOR),
        concentration=_PRIOR,
        noise=_NOISE if noise else None,
    )


def draw_world(noise, seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(np.zeros(_N), noise)
    values = {name: float(prior.sample(rng)) for name, prior in problem.priors.items()}
    M = factorise(problem.bound.covariance({name: values[name] for name in ("variance", "lengthscale")})).M
    np.fill_diagonal(M, 0.0)  # as in the learner's statistic "energy"
    field = model.drift_field(M, values["concentration"], values["direction"], "constant")
    angles = sample_angles(M, field, draws=1, thin=_STEPS, seed=int(rng.integers(2**32)))[0]
    observed = rng.vonmises(angles[:_N], values["noise"]) if noise else angles[:_N]
    problem = with_observed(problem, observed)
    level = -float(model.energy(angles, M, field))
    return World(problem, values, angles, level + noise_term(problem, angles, values))


def with_observed(problem, observed):
    """The same problem with other data; what was computed from the places is kept."""
    changed = dataclasses.replace(problem, observed=observed)
    kept = {name: value for name, value in vars(problem).items() if name not in vars(changed)}
    vars(changed).update(kept)
    return changed


def noise_term(problem, angles, values):
    """Log-density of the data at latent angles (…, d); none without noise."""
    if problem.noise is None:
        return 0.0
    return model.noise_log_likelihood(problem.observed, angles[..., :_N], np.asarray(values["noise"])[..., None])


@functools.cache
def _tuned(noise):
    """A chain's state after its warm-up, on one set of data: its tunings serve all the others."""
    learner = Learner(draw_world(noise, 0).problem, warmup=_WARMUP)
    return learner.advance(learner.start(1, 0), _WARMUP)[0]


def state_at(world, seed):
    """The state of a chain that starts at the truth, which is a draw from its posterior, and adapts no more."""
    problem, values = world.problem, world.values
    x = unit_vectors(world.angles[None])
    u = problem.vector(values)
    noise_u = 0.0 if problem.noise is None else problem.noise.to_unconstrained(values["noise"])
    return _tuned(problem.noise is not None) | {
        "streams": seed_streams(np.random.SeedSequence(seed), 1),
        "x": x,
        "fictitious": x,
        "u": u,
        "base": u,
        "direction": np.array(values["direction"]),
        "noise": np.array(noise_u),
    }


# Ranks

DRAWS, _THIN, _FORGET = 50, 8, 8


def quantities(world, values, angles, level):
    """What is ranked, of one draw or of many: parameters, two angles, and the density of all that is drawn.

    ν is taken relative to the mean direction of the data, about which it lies: else its rank would tell little.
    """
    middle = np.angle(np.exp(1j * world.problem.observed).sum())
    named = {name: wrap(value - middle) if name == "direction" else value for name, value in values.items()}
    for i in (_N, -1):
        named |= {f"cos {i}": np.cos(angles[..., i]), f"sin {i}": np.sin(angles[..., i])}
    return named | {"log-density": level}


def draws_of(world, seed, draws=DRAWS, thin=_THIN, forget=_FORGET):
    """The quantities of draws after the start is forgotten."""
    problem = world.problem
    learner = Learner(problem, warmup=_WARMUP, thin=thin)
    _, chunk = learner.advance(state_at(world, seed), thin * (forget + draws))
    values = {name: drawn[forget:] for name, drawn in chunk.parameters.items()}
    angles = np.concatenate([chunk.angles[name] for name in ("latent", "angle") if name in chunk.angles], axis=1)
    if problem.noise is None:
        angles = np.concatenate([np.tile(problem.observed, (len(angles), 1)), angles], axis=1)
    angles = angles[forget:]
    level = -chunk.stats["energy"][forget:] + noise_term(problem, angles, values)
    return quantities(world, values, angles, level)


def ranks(noise, replications, seed):
    """Ranks of the true values of all quantities, by name."""
    found = []
    for k in range(replications):
        world = draw_world(noise, [seed, k])
        truth = quantities(world, world.values, world.angles, world.log_density)
        drawn = draws_of(world, [seed, k, 1])
        found.append({name: int((drawn[name] < truth[name]).sum()) for name in truth})
    return {name: np.array([row[name] for row in found]) for name in found[0]}


# Geweke

_SWEEPS = 3


def joint_means(noise, chains, iterations, seed):
    """Means over each chain of functions of the parameters and angles; the chains start at draws from the joint law."""
    return np.array([_joint_chain(noise, iterations, [seed, k]).mean(axis=0) for k in range(chains)])


def _joint_chain(noise, iterations, seed):
    world = draw_world(noise, [*seed, 0])
    walker = Walker(world.problem, Method(), _WARMUP, state_at(world, [*seed, 1]))
    rng, streams = np.random.default_rng([*seed, 2]), seed_streams(np.random.SeedSequence([*seed, 3]), 1)
    rows = []
    for _ in range(iterations):
        walker.iterate()
        _redraw(walker, rng, streams)
        rows.append(_functions(walker))
    return np.array(rows)


def _redraw(walker, rng, streams):
    """New data given the parameters: noisy ones exactly; without noise some sweeps of all angles, new places too."""
    if walker.noise is None:
        sampler = make_sampler("heatbath", fields_target(walker.point, walker.direction), None)
        walker.x, _ = move(streams, sampler, walker.x, Counters(np.empty(0), np.zeros((), np.int64)), _SWEEPS)
        walker.known = sums(walker.point.base, walker.x)
    observed = np.arctan2(walker.x[1, 0, :_N], walker.x[0, 0, :_N])
    if walker.noise is not None:
        observed = rng.vonmises(observed, walker.noise)
    walker.problem = with_observed(walker.problem, observed)


def _functions(walker):
    """Cosine and sine of each parameter's logarithm, in units of its deviation, and of ν; products; those of angles."""
    z = (walker.point.u) / _WIDTH
    if walker.noise is not None:
        z = np.append(z, (walker.noise_u - 1.0) / _WIDTH)
    z = np.append(z, walker.direction)
    single = np.concatenate([np.cos(z), np.sin(z)])
    a, b = np.triu_indices(len(single))
    return np.concatenate([single, single[a] * single[b], walker.x.ravel()])


def joint_expectations(noise):
    """Of the functions: for a normal z, E cos z = e^(−1/2) and E cos 2z = e^(−2); the parameters are independent."""
    k = 5 if noise else 4
    one, two = np.full(k, math.exp(-0.5)), np.full(k, math.exp(-2.0))
    one[-1] = two[-1] = 0.0  # ν is uniform, and so is each angle
    single = np.concatenate([one, np.zeros(k)])
    products = np.outer(single, single)
    np.fill_diagonal(products, 0.5 * np.concatenate([1.0 + two, 1.0 - two]))
    return np.concatenate([single, products[np.triu_indices(2 * k)], np.zeros(2 * len(_PLACES))])
