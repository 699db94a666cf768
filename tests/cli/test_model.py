"""`vmqp fit`, and `vmqp predict` from what it learned: the same numbers as from the table, without drawing again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import vmqp
from command_lines import FIXED, SHORT, TINY, predict, write_stations
from vmqp.cli import main
from vmqp.posterior import predictive

LEARN = ["--angle", "dir", "--inputs", "lon,lat", "--period", "360"]


def fit(*more: str, file: str = "stations.csv") -> list[str]:
    """The usual command."""
    return ["fit", file, *LEARN, *more]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that can be trusted."""
    place = tmp_path_factory.mktemp("learned")
    table = write_stations(place / "stations.csv")
    options = ("--kernel", FIXED, "--chains", "2", "--warmup", "100", "--target-ess", "50", "--quiet")
    assert main(fit(*options, "--out", str(place / "model"), file=str(table))) == 0
    return place / "model"


def same_predictions(*runs: str) -> bool:
    return len({Path(run, "predictions.csv").read_bytes() for run in runs}) == 1


def test_a_fit_leaves_a_model_and_its_verdict(learned):
    assert {path.name for path in learned.iterdir()} == {
        "request.json",
        "data.csv",
        "checkpoint",
        "model.nc",
        "result.json",
        "vmqp.lock",
    }
    model = vmqp.load(learned / "model.nc")
    found = json.loads((learned / "result.json").read_text())
    assert found["trusted"]
    assert found["verdict"] == list(model.verdict().sentences)
    assert found["rows"] == {"read": 24, "used": 21}
    assert found["files"] == {"model": str(learned / "model.nc")}
    assert found["worst"]["rhat"]["value"] == pytest.approx(model.diagnostics()["rhat"].max())
    assert found["model"]["drift"] == "mean"
    for name, draws in model.parameters.items():
        assert draws.shape == (2, found["draws"])
        if name == "concentration":
            assert found["parameters"][name]["mean"] == pytest.approx(draws.mean())


@pytest.mark.usefixtures("without_report")
@pytest.mark.parametrize("noise", ["none", "learned", "chi"])
def test_both_at_once_and_one_after_the_other_are_the_same(call, noise):
    stations = pd.read_csv("stations.csv").assign(chi=np.linspace(10.0, 60.0, 24))
    stations.to_csv("stations.csv", index=False)
    stations[["name", "lon", "lat", "chi"]].assign(lon=stations["lon"] + 0.1).to_csv("new.csv", index=False)
    options = ("--noise", noise, *TINY)
    assert call([*predict("--at", "new.csv", *options), "--out", "both"]).code == 0
    assert call([*fit(*options), "--out", "model"]).code == 0
    allowed = ("--quiet", "--allow-unconverged")
    assert call(["predict", "model", "--at", "new.csv", "--out", "after", *allowed]).code == 0
    assert call(["predict", "both", "--at", "new.csv", "--out", "again", *allowed]).code == 0
    assert call(["predict", "after", "--at", "new.csv", "--out", "third", *allowed]).code == 0
    assert same_predictions("both", "after", "again", "third")
    assert Path("both/model.nc").exists()
    one, other = (vmqp.load(f"{run}/posterior.nc") for run in ("both", "after"))
    np.testing.assert_array_equal(one.draws, other.draws)


@pytest.mark.usefixtures("without_report")
def test_a_model_predicts_a_grid_over_its_own_locations(call, learned):
    arguments = ["--grid", "6x5", "--parameter-draws", "40"]
    answer = call(["predict", str(learned), *arguments, "--out", "map"])
    assert answer.code == 0
    assert "Predicting 30 locations." in answer.out
    assert "Predictions use 40 of" in answer.out
    assert call(["predict", str(learned / "model.nc"), *arguments, "--json", "--out", "other"]).code == 0
    assert same_predictions("map", "other")
    table, stations = pd.read_csv("map/predictions.csv"), pd.read_csv(learned / "data.csv")
    for name in ("lon", "lat"):
        assert (table[name].min(), table[name].max()) == (stations[name].min(), stations[name].max())
    model = vmqp.load(learned / "model.nc").set_params(parameter_draws=40)
    post = model.posterior(table[["lon", "lat"]])
    np.testing.assert_allclose(table["mean"], post.mean, rtol=1e-8)
    found = json.loads(Path("map/result.json").read_text())
    assert found["rows"] == {"used": 21, "predicted": 30}
    assert set(found["files"]) == {"predictions", "posterior", "report"}


