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

_SETS = 100_000


def _tails(replications, draws):
    """For k = 0 … L and c = 0 … N: twice the smaller of P(C ≤ c) and P(C ≥ c), C the count of uniform ranks ≤ k."""
    share, counts = np.arange(1, draws + 2)[:, None] / (draws + 1), np.arange(replications + 1)
    below = stats.binom.cdf(counts, replications, share)
    above = stats.binom.cdf(replications - counts, replications, 1.0 - share)
    return 2.0 * np.minimum(below, above)


@functools.cache
def _simulated(replications, draws):
    """The smallest tail of each of many sets of uniform ranks, sorted."""
    rng, tails, found = np.random.default_rng(20220315), _tails(replications, draws), []
    for _ in range(20):
        sets = rng.multinomial(replications, np.full(draws + 1, 1.0 / (draws + 1)), _SETS // 20)
        found.append(tails[np.arange(draws + 1), sets.cumsum(axis=1)].min(axis=1))
    return np.sort(np.concatenate(found))


@functools.cache
def envelope(replications, draws, coverage=0.99):
    """Lower and upper counts of ranks ≤ 0, …, ≤ L, which hold those of uniform ranks all at once.

    They do so for the given share of the simulated sets, or a little more: counts are whole numbers. All counts of the
    envelope have the same tail or a larger one.
    """
    smallest = _simulated(replications, draws)[math.floor((1.0 - coverage) * _SETS)]
    inside = _tails(replications, draws) >= smallest
    return inside.argmax(axis=1), replications - inside[:, ::-1].argmax(axis=1)


def counts_of(ranks, draws):
    """Numbers of ranks ≤ 0, …, ≤ L."""
    return np.cumsum(np.bincount(ranks, minlength=draws + 1))


def is_inside(ranks, draws, coverage):
    """Whether the counts of ranks lie in the envelope."""
    lower, upper = envelope(len(ranks), draws, coverage)
    counts = counts_of(ranks, draws)
    return bool(((lower <= counts) & (counts <= upper)).all())


def rank_p_value(ranks, draws):
    """The share of sets of uniform ranks that are as far out."""
    n = len(ranks)
    own = _tails(n, draws)[np.arange(draws + 1), counts_of(ranks, draws)].min()
    return (1 + int(np.searchsorted(_simulated(n, draws), own, side="right"))) / (1 + _SETS)


def exact_coverage(lower, upper, replications, draws):
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


# The joint law

_WIDTH = 0.6
_PRIOR, _NOISE = LogNormal(0.0, _WIDTH), LogNormal(1.0, _WIDTH)
_PLACES = np.array([0, 1, 3, 4, 6, 7, 9, 10, 2, 5, 8, 11.0])[:, None]  # a row; the last four are the new ones
_N = 8
_WARMUP = 400
_STEPS = 200
"""Steps of the hybrid sampler to draw angles, after the 500 in which it tunes itself.

Where parameters come from this prior, `inner.needed_steps` finds 3 to 5 steps (in 80 draws of the prior), after which
e⁻³ of the start is left. So 200 steps are 40 such stretches or more: a draw is as good as exact.
"""


class World(NamedTuple):
    """One draw from the joint law."""

    problem: Problem
    values: dict[str, float]
    angles: np.ndarray
    """All d of them."""
    energy: float


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
    field = model.drift_field(M, values["concentration"], values["direction"], "constant")
    angles = sample_angles(M, field, draws=1, thin=_STEPS, seed=int(rng.integers(2**32)))[0]
    observed = rng.vonmises(angles[:_N], values["noise"]) if noise else angles[:_N]
    problem = with_observed(problem, observed)
    # The learner's energy leaves out the diagonal. This one shares no code with it.
    return World(problem, values, angles, float(model.energy(angles, M - np.diag(np.diag(M)), field)))


def with_observed(problem, observed):
    """The same problem with other data; what was computed from the places is kept."""
    changed = dataclasses.replace(problem, observed=observed)
    kept = {name: value for name, value in vars(problem).items() if name not in vars(changed)}
    vars(changed).update(kept)
    return changed


@functools.cache
def tuned(noise):
    """A chain's state after its warm-up, on one set of data: its tunings serve all the others."""
    learner = Learner(draw_world(noise, 0).problem, warmup=_WARMUP)
    return learner.advance(learner.start(1, 0), _WARMUP)[0]


def state_at(world, seed):
    """The state of a chain that starts at the truth, which is a draw from its posterior, and adapts no more."""
    problem, values = world.problem, world.values
    x = unit_vectors(world.angles[None])
    u = problem.vector(values)
    noise_u = 0.0 if problem.noise is None else problem.noise.to_unconstrained(values["noise"])
    return tuned(problem.noise is not None) | {
        "streams": seed_streams(np.random.SeedSequence(seed), 1),
        "x": x,
        "fictitious": x,
        "u": u,
        "base": u,
        "direction": np.array(values["direction"]),
        "noise": np.array(noise_u),
    }


# Ranks

DRAWS, _FORGET = 50, 60
_THIN = {False: 5, True: 6}
"""Iterations from draw to draw, without noise and with it.

Autocorrelation times are 1 to 6 iterations without noise and 1 to 12 with it, 7 in the mean of the slowest quantity.
So 60 iterations forget the start, and draws are nearly independent. The correlation that is left, 0.13 at a time of 6,
makes the lowest and the highest rank 3 % more frequent and moves the distribution function of ranks by 0.003 (0.009 at
a time of 12); the envelope of 200 replications reaches 0.14 to either side.
"""


def quantities(world, values, angles, energy):
    """What is ranked, of one draw or of many: parameters, two latent angles, energy and likelihood.

    ν is taken relative to the mean direction of the data, about which it lies: the cut of the circle is then far away.
    """
    problem = world.problem
    middle = np.angle(np.exp(1j * problem.observed).sum())
    named = {name: wrap(value - middle) if name == "direction" else value for name, value in values.items()}
    for i in (problem.latent.start, problem.d - 1):
        named |= {f"cos {i}": np.cos(angles[..., i]), f"sin {i}": np.sin(angles[..., i])}
    named["energy"] = energy
    if problem.noise is not None:
        chi = np.asarray(values["noise"])[..., None]
        named["likelihood"] = model.noise_log_likelihood(problem.observed, angles[..., :_N], chi)
    return named


def draws_of(world, seed, draws=DRAWS, thin=None, forget=_FORGET):
    """The quantities of draws after the start is forgotten."""
    problem = world.problem
    thin = _THIN[problem.noise is not None] if thin is None else thin
    learner = Learner(problem, warmup=_WARMUP, thin=thin)
    first = forget // thin
    _, chunk = learner.advance(state_at(world, seed), thin * (first + draws))
    values = {name: drawn[first:] for name, drawn in chunk.parameters.items()}
    angles = [chunk.angles[name] for name in ("latent", "angle") if name in chunk.angles]
    if problem.noise is None:
        angles = [np.tile(problem.observed, (first + draws, 1)), *angles]
    angles = np.concatenate(angles, axis=1)[first:]
    return quantities(world, values, angles, chunk.stats["energy"][first:])


def ranks(noise, replications, seed):
    """Ranks of the true values of all quantities, by name."""
    found = []
    for k in range(replications):
        world = draw_world(noise, [seed, k])
        truth = quantities(world, world.values, world.angles, world.energy)
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
    z = walker.point.u / _WIDTH
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
