"""Learning on neighbours: with all of them as the dense one, and chains that are the same however they are cut."""

import pickle
import threading
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from learners import ANGLES, BROAD, ONE, SEVERAL, X_NEW, X, in_pieces, same
from vmqp import kernels
from vmqp.errors import InputError, NotPositiveDefiniteError
from vmqp.learning import Learner, Method, factorisation, make_problem, memory
from vmqp.learning.inner import energy_gradients, needed_steps, resultant
from vmqp.learning.memory import remembered
from vmqp.learning.objective import observed_angles
from vmqp.learning.point import (
    angles_target,
    angles_whitening,
    drift_field,
    energy,
    factorised,
    fields_target,
    fields_whitening,
    log_density,
    rescaled,
    sums,
    tells_observed_apart,
)
from vmqp.learning.pointwise import fields_at, log_likelihood
from vmqp.learning.pseudolikelihood import maximise
from vmqp.precision import VecchiaPrecision, make_graph, vecchia
from vmqp.sampling import sample_angles, seed_streams
from vmqp.sampling.heatbath import HeatBath
from vmqp.sampling.rooted import Rooted, RootMass
from vmqp.sampling.whitening import unwhiten

N, D = len(X), len(X) + len(X_NEW)
ALL = D - 1
ROWS = np.linspace(1.0, 5.0, N)
NU, CHI = 0.8, 3.0
DRIFTS = pytest.mark.parametrize("drift", ["constant", "mean"])
NOISES = pytest.mark.parametrize("noise", [None, CHI, ROWS], ids=["no noise", "one noise", "noise by row"])
U = np.array([0.3, -0.2, -0.5, -1.5, 0.4])  # two variances, a length scale between them, a nugget, κ


def beyond(shift):
    """Parameters that differ from U by a common scale of the variances, and by κ."""
    return U + np.array([shift, 0.0, shift, shift, 0.7])


def problem(neighbors=ALL, kernel=SEVERAL, new=X_NEW, angles=ANGLES, **options):
    return make_problem(X, angles, new, kernel=kernel, neighbors=neighbors, **options)


def both(**options):
    """The same problem with neighbours and dense."""
    return problem(**options), problem(None, **options)


def at(given, u=U):
    point = factorised(given, u, given.values(u))
    assert point is not None
    return point


def unit_vectors(angles):
    """The (2, 1, d) of the samplers."""
    return np.stack([np.cos(angles), np.sin(angles)])[:, None]


@pytest.fixture
def x():
    """Angles of which the first n are those observed."""
    return unit_vectors(np.concatenate([ANGLES, np.random.default_rng(5).uniform(-np.pi, np.pi, D - N)]))


def matrix_of(base):
    """M with its diagonal."""
    root = VecchiaPrecision(base.graph.pattern, base.values).U
    return (root @ root.T).toarray()


def full(target):
    matrix = target.matrix()
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def inverse_of(mass, m):
    out = np.empty((m, m))
    unwhiten(mass, np.eye(m), out)
    return out


def check_close(found, wanted, tolerance=1e-8):
    np.testing.assert_allclose(
        found, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max(initial=1.0)
    )


# With all earlier places as neighbours everything is that of the dense problem


@DRIFTS
def test_a_point_is_that_of_the_dense_problem(drift, x):
    sparse, dense = (at(given) for given in both(drift=drift))
    assert isinstance(sparse.base, factorisation.RootedFactorisation)
    assert isinstance(dense.base, factorisation.DenseFactorisation)
    check_close(sparse.base.diagonal, dense.base.diagonal)
    check_close(sparse.base.weights, dense.base.weights)
    check_close(sums(sparse.base, x), sums(dense.base, x))
    check_close(drift_field(sparse, NU), drift_field(dense, NU))
    assert energy(sparse, sums(sparse.base, x), NU) == pytest.approx(
        energy(dense, sums(dense.base, x), NU), rel=1e-9
    )


