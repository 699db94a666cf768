"""The generator against its published algorithm, and its uniforms and normals against their laws.

False alarms: every statistical comparison fails by chance with the probability 1e-7, the file below 1e-5.
"""

import numpy as np
import pytest
from numba import njit
from scipy import stats

from references import size
from vmqp.sampling import seed_streams
from vmqp.sampling.random import _rare_normal, normal, uniform

RATE = 1e-7
TAIL = 3.6541528853610088
MASK = 2**64 - 1


@njit
def _uniforms(streams, k, out):
    for i in range(out.shape[0]):
        out[i] = uniform(streams, k)


@njit
def _normals(streams, k, out):
    for i in range(out.shape[0]):
        out[i] = normal(streams, k)


@njit
def _tails(streams, k, out):
    """Draws of the lowest layer that begin beyond its rectangle: the tail, on the right."""
    for i in range(out.shape[0]):
        out[i] = _rare_normal(streams, k, 0, 0.999999)


def fill(law, n, seed=0, chains=1, chain=0):
    out = np.empty(n)
    law(seed_streams(seed, chains), chain, out)
    return out


@pytest.fixture(scope="module")
def normals():
    return fill(_normals, size(4_000_000), seed=21)


def rotate_left(word, by):
    return ((word << by) | (word >> (64 - by))) & MASK


def xoshiro256pp(words):
    """Blackman and Vigna's xoshiro256++ 1.0 in whole numbers: the result, and the words after it."""
    s = list(words)
    result = (rotate_left((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
    t = (s[1] << 17) & MASK
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= t
    s[3] = rotate_left(s[3], 45)
    return result, s


def test_published_first_outputs():
    """The first outputs for the words 1, 2, 3, 4, as other libraries test them."""
    words, results = [1, 2, 3, 4], []
    for _ in range(4):
        result, words = xoshiro256pp(words)
        results.append(result)
    assert results == [41943041, 58720359, 3588806011781223, 3591011842654386]


@pytest.mark.parametrize("words", [[1, 2, 3, 4], [MASK, 1, MASK - 1, 2**63], None])
def test_generator_is_xoshiro256pp(words):
    streams = seed_streams(3, 2) if words is None else np.array([[9, 9, 9, 9], words], np.uint64)
    other, words = streams[0].copy(), [int(word) for word in streams[1]]
    out = np.empty(500)
    _uniforms(streams, 1, out)
    for value in out:
        result, words = xoshiro256pp(words)
        assert value == (result >> 11) * 2.0**-53
    assert [int(word) for word in streams[1]] == words
    np.testing.assert_array_equal(streams[0], other)


def test_streams():
    """Reproducible, different, and the first ones do not depend on how many there are."""
    many = seed_streams(7, 50)
    assert many.shape == (50, 4)
    assert many.dtype == np.uint64
    np.testing.assert_array_equal(many, seed_streams(7, 50))
    np.testing.assert_array_equal(many[:3], seed_streams(7, 3))
    assert len(np.unique(many)) == many.size
    assert not np.isin(many, seed_streams(8, 50)).any()
    assert many.any(axis=1).all()


def test_seed_sequence_is_not_changed():
    sequence = np.random.SeedSequence(7)
    np.testing.assert_array_equal(seed_streams(sequence, 3), seed_streams(7, 3))
    np.testing.assert_array_equal(seed_streams(sequence, 3), seed_streams(7, 3))
    assert sequence.n_children_spawned == 0
    child = sequence.spawn(1)[0]
    assert not np.isin(seed_streams(child, 3), seed_streams(7, 3)).any()


@pytest.mark.statistical
def test_uniform():
    u = fill(_uniforms, size(1_000_000))
    assert u.min() >= 0.0
    assert u.max() < 1.0
    assert len(np.unique(u)) > 0.999999 * len(u)
    assert stats.kstest(u, "uniform").pvalue > RATE
    for power in (1, 2, 3):
        z = ((u**power).mean() - 1.0 / (power + 1)) / stats.sem(u**power)
        assert 2.0 * stats.norm.sf(abs(z)) > RATE
    low = np.floor(u * 2**53).astype(np.int64) & 1
    assert stats.binomtest(int(low.sum()), len(u)).pvalue > RATE


@pytest.mark.statistical
def test_pairs_of_uniforms_fill_the_square():
    u = fill(_uniforms, size(1_000_000), seed=4).reshape(-1, 2)
    counts, *_ = np.histogram2d(*u.T, bins=32, range=[[0, 1], [0, 1]])
    assert stats.chisquare(counts.ravel()).pvalue > RATE


@pytest.mark.statistical
@pytest.mark.parametrize("law", [_uniforms, _normals])
def test_streams_are_uncorrelated(law):
    n = size(200_000)
    draws = np.stack([fill(law, n, seed=6, chains=6, chain=k) for k in range(6)])
    r = np.corrcoef(draws)[np.triu_indices(6, 1)]
    assert 2.0 * stats.norm.sf(np.abs(r).max() * np.sqrt(n)) * r.size > RATE
    for lag in (1, 2, 5):
        r = np.corrcoef(draws[0, lag:], draws[0, :-lag])[0, 1]
        assert 2.0 * stats.norm.sf(abs(r) * np.sqrt(n - lag)) > RATE


@pytest.mark.statistical
def test_normal_distribution(normals):
    assert stats.kstest(normals[: size(1_000_000)], "norm").pvalue > RATE


@pytest.mark.statistical
def test_normal_moments(normals):
    for power, exact in ((1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0), (6, 15.0)):
        values = normals**power
        z = (values.mean() - exact) / stats.sem(values)
        assert 2.0 * stats.norm.sf(abs(z)) > RATE


@pytest.mark.statistical
def test_normal_in_fine_bins(normals):
    """Steps, wedges and the seams between the layers of the ziggurat would show in the counts of 400 bins."""
    edges = np.concatenate([[-np.inf], np.linspace(-4.0, 4.0, 399), [np.inf]])
    counts = np.histogram(normals, edges)[0]
    assert stats.chisquare(counts, np.diff(stats.norm.cdf(edges)) * len(normals)).pvalue > RATE


@pytest.mark.statistical
def test_normal_tail(normals):
    """Beyond the last layer: how often, on both sides, and how far."""
    tail = np.abs(normals) > TAIL
    share = 2.0 * stats.norm.sf(TAIL)
    assert stats.binomtest(int(tail.sum()), len(normals), share).pvalue > RATE
    assert stats.binomtest(int((normals[tail] > 0.0).sum()), int(tail.sum())).pvalue > RATE
    beyond = np.abs(normals[tail])
    assert stats.kstest(beyond, lambda x: 1.0 - 2.0 * stats.norm.sf(x) / share).pvalue > RATE


@pytest.mark.statistical
def test_size_and_sign_of_a_normal_are_independent(normals):
    r = np.corrcoef(np.sign(normals), np.abs(normals))[0, 1]
    assert 2.0 * stats.norm.sf(abs(r) * np.sqrt(len(normals))) > RATE


@pytest.mark.statistical
def test_shape_of_the_tail():
    """The tail alone, so that its small difference from an exponential counts."""
    beyond = fill(_tails, size(500_000), seed=3)
    assert beyond.min() >= TAIL
    assert stats.kstest(beyond, lambda x: 1.0 - stats.norm.sf(x) / stats.norm.sf(TAIL)).pvalue > RATE
