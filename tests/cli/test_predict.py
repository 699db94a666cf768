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
    assert found["rows"] == {"read": 24, "used": 15, "predicted": 6, "scored": 6}
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


ANGLES = "site,dir,lon,lat\na,350,9.5,50.5\nb,,10.5,49.25\nc,calm,10,51\nd,20.5,8.5,51\n"


def test_a_file_that_holds_the_angle_is_scored(call):
    Path("points.csv").write_text(ANGLES, encoding="utf-8")
    answer = call(predict("--at", "points.csv", "--kernel", FIXED, "--json", "--out", "run", *SHORT))
    found = json.loads(answer.out)
    assert found["notes"][1:] == [
        "points.csv holds the column 'dir', so that the predictions of 2 of its 4 rows are scored; in the others it is "
        "blank or no number."
    ]
    assert found["rows"] == {"read": 24, "used": 21, "predicted": 4, "scored": 2}
    table = pd.read_csv("run/predictions.csv")
    results = ["mean", "variance", "lower", "upper", "width", "crps", "crps_arc", "log_score"]
    assert list(table) == ["site", "dir", "lon", "lat", *results]
    assert table["dir"].fillna("").tolist() == ["350", "", "calm", "20.5"]  # as it was given
    truth = np.array([350.0, np.nan, np.nan, 20.5])
    post = vmqp.load("run/posterior.nc")
    np.testing.assert_allclose(table["crps"], post.crps(truth), rtol=1e-8)
    np.testing.assert_allclose(table["crps_arc"], post.crps(truth, distance="arc"), rtol=1e-8)
    np.testing.assert_allclose(table["log_score"], post.log_score(truth), rtol=1e-8)
    assert table["mean"].notna().all()
    for name in ("crps", "crps_arc", "log_score"):
        assert found["scores"][name] == pytest.approx(table[name].mean(), rel=1e-6)
    for share in (0.5, 0.9):
        assert found["scores"][f"coverage_{100 * share:.0f}"] == post.coverage(truth, share)
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "Are the probabilities honest?" in page
    assert "of 2); it should be about 90 %" in page


@pytest.mark.usefixtures("without_report")
def test_what_is_said_of_a_file_with_the_angle(call):
    """All rows known; none known; rows that are learned from; an angle that has the name of a result."""
    kernel = ("--kernel", "2 * exponential(3) + nugget(0.01)", *SHORT, "--overwrite", "--out", "run")
    Path("whole.csv").write_text("dir,lon,lat\n-10,9,50\n20,10,51\n", encoding="utf-8")
    answer = call(predict("--at", "whole.csv", *kernel))
    assert "whole.csv holds the column 'dir', so that the predictions of its 2 rows are scored." in answer.out
    assert "learned from too" not in answer.out
    Path("blank.csv").write_text("dir,lon,lat\n,9,50\n,10,51\n", encoding="utf-8")
    answer = call(predict("--at", "blank.csv", *kernel))
    assert "blank.csv holds the column 'dir', but no number in it, so that nothing is scored." in answer.out
    assert json.loads(Path("run/result.json").read_text())["scores"] is None
    assert "crps" not in pd.read_csv("run/predictions.csv")
    answer = call(predict("--at", "stations.csv", *kernel))
    assert "the predictions of 21 of its 24 rows are scored" in answer.out
    assert "Of the scored rows 21 have inputs that are learned from too" in answer.out
    pd.read_csv("stations.csv").rename(columns={"dir": "observed"}).to_csv("stations.csv", index=False)
    Path("whole.csv").write_text("observed,lon,lat,crps\n10,9,50,1\n20,10,51,2\n", encoding="utf-8")
    arguments = ["predict", "stations.csv", "--angle", "observed", "--inputs", "lon,lat", "--period", "360"]
    answer = call([*arguments, "--at", "whole.csv", *kernel])
    assert answer.code == 0, answer
    assert "columns crps are replaced" in answer.out
    table = pd.read_csv("run/predictions.csv")
    assert table["observed"].tolist() == [10, 20]
    assert (table["crps"] < 1).all()


LEARN = ("--chains", "2", "--warmup", "100", "--target-ess", "50")
FILL = ("--fill", "--kernel", "2 * exponential(3) + nugget(0.01)", *LEARN, "--out", "run")


