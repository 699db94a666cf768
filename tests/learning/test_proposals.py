"""Proposals: the algebra of their two blocks, the law of walks and leaps, and the adaptation.

Statistical comparisons fail by chance with the probability RATE = 1e-6 each. A leap without the ratio of its
densities is planted, and seen by the same comparison.
"""

import numpy as np
import pytest
from scipy import stats

from references import RATE, p_value, size
from vmqp import kernels
from vmqp.learning import Learner, Method, make_problem
from vmqp.learning.proposals import Adaptation, adapted, directions, leap, start_adaptation, walk
from vmqp.priors import LogNormal
from vmqp.sampling import seed_streams

FREEDOM = 6  # degrees of freedom of a leap's t law


def covariance(p, seed=0):
    root = np.random.default_rng(seed + p).normal(size=(p, p))
    return root @ root.T + 0.2 * np.eye(p)


def cheap_directions(p, q, seed=1):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(p, max(q, 1))))[0][:, :q]


CASES = [(1, 0), (1, 1), (2, 1), (2, 2), (3, 0), (4, 2), (5, 1), (5, 2)]
SIZES = pytest.mark.parametrize(("p", "q"), CASES)


def law(p, q):
    mean = np.random.default_rng(p).normal(size=p)
    return start_adaptation(mean, covariance(p)), cheap_directions(p, q)


# Blocks


@SIZES
def test_both_blocks_together_reproduce_the_covariance(p, q):
    """A factorised step and a cheap one, each of its stated law: their covariances add up to Σ."""
    state, cheap = law(p, q)
    blocks = directions(state, cheap)
    steps = [block.columns @ block.root for block in blocks]
    total = sum(step @ step.T for step in steps)
    np.testing.assert_allclose(total, state.covariance + 1e-6 * np.eye(p), rtol=1e-10, atol=1e-12)
    assert [step.shape for step in steps] == [(p, p - q), (p, q)]


@SIZES
def test_a_blocks_coordinates_have_the_stated_mean_and_covariance(p, q):
    state, cheap = law(p, q)
    sigma = state.covariance + 1e-6 * np.eye(p)
    for block in directions(state, cheap):
        np.testing.assert_allclose(block.mean, block.coordinates @ state.mean, atol=1e-14)
        own = block.coordinates @ sigma @ block.coordinates.T
        np.testing.assert_allclose(own, block.root @ block.root.T, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(block.whiten @ block.root, np.eye(len(block.mean)), atol=1e-10)


@SIZES
def test_moves_of_one_block_leave_the_others_coordinates(p, q):
    """Each block's columns change its own coordinates one by one, and none of the other's."""
    factorised, cheap = directions(*law(p, q))
    np.testing.assert_allclose(factorised.coordinates @ factorised.columns, np.eye(p - q), atol=1e-12)
    np.testing.assert_allclose(cheap.coordinates @ cheap.columns, np.eye(q), atol=1e-12)
    np.testing.assert_allclose(factorised.coordinates @ cheap.columns, np.zeros((p - q, q)), atol=1e-12)
    np.testing.assert_allclose(cheap.coordinates @ factorised.columns, np.zeros((q, p - q)), atol=1e-12)


@pytest.mark.parametrize("cheap", [np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])])
def test_cheap_moves_leave_the_expensive_coordinates_to_the_last_bit(cheap):
    """A length scale that changed in its last bit would ask for a factorisation."""
    block = directions(start_adaptation(np.array([0.1, 0.2, 0.3]), covariance(3)), cheap).cheap
    rng, u = seed_streams(1, 1), np.array([0.7, 0.123456789, -0.4])
    for _ in range(50):
        assert walk(rng, u, block.columns @ block.root).u[1] == u[1]
        assert leap(rng, u, block).u[1] == u[1]


def test_the_cheap_coordinates_follow_on_their_regression_line():
    state = start_adaptation(np.zeros(2), np.array([[1.0, 0.8], [0.8, 1.0]]))
    both = directions(state, np.array([[1.0], [0.0]]))
    np.testing.assert_allclose(both.factorised.columns, [[0.8], [1.0]], atol=1e-5)
    np.testing.assert_allclose(both.cheap.root, [[0.6]], atol=1e-5)


def test_a_collapsed_covariance_still_gives_directions():
    """A chain that has not moved yet has no spread; a proposal must not stand still for ever."""
    state = Adaptation(np.zeros(3), np.zeros((3, 3)), np.zeros(()), np.zeros(3))
    for block in directions(state, cheap_directions(3, 1)):
        assert np.isfinite(block.whiten).all()
        assert (block.root.diagonal() > 0.0).all()


# Walks


