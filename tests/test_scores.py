"""CRPS, PIT, coverage and relative ESS against closed forms, and that they tell good predictions from bad ones.

Tests that draw say how often they fail by chance; their seeds are fixed.
"""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, signal, special, stats

from vmqp.errors import InputError
from vmqp.scores import coverage_band, covered, crps, pit, relative_ess
from vmqp.scores import draws as by_blocks


def law(size, concentration, mean=0.0, seed=0):
    return np.random.default_rng(seed).vonmises(mean, concentration, size)


def distance(a, b):
    return 1 - np.cos(a - b)


def arc(a, b):
    apart = np.abs(a - b) % (2 * np.pi)
    return np.minimum(apart, 2 * np.pi - apart)


DISTANCES = {"cosine": distance, "arc": arc}


def by_definition(draws, truth, kind="cosine", unbiased=True):
    """E d(φ, y) − ½ E d(φ, φ′) by all pairs of draws, a draw with itself or not."""
    d, n = DISTANCES[kind], len(draws)
    spread = d(draws[:, None], draws[None, :]).sum(axis=(0, 1)) / (n * (n - unbiased))
    return d(draws, truth).mean(axis=0) - 0.5 * spread


@pytest.mark.parametrize("kind", DISTANCES)
@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize("concentration", [0.0, 0.5, 3.0, 100.0])
@pytest.mark.parametrize("n", [2, 3, 50])
def test_crps_by_its_definition(kind, unbiased, concentration, n):
    draws, truth = law((n, 7), concentration, 3.0), law(7, 0.0, seed=1)
    found = crps(draws, truth, distance=kind, unbiased=unbiased)
    np.testing.assert_allclose(found, by_definition(draws, truth, kind, unbiased), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("kind", DISTANCES)
def test_crps_of_draws_that_meet_each_other_the_truth_and_its_antipode(kind):
    """A lattice of eight directions: ties, half turns and quarter turns are all there."""
    rng = np.random.default_rng(3)
    draws, truth = rng.integers(-8, 9, (9, 40)) * np.pi / 4, rng.integers(-8, 9, 40) * np.pi / 4
    for unbiased in (True, False):
        found = crps(draws, truth, distance=kind, unbiased=unbiased)
        np.testing.assert_allclose(found, by_definition(draws, truth, kind, unbiased), atol=1e-13)


@pytest.mark.parametrize("kind", DISTANCES)
def test_one_draw_has_no_spread(kind):
    draws, truth = law((1, 9), 0.0), law(9, 0.0, seed=1)
    for unbiased in (True, False):
        found = crps(draws, truth, distance=kind, unbiased=unbiased)
        np.testing.assert_allclose(found, DISTANCES[kind](draws[0], truth), rtol=1e-12)


def excess_of_few_draws(kind, unbiased):
    """Standard errors by which the mean score of three draws at a time is above that of their law."""
    draws = law((3, 40_000), 1.0, seed=7)
    truth = np.full(40_000, 0.7)
    exact = crps(quantiles(20_000, 1.0)[:, None], [0.7], distance=kind, unbiased=False)[0]
    few = crps(draws, truth, distance=kind, unbiased=unbiased)
    return (few.mean() - exact) / (few.std() / math.sqrt(few.size))


@pytest.mark.parametrize("kind", DISTANCES)
def test_few_draws_score_as_their_law_on_average(kind):
    """Within five standard errors: by chance it fails in 6 of ten million runs. With self-pairs it does not hold."""
    assert abs(excess_of_few_draws(kind, unbiased=True)) < 5
    assert excess_of_few_draws(kind, unbiased=False) > 20


def test_two_modes_are_seen_by_the_arc_and_not_by_the_cosine():
    """Two modes at ±60°, and one broad law with the same mean vector ½; truths are in the middle and at a mode."""
    narrow = quantiles(2000, 200.0)
    modes = np.concatenate([np.pi / 3 + narrow, -np.pi / 3 + narrow])
    length = np.cos(modes).mean()
    concentration = optimize.brentq(lambda k: special.i1(k) / special.i0(k) - length, 0.1, 10)
    broad = quantiles(4000, concentration)
    truth = np.array([0.0, np.pi / 3])

    def scored(draws, kind):
        return crps(np.repeat(draws[:, None], 2, axis=1), truth, distance=kind, unbiased=False)

    np.testing.assert_allclose(scored(modes, "cosine"), scored(broad, "cosine"), atol=1e-5)
    middle, at_mode = scored(modes, "arc") - scored(broad, "arc")
    assert middle > 0.05
    assert at_mode < -0.01


def test_opposite_modes_are_seen_by_neither():
    """Even harmonics: only the log score tells two opposite modes from a law that knows nothing."""
    truth = np.linspace(0, 3, 5)
    draws = np.repeat([[0.0], [np.pi]], 5, axis=1)
    np.testing.assert_allclose(crps(draws, truth, distance="arc", unbiased=False), np.pi / 4, rtol=1e-12)


GRID = np.linspace(-np.pi, np.pi, 20_000, endpoint=False) + np.pi / 20_000


def weights(concentration):
    """Probabilities of small cells of the von Mises law about 0."""
    density = np.exp(concentration * (np.cos(GRID) - 1))
    return density / density.sum()


def quantiles(n, concentration):
    """Equally likely draws that stand for the law."""
    w = weights(concentration)
    return np.interp((np.arange(n) + 0.5) / n, np.cumsum(w) - w / 2, GRID)


@pytest.mark.parametrize("kind", DISTANCES)
@pytest.mark.parametrize("concentration", [0.3, 2.0, 30.0])
def test_crps_of_a_von_mises_law_by_quadrature(concentration, kind):
    d = DISTANCES[kind]
    truth, mean = np.array([2.5, -2.0, 0.1]), 2.5
    draws = np.repeat(mean + quantiles(5000, concentration)[:, None], 3, axis=1)
    w, coarse = weights(concentration), weights(concentration).reshape(-1, 40).sum(axis=1)
    middle = GRID.reshape(-1, 40).mean(axis=1)
    spread = coarse @ d(middle[:, None], middle[None, :]) @ coarse
    expected = [w @ d(mean + GRID, y) - 0.5 * spread for y in truth]
    np.testing.assert_allclose(crps(draws, truth, distance=kind, unbiased=False), expected, atol=5e-5)


def test_crps_of_a_point_is_the_distance():
    draws, truth = np.full((5, 4), 3.0), np.array([3.0, -3.0, 0.5, 3.0 - np.pi])
    np.testing.assert_allclose(crps(draws, truth), distance(3.0, truth), rtol=1e-14, atol=1e-30)
    np.testing.assert_allclose(crps(draws, truth, distance="arc"), arc(3.0, truth), rtol=1e-14, atol=1e-30)


def test_crps_of_the_uniform_law_is_the_same_everywhere():
    draws = np.repeat(np.linspace(-np.pi, np.pi, 101)[:-1, None], 5, axis=1)
    truth = np.linspace(0, 6, 5)
    np.testing.assert_allclose(crps(draws, truth, unbiased=False), 0.5, rtol=1e-14)
    np.testing.assert_allclose(crps(draws, truth, distance="arc", unbiased=False), np.pi / 4, rtol=1e-3)


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9, 1e-60])
def test_crps_keeps_its_digits_for_concentrated_draws(width):
    """Two draws at ±w about the truth score ½ (1 − cos w)² = 2 sin⁴(w/2); by differences it would be 0.

    Over distinct pairs it is (1 − cos w) − ½ (1 − cos 2w) = 2 sin²(w/2) − sin² w. The arc score is w/2, and 0.
    """
    pair = [[width], [-width]]
    score = crps(pair, [0.0], unbiased=False)[0]
    assert score == pytest.approx(2 * math.sin(width / 2) ** 4, rel=1e-13, abs=0)
    assert score > 0
    expected = 2 * math.sin(width / 2) ** 2 - math.sin(width) ** 2
    assert crps(pair, [0.0])[0] == pytest.approx(expected, rel=1e-13, abs=0)
    assert crps(pair, [0.0], distance="arc", unbiased=False)[0] == pytest.approx(width / 2, rel=1e-13, abs=0)
    assert crps(pair, [0.0], distance="arc")[0] == pytest.approx(0.0, abs=1e-15 * width)


