"""Learning on neighbours: with all of them as the dense one, with few of them the model of U Uᵀ."""

from dataclasses import replace

import numpy as np
import pytest

from learners import ANGLES, BROAD, ONE, X_NEW, in_pieces
from sparse_problems import ALL, CHI, NU, ROWS, D, N, U, at, problem, unit_vectors
from vmqp import kernels
from vmqp.errors import InputError, NotPositiveDefiniteError
from vmqp.learning import Learner, Method, factorisation
from vmqp.learning.inner import energy_gradients, resultant
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
from vmqp.precision import VecchiaPrecision
from vmqp.sampling.rooted import Rooted, RootMass
from vmqp.sampling.whitening import unwhiten

DRIFTS = pytest.mark.parametrize("drift", ["constant", "mean"])
NOISES = pytest.mark.parametrize("noise", [None, CHI, ROWS], ids=["no noise", "one noise", "noise by row"])


def beyond(shift):
    """Parameters that differ from U by a common scale of the variances, and by κ."""
    return U + np.array([shift, 0.0, shift, shift, 0.7])


def both(**options):
    """The same problem with neighbours and dense."""
    return problem(**options), problem(None, **options)


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
