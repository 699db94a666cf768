"""Comparisons: the same splits for all, scores that add up, failures and Ctrl-C that lose nothing else."""

import json
import math
import os
import signal
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.dummy import DummyRegressor

from run_dask import make_cluster
from vmqp import CircularRegressor
from vmqp.comparison import compare, split
from vmqp.errors import CheckpointWarning, InputError
from vmqp.peers import CircularNeighbours, Climatology, CosineSineGP, TanHalfRegression
from vmqp.posterior import Verdict

X = np.arange(20.0)[:, None]
Y = np.linspace(0.0, 6.0, 20)


@dataclass
class Fake:
    """A model whose CRPS is its level plus the first held-out place; it notes what it is given."""

    level: float = 0.0
    notes: list[tuple[Any, Any, Any]] = field(default_factory=list)
    trusted: bool = True
    pause: float = 0.0
    error: Exception | None = None
    at: list[float] = field(default_factory=list)

    def get_params(self, deep: bool) -> dict[str, Any]:
        assert not deep
        return dict(self.__dict__)

    def fit(self, X, y):
        self.learned = X, y
        return self

    def posterior(self, X_new):
        self.at.append(time.monotonic())
        time.sleep(self.pause)
        if self.error is not None:
            raise self.error
        self.notes.append((*self.learned, X_new))
        return FakePosterior(self, float(np.asarray(X_new)[0, 0]))


class FakePosterior:
    stopped = "draws"

    def __init__(self, model: Fake, first: float) -> None:
        self.model, self.first = model, first

    def crps(self, truth, distance="cosine"):
        assert distance in ("cosine", "arc")
        return np.full(len(truth), (self.model.level + self.first) * (10.0 if distance == "arc" else 1.0))

    def log_score(self, truth):
        return -self.crps(truth)

    def coverage(self, truth, probability):
        return probability

    def width(self, probability):
        return np.array([0.5, 1.5]) * probability

    def diagnostics(self):
        return pd.DataFrame({"rhat": [1.0, 1.01 + self.first / 1000.0], "ess": [500.0, 400.0 + self.first]})

    def verdict(self):
        return Verdict(self.model.trusted, ())


def run(models, **options):
    return compare(models, X, Y, **{"folds": 5, "progress": False, **options})


def test_all_models_meet_the_same_splits_and_none_sees_what_it_predicts():
    models = {"a": Fake(), "b": Fake()}
    run(models, folds=3, test=0.25, seed=4)
    for mine, other in zip(
        *(sorted(m.notes, key=lambda note: note[2].tolist()) for m in models.values()), strict=True
    ):
        for one, two in zip(mine, other, strict=True):
            np.testing.assert_array_equal(one, two)
        learned, angles, held = mine
        assert (len(learned), len(held)) == (15, 5)
        assert sorted([*learned[:, 0], *held[:, 0]]) == X[:, 0].tolist()
        np.testing.assert_array_equal(angles, Y[learned[:, 0].astype(int)])


def test_the_table_adds_up():
    found = run({"worse": Fake(level=0.5, trusted=False), "better": Fake()}, test=0.2, seed=1)
    fits = found.fits.pivot(index="fold", columns="model", values="crps")
    table = found.table
    assert table.index.tolist() == ["better", "worse"]
    assert found.best == "better"
    assert table.loc["better", "crps"] == pytest.approx(fits["better"].mean())
    assert table.loc["better", "crps_sd"] == pytest.approx(fits["better"].std(ddof=1))
    for score, apart in (("crps", 0.5), ("crps_arc", 5.0), ("log_score", -0.5)):
        assert table.loc["worse", f"{score}_difference"] == pytest.approx(apart)
        assert table.loc["worse", f"{score}_difference_se"] == pytest.approx(0.0, abs=1e-12)  # splits cancel
        assert table.loc["better", f"{score}_difference"] == 0.0
    assert table["crps_arc"].tolist() == pytest.approx((10 * table["crps"]).tolist())
    assert table["crps_arc_sd"].tolist() == pytest.approx((10 * table["crps_sd"]).tolist())
    assert table["width"].tolist() == pytest.approx([0.9, 0.9])
    assert table.loc["better", "rhat"] == pytest.approx(1.01 + fits["better"].max() / 1000.0)  # the worst fit
    assert table.loc["better", "ess"] == pytest.approx(400.0 + fits["better"].min())
    assert table["untrusted"].tolist() == [0, 5]
    assert table["coverage"].tolist() == [0.9, 0.9]
    assert found.complete


