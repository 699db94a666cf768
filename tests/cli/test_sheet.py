"""Sheets come back to the last digit, whatever is in the cells."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vmqp.cli import sheet as module
from vmqp.cli.sheet import Numbers, Sheet
from vmqp.errors import InputError

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(
    st.lists(st.tuples(st.floats(allow_infinity=False), TEXT), min_size=1, max_size=6),
    st.lists(TEXT.filter(bool), min_size=2, max_size=2, unique=True),
)
def test_numbers_and_text_come_back(rows, names):
    frame = pd.DataFrame(rows, columns=names).astype({names[1]: object})
    sheet = Sheet.of(frame)
    again = Sheet.parse(sheet.text(), "data.csv")
    assert {name: list(column) for name, column in sheet.columns.items()} == dict(again.columns)
    assert again.digest() == sheet.digest()
    found = again.numbers(names[0]).tolist()
    for value, (given_value, _) in zip(found, rows, strict=True):
        assert value == given_value or (math.isnan(value) and math.isnan(given_value))
    assert list(again.columns[names[1]]) == [text for _, text in rows]


def test_blanks_whole_numbers_and_categories():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [True, False], "c": [None, "x"]})
    sheet = Sheet.of(frame)
    assert dict(sheet.columns) == {"a": ["1", ""], "b": ["True", "False"], "c": ["", "x"]}
    back = sheet.frame({"a": "number", "b": "text"})
    assert list(back) == ["a", "b"]
    assert isinstance(back["b"].dtype, pd.CategoricalDtype)


def test_many_rows_are_written_in_pieces_and_are_the_same(monkeypatch):
    values = np.random.default_rng(1).normal(size=1000)
    sheet = Sheet({"name": [f"s{i}" for i in range(1000)], "x": Numbers(values), "short": Numbers(values, 3)})
    whole = sheet.text()
    monkeypatch.setattr(module, "_ROWS", 7)
    assert sheet.text() == whole
    assert len(list(sheet.pieces())) == 1 + 143
    again = Sheet.parse(whole, "data.csv")
    assert again.digest() == sheet.digest()
    np.testing.assert_array_equal(again.numbers("x"), values)
    assert again.columns["short"] == [f"{value:.3g}" for value in values]


def test_new_columns_replace_those_of_the_same_name_and_come_last():
    sheet = Sheet({"mean": ["1"], "lon": ["2"]}).with_columns({"mean": ["3"], "width": ["4"]})
    assert list(sheet.columns.items()) == [("lon", ["2"]), ("mean", ["3"]), ("width", ["4"])]


@pytest.mark.parametrize("text", ["", "a,b\n1\n", "a,a\n1,2\n", 'a,b\n"1,2\n'])
def test_a_damaged_sheet_is_refused(text):
    with pytest.raises(InputError, match=r"data\.csv is damaged"):
        Sheet.parse(text, "data.csv")