@pytest.mark.usefixtures("without_report")
@pytest.mark.usefixtures("without_report")
@pytest.mark.parametrize("named", [False, True])
def test_a_file_with_the_angle_is_scored_by_a_model(call, learned, named):
    """The directory knows the column; of a file alone it is named."""
    points = pd.DataFrame({"dir": [350.0, None, 20], "lat": [49.0, 50, 51], "lon": [9.0, 10, 11]})
    points.to_csv("points.csv", index=False)
    given = [str(learned / "model.nc"), "--angle", "dir"] if named else [str(learned)]
    answer = call(["predict", *given, "--at", "points.csv", "--out", "run"])
    assert answer.code == 0, answer
    assert "the predictions of 2 of its 3 rows are scored" in answer.out
    assert "Predictions of 2 angles whose truth is known" in answer.out
    table = pd.read_csv("run/predictions.csv")
    truth = points["dir"].to_numpy(dtype=float)
    np.testing.assert_array_equal(table["dir"], truth)
    post = vmqp.load("run/posterior.nc")
    np.testing.assert_allclose(table["crps"], post.crps(truth), rtol=1e-8)
    found = json.loads(Path("run/result.json").read_text())
    assert found["scores"]["log_score"] == pytest.approx(np.nanmean(post.log_score(truth)))
    assert found["rows"] == {"used": 21, "predicted": 3, "scored": 2}
    Path("run/predictions.csv").unlink()
    assert call(["resume", "run", "--quiet"]).code == 0
    pd.testing.assert_frame_equal(pd.read_csv("run/predictions.csv"), table)
    unknown = call(["predict", str(learned / "model.nc"), "--at", "points.csv", "--out", "other"])
    assert unknown.code == 0
    assert "scored" not in unknown.out
    again = call(["predict", "run", "--at", "points.csv", "--out", "again"])  # its copy of the model
    assert "2 of its 3 rows are scored" in again.out


def test_a_model_of_python_predicts_by_position_and_by_category(call):
    X = np.random.default_rng(1).uniform(size=(12, 2))
    options = {"kernel": "1.0 * exponential(1.0) + nugget(0.1)", "concentration": 0.0, "progress": False}
    model = vmqp.CircularRegressor(period=360, **options).fit(X, 90.0 + 100.0 * X[:, 0])
    model.save("plain.nc")
    assert call(["predict", "plain.nc", "--grid", "3x2", "--out", "plain"]).code == 0
    table = pd.read_csv("plain/predictions.csv")
    np.testing.assert_allclose(table["mean"], model.predict(table[["x0", "x1"]].to_numpy()), rtol=1e-8)
    frame = pd.DataFrame({"x": X[:, 0], "kind": ["a", "b"] * 6})
    options["kernel"] = (
        "1.0 * exponential(1.0, columns=['x']) * categorical(0.5, columns=['kind']) + nugget(0.1)"
    )
    model = vmqp.CircularRegressor(period=360, **options).fit(frame, 90.0 + 100.0 * X[:, 0])
    model.save("kinds.nc")
    new = pd.DataFrame({"kind": ["b", "a"], "x": [0.2, 0.8]})
    new.to_csv("new.csv", index=False)
    assert call(["predict", "kinds.nc", "--at", "new.csv", "--out", "kinds"]).code == 0
    np.testing.assert_allclose(pd.read_csv("kinds/predictions.csv")["mean"], model.predict(new), rtol=1e-8)


@pytest.mark.usefixtures("without_report")
def test_a_short_fit_exits_with_3_and_so_do_its_predictions_until_it_is_resumed(call):
    short = ("--kernel", FIXED, "--chains", "2", "--warmup", "60", "--target-ess", "60")
    answer = call(fit(*short, "--draws", "30", "--out", "model"))
    assert answer.code == 3
    assert "vmqp resume model goes on for longer." in answer.out
    answer = call(["predict", "model", "--grid", "3x3", "--out", "map"])
    assert answer.code == 3
    assert "give its directory to vmqp resume, and predict again." in answer.out
    assert call(["resume", "map"]).code == 3
    assert call(["resume", "map", "--allow-unconverged"]).code == 0
    answer = call(["resume", "model", "--json"])
    assert (answer.code, json.loads(answer.out)["trusted"]) == (0, True)
    assert call(["predict", "model", "--grid", "3x3", "--out", "map", "--overwrite", "--quiet"]).code == 0


