"""`vmqp compare`: kernels on the same splits."""

import json
from pathlib import Path

import pandas as pd
import pytest

from command_lines import FIXED, SHORT

COMPARE = [
    "compare",
    "stations.csv",
    "--angle",
    "dir",
    "--inputs",
    "lon,lat",
    "--period",
    "360",
    "--folds",
    "2",
]
SMOOTH = "1.0 * gaussian(lengthscale=0.01) + nugget(0.01)"  # places know nothing of each other


def test_a_table_a_json_object_and_files_agree(call):
    kernels = ["--kernel", SMOOTH, "--kernel", FIXED]
    answer = call([*COMPARE, *kernels, *SHORT, "--json", "--out", "deep/comparison"])
    found = json.loads(answer.out)
    assert answer.code == found["exit_code"] == 0
    assert found["best"] == FIXED
    assert found["complete"]
    assert found["models"][FIXED]["crps"] < found["models"][SMOOTH]["crps"]
    assert found["notes"] == ["3 of 24 rows were dropped because 'dir' is blank."]
    models = pd.read_csv("deep/comparison/comparison.csv", index_col="model")
    fits = pd.read_csv("deep/comparison/fits.csv")
    assert models.index.tolist() == [FIXED, SMOOTH]  # the best first
    for name in models.index:
        own = fits.loc[fits["model"] == name, "crps"]
        assert models.loc[name, "crps"] == pytest.approx(own.mean())
        assert found["models"][name]["crps"] == pytest.approx(own.mean())
        apart = found["models"][name]["crps_arc_difference"]
        assert apart == pytest.approx(models.loc[name, "crps_arc"] - models.loc[FIXED, "crps_arc"])
    assert "split 2" in answer.err
    again = call([*COMPARE, *kernels, *SHORT, "--out", "deep/comparison"])
    assert again.code == 2
    assert "--overwrite" in again.err


def test_peers_stand_beside_the_kernels_and_fits_are_kept(call):
    peers = ["--kernel", FIXED, "--peer", "wrapped", "--peer", "projected"]
    answer = call([*COMPARE, "--folds", "1", *peers, *SHORT, "--json", "--out", "run"])
    found = json.loads(answer.out)
    assert set(found["models"]) == {FIXED, "wrapped GP", "projected GP"}
    assert all(model["log_score"] is not None for model in found["models"].values())
    for name in ("comparison.csv", "fits.csv"):
        Path("run", name).unlink()  # as if it had been stopped before the end
    again = json.loads(call([*COMPARE, "--folds", "1", *peers, *SHORT, "--json", "--out", "run"]).out)
    assert again["models"] == found["models"]  # the seconds too: nothing was fitted again


def test_baselines_stand_beside_the_kernels_and_are_never_untrusted(call):
    names = ("cosine-sine", "tan-half", "neighbors", "climatology")
    given = [
        *COMPARE,
        "--folds",
        "1",
        "--kernel",
        FIXED,
        *(part for name in names for part in ("--baseline", name)),
    ]
    found = json.loads(call([*given, *SHORT, "--json", "--metric", "geographic"]).out)
    assert set(found["models"]) == {FIXED, *names}
    assert not found["failures"]
    for name in names:
        model = found["models"][name]
        assert model["untrusted"] == 0
        assert model["rhat"] is None
        assert (model["log_score"] is None) == (name in ("neighbors", "climatology"))
        assert model["crps"] > 0
    shown = call([*given, *SHORT, "--quiet"]).out.splitlines()
    assert sum("climatology" in line and "–" in line for line in shown) == 2  # log score, and R-hat


def test_the_schemes_of_the_paper_and_of_one_location_at_a_time_differ(call):
    arguments = [*COMPARE, "--folds", "1", "--kernel", FIXED, *SHORT, "--json", "--quiet"]
    alone, together = (
        json.loads(call([*arguments, *more]).out)["models"] for more in ([], ["--transductive"])
    )
    assert alone[FIXED]["crps"] != together[FIXED]["crps"]
    assert alone[FIXED]["crps"] == pytest.approx(together[FIXED]["crps"], abs=0.05)


def test_fits_that_did_not_converge_exit_with_3(call):
    answer = call([*COMPARE, "--folds", "1", "--kernel", "exponential + nugget", *SHORT[:-1], "--quiet"])
    assert answer.code == 3
    assert answer.out.count("exponential + nugget") == 2  # its scores, and its differences
    for heading in ("arc CRPS", "log score", "in 90 % arcs", "R-hat"):
        assert heading in answer.out
    assert not answer.err


def test_what_is_wrong_is_said_before_the_first_fit(call):
    Path("note").write_text("a file")
    before = set(Path().rglob("*"))
    for more, word in (
        (["--kernel", "expnential"], "did you mean"),
        (["--test", "20"], "--test 0.2"),
        (["--folds", "0"], "folds"),
        (["--out", "note/run"], "--out"),
        (["--kernel", FIXED, "--kernel", FIXED], "more than once"),
        (["--peer", "wraped"], "'wrapped', 'projected'"),
        (["--peer", "wrapped", "--peer", "wrapped"], "more than once"),
        (["--baseline", "neighbours"], "did you mean 'neighbors'?"),
        (
            ["--baseline", "tan-half", "--baseline", "tan-half"],
            "--baseline 'tan-half' was given more than once",
        ),
        (["--chains", "1"], "--chains"),
        (["--noise", "lon"], "a column"),
        (["--drift", "auto"], "The choices are constant, mean."),
    ):
        answer = call([*COMPARE, *more])
        assert answer.code == 2, answer
        assert word in answer.err
        assert "Traceback" not in answer.err
    assert set(Path().rglob("*")) == before