def best_of_its_rivals(score):
    """Whether the true law scores best, on the same truths, by the difference that theory says.

    The difference in expected score is ½ |m − m′|² for mean vectors m and m′. Each of five rivals may be off
    by five standard errors: by chance one is in 3 of a million runs.
    """
    truths = law(2000, 2.0, 1.0, seed=2)

    def scored(mean, concentration):
        return score(mean + quantiles(400, concentration), truths)

    def vector(mean, concentration):
        return special.i1(concentration) / special.i0(concentration) * np.exp(1j * mean)

    own = scored(1.0, 2.0)
    for rival in ((1.2, 2.0), (0.8, 2.0), (1.0, 3.0), (1.0, 1.0), (4.0, 0.5)):
        excess = scored(*rival) - own
        expected = 0.5 * abs(vector(*rival) - vector(1.0, 2.0)) ** 2
        if not abs(excess.mean() - expected) < 5 * excess.std() / math.sqrt(truths.size):
            return False
    return True


def test_crps_is_proper():
    assert best_of_its_rivals(
        lambda q, y: crps(np.broadcast_to(q[:, None], (q.size, y.size)), y, unbiased=False)
    )


def test_an_improper_score_is_caught():
    """Without the half a flatter law scores better."""

    def wrong(q, y):
        spread = 1 - abs(np.exp(1j * q).mean()) ** 2
        return crps(np.broadcast_to(q[:, None], (q.size, y.size)), y, unbiased=False) - 0.5 * spread

    assert not best_of_its_rivals(wrong)