def test_a_wrong_root_is_seen(x):
    """The comparison above, where two entries of U have changed places."""
    sparse, dense = (at(given) for given in both())
    values = sparse.base.values.copy()
    values[[1, 2]] = values[[2, 1]]
    with pytest.raises(AssertionError):
        check_close(sums(replace(sparse.base, values=values), x), sums(dense.base, x))


@DRIFTS
@pytest.mark.parametrize("shift", [-2.0, 1.3])
def test_a_rescaled_point_is_that_of_the_dense_problem(drift, shift, x):
    there = beyond(shift)
    points = [rescaled(given, at(given), there, given.values(there)) for given in both(drift=drift)]
    sparse, dense = points
    assert sparse.scale == pytest.approx(np.exp(shift))
    anew = at(problem(drift=drift), there)
    for other in (dense, anew):
        assert energy(sparse, sums(sparse.base, x), NU) == pytest.approx(
            energy(other, sums(other.base, x), NU), rel=1e-8
        )
        found, wanted = fields_target(sparse, NU), fields_target(other, NU)
        check_close(full(found), full(wanted))
        check_close(found.field, wanted.field)


@NOISES
@DRIFTS
@pytest.mark.parametrize("shift", [0.0, 1.3])
def test_targets_and_masses_are_those_of_the_dense_problem(drift, noise, shift, x):
    found = []
    for given in both(drift=drift, noise=noise):
        there = beyond(shift)
        point = rescaled(given, at(given), there, given.values(there))
        target = angles_target(given, point, x, NU, noise, frame=0.4)
        everywhere = fields_target(point, NU)
        latent = x[:, :, given.latent]
        found.append(
            (
                full(target),
                target.field,
                target.diagonal,
                full(everywhere),
                everywhere.field,
                everywhere.diagonal,
                np.array([log_density(target, latent), log_density(everywhere, x)]),
                fields_at(point, x, NU),
                log_likelihood(given, fields_at(point, x, NU), noise),
                inverse_of(fields_whitening(point), D),
                inverse_of(angles_whitening(given, point, target, noise), target.size),
            )
        )
    sparse, dense = found
    for one, other in zip(sparse, dense, strict=True):
        check_close(one, other)


@NOISES
def test_what_is_sampled_is_a_root(noise, x):
    given = problem(3, noise=noise)
    target = angles_target(given, at(given), x, NU, noise)
    assert isinstance(target.coupling, Rooted)
    assert isinstance(angles_whitening(given, at(given), target, noise), RootMass)


@DRIFTS
def test_slopes_are_those_of_the_dense_problem(drift):
    """To the error of differences: both divide rounding by a step of 1e-4."""
    angles = np.random.default_rng(2).uniform(-np.pi, np.pi, (7, D))
    found = []
    for given in both(drift=drift):
        point = at(given)
        found.append((energy_gradients(given, point, NU, angles), resultant(point, angles)))
    check_close(found[0][0], found[1][0], 1e-7)
    check_close(found[0][1], found[1][1])


@DRIFTS
@NOISES
def test_a_whole_chain_is_that_of_the_dense_problem(drift, noise):
    """The heat bath takes the same random numbers for both, and rounding does not grow in some iterations."""
    method = Method(sampler="heatbath", inner_steps=3, outer_steps=2, cheap_moves=2)
    found = []
    for given in both(kernel=ONE, drift=drift, noise=noise):
        task = Learner(given, method, warmup=0)
        found.append(in_pieces(task, task.start(seed=3, chain=0), [20]))
    (sparse, draws), (dense, others) = found
    np.testing.assert_array_equal(sparse["streams"], dense["streams"])
    for key in ("x", "fictitious", "u", "direction"):
        np.testing.assert_allclose(sparse[key], dense[key], atol=1e-6, err_msg=key)
    assert draws.keys() == others.keys()
    for key in draws:
        np.testing.assert_allclose(draws[key], others[key], atol=1e-5, err_msg=key)
    assert len(np.unique(draws["lengthscale"])) > 1, "a proposal with a factorisation was accepted"


