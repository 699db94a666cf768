"""Tables in files: every digit is read, and each way to go wrong has its message."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest

from vmqp.errors import InputError
from vmqp.tables import digest, place_in_file, read_file


@pytest.fixture
def write(tmp_path):
    def writer(content, name="stations.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writer


FRAME = pd.DataFrame(
    {
        "lon": np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100),
        "id": np.arange(200),
        "name": ["Bergen", 'Waldsee, "Bad"', "Jülich", "two\nlines"] * 50,
        "land": [True, False] * 100,
    }
)


@pytest.mark.parametrize("name", ["a.csv", "a.CSV", "a.csv.gz", "a.tsv", "a.txt", "a.parquet", "a.pq"])
def test_numbers_and_text_come_back_exactly(tmp_path, name):
    path = tmp_path / name
    if "p" in path.suffix:
        FRAME.to_parquet(path)
    else:
        FRAME.to_csv(path, index=False, sep="\t" if name == "a.tsv" else ",")
    back = read_file(path)
    assert back["lon"].tolist() == FRAME["lon"].tolist()
    assert back["name"].tolist() == FRAME["name"].tolist()
    assert list(back.columns) == list(FRAME.columns)
    assert digest(back) == digest(FRAME)
    assert digest(read_file(str(path))) == digest(FRAME)


@pytest.mark.parametrize(
    "text",
    [
        "lon,lat\n8.5,50\n9.25,\n",
        "lon;lat\n8.5;50\n9.25;\n",
        "lon;lat\n8,5;50,0\n9,25;\n",
        "lon\tlat\n8.5\t50\n9.25\tNA\n",
        "lon\tlat\r\n8,5\t50\r\n9,25\tNA\r\n",
        "\n\n lon , lat \n\n 8.5 , 50 \n  \n9.25, MM\n\n",
        '"lon","lat"\n"8.5","50"\n"9.25",""\n',
        b"\xef\xbb\xbflon,lat\n8.5,50\n9.25,n/a\n",
        "lon,lat\n8.5,50\n9.25,\n".encode("utf-16"),
        "lon,lat\n8.5,50\n9.25\n",
    ],
)
def test_dialects_of_the_same_table(write, text):
    frame = read_file(write(text))
    assert list(frame.columns) == ["lon", "lat"]
    assert frame["lon"].tolist() == [8.5, 9.25]
    assert frame["lat"].iloc[0] == 50.0
    assert np.isnan(frame["lat"].iloc[1])


def test_other_encodings_of_text(write):
    assert read_file(write("name,x\nJülich,1\n".encode("latin-1")))["name"].tolist() == ["Jülich"]


def test_index_of_a_parquet_file_becomes_a_column(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index([7, 8], name="station")).to_parquet(path)
    frame = read_file(path)
    assert list(frame.columns) == ["station", "x"]
    assert frame.index.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("lon,lat\n", "column names but no rows"),
        ("8.1,50.0\n9.9,52.0\n", "first line .* holds numbers"),
        ("lon,lon\n1,2\n", "more than one column with the name 'lon'"),
        ("lon,lon \n1,2\n", "more than one column with the name 'lon'"),
        ("lon,lat\n1,2\n1,2,3\n", "names 2 columns, but line 3 has 3 values"),
        ("lon,lat\n1,2,3\n1,2,3\n", "names 2 columns, but a line has more values"),
        ('lon,lat\n1,"2\n3,4\n', "quotation mark that is not closed"),
        (b"lon,lat\n1,\x002\n", "not a text file"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not a text file"),
    ],
)
def test_text_that_is_no_table(write, content, words):
    with pytest.raises(InputError, match=words) as caught:
        read_file(write(content))
    assert "stations.csv" in str(caught.value)


def test_missing_file_is_told_the_nearest_name(write):
    path = write("lon\n1\n")
    with pytest.raises(InputError, match=r"no file .*station.csv: did you mean stations.csv"):
        read_file(path.with_name("station.csv"))


@pytest.mark.parametrize("path", ["no/such/folder/a.csv", "a\0b.csv", "x" * 5000 + ".csv"])
def test_paths_that_cannot_be(path):
    with pytest.raises(InputError, match="no file"):
        read_file(path)


@pytest.mark.parametrize("path", [None, 3, "", ["a.csv"]])
def test_paths_that_are_none(path):
    with pytest.raises(InputError, match="not the path"):
        read_file(path)


def test_empty_folder(tmp_path):
    with pytest.raises(InputError, match="its folder is empty"):
        read_file(tmp_path / "a.csv")


def test_folder(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        read_file(tmp_path)


def test_unknown_endings(write):
    with pytest.raises(InputError, match=r"\.csv, .*\.parquet.*Save the sheet as CSV"):
        read_file(write(b"PK", "a.xlsx"))
    with pytest.raises(InputError, match="ending that is not known"):
        read_file(write(b"{}", "a.json"))


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b"lon,lat\n" * 100)[:20]], ids=["no gzip", "cut"]
)
def test_broken_archive(write, content):
    with pytest.raises(InputError, match=r"a.csv.gz cannot be read"):
        read_file(write(content, "a.csv.gz"))


def test_unreadable_file(write, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        read_file(write("lon\n1\n"))


def test_broken_parquet(write):
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_file(write(b"PAR1 and no more", "a.parquet"))


def test_parquet_without_rows(tmp_path):
    pd.DataFrame({"x": []}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="no rows"):
        read_file(tmp_path / "a.parquet")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    FRAME.to_parquet(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'vmqp\[parquet\]'"):
        read_file(tmp_path / "a.parquet")


def test_place_in_a_file_is_the_line_that_an_editor_shows(write):
    path = write('\nname,x\n"two\nlines",1\n\n,\n"a","b"\n')
    assert [place_in_file(path, row, 3) for row in range(3)] == [
        "line 3 of stations.csv",
        "line 6 of stations.csv",
        "line 7 of stations.csv",
    ]
    assert len(read_file(path)) == 3


def test_place_falls_back_to_the_row(write):
    assert place_in_file("", 4, 9) == "row 4"
    assert place_in_file("gone.csv", 4, 9) == "row 4 of gone.csv"
    assert place_in_file("a.parquet", 4, 9) == "row 4 of a.parquet"
    assert place_in_file(write("x\n1\n"), 4, 9) == "row 4 of stations.csv"


def test_digest_sees_every_change():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]})
    changed = [
        frame.rename(columns={"a": "c"}),
        frame[["b", "a"]],
        frame.iloc[::-1],
        frame.iloc[:1],
        frame.assign(a=[1.0, 2.0]),
        frame.assign(a=[np.nextafter(1.0, 2.0), np.nan]),
        frame.assign(b=["x", "-"]),
        frame.assign(b=["x", "None"]),
        frame.assign(b=["y", None]),
        frame.assign(a=["1.0", None]),
        pd.DataFrame({"a": [1.0, np.nan], "b": [None, "x"]}),
    ]
    digests = [digest(frame), *map(digest, changed)]
    assert len(set(digests)) == len(digests)
    assert all(len(text) == 64 for text in digests)


def test_digest_does_not_see_how_cells_are_stored():
    plain = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [None, None], "d": [0.0, np.nan]})
    other = pd.DataFrame(
        {
            "a": pd.array([1, 2], dtype="Int32"),
            "b": pd.array(["x", None], dtype="string"),
            "c": [np.nan, np.nan],
            "d": [-0.0, -np.nan],
        },
        index=[5, 6],
    )
    assert digest(plain) == digest(other)
