"""The generated headings: their shape, their truth, and that the draws have its law of two pieces."""

import math

import numpy as np
import pytest
from scipy import stats

from vmqp.datasets import Headings, headings
from vmqp.errors import InputError

RELEASED = headings()
RATE = 1e-6


def levels(released, table):
    """The true distribution function at each heading, from a right angle before home: uniform if the law is true."""
    turn = np.arange(0.0, 360.5, 0.5)
    result = []
    for (east, north), animals in table.groupby(["east", "north"]):
        start = released.pieces([east], [north])["home_direction"][0] - 90.0
        density = released.density(start + turn, east, north)
        cdf = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * 0.5)])
        assert cdf[-1] == pytest.approx(1.0, abs=1e-6)
        result.append(np.interp((animals["heading"] - start) % 360.0, turn, cdf))
    return np.concatenate(result)


def test_shape():
    assert list(RELEASED.frame) == ["place", "east", "north", "heading"]
    truth = ["went_home", "home_direction", "other_direction", "home_share"]
    assert list(RELEASED.held_out) == ["place", "east", "north", "heading", *truth]
    assert (len(RELEASED.frame), len(RELEASED.held_out)) == (240, 60)
    assert RELEASED.frame["place"].nunique() == 20
    assert not set(RELEASED.frame["place"]) & set(RELEASED.held_out["place"])
    for table in (RELEASED.frame, RELEASED.held_out):
        assert table["heading"].between(0, 360, inclusive="left").all()
        assert (np.hypot(table["east"], table["north"]) >= 8.0).all()
        assert table["east"].between(-60, 60).all()
        assert table["north"].between(-40, 40).all()
    assert repr(RELEASED) == "Headings(rest='opposite', home_sd=20.0, other_sd=25.0, seed=1)"
    assert isinstance(RELEASED, Headings)


def test_where_home_is():
    pieces = RELEASED.pieces([10.0, 0.0, -10.0, 0.0], [0.0, 10.0, 0.0, -10.0])
    assert pieces["home_direction"].tolist() == [270.0, 180.0, 90.0, 0.0]
    assert pieces["other_direction"].tolist() == [90.0, 0.0, 270.0, 180.0]
    np.testing.assert_allclose(pieces["home_share"], 0.5 + 0.4 * math.exp(-0.25))


def test_held_out_places_have_their_truth():
    rows = RELEASED.held_out
    pieces = RELEASED.pieces(rows["east"], rows["north"])
    for name in pieces:
        np.testing.assert_array_equal(pieces[name], rows[name])


@pytest.mark.parametrize("rest", ["opposite", "coast"])
def test_the_density_is_the_law_of_the_draws(rest):
    """Kolmogorov-Smirnov test of 6,000 headings at 30 places: a false alarm at the rate RATE."""
    released = headings(places=30, animals=200, rest=rest, home_sd=15.0, other_sd=40.0, seed=5)
    assert stats.kstest(levels(released, released.frame), "uniform").pvalue > RATE


@pytest.mark.parametrize("other", [{"home_sd": 20.0}, {"other_sd": 60.0}, {"rest": "coast"}])
def test_the_test_of_the_law_sees_another_law(other):
    released = headings(places=30, animals=200, home_sd=15.0, other_sd=40.0, seed=5)
    wrong = headings(places=1, **{"home_sd": 15.0, "other_sd": 40.0, **other})
    assert stats.kstest(levels(wrong, released.frame), "uniform").pvalue < RATE


def test_the_share_that_goes_home():
    """Binomial test of 4,000 animals, given their shares: 5 standard errors, a false alarm in a million runs."""
    rows = headings(places=1, animals=200, held_out=20, seed=6).held_out
    share = rows["home_share"]
    error = math.sqrt((share * (1 - share)).sum())
    assert abs(rows["went_home"].sum() - share.sum()) < 5 * error


def test_the_density_has_two_modes_and_is_that_of_a_von_mises():
    around = np.arange(360.0)
    density = RELEASED.density(around, 30.0, 0.0)
    peaks = around[(density > np.roll(density, 1)) & (density > np.roll(density, -1))]
    assert peaks.tolist() == [90.0, 270.0]
    sharp = headings(home_sd=0.5, seed=1).density([270.0], 30.0, 0.0)
    assert sharp[0] == pytest.approx((0.5 + 0.4 * math.exp(-0.75)) / (0.5 * math.sqrt(2 * math.pi)), rel=1e-3)


def test_equal_seeds_give_equal_data_and_others_do_not():
    assert headings(seed=np.int64(1)).frame.equals(RELEASED.frame)
    assert not headings(seed=2).frame.equals(RELEASED.frame)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"places": 0}, "places is 0"),
        ({"animals": 0}, "animals is 0"),
        ({"held_out": None}, "held_out is None"),
        ({"rest": "north"}, "rest is 'north'"),
        ({"home_sd": 0}, "home_sd is 0"),
        ({"other_sd": 121}, "other_sd must lie between 0 and 120 degrees"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_refused(options, message):
    with pytest.raises(InputError, match=message):
        headings(**options)


def test_pieces_at_one_place_and_at_many():
    released = headings(seed=1)
    one = released.pieces(30.0, 0.0)
    assert one["home_direction"].tolist() == [270.0]
    assert len(released.pieces([[30.0, 20.0]], [[0.0, 1.0]])) == 2


def test_places_that_are_refused():
    with pytest.raises(InputError, match="home itself"):
        RELEASED.pieces(0.0, 0.0)
    with pytest.raises(InputError, match=r"shapes \(2,\) and \(3,\)"):
        RELEASED.pieces([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="shapes that broadcast"):
        RELEASED.density([1.0, 2.0], [1.0, 2.0, 3.0], 4.0)