@pytest.mark.parametrize("turn", [0.0, 1.0, np.pi, -2.5, 40 * np.pi + 1])
def test_turning_all_angles_changes_no_score(turn):
    draws, truth = law((200, 6), 1.5, np.arange(6.0)), law(6, 1.5, np.arange(6.0), seed=1)
    for kind in DISTANCES:
        turned = crps(draws + turn, truth + turn, distance=kind)
        np.testing.assert_allclose(turned, crps(draws, truth, distance=kind), atol=1e-12)
    np.testing.assert_allclose(pit(draws + turn, truth + turn), pit(draws, truth), atol=1e-12)


def test_a_truth_some_turns_away_is_still_equal_to_its_draw():
    assert crps([[41.0], [41.0]], [41.0]).tolist() == [0.0]
    assert pit([[41.0], [41.0]], [41.0]).tolist() == [0.5]


def test_mirrored_angles_have_mirrored_transforms():
    draws, truth = law((201, 6), 1.5, np.arange(6.0)), law(6, 1.5, np.arange(6.0), seed=1)
    np.testing.assert_allclose(pit(-draws, -truth), 1 - pit(draws, truth), atol=1e-12)


def test_pit_counts_from_the_cut_opposite_the_mean():
    draws = np.radians([[170.0], [175.0], [-175.0], [-165.0]])
    truth = np.radians([165.0, 172.0, 178.0, -170.0, -100.0, 175.0])
    transforms = pit(np.repeat(draws, 6, axis=1), truth)
    assert transforms.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0, 0.375]


def test_pit_of_a_point_and_of_draws_without_a_mean():
    assert pit(np.zeros((10, 3)), [-0.1, 0.0, 0.1]).tolist() == [0.0, 0.5, 1.0]
    opposite = np.repeat([[0.0], [np.pi]], 2, axis=1)
    assert pit(opposite, [-1.0, 1.0]).tolist() == [0.0, 0.5]


def calibrated(m, n, concentration, forecast, seed):
    rng = np.random.default_rng(seed)
    means = rng.uniform(-np.pi, np.pi, m)
    return rng.vonmises(means, forecast, (n, m)), rng.vonmises(means, concentration)


