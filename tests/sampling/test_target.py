"""What the samplers are given: a hollow symmetric coupling, its diagonal, and the field by rows."""

import numpy as np
import pytest
from scipy import sparse

from references import lattice, spin_glass
from vmqp.sampling import make_target, seed_streams
from vmqp.sampling.augmented import Augmented
from vmqp.sampling.heatbath import HeatBath, there_and_back
from vmqp.sampling.hmc import WhitenedHmc
from vmqp.sampling.hybrid import Hybrid
from vmqp.sampling.linear import apply_coupling
from vmqp.sampling.sampler import unit_vectors
from vmqp.sampling.target import Dense, Sparse, Target

MATRIX = np.array([[2.0, -1.0, 0.0], [-1.0, -3.0, 0.5], [0.0, 0.5, 0.0]])
FIELD = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
HOLLOW = MATRIX - np.diag(np.diag(MATRIX))


def test_dense_parts():
    target = make_target(MATRIX, FIELD)
    assert isinstance(target.coupling, Dense)
    assert target.size == 3
    np.testing.assert_array_equal(target.coupling.matrix, HOLLOW)
    np.testing.assert_array_equal(target.diagonal, [2.0, -3.0, 0.0])
    np.testing.assert_array_equal(target.field, FIELD.T)
    for part in (target.coupling.matrix, target.field):
        assert part.flags.c_contiguous
        assert part.dtype == np.float64


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_parts(form):
    target = make_target(form(MATRIX), FIELD)
    assert isinstance(target.coupling, Sparse)
    np.testing.assert_array_equal(target.matrix().toarray(), HOLLOW)
    np.testing.assert_array_equal(target.diagonal, [2.0, -3.0, 0.0])
    np.testing.assert_array_equal(target.coupling.starts, [0, 1, 3, 4])
    np.testing.assert_array_equal(target.coupling.columns, [1, 0, 2, 1])
    np.testing.assert_array_equal(target.coupling.values, [-1.0, -1.0, 0.5, 0.5])
    assert target.coupling.starts.dtype == target.coupling.columns.dtype == np.int64


def test_parts_are_copies():
    coupling, field = MATRIX.copy(), FIELD.copy()
    target = make_target(coupling, field)
    coupling[:], field[:] = 9.0, 9.0
    np.testing.assert_array_equal(target.coupling.matrix, HOLLOW)
    np.testing.assert_array_equal(target.field, FIELD.T)
    held = sparse.csr_array(MATRIX)
    target = make_target(held, FIELD)
    held.data[:] = 9.0
    np.testing.assert_array_equal(target.matrix().toarray(), HOLLOW)


def test_empty_rows_and_explicit_zeros():
    held = sparse.csr_array(([0.0, 0.0, 1.0, 1.0], ([0, 3, 1, 2], [3, 0, 2, 1])), shape=(4, 4))
    target = make_target(held, np.zeros((4, 2)))
    np.testing.assert_array_equal(target.coupling.starts, [0, 0, 1, 2, 2])


def test_no_angles():
    for empty in (np.zeros((0, 0)), [], sparse.csr_array((0, 0))):
        for field in (np.zeros((0, 2)), []):
            assert make_target(empty, field).size == 0


@pytest.mark.parametrize("chains", [1, 3])
@pytest.mark.parametrize("m", range(1, 10))
def test_product_with_the_coupling(m, chains):
    matrix = spin_glass(m, 1.0, m)
    x = np.random.default_rng(0).normal(size=(2, chains, m))
    for form in (np.asarray, sparse.csr_array):
        out = np.full_like(x, np.nan)
        apply_coupling(make_target(form(matrix), np.zeros((m, 2))).coupling, x, out)
        np.testing.assert_allclose(out, x @ matrix, rtol=1e-13, atol=1e-14)


def with_and_without_scale(m, scale):
    """The same target twice: a matrix and a scale, and the matrix times the scale."""
    matrix, field = spin_glass(m, 1.0, m), np.random.default_rng(m).normal(size=(2, m))
    diagonal = np.full(m, 3.0)
    return (
        Target(Dense(matrix, scale), scale * diagonal, field),
        Target(Dense(scale * matrix), scale * diagonal, field),
    )


SCALES = pytest.mark.parametrize("scale", [0.5, 0.3, 40.0])


@SCALES
@pytest.mark.parametrize("m", [1, 4, 7])
def test_a_scaled_coupling_is_the_scaled_matrix(m, scale):
    one, other = with_and_without_scale(m, scale)
    np.testing.assert_array_equal(one.matrix(), other.matrix())
    np.testing.assert_array_equal(one.useful_diagonal(), other.useful_diagonal())
    x = np.random.default_rng(0).normal(size=(2, 3, m))
    found, expected = np.empty_like(x), np.empty_like(x)
    apply_coupling(one.coupling, x, found)
    apply_coupling(other.coupling, x, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13 * scale)


@SCALES
@pytest.mark.parametrize("m", [1, 4, 7])
@pytest.mark.parametrize("kind", [HeatBath, Hybrid, WhitenedHmc, Augmented])
def test_a_scaled_coupling_gives_the_same_draws(kind, m, scale):
    """With the same seed, to rounding; a few steps only, or rounding would grow on a stiff target."""
    runs = []
    for target in with_and_without_scale(m, scale):
        sampler, rng = kind(target), seed_streams(3, 5)
        state = sampler.init(rng, np.random.default_rng(1).uniform(-np.pi, np.pi, (5, m)))
        _, angles = sampler.run(rng, state, 5)
        runs.append((unit_vectors(angles.reshape(25, m)), rng))
    (one, used), (other, as_well) = runs
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(used, as_well)


@SCALES
@pytest.mark.parametrize("m", [1, 4, 7])
def test_a_scaled_coupling_goes_there_and_back_alike(m, scale):
    runs = []
    for target in with_and_without_scale(m, scale):
        x = unit_vectors(np.random.default_rng(1).uniform(-np.pi, np.pi, (5, m)))
        there_and_back(seed_streams(3, 5), target, x, 1)
        runs.append(x)
    np.testing.assert_allclose(*runs, rtol=0.0, atol=1e-10)


def test_lattice_of_the_tests():
    """Four neighbours in the plane, six in space, each bond once in each row."""
    for shape in ((5, 4), (3, 4, 5)):
        coupling = lattice(shape, 0.7).toarray()
        np.testing.assert_array_equal(coupling, coupling.T)
        np.testing.assert_array_equal((coupling == -0.7).sum(axis=1), 2 * len(shape))
        np.testing.assert_array_equal((coupling != 0.0).sum(axis=1), 2 * len(shape))
        assert (np.diag(coupling) == 0.0).all()