# With few neighbours it is the model of U Uᵀ


@NOISES
@DRIFTS
def test_with_few_neighbours_all_parts_are_of_one_matrix(drift, noise, x):
    given = problem(3, drift=drift, noise=noise)
    there = beyond(0.9)
    point = rescaled(given, at(given), there, given.values(there))
    M = matrix_of(at(given).base) / point.scale
    assert np.abs(M - matrix_of(at(problem()).base) / point.scale).max() > 1e-3, "an approximation"
    hollow = M - np.diag(np.diag(M))
    kappa = given.values(there)["concentration"]
    pull = kappa * (np.ones(D) if drift == "constant" else M.sum(axis=1))
    field = np.stack([np.cos(NU) * pull, np.sin(NU) * pull])
    check_close(drift_field(point, NU), field)
    plain = 0.5 * np.vdot(x[:, 0], x[:, 0] @ hollow) - np.vdot(field, x[:, 0])
    assert energy(point, sums(point.base, x), NU) == pytest.approx(plain, rel=1e-9)
    target = angles_target(given, point, x, NU, noise)
    if noise is None:
        check_close(full(target), hollow[N:, N:])
        check_close(target.field, field[:, N:] - x[:, 0, :N] @ M[:N, N:])
    else:
        check_close(full(target), hollow)
        field[:, :N] += noise * unit_vectors(ANGLES)[:, 0]
        check_close(target.field, field)
    # Up to a term that does not depend on the new angles, both densities are the same.
    moved = unit_vectors(np.concatenate([ANGLES, np.linspace(-2.0, 2.0, D - N)]))
    gaps = [
        log_density(target, angles[:, :, given.latent]) + energy(point, sums(point.base, angles), NU)
        for angles in (x, moved)
    ]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-9, abs=1e-9)


def test_more_neighbours_than_places():
    few, many = problem(ALL), problem(1000)
    np.testing.assert_array_equal(at(few).base.values, at(many).base.values)
    assert many.on_graph.graph.k == ALL


def test_parameters_without_a_factor():
    twice = np.repeat(X_NEW, 2, axis=0)
    given = problem(3, kernel=BROAD * kernels.Exponential(BROAD), new=twice)
    assert factorised(given, np.zeros(3), given.values(np.zeros(3))) is None
    with pytest.raises(NotPositiveDefiniteError, match="Nugget"):
        Learner(given).start(1, 0)
    some = problem(3, kernel=BROAD * kernels.Exponential(BROAD))
    for far in (np.array([0.0, 60.0, 0.0]), np.array([-60.0, 0.0, 0.0]), np.array([800.0, 0.0, 0.0])):
        with np.errstate(all="ignore"):
            assert factorised(some, far, some.values(far)) is None


def test_observed_places_are_told_apart_whatever_the_new_ones_are():
    """Then a chain can start with a shorter length scale, as with a dense precision."""
    kernel, near = BROAD * kernels.Gaussian(BROAD), np.linspace(1.0, 1.2, 30)[:, None]
    sparse, dense = (problem(k, kernel=kernel, new=near) for k in (10, None))
    for given in (dense, sparse):
        u = Learner(given).maximum.u
        assert factorised(given, u, given.values(u)) is None
        assert tells_observed_apart(given, u)
        assert np.isfinite(Learner(given).start(1, 0)["u"]).all()


# Chains

CASES = {
    "noiseless": ({}, {}),
    "noisy": ({"noise": BROAD}, {}),
    "noise by row": ({"noise": ROWS}, {}),
    "mean drift, noisy": ({"drift": "mean", "noise": BROAD}, {}),
    "heat bath": ({}, {"sampler": "heatbath"}),
    "aligned start": ({}, {"inner_start": "aligned"}),
    "fixed steps": ({"kernel": BROAD * kernels.Exponential(BROAD)}, {"steps": (0.3, 0.4, 0.5)}),
    "no drift": ({"concentration": 0.0}, {}),
    "no new places": ({"new": None}, {}),
}
WARMUP, TOTAL = 55, 70


