"""Shortest arcs and regions of highest density."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from vmqp import arcs, circle
from vmqp.errors import InputError

TWO_PI = 2 * np.pi

reproducible = settings(max_examples=150, deadline=None, derandomize=True, database=None)
seeds = st.integers(0, 2**32 - 1)
probabilities = st.floats(0.01, 1) | st.just(1.0)
# Whole numbers of a period of 360 make ties, and their arithmetic is exact.
whole_draws = hnp.arrays(float, st.integers(1, 9), elements=st.integers(-720, 720))
draws_of_any_kind = whole_draws | hnp.arrays(float, st.integers(1, 30), elements=st.floats(-1e3, 1e3))


def inside(angles, regions, period):
    """How many angles the arcs hold together."""
    return int(np.any([arcs.in_arc(angles, *arc, period) for arc in regions], axis=0).sum())


def total_width(regions, period):
    return float(np.sum(arcs.arc_width(regions[:, 0], regions[:, 1], period)))


def two_modes(rng, n, sd, distance, share=0.5):
    centres = np.where(rng.random(n) < share, 0.0, distance)
    return centres + sd * rng.standard_normal(n)


def brute_force_width(angles, count, period):
    """Width of the shortest arc with `count` draws, by trying each draw as its start."""
    best = math.inf
    for start in angles:
        offsets = np.sort(circle.wrap(circle.difference(angles, start, period), period, 0))
        best = min(best, offsets[count - 1])
    return best


def test_arc_width_and_membership_of_known_arcs():
    assert arcs.arc_width(350, 10, 360) == 20
    assert arcs.arc_width(10, 350, 360) == 340
    assert arcs.arc_width(7, 7, 360) == 0
    assert arcs.arc_width(7, 367, 360) == 360
    assert arcs.arc_width(-180, 180, 360) == 360
    assert arcs.arc_width(0.1, 0.1 + TWO_PI) == TWO_PI
    assert arcs.arc_width(-1e3, -1e3 + TWO_PI) == TWO_PI
    assert arcs.in_arc([350, 0, 10, 11, 349, 370], 350, 10, 360).tolist() == [True] * 3 + [False] * 2 + [True]
    assert arcs.in_arc([7, 8, 367], 7, 7, 360).tolist() == [True, False, True]
    assert arcs.in_arc(np.arange(360), 7, 367, 360).all()
    assert arcs.in_arc(np.zeros((3, 1)), np.zeros(4), np.ones(4)).shape == (3, 4)
    assert arcs.in_arc(1.0, 0.5, 2.0) is True


@given(st.floats(-1e3, 1e3), st.floats(-180, 180), st.floats(1e-3, 359.999))
@reproducible
def test_an_arc_and_its_complement_cover_the_circle(angle, lower, width):
    upper = circle.wrap(lower + width, 360)
    lower = circle.wrap(lower, 360)
    assert arcs.arc_width(lower, upper, 360) == pytest.approx(width, rel=1e-9)
    assert arcs.arc_width(upper, lower, 360) == pytest.approx(360 - width, rel=1e-9)
    both = arcs.in_arc(angle, lower, upper, 360), arcs.in_arc(angle, upper, lower, 360)
    assert any(both)
    distance = np.abs(circle.difference(angle, [lower, upper], 360)).min()
    assert all(both) == (distance == 0) or distance < 1e-12


@given(draws_of_any_kind, probabilities)
@reproducible
def test_shortest_arc_holds_enough_draws_and_none_is_shorter(angles, probability):
    count = math.ceil(probability * angles.size * (1 - 1e-15))
    lower, upper = arcs.shortest_arc(angles, probability, period=360)
    assert inside(angles, [(lower, upper)], 360) >= count
    width = arcs.arc_width(lower, upper, 360)
    assert math.isclose(width, brute_force_width(angles, count, 360), rel_tol=1e-12, abs_tol=1e-10)


@given(whole_draws, probabilities, st.integers(-1000, 1000))
@reproducible
def test_shortest_arc_turns_with_the_draws_and_scales_with_the_period(angles, probability, turn):
    width = arcs.arc_width(*arcs.shortest_arc(angles, probability, period=360), 360)
    lower, upper = arcs.shortest_arc(angles + turn, probability, period=360)
    assert arcs.arc_width(lower, upper, 360) == width
    # The turned arc is turned back: it still holds its draws.
    assert inside(angles, [(lower - turn, upper - turn)], 360) >= math.ceil(probability * angles.size - 1e-9)
    in_hours = arcs.shortest_arc(angles / 15, probability, period=24)
    assert math.isclose(arcs.arc_width(*in_hours, 24) * 15, width, rel_tol=1e-12, abs_tol=1e-10)


def test_a_unique_shortest_arc_turns_exactly():
    angles = np.random.default_rng(1).normal(0, 30, 201)
    arc = arcs.shortest_arc(angles, 0.7, period=360)
    for turn in (17.0, 170.0, 180.0, 359.0):
        turned = arcs.shortest_arc(angles + turn, 0.7, period=360)
        np.testing.assert_allclose(circle.difference(turned, arc + turn, 360), 0, atol=1e-10)


def test_shortest_arc_of_few_draws():
    assert arcs.shortest_arc([370], 0.5, period=360).tolist() == [10, 10]
    assert arcs.shortest_arc(370, 1, period=360).tolist() == [10, 10]
    assert arcs.shortest_arc([5, 5, 5], 1, period=360).tolist() == [5, 5]
    assert arcs.shortest_arc([350, 20], 1, period=360, origin=0).tolist() == [350, 20]
    assert arcs.shortest_arc([0, 90, 180, 300], 1, period=360, origin=0).tolist() == [300, 180]
    assert arcs.shortest_arc([0, 1, 100, 200], 0.5, period=360, origin=0).tolist() == [0, 1]
    assert arcs.shortest_arc([-180, 180, 179], 1, period=360).tolist() == [179, 180]


def test_the_number_of_draws_is_not_raised_by_rounding():
    assert 0.55 * 100 > 55  # what would make it 56
    angles = np.arange(100.0)
    assert arcs.arc_width(*arcs.shortest_arc(angles, 0.55, period=360), 360) == 54


def test_an_arc_that_fills_the_circle_is_not_empty():
    whole = arcs.regions_from_density(np.arange(360.0), np.ones(360), 0.9, period=360, origin=0)
    assert whole.tolist() == [[0, 360]]
    assert arcs.arc_width(*whole[0], 360) == 360
    # A single point that lies below the level by a rounding leaves no gap either.
    assert arcs._arcs_above(np.array([1.0, 1.0, 1.0, 0.5]), np.nextafter(0.5, 1)) is None
    assert arcs._arcs_above(np.array([1.0, 1.0, 1.0, 0.5]), 0.51) is not None


def test_shortest_arc_over_axes():
    angles = np.random.default_rng(2).normal(3, 0.5, (4, 50, 3, 2))
    result = arcs.shortest_arc(angles, 0.8, axis=(0, 1))
    assert result.shape == (3, 2, 2)
    for i in range(3):
        for j in range(2):
            np.testing.assert_array_equal(result[i, j], arcs.shortest_arc(angles[:, :, i, j], 0.8))
    flat = angles[..., 0, 0].reshape(-1, 1)
    np.testing.assert_array_equal(arcs.shortest_arc(flat, 0.8, axis=0)[0], result[0, 0])
    np.testing.assert_array_equal(arcs.shortest_arc(flat.T, 0.8, axis=-1)[0], result[0, 0])


def test_shortest_arc_leaves_the_draws_as_they_are():
    angles = np.array([3.0, 1.0, 2.0])
    arcs.shortest_arc(angles, 0.5)
    assert angles.tolist() == [3.0, 1.0, 2.0]


def test_shortest_arc_of_a_von_mises_law():
    angles = stats.vonmises(5, loc=3).rvs(20_000, random_state=3)
    lower, upper = arcs.shortest_arc(angles, 0.9)
    expected = stats.vonmises(5).ppf(0.95)
    # The ends of a shortest arc vary as n^(-1/3): about 0.03 each here.
    np.testing.assert_allclose(circle.difference([lower, upper], [3 - expected, 3 + expected]), 0, atol=0.12)


@pytest.mark.parametrize("sd", [1.0, 0.3, 1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("probability", [0.5, 0.9])
def test_one_mode_gives_one_arc_of_the_right_width(sd, probability):
    rng = np.random.default_rng(4)
    for centre in (0.0, 3.0, np.pi):
        angles = centre + sd * rng.standard_normal(2000)
        regions = arcs.highest_density_regions(angles, probability)
        assert regions.shape == (1, 2)
        held = inside(angles, regions, TWO_PI)
        assert held == pytest.approx(probability * 2000, abs=2)
        if sd < 1:
            expected = 2 * stats.norm.ppf((1 + probability) / 2) * sd
            assert total_width(regions, TWO_PI) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("sd", [0.2, 1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("share", [0.5, 0.7])
def test_two_modes_give_two_arcs(sd, share):
    rng = np.random.default_rng(5)
    for distance in (np.pi, 2.0):
        angles = two_modes(rng, 2000, sd, distance, share)
        regions = arcs.highest_density_regions(angles, 0.9)
        assert regions.shape == (2, 2)
        assert inside(angles, regions, TWO_PI) == pytest.approx(1800, abs=3)
        assert arcs.in_arc(0.0, *regions[np.argmin(np.abs(regions[:, 0]))])
        assert total_width(regions, TWO_PI) < 8 * sd


@pytest.mark.parametrize("sd", [1e-2, 1e-6])
def test_regions_of_all_draws_leave_out_the_empty_gaps(sd):
    angles = two_modes(np.random.default_rng(12), 500, sd, 3.0)
    regions = arcs.highest_density_regions(angles, 1)
    assert inside(angles, regions, TWO_PI) == 500
    # The ends lie outside the draws of a mode, each on the side of its own mode.
    assert total_width(regions, TWO_PI) < 16 * sd
    assert np.all(np.min(np.abs(circle.difference(regions[..., None], [0.0, 3.0])), axis=-1) < 8 * sd)


def test_modes_that_differ_by_a_thousand_bandwidths_are_told_apart():
    angles = two_modes(np.random.default_rng(6), 2000, 1e-4, 1e-2)
    assert arcs.highest_density_regions(angles, 0.9).shape == (2, 2)


@given(draws_of_any_kind, probabilities)
@reproducible
def test_regions_hold_enough_draws_whatever_they_are(angles, probability):
    regions = arcs.highest_density_regions(angles, probability, period=360)
    assert inside(angles, regions, 360) >= math.ceil(probability * angles.size - 1e-9)
    assert np.all(np.diff(regions[:, 0]) > 0)
    assert total_width(regions, 360) <= 360 * (1 + 1e-12)


@given(seeds, st.floats(-400, 400))
@reproducible
def test_regions_turn_with_the_draws_and_scale_with_the_period(seed, turn):
    angles = two_modes(np.random.default_rng(seed), 300, 8.0, 150.0)
    regions = arcs.highest_density_regions(angles, 0.9, period=360)
    turned = arcs.highest_density_regions(angles + turn, 0.9, period=360)
    in_hours = arcs.highest_density_regions(angles / 15, 0.9, period=24)
    assert turned.shape == regions.shape == in_hours.shape
    # The grid starts at another draw after a turn: that moves the ends by a small part of a bandwidth.
    assert total_width(turned, 360) == pytest.approx(total_width(regions, 360), rel=0.05)
    np.testing.assert_allclose(in_hours * 15, regions, atol=1e-6)


def test_draws_on_a_lattice_do_not_fall_apart():
    rng = np.random.default_rng(7)
    for spacing in (1.0, 10.0):
        angles = np.round(rng.normal(0, 12, 2000) / spacing) * spacing
        assert arcs.highest_density_regions(angles, 0.9, period=360).shape == (1, 2)


def test_repeated_draws_and_single_draws():
    assert arcs.highest_density_regions([5.0] * 4, 0.9, period=360).tolist() == [[5, 5]]
    assert arcs.highest_density_regions([365.0], 0.9, period=360).tolist() == [[5, 5]]
    stuck = np.concatenate([np.full(600, 10.0), np.random.default_rng(8).normal(10, 2, 400)])
    assert arcs.highest_density_regions(stuck, 0.9, period=360).shape == (1, 2)


def test_flat_draws_fill_the_circle_when_smoothed():
    angles = np.arange(360.0)
    whole = arcs.highest_density_regions(angles, 0.9, period=360, origin=0, bandwidth=1000)
    assert whole.tolist() == [[0, 360]]


@pytest.mark.parametrize("points", [64, 512])
@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("start", [-np.pi, 0.0, 1.234])
def test_regions_of_a_von_mises_density(points, probability, start):
    law = stats.vonmises(4, loc=3)
    grid = np.linspace(start, start + TWO_PI, points, endpoint=False)
    regions = arcs.regions_from_density(grid, 17 * law.pdf(grid), probability)
    half = stats.vonmises(4).ppf((1 + probability) / 2)
    assert regions.shape == (1, 2)
    tolerance = 5 * (TWO_PI / points) ** 2
    np.testing.assert_allclose(circle.difference(regions[0], [3 - half, 3 + half]), 0, atol=tolerance)


@given(hnp.arrays(float, st.integers(3, 40), elements=st.floats(0, 1)), st.floats(0.05, 0.95))
@reproducible
def test_regions_of_any_density_hold_their_share(density, probability):
    if not density.max() > 1e-3:
        return
    n = density.size
    grid = np.arange(n) * (360 / n)
    regions = arcs.regions_from_density(grid, density, probability, period=360, origin=0)
    fine = (np.arange(n * 400) + 0.5) * (360 / (n * 400))
    heights = np.interp(fine, np.append(grid, 360), np.append(density, density[0]))
    held = np.any([arcs.in_arc(fine, *arc, 360) for arc in regions], axis=0)
    mass = heights[held].sum() / heights.sum()
    assert mass >= probability - 0.02
    # No place left out is higher than one taken in.
    if not held.all():
        assert heights[~held].max() <= heights[held].min() + 0.02
    # Only a plateau at the level itself may add more than was asked for.
    level = heights[held].min()
    plateau = heights[held & (np.abs(heights - level) < 0.02)].sum() / heights.sum()
    assert mass - plateau <= probability + 0.02


def test_a_region_of_all_mass_is_the_support():
    density = np.array([0.0, 0, 1, 2, 1, 0, 0, 0, 1, 0])
    regions = arcs.regions_from_density(np.arange(10.0), density, 1, period=10, origin=0)
    assert regions.tolist() == [[1, 5], [7, 9]]
    across = arcs.regions_from_density(np.arange(10.0), np.roll(density, -3), 1, period=10, origin=0)
    assert across.tolist() == [[4, 6], [8, 2]]


def test_density_regions_agree_with_regions_of_draws():
    law = stats.vonmises(8)
    draws = np.concatenate([law.rvs(3000, random_state=10), 2.5 + law.rvs(3000, random_state=11)])
    grid = np.linspace(-np.pi, np.pi, 512, endpoint=False)
    exact = arcs.regions_from_density(grid, law.pdf(grid) + law.pdf(grid - 2.5), 0.8)
    np.testing.assert_allclose(arcs.highest_density_regions(draws, 0.8), exact, atol=0.06)


@pytest.mark.parametrize("probability", [0, -0.1, 1.1, np.nan])
def test_a_bad_probability_is_named(probability):
    grid = np.arange(4.0)
    for call in (
        lambda: arcs.shortest_arc([1.0], probability),
        lambda: arcs.highest_density_regions([1.0], probability),
        lambda: arcs.regions_from_density(grid, grid, probability, period=4),
    ):
        with pytest.raises(InputError, match=r"probability must lie in \(0, 1\]"):
            call()


def test_other_bad_arguments_are_named():
    with pytest.raises(InputError, match="angles must be finite"):
        arcs.shortest_arc([1.0, np.nan], 0.5)
    with pytest.raises(InputError, match="1-D draws of one place"):
        arcs.highest_density_regions(np.zeros((2, 3)), 0.5)
    with pytest.raises(InputError, match="bandwidth must be positive"):
        arcs.highest_density_regions([1.0, 2.0], 0.5, bandwidth=0)
    with pytest.raises(InputError, match="upper must be finite"):
        arcs.in_arc(0.0, 0.0, np.inf)
    with pytest.raises(InputError, match="period must be positive"):
        arcs.arc_width(0.0, 1.0, -1)
    with pytest.raises(InputError, match="endpoint=False"):
        arcs.regions_from_density(np.linspace(0, 360, 10), np.ones(10), 0.5, period=360)
    with pytest.raises(InputError, match="have shapes"):
        arcs.regions_from_density(np.arange(4.0), np.ones(5), 0.5, period=4)
    with pytest.raises(InputError, match="negative nowhere"):
        arcs.regions_from_density(np.arange(4.0), -np.ones(4), 0.5, period=4)
    with pytest.raises(InputError, match="positive somewhere"):
        arcs.regions_from_density(np.arange(4.0), np.zeros(4), 0.5, period=4)