@pytest.mark.parametrize("concentration", [1.0, 20.0])
def test_calibrated_draws_have_uniform_transforms(concentration):
    """Kolmogorov-Smirnov; by chance it fails once in a million."""
    draws, truth = calibrated(1500, 600, concentration, concentration, seed=3)
    assert stats.kstest(pit(draws, truth), "uniform").pvalue > 1e-6


@pytest.mark.parametrize("forecast", [1.6, 6.0])
def test_draws_too_wide_or_too_narrow_are_caught(forecast):
    draws, truth = calibrated(1500, 600, 3.0, forecast, seed=4)
    assert stats.kstest(pit(draws, truth), "uniform").pvalue < 1e-6


def test_few_draws_have_uniform_transforms_with_a_generator():
    """Nine draws, rounded so that some are equal; by chance it fails once in a million."""
    draws, truth = calibrated(4000, 9, 30.0, 30.0, seed=5)
    draws, truth = np.round(draws, 1), np.round(truth, 1)
    transforms = pit(draws, truth, np.random.default_rng(6))
    assert stats.kstest(transforms, "uniform").pvalue > 1e-6
    assert stats.kstest(pit(draws, truth), "uniform").pvalue < 1e-6


def test_covered():
    lower, upper = np.array([350.0, 0.0, 10.0, 5.0]), np.array([10.0, 360.0, 350.0, 5.0])
    assert covered(lower, upper, [5, 123, 0, 5], period=360).tolist() == [True, True, False, True]
    assert covered(-0.1, 0.1, [0.0, 0.2]).tolist() == [True, False]
    assert covered([], [], []).dtype == bool


def below(k, n, p):
    """P(X < k) of the binomial law, in fractions."""
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k))


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
@pytest.mark.parametrize("n", [1, 7, 40, 300])
def test_coverage_band_is_the_smallest_that_holds(n, p):
    error = Fraction(1, 20)
    lowest, highest = (round(share * n) for share in coverage_band(n, float(p), float(error)))
    assert below(lowest, n, p) <= error / 2 <= below(lowest + 1, n, p)
    assert 1 - below(highest + 1, n, p) <= error / 2
    assert highest == 0 or 1 - below(highest, n, p) > error / 2


def test_coverage_band_of_many_and_of_a_sure_thing():
    lowest, highest = coverage_band(10**9, 0.9)
    width = 1.96 * math.sqrt(0.09 / 10**9)
    assert (lowest, highest) == pytest.approx((0.9 - width, 0.9 + width), abs=0.01 * width)
    assert coverage_band(10, 1) == (1.0, 1.0)
    assert coverage_band(np.int64(10), 0.5) == coverage_band(10, 0.5)


def test_blocks_change_nothing(monkeypatch):
    draws, truth = law((30, 11), 1.0), law(11, 1.0, seed=1)
    one_by_one = [pit(draws[:, [i]], truth[[i]])[0] for i in range(11)]
    for block in (1, 70, 10**6):
        monkeypatch.setattr(by_blocks, "_BLOCK", block)
        for kind in DISTANCES:
            expected = by_definition(draws, truth, kind)
            np.testing.assert_allclose(crps(draws, truth, distance=kind), expected, rtol=1e-11)
        np.testing.assert_array_equal(pit(draws, truth), one_by_one)


def test_draws_are_not_copied_and_not_changed():
    draws = law((20_000, 300), 3.0).astype(np.float32)
    kept, truth = draws.copy(), law(300, 3.0, seed=1)
    for score in (crps, lambda *given: crps(*given, distance="arc"), pit):
        tracemalloc.start()
        score(draws, truth)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 30e6 < draws.size * 8
    np.testing.assert_array_equal(draws, kept)