def learner(name, neighbors=4):
    model, method = CASES[name]
    return Learner(problem(neighbors, **model), Method(**method), WARMUP, pointwise=True)


def forget():
    """As in another process: graphs have to be made anew."""
    memory._found.clear()


@pytest.mark.parametrize("name", CASES)
def test_a_chain_is_the_same_however_it_is_cut(name):
    task = learner(name)
    start = task.start(seed=11, chain=0)
    before = {key: value.copy() for key, value in start.items()}
    end, draws = in_pieces(task, start, [TOTAL])
    assert same(start, before), "the given state stays as it is"
    assert all(np.isfinite(draws[key]).all() for key in draws if not key.startswith("acceptance"))
    # Cut in warm-up, on both sides of its last iteration, and after it.
    pieces = [7, WARMUP - 8, 1, 1, TOTAL - WARMUP - 1]
    state, found = start, []
    for iterations in pieces:
        forget()
        # A pickled task has lost its graph and its maximum.
        state, chunk = in_pieces(pickle.loads(pickle.dumps(task)), state, [iterations])
        found.append(chunk)
    assert same(state, end)
    assert same({key: np.concatenate([chunk[key] for chunk in found]) for key in draws}, draws)


def test_a_pickled_problem_holds_no_graph():
    given = problem(4)
    at(given)
    assert "on_graph" in given.__dict__
    copy = pickle.loads(pickle.dumps(given))
    assert not {"on_graph", "bound"} & copy.__dict__.keys()
    assert copy.fingerprint == given.fingerprint
    assert copy.on_graph is given.on_graph, "in one process it is made once"


def test_chains_of_two_threads_are_those_of_one():
    task = learner("noisy")
    starts = [task.start(3, chain) for chain in range(2)]
    alone = [in_pieces(task, start, [12])[0] for start in starts]
    forget()
    chains = [(chain, pickle.loads(pickle.dumps(task))) for chain in range(2)]

    def run():
        chain, copy = chains.pop()
        return chain, in_pieces(copy, starts[chain], [12])[0]

    for chain, end in together(run, 2):
        assert same(end, alone[chain])


def test_pointwise_draws_are_those_of_the_fields():
    task = Learner(problem(4, noise=CHI), warmup=2, pointwise=True)
    state, chunk = task.advance(task.start(1, 0), 3)
    point = at(task.problem, state["u"])
    fields = fields_at(point, state["x"], float(state["direction"]))
    wanted = log_likelihood(task.problem, fields, CHI)
    np.testing.assert_allclose(chunk.pointwise["log_likelihood/angle"][-1], wanted, rtol=1e-5)
    np.testing.assert_allclose(chunk.pointwise["field/x"][-1], fields[0, N:], rtol=1e-5, atol=1e-6)


def test_the_length_of_inner_chains_is_measured():
    given = problem(4)
    point = at(given)
    sampler, rng = HeatBath(fields_target(point, NU)), seed_streams(1, 1)
    steps = needed_steps(rng, given, point, NU, sampler, sampler.init(rng))
    assert 3 <= steps <= 1000


def test_fingerprints():
    tasks = [learner("noiseless", k) for k in (3, 4, None)]
    tasks.append(replace(tasks[0], problem=replace(tasks[0].problem, metric_at=(("lengthscale_1", 2.0),))))
    assert len({task.fingerprint for task in tasks}) == 4
    assert learner("noiseless", 3).fingerprint == tasks[0].fingerprint


