"""The example: in the form of the real files, of the same bytes for a seed, and true to its wind field."""

import zipfile

import numpy as np
import pytest

from dwd_files import HEAD
from file_server import left_in
from vmqp.datasets import dwd
from vmqp.datasets.dwd.example import example_field
from vmqp.errors import InputError


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_directions_are_those_of_the_field(tmp_path):
    dwd.write_example(tmp_path, stations=200, seed=3)
    table = dwd.snapshot("2024-05-01T12:00", folder=tmp_path)
    field = example_field(stations=200, seed=3)
    assert len(table) == 182
    number = table["station"].astype(int) - 90_001
    places = field.frame.iloc[number]
    np.testing.assert_allclose(table["lon"], places["longitude"])
    np.testing.assert_allclose(table["lat"], places["latitude"])

    def apart(other):
        return np.abs((table["direction"].to_numpy() - np.asarray(other) + 180) % 360 - 180)

    assert apart(places["direction"]).max() <= 5.0 + 1e-9
    # The noise has a standard deviation of 10 degrees, and rounding adds at most 5.
    assert np.median(apart(field.truth(table["lon"], table["lat"]))) < 10
    assert np.median(apart(np.roll(field.truth(table["lon"], table["lat"]), 1))) > 30


def test_the_traps_of_the_real_files_are_there(tmp_path):
    dwd.write_example(tmp_path, stations=60)
    names = left_in(tmp_path)
    for ending in ("_hist.zip", "_akt.zip", "_now.zip"):
        assert any(name.endswith(ending) for name in names)
    table = dwd.stations(tmp_path)
    assert len(table) == 61
    assert table["end"].isna().sum() == 1
    assert table["name"].str.contains(" ").any()
    assert table["name"].str.contains("[äöüß]").any()
    snapshot = dwd.snapshot("2024-05-01T12:00", folder=tmp_path)
    assert snapshot.attrs["left_out"] == {
        "calm": 2,
        "variable": 2,
        "missing": 2,
        "no file at that time": 0,
        "not in the station list": 0,
        "broken file": 0,
    }
    text = ""
    for path in tmp_path.rglob("*.zip"):
        with zipfile.ZipFile(path) as archive:
            (name,) = [name for name in archive.namelist() if name.startswith("produkt_zehn_")]
            text += archive.read(name).decode()
            assert len(archive.namelist()) == 2
    assert text.startswith(HEAD + "\n")
    assert "; 360;eor" in text
    assert ";   0;eor" in text.replace("   0.0;   0;eor", "")
    assert "generated" in (tmp_path / "README.txt").read_text()


def test_a_seed_fixes_the_bytes_and_another_replaces_them(tmp_path):
    one, two = (dwd.write_example(tmp_path / name, stations=20, seed=1) for name in "ab")
    assert contents(one) == contents(two)
    dwd.write_example(two, "2024-06-01", stations=10, seed=2)
    assert contents(one) != contents(two)
    assert len(dwd.stations(two)) == 11
    assert len(dwd.snapshot("2024-06-01", folder=two)) == 7


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds 'mine.txt', which is not of an earlier example"):
        dwd.write_example(tmp_path)
    assert left_in(tmp_path) == ["mine.txt"]
    with pytest.raises(InputError, match="not a folder"):
        dwd.write_example(tmp_path / "mine.txt")
    folder = dwd.write_example(tmp_path / "example", stations=10)
    (folder / "now" / "10minutenwerte_wind_00003_now.zip").write_bytes(b"real")
    before = contents(folder)
    with pytest.raises(InputError, match="00003_now"):
        dwd.write_example(folder, stations=10)
    assert contents(folder) == before


def test_more_stations_than_numbers(tmp_path):
    with pytest.raises(InputError, match="give at most 9998"):
        dwd.write_example(tmp_path / "made", stations=9999)


def test_times_of_the_other_clock(tmp_path):
    dwd.write_example(tmp_path, "1998-07-01T12:00", stations=30)
    assert len(dwd.snapshot("1998-07-01T12:00", folder=tmp_path)) == 27
    with pytest.raises(InputError, match="clock of the files changes"):
        dwd.write_example(tmp_path, "1999-12-31T22:30")
    with pytest.raises(InputError, match="give a whole number, at least 10"):
        dwd.write_example(tmp_path, stations=3)
