"""Predictions from draws whose law is known."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats
from scipy.special import i0

from posteriors import made
from vmqp import arcs, circle, regress, scores
from vmqp.errors import InputError

RNG = np.random.default_rng(20261116)
CENTRES, STRENGTHS = np.array([0.0, 2.0, np.pi]), np.array([20.0, 1.0, 4.0])
GRID = np.arange(0.0, 360.0, 0.5)


@pytest.fixture(scope="module")
def known():
    """Independent places: the law given the rest is the law itself."""
    draws = RNG.vonmises(CENTRES, STRENGTHS, size=(4, 2000, 3))
    fields = np.broadcast_to(STRENGTHS * np.exp(1j * CENTRES), draws.shape)
    return made(draws, fields=fields.copy())


def exact(grid, centre, strength):
    return np.exp(strength * np.cos(np.deg2rad(grid) - centre)) / (360.0 * i0(strength))


def test_mean_and_variance_are_those_of_the_law(known):
    # Standard errors of 8,000 independent draws are below 0.02 rad; five of them are allowed (false alarms: 6e-7 each).
    assert np.abs(circle.difference(known.mean, np.rad2deg(CENTRES), 360.0)).max() < np.rad2deg(0.1)
    ratio = np.array([stats.vonmises(k).expect(np.cos) for k in STRENGTHS])
    np.testing.assert_allclose(known.variance, 1.0 - ratio, atol=0.04)


def test_results_come_in_the_range_of_the_data(known):
    centred = made(known.to_datatree()["posterior"]["angle"].values, centred=True)
    for name in ("mean", "draws", "latent"):
        values = np.asarray(getattr(known, name))
        assert ((values >= 0.0) & (values < 360.0)).all()
        turned = np.asarray(getattr(centred, name))
        assert ((turned > -180.0) & (turned <= 180.0)).all()
        np.testing.assert_allclose(circle.difference(values, turned, 360.0), 0.0, atol=1e-9)


def test_interval_holds_the_share_of_the_draws_and_may_cross_the_cut(known):
    lower, upper = known.interval(0.9).T
    assert lower[0] > 270.0
    assert upper[0] < 90.0
    inside = arcs.in_arc(known.draws, lower, upper, 360.0).mean(axis=(0, 1))
    np.testing.assert_allclose(inside, 0.9, atol=1e-3)
    np.testing.assert_allclose(known.width(0.9), arcs.arc_width(lower, upper, 360.0))


def test_the_whole_circle_is_not_a_point(known):
    np.testing.assert_array_equal(known.interval(1.0), np.tile([0.0, 360.0], (3, 1)))
    np.testing.assert_array_equal(known.width(1.0), 360.0)
    frame = known.to_frame(1.0)
    assert (frame["upper"] - frame["lower"] == 360.0).all()
    assert all(arcs.arc_width(*region.T, 360.0).sum() == 360.0 for region in known.regions(1.0))


def test_density_is_the_law_and_is_normalised(known):
    density = known.density(GRID)
    assert density.shape == (3, 720)
    np.testing.assert_allclose(density.sum(axis=1) * 0.5, 1.0, atol=1e-9)
    for i in range(3):
        np.testing.assert_allclose(density[i], exact(GRID, CENTRES[i], STRENGTHS[i]), rtol=1e-6)


def test_density_at_single_angles_agrees_with_the_log_score(known):
    truth = np.array([10.0, 100.0, 181.0])
    np.testing.assert_allclose(known.log_score(truth), np.log(np.diag(known.density(truth))), rtol=1e-6)


@pytest.mark.parametrize("strength", [1e4, 1e8, 1e12])
def test_density_of_a_stiff_kernel_is_finite_normalised_and_has_no_comb(strength):
    """Laws far narrower than the spread of their centres: the mean must show the spread, not 500 spikes."""
    centres = 1.0 + 0.3 * RNG.standard_normal((2, 250, 1))
    post = made(centres, fields=strength * np.exp(1j * centres))
    for count in (90, 720, 3600):
        grid = np.arange(count) * (360.0 / count)
        density = post.density(grid)
        assert np.isfinite(density).all()
        assert density.sum() * 360.0 / count == pytest.approx(1.0, abs=2e-4)
    wanted = stats.norm(np.rad2deg(1.0), np.rad2deg(0.3)).pdf(grid)
    assert np.abs(density[0] - wanted).max() < 0.3 * wanted.max()
    assert len(post.modes()[0]) == 1
    assert np.isfinite(post.log_score([50.0])).all()
    assert np.isfinite(post.log_score([250.0])).all()


def test_density_of_a_spike_is_seen_on_a_coarse_grid():
    draws = np.full((2, 100, 1), 0.5) + 1e-9 * RNG.standard_normal((2, 100, 1))
    post = made(draws, fields=1e12 * np.exp(1j * draws))
    density = post.density(np.arange(360.0))
    assert np.isfinite(density).all()
    assert density.sum() == pytest.approx(1.0, abs=2e-4)


@pytest.mark.parametrize("learned", [True, False])
def test_density_and_draws_with_noise_are_those_of_an_observation(learned):
    chi, k = 3.0, 8.0
    draws = RNG.vonmises(2.0, k, size=(4, 3000, 1))
    options = {"parameters": {"noise": np.full((4, 3000), chi)}} if learned else {"noise": chi}
    post = made(draws, fields=np.full(draws.shape, k * np.exp(2j)), **options)
    grid = np.deg2rad(GRID)
    fine = np.linspace(-np.pi, np.pi, 2000, endpoint=False)
    latent, noise = stats.vonmises(k, loc=2.0).pdf(fine), stats.vonmises(chi)
    wanted = (latent * noise.pdf(grid[:, None] - fine)).sum(axis=1) * (fine[1] - fine[0])
    np.testing.assert_allclose(post.density(GRID)[0], wanted * np.pi / 180.0, rtol=1e-6)
    # Kolmogorov-Smirnov of 12,000 draws: false alarm 1e-4.
    turned = circle.difference(np.deg2rad(post.draws.reshape(-1)), 2.0)
    cumulative = np.cumsum(np.roll(wanted, 360 - np.searchsorted(grid, 2.0))) * (grid[1] - grid[0])
    at = np.deg2rad(GRID) - np.pi
    assert stats.kstest(turned, lambda t: np.interp(t, at, cumulative)).pvalue > 1e-4
    assert (
        stats.kstest(
            circle.difference(np.deg2rad(post.latent.reshape(-1)), 2.0), stats.vonmises(k).cdf
        ).pvalue
        > 1e-4
    )
    np.testing.assert_array_equal(post.draws, made(draws, fields=np.ones_like(draws) + 0j, **options).draws)


def test_known_noise_by_row_leaves_new_observations_without_noise_unless_it_is_given():
    draws = RNG.vonmises(2.0, 5.0, size=(2, 100, 2))
    post = made(draws, noise=2.0, noise_of_new="none")
    np.testing.assert_array_equal(post.draws, post.latent)


def test_two_modes_are_two_regions_and_two_modes():
    centres = np.where(RNG.random((4, 1000, 1)) < 0.7, 0.1, 3.0)
    post = made(RNG.vonmises(centres, 40.0), fields=40.0 * np.exp(1j * centres))
    (region,) = post.regions(0.9)
    assert region.shape == (2, 2)
    widths = arcs.arc_width(region[:, 0], region[:, 1], 360.0)
    assert widths.sum() < 0.6 * post.width(0.9)[0]
    (modes,) = post.modes()
    np.testing.assert_allclose(modes, np.rad2deg([0.1, 3.0]), atol=1.0)
    assert len(post.modes(least=0.5)[0]) == 1


def test_regions_of_a_narrow_law_are_narrow():
    draws = RNG.vonmises(0.001, 1e6, size=(4, 1000, 1))
    post = made(draws, fields=1e6 * np.exp(1j * np.full(draws.shape, 0.001)))
    (region,) = post.regions(0.9)
    assert region.shape == (1, 2)
    assert arcs.arc_width(*region[0], 360.0) == pytest.approx(post.width(0.9)[0], rel=0.2)


def test_probability_of_a_sector_counts_draws(known):
    total = known.probability(0.0, 90.0) + known.probability(90.0, 360.0)
    np.testing.assert_allclose(total, 1.0, atol=1e-12)
    assert known.probability(350.0, 10.0)[0] > 0.3
    np.testing.assert_array_equal(known.probability(0.0, 360.0), 1.0)
    by_place = known.probability(np.rad2deg(CENTRES) - 30.0, np.rad2deg(CENTRES) + 30.0)
    assert (by_place > 0.2).all()


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda p: p.interval(0.0), "probability"),
        (lambda p: p.interval(1.5), "probability"),
        (lambda p: p.regions(-1), "probability"),
        (lambda p: p.probability([1.0, 2.0], 3.0), "shape"),
        (lambda p: p.probability("a", 3.0), "numbers"),
        (lambda p: p.density([[1.0]]), "list"),
        (lambda p: p.density([np.nan]), "finite"),
        (lambda p: p.crps([1.0]), "3"),
        (lambda p: p.log_score([1.0, np.inf, 2.0]), "y_true"),
        (lambda p: p.coverage([np.nan] * 3), "all 3 values of y_true are missing"),
        (lambda p: p.loo(), "likelihoods"),
        (lambda p: p.compare(3), "Posterior"),
    ],
)
def test_wrong_questions_are_refused_in_words(known, call, word):
    with pytest.raises(InputError, match=word):
        call(known)


def test_a_posterior_without_fields_has_draws_but_no_density():
    post = made(RNG.vonmises(0.0, 1.0, size=(2, 50, 1)))
    assert post.interval().shape == (1, 2)
    with pytest.raises(InputError, match="fields"):
        post.density([0.0])


def test_scores_agree_with_their_definitions(known):
    truth = np.rad2deg(CENTRES) + 20.0
    draws = np.deg2rad(known.draws.reshape(-1, 3))
    gap = 1.0 - np.cos(draws - np.deg2rad(truth))
    resultant = np.abs(np.exp(1j * draws).mean(axis=0))
    spread = (1.0 - resultant**2) * len(draws) / (len(draws) - 1)  # over pairs of distinct draws
    np.testing.assert_allclose(known.crps(truth), gap.mean(axis=0) - 0.5 * spread, atol=1e-9)
    np.testing.assert_allclose(known.crps(truth + 720.0), known.crps(truth), atol=1e-9)
    arc = scores.crps(draws, np.deg2rad(truth), distance="arc")
    np.testing.assert_allclose(known.crps(truth, distance="arc"), np.rad2deg(arc), rtol=1e-9)
    with pytest.raises(InputError, match="'arc'"):
        known.crps(truth, distance="chord")
    wanted = [stats.vonmises(k).cdf(np.deg2rad(20.0)) for k in STRENGTHS]
    np.testing.assert_allclose(known.pit(truth), wanted, atol=0.03)
    assert known.coverage(np.rad2deg(CENTRES), 0.5) == 1.0
    assert known.coverage(np.rad2deg(CENTRES) + 180.0, 0.5) == 0.0


@pytest.mark.parametrize("joint", [True, False])
def test_a_truth_that_is_nan_is_not_scored(known, joint):
    kernel = "2 * exponential(3) + nugget(0.01)"
    closed = {"period": 360, "kernel": kernel, "concentration": 0, "progress": False}
    post = known if joint else regress([[0.0], [4.0]], [0.0, 90.0], [[1.0], [2.0], [9.0]], **closed)
    whole = np.array([20.0, 150.0, 200.0])
    some = np.where([True, False, True], whole, np.nan)
    for score in (post.crps, lambda y: post.crps(y, distance="arc"), post.log_score, post.pit):
        found = score(some)
        assert np.isnan(found).tolist() == [False, True, False]
        np.testing.assert_array_equal(found[[0, 2]], score(whole)[[0, 2]])
    inside = [post.interval(0.3)[i] for i in (0, 2)]
    held = [bool(arcs.in_arc(whole[i], *arc, 360.0)) for i, arc in zip((0, 2), inside, strict=True)]
    assert post.coverage(some, 0.3) == np.mean(held)
    axes = post.plot_calibration(some)
    assert axes[0].get_ylabel() == "cases (n = 2)"
    plt.close(axes[0].figure)