def test_a_walk_does_not_look_at_where_it_stands():
    columns = covariance(3)
    one, other = (walk(seed_streams(5, 1), u, columns) for u in (np.zeros(3), np.array([3.0, -1.0, 2.0])))
    np.testing.assert_allclose(one.u, other.u - [3.0, -1.0, 2.0], rtol=1e-13, atol=1e-13)
    assert one.log_back == other.log_back == 0.0


@pytest.mark.statistical
def test_a_walk_is_symmetric_and_has_its_covariance():
    """Odd moments vanish; second moments are those of the columns."""
    columns = np.array([[1.0, 0.0], [-0.5, 0.3], [0.2, 2.0]])
    rng, n = seed_streams(2, 1), size(10_000)
    steps = np.array([walk(rng, np.zeros(3), columns).u for _ in range(n)])
    a, b = np.triu_indices(3)
    sigma = columns @ columns.T
    values = np.concatenate([steps, steps**3, steps[:, a] * steps[:, b]], axis=1)
    assert p_value(values, np.concatenate([np.zeros(6), sigma[a, b]])) > RATE


# Leaps


def coordinates_law(block):
    return stats.multivariate_t(loc=block.mean, shape=block.root @ block.root.T, df=FREEDOM)


@SIZES
def test_the_way_back_of_a_leap_is_the_ratio_of_t_densities(p, q):
    """Of the block's coordinates; those of the other block stay as they are."""
    blocks = directions(*law(p, q))
    rng, u = seed_streams(3, 1), np.random.default_rng(4).normal(size=p)
    for block, other in (blocks, blocks[::-1]):
        if not len(block.mean):
            continue
        density = coordinates_law(block)
        for _ in range(10):
            proposal = leap(rng, u, block)
            now, there = block.coordinates @ u, block.coordinates @ proposal.u
            back = density.logpdf(now) - density.logpdf(there)
            assert proposal.log_back == pytest.approx(back, rel=1e-9, abs=1e-9)
            np.testing.assert_allclose(other.coordinates @ proposal.u, other.coordinates @ u, atol=1e-12)


def test_a_leap_does_not_look_at_where_it_stands():
    block = directions(*law(3, 1)).factorised
    ends = [leap(seed_streams(6, 1), u, block).u for u in (np.zeros(3), np.array([3.0, -1.0, 2.0]))]
    one, other = (block.coordinates @ end for end in ends)
    np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.statistical
def test_a_leap_lands_by_its_t_law():
    """The squared distance, whitened and divided by k, is F with k and 6 degrees of freedom."""
    block = directions(*law(5, 2)).factorised
    rng, k = seed_streams(7, 1), len(block.mean)
    gaps = [block.coordinates @ leap(rng, np.zeros(5), block).u - block.mean for _ in range(size(5000))]
    whitened = np.array(gaps) @ block.whiten.T
    assert stats.kstest((whitened**2).sum(axis=1) / k, stats.f(k, FREEDOM).cdf).pvalue > RATE
    # Each coordinate has a symmetric t law; signs of products see a correlation that is left over.
    for column in whitened.T:
        assert stats.kstest(column, stats.t(FREEDOM).cdf).pvalue > RATE
    a, b = np.triu_indices(k, 1)
    assert p_value(np.sign(whitened[:, a] * whitened[:, b]), np.zeros(len(a))) > RATE


MEANS = np.array([[-1.0, 0.5], [1.5, -0.5]])


def log_target(u):
    """Two bumps of different width: nothing like a t law."""
    return np.logaddexp(-2.0 * ((u - MEANS[0]) ** 2).sum(-1), -0.7 * ((u - MEANS[1]) ** 2).sum(-1))


def draws_of_the_target(n, seed):
    rng = np.random.default_rng(seed)
    weights = np.array([1.0 / 2.0, 1.0 / 0.7])  # the volumes under the bumps
    which = (rng.uniform(size=n) < weights[1] / weights.sum()).astype(int)
    spread = np.sqrt([0.25, 0.5 / 0.7])[which]
    return MEANS[which] + spread[:, None] * rng.standard_normal((n, 2))


def balance_p_values(block, n, seed):
    """Exact draws, one Metropolis step by a leap: are both ends exchangeable, and is the law unchanged?

    With the ratio of the t densities, and without it.
    """
    before, streams = draws_of_the_target(n, seed), seed_streams(seed, 1)
    proposals = [leap(streams, u, block) for u in before]
    there, log_back = np.array([p.u for p in proposals]), np.array([p.log_back for p in proposals])
    gain = log_target(there) - log_target(before)
    threshold = np.log(np.random.default_rng(seed + 1).uniform(size=n))

    def features(u):
        return np.stack([u[:, 0], u[:, 1], np.tanh(u[:, 0]), np.tanh(u[:, 0] * u[:, 1]), log_target(u)])

    def p(log_ratio):
        f, g = features(before), features(np.where((threshold < log_ratio)[:, None], there, before))
        a, b = np.triu_indices(len(f), 1)
        exchanged = f[a] * g[b] - f[b] * g[a]
        return p_value(np.concatenate([exchanged, g - f]).T, np.zeros(len(a) + len(f)))

    return p(gain + log_back), p(gain)