@pytest.mark.usefixtures("without_report")
def test_the_gaps_of_a_table_are_filled(call):
    stations = pd.read_csv("stations.csv")
    stations.loc[16, "lon"] = np.nan  # it has no angle: it cannot be filled
    stations.loc[3, "lat"] = np.nan  # it has one: it is not learned from
    stations["mean"] = 7
    stations.to_csv("stations.csv", index=False)
    answer = call(predict(*FILL, "--json"))
    found = json.loads(answer.out)
    assert found["notes"] == [
        "1 of 24 rows was dropped because 'lat' is blank.",
        "'dir' is filled in 2 of 24 rows; in 1 more an input is blank, so that it stays blank.",
        "Of the table: the columns mean are replaced by those of the results.",
    ]
    assert found["rows"] == {"read": 24, "used": 20, "predicted": 2}
    assert found["scores"] is None
    assert found["files"]["filled"] == "run/filled.csv"
    table = pd.read_csv("run/predictions.csv")
    assert table["name"].tolist() == ["st0", "st8"]
    assert list(table) == ["name", "lon", "lat", "mean", "variance", "lower", "upper", "width"]
    post = vmqp.load("run/posterior.nc")
    np.testing.assert_array_equal(post.X_new, stations.loc[[0, 8], ["lon", "lat"]])
    whole = pd.read_csv("run/filled.csv")
    assert list(whole) == [*stations, "filled", "lower", "upper"]
    assert whole.index[whole["filled"]].tolist() == [0, 8]
    np.testing.assert_allclose(whole.loc[[0, 8], "dir"], post.mean, rtol=1e-8)
    np.testing.assert_allclose(whole.loc[[0, 8], ["lower", "upper"]], post.interval(0.9), rtol=1e-8)
    assert whole[["lower", "upper"]].notna().sum().tolist() == [2, 2]
    pd.testing.assert_frame_equal(
        whole[["name", "lon", "lat", "mean"]], stations[["name", "lon", "lat", "mean"]]
    )
    rest = whole.drop(index=[0, 8])
    pd.testing.assert_series_equal(rest["dir"], stations["dir"].drop(index=[0, 8]))
    before = Path("run/filled.csv").read_bytes()
    for name in ("filled.csv", "result.json"):
        Path("run", name).unlink()
        assert call(["resume", "run", "--quiet"]).code == 0
        assert Path("run/filled.csv").read_bytes() == before
    Path("run/unfilled.csv").write_text("dir,filled\n1,true\n", encoding="utf-8")
    assert "unfilled.csv is not what the run began with" in call(["resume", "run"]).err


@pytest.mark.usefixtures("without_report")
def test_gaps_whose_noise_is_not_known_are_filled_by_the_process(call):
    stations = pd.read_csv("stations.csv")
    stations["chi"] = np.where(stations["dir"].isna(), np.nan, 40.0)
    stations.to_csv("stations.csv", index=False)
    answer = call(predict(*FILL, "--noise", "chi"))
    assert answer.code == 0, answer
    assert "The noise 'chi' of the locations is not known" in answer.out
    assert pd.read_csv("run/filled.csv")["filled"].sum() == 3
    assert pd.read_csv("run/filled.csv")["chi"].isna().sum() == 3


@pytest.mark.usefixtures("without_report")
def test_a_request_without_the_part_for_gaps_is_still_read(call):
    """Directories that were written before there was one."""
    assert call(predict("--grid", "2x2", "--kernel", FIXED, "--out", "run", *TINY)).code == 0
    path = Path("run/request.json")
    request = json.loads(path.read_text())
    del request["predicting"]["unfilled"]
    path.write_text(json.dumps(request))
    assert call(["resume", "run", "--quiet", "--allow-unconverged"]).code == 0


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
def test_a_time_limit_before_the_first_draw_leaves_the_predictions_of_a_fast_fit(call):
    """Marked in the verdict, in result.json and by the exit code; the run can be resumed."""
    command = predict("--holdout", "0.2", "--time-limit", "0.001s", "--out", "run")
    answer = call(command)
    assert answer.code == 3
    assert "The time limit came before the chains were of use" in answer.out
    assert "vmqp resume run goes on" in answer.out
    result = json.loads(Path("run/result.json").read_text())
    assert (result["inference"], result["stopped"], result["trusted"]) == ("fast", "time limit", False)
    limited = pd.read_csv("run/predictions.csv")
    assert call([*command, "--overwrite", "--allow-unconverged"]).code == 0
    fast = call(predict("--holdout", "0.2", "--fast", "--out", "fast"))
    assert fast.code == 0
    assert "A fast fit, for a first look." in fast.out
    result = json.loads(Path("fast/result.json").read_text())
    assert (result["inference"], result["stopped"], result["trusted"]) == ("fast", "optimum", True)
    assert result["kernel_choice"][0]["difference"] == 0.0
    assert len(result["kernel_choice"]) == 6
    pd.testing.assert_frame_equal(limited, pd.read_csv("fast/predictions.csv"), atol=1e-5)
    assert call(["resume", "fast"]).code == 0


def test_help_lists_what_works_and_has_an_example_each(call):
    assert call(["--version"]).out == f"vmqp {vmqp.__version__}\n"
    listed = call([]).out
    assert all(name in listed for name in ("fit", "predict", "resume", "compare", "paper", "demo"))
    for command in ("fit", "predict", "resume", "compare", "paper"):
        answer = call([command, "--help"])
        assert answer.code == 0
        assert "Example: vmqp" in answer.out or "Examples: vmqp" in answer.out