def test_the_standard_error_knows_that_splits_share_data():
    noisy = Fake()
    noisy.level = 1.0
    found = run({"a": Fake(), "b": noisy}, folds=4)
    fits = found.fits.copy()
    fits.loc[fits["model"] == "b", "crps"] += np.array([0.1, -0.1, 0.3, -0.3])
    changed = type(found)(fits, {}, True, found.ratio)
    expected = math.sqrt((1 / 4 + 4 / 16) * np.var([0.1, -0.1, 0.3, -0.3], ddof=1))
    assert changed.table.loc["b", "crps_difference_se"] == pytest.approx(expected)


def test_a_model_without_a_density_has_the_other_scores():
    class Dumb(Fake):
        def posterior(self, X_new):
            found = super().posterior(X_new)

            def log_score(truth):
                raise InputError("there is no density.")

            found.log_score = log_score
            return found

    table = run({"dumb": Dumb(), "good": Fake(level=1.0)}).table
    assert table.index.tolist() == ["dumb", "good"]
    assert math.isnan(table.loc["dumb", "log_score"])
    assert table["log_score_difference"].isna().all()  # the best has none to differ from
    assert table.loc["good", "log_score"] < 0.0
    assert table["folds"].tolist() == [5, 5]


def test_splits_can_be_given():
    model = Fake()
    splits = [([0, 1, 2, 3], np.array([7, 5])), (np.arange(10, 20), [0, 1, 2, 3, 4])]
    found = run({"a": model}, splits=splits, fits_at_once=1)
    assert found.fits["fold"].tolist() == [0, 1]
    assert [note[2][:, 0].tolist() for note in model.notes] == [[7.0, 5.0], [0.0, 1.0, 2.0, 3.0, 4.0]]
    assert model.notes[0][0][:, 0].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert found.ratio == 0.5


def counted(stop_at=10**6, **options):
    """A model, and the list that grows with its fits; fits are counted over copies, as `compare` makes them."""
    made: list[int] = []

    class Model(Fake):
        def __init__(self, level=0.0, trusted=True):
            super().__init__(level=level, trusted=trusted)

        def get_params(self, deep):
            return {"level": self.level, "trusted": self.trusted}

        def posterior(self, X_new):
            if len(made) == stop_at:
                raise KeyboardInterrupt
            made.append(1)
            return super().posterior(X_new)

    return Model(**options), made