def test_neighbours_are_chosen_in_the_metric_that_is_given():
    places = np.random.default_rng(0).uniform(size=(40, 2))
    kernel = BROAD * kernels.Exponential([BROAD, BROAD])
    given = make_problem(places, np.zeros(40), kernel=kernel, neighbors=3)
    east = replace(given, metric_at=(("lengthscale_0", 0.01), ("lengthscale_1", 100.0)))

    def across(some):
        """By how much neighbours differ in the first column."""
        graph = some.on_graph.graph
        return np.mean([np.abs(places[i, 0] - places[graph.neighbours[i], 0]).mean() for i in range(5, 40)])

    assert across(east) < 0.7 * across(given)


def test_a_chunk_grows_with_the_number_of_places_only():
    assert learner("noiseless", 4).chunk >= learner("noiseless", None).chunk
    many = make_problem(np.arange(20_000.0)[:, None], np.zeros(20_000), kernel=SEVERAL, neighbors=5)
    assert Learner(many).chunk >= 2


# What cannot be done


@pytest.mark.parametrize("method", [{"sampler": "augmented"}, {"bridge": 2}, {"drag": 1}], ids=str)
def test_methods_that_need_a_dense_precision_are_refused(method):
    with pytest.raises(InputError, match=r"need a dense precision: give precision='dense'"):
        Learner(problem(3), Method(**method))
    Learner(problem(None), Method(**method))


@pytest.mark.parametrize("neighbors", [0, -3, 2.5, "5", True])
def test_a_number_of_neighbours_that_is_none(neighbors):
    with pytest.raises(InputError, match=r"neighbors is .*: give a whole number, at least 1"):
        problem(neighbors)


def power(exponent):
    def function(a, b, width):
        return np.exp(-((np.abs(a[:, 0] - b[:, 0]) / width) ** exponent))

    return function


def test_two_functions_of_one_code_are_two_kernels():
    points = []
    for exponent in (1.0, 0.5):
        given = problem(3, kernel=BROAD * kernels.Custom(power(exponent), width=BROAD))
        points.append(at(given, np.zeros(3)))
    assert not np.allclose(points[0].base.diagonal, points[1].base.diagonal)


# Memory


def together(ask, count):
    """Call from several threads at once; return what each got."""
    found, ready = [], threading.Barrier(count)

    def run():
        ready.wait()
        found.append(ask())

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == count
    return found


def test_threads_that_ask_at_once_get_one_thing():
    made = []

    def make():
        made.append(object())
        threading.Event().wait(0.05)  # long enough for the others to come
        return made[-1]

    found = together(lambda: remembered("kind", "one thing", make), 8)
    assert len(made) == 1
    assert all(thing is made[0] for thing in found)
    assert remembered("kind", "one thing", make) is made[0]


def test_threads_that_ask_for_a_graph_at_once_get_one(monkeypatch):
    given, count = problem(5), []
    make = type(given)._make_graph
    monkeypatch.setattr(type(given), "_make_graph", lambda self: (count.append(self), make(self))[1])
    forget()
    copies = [pickle.loads(pickle.dumps(given)) for _ in range(4)]
    found = together(lambda: copies.pop().on_graph, 4)
    assert len(count) == 1
    assert all(graph is found[0] for graph in found)


def test_of_each_kind_the_last_two_are_kept():
    first = remembered("kind", "first", object)
    other = remembered("other kind", "first", object)
    assert remembered("kind", "first", object) is first
    second = remembered("kind", "second", object)
    assert second is not first
    assert remembered("kind", "first", object) is first
    third = remembered("kind", "third", object)
    assert remembered("kind", "third", object) is third
    assert remembered("kind", "second", object) is not second
    assert remembered("other kind", "first", object) is other


def test_only_some_kinds_are_kept():
    forget()
    for kind in range(memory._KINDS):
        remembered(str(kind), "", object)
    first = remembered("0", "", object)
    remembered("one more", "", object)
    assert remembered("0", "", object) is first, "it was asked for since"
    assert len(memory._found) == memory._KINDS
    assert "1" not in memory._found


def test_what_could_not_be_made_is_made_again():
    def fail():
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        remembered("kind", "fails at first", fail)
    assert remembered("kind", "fails at first", lambda: 7) == 7


