"""The inputs: what becomes of arrays and frames, and what is refused with which words."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import xarray as xr

from vmqp.errors import InputError
from vmqp.tables import constant_columns, read_inputs

COLUMNS = {
    "lon": [8.1, 9.9, 7.25],
    "floor": [1, 2, 3],
    "species": ["salt", "ND", "salt"],
    "land": [True, False, True],
}


def same(a, b):
    return (
        np.array_equal(a.values, b.values)
        and a.values.dtype == b.values.dtype == np.float64
        and a.names == b.names
        and a.categories == b.categories
    )


def test_frames_of_every_library_give_the_same_table():
    pandas, polars = read_inputs(pd.DataFrame(COLUMNS)), read_inputs(pl.DataFrame(COLUMNS))
    assert (pandas.kind, polars.kind) == ("pandas", "polars")
    assert pandas.values.tolist() == [[8.1, 1, 1, 1], [9.9, 2, 0, 0], [7.25, 3, 1, 1]]
    assert pandas.names == ("lon", "floor", "species", "land")
    assert pandas.categories == {2: ("ND", "salt"), 3: ("False", "True")}
    assert same(pandas, polars)
    assert same(pandas, read_inputs(pa.table(COLUMNS)))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(["b", "a", "b"], dtype="string"),
        pd.Series(["b", "a", "b"], dtype=object),
        pd.Series(["b", " a", "b "], dtype=object),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "a", "c"])),
    ],
    ids=lambda column: str(column.dtype),
)
def test_text_of_every_dtype_becomes_the_same_categories(column):
    frame = type(column).__module__.split(".")[0]
    table = read_inputs(pd.DataFrame({"c": column}) if frame == "pandas" else pl.DataFrame({"c": column}))
    assert table.categories == {0: ("a", "b")}
    assert table.values.tolist() == [[1], [0], [1]]


@pytest.mark.parametrize(
    "X",
    [
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        [np.array([1, 2]), np.array([3, 4])],
        np.array([[1, 2], [3, 4]], dtype=np.float16),
        np.array([[1, 2], [3, 4]], dtype=np.uint8),
        np.array([[1, 2], [3, 4]], dtype=np.longdouble),
        np.array([[1, 2.0], [3, 4]], dtype=object),
        np.array([[1, Decimal(2)], [Fraction(3), np.float32(4)]], dtype=object),
        [[True, 2], [3, 4]],
        np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]),
        np.array([[1, 2], [3, 4]]).view(np.matrix),
        np.ma.array([[1, 2], [3, 4]]),
        xr.DataArray([[1, 2], [3, 4]], dims=["place", "input"]),
        memoryview(np.array([[1.0, 2.0], [3.0, 4.0]])),
    ],
    ids=lambda X: type(X).__name__,
)
def test_arrays_of_every_kind_give_the_same_numbers(X):
    table = read_inputs(X)
    assert table.values.tolist() == [[1, 2], [3, 4]]
    assert table.values.dtype == np.float64
    assert table.values.flags["C_CONTIGUOUS"]
    assert (table.names, table.categories, table.kind) == (None, {}, "numpy")


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": pd.array([1, 2], dtype="Int64")}),
        pd.DataFrame({"a": pd.array([1, 2], dtype="double[pyarrow]")}),
        pd.DataFrame({"a": pd.arrays.SparseArray([1.0, 2.0])}),
        pd.DataFrame({"a": [1, 2]}, index=["x", "y"]),
        pd.DataFrame({"a": [Decimal(1), Decimal(2)]}),
        pd.Series([1, 2], name="a"),
        pl.Series("a", [1, 2]),
        pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int128)}),
        pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Decimal(10, 2))}),
    ],
)
def test_numbers_of_every_dtype_are_numbers(X):
    table = read_inputs(X)
    assert table.values.tolist() == [[1], [2]]
    assert table.names == ("a",)
    assert table.categories == {}


def test_series_without_a_name_is_a_column_without_a_name():
    assert read_inputs(pd.Series([1.0, 2.0])).names is None
    assert read_inputs(pl.Series([1.0, 2.0])).names is None


def test_names_that_are_no_text_become_text():
    assert read_inputs(pd.DataFrame([[1, 2]], columns=[0, 1])).names == ("0", "1")
    pairs = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    assert read_inputs(pd.DataFrame([[1, 2]], columns=pairs)).names == ("('a', 'b')", "('a', 'c')")


def test_table_does_not_share_memory_with_what_was_given():
    X = np.ones((3, 2))
    table = read_inputs(X)
    X[:] = 7.0
    assert (table.values == 1.0).all()


def test_true_and_false_in_an_array_are_numbers_and_in_a_frame_a_category():
    assert read_inputs(np.array([[True], [False]])).categories == {}
    assert read_inputs(pd.DataFrame({"a": [True, False]})).categories == {0: ("False", "True")}


NUMBERS = [str(number) for number in range(20)]
TEXT = [*NUMBERS[:17], "n/a", *NUMBERS[:2]]
DAY = datetime.date(2020, 1, 1)


def frame(*cells, **more):
    return pd.DataFrame({"lon": list(cells), **more})


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([1.0, 2.0], [r"X\[:, None\]", "Reshape your data"]),
        (np.ones(3), ["one dimension", r"X\[:, None\]"]),
        (np.ones((2, 2, 2)), ["3 dimensions"]),
        (5.0, ["5.0", "not a table"]),
        (np.array(5.0), ["single value"]),
        (None, ["None"]),
        ("text", ["'text'"]),
        (b"bytes", ["bytes"]),
        ({"lon": [1.0]}, ["dict", "frame"]),
        ({1.0, 2.0}, ["set"]),
        (range(10**12), ["range"]),
        (iter([[1.0]]), ["list_iterator"]),
        ([], ["no rows"]),
        (np.empty((0, 2)), ["no rows"]),
        ([[], []], [r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1 is required"]),
        (np.empty((12, 0)), [r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required"]),
        (pd.DataFrame(), ["no rows"]),
        (pd.DataFrame(index=[1, 2]), [r"0 feature\(s\)"]),
        (pd.DataFrame({"lon": []}), ["no rows"]),
        (pl.DataFrame({"lon": []}), ["no rows"]),
        ([[1.0, 2.0], [3.0]], ["row 0 of X has 2 values and row 1 has 1 values"]),
        ([[1.0], 2.0], ["row 1 has a single value"]),
        ([[1.0, [2.0]]], ["row 0 of column 1", "type list"]),
        (np.array([[1.0], [2.0, 3.0]], dtype=object), ["one dimension"]),
        ([[1.0, 2.0], [3.0, np.nan]], ["row 1 of column 1 holds NaN"]),
        ([[1.0, 2.0], [3.0, None]], ["row 1 of column 1 holds None", "missing"]),
        ([[1.0], [Decimal("sNaN")]], ["row 1 of column 0", "missing"]),
        (np.array([[1.0], [np.inf]]), ["row 1 of column 0 holds inf", "finite"]),
        (np.array([[1.0], [-np.inf]]), ["holds -inf"]),
        (np.ma.array([[1.0], [2.0]], mask=[[0], [1]]), ["row 1 of column 0", "missing"]),
        (np.ma.array([[1], [2]], mask=[[0], [1]]), ["row 1 of column 0", "missing"]),
        ([[1.0], [10**400]], ["row 1 of column 0 holds an integer of 1329 bits", "too large"]),
        ([[1.0, "a"], [2.0, "b"]], ["row 0 of column 1 holds 'a'", "text", "frames"]),
        (np.array([["a"], ["b"]]), ["row 0 of column 0 holds 'a'"]),
        (np.array([[b"a"]]), ["b'a'", "bytes"]),
        (np.array([[1j]]), ["Complex data not supported"]),
        (np.array([[1.0, 1j]], dtype=object), ["Complex data not supported", "row 0 of column 1"]),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), ["date", "days"]),
        (np.array([[1]], dtype="timedelta64[s]"), ["date or a time"]),
        (np.zeros((2, 1), dtype=[("a", float)]), ["tuple"]),
        (scipy.sparse.eye(3).tocsr(), ["sparse", r"X.toarray\(\)"]),
        (pl.LazyFrame({"a": [1.0]}), [r"X.collect\(\)"]),
        (xr.Dataset({"a": ("t", [1.0])}), ["Dataset"]),
        (frame(1.0, None), ["row 1 of column 'lon' holds NaN", "X, position 0"]),
        (frame(1.0, np.inf), ["row 1 of column 'lon' holds inf"]),
        (frame(1, pd.NA), ["row 1 of column 'lon' holds <NA>", "missing"]),
        (pd.DataFrame({"lon": pd.array([1, None], dtype="Int64")}), ["row 1 of column 'lon' holds NaN"]),
        (pl.DataFrame({"lon": [1, None]}), ["row 1 of column 'lon' holds NaN"]),
        (pl.DataFrame({"lon": [1.0, float("nan")]}), ["row 1 of column 'lon' holds NaN"]),
        (pl.DataFrame({"lon": [None, None]}), ["row 0 of column 'lon' holds None"]),
        (frame("a", None), ["row 1 of column 'lon'", "missing"]),
        (frame("a", "b", " "), ["row 2 of column 'lon' holds ' '", "missing"]),
        (frame(True, None), ["row 1 of column 'lon'", "missing"]),
        (frame(1.0, 2.0, species=["a", np.nan]), ["row 1 of column 'species'", "position 1"]),
        (frame(*TEXT), ["row 17 of column 'lon' holds 'n/a'", "mostly numbers", "category"]),
        (pl.DataFrame({"lon": TEXT}), ["row 17 of column 'lon' holds 'n/a'"]),
        (frame(1, 2, "x", 4), ["row 2 of column 'lon' holds 'x'"]),
        (frame("a", "b", "c", 4), ["row 3 of column 'lon' holds 4", "mostly text"]),
        (frame("1", "2"), ["number written as text", "category"]),
        (frame(1j), ["Complex data not supported"]),
        (frame(b"a", b"b"), ["row 0 of column 'lon'", "bytes"]),
        (frame([1], [2]), ["list", "one number a cell"]),
        (frame({}, {}), ["dict"]),
        (frame(DAY, DAY), ["date", "days"]),
        (frame(pd.Timestamp("2020-01-01")), ["date", "days"]),
        (frame(pd.Timedelta("1h")), ["date", "days"]),
        (frame(pd.Period("2020-01", "M")), ["date", "days"]),
        (frame("2020-01-01", "2020-01-02"), ["looks like a date"]),
        (frame("9:50", "13:05"), ["looks like a date or a time"]),
        (pl.DataFrame({"lon": [DAY]}), ["date", "days"]),
        (pl.DataFrame({"lon": [datetime.time(9, 50)]}), ["date or a time"]),
        (pl.DataFrame({"lon": [[1], [2]]}), ["list"]),
        (pl.DataFrame({"lon": [{"a": 1}]}), ["dict"]),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), ["2 columns", "'a'", "positions 0, 2"]),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), ["2 columns", "'1'"]),
        (pa.table([[1], [2]], names=["a", "a"]), ["2 columns", "'a'"]),
    ],
    ids=lambda case: type(case).__name__ if not isinstance(case, list) else None,
)
def test_refused(X, words):
    with pytest.raises(InputError) as caught:
        read_inputs(X)
    for word in words:
        caught.match(word)
    assert "X" in str(caught.value)


def test_name_of_the_argument_is_in_the_message():
    with pytest.raises(InputError, match="places"):
        read_inputs([[None]], "places")


def test_constant_columns():
    table = read_inputs([[1.0, 5.0, 2.0], [2.0, 5.0, 2.0]])
    assert constant_columns(table) == (1, 2)
    assert constant_columns(table, read_inputs([[9.0, 5.0, 3.0]])) == (1,)
    assert constant_columns(table, read_inputs([[1.0, 6.0, 3.0]])) == ()