def test_a_comparison_that_was_stopped_goes_on(tmp_path):
    folder = tmp_path / "deep" / "fits"
    model, made = counted(stop_at=3)
    first = run({"a/b": model}, checkpoint=folder, fits_at_once=1)
    assert not first.complete
    assert len(made) == len(first.fits) == len(list(folder.glob("*.json"))) == 3
    model, made = counted()
    second = run({"a/b": model}, checkpoint=folder)
    assert len(made) == 2
    assert second.complete
    kept = second.fits[second.fits["fold"].isin(first.fits["fold"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, first.fits)
    third = run({"a/b": model}, checkpoint=str(folder))
    assert len(made) == 2
    pd.testing.assert_frame_equal(third.fits, second.fits)
    straight = run({"a/b": counted()[0]}).fits.drop(columns="seconds")
    pd.testing.assert_frame_equal(third.fits[straight.columns], straight)


def changed(what):
    """Arguments of a call that differs in one thing from that of the test below."""
    model = {"model": {"level": 1.0}}.get(what, {})
    data = {
        "data": (X, Y + 1e-9),
        "places": (X + 1e-9, Y),
    }.get(what, (X, Y))
    splits = {"seed": 5} if what == "split" else {}
    return model, data, {"folds": 2, "progress": False, **splits}


@pytest.mark.parametrize("what", ["model", "data", "places", "split", "version", "file", "nothing"])
def test_fits_of_something_else_are_made_anew(what, tmp_path, monkeypatch):
    compare({"a": counted()[0]}, X, Y, folds=2, checkpoint=tmp_path, progress=False)
    options, data, more = changed(what)
    if what == "version":
        monkeypatch.setattr("vmqp.comparison.digests.__version__", "0.0.0")
    if what == "file":
        for file in tmp_path.glob("*.json"):
            file.write_text(file.read_text()[:-30])
    model, made = counted(**options)
    found = compare({"a": model}, *data, checkpoint=tmp_path, **more)
    assert len(made) == (0 if what == "nothing" else 2)
    assert found.complete
    again, made = counted(**options)
    compare({"a": again}, *data, checkpoint=tmp_path, **more)
    assert not made  # the files are now those of the second call


def test_numbers_that_json_does_not_know_come_back(tmp_path, monkeypatch):
    table = pd.DataFrame({"rhat": [np.nan], "ess": [np.inf]})
    monkeypatch.setattr(FakePosterior, "diagnostics", lambda self: table)
    for _ in range(2):
        fits = run({"a": counted()[0]}, folds=1, checkpoint=tmp_path).fits
        assert math.isnan(fits.loc[0, "rhat"])
        assert fits.loc[0, "ess"] == np.inf
    (file,) = tmp_path.glob("*.json")
    json.loads(file.read_text(), parse_constant=pytest.fail)


def test_a_checkpoint_that_fails_loses_no_fit(tmp_path, monkeypatch):
    def full(path, fill):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("vmqp.comparison.checkpoint.write_whole", full)
    with pytest.warns(CheckpointWarning, match="No space left"):
        found = run({"a": counted()[0]}, checkpoint=tmp_path)
    assert found.complete


@pytest.mark.parametrize("kind", ["pandas", "polars", "list"])
def test_frames_and_lists_are_split_by_rows(kind):
    model = Fake()
    data = {
        "pandas": (pd.DataFrame({"x": X[:, 0]}, index=range(100, 120)), pd.Series(Y, index=range(100, 120))),
        "polars": (polars.DataFrame({"x": X[:, 0]}), polars.Series(Y)),
        "list": (X.tolist(), Y.tolist()),
    }[kind]
    compare({"a": model}, *data, folds=1, progress=False)
    learned, angles, held = model.notes[0]
    assert type(learned) is type(data[0])
    assert type(angles) is type(data[1])
    places = np.asarray(learned)[:, 0]
    np.testing.assert_array_equal(np.asarray(angles), Y[places.astype(int)])
    assert len(held) == 4


def test_a_model_that_fails_does_not_stop_the_others():
    found = run({"bad": Fake(error=InputError("add a nugget.")), "good": Fake()})
    assert found.failures == {"bad": "add a nugget."}
    assert found.table.index.tolist() == ["good"]
    assert found.complete
    assert "add a nugget." in repr(found)
    with pytest.raises(InputError, match=r"bad: add a nugget\."):
        run({"bad": Fake(error=InputError("add a nugget."))})


def test_an_error_that_is_not_ours_ends_the_comparison():
    model = Fake(error=ZeroDivisionError(), pause=0.01)
    with pytest.raises(ZeroDivisionError):
        run({"a": model}, folds=50, fits_at_once=1)
    assert len(model.at) < 50


def test_several_fits_run_at_the_same_time():
    model = Fake(pause=0.3)
    run({"a": model}, folds=3, fits_at_once=3)
    assert max(model.at) - min(model.at) < 0.3


def test_ctrl_c_keeps_what_is_done():
    class Pressed(Fake):
        def posterior(self, X_new):
            if len(self.at) == 2:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.2)  # the main thread counts the press
                self.at.append(0.0)
                raise KeyboardInterrupt  # as a run does that has no draw yet
            return super().posterior(X_new)

    found = run({"a": Pressed()}, folds=6, fits_at_once=1)
    assert not found.complete
    assert len(found.fits) == 2
    assert threading.active_count() < 20


def test_ctrl_c_before_the_first_fit_is_not_swallowed():
    class Pressed(Fake):
        def posterior(self, X_new):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run({"a": Pressed()}, fits_at_once=1)


def test_progress_shows_each_fit_with_the_mean_so_far(capsys):
    compare({"a": Fake(level=2.0)}, X, Y, folds=2, fits_at_once=1)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ", 1)[0] for line in lines] == ["1/2", "2/2"]
    assert "a, split 1: CRPS" in lines[0]


def test_regressors_share_one_engine_and_it_changes_no_bit():
    options = {"kernel": "1.0 * exponential(3.0) + nugget(0.1)", "chains": 2, "warmup": 40, "draws": 40}
    models = {"mean": CircularRegressor(drift="mean", **options), "constant": CircularRegressor(**options)}
    columns = ["model", "fold", "crps", "crps_arc", "log_score", "coverage", "width", "rhat", "ess"]
    threads = compare(models, X, Y, folds=2, progress=False).fits[columns]
    processes = compare(models, X, Y, folds=2, executor="processes", progress=False).fits[columns]
    pd.testing.assert_frame_equal(threads, processes)
    with make_cluster() as cluster:
        address = cluster.scheduler_address.replace("tcp", "dask")
        elsewhere = compare(models, X, Y, folds=2, executor=address, progress=False).fits[columns]
    pd.testing.assert_frame_equal(threads, elsewhere)
    assert models["mean"].executor is None  # the models that were given stay as they were


def test_baselines_stand_beside_the_others(tmp_path):
    angles = np.mod(15.0 * X[:, 0] + 300.0, 360.0)
    models = {
        "climatology": Climatology(period=360),
        "neighbors": CircularNeighbours(period=360, k=2),
        "tan-half": TanHalfRegression(period=360, starts=2),
        "cosine-sine": CosineSineGP(period=360, restarts=0),
        "fake": Fake(level=3.0),
    }
    splits = [(np.arange(0, 15), np.arange(15, 20)), (np.arange(5, 20), np.arange(5))]
    found = compare(models, X, angles, splits=splits, checkpoint=tmp_path, progress=False)
    assert not found.failures
    table = found.table
    assert table.index[-1] == "fake"
    assert table["untrusted"].tolist() == [0] * 5
    own = table.drop(index="fake")
    assert own[["rhat", "ess"]].isna().all(axis=None)
    assert own["log_score"].isna().to_dict() == {
        name: name in ("climatology", "neighbors") for name in own.index
    }
    first = Climatology(period=360).fit(X[:15], angles[:15])
    fit = found.fits.set_index(["model", "fold"]).loc["climatology", 0]
    assert fit["crps"] == first.crps(X[15:], angles[15:]).mean()
    assert fit["crps_arc"] == first.crps(X[15:], angles[15:], distance="arc").mean()
    assert fit["width"] == pytest.approx(195.0)  # 13 of the 15 angles hold 0.87 of the draws, 14 of them 0.93
    assert fit["coverage"] == 0.0  # the angles behind have not been seen
    again = compare(models, X, angles, splits=splits, checkpoint=tmp_path, progress=False)
    both = [each.fits[each.fits["model"] != "fake"] for each in (again, found)]
    pd.testing.assert_frame_equal(*both)  # the seconds too: nothing was fitted again


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": {}}, "at least one"),
        ({"models": {"a": DummyRegressor()}}, "no predictions to score: give a CircularRegressor"),
        ({"models": {"a": 3}}, "a model"),
        ({"models": {"a": CircularRegressor}}, "a model"),
        ({"folds": 0}, "folds"),
        ({"test": 1.5}, "between 0 and 1"),
        ({"test": 0.001}, "0 to predict"),
        ({"seed": -1}, "seed"),
        ({"y": Y[:5]}, "20 rows and y has 5"),
        ({"X": 3}, "not a table"),
        ({"fits_at_once": 0}, "fits_at_once"),
        ({"executor": "gpu"}, "executor"),
        ({"splits": 3}, "list of pairs"),
        ({"splits": []}, "at least one"),
        ({"splits": [([0, 1], [2], [3])]}, "list of pairs"),
        ({"splits": [([0, 1], [2]), ([0, 1.5], [2])]}, "split 1, rows to learn from: .* whole numbers"),
        ({"splits": [([0, 1], [[2]])]}, "rows to predict: .* whole numbers"),
        ({"splits": [(np.arange(20) < 4, [2])]}, "np.flatnonzero"),
        ({"splits": [([0, 1], [20])]}, "20 is no row"),
        ({"splits": [([0, -1], [2])]}, "-1 is no row"),
        ({"splits": [([0, 1, 2], [2])]}, "row 2 both"),
        ({"splits": [([0, 1, 0], [2])]}, "row 0 comes more than once"),
        ({"splits": [([0], [2])]}, "1 rows are given, where 2 are needed"),
        ({"splits": [([0, 1], [])]}, "0 rows are given, where 1 are needed"),
        ({"checkpoint": 3}, "path of a directory"),
        ({"checkpoint": __file__}, "cannot be made"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    arguments = {"models": {"a": Fake()}, "X": X, "y": Y, "progress": False, **change}
    with pytest.raises(InputError, match=message):
        compare(**arguments)


def test_a_split_takes_every_row_once():
    learned, held = split(10, 0.3, np.random.default_rng(0))
    assert len(held) == 3
    assert sorted([*learned, *held]) == list(range(10))
