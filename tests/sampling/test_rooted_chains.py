"""Chains on a coupling by its root, Q = U Uᵀ: step by step those on the matrix itself."""

import numpy as np
import pytest
from scipy import sparse

import vmqp
from rooted import field_of, matrix_of, precision_of, scaled_target
from vmqp.precision import VecchiaPrecision, make_graph, vecchia
from vmqp.sampling import SAMPLERS, make_target, seed_streams
from vmqp.sampling.heatbath import HeatBath, sweeps, there_and_back
from vmqp.sampling.hmc import Hmc, WhitenedHmc
from vmqp.sampling.hybrid import Hybrid
from vmqp.sampling.rooted import RootMass
from vmqp.sampling.sampler import unit_vectors
from vmqp.sampling.whitening import DenseWhitening, whiten

SIZES = pytest.mark.parametrize("m", [1, 2, 5, 12])
SCALES = pytest.mark.parametrize("scale", [1.0, 0.3, 40.0])


def same_chains(first, second, run, chains=5):
    """Both targets from the same start with the same streams, as unit vectors, and the streams afterwards."""
    found = []
    for target in (first, second):
        rng = seed_streams(3, chains)
        start = np.random.default_rng(1).uniform(-np.pi, np.pi, (chains, target.size))
        found.append((run(target, rng, start), rng))
    return found


def runs(make, draws):
    """Draws of the sampler that is made of a target, as unit vectors."""

    def run(target, rng, start):
        sampler = make(target)
        return unit_vectors(sampler.run(rng, sampler.init(rng, start), draws)[1].reshape(-1, target.size))

    return run


def check_same(found, atol=1e-9):
    (one, used), (other, as_well) = found
    np.testing.assert_allclose(one, other, rtol=0.0, atol=atol)
    np.testing.assert_array_equal(used, as_well)


def pairs(m, scale=1.0, k=4):
    """A target by its root, and by its matrix."""
    precision = precision_of(m, k)
    return scaled_target(precision, scale), make_target(scale * matrix_of(precision), field_of(m))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("overrelax", [0, 1, 3])
@SCALES
@SIZES
def test_sweeps_are_those_of_the_matrix(m, scale, overrelax, form):
    rooted, _ = pairs(m, scale)
    other = make_target(form(scale * matrix_of(precision_of(m))), field_of(m))

    run = runs(lambda target: HeatBath(target, overrelax=overrelax), 4)

    check_same(same_chains(rooted, other, run))


def test_a_sweep_without_the_term_of_the_angle_itself_is_seen():
    """The comparison above, where Q_ii x_i is not taken out of the field."""
    rooted, other = pairs(12)
    wrong = rooted._replace(coupling=rooted.coupling._replace(diagonal=np.zeros(12)))

    def run(target, rng, start):
        x = unit_vectors(start)
        sweeps(rng, target, x, 1, 1)
        return x

    check_same(same_chains(rooted, other, run))
    with pytest.raises(AssertionError):
        check_same(same_chains(wrong, other, run))


@pytest.mark.parametrize(("draws", "thin", "turn"), [(3, 1, True), (2, 3, True), (2, 3, False)])
def test_sweeps_with_the_common_rotation_and_thinning(draws, thin, turn):
    rooted, other = pairs(12)

    def run(target, rng, start):
        x = unit_vectors(start)
        angles = sweeps(rng, target, x, 1, draws, thin, turn)
        np.testing.assert_allclose(unit_vectors(angles[:, -1]), x, atol=1e-12)
        return unit_vectors(angles.reshape(-1, 12))

    check_same(same_chains(rooted, other, run))


def test_rounding_does_not_add_up():
    """After many steps, most of them reflections, the unit vectors are still of length one."""
    target, _ = pairs(12)
    rng = seed_streams(5, 3)
    x = unit_vectors(np.zeros((3, 12)))
    sweeps(rng, target, x, 3, 1, 5000)
    np.testing.assert_allclose(np.hypot(*x), 1.0, atol=1e-12)


@pytest.mark.parametrize("overrelax", [0, 1, 2])
@SCALES
@SIZES
def test_there_and_back_is_that_of_the_matrix(m, scale, overrelax):
    def run(target, rng, start):
        x = unit_vectors(start)
        there_and_back(rng, target, x, overrelax)
        return x

    check_same(same_chains(*pairs(m, scale), run), atol=1e-8)


@SCALES
@SIZES
def test_whitened_hmc_with_the_same_mass_is_that_of_the_matrix(m, scale):
    rooted, other = pairs(m, scale)
    mass = whiten(rooted)

    run = runs(lambda target: WhitenedHmc(target, mass=mass), 3)

    check_same(same_chains(rooted, other, run), atol=1e-8)


def test_the_start_of_whitened_hmc_is_that_of_the_matrix():
    rooted, other = pairs(12)
    mass = whiten(rooted)
    check_same(same_chains(rooted, other, lambda target, rng, _: WhitenedHmc(target, mass=mass).init(rng).x))


@SCALES
def test_plain_hmc_is_that_of_the_matrix(scale):
    run = runs(Hmc, 3)

    check_same(same_chains(*pairs(12, scale), run), atol=1e-8)


