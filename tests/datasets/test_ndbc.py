"""Files of NDBC: of all years, broken ones, a real snapshot, and a download."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from file_server import left_in
from vmqp import tables
from vmqp.convert import phase
from vmqp.datasets import ndbc
from vmqp.errors import InputError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "ndbc_latest.csv"

HEADER = """\
#STN       LAT      LON  YYYY MM DD hh mm WDIR WSPD   GST WVHT  DPD APD MWD   PRES  PTDY  ATMP  WTMP  DEWP  VIS   TIDE
#text      deg      deg   yr mo day hr mn degT  m/s   m/s   m   sec sec degT   hPa   hPa  degC  degC  degC  nmi     ft
"""
ROWS = """\
22101    37.24   126.02  2018 07 30 21 00 190   1.0    MM   MM   MM  MM  MM 1005.3    MM  23.9  21.4    MM   MM     MM
41001    34.70   -72.73  2018 07 30 20 50 360   5.0   6.0  1.5    8 5.3 110 1015.1  -0.4  27.1  28.4  22.0   MM     MM
AAMC1    37.77  -122.30  2018 07 30 20 54   0   0.0   1.5   MM   MM  MM 360     MM    MM    MM    MM    MM   MM     MM
46042    36.79   237.60  2018 07 30 20 50   0   2.0    MM   MM   MM  MM  MM     MM    MM    MM    MM    MM 10.0  -0.92
"""
COLUMNS = [
    *("station", "lon", "lat", "time", "direction", "speed", "gust", "wave_direction", "wave_height"),
    *("dominant_period", "average_period", "pressure", "pressure_tendency", "air_temperature"),
    *("water_temperature", "dew_point", "visibility", "tide"),
]
NAMES = [
    "WDIR",
    "WSPD",
    "GST",
    "MWD",
    "WVHT",
    "DPD",
    "APD",
    "PRES",
    "PTDY",
    "ATMP",
    "WTMP",
    "DEWP",
    "VIS",
    "TIDE",
]


def written(tmp_path, text, name="latest_obs.txt"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["latest_obs.txt", "latest_obs.txt.gz"])
def test_latest(tmp_path, name):
    table = ndbc.read_latest(written(tmp_path, HEADER + ROWS, name))
    assert list(table) == COLUMNS
    assert table["station"].tolist() == ["22101", "41001", "AAMC1", "46042"]
    assert table["time"][0] == pd.Timestamp("2018-07-30 21:00", tz="UTC")
    np.testing.assert_allclose(table["lon"], [126.02, -72.73, -122.30, -122.40])
    # A calm has no direction; north is 0, written as 360 or as 0 with a wind.
    np.testing.assert_array_equal(table["direction"], [190.0, 0.0, np.nan, 0.0])
    np.testing.assert_array_equal(table["wave_direction"], [np.nan, 110.0, 0.0, np.nan])
    rest = table.loc[1, COLUMNS[8:]].astype(float)
    np.testing.assert_array_equal(rest, [1.5, 8.0, 5.3, 1015.1, -0.4, 27.1, 28.4, 22.0, np.nan, np.nan])
    assert table.loc[3, ["visibility", "tide"]].tolist() == [10.0, -0.92]


def test_times_are_in_utc(tmp_path):
    table = ndbc.read_latest(written(tmp_path, HEADER + ROWS))
    assert phase(table["time"], timezone="America/Los_Angeles")[0] == 14.0


def test_predict_takes_what_has_a_direction(tmp_path):
    """What `vmqp predict` does with a table: it reads the file, and leaves out the rows without an angle."""
    path = tmp_path / "wind.csv"
    ndbc.read_latest(written(tmp_path, HEADER + ROWS)).to_csv(path, index=False)
    wind = tables.choose(tables.read_file(path), "direction", ["lon", "lat"], path=path)
    assert wind.angles.tolist() == [190.0, 0.0, 0.0]
    assert wind.dropped == ("1 of 4 rows was dropped because 'direction' is blank.",)
    waves = tables.choose(tables.read_file(path), "wave_direction", ["lon", "lat"], path=path)
    assert waves.angles.tolist() == [110.0, 0.0]


REALTIME = """\
#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP  DEWP  VIS PTDY  TIDE
#yr  mo dy hr mn degT m/s  m/s     m   sec   sec degT   hPa  degC  degC  degC  nmi  hPa    ft
2024 05 01 12 50 360  5.0  6.0   1.5     8   5.3 110 1015.1  20.1  22.4    MM   MM -0.4    MM
2024 05 01 12 40  MM   MM   MM    MM    MM    MM  MM     MM    MM  22.4    MM   MM   MM  1.50
"""
HISTORICAL = """\
#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP  DEWP  VIS  TIDE
#yr  mo dy hr mn degT m/s  m/s     m   sec   sec degT   hPa  degC  degC  degC   mi    ft
2023 01 01 00 00 999 99.0 99.0 99.00 99.00 99.00 999 9999.0 999.0 999.0 999.0 99.0 99.00
2023 01 01 00 10 214  4.9  5.9  1.40  7.14  5.01  84 1018.2  19.9  22.1  18.0  9.0  0.50
"""
OLD = """\
YYYY MM DD hh WD   WSPD GST  WVHT  DPD   APD  MWD  BAR    ATMP  WTMP  DEWP  VIS  TIDE
2000 01 01 00 350  8.1 10.2  1.61  7.70  5.39 999 1021.6  12.9  20.3 999.0 99.0
2000 08 01 00 -12  0.0  0.3  1.61  7.70  5.39 500 1021.6  12.9  20.3 999.0 99.0 99.00
"""
OLDER = """\
YY MM DD hh WD   WSPD GST  WVHT  DPD   APD  MWD  BAR    ATMP  WTMP  DEWP  VIS
98 12 31 23 350  8.1 10.2  1.61  7.70  5.39 999 1021.6  12.9  20.3 999.9 99.0
"""


def test_the_last_days_of_a_station(tmp_path):
    table = ndbc.read_station(written(tmp_path, REALTIME, "41001.txt"), lon=-72.7, lat=34.7)
    assert list(table) == COLUMNS
    assert table["station"].tolist() == ["41001"] * 2
    assert table[["lon", "lat"]].to_numpy().tolist() == [[-72.7, 34.7]] * 2
    assert table["time"].tolist() == [pd.Timestamp(f"2024-05-01 12:{m}", tz="UTC") for m in (50, 40)]
    np.testing.assert_array_equal(table["direction"], [0.0, np.nan])
    assert table.loc[0, "pressure_tendency"] == -0.4
    assert table.loc[1, ["water_temperature", "tide"]].tolist() == [22.4, 1.5]


@pytest.mark.parametrize("name", ["sauf1h2023.txt", "SAUF1h2023.txt.gz"])
def test_a_year_of_a_station_has_nines_for_what_is_missing(tmp_path, name):
    table = ndbc.read_station(written(tmp_path, HISTORICAL, name))
    assert set(table["station"]) == {"SAUF1"}
    assert table[["lon", "lat"]].isna().all(axis=None)
    assert table.loc[0, COLUMNS[4:]].isna().all()
    assert table.loc[1, ["direction", "speed", "wave_direction", "pressure", "tide"]].tolist() == [
        *(214.0, 4.9, 84.0, 1018.2, 0.5)
    ]


def test_old_years(tmp_path):
    table = ndbc.read_station(written(tmp_path, OLD, "41001h2000.txt"))
    assert table["time"].astype(str).tolist() == ["2000-01-01 00:00:00+00:00", "2000-08-01 00:00:00+00:00"]
    np.testing.assert_array_equal(
        table["direction"], [350.0, np.nan]
    )  # -12 is no direction, and 500 none of waves
    assert table[["wave_direction", "dew_point", "tide"]].isna().all(axis=None)
    assert table["pressure"].tolist() == [1021.6] * 2
    older = ndbc.read_station(written(tmp_path, OLDER, "data.txt"), station="eb01")
    assert older.loc[0, "time"] == pd.Timestamp("1998-12-31 23:00", tz="UTC")
    assert older.loc[0, "station"] == "eb01"
    assert older.loc[0, ["dew_point", "tide"]].isna().all()


def test_years_of_two_digits_after_2000(tmp_path):
    table = ndbc.read_station(written(tmp_path, OLDER.replace("98 12", "05 12"), "41001h2005.txt"))
    assert table.loc[0, "time"].year == 2005


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!DOCTYPE html>\n<html>not found</html>", "is a page of the web"),
        ("", "The file is empty"),
        ("\n \n", "The file is empty"),
        ("a,b\n1,2\n", r"is no table of NDBC.*'a,b'"),
        (REALTIME, "must name the columns 'STN', 'LAT', 'LON'"),
        (HEADER.replace("WDIR", "DIR").replace("MWD", "DMW") + ROWS, "and WDIR or MWD"),
        (HEADER, "no observations"),
        (HEADER + ROWS.replace(" MM\n", "\n", 1)[:-60], "line 6 of latest_obs.txt has"),
        (HEADER + ROWS.replace("190", "19o"), "line 3 of latest_obs.txt has '19o' for WDIR"),
        (HEADER + ROWS.replace("34.70", "94.70"), "line 4 of latest_obs.txt has '94.70' for LAT"),
        (HEADER + ROWS.replace("126.02", "MM"), "line 3 of latest_obs.txt has 'MM' for LON"),
        (HEADER + ROWS.replace("07 30 20 54", "07 30 24 54"), "line 5 of latest_obs.txt has '24' for hh"),
        (HEADER + ROWS.replace("07 30 20 54", "02 30 20 54"), "line 5 of latest_obs.txt has '30' for DD"),
        (HEADER + ROWS.replace("07 30 20 54", "MM 30 20 54"), "line 5 of latest_obs.txt has 'MM' for MM"),
    ],
)
def test_files_that_are_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        ndbc.read_latest(written(tmp_path, text))


def test_stations_that_are_refused(tmp_path):
    with pytest.raises(InputError, match="does not name its station"):
        ndbc.read_station(written(tmp_path, REALTIME, "my observations.txt"))
    broken = tmp_path / "41001.txt.gz"
    broken.write_bytes(gzip.compress(REALTIME.encode())[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        ndbc.read_station(broken)
    with pytest.raises(InputError, match="cannot be read"):
        ndbc.read_station(tmp_path / "41002.txt")


def as_ndbc_writes_it(frame):
    """The snapshot as text: two lines of names, cells under them, MM for what is missing."""
    lines = [HEADER.rstrip("\n")]
    for row in frame.itertuples(index=False):
        cells = [f"{row.STN:<6}", f"{row.LAT:8.3f}", f"{row.LON:9.3f}", f"{row.YYYY:5d}"]
        cells += [f"{value:02d}" for value in (row.MM, row.DD, row.hh, row.mm)]
        order = HEADER.split("\n")[0].split()[8:]
        cells += [" MM" if pd.isna(value) else f"{value:g}" for value in (getattr(row, n) for n in order)]
        lines.append(" ".join(cells))
    return "\n".join(lines) + "\n"


@pytest.mark.skipif(not SHARED.is_file(), reason="the shared data ndbc_latest.csv are not here")
def test_a_real_snapshot_comes_back(tmp_path):
    frame = pd.read_csv(SHARED, dtype={"STN": str})
    table = ndbc.read_latest(written(tmp_path, as_ndbc_writes_it(frame)))
    assert table["station"].tolist() == frame["STN"].tolist()
    assert table["time"].tolist() == pd.to_datetime(frame["time_utc"], utc=True).tolist()
    np.testing.assert_allclose(table[["lon", "lat"]], frame[["LON", "LAT"]], atol=1e-9)
    for ours, name in zip(COLUMNS[4:], NAMES, strict=True):
        theirs = frame[name] % 360 if name in ("WDIR", "MWD") else frame[name]
        np.testing.assert_array_equal(table[ours], theirs, err_msg=name)
    assert table["direction"].notna().sum() == 622
    assert table["wave_direction"].notna().sum() == 119
    assert (table["direction"] == 0).sum() == 15


def test_download(files, tmp_path, monkeypatch):
    files.answers["/obs.txt"] = (HEADER + ROWS).encode()
    assert len(ndbc.latest(url=f"{files.url}/obs.txt")) == 4
    monkeypatch.setenv("VMQP_NDBC_URL", f"{files.url}/obs.txt")
    assert len(ndbc.latest(cache=tmp_path)) == 4
    assert left_in(tmp_path) == ["latest_obs.txt"]
    assert files.asked == ["/obs.txt"] * 2


def test_what_unpacks_to_too_much_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(ndbc, "_LARGEST_UNPACKED", 1_000_000)
    path = tmp_path / "latest_obs.txt.gz"
    path.write_bytes(gzip.compress(b" " * 3_000_000))
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        ndbc.read_latest(path)


def test_a_page_instead_of_the_file_replaces_nothing(files, tmp_path):
    files.answers["/obs.txt"] = [(HEADER + ROWS).encode(), b"<html>we are sorry</html>"]
    ndbc.latest(url=f"{files.url}/obs.txt", cache=tmp_path)
    with pytest.raises(InputError, match=r"is a page of the web.*read it with ndbc\.read_latest"):
        ndbc.latest(url=f"{files.url}/obs.txt", cache=tmp_path)
    assert left_in(tmp_path) == ["latest_obs.txt"]
    assert len(ndbc.read_latest(tmp_path / "latest_obs.txt")) == 4
