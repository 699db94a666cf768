"""What the samplers are given: a hollow symmetric coupling, its diagonal, and the field by rows."""

import numpy as np
import pytest
from scipy import sparse

from references import lattice, spin_glass
from vmqp.sampling import make_target
from vmqp.sampling.linear import apply_coupling
from vmqp.sampling.target import Dense, Sparse

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


def test_lattice_of_the_tests():
    """Four neighbours in the plane, six in space, each bond once in each row."""
    for shape in ((5, 4), (3, 4, 5)):
        coupling = lattice(shape, 0.7).toarray()
        np.testing.assert_array_equal(coupling, coupling.T)
        np.testing.assert_array_equal((coupling == -0.7).sum(axis=1), 2 * len(shape))
        np.testing.assert_array_equal((coupling != 0.0).sum(axis=1), 2 * len(shape))
        assert (np.diag(coupling) == 0.0).all()
