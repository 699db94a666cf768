"""The list of stations: columns whose widths nobody keeps to, names with blanks, and encodings."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwd_files import DASHES, LIST_HEAD, line, station_list
from vmqp.datasets import dwd
from vmqp.datasets.dwd.example import list_lines
from vmqp.datasets.dwd.station_list import latest, parse_list
from vmqp.errors import InputError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "dwd_station_list.csv"

REAL = (
    "00003 19930429 20110331            202     50.7827    6.0941 Aachen                                   "
    "Nordrhein-Westfalen                      Frei      "
)


def test_a_line_as_it_stands_in_the_real_list():
    (row,) = parse_list(station_list([REAL]).encode()).to_dict("records")
    assert row == {
        "station": "00003",
        "name": "Aachen",
        "state": "Nordrhein-Westfalen",
        "lon": 6.0941,
        "lat": 50.7827,
        "elevation": 202.0,
        "begin": pd.Timestamp("1993-04-29"),
        "end": pd.Timestamp("2011-03-31"),
    }


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("free", ["Frei", ""])
@pytest.mark.parametrize("until", ["20240531", ""])
def test_names_survive_encodings_line_ends_and_missing_columns(end, encoding, free, until):
    names = [
        "Groß Lüsewitz",
        "Soden,Bad-Salmünster (Kläranlage)",
        "Weingarten, Kr. Ravensburg",
        "List auf Sylt",
    ]
    lines = [line(k, name, "Thüringen", free=free, end=until) for k, name in enumerate(names, 1)]
    head = LIST_HEAD + (" Abgabe" if free else "")
    table = parse_list(station_list(lines, end, head).encode(encoding))
    assert table["name"].tolist() == names
    assert set(table["state"]) == {"Thüringen"}
    assert table["station"].tolist() == ["00001", "00002", "00003", "00004"]
    assert table["end"].isna().all() == (until == "")


def test_names_that_hold_states_or_are_as_wide_as_the_column():
    wide = "A" * 40
    table = parse_list(
        station_list(
            [
                line(427, "Berlin Brandenburg", "Brandenburg"),
                line(5, wide, "Hessen"),
                line(6, "Frei Laubersheim", "Rheinland-Pfalz"),
                line(7, "Helgoland", "Schleswig-Holstein", lon=-7.5, lat=54.1, elevation=-1),
            ]
        ).encode()
    )
    assert table["name"].tolist() == ["Berlin Brandenburg", wide, "Frei Laubersheim", "Helgoland"]
    assert table["state"].tolist() == ["Brandenburg", "Hessen", "Rheinland-Pfalz", "Schleswig-Holstein"]
    assert table.loc[3, ["lon", "lat", "elevation"]].tolist() == [-7.5, 54.1, -1]


words = st.text("abcdefgÄÖÜäöüßéXYZ()/.,-", min_size=1, max_size=10).filter(lambda word: set(word) != {"-"})
dates = st.dates(pd.Timestamp("1950-01-01").date(), pd.Timestamp("2050-01-01").date()).map(pd.Timestamp)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 99_999),
            st.lists(words, min_size=1, max_size=4).map(" ".join),
            words,
            st.integers(-1_799_999, 1_799_999),
            st.integers(-899_999, 899_999),
            st.integers(-20, 9000),
            dates,
            st.one_of(dates, st.just(pd.NaT)),
        ),
        min_size=1,
        max_size=5,
        unique_by=lambda row: row[0],
    ),
    st.sampled_from(["latin-1", "utf-8", "utf-8-sig"]),
)
def test_what_is_written_is_read_back(rows, encoding):
    table = pd.DataFrame(
        [
            (f"{n:05d}", name, state, x / 1e4, y / 1e4, float(z), *days)
            for n, name, state, x, y, z, *days in rows
        ],
        columns=["station", "name", "state", "lon", "lat", "elevation", "begin", "end"],
    )
    table["end"] = pd.to_datetime(table["end"])
    back = parse_list(list_lines(table).encode(encoding))
    assert back.astype(str).to_dict("records") == table.astype(str).to_dict("records")


def test_the_real_list_comes_back(tmp_path):
    if not SHARED.is_file():
        pytest.skip("the shared data dwd_station_list.csv are not here")
    real = pd.read_csv(SHARED, dtype={"Stations_id": str}).drop_duplicates("Stations_id")
    lines = [
        line(
            row.Stations_id,
            row.Stationsname,
            row.Bundesland,
            lon=row.geoLaenge,
            lat=row.geoBreite,
            elevation=row.Stationshoehe,
            begin=row.von_datum.replace("-", ""),
            end=row.bis_datum.replace("-", ""),
        )
        for row in real.itertuples()
    ]
    (tmp_path / "deep").mkdir()
    path = tmp_path / "deep" / "zehn_min_ff_Beschreibung_Stationen.txt"
    path.write_bytes(station_list(lines).encode("latin-1"))
    table = dwd.stations(tmp_path).set_index("station")
    real = real.set_index(real["Stations_id"].str.zfill(5)).sort_index()
    assert len(table) == 304
    assert table.index.tolist() == real.index.tolist()
    for ours, theirs in {
        "name": "Stationsname",
        "state": "Bundesland",
        "lon": "geoLaenge",
        "lat": "geoBreite",
        "elevation": "Stationshoehe",
    }.items():
        assert table[ours].tolist() == real[theirs].tolist()
    assert table["begin"].dt.strftime("%Y-%m-%d").tolist() == real["von_datum"].tolist()
    assert table["end"].dt.strftime("%Y-%m-%d").tolist() == real["bis_datum"].tolist()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a list of stations"),
        ("<html><body>404</body></html>", "not a list of stations.*<html>"),
        (
            f"{LIST_HEAD}\n{DASHES}\nAachen 50.7 6.0\n",
            r"line 3 cannot be read as a station: 'Aachen 50.7 6.0'",
        ),
        (f"{LIST_HEAD}\n{REAL.replace('19930429', '19931329')}\n", "00003 has the date '19931329'"),
        (f"{LIST_HEAD}\n{REAL.replace('50.7827', '150.7827')}\n", "latitude 150.783.*off the earth"),
        (f"{LIST_HEAD}\n{REAL.replace('6.0941', '6,0941')}\n", "line 2 cannot be read"),
    ],
)
def test_what_is_no_list_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        parse_list(text.encode(), "list.txt")


def test_a_line_of_blanks_without_end_takes_no_time():
    """A pattern that goes back over every blank would take minutes."""
    blank = f"{line(7, 'Nebel', 'Hessen')}{' ' * 1_000_000}"
    with pytest.raises(InputError, match="cannot be read as a station"):
        parse_list(station_list([blank + "x"]).encode())


def test_of_several_lists_the_one_that_reaches_furthest_is_believed():
    def one(elevation, until):
        return parse_list(station_list([line(3, "Ort", "Hessen", elevation=elevation, end=until)]).encode())

    assert latest([one(1, "20200101"), one(2, "20230101"), one(3, "20210101")])["elevation"].tolist() == [2]
    assert latest([one(1, "20200101"), one(2, ""), one(3, "20210101")])["elevation"].tolist() == [2]
    assert latest([one(1, "20200101"), one(2, "20200101")])["elevation"].tolist() == [1]