def test_no_places_and_whole_numbers():
    assert crps(np.empty((3, 0)), []).shape == pit(np.empty((3, 0)), []).shape == (0,)
    assert crps([[1, 2]], [1, 2]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("score", [crps, pit])
@pytest.mark.parametrize(
    ("draws", "truth", "message"),
    [
        (np.zeros((4, 2, 3)), np.zeros(3), r"reshape\(-1, m\)"),
        (np.zeros((4, 2)), np.zeros(3), r"shape \(draws, m\)"),
        (np.zeros(3), np.zeros(3), r"shape \(draws, m\)"),
        (np.zeros((4, 1)), 0.0, r"shape \(draws, m\)"),
        (np.zeros((0, 3)), np.zeros(3), "at least one draw"),
        ([[0.0, 1.0], [0.0, np.nan]], [0.0, 0.0], "draw 1 of place 1 is nan"),
        ([[0.0, np.inf]], [0.0, 0.0], "draw 0 of place 1 is inf"),
        ([[0.0, 0.0]], [0.0, np.nan], "truth must be finite"),
        ([["a", "b"]], [0.0, 0.0], "real numbers"),
        ([[1j, 2j]], [0.0, 0.0], "real numbers"),
        ([[0.0], [0.0, 1.0]], [0.0], "table of numbers"),
        ([[0.0]], ["north"], "truth must be numbers"),
    ],
)
def test_refused(score, draws, truth, message):
    with pytest.raises(InputError, match=message):
        score(draws, truth)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pit([[0.0]], [0.0], rng=1), "NumPy Generator"),
        (lambda: covered([0.0, 1.0], [1.0, 2.0], [0.0]), "one arc for each truth"),
        (lambda: covered([0.0], [np.nan], [0.0]), "upper must be finite"),
        (lambda: covered([0.0], [1.0], [0.0], period=0), "period must be positive"),
        (lambda: coverage_band(0, 0.9), "whole number from 1"),
        (lambda: coverage_band(2.5, 0.9), "whole number from 1"),
        (lambda: coverage_band(10, 90), "probability must lie"),
        (lambda: coverage_band(10, 0.9, 0), "error must lie"),
        (lambda: crps([[0.0]], [0.0], distance="chord"), "'cosine' for 1 − cos, or 'arc'"),
        (lambda: relative_ess([1.0, 2.0, 3.0]), "at least 4 draws"),
        (lambda: relative_ess(np.zeros((2, 10, 3))), r"\(2, 10, 3\)"),
        (lambda: relative_ess([1.0, 2.0, np.nan, 4.0]), "finite"),
        (lambda: relative_ess(["a", "b", "c", "d"]), "numbers"),
    ],
)
def test_refused_by_the_others(call, message):
    with pytest.raises(InputError, match=message):
        call()


def autoregression(coefficient, shape, seed):
    """A chain with autocorrelations ρ_l = coefficient^l, from its stationary law."""
    noise = np.random.default_rng(seed).normal(size=shape)
    noise[..., 0] /= math.sqrt(1 - coefficient**2)
    return signal.lfilter([1.0], [1.0, -coefficient], noise, axis=-1)


@pytest.mark.parametrize("coefficient", [0.9, 0.5, 0.0, -0.5])
def test_relative_ess_of_an_autoregression(coefficient):
    """1 / (1 + 2 Σ ρ^l) = (1 − ρ)/(1 + ρ), within 25 %: five standard deviations or more.

    Over 60 other seeds its standard deviation was at most 5 %, so by chance it fails in 5 of a million runs.
    """
    exact = (1 - coefficient) / (1 + coefficient)
    assert relative_ess(autoregression(coefficient, (4, 20_000), 8)) == pytest.approx(exact, rel=0.25)
    assert relative_ess(autoregression(coefficient, 80_000, 9)) == pytest.approx(exact, rel=0.25)


def test_relative_ess_knows_chains_that_disagree():
    chains = autoregression(0.5, (4, 2000), 10)
    assert relative_ess(chains + 3 * np.arange(4)[:, None]) < 0.01 < relative_ess(chains)
    assert math.isnan(relative_ess(np.full((2, 10), 3.0)))
