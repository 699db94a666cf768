"""The demonstration: its files, what it says, and its coverage of what was held out."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import vmqp
from vmqp import arcs, demo
from vmqp.cli import main

pytestmark = pytest.mark.xdist_group("demo")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with fewer effective samples than the real one, to save time."""
    out = tmp_path_factory.mktemp("demo") / "made" / "on the way"
    return out, demo.demonstrate(out, target_ess=100.0, time_limit=600.0, progress=False)


def test_the_files_are_there_and_agree(run):
    out, post = run
    assert sorted(file.name for file in out.iterdir()) == sorted(demo.FILES.values())
    predictions = pd.read_csv(out / demo.FILES["predictions"])
    assert len(predictions) == demo.HELD_OUT + demo.GRID[0] * demo.GRID[1]
    np.testing.assert_allclose(predictions["mean"], post.mean, rtol=1e-12)
    np.testing.assert_array_equal(vmqp.load(out / demo.FILES["draws"]).mean, post.mean)
    np.testing.assert_array_equal(vmqp.load(out / demo.FILES["model"]).predict(post.X_new), post.mean)
    assert "Wind over a made-up region" in (out / demo.FILES["report"]).read_text(encoding="utf-8")


def test_the_arcs_cover_what_was_held_out(run):
    """Of 50 held-out stations 85 to 95 % lie in their 90 % arcs; 50 % arcs hold 36 to 64 % (two standard errors)."""
    out, post = run
    seen = pd.read_csv(out / demo.FILES["held out"])["direction"].to_numpy()
    for probability, low, high in ((0.9, 0.85, 0.95), (0.5, 0.36, 0.64)):
        lower, upper = post.interval(probability)[: demo.HELD_OUT].T
        assert low <= arcs.in_arc(seen, lower, upper, 360.0).mean() <= high


def test_the_wind_is_predicted_far_better_than_by_its_climate(run):
    out, post = run
    held_out = pd.read_csv(out / demo.FILES["held out"])["direction"].to_numpy()
    truth = np.concatenate([held_out, np.zeros(demo.GRID[0] * demo.GRID[1])])
    score = post.crps(truth)[: demo.HELD_OUT].mean()
    resultant = np.abs(np.exp(1j * np.deg2rad(post.y)).mean())
    climate = 0.5 * (1.0 - resultant**2)
    assert score < 0.2 * climate


def test_the_terminal_shows_the_verdict_the_scores_and_the_report(run, tmp_path, capsys, monkeypatch):
    _, post = run
    fitted = SimpleNamespace(fit=lambda *_: None, posterior=lambda _: post, save=lambda _: None)
    monkeypatch.setattr(demo, "CircularRegressor", lambda **_: fitted)
    assert main(["demo", "--out", str(tmp_path), "--quiet"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "mean CRPS" in said
    assert "90% arcs hold" in said
    assert "model.nc').predict([[10.0, 51.0]])" in said
    assert "report.html in a browser" in said


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["demo", "--out", str(tmp_path / "file")]) == 2
    assert "give another folder with --out" in " ".join(capsys.readouterr().err.split())
