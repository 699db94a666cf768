"""`vmqp data`: tables from files, downloads and generators, and what is wrong in one sentence."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from dwd_files import put_on_server
from file_server import serve
from vmqp import datasets
from vmqp.cli.data_catalogue import MADE

COLUMNS = ["station", "lon", "lat", "elevation", "speed", "direction"]
TIME = "2024-05-01T12:00"
LATEST = """\
#STN       LAT      LON  YYYY MM DD hh mm WDIR WSPD   GST WVHT  DPD APD MWD   PRES  PTDY  ATMP  WTMP  DEWP  VIS   TIDE
#text      deg      deg   yr mo day hr mn degT  m/s   m/s   m   sec sec degT   hPa   hPa  degC  degC  degC  nmi     ft
22101    37.24   126.02  2018 07 30 21 00  190  1.0    MM   MM   MM  MM  MM 1005.3    MM  23.9  21.4    MM   MM     MM
41001    34.68   -72.73  2018 07 30 21 00   MM   MM    MM  1.2    7  MM 140 1018.0    MM    MM    MM    MM   MM     MM
41002    31.86   -74.84  2018 07 30 21 00  360  6.0   8.0  1.4    8 5.1 150 1019.0    MM  28.1  28.4    MM   MM     MM
"""


@pytest.fixture
def files(folder):
    """Made files of the German weather service."""
    datasets.dwd.write_example(folder / "made_files", TIME, stations=30, seed=2)
    return folder / "made_files"


def test_the_list_names_every_command_and_every_made_table(call):
    answer = call(["data", "list"])
    assert answer.code == 0
    for name in ("vmqp data dwd", "vmqp data ndbc", "vmqp data grid", *MADE, "dwd-files"):
        assert name in answer.out


def test_data_alone_shows_its_help(call):
    answer = call(["data"])
    assert answer.code == 0
    assert "vmqp data dwd --folder" in answer.out + answer.err


def test_from_an_empty_folder_to_predictions(tmp_path):
    """The way of a newcomer, as typed: made files, a snapshot of them, and predictions from it."""
    empty = tmp_path / "empty"
    empty.mkdir()

    def vmqp(*words):
        return subprocess.run(
            [sys.executable, "-m", "vmqp", *words],
            cwd=empty,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    made = vmqp("data", "make", "dwd-files", "--out", "made_files")
    assert made.returncode == 0, made.stderr
    assert "next: vmqp data dwd --folder made_files" in made.stdout
    read = vmqp("data", "dwd", "--folder", "made_files", "--at", TIME, "--out", "snapshot.csv")
    assert read.returncode == 0, read.stderr
    predict = next(
        line for line in read.stdout.splitlines() if line.startswith("next: vmqp predict")
    ).split()[2:]
    short = ["--chains", "2", "--target-ess", "50", "--engine", "threads", "--out", "run"]
    done = vmqp(*predict, *short)
    assert done.returncode == 0, done.stderr + done.stdout
    assert (empty / "run" / "report.html").is_file()
    rows = pd.read_csv(empty / "run" / "predictions.csv")
    assert len(rows) == round(0.2 * len(pd.read_csv(empty / "snapshot.csv")))


def test_dwd_writes_the_table_and_says_what_is_left_out(call, files):
    answer = call(["data", "dwd", "--folder", str(files), "--at", TIME, "--out", "snapshot.csv"])
    assert answer.code == 0, answer.err
    frame = pd.read_csv("snapshot.csv", dtype={"station": str})
    assert frame.columns.tolist() == COLUMNS
    assert frame["station"].str.fullmatch(r"\d{5}").all()
    assert frame["direction"].between(0, 360, inclusive="left").all()
    assert f"snapshot.csv: {len(frame)} rows" in answer.out
    assert "left out:" in answer.out
    assert "calm" in answer.out


def test_dwd_keeps_calm_and_chooses_stations(call, files):
    call(["data", "dwd", "--folder", str(files), "--at", TIME, "--out", "without.csv"])
    call(["data", "dwd", "--folder", str(files), "--at", TIME, "--out", "with.csv", "--keep-calm"])
    without, with_calm = pd.read_csv("without.csv", dtype=str), pd.read_csv("with.csv", dtype=str)
    assert len(with_calm) > len(without)
    assert with_calm["direction"].isna().any()
    some = ",".join(without["station"][:2])
    call(["data", "dwd", "--folder", str(files), "--at", TIME, "--out", "two.csv", "--stations", some])
    assert pd.read_csv("two.csv", dtype=str)["station"].tolist() == without["station"][:2].tolist()


def test_json_is_one_object(call, files):
    answer = call(["data", "dwd", "--folder", str(files), "--at", TIME, "--out", "snapshot.csv", "--json"])
    told = json.loads(answer.out)
    assert told["exit_code"] == 0
    assert told["rows"] == len(pd.read_csv("snapshot.csv"))
    assert told["next"].startswith("vmqp predict snapshot.csv --angle direction")
    made = json.loads(call(["data", "make", "dwd-files", "--out", "more", "--json"]).out)
    assert made["folder"] == "more"


def test_quiet_prints_nothing(call, files):
    answer = call(["data", "dwd", "--folder", str(files), "--at", TIME, "--out", "snapshot.csv", "--quiet"])
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert Path("snapshot.csv").is_file()


def test_buoys_by_wind_or_by_waves(call):
    Path("latest_obs.txt").write_text(LATEST, encoding="utf-8")
    answer = call(["data", "ndbc", "latest_obs.txt", "--out", "wind.csv"])
    assert answer.code == 0, answer.err
    assert pd.read_csv("wind.csv")["direction"].tolist() == [190.0, 0.0]
    assert "no direction of wind (1)" in answer.out
    call(["data", "ndbc", "latest_obs.txt", "--angle", "waves", "--out", "waves.csv"])
    assert pd.read_csv("waves.csv")["wave_direction"].tolist() == [140.0, 150.0]


@pytest.mark.parametrize(("convention", "west"), [("from", 270.0), ("to", 90.0), ("math", 0.0)])
def test_gridded_components(call, convention, west):
    u = xr.DataArray(
        np.array([[5.0, 5.0], [5.0, 0.0]]),
        coords={"latitude": [50.0, 51.0], "longitude": [8.0, 9.0]},
        dims=("latitude", "longitude"),
    )
    xr.Dataset({"u10": u, "v10": 0.0 * u}).to_netcdf("era5.nc", engine="h5netcdf")
    answer = call(["data", "grid", "era5.nc", "--convention", convention, "--out", "wind.csv"])
    assert answer.code == 0, answer.err
    assert pd.read_csv("wind.csv")["direction"].tolist() == [west] * 3
    assert "(1)" in answer.out
    assert ("--compass" in answer.out) == (convention != "math")


def era5(**more):
    over = ("valid_time", "level", "parallel", "meridian")
    times = pd.to_datetime(["2024-05-01 00:00", "2024-05-01 12:00"])
    coords = {"valid_time": times, "level": [850.0, 500.0], "parallel": [50.0, 51.0], "meridian": [8.0, 9.0]}
    u = xr.DataArray(np.full((2, 2, 2, 2), 5.0), coords=coords, dims=over)
    return xr.Dataset({"u10": u, "v10": 0.0 * u})


def test_grids_with_other_names_levels_and_times(call):
    """What an error advises can be done in the shell, one after the other, up to the table."""
    era5().to_netcdf("era5.nc", engine="h5netcdf")
    words = ["data", "grid", "era5.nc", "--out", "wind.csv"]
    for said, more in (
        ("give its name, --lon NAME", ["--lon", "meridian"]),
        ("give its name, --lat NAME", ["--lat", "parallel"]),
        ("as in --select level=850.0", ["--select", "level=850"]),
    ):
        answer = call(words)
        assert answer.code == 2
        assert said in answer.err
        words += more
    answer = call(words)
    assert answer.code == 0, answer.err
    assert len(pd.read_csv("wind.csv")) == 8
    assert "there are 2 times: give --at TIME" in answer.out
    assert "next:" not in answer.out
    answer = call([*words, "--at", "2024-05-01T12:00", "--overwrite"])
    assert answer.code == 0, answer.err
    assert len(pd.read_csv("wind.csv")) == 4
    assert "next: vmqp predict wind.csv" in answer.out
    for wrong, said in (("level", "NAME=VALUE"), ("level=700", "700"), ("depth=1", "'depth'")):
        answer = call([*words[:-1], wrong, "--overwrite"])
        assert answer.code == 2
        assert said in answer.err


def test_files_that_were_passed_over_are_named(call, files):
    # Of a station that has no other.
    broken = next(
        path for path in sorted(files.rglob("*_akt.zip")) if len(list(files.rglob(path.name[:26] + "*"))) == 1
    )
    broken.write_bytes(b"PK broken")
    words = ["data", "dwd", "--folder", str(files), "--at", TIME, "--out", "snapshot.csv"]
    answer = call(words)
    assert answer.code == 2
    assert "give --skip-broken to go on" in answer.err
    answer = call([*words, "--skip-broken"])
    assert answer.code == 0, answer.err
    assert f"passed over: {broken}: " in answer.out
    told = json.loads(call([*words, "--skip-broken", "--overwrite", "--json"]).out)
    assert len(told["broken"]) == 1
    assert broken.name in told["broken"][0]


def test_a_download_becomes_a_table(call, folder, monkeypatch):
    pytest.importorskip("pooch", reason='downloads need pooch: pip install "vmqp[data]"')
    tree = datasets.dwd.write_example(folder / "tree", TIME, stations=30, seed=2)
    monkeypatch.setattr("vmqp.datasets.dwd.server.utc_now", lambda: pd.Timestamp("2024-05-01T18:00"))
    with serve() as server:
        url = put_on_server(server, tree)
        words = ["data", "dwd", "--at", TIME, "--url", url, "--cache", "kept"]
        answer = call([*words, "--out", "snapshot.csv"])
        assert answer.code == 0, answer.err
        asked = len(server.asked)
        again = call([*words, "--out", "again.csv"])
        assert again.code == 0, again.err
        assert len(server.asked) == asked
    frame = pd.read_csv("snapshot.csv", dtype={"station": str})
    assert frame.columns.tolist() == COLUMNS
    assert len(frame) > 5
    assert Path("again.csv").read_bytes() == Path("snapshot.csv").read_bytes()


def test_an_example_is_replaced_only_if_asked_for(call):
    words = ["data", "make", "dwd-files", "--out", "made"]
    assert call(words).code == 0
    before = {path: path.read_bytes() for path in Path("made").rglob("*.zip")}
    answer = call([*words, "--seed", "9"])
    assert answer.code == 2
    assert "give --overwrite" in answer.err
    assert {path: path.read_bytes() for path in Path("made").rglob("*.zip")} == before
    assert call([*words, "--seed", "9", "--overwrite"]).code == 0
    assert {path: path.read_bytes() for path in Path("made").rglob("*.zip")} != before


def test_places_that_cannot_be_written(call):
    Path("d.csv").mkdir()
    for place, said in (("d.csv", "is a directory"), ("a" * 300 + ".csv", "cannot be written")):
        answer = call(["data", "make", "headings", "--out", place])
        assert answer.code == 2
        assert said in answer.err
        assert "Traceback" not in answer.err


def test_an_empty_table_is_not_written(call):
    rows = [line for line in LATEST.splitlines() if not line.startswith(("41001", "41002"))]
    Path("latest_obs.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    answer = call(["data", "ndbc", "latest_obs.txt", "--angle", "waves", "--out", "waves.csv"])
    assert answer.code == 2
    assert "no direction of waves (1)" in answer.err
    assert not Path("waves.csv").exists()


@pytest.mark.parametrize("name", list(MADE))
def test_made_tables_are_what_predict_takes(call, name):
    """The command that is printed names columns that are there, and angles of the period."""
    answer = call(["data", "make", name, "--out", "made.csv", "--seed", "3"])
    assert answer.code == 0, answer.err
    frame = pd.read_csv("made.csv")
    words = MADE[name].predict.split()
    if not words:
        assert len(frame.columns) == 1
        return
    options = dict(zip(words[::2], words[1::2], strict=False))
    assert frame[options["--angle"]].between(0, float(options["--period"])).all()
    assert set(options["--inputs"].split(",")) <= set(frame.columns)
    assert f"next: vmqp predict made.csv {MADE[name].predict}" in answer.out
    again = call(["data", "make", name, "--out", "again.csv", "--seed", "3"])
    assert again.code == 0
    assert Path("again.csv").read_bytes() == Path("made.csv").read_bytes()


def test_what_is_wrong_is_one_sentence_and_nothing_is_written(call, files):
    Path("there.csv").write_text("a\n1\n", encoding="utf-8")
    Path("note.txt").write_text("a note", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    dwd = ["dwd", "--folder", str(files), "--at", TIME]
    for more, word in (
        ([*dwd, "--out", "snapshot.txt"], "ends in .csv"),
        ([*dwd, "--out", "there.csv"], "--overwrite"),
        ([*dwd, "--out", "no/such/place.csv"], "make it first"),
        ([*dwd, "--out", "made_files"], "--out"),
        ([*dwd, "--out", "a.csv", "--url", "http://localhost/"], "give either"),
        (["dwd", "--folder", str(files), "--at", "noon", "--out", "a.csv"], "noon"),
        (["dwd", "--folder", str(files), "--at", "2024-05-01T12:05", "--out", "a.csv"], "12:10"),
        (["dwd", "--folder", str(files), "--at", "2019-05-01T12:00", "--out", "a.csv"], "2024"),
        (["dwd", "--folder", "nowhere", "--at", TIME, "--out", "a.csv"], "nowhere"),
        ([*dwd, "--out", "a.csv", "--stations", "99999"], "99999"),
        (["ndbc", "note.txt", "--out", "a.csv"], "note.txt"),
        (["ndbc", "note.txt", "--angle", "wnd", "--out", "a.csv"], "did you mean wind"),
        (["ndbc", "note.txt", "--url", "http://localhost/", "--out", "a.csv"], "give either"),
        (["grid", "note.txt", "--out", "a.csv"], "note.txt"),
        (["grid", "nowhere.nc", "--out", "a.csv"], "nowhere.nc"),
        (["grid", "note.txt", "--out", "a.csv", "--every", "0"], "--every"),
        (["make", "hedings", "--out", "a.csv"], "did you mean 'headings'"),
        (["make", "headings", "--out", "a.csv", "--seed", "-1"], "--seed"),
        (["make", "dwd-files", "--out", "there.csv"], "there.csv"),
        (["nothing"], "nothing"),
    ):
        answer = call(["data", *more])
        assert answer.code == 2, (more, answer.out)
        assert word in answer.err, (more, answer.err)
        assert "Traceback" not in answer.err
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before


def test_ctrl_c_leaves_no_file(call, files, monkeypatch):
    def stopped(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets.dwd, "snapshot", stopped)
    answer = call(["data", "dwd", "--folder", str(files), "--at", TIME, "--out", "snapshot.csv"])
    assert answer.code == 130
    assert not Path("snapshot.csv").exists()


def test_a_failed_download_says_what_to_do(call, monkeypatch):
    """Nobody answers at this address."""
    monkeypatch.setattr("vmqp.datasets.download.FIRST_PAUSE", 0.0)
    answer = call(
        ["data", "ndbc", "--url", "http://127.0.0.1:9/latest_obs.txt", "--cache", "kept", "--out", "a.csv"]
    )
    assert answer.code == 2
    assert "127.0.0.1" in answer.err
    assert not Path("a.csv").exists()
    assert not [file for file in Path("kept").rglob("*") if file.is_file()]
