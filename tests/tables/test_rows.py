"""Choosing columns of a file: what is dropped and said so, and what is refused with the line of the file."""

import numpy as np
import pandas as pd
import pytest

from vmqp.errors import InputError
from vmqp.tables import choose, complete_rows, read_file, read_inputs

TEXT = """station,lon,lat,WDIR,species
a,8.1,50.0,350,salt
b,9.9,52.5,MM,salt
c,,51.0,10,ND
d,7.5,49.0,,ND
e,7.0,,,ND
f,6.5,48.0,20.5,ND
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "buoys.csv"
    path.write_text(TEXT)
    return path


def test_rows_with_blanks_are_dropped_and_said_so(path):
    chosen = choose(read_file(path), "WDIR", ["lon", "lat"], path=path)
    assert chosen.angles.tolist() == [350.0, 20.5]
    assert chosen.inputs.to_dict("list") == {"lon": [8.1, 6.5], "lat": [50.0, 48.0]}
    assert chosen.inputs.index.tolist() == [0, 1]
    assert chosen.kept.tolist() == [0, 5]
    assert chosen.dropped == (
        "3 of 6 rows were dropped because 'WDIR' is blank.",
        "1 of 6 rows was dropped because 'lon' is blank.",
    )


def test_nothing_dropped_is_nothing_said():
    chosen = choose(pd.DataFrame({"x": [1, 2], "y": [3, 4]}), "y", ["x"])
    assert chosen.dropped == ()
    assert chosen.kept.tolist() == [0, 1]


def test_without_names_all_columns_of_numbers_are_inputs(path):
    frame = read_file(path).assign(empty=np.nan, sure=True, text=["1", "2", "3", "4", "5", "6"])
    chosen = choose(frame, "WDIR")
    assert list(chosen.inputs.columns) == ["lon", "lat", "text"]
    assert chosen.inputs["text"].tolist() == [1.0, 6.0]


def test_columns_of_text_are_kept_for_categories(path):
    chosen = choose(read_file(path), "WDIR", ["species", "lat"])
    table = read_inputs(chosen.inputs)
    assert table.categories == {0: ("ND", "salt")}
    assert table.values[:, 0].tolist() == [1, 0, 0]


@pytest.mark.parametrize("blank", ["", " ", "NA", " MM ", "nan", None, np.nan, pd.NA])
def test_every_word_for_missing_is_a_blank(blank):
    frame = pd.DataFrame({"x": ["1.5", blank, "2.5"], "y": pd.Series([1, 2, 3.0], dtype=object)})
    chosen = choose(frame, "y", ["x"])
    assert chosen.inputs["x"].tolist() == [1.5, 2.5]
    assert chosen.angles.dtype == np.float64


def test_order_and_index_of_the_frame_do_not_matter():
    frame = pd.DataFrame({"y": [1.0, None, 3.0], "x": [4, 5, 6]}, index=[9, 9, 2])
    chosen = choose(frame, "y", ["x"])
    assert chosen.inputs["x"].tolist() == [4, 6]
    assert chosen.kept.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("angle", "inputs", "words"),
    [
        ("wdir", ["lon"], "buoys.csv has no column 'wdir': did you mean 'WDIR'.*'station', 'lon', 'lat'"),
        ("WDIR", ["lon", "latitude"], "no column 'latitude': did you mean 'lat'"),
        ("WDIR", ["lon", "WDIR"], "both the angle and an input"),
        ("WDIR", ["lon", "lon"], "each of them once"),
        ("WDIR", [], "at least one"),
        ("species", ["lon"], "line 2 of buoys.csv holds 'salt' in column 'species', where a number"),
    ],
)
def test_refused(path, angle, inputs, words):
    with pytest.raises(InputError, match=words):
        choose(read_file(path), angle, inputs, path=path)


@pytest.mark.parametrize("inputs", [["lon"], None])
def test_text_among_numbers_names_the_line_and_the_value(path, inputs):
    path.write_text(TEXT.replace("7.5", "7.5E"))
    with pytest.raises(InputError, match=r"line 5 of buoys.csv holds '7.5E' in column 'lon'"):
        choose(read_file(path), "WDIR", inputs, path=path)


def test_text_among_angles_names_the_line_and_the_value(path):
    path.write_text(TEXT.replace("20.5", "north"))
    with pytest.raises(InputError, match=r"line 7 of buoys.csv holds 'north' in column 'WDIR'"):
        choose(read_file(path), "WDIR", ["lon"], path=path)


@pytest.mark.parametrize("cell", ["inf", "-inf", "1e400"])
def test_infinite_numbers_name_the_line(path, cell):
    path.write_text(TEXT.replace("6.5", cell))
    with pytest.raises(
        InputError, match=r"line 7 of buoys.csv holds -?inf in column 'lon', which is infinite"
    ):
        choose(read_file(path), "WDIR", ["lon"], path=path)


def test_no_row_left(path):
    frame = read_file(path).assign(tide=[np.nan, 1, np.nan, 3, 4, np.nan])
    with pytest.raises(InputError, match=r"no row in which .*'WDIR' is blank in 3, 'tide' is blank in"):
        choose(frame, "WDIR", ["lat", "tide"], path=path)


def test_no_column_of_numbers_left():
    with pytest.raises(InputError, match="no columns of numbers beside 'y'"):
        choose(pd.DataFrame({"y": [1.0], "name": ["a"]}), "y")


def test_angles_of_another_type():
    frame = pd.DataFrame({"y": pd.to_datetime(["2020-01-01"]), "b": [True], "x": [1.0]})
    for angle in ("y", "b"):
        with pytest.raises(InputError, match="where angles are needed"):
            choose(frame, angle, ["x"])


def test_something_else_than_a_frame():
    with pytest.raises(InputError, match="pandas frame"):
        choose({"y": [1.0]}, "y", ["x"])


def test_complete_rows_of_a_file_of_places(path):
    rows = complete_rows(read_file(path), ["lat", "lon"], path=path)
    assert list(rows.frame.columns) == ["lat", "lon"]
    assert rows.kept.tolist() == [0, 1, 3, 5]
    assert rows.dropped == {"'lat' is blank": 1, "'lon' is blank": 1}
    assert len(rows.sentences()) == 2
