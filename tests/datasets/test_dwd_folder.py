"""Files of one's own: what a row means, which file is believed, clocks, and files that are broken."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from dwd_broken import BROKEN, GOOD
from dwd_files import LIST, archive, line, member, product, station_list, write_folder, zipped
from vmqp.datasets import dwd
from vmqp.datasets.dwd import archive as archives
from vmqp.errors import InputError

TIME = "2024-05-01T12:00"
STAMP = "202405011200"


def akt(number):
    return f"10minutenwerte_wind_{number:05d}_akt.zip"


def folder_of(tmp_path, winds):
    """One station for each pair of speed and direction, numbered from 1, with rows before and after."""
    around = [("202405011150", "9.9", "90"), None, ("202405011210", "9.9", "90")]
    return write_folder(
        tmp_path / "wind",
        {akt(k): archive(k, [around[0], (STAMP, *wind), around[2]]) for k, wind in enumerate(winds, 1)},
    )


def test_a_snapshot_has_exactly_these_columns_and_values(tmp_path):
    table = dwd.snapshot(TIME, folder=folder_of(tmp_path, [("4.1", "230")]))
    assert table.to_dict("records") == [
        {"station": "00001", "lon": 5.0, "lat": 50.7827, "elevation": 202.0, "speed": 4.1, "direction": 230.0}
    ]
    assert list(table) == ["station", "lon", "lat", "elevation", "speed", "direction"]


WINDS = {
    "north as 360": ("3.0", "360", 3.0, 0.0, ""),
    "north as 0": ("3.0", "0", 3.0, 0.0, ""),
    "ten degrees": ("3.0", "10", 3.0, 10.0, ""),
    "finer": ("12.3", "237", 12.3, 237.0, ""),
    "calm": ("0.0", "0", 0.0, np.nan, "calm"),
    "variable": ("0.7", "990", 0.7, np.nan, "variable"),
    "variable without speed": ("-999", "990", np.nan, np.nan, "variable"),
    "nothing": ("-999", "-999", np.nan, np.nan, "missing"),
    "no direction": ("3.0", "-999", 3.0, np.nan, "missing"),
    "no speed": ("-999", "230", np.nan, 230.0, ""),
    "no speed and 0": ("-999", "0", np.nan, np.nan, "missing"),
    "a vane in still air": ("0.0", "230", 0.0, 230.0, ""),
}


@pytest.mark.parametrize(("ff", "dd", "speed", "direction", "note"), WINDS.values(), ids=WINDS)
def test_what_a_row_means(tmp_path, ff, dd, speed, direction, note):
    folder = folder_of(tmp_path, [(ff, dd), ("5.0", "180")])
    wind = dwd.series(1, TIME, TIME, folder=folder)
    np.testing.assert_array_equal(wind[["speed", "direction"]].to_numpy(), [[speed, direction]])
    assert wind["note"].tolist() == [note]

    dropped = dwd.snapshot(TIME, folder=folder)
    assert len(dropped) == (2 if note == "" else 1)
    assert dropped["direction"].notna().all()
    for reason in ("calm", "variable", "missing"):
        assert dropped.attrs["left_out"][reason] == (note == reason)

    kept = dwd.snapshot(TIME, folder=folder, calm="keep")
    assert len(kept) == (1 if note == "missing" else 2)
    assert kept.attrs["left_out"]["calm"] == kept.attrs["left_out"]["variable"] == 0
    if note != "missing":
        np.testing.assert_array_equal(kept[["speed", "direction"]].to_numpy()[0], [speed, direction])


@pytest.mark.parametrize(
    "time",
    [
        "2024-05-01T12:00",
        "2024-05-01 12:00:00",
        "2024-05-01T12:00Z",
        "2024-05-01T14:00+02:00",
        datetime(2024, 5, 1, 12),
        datetime(2024, 5, 1, 12, tzinfo=UTC),
        datetime(2024, 5, 1, 7, tzinfo=timezone(timedelta(hours=-5))),
        pd.Timestamp("2024-05-01 12:00"),
        pd.Timestamp("2024-05-01 14:00", tz="Europe/Berlin"),
        np.datetime64("2024-05-01T12:00"),
    ],
)
def test_times_in_many_forms(tmp_path, time):
    assert dwd.snapshot(time, folder=folder_of(tmp_path, [("4.1", "230")]))["speed"].tolist() == [4.1]


@pytest.mark.parametrize(
    "time", ["", "noon", "12:00", None, 20240501, float("nan"), pd.NaT, "2024-13-01T00:00"]
)
def test_times_that_are_none(tmp_path, time):
    with pytest.raises(InputError, match="give a time such as '2024-05-01T12:00'"):
        dwd.snapshot(time, folder=tmp_path)


def test_a_time_between_rows_names_its_neighbours(tmp_path):
    with pytest.raises(InputError, match=r"12:07Z, but .* give 2024-05-01T12:00Z or 2024-05-01T12:10Z"):
        dwd.snapshot("2024-05-01T12:07", folder=tmp_path)
    with pytest.raises(InputError, match=r"12:00:30Z, but .* give 2024-05-01T12:00Z or 2024-05-01T12:10Z"):
        dwd.snapshot("2024-05-01T12:00:30", folder=tmp_path)


def test_a_time_that_no_file_holds_says_which_are_held(tmp_path):
    folder = folder_of(tmp_path, [("4.1", "230")])
    said = "no file in .* has a row at 2024-05-01T13:00Z: .* from 2024-05-01T11:50Z to 2024-05-01T12:10Z"
    with pytest.raises(InputError, match=said):
        dwd.snapshot("2024-05-01T13:00", folder=folder)
    hist = "10minutenwerte_wind_00002_19930429_19991231_hist.zip"
    write_folder(folder, {hist: b"never opened"}, stations=[1, 2])
    with pytest.raises(InputError, match="from 1993-04-29 to 2024-05-01T12:10Z"):
        dwd.snapshot("2024-05-01T13:00", folder=folder)


def test_before_2000_the_clock_is_an_hour_ahead(tmp_path):
    stamps = ["199912312250", "199912312300", "199912312350", "200001010000", "200001010100"]
    name = "10minutenwerte_wind_00001_19930429_20010101_hist.zip"
    rows = [(stamp, f"{k}.5", "90") for k, stamp in enumerate(stamps)]
    folder = write_folder(tmp_path / "wind", {name: archive(1, rows)})
    held = {
        "1999-12-31T21:50": 0.5,
        "1999-12-31T22:00": 1.5,
        "1999-12-31T22:50": 2.5,
        "2000-01-01T00:00": 3.5,
        "2000-01-01T01:00": 4.5,
    }
    for time, speed in held.items():
        assert dwd.snapshot(time, folder=folder)["speed"].tolist() == [speed]
    wind = dwd.series(1, folder=folder)
    assert wind["time"].dt.strftime("%Y-%m-%dT%H:%M").tolist() == list(held)
    assert str(wind["time"].dt.tz) == "UTC"
    with pytest.raises(InputError, match="cannot tell"):
        dwd.snapshot("1999-12-31T23:00", folder=folder)


def test_a_day_that_is_another_in_the_clock_of_the_file(tmp_path):
    # 23:30 UTC on the 30th is 00:30 on the 31st, the first day of the file.
    name = "10minutenwerte_wind_00001_19980531_19981231_hist.zip"
    folder = write_folder(tmp_path / "wind", {name: archive(1, [("199805310030", "2.5", "90")])})
    assert dwd.snapshot("1998-05-30T23:30", folder=folder)["speed"].tolist() == [2.5]


def test_hist_before_akt_before_now_at_any_depth(tmp_path):
    names = {
        "b/10minutenwerte_wind_00001_20240101_20240531_hist.zip": ("min", "1.0"),
        f"a/x/{akt(1)}": ("min", "2.0"),
        "10minutenwerte_wind_00001_now.zip": ("now", "3.0"),
    }
    for number in range(3):
        later = dict(list(names.items())[number:])
        folder = write_folder(
            tmp_path / str(number),
            {name: archive(1, [(STAMP, ff, "90")], kind) for name, (kind, ff) in later.items()},
            stations=[1],
        )
        assert dwd.snapshot(TIME, folder=folder)["speed"].tolist() == [number + 1.0]
        assert dwd.series(1, folder=folder)["speed"].tolist() == [number + 1.0]


def test_series_joins_files_in_order_and_keeps_both_ends(tmp_path):
    rows = [(f"20240501{hour:02d}00", f"{hour}.0", "90") for hour in range(10)]
    folder = write_folder(
        tmp_path / "wind",
        {
            akt(1): archive(1, rows[4:]),
            "10minutenwerte_wind_00001_20240501_20240501_hist.zip": archive(1, rows[:6][::-1]),
        },
    )
    assert dwd.series("00001", folder=folder)["speed"].tolist() == list(range(10))
    part = dwd.series(1, "2024-05-01T03:00", "2024-05-01T07:59+00:00", folder=folder)
    assert part["speed"].tolist() == [3, 4, 5, 6, 7]
    with pytest.raises(InputError, match="start before the end"):
        dwd.series(1, "2024-05-02", "2024-05-01", folder=folder)
    with pytest.raises(InputError, match="reach from 2024-05-01T00:00Z to 2024-05-01T09:00Z"):
        dwd.series(1, "2024-05-01T09:30", folder=folder)
    with pytest.raises(InputError, match="no file of station 00007: did you mean '00001'"):
        dwd.series(7, folder=folder)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_unpacked_products_are_read_too(tmp_path, end):
    text = product(1, [(STAMP, "4.1", "230")], end=end)
    folder = write_folder(tmp_path, {member(1): text.encode()}, stations=[1])
    assert dwd.snapshot(TIME, folder=folder)["speed"].tolist() == [4.1]
    assert dwd.series(1, folder=folder)["speed"].tolist() == [4.1]


def test_a_stamp_is_found_only_in_its_column_and_past_the_first_block(tmp_path):
    stamps = pd.date_range("2023-01-01", TIME, freq="10min").strftime("%Y%m%d%H%M")
    rows = [(stamp, "1.0", "90") for stamp in stamps[:-1]] + [(STAMP, "4.1", "230")]
    assert len(rows) * 45 > 3 << 20
    text = product(1, rows).replace(";    3;", f";{STAMP};", 1)
    folder = write_folder(tmp_path, {akt(1): zipped({member(1): text})})
    assert dwd.snapshot(TIME, folder=folder)["speed"].tolist() == [4.1]
    assert len(dwd.series(1, folder=folder)) == len(rows)


def test_columns_in_another_order_and_without_padding(tmp_path):
    text = f"STATIONS_ID;MESS_DATUM;DD_10;FF_10;QN;NEW;eor\n1;{STAMP};230;4.1;3;x;eor\n"
    folder = write_folder(tmp_path, {akt(1): zipped({member(1): text})})
    assert dwd.snapshot(TIME, folder=folder)[["speed", "direction"]].to_numpy().tolist() == [[4.1, 230.0]]


def test_what_is_left_out_is_counted(tmp_path):
    folder = folder_of(tmp_path, [("4.1", "230"), ("0.0", "0"), ("1.0", "90")])
    late = archive(4, [("202405011210", "1.0", "90")])
    (folder / akt(4)).write_bytes(late)
    lines = [line(k, "Ort", "Hessen") for k in (1, 2, 4, 5)]
    lines += [line(6, "Alt", "Hessen", end="20040630"), line(7, "Offen", "Hessen", end="")]
    (folder / LIST).write_bytes(station_list(lines).encode())
    table = dwd.snapshot(TIME, folder=folder)
    assert table["station"].tolist() == ["00001"]
    # 3 is not in the list; 4 has no row then; 5 and 7 were running and have no file; 6 was closed.
    assert table.attrs["left_out"] == {
        "calm": 1,
        "variable": 0,
        "missing": 0,
        "no file at that time": 3,
        "not in the station list": 1,
        "broken file": 0,
    }
    assert table.attrs["time"] == "2024-05-01T12:00Z"


def test_some_stations(tmp_path):
    folder = folder_of(tmp_path, [("1.0", "90"), ("2.0", "90"), ("3.0", "90")])
    (folder / akt(3)).write_bytes(b"broken, but not asked for")
    assert dwd.snapshot(TIME, folder=folder, stations=[2, "00001"])["speed"].tolist() == [1.0, 2.0]
    assert dwd.snapshot(TIME, folder=folder, stations="2")["speed"].tolist() == [2.0]
    assert dwd.snapshot(TIME, folder=folder, stations=np.array([1]))["speed"].tolist() == [1.0]
    for wrong, said in (
        ([99], "no station '00099'"),
        ("Aachen", "give a number"),
        ([], "empty"),
        (True, "give a"),
    ):
        with pytest.raises(InputError, match=said):
            dwd.snapshot(TIME, folder=folder, stations=wrong)


@pytest.mark.parametrize(("content", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_named_and_can_be_skipped(tmp_path, content, said):
    folder = folder_of(tmp_path, [("1.0", "90"), ("2.0", "90")])
    (folder / akt(1)).write_bytes(content)
    for read in (
        lambda **more: dwd.snapshot(TIME, folder=folder, **more),
        lambda: dwd.series(1, folder=folder),
    ):
        with pytest.raises(
            InputError, match=rf"(?s)00001_akt\.zip: .*{said}.*remove it, or give skip_broken=True"
        ):
            read()
    table = dwd.snapshot(TIME, folder=folder, skip_broken=True)
    assert table["station"].tolist() == ["00002"]
    assert table.attrs["left_out"]["broken file"] == 1
    assert table.attrs["left_out"]["no file at that time"] == 0
    (sentence,) = table.attrs["broken"]
    assert "00001_akt.zip: " in sentence


def test_a_broken_file_of_a_station_that_has_another_is_no_loss(tmp_path):
    """The one that is better known by its kind is broken, and the other one has the row."""
    folder = folder_of(tmp_path, [("1.0", "90"), ("2.0", "90")])
    (folder / "10minutenwerte_wind_00001_20240101_20241231_hist.zip").write_bytes(b"PK broken")
    table = dwd.snapshot(TIME, folder=folder, skip_broken=True)
    assert table["station"].tolist() == ["00001", "00002"]
    assert table.attrs["left_out"]["broken file"] == 0
    assert len(table.attrs["broken"]) == 1


@pytest.mark.parametrize("time", ["2024-06-01T12:00", "2024-05-01T08:00"])
def test_what_was_read_tells_more_than_a_name(tmp_path, time):
    """The name of one file holds the day, and its rows are of noon, as those of the other are."""
    rows = [("202405011100", "4.1", "230"), ("202405011300", "4.1", "230")]
    hist = "10minutenwerte_wind_00002_20240501_20240501_hist.zip"
    folder = write_folder(tmp_path, {akt(1): archive(1, rows), hist: archive(2, rows)})
    with pytest.raises(InputError, match="reach from 2024-05-01T11:00Z to 2024-05-01T13:00Z"):
        dwd.snapshot(time, folder=folder)


def test_days_of_names_where_nothing_was_read(tmp_path):
    folder = write_folder(tmp_path, {"10minutenwerte_wind_00002_20200101_20231231_hist.zip": b"not read"})
    with pytest.raises(InputError, match=r"reach from 2020-01-01 to 2023-12-31\."):
        dwd.snapshot(TIME, folder=folder)


def test_a_file_without_a_time_that_can_be_read(tmp_path):
    folder = write_folder(tmp_path, {akt(1): archive(1, [("2024050112", "4.1", "230")])})
    with pytest.raises(InputError, match="none was read that has rows"):
        dwd.snapshot(TIME, folder=folder)


@pytest.mark.parametrize("time", ["9999-12-31T23:55", "1700-01-01", "0001-01-01"])
def test_times_beyond_all_files(tmp_path, time):
    with pytest.raises(InputError, match="give a time such as"):
        dwd.snapshot(time, folder=tmp_path)


def test_a_stamp_that_is_no_time(tmp_path):
    folder = write_folder(
        tmp_path, {akt(1): archive(1, [(STAMP, "4.1", "230"), ("202413011200", "4.1", "230")])}
    )
    assert len(dwd.snapshot(TIME, folder=folder)) == 1
    with pytest.raises(InputError, match="MESS_DATUM should be a time"):
        dwd.series(1, folder=folder)


def test_what_unpacks_to_too_much_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST_UNPACKED", 1_000_000)
    bomb = zipped({member(1): b"\0" * 3_000_000})
    assert len(bomb) < 10_000
    folder = write_folder(tmp_path, {akt(1): bomb})
    with pytest.raises(InputError, match="unpacks to more than 1,000,000 bytes"):
        dwd.snapshot(TIME, folder=folder)
    (folder / akt(1)).unlink()
    (folder / member(1)).write_bytes(product(1, [(STAMP, "4.1", "230")] * 40_000).encode())
    with pytest.raises(InputError, match="unpacks to more than 1,000,000 bytes"):
        dwd.snapshot(TIME, folder=folder)


def test_an_archive_that_lies_about_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST_UNPACKED", 1_000_000)
    text = product(1, [(STAMP, "4.1", "230")] * 40_000).encode()
    bomb = zipped({member(1): text}).replace(len(text).to_bytes(4, "little"), (500).to_bytes(4, "little"))
    with pytest.raises(InputError, match="broken or cut short"):
        dwd.snapshot(TIME, folder=write_folder(tmp_path, {akt(1): bomb}))


def test_folders_that_lack_something(tmp_path):
    with pytest.raises(InputError, match="which is no folder"):
        dwd.snapshot(TIME, folder=tmp_path / "absent")
    with pytest.raises(InputError, match="has no files of 10-minute wind"):
        dwd.snapshot(TIME, folder=tmp_path)
    (tmp_path / akt(1)).write_bytes(GOOD)
    for read in (lambda: dwd.snapshot(TIME, folder=tmp_path), lambda: dwd.stations(tmp_path)):
        with pytest.raises(
            InputError, match=r"has no list of stations: put zehn_min_ff_Beschreibung_Stationen.txt"
        ):
            read()


def test_other_files_are_passed_over(tmp_path):
    folder = folder_of(tmp_path, [("4.1", "230")])
    for name in ("10minutenwerte_TU_00001_akt.zip", "notes.txt", "10minutenwerte_wind_00001_akt (1).zip"):
        (folder / name).write_bytes(b"x")
    (folder / ".vmqp-download-xyz").mkdir()
    (folder / ".vmqp-download-xyz" / akt(9)).write_bytes(b"half")
    table = dwd.snapshot(TIME, folder=folder)
    assert len(table) == 1
    assert table.attrs["left_out"]["broken file"] == 0


def test_calm_is_drop_or_keep(tmp_path):
    with pytest.raises(InputError, match="give 'drop' or 'keep'"):
        dwd.snapshot(TIME, folder=tmp_path, calm="yes")