def test_others_do_not_wait():
    """What takes long does not hold up another kind."""
    inside, release = threading.Event(), threading.Event()

    def slow():
        inside.set()
        release.wait(10.0)
        return 1

    thread = threading.Thread(target=remembered, args=("slow", "", slow))
    thread.start()
    try:
        assert inside.wait(10.0)
        assert remembered("quick", "", lambda: 2) == 2
    finally:
        release.set()
        thread.join()
    assert remembered("slow", "", lambda: 3) == 1


# The maximum pseudo-likelihood of many places


MANY, VARIANCE, LENGTH = 2500, 0.3, 0.1


@cache
def many_angles():
    """Places in the plane, and a draw of their angles without a drift."""
    places = np.random.default_rng(1).uniform(size=(MANY, 2))

    def covariance(i, j):
        return VARIANCE * np.exp(-np.linalg.norm(places[i] - places[j], axis=1) / LENGTH)

    precision = vecchia(covariance, make_graph(places, k=10))
    angles = sample_angles(precision, np.zeros((MANY, 2)), draws=1, warmup=100, seed=3)[0]
    return places, angles


def many(noise=None, **options):
    places, angles = many_angles()
    kernel = BROAD * kernels.Exponential(LENGTH)
    settings = {"kernel": kernel, "concentration": 0.0, "neighbors": 10, "noise": noise} | options
    return make_problem(places, angles, **settings)


def test_the_maximum_of_many_places():
    maximum = maximise(many())
    assert maximum.converged
    assert maximum.values["variance"] == pytest.approx(VARIANCE, rel=0.3)
    assert maximum.covariance.shape == (1, 1)
    dense = maximise(many(neighbors=None))
    assert dense.values == maximum.values, "it depends on the places, not on the precision"


def test_the_maximum_of_many_places_with_a_noise_for_each():
    """Rows of the part that is looked at keep their own."""
    noise = np.random.default_rng(4).uniform(20.0, 200.0, MANY)
    maximum = maximise(many(noise))
    assert maximum.converged
    assert 0.1 < maximum.values["variance"] < 1.0


def test_some_groups_of_near_places_stand_for_many():
    noise = np.arange(1.0, MANY + 1.0)
    given = many(noise)
    part = observed_angles(given).clustered(800)
    places, angles = many_angles()
    assert 300 < len(part.X) <= 800
    assert len(np.unique(part.rows)) == len(part.rows)
    np.testing.assert_array_equal(part.X, places[part.rows])
    np.testing.assert_allclose(part.x[:, 0], unit_vectors(angles)[:, 0, part.rows])
    K = part.covariance(np.zeros(1))
    np.testing.assert_allclose(np.diag(K), 1.0 + 1.0 / noise[part.rows])
    again = part.thinned(3)
    np.testing.assert_array_equal(again.rows, part.rows[::3])
    np.testing.assert_allclose(np.diag(again.covariance(np.zeros(1))), 1.0 + 1.0 / noise[part.rows[::3]])
    # Both short and long distances are among them.
    nearest = np.sort(np.linalg.norm(part.X[:, None] - part.X, axis=-1), axis=1)[:, 1]
    of_all = np.sort(np.linalg.norm(places[:500, None] - places, axis=-1), axis=1)[:, 1]
    assert np.median(nearest) < 1.5 * np.median(of_all)
    assert np.ptp(part.X, axis=0).min() > 0.8


def test_a_learner_of_many_places_advances():
    """Places that a dense precision could still do, but not in this time."""
    task = Learner(many(np.full(MANY, 100.0), neighbors=6), Method(inner_steps=2, outer_steps=2), warmup=2)
    state, chunk = task.advance(task.start(1, 0), 4)
    assert chunk.angles["latent"].shape == (2, MANY)
    assert np.isfinite(chunk.stats["energy"]).all()
    assert state["x"].shape == (2, 1, MANY)