@SCALES
@SIZES
def test_hybrid_with_the_same_mass_is_that_of_the_matrix(monkeypatch, m, scale):
    rooted, other = pairs(m, scale)
    mass = whiten(rooted)
    # The interval between HMC moves follows from the work, which differs.
    monkeypatch.setattr(Hybrid, "interval", lambda self, tuning: 2)

    run = runs(lambda target: Hybrid(target, mass=mass), 4)

    check_same(same_chains(rooted, other, run), atol=1e-7)


def test_hybrid_counts_the_work_of_a_root():
    rooted, other = pairs(12)
    for target in (rooted, other):
        sampler = Hybrid(target)
        assert sampler.interval(sampler.init(seed_streams(1, 1)).tuning) >= 1
    assert isinstance(Hybrid(rooted).hmc.mass, RootMass)
    assert isinstance(Hybrid(other).hmc.mass, DenseWhitening)


@pytest.mark.parametrize("kind", [HeatBath, WhitenedHmc, Hybrid])
def test_a_scaled_root_gives_the_same_draws(kind):
    """As the root times the square root of the scale, to rounding, with masses of their own."""
    precision = precision_of(12)
    for scale in (0.3, 40.0):
        values = np.sqrt(scale) * precision.values
        other = make_target(VecchiaPrecision(precision.pattern, values), field_of(12))

        run = runs(kind, 4)

        check_same(same_chains(scaled_target(precision, scale), other, run), atol=1e-7)


def test_chains_side_by_side_are_those_alone():
    """Each has its own stream and its own sums."""
    sampler, rng = HeatBath(make_target(precision_of(12), field_of(12))), seed_streams(7, 4)
    starts = np.random.default_rng(2).uniform(-np.pi, np.pi, (4, 12))
    alone = []
    for chain in range(4):
        own = rng[chain : chain + 1].copy()
        alone.append(sampler.run(own, sampler.init(own, starts[chain : chain + 1]), 3)[1][0])
    _, together = sampler.run(rng, sampler.init(rng, starts), 3)
    np.testing.assert_array_equal(together, np.array(alone))


@pytest.mark.parametrize("kind", [HeatBath, WhitenedHmc, Hybrid])
def test_a_run_may_be_cut(kind):
    target = make_target(precision_of(12), field_of(12))
    sampler, starts = kind(target), np.random.default_rng(2).uniform(-np.pi, np.pi, (2, 12))
    whole, cut = seed_streams(7, 2), seed_streams(7, 2)
    _, angles = sampler.run(whole, sampler.init(whole, starts), 9)
    state, pieces = sampler.init(cut, starts), []
    for draws in (2, 1, 6):
        state, piece = sampler.run(cut, state, draws)
        pieces.append(piece)
    np.testing.assert_array_equal(np.concatenate(pieces, axis=1), angles)


# The door


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_every_sampler_takes_a_precision(sampler):
    precision = precision_of(12)
    angles = vmqp.sample_angles(precision, field_of(12), draws=5, warmup=10, sampler=sampler, seed=1)
    assert angles.shape == (5, 12)
    assert (np.abs(angles) <= np.pi).all()
    again = vmqp.sample_angles(precision, field_of(12), draws=5, warmup=10, sampler=sampler, seed=1)
    np.testing.assert_array_equal(angles, again)
    batch = vmqp.sample_angles_batch(
        precision, field_of(12), chains=3, draws=5, warmup=10, sampler=sampler, initial=np.zeros(12)
    )
    assert batch.shape == (3, 5, 12)


def test_the_precision_is_left_as_it_is():
    precision = precision_of(12)
    before, field = precision.values.copy(), field_of(12)
    vmqp.sample_angles(precision, 100.0 * field, draws=5, warmup=5)
    np.testing.assert_array_equal(precision.values, before)
    np.testing.assert_array_equal(field, field_of(12))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_one_angle_and_none(sampler):
    assert vmqp.sample_angles(precision_of(1), [[1.0, 0.0]], draws=3, warmup=2, sampler=sampler).shape == (
        3,
        1,
    )
    X = np.random.default_rng(0).uniform(size=(4, 2))
    graph = make_graph(X, 4, 2)
    whole = vecchia(lambda i, j: np.exp(-np.linalg.norm(X[i] - X[j], axis=1)), graph)
    nothing = VecchiaPrecision(graph.new, whole.values[graph.pattern.starts[4] :])
    assert vmqp.sample_angles(nothing, np.zeros((0, 2)), draws=3, sampler=sampler).shape == (3, 0)


def test_new_places_given_observed_ones():
    """The block of U is the coupling of the conditional law: the same chain as with the block of M."""
    X = np.random.default_rng(0).uniform(size=(20, 2))
    graph = make_graph(X, 8, 4)
    whole = vecchia(lambda i, j: 0.3 * np.exp(-np.linalg.norm(X[i] - X[j], axis=1)), graph)
    block = VecchiaPrecision(graph.new, whole.values[graph.pattern.starts[8] :])
    rooted = make_target(block, field_of(12))
    other = make_target(matrix_of(whole)[8:, 8:], field_of(12))

    run = runs(HeatBath, 4)

    check_same(same_chains(rooted, other, run))
