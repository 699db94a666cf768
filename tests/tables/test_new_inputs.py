"""The inputs of new places: how their columns find those of the observations."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from vmqp.errors import InputError
from vmqp.tables import read_inputs, read_new_inputs

LIBRARIES = [pd.DataFrame, pl.DataFrame]
FRAME = read_inputs(pd.DataFrame({"lon": [8.1, 9.9], "species": ["salt", "ND"], "lat": [50.0, 52.0]}))
ARRAY = read_inputs([[8.1, 50.0], [9.9, 52.0]])


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_are_matched_by_name_and_extra_ones_left_out(library):
    new = library({"lat": [51, 53], "remark": [None, [1]], "lon": [7, 8], "species": ["ND", "salt"]})
    table = read_new_inputs(new, FRAME)
    assert table.names == ("lon", "species", "lat")
    assert table.values.tolist() == [[7, 0, 51], [8, 1, 53]]
    assert table.kind == ("pandas" if library is pd.DataFrame else "polars")
    assert table.categories == FRAME.categories


@pytest.mark.parametrize("library", LIBRARIES)
def test_unseen_categories_get_codes_after_the_known_ones(library):
    new = library({"lon": [7.0] * 4, "species": ["zebra", "ND", "ant", "zebra"], "lat": [1.0] * 4})
    table = read_new_inputs(new, FRAME)
    assert table.categories == {1: ("ND", "salt", "ant", "zebra")}
    assert table.values[:, 1].tolist() == [3, 0, 2, 3]
    assert FRAME.categories == {1: ("ND", "salt")}


def test_numbers_as_text_are_words_where_the_observations_have_words():
    table = read_inputs(pd.DataFrame({"trap": pd.Categorical(["10", "9"])}))
    assert read_new_inputs(pd.DataFrame({"trap": ["9", "11"]}), table).values.tolist() == [[1], [2]]


def test_array_for_a_frame_and_frame_for_an_array_are_matched_by_position():
    names = read_inputs(pd.DataFrame({"lon": [8.1], "lat": [50.0]}))
    new = read_new_inputs(np.array([[1.0, 2.0]]), names)
    assert (new.names, new.kind, new.values.tolist()) == (("lon", "lat"), "numpy", [[1, 2]])
    new = read_new_inputs(pl.DataFrame({"b": [1.0], "a": [2.0]}), ARRAY)
    assert (new.names, new.kind, new.values.tolist()) == (None, "polars", [[1, 2]])


def test_array_with_words_fits_a_frame_with_categories():
    new = read_new_inputs([[7.0, "salt", 51.0]], FRAME)
    assert new.values.tolist() == [[7, 1, 51]]


def test_unnamed_series_fits_a_single_column():
    table = read_inputs(pd.DataFrame({"hour": [1.0, 2.0]}))
    assert read_new_inputs(pd.Series([3.0]), table).values.tolist() == [[3]]


def pandas(**columns):
    return pd.DataFrame({"lon": [7.0, 8.0], "species": ["ND", "ND"], "lat": [51.0, 52.0]} | columns)


@pytest.mark.parametrize(
    ("X_new", "table", "words"),
    [
        (pandas().rename(columns={"lat": "latitude"}), FRAME, ["no column 'lat'", "did you mean 'latitude'"]),
        (pandas().drop(columns=["lat"]), FRAME, ["no column 'lat'", "add the column"]),
        (pandas().drop(columns=["lat", "lon"]), FRAME, ["'lon', 'lat'"]),
        ([[1.0, 2.0, 3.0]], ARRAY, ["X_new has 3 features, but vmqp is expecting 2 features as input"]),
        (pandas(), ARRAY, ["3 features"]),
        (np.ones((2, 2)), FRAME, ["2 features"]),
        (pandas(lon=[7.0, "west"]), FRAME, ["row 1 of column 'lon' holds 'west'", "number is needed"]),
        (pandas(lon=["a", "b"]), FRAME, ["row 0 of column 'lon' holds 'a'"]),
        (pandas(lon=["1", "2"]), FRAME, ["row 0 of column 'lon' holds '1'"]),
        (
            pandas(lon=[True, False]),
            FRAME,
            ["column 'lon'", "holds categories", "in X the column holds numbers"],
        ),
        (pandas(lon=[7.0, None]), FRAME, ["row 1 of column 'lon' holds NaN", "X_new"]),
        (pandas(species=["ND", None]), FRAME, ["row 1 of column 'species'", "missing"]),
        (pandas(species=["ND", 5]), FRAME, ["row 1 of column 'species' holds 5", "category"]),
        (pandas(species=[0, 1]), FRAME, ["row 0 of column 'species' holds 0", "category"]),
        (pandas().iloc[:0], FRAME, ["X_new has no rows"]),
        (np.empty((0, 2)), ARRAY, ["X_new has no rows"]),
        ([1.0, 2.0], ARRAY, [r"X_new\[:, None\]"]),
        (
            pl.DataFrame({"lon": ["x"], "species": ["ND"], "lat": [1.0]}),
            FRAME,
            ["row 0 of column 'lon' holds 'x'"],
        ),
        (None, ARRAY, ["X_new is None"]),
    ],
)
def test_refused(X_new, table, words):
    with pytest.raises(InputError) as caught:
        read_new_inputs(X_new, table)
    for word in words:
        caught.match(word)


def test_position_in_a_message_is_the_one_in_the_new_frame():
    new = pd.DataFrame({"lat": [51.0], "lon": ["x"], "species": ["ND"]})
    with pytest.raises(InputError, match="X_new, position 1"):
        read_new_inputs(new, FRAME)
