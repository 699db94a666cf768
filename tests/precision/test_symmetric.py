"""Passes over a symmetric matrix: the same numbers as NumPy's, at sizes on both sides of a tile's edge."""

import numpy as np
import pytest

from vmqp.precision import try_factorise, try_factorise_triangle
from vmqp.precision.symmetric import mirror, row_norm, unpack

SIZES = range(1, 71)  # a tile has 32 rows: one, two and three of them, whole and cut
BROKEN = pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])


def symmetric(d):
    upper = np.random.default_rng(d).normal(size=(d, d))
    return np.tril(upper) + np.tril(upper, -1).T


def positive_definite(d):
    root = np.random.default_rng(d).normal(size=(d, d))
    return root @ root.T + d * np.eye(d)


def packed(matrix):
    """The lower triangle, row by row."""
    return matrix[np.tril_indices(len(matrix))]


@pytest.mark.parametrize("d", SIZES)
def test_mirror_reads_the_lower_triangle_only(d):
    matrix = symmetric(d)
    lower = matrix.copy()
    lower[np.triu_indices(d, 1)] = np.nan
    out = np.full((d, d), np.nan)
    mirror(lower, out)
    np.testing.assert_array_equal(out, matrix)


@pytest.mark.parametrize("d", SIZES)
def test_row_norm_is_the_largest_sum_over_a_row(d):
    matrix = np.random.default_rng(d).normal(size=(d, d))  # not symmetric: rows and columns differ
    assert row_norm(matrix) == pytest.approx(np.linalg.norm(matrix, np.inf), rel=1e-14)


@pytest.mark.parametrize("d", SIZES)
def test_unpack_fills_the_lower_triangle_and_returns_the_norm_of_the_whole(d):
    matrix = symmetric(d)
    out = np.full((d, d), 7.0)
    norm = unpack(packed(matrix), out)
    assert norm == pytest.approx(np.linalg.norm(matrix, 1), rel=1e-14)
    np.testing.assert_array_equal(np.tril(out), np.tril(matrix))
    np.testing.assert_array_equal(out[np.triu_indices(d, 1)], 7.0)


@BROKEN
@pytest.mark.parametrize("d", [1, 2, 33, 70])
def test_what_is_not_finite_is_found_wherever_it_stands(value, d):
    """In a sum over a row NaN and infinities of both signs must not hide each other."""
    triangle = packed(positive_definite(d))
    for place in {0, len(triangle) // 3, len(triangle) // 2, len(triangle) - 1}:
        broken = triangle.copy()
        broken[place] = value
        room = np.empty((d, d))
        assert unpack(broken, room) == np.inf
        out = np.empty((d, d))
        mirror(room, out)
        assert row_norm(out) == np.inf
        assert try_factorise_triangle(broken, d) is None


def test_sums_that_overflow_are_infinite():
    """Finite numbers whose norm is not are as useless as infinite ones."""
    large = np.full((2, 2), 1e308)
    assert row_norm(large) == np.inf
    assert unpack(packed(large), np.empty((2, 2))) == np.inf


@pytest.mark.parametrize("d", SIZES)
def test_a_triangle_is_factorised_like_its_matrix(d):
    K = positive_definite(d)
    precision = try_factorise_triangle(packed(K), d)
    np.testing.assert_allclose(precision.L, np.linalg.cholesky(K), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(precision.M, np.linalg.inv(K), rtol=1e-9, atol=1e-13)
    np.testing.assert_array_equal(precision.M, precision.M.T)
    assert precision.log_determinant == pytest.approx(np.linalg.slogdet(K)[1], rel=1e-12)
    full = try_factorise(K)
    np.testing.assert_array_equal(precision.L, full.L)
    np.testing.assert_array_equal(precision.M, full.M)


@pytest.mark.parametrize("d", [1, 2, 33, 70])
def test_a_triangle_is_left_as_it_is(d):
    triangle = packed(positive_definite(d))
    before = triangle.copy()
    try_factorise_triangle(triangle, d)
    np.testing.assert_array_equal(triangle, before)


@pytest.mark.parametrize(
    "K",
    [np.ones((2, 2)), -np.eye(3), np.zeros((1, 1)), np.diag([1.0, 1e-16]), symmetric(40)],
    ids=["equal rows", "negative", "zero", "ill-conditioned", "indefinite"],
)
def test_what_has_no_usable_factor_gives_none(K):
    assert try_factorise_triangle(packed(K), len(K)) is None
    assert try_factorise(K) is None