@pytest.mark.usefixtures("without_report")
def test_a_fit_in_two_parts_is_the_same_to_the_bit(call):
    options = fit("--chains", "2", "--warmup", "60", "--target-ess", "1e9", "--quiet", "--allow-unconverged")
    assert call([*options, "--draws", "200", "--out", "whole"]).code == 0
    assert call([*options, "--draws", "90", "--out", "parts"]).code == 0
    assert call(["resume", "parts", "--draws", "200", "--quiet", "--allow-unconverged"]).code == 0
    one, other = (vmqp.load(f"{run}/model.nc") for run in ("whole", "parts"))
    for name, draws in one.parameters.items():
        np.testing.assert_array_equal(draws, other.parameters[name])
    Path("parts/model.nc").unlink()  # a finished fit that lost its model takes it from the checkpoint
    assert call(["resume", "parts", "--draws", "200", "--quiet", "--allow-unconverged"]).code == 0
    again = vmqp.load("parts/model.nc")
    np.testing.assert_array_equal(again.parameters["nugget"], one.parameters["nugget"])


def test_ctrl_c_keeps_the_model_so_far_and_exits_with_130(folder):
    options = ("--chains", "2", "--warmup", "60", "--target-ess", "1e9", "--out", "model")
    process = subprocess.Popen(
        [sys.executable, "-m", "vmqp", *fit(*options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(1200):
        if all(len(list(folder.glob(f"model/checkpoint/chain-{chain}/*-*.npz"))) > 3 for chain in (0, 1)):
            break
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "vmqp resume model goes on" in out
    assert vmqp.load("model/model.nc").parameters["nugget"].shape[1] > 0


@pytest.mark.usefixtures("without_report")
def test_predictions_from_a_model_go_on_after_a_stop(call, learned):
    arguments = ["predict", str(learned), "--grid", "4x3", "--out", "map", "--quiet"]
    assert call(arguments).code == 0
    before = Path("map/predictions.csv").read_bytes()
    Path("map/predictions.csv").unlink()
    answer = call(["resume", "map"])
    assert answer.code == 0
    assert "Written anew: predictions." in answer.out
    assert Path("map/predictions.csv").read_bytes() == before
    for name in (
        "predictions.csv",
        "posterior.nc",
        "result.json",
    ):  # as if it had been stopped before the end
        Path("map", name).unlink()
    assert call(["resume", "map", "--quiet"]).code == 0
    assert Path("map/predictions.csv").read_bytes() == before
    answer = call(["resume", "map", "--draws", "100"])
    assert answer.code == 2
    assert "holds predictions from a model" in answer.err
    with Path("map/model.nc").open("ab") as file:
        file.write(b"more")
    answer = call(["resume", "map"])
    assert answer.code == 2
    assert "map/model.nc is not what the run began with" in answer.err


@pytest.mark.usefixtures("without_report")
@pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")  # a short run
def test_the_scheme_of_the_paper(call):
    answer = call([*predict("--grid", "3x3", "--transductive", *SHORT, "--kernel", FIXED), "--out", "run"])
    assert answer.code == 0
    assert not Path("run/model.nc").exists()
    post = vmqp.load("run/posterior.nc")
    assert post.joint
    assert post.attributes["drift"] == "constant"
    assert "angle[21]" in post.diagnostics().index
    stations = pd.read_csv("stations.csv").dropna()
    same = vmqp.regress(
        stations[["lon", "lat"]],
        stations["dir"],
        pd.DataFrame(post.X_new, columns=["lon", "lat"]),
        period=360,
        kernel=FIXED,
        transductive=True,
        chains=2,
        warmup=60,
        draws=60,
        progress=False,
    )
    np.testing.assert_array_equal(post.draws, same.draws)
    before = Path("run/predictions.csv").read_bytes()
    Path("run/predictions.csv").unlink()
    assert call(["resume", "run", "--draws", "60", "--quiet", "--allow-unconverged"]).code == 0
    assert Path("run/predictions.csv").read_bytes() == before


def refused(call, arguments: list[str], *words: str) -> None:
    before = set(Path().rglob("*"))
    answer = call(arguments)
    assert answer.code == 2, answer
    assert "Traceback" not in answer.err
    assert len(answer.err.splitlines()) == 1, "one sentence"
    for word in words:
        assert word in answer.err, answer.err
    assert set(Path().rglob("*")) == before


def test_options_of_learning_are_refused_with_a_model(call, learned):
    for option in (
        *(("--inputs", "lon,lat"), ("--period", "360"), ("--metric", "geographic")),
        *(("--drift", "mean"), ("--noise", "learned"), ("--kernel", FIXED), ("--transductive",)),
        *(("--precision", "dense"), ("--neighbors", "20"), ("--seed", "0"), ("--chains", "4")),
        *(("--warmup", "9"), ("--draws", "9"), ("--target-ess", "9"), ("--time-limit", "9")),
        ("--engine", "threads"),
    ):
        arguments = ["predict", str(learned), "--grid", "3x3", *option]
        refused(call, arguments, f"{option[0]} was given with the model", "belongs to learning")


def test_what_is_wrong_with_a_model_is_said_in_one_sentence(call, learned, finished):
    model = str(learned)
    Path("empty").mkdir()
    Path("points.csv").write_text("lon,height\n9,50\n")
    Path("text.nc").write_text("not NetCDF")
    refused(call, ["predict", model], "nothing says what to predict", "--at FILE")
    refused(call, ["predict", model, "--holdout", "0.2"], "--holdout was given", "give the table")
    refused(call, ["predict", model, "--fill"], "--fill was given", "the table that is learned from", "--at")
    refused(call, ["predict", model, "--grid", "3x3", "--at", "points.csv"], "--at and --grid were given")
    refused(
        call, ["predict", model, "--grid", "3x3", "--angle", "dir"], "--angle was given", "the file of --at"
    )
    refused(
        call, ["predict", model, "--at", "stations.csv", "--angle", "dri"], "stations.csv has no such column"
    )
    refused(call, ["predict", model, "--at", "stations.csv", "--angle", "lon"], "an input of the model")
    refused(call, ["predict", model, "--at", "points.csv"], "points.csv has no column 'lat'")
    refused(call, ["predict", model, "--grid", "3x3", "--parameter-draws", "0"], "--parameter-draws is 0")
    refused(call, ["predict", model, "--grid", "3x3", "--out", model], "would be replaced")
    refused(call, ["predict", "empty", "--grid", "3x3"], "empty has no model.nc", "vmqp fit")
    refused(call, ["predict", "nowhere.nc", "--grid", "3x3"], "nowhere.nc cannot be read")
    refused(call, ["predict", "text.nc", "--grid", "3x3"], "not a NetCDF file")
    refused(call, ["predict", str(finished / "posterior.nc"), "--grid", "3x3"], "predictions and not a model")


def test_what_is_wrong_with_a_fit_is_said_before_it_learns(call, learned):
    refused(call, ["fit", "stations.csv", "--angle", "dir", "--inputs", "lon,latt"], "did you mean 'lat'?")
    refused(call, fit("--noise", "learn"), "did you mean 'learned'?")
    refused(call, fit("--out", str(learned)), "holds another run", "--overwrite")
    refused(call, fit("--grid", "3x3"), "--grid", "vmqp fit --help")
    pd.read_csv("stations.csv").rename(columns={"lat": "mean"}).to_csv("other.csv", index=False)
    arguments = ["fit", "other.csv", "--angle", "dir", "--inputs", "lon,mean", "--period", "360"]
    refused(call, arguments, "the input 'mean' has the name of a column of the results")


def test_a_run_without_a_model_says_what_to_do(call, monkeypatch):
    answer = call(fit("--time-limit", "0.001s", "--out", "model"))
    assert answer.code == 3
    Path("model/model.nc").unlink()
    refused(call, ["predict", "model", "--grid", "3x3"], "no model.nc yet", "vmqp resume model")
    monkeypatch.setattr("vmqp.cli.results.report", lambda *_, **__: None)
    assert call([*predict("--grid", "2x2", "--transductive", *TINY), "--out", "run"]).code == 0
    refused(call, ["predict", "run", "--grid", "3x3"], "made with --transductive", "run vmqp fit")
    both = predict("--grid", "2x2", "--transductive", "--parameter-draws", "9")
    refused(call, both, "--parameter-draws was given with --transductive")


def test_progress_of_a_long_prediction_is_told_block_by_block(learned, monkeypatch):
    monkeypatch.setattr(predictive, "_BLOCK", 400)  # two locations at a time
    post = vmqp.load(learned / "model.nc").posterior(np.random.default_rng(1).uniform(8.0, 12.0, (9, 2)))
    told: list[float] = []
    post._predictive.watch = told.append
    assert np.isfinite(post.mean).all()
    assert len(told) == len(post._predictive.blocks()) > 3
    np.testing.assert_allclose(told, np.arange(1, len(told) + 1) / len(told))