@pytest.mark.statistical
@pytest.mark.parametrize("q", [0, 1])
def test_leaps_are_in_detailed_balance_with_any_target(q):
    """Of both coordinates, and of one while the other stays."""
    state = start_adaptation(np.array([0.8, 0.2]), np.array([[1.5, -0.5], [-0.5, 0.8]]))
    block = directions(state, np.array([[0.6], [0.8]])[:, :q]).factorised
    right, without = balance_p_values(block, size(15_000), seed=8)
    assert right > RATE
    assert without < RATE, "a missing ratio is seen"


# Adaptation


@pytest.mark.statistical
def test_adaptation_finds_the_moments_of_a_correlated_stream():
    """An AR(1) stream with known mean and covariance; the bound is six standard errors, a rate of 2e-9 an entry.

    Weights that grow linearly count as 3/4 of the draws; correlation ρ costs (1 + ρ)/(1 − ρ) of them for means and
    (1 + ρ²)/(1 − ρ²) for squares.
    """
    n, rho, mean, sigma = size(20_000), 0.6, np.array([2.0, -1.0, 0.5]), covariance(3)
    rng = np.random.default_rng(9)
    noise = rng.standard_normal((n, 3)) @ np.linalg.cholesky(sigma).T
    state, gap = start_adaptation(np.full(3, 30.0), 100.0 * np.eye(3)), np.zeros(3)
    nothing = np.full(3, np.nan)
    for step in noise:
        gap = rho * gap + np.sqrt(1.0 - rho**2) * step
        state = adapted(state, mean + gap, nothing, np.full(3, 0.3))
    deviation = np.sqrt(sigma.diagonal())
    error = 6.0 * np.sqrt((1 + rho) / (1 - rho) / (0.75 * n))
    assert (np.abs(state.mean - mean) < error * deviation).all()
    error = 6.0 * np.sqrt(2.0 * (1 + rho**2) / (1 - rho**2) / (0.75 * n))
    assert (np.abs(state.covariance - sigma) < error * np.outer(deviation, deviation)).all()
    assert state.iterations == n
    np.testing.assert_array_equal(state.log_steps, np.zeros(3))


def test_steps_follow_the_acceptance():
    """Where larger steps are accepted less, they settle where the acceptance is the wanted one."""
    wanted, state = np.array([0.3, 0.25, 0.44]), start_adaptation(np.zeros(1), np.eye(1))
    natural = np.array([0.01, 1.0, 50.0])
    for _ in range(3000):
        acceptance = 1.0 / (1.0 + np.exp(state.log_steps) / natural)
        state = adapted(state, np.zeros(1), acceptance, wanted)
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(state.log_steps) / natural), wanted, atol=1e-3)


def test_a_kind_that_made_no_move_keeps_its_step():
    state = start_adaptation(np.zeros(2), np.eye(2))
    state = adapted(state, np.ones(2), np.array([0.9, np.nan, 0.0]), np.full(3, 0.3))
    assert state.log_steps[0] > 0.0
    assert state.log_steps[1] == 0.0
    assert state.log_steps[2] < 0.0


def test_adaptation_leaves_the_old_counters():
    state = start_adaptation(np.zeros(2), np.eye(2))
    before = [array.copy() for array in state]
    adapted(state, np.ones(2), np.full(3, 0.5), np.full(3, 0.3))
    for array, old in zip(state, before, strict=True):
        np.testing.assert_array_equal(array, old)


@pytest.mark.parametrize("noise", [None, LogNormal(1, 0.5)])
@pytest.mark.parametrize(
    "method", [Method(), Method(bridge=2), Method(sampler="augmented")], ids=["hybrid", "bridge", "augmented"]
)
def test_everything_that_adapts_is_frozen_after_warm_up(noise, method):
    given = make_problem(
        [[0.0], [0.7], [1.5]],
        [0.1, 0.4, 1.0],
        [[2.0]],
        kernel=LogNormal(0, 1) * kernels.Exponential(LogNormal(0, 1)),
        noise=noise,
    )
    learner = Learner(given, method, warmup=20)
    early, _ = learner.advance(learner.start(1, 0), 10)
    end, _ = learner.advance(early, 10)
    later, _ = learner.advance(end, 40)
    names = [name for name in end if name.startswith("adaptation") or name.endswith("tuning")]
    assert len(names) == 6
    for name in [*names, "probes"]:
        np.testing.assert_array_equal(later[name], end[name], err_msg=name)
    assert any((early[name] != end[name]).any() for name in names)
