"""`vmqp predict`: what it writes, and what it answers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import vmqp
from command_lines import FIXED, SHORT, TINY, predict
from vmqp.cli.request import Request


def test_a_run_leaves_its_files_and_exits_with_0(finished):
    names = {path.name for path in finished.iterdir()}
    ours = {
        "request.json",
        "data.csv",
        "places.csv",
        "model.nc",
        "predictions.csv",
        "posterior.nc",
        "report.html",
        "result.json",
    }
    assert names == ours | {"checkpoint", "vmqp.lock"}
    page = (finished / "report.html").read_text(encoding="utf-8")
    assert "Wind over the stations" in page
    assert "3 of 24 rows were dropped" in page
    assert "vmqp predict" in page


def test_predictions_agree_with_the_posterior_and_the_held_out_rows(finished):
    table = pd.read_csv(finished / "predictions.csv")
    stations = pd.read_csv(finished.parent / "stations.csv").set_index("name")
    post = vmqp.load(finished / "posterior.nc")
    assert list(table) == [
        "name",
        "lon",
        "lat",
        "mean",
        "variance",
        "lower",
        "upper",
        "width",
        "observed",
        "crps",
        "crps_arc",
        "log_score",
    ]
    assert len(table) == 4  # a fifth of the 21 rows with an angle
    assert table["name"].str.slice(2).astype(int).is_monotonic_increasing  # in the order of the file
    np.testing.assert_array_equal(table["observed"], stations.loc[table["name"], "dir"])
    np.testing.assert_allclose(table["mean"], post.mean, rtol=1e-8)
    np.testing.assert_allclose(table[["lower", "upper"]], post.interval(0.9), rtol=1e-8)
    np.testing.assert_allclose(table["crps"], post.crps(table["observed"]), rtol=1e-8)
    np.testing.assert_allclose(table["crps_arc"], post.crps(table["observed"], distance="arc"), rtol=1e-8)
    np.testing.assert_allclose(table["log_score"], post.log_score(table["observed"]), rtol=1e-8)
    assert not set(post.X[:, 0]) & set(table["lon"])  # what is predicted was not learned from


def test_the_request_holds_options_digest_and_command(finished):
    request = Request.from_text((finished / "request.json").read_text(encoding="utf-8"), "request.json")
    assert request.command[:2] == ["vmqp", "predict"]
    assert request.command[-1] == str(finished)
    assert request.predicting.task == "holdout"
    learning = request.learning
    assert (learning.draws, learning.drift, learning.noise.kind) == (20_000, None, "none")
    frame = vmqp.tables.read_file(finished.parent / "stations.csv")
    assert request.source["data"] == {
        "file": str(finished.parent / "stations.csv"),
        "rows": 24,
        "digest": vmqp.tables.digest(frame),
    }
    assert request.notes[0] == "3 of 24 rows were dropped because 'dir' is blank."


@pytest.mark.usefixtures("without_report")
def test_json_is_one_object_and_progress_goes_elsewhere(call):
    answer = call(predict("--holdout", "0.3", "--json", "--kernel", FIXED, *SHORT))
    found = json.loads(answer.out)
    assert answer.code == found["exit_code"] == 0
    assert {
        "trusted",
        "verdict",
        "parameters",
        "worst",
        "scores",
        "files",
        "notes",
        "seconds",
    } <= found.keys()
    assert found["parameters"].keys() == {"concentration", "direction"}
    assert found["rows"] == {"read": 24, "used": 15, "predicted": 6}
    table = pd.read_csv(found["files"]["predictions"])
    assert found["scores"]["crps"] == pytest.approx(table["crps"].mean(), rel=1e-6)
    assert found["files"]["report"] == "stations-run/report.html"  # the default directory
    assert "chain 0" in answer.err


@pytest.mark.usefixtures("without_report")
def test_rows_of_a_file_are_predicted_in_their_order_with_all_their_columns(call, folder):
    places = 'site,lat,lon,mean\nb,50.5,9.5,1\n"a, north",49.25,11.125,2\nc,,10,3\nä,51.0,8.5,4\n'
    Path("places.csv").write_text(places, encoding="utf-8")
    answer = call(predict("--at", "places.csv", "--kernel", FIXED, "--out", "deep/run", *SHORT))
    assert answer.code == 0
    assert "Of places.csv: 1 of 4 rows was dropped because 'lat' is blank." in answer.out
    assert "columns mean are replaced" in answer.out
    table = pd.read_csv("deep/run/predictions.csv")
    assert list(table) == ["site", "lat", "lon", "mean", "variance", "lower", "upper", "width"]
    assert table["site"].tolist() == ["b", "a, north", "ä"]
    assert table["lon"].tolist() == [9.5, 11.125, 8.5]
    post = vmqp.load("deep/run/posterior.nc")
    np.testing.assert_array_equal(post.X_new, table[["lon", "lat"]])
    assert len(post.y) == 21


@pytest.mark.usefixtures("without_report")
def test_a_grid_covers_the_box_of_the_stations(call):
    assert call(predict("--grid", "6x5", "--kernel", FIXED, *TINY)).code == 0
    table = pd.read_csv("stations-run/predictions.csv")
    stations = pd.read_csv("stations.csv").dropna()
    assert len(table) == 30
    assert table["lon"].nunique() == 6
    assert table["lat"].nunique() == 5
    for name in ("lon", "lat"):
        assert (table[name].min(), table[name].max()) == (stations[name].min(), stations[name].max())
    attributes = vmqp.load("stations-run/posterior.nc").attributes
    assert attributes["drift"] == "mean"


@pytest.mark.usefixtures("without_report")
def test_a_column_of_noise_and_a_column_of_text(call):
    stations = pd.read_csv("stations.csv")
    stations["chi"] = np.linspace(10.0, 60.0, len(stations))
    stations["coast"] = np.where(stations["lon"] > 10.0, "yes", "no")
    stations.to_parquet("stations.parquet")
    arguments = [
        "predict",
        "stations.parquet",
        "--angle",
        "dir",
        "--inputs",
        "lon,lat,coast",
        "--period",
        "degrees",
    ]
    answer = call([*arguments, "--noise", "chi", "--holdout", "0.2", *TINY])
    assert answer.code == 0
    data = pd.read_csv("stations-run/data.csv")
    assert data["chi"].tolist() == stations.loc[stations["lon"].isin(data["lon"]), "chi"].tolist()
    post = vmqp.load("stations-run/posterior.nc")
    assert post.categories == {2: ("no", "yes")}
    held = pd.read_csv("stations-run/predictions.csv")
    np.testing.assert_array_equal(post.to_datatree()["predictions_constant_data"]["noise"], held["chi"])


@pytest.mark.usefixtures("without_report")
def test_a_result_that_cannot_be_trusted_exits_with_3_and_says_what_to_do(call):
    answer = call(
        predict("--holdout", "0.2", "--chains", "2", "--warmup", "50", "--draws", "50", "--out", "run")
    )
    assert answer.code == 3
    assert "Do not trust these numbers yet." in answer.out
    assert "vmqp resume run goes on" in answer.out
    assert Path("run/predictions.csv").exists()
    assert not json.loads(Path("run/result.json").read_text())["trusted"]


@pytest.mark.usefixtures("without_report")
def test_many_locations_that_are_learned_with_few_observations_are_named_as_a_reason(call):
    short = ("--chains", "2", "--warmup", "50", "--draws", "50", "--transductive")
    many = call(predict("--grid", "9x8", *short, "--out", "many"))
    few = call(predict("--grid", "2x2", *short, "--out", "few"))
    assert (many.code, few.code) == (3, 3)
    assert "Fewer locations may do too: 72 are many beside" in " ".join(many.out.split())
    assert "Fewer locations" not in few.out


@pytest.mark.usefixtures("without_report")
def test_a_time_limit_before_the_first_draw_keeps_the_run_for_resume(call):
    answer = call(predict("--holdout", "0.2", "--time-limit", "0.001s", "--out", "run"))
    assert answer.code == 3
    assert "time limit" in answer.err
    assert Path("run/request.json").exists()
    assert not Path("run/predictions.csv").exists()


def test_help_lists_what_works_and_has_an_example_each(call):
    assert call(["--version"]).out == f"vmqp {vmqp.__version__}\n"
    listed = call([]).out
    assert all(name in listed for name in ("fit", "predict", "resume", "compare", "paper", "demo"))
    for command in ("fit", "predict", "resume", "compare", "paper"):
        answer = call([command, "--help"])
        assert answer.code == 0
        assert "Example: vmqp" in answer.out or "Examples: vmqp" in answer.out
