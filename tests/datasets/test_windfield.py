"""The generated wind field: its shape, that it is the same again, its noise, and that its truth is one field."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from vmqp import circle
from vmqp.datasets import WindField, wind_field
from vmqp.datasets.noise import concentration
from vmqp.errors import InputError

FIELD = wind_field()
COLUMNS = ["station", "longitude", "latitude", "direction"]


def tables(field):
    return field.frame, field.held_out, field.grid


def same(first, second):
    return all(a.equals(b) for a, b in zip(tables(first), tables(second), strict=True))


def errors(table, field):
    true = field.truth(table["longitude"], table["latitude"])
    return circle.difference(table["direction"], true, period=360)


def test_shape():
    assert [len(table) for table in tables(FIELD)] == [200, 40, 24 * 18]
    assert list(FIELD.frame) == COLUMNS
    assert list(FIELD.held_out) == [*COLUMNS, "true_direction"]
    assert list(FIELD.grid) == ["longitude", "latitude", "true_direction"]
    assert FIELD.grid_shape == (24, 18)
    stations = pd.concat([FIELD.frame, FIELD.held_out], ignore_index=True)
    assert stations["station"].is_unique
    assert not stations.duplicated(["longitude", "latitude"]).any()
    for table in tables(FIELD):
        assert table.index.equals(pd.RangeIndex(len(table)))
        assert table["longitude"].between(5, 15).all()
        assert table["latitude"].between(47, 55).all()
        for name in set(table) & {"direction", "true_direction"}:
            assert table[name].between(0, 360, inclusive="left").all()
    with pytest.raises(dataclasses.FrozenInstanceError):
        FIELD.seed = 2


def test_the_grid_goes_row_by_row_from_the_south_west():
    grid = wind_field(stations=1, held_out=0, grid=(5, 4)).grid
    longitude, latitude = (
        grid["longitude"].to_numpy().reshape(4, 5),
        grid["latitude"].to_numpy().reshape(4, 5),
    )
    np.testing.assert_allclose(longitude, np.tile([6.0, 8.0, 10.0, 12.0, 14.0], (4, 1)))
    np.testing.assert_allclose(latitude, np.tile([[48.0], [50.0], [52.0], [54.0]], (1, 5)))


def test_true_directions_are_those_of_the_field():
    for table in (FIELD.held_out, FIELD.grid):
        true = FIELD.truth(table["longitude"], table["latitude"])
        np.testing.assert_array_equal(table["true_direction"], true)
    assert isinstance(FIELD.truth(8.0, 50.0), float)
    assert FIELD.truth(8.0, [50.0, 51.0]).shape == (2,)
    assert FIELD.truth([], []).shape == (0,)


def test_equal_seeds_give_equal_data_and_others_do_not():
    assert same(FIELD, wind_field(seed=1))
    assert same(FIELD, wind_field(seed=np.int64(1)))
    assert not same(FIELD, wind_field(seed=2))
    assert wind_field(seed=2).centre != FIELD.centre


def test_the_data_of_seed_1_are_what_they_were():
    """Documents and demonstrations name numbers of this field. A NumPy with other random streams changes it."""
    first, last = FIELD.frame.iloc[0], FIELD.held_out.iloc[-1]
    assert FIELD.centre == (10.3916, 51.0817)
    assert (first["longitude"], first["latitude"]) == (5.6827, 53.7641)
    assert first["direction"] == pytest.approx(330.611135, abs=1e-6)
    assert last["true_direction"] == pytest.approx(114.773237, abs=1e-6)


def test_the_wind_depends_on_the_seed_only():
    other = wind_field(stations=7, held_out=3, grid=(2, 2), noise_sd=30)
    assert other.centre == FIELD.centre
    places = FIELD.grid["longitude"], FIELD.grid["latitude"]
    np.testing.assert_array_equal(other.truth(*places), FIELD.truth(*places))


@pytest.mark.parametrize("deviation", [0.5, 10.0, 60.0])
def test_noise_is_von_mises_of_the_deviation_asked_for(deviation):
    """Kolmogorov-Smirnov, and the mean cosine exp(−s²/2) within five standard errors: 2 in a million by chance."""
    field = wind_field(stations=5000, seed=3, noise_sd=deviation)
    noise = np.radians(errors(field.frame, field))
    assert stats.kstest(noise, stats.vonmises(concentration(math.radians(deviation))).cdf).pvalue > 1e-6
    cosines = np.cos(noise)
    expected = math.exp(-(math.radians(deviation) ** 2) / 2)
    assert abs(cosines.mean() - expected) < 5 * cosines.std() / math.sqrt(5000)


def test_noise_of_another_deviation_would_be_seen():
    field = wind_field(stations=5000, seed=3, noise_sd=10.0)
    noise = np.radians(errors(field.frame, field))
    assert stats.kstest(noise, stats.vonmises(concentration(math.radians(12.0))).cdf).pvalue < 1e-6


@pytest.mark.parametrize("deviation", [0.01, 0.0499, 0.0501, 0.3, 1.0, 2.0])
def test_concentration_has_the_deviation(deviation):
    grid = np.linspace(-np.pi, np.pi, 200_001)
    weights = np.exp(concentration(deviation) * (np.cos(grid) - 1))
    lost = (weights * (1 - np.cos(grid))).sum() / weights.sum()
    assert math.sqrt(-2 * math.log1p(-lost)) == pytest.approx(deviation, rel=1e-5)


def test_no_noise_gives_the_truth():
    field = wind_field(noise_sd=0)
    assert np.abs(errors(field.frame, field)).max() == 0
    np.testing.assert_array_equal(field.held_out["direction"], field.held_out["true_direction"])


def test_held_out_stations_are_of_the_same_kind():
    """Two-sample Kolmogorov-Smirnov of three columns; by chance it fails 3 times in a million."""
    field = wind_field(stations=1500, held_out=1500, seed=5)
    for name in COLUMNS[1:]:
        assert stats.ks_2samp(field.frame[name], field.held_out[name]).pvalue > 1e-6


def around(field, km, points=720):
    """True directions on a circle about the centre, counter-clockwise from east."""
    t = np.linspace(0, 2 * np.pi, points + 1)
    east = field.centre[0] + km / (111.195 * math.cos(math.radians(51))) * np.cos(t)
    return field.truth(east, field.centre[1] + km / 111.195 * np.sin(t))


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_cyclone_turns_about_the_centre(seed):
    field = wind_field(stations=1, held_out=0, grid=(1, 1), seed=seed)
    for km in (0.01, 5, 30):
        steps = circle.difference(around(field, km)[1:], around(field, km)[:-1], period=360)
        assert steps.sum() == pytest.approx(-360)  # counter-clockwise round it the wind backs, by one turn
        east, north, west, south = around(field, km)[[0, 180, 360, 540]]
        # The wind comes from the south in the east, where air flows to the north; inflow turns it by 20°.
        for direction, expected in ((east, 160), (north, 70), (west, 340), (south, 250)):
            assert abs(circle.difference(direction, expected, period=360)) < 30


def test_truth_is_continuous_away_from_the_centre():
    """Halving a step halves the largest change; a jump at 0°, at the front or between cells would stay."""

    def largest(step):
        walk = np.arange(5.0, 15.0, step)
        changes = []
        for latitude in (48.0, 49.3, 52.9, 54.2):
            steps = np.diff(np.unwrap(FIELD.truth(walk, latitude), period=360))
            changes.append(np.abs(steps).max())
        return max(changes)

    assert largest(0.001) < 1.0
    assert largest(0.0005) == pytest.approx(largest(0.001) / 2, rel=0.02)


def test_the_field_has_two_scales():
    """The largest scale turns the wind through all directions; neighbouring cells still differ."""
    true = FIELD.grid["true_direction"].to_numpy().reshape(18, 24)
    assert np.histogram(true, 8, (0, 360))[0].min() > 0
    steps = np.abs(circle.difference(true[:, 1:], true[:, :-1], period=360))
    assert 2 < np.median(steps) < 20
    assert np.quantile(steps, 0.95) > 20


def test_few_stations_see_the_centre():
    counts = []
    for seed in range(1, 6):
        field = wind_field(stations=2000, seed=seed)
        east, north = field.centre
        km = 111.195 * np.hypot(
            (field.frame["longitude"] - east) * math.cos(math.radians(51)), field.frame["latitude"] - north
        )
        counts.append([(km < 50).sum(), ((km > 120) & (km < 130)).sum()])
    near, ring = np.sum(counts, axis=0)  # discs of equal area: 50² = 130² − 120²
    assert near < 0.3 * ring


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stations": 0}, "stations must be a whole number from 1"),
        ({"stations": 2.5}, "stations must be a whole number"),
        ({"held_out": -1}, "held_out must be a whole number from 0"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"seed": None}, "seed must be"),
        ({"grid": 20}, "two whole numbers"),
        ({"grid": (3, 4, 5)}, "two whole numbers"),
        ({"grid": (0, 4)}, "grid must be a whole number from 1"),
        ({"noise_sd": -1}, "noise_sd must lie"),
        ({"noise_sd": math.nan}, "noise_sd must lie"),
        ({"noise_sd": 400}, "noise_sd must lie"),
    ],
)
def test_refused(options, message):
    with pytest.raises(InputError, match=message):
        wind_field(**options)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (([1.0, 2.0], [1.0, 2.0, 3.0]), "shapes"),
        (([math.nan], [1.0]), "longitude must be finite"),
        (([1.0], ["north"]), "latitude must be numbers"),
        (([1.0], [91.0]), "off the earth"),
        (([1e308], [1.0]), "off the earth"),
    ],
)
def test_truth_refuses(places, message):
    with pytest.raises(InputError, match=message):
        FIELD.truth(*places)


def test_it_says_what_it_is():
    assert isinstance(FIELD, WindField)
    assert repr(FIELD) == "WindField(grid_shape=(24, 18), centre=(10.3916, 51.0817), noise_sd=10.0, seed=1)"
