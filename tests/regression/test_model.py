"""A model that was learned once: other data, files, predictions that do not depend on what else is asked."""

import json
import subprocess
import sys
import textwrap
import threading
from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from scipy import stats

import vmqp
from vmqp import CircularRegressor, kernels, priors
from vmqp.errors import ConvergenceWarning, InputError
from vmqp.posterior import predictive
from vmqp.posterior.mixture import cdf
from vmqp.regression import fitting

FEW = {"period": 360, "chains": 2, "draws": 40, "warmup": 20, "progress": False, "seed": 6}
RNG = np.random.default_rng(3)
FRAME = pd.DataFrame(
    {"east": RNG.uniform(0.0, 4.0, 12), "north": RNG.uniform(0.0, 4.0, 12), "kind": list("ab" * 6)}
)
Y = np.mod(300.0 + 30.0 * FRAME["east"] - 20.0 * FRAME["north"] + 5.0 * RNG.normal(size=12), 360.0).to_numpy()
NEW = pd.DataFrame({"kind": ["a", "b", "a"], "north": [0.5, 2.0, 9.0], "east": [1.0, 3.0, -9.0]})
LINE, SINE = np.linspace(0.0, 5.0, 9)[:, None], np.sin(np.linspace(0.0, 5.0, 9))

pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def model():
    return CircularRegressor(**FEW).fit(FRAME, Y)


@pytest.fixture(scope="module")
def noisy():
    kernel = priors.HalfNormal(1.0) * kernels.Exponential(1.0)
    return CircularRegressor(**FEW | {"period": 2 * np.pi}, kernel=kernel, noise=priors.HalfNormal(30)).fit(
        LINE, SINE
    )


def same_predictions(one, other, new=NEW):
    posts = one.posterior(new), other.posterior(new)
    for name in ("mean", "variance", "draws", "latent"):
        np.testing.assert_array_equal(*(getattr(post, name) for post in posts))
    np.testing.assert_array_equal(*(post.interval(0.8) for post in posts))
    assert str(posts[0].verdict()) == str(posts[1].verdict())
    assert posts[0].call == posts[1].call


# The model itself


def test_what_a_model_tells(model):
    post = model.posterior(NEW)
    assert set(model.parameters) == {
        "variance",
        "lengthscale",
        "correlation",
        "nugget",
        "concentration",
        "direction",
    }
    for name, draws in model.parameters.items():
        assert draws.shape == (2, 40)
        np.testing.assert_array_equal(draws, post.parameters[name])
    assert ((model.parameters["direction"] >= 0.0) & (model.parameters["direction"] < 360.0)).all()
    table = model.diagnostics()
    assert list(table.index) == list(model.parameters)
    assert table.equals(post.diagnostics())
    table[:] = 0.0
    assert (model.diagnostics()["ess"] > 0.0).all(), "a copy"
    assert model.summary(0.5).equals(post.summary(0.5))
    np.testing.assert_array_equal(model.loo().pointwise, post.loo().pointwise)
    assert model.loo().pointwise.shape == (12,)


def test_verdicts_of_the_model_and_of_its_predictions(model):
    own, told = model.verdict(), model.posterior(NEW).verdict()
    assert own.trusted is told.trusted is False, "forty draws"
    assert told.sentences[: len(own.sentences)] == own.sentences
    assert told.sentences[-1].startswith(
        "Predictions use 80 of 80 parameter draws, which leaves a Monte Carlo error of"
    )
    assert "°" in told.sentences[-1]


def test_the_monte_carlo_error_is_that_of_the_mean():
    """Means of 300 models with 16 independent parameter draws each scatter as the error says.

    The ratio of two standard deviations from 300 values has a standard error of 4 %; 25 % are allowed.
    """
    rng = np.random.default_rng(1)
    fitted = CircularRegressor(
        kernel=0.5 * kernels.Exponential(priors.LogNormal(0, 1)), concentration=0, chains=1, draws=16, warmup=0,
        progress=False,
    ).fit(LINE, 2.0 * SINE)  # fmt: skip
    tree, means, told = fitted._learned.tree, [], []
    for _ in range(300):
        tree["posterior"]["lengthscale"].values[:] = np.exp(rng.normal(size=(1, 16)))
        fitted._memory.clear()
        post = fitted.posterior([[2.3]])
        means.append(post.mean[0])
        told.append(post._predictive.monte_carlo_error(16.0)[0])
    assert np.median(told) / np.std(means) == pytest.approx(1.0, abs=0.25)


def test_nothing_to_learn():
    model = CircularRegressor(kernel=2.0 * kernels.Exponential(1.0), concentration=0, progress=False).fit(
        LINE, SINE
    )
    assert model.parameters == {}
    assert len(model.diagnostics()) == len(model.summary()) == 0
    assert model.verdict().trusted
    assert "Nothing was learned" in str(model.verdict())
    assert model.posterior([[0.3]]).draws.shape == (4, 1000, 1)


@pytest.mark.parametrize(
    ("locations", "asked", "used"),
    [(3, None, 80), (3, 10, 10), (3, 11, 10), (3, 1, 2), (3, 1000, 80), (6, None, 64), (6, 70, 70)],
)
def test_parameter_draws(model, monkeypatch, locations, asked, used):
    """As many as asked for, the same number of each chain and at least one of each; by default fewer for many."""
    monkeypatch.setattr(predictive, "_MANY", 5)
    other = copy(model).set_params(parameter_draws=asked)
    post = other.posterior(NEW.iloc[np.arange(locations) % 3])
    assert post._predictive.sets == used
    every = model._learned.tree["posterior"]["direction"].values[
        0
    ]  # drawn anew each time, so that all differ
    chosen = post._predictive._parameters["direction"].reshape(2, -1)[0]
    steps = np.array([np.flatnonzero(every == value)[0] for value in chosen])
    if used > 2:
        np.testing.assert_allclose(steps, np.linspace(0.0, 39.0, used // 2), atol=1.0)
    assert post.draws_at(0).shape == (2, 40, 1), "of draws there are as many as of parameters"


# The same answer whatever else is asked


def test_a_location_alone_and_among_others(model):
    many = pd.concat([NEW] * 40, ignore_index=True)
    every = model.posterior(many)
    for row in range(3):
        alone = model.posterior(NEW.iloc[[row]])
        np.testing.assert_allclose(every.mean[row::3], alone.mean[0], rtol=1e-9)
        np.testing.assert_allclose(every.variance[row::3], alone.variance[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            every.interval(0.9)[row::3], np.tile(alone.interval(0.9), (40, 1)), rtol=1e-9
        )


def test_draws_of_a_location_do_not_depend_on_the_others(model):
    post = model.posterior(NEW)
    every = post.draws
    np.testing.assert_array_equal(post.draws, every)
    np.testing.assert_array_equal(post.draws_at(1), every[..., [1]])
    np.testing.assert_array_equal(post.draws_at([2, 0]), every[..., [2, 0]])
    np.testing.assert_array_equal(model.posterior(NEW).draws, every)
    np.testing.assert_array_equal(model.posterior(NEW.iloc[:2]).draws, every[..., :2])
    twice = model.posterior(NEW.iloc[[0, 0]]).draws
    assert (twice[..., 0] != twice[..., 1]).mean() > 0.99, "each row has random numbers of its own"


def test_draws_are_of_the_mixture():
    """Kolmogorov-Smirnov of 1,000 draws at three locations: false alarms of 3e-4; one location for another is seen."""
    post = CircularRegressor(**FEW | {"draws": 500}).fit(FRAME, Y).posterior(NEW)

    def surprise(row, drawn):
        angles = np.deg2rad(post.draws_at(drawn).reshape(1, -1))
        return stats.kstest(cdf(post._predictive.components(np.array([row])), angles)[0], "uniform").pvalue

    assert min(surprise(row, row) for row in range(3)) > 1e-4
    assert surprise(0, 1) < 1e-8


def test_many_locations_are_taken_in_blocks_and_not_kept(noisy, monkeypatch):
    new = np.linspace(-1.0, 6.0, 57)[:, None]
    kept, truth = noisy.posterior(new), np.linspace(-3.0, 3.0, 57)
    assert kept._predictive.keeps
    grid = np.linspace(-np.pi, np.pi, 30, endpoint=False)

    def asked(post):
        return {
            "interval": post.interval(0.9),
            "half": post.interval(0.5),
            "mean": post.mean,
            "variance": post.variance,
            "density": post.density(grid),
            "probability": post.probability(0.5, 2.0),
            "crps": post.crps(truth),
            "arc": post.crps(truth, "arc"),
            "log": post.log_score(truth),
            "pit": post.pit(truth),
            "draws": post.draws_at([50, 3]),
            "regions": np.concatenate(post.regions(0.8)),
            "modes": np.concatenate(post.modes()),
            "frame": post.to_frame().to_numpy(),
        }

    expected = asked(kept)
    monkeypatch.setattr(predictive, "_BLOCK", 7 * 80)
    monkeypatch.setattr(predictive, "_KEPT", 100)
    lazy = noisy.posterior(new)
    assert len(lazy._predictive.blocks()) == 9
    found = asked(lazy)
    assert lazy._predictive._all is None
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


def test_a_table_of_many_locations_needs_one_pass(noisy, monkeypatch):
    monkeypatch.setattr(predictive, "_BLOCK", 7 * 80)
    monkeypatch.setattr(predictive, "_KEPT", 100)
    post, seen, lock = noisy.posterior(np.linspace(-1.0, 6.0, 57)[:, None]), [], threading.Lock()
    compute = post._predictive._compute

    def counted(rows, *more):
        with lock:
            seen.append(rows.stop - rows.start)
        return compute(rows, *more)

    monkeypatch.setattr(post._predictive, "_compute", counted)
    post.to_frame()
    assert sum(seen) == 57


def test_draws_that_do_not_fit_the_memory_are_refused(model, monkeypatch):
    post = model.posterior(pd.concat([NEW] * 400))
    monkeypatch.setattr("vmqp.run.machine.memory", lambda: 1e6)
    with pytest.raises(
        InputError, match=r"the draws of 1,200 locations need .* GB: ask for some .*draws_at\(rows\)"
    ):
        _ = post.draws
    assert post.draws_at([5]).shape == (2, 40, 1)
    assert post.mean.shape == (1200,)


# Many observed locations


def test_nearest_neighbors_predict_nearly_the_same():
    """Of 80 observed locations the 40 nearest hold nearly all that there is to know."""
    rng = np.random.default_rng(7)
    X = rng.uniform(0.0, 3.0, (80, 2))
    angles = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=80)
    fixed = {"kernel": "0.5 * exponential(1.0) + nugget(0.05)", "concentration": 0, "chains": 1, "draws": 5}
    new = rng.uniform(0.0, 3.0, (40, 2))
    dense, near = (
        CircularRegressor(**fixed, warmup=0, precision=precision, progress=False)
        .fit(X, angles)
        .posterior(new)
        for precision in ("dense", "vecchia")
    )
    assert dense._predictive.kriging.exact
    assert near._predictive.kriging.neighbors == 40
    np.testing.assert_allclose(near.mean, dense.mean, atol=0.01)
    np.testing.assert_allclose(near.variance, dense.variance, atol=0.005)
    assert (near.mean != dense.mean).any()


def test_of_many_observed_locations_some_are_learned_with(monkeypatch):
    """In groups of neighbors, as dense as all of them; predictions are conditioned on all."""
    hours = np.arange(9000.0)[:, None]
    seen, run_chains = [], fitting.run_chains
    monkeypatch.setattr(fitting, "MOST", 8000)
    monkeypatch.setattr(
        fitting, "run_chains", lambda task, **k: seen.append(task.problem) or run_chains(task, **k)
    )
    kernel = priors.HalfNormal(1.0) * kernels.Exponential(priors.LogNormal(0, 1)) + kernels.Nugget(0.03)
    few = {"chains": 1, "draws": 2, "warmup": 0, "progress": False}
    model = CircularRegressor(kernel=kernel, **few).fit(hours, np.sin(hours[:, 0]))
    (fewer,) = seen
    assert 450 <= fewer.n <= 600
    assert fewer.is_sparse
    gaps = np.diff(np.sort(fewer.X[:, 0]))
    assert np.median(gaps) == 1.0, "as dense as all"
    assert (gaps > 1.0).sum() >= 15, "in groups"
    assert gaps.max() < 1200.0, "all over the series"
    np.testing.assert_allclose(fewer.observed, np.sin(fewer.X[:, 0]), atol=1e-12)
    assert f"learned from {fewer.n} of the 9,000 observations" in str(model.verdict())
    post = model.posterior([[4321.0], [8999.5]])
    assert post.y.shape == (9000,)
    assert post._predictive.kriging.neighbors == 40
    with pytest.raises(InputError, match="likelihoods"):
        model.loo()


# Other data


LATER = np.mod(Y + 25.0, 360.0)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_columns_of_other_data_are_matched_by_name(model, kind):
    expected = model.condition(FRAME, LATER)
    other = model.condition(kind(FRAME[["kind", "north", "east"]].assign(remark="extra")), LATER)
    np.testing.assert_array_equal(other.predict(NEW), expected.predict(NEW))
    np.testing.assert_array_equal(other.data_.table.values, expected.data_.table.values)


def test_a_model_with_other_data_beside_the_one_that_was_learned(model):
    """`tests/exactness` has its predictions against NumPy."""
    later = model.condition(FRAME[:7], LATER[:7])
    for name, draws in model.parameters.items():
        np.testing.assert_array_equal(later.parameters[name], draws)
    assert later.posterior(NEW).y.tolist() == pytest.approx(LATER[:7])
    assert model.data_.radians.shape == (12,), "the model itself stays as it was"
    assert "The parameters were learned from other data." in later.verdict().sentences
    assert "The parameters were learned from other data." not in model.verdict().sentences
    with pytest.raises(InputError, match="likelihoods"):
        later.loo()


def test_other_data_equal_to_the_same_data(model):
    again = model.condition(FRAME, Y)
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def test_other_data_with_noise(noisy):
    """Angles of the process are drawn anew, about the new observations; 0.3 is far from both seeds' scatter."""
    later = noisy.condition(LINE, SINE + 1.5)
    turned = later.posterior(LINE).mean - noisy.posterior(LINE).mean
    np.testing.assert_allclose(turned, 1.5, atol=0.3)
    assert later._learned.tree["posterior"]["latent"].shape[2] == 9
    fewer = noisy.condition(LINE[:4], SINE[:4])
    assert fewer._learned.tree["posterior"]["latent"].shape[2] == 4
    assert fewer.posterior(LINE).draws.shape[2] == 9
    with pytest.raises(InputError, match="the model has no known noise for each row: leave it out"):
        noisy.condition(LINE, SINE, noise=np.full(9, 3.0))


def test_repeated_other_data_with_noise(noisy):
    twice = noisy.condition(np.repeat(LINE, 2, axis=0), np.repeat(SINE, 2))
    assert "Nugget" in twice.posterior(LINE).attributes["kernel"], "rows of one location differ by a little"
    assert np.isfinite(twice.predict(LINE)).all()


def test_other_data_with_a_noise_for_each_row():
    kernel = 1.0 * kernels.Exponential(priors.LogNormal(0, 1))
    fitted = CircularRegressor(**FEW | {"period": 2 * np.pi}, kernel=kernel, noise=np.full(9, 20.0)).fit(
        LINE, SINE
    )
    angles = SINE.copy()
    angles[4] += 2.0
    sure, doubted = (
        fitted.condition(LINE, angles, noise=np.where(np.arange(9) == 4, chi, 20.0)).predict(LINE[[4]])[0]
        for chi in (1e4, 1e-3)
    )
    assert abs(sure - angles[4]) < 0.2
    assert abs(doubted - angles[4]) > 1.0
    with pytest.raises(InputError, match=r"known noise for each row: give that of the 9 new rows"):
        fitted.condition(LINE, angles)
    with pytest.raises(InputError, match=r"noise has shape \(2,\) for 9 observed rows"):
        fitted.condition(LINE, angles, noise=[1.0, 2.0])


# Files


CHILD = """
import json, sys, warnings
import numpy as np, pandas as pd
import vmqp
warnings.simplefilter("ignore")
model = vmqp.load(sys.argv[1])
new = pd.read_json(sys.argv[2], dtype={"east": float, "north": float})
post = model.posterior(new)
later = model.condition(pd.read_json(sys.argv[3], dtype={"east": float, "north": float}), json.loads(sys.argv[4]))
print(json.dumps({
    "class": type(model).__name__, "mean": post.mean.tolist(), "interval": post.interval().tolist(),
    "draws": post.draws.tolist(), "verdict": str(post.verdict()), "loo": model.loo().elpd,
    "condition": later.predict(new).tolist(), "simulate": model.simulate(new, 5).tolist(),
}))
"""


def test_a_model_in_another_process(model, tmp_path):
    model.save(tmp_path / "model.nc")
    NEW.to_json(tmp_path / "new.json", double_precision=15)
    FRAME.to_json(tmp_path / "data.json", double_precision=15)
    given = [tmp_path / "model.nc", tmp_path / "new.json", tmp_path / "data.json", json.dumps(LATER.tolist())]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD), *map(str, given)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found, post = json.loads(done.stdout), model.posterior(NEW)
    assert found["class"] == "CircularRegressor"
    assert found["mean"] == post.mean.tolist()
    assert found["interval"] == post.interval().tolist()
    assert found["draws"] == post.draws.tolist()
    assert found["verdict"] == str(post.verdict())
    assert found["loo"] == model.loo().elpd
    frame = pd.read_json(tmp_path / "data.json", dtype={"east": float, "north": float})
    assert found["condition"] == model.condition(frame, LATER).predict(NEW).tolist()
    assert found["simulate"] == model.simulate(NEW, 5).tolist()


MODELS = {
    "noise": {"noise": priors.HalfNormal(30)},
    "known noise": {"noise": 12.0, "drift": "constant"},
    "noise for each row": {"noise": np.linspace(5.0, 50.0, 9), "noise_new": 7.0},
    "fixed drift": {"concentration": 0.5, "direction": 1.0},
    "no drift": {"concentration": 0},
    "text": {"kernel": "matern32 + nugget"},
    "sparse": {"precision": "vecchia", "neighbors": 5, "parameter_draws": 12},
    "nothing learned": {"kernel": 2.0 * kernels.Exponential(1.0) + kernels.Nugget(0.1), "concentration": 0},
    "in degrees": {"period": "degrees", "metric": "euclidean"},
}


@pytest.mark.parametrize("name", MODELS)
def test_models_are_read_as_they_were_written(name, tmp_path):
    fitted = CircularRegressor(**FEW | {"period": 2 * np.pi} | MODELS[name]).fit(LINE, SINE)
    fitted.save(tmp_path / "model.nc")
    again = vmqp.load(tmp_path / "model.nc")
    new = np.array([[0.7], [9.0]])
    same_predictions(fitted, again, new)
    assert again.n_features_in_ == 1
    for option, value in fitted.get_params().items():
        if option not in ("kernel", "progress"):
            np.testing.assert_array_equal(again.get_params()[option], value, err_msg=option)
    np.testing.assert_array_equal(again.simulate(new, 6), fitted.simulate(new, 6))
    more = {"noise": np.full(9, 3.0)} if name == "noise for each row" else {}
    same_predictions(
        fitted.condition(LINE + 0.1, SINE, **more), again.condition(LINE + 0.1, SINE, **more), new
    )
    again.save(tmp_path / "again.nc")
    same_predictions(vmqp.load(tmp_path / "again.nc"), fitted, new)
    again.fit(LINE, SINE)
    np.testing.assert_array_equal(again.predict(new), fitted.predict(new), "its options learn the same")


def test_a_model_with_other_data_is_read_as_it_was_written(model, tmp_path):
    later = model.condition(FRAME[:7], LATER[:7])
    later.save(tmp_path / "model.nc")
    again = vmqp.load(tmp_path / "model.nc")
    same_predictions(later, again)
    assert again.verdict() == later.verdict()


def test_predictions_are_read_as_they_were_written(model, tmp_path):
    post = model.posterior(NEW)
    post.save(tmp_path / "post.nc")
    again = vmqp.load(tmp_path / "post.nc")
    assert isinstance(again, vmqp.Posterior)
    assert not again.joint
    for name in ("mean", "variance", "draws"):
        np.testing.assert_array_equal(getattr(again, name), getattr(post, name))
    assert again.to_frame().equals(post.to_frame())
    assert str(again.verdict()) == str(post.verdict())
    joint = model.joint_posterior(NEW)
    joint.save(tmp_path / "joint.nc")
    again = vmqp.load(tmp_path / "joint.nc")
    assert again.joint
    np.testing.assert_array_equal(again.draws, joint.draws)
    assert str(again.verdict()) == str(joint.verdict())


def wiggle(a, b):
    return np.exp(-np.abs(a - b).sum(axis=1)) + 0.1 * (np.abs(a - b).sum(axis=1) == 0.0)


def test_a_kernel_with_a_function_is_given_again(tmp_path):
    kernel = priors.HalfNormal(1.0) * kernels.Custom(wiggle)
    fitted = CircularRegressor(**FEW | {"period": 2 * np.pi}, kernel=kernel).fit(LINE, SINE)
    fitted.save(tmp_path / "model.nc")
    fitted.posterior([[0.7]]).save(tmp_path / "post.nc")
    for name in ("model.nc", "post.nc"):
        with pytest.raises(
            InputError, match=r"holds a function, which no file can hold: give it again.*kernel=kernel"
        ):
            vmqp.load(tmp_path / name)
        with pytest.raises(
            InputError, match=r"Exponential.* was given, but .*learned with .*: give that one"
        ):
            vmqp.load(tmp_path / name, kernel=1.0 * kernels.Exponential(1.0))
    same_predictions(fitted, vmqp.load(tmp_path / "model.nc", kernel=kernel), [[0.7]])
    np.testing.assert_array_equal(
        vmqp.load(tmp_path / "post.nc", kernel=kernel).mean, fitted.predict([[0.7]])
    )


def test_damaged_models_are_refused_in_words(model, tmp_path):
    model.save(tmp_path / "model.nc")
    whole = (tmp_path / "model.nc").read_bytes()
    (tmp_path / "cut.nc").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"cut\.nc is damaged or cut short"):
        vmqp.load(tmp_path / "cut.nc")
    tree = xr.load_datatree(tmp_path / "model.nc", engine="h5netcdf")
    facts = json.loads(tree.attrs["vmqp_facts"])
    for change in (
        {"class": "Oracle", "options": {}},
        {"class": "CircularRegressor", "options": {"sead": 1}},
        {"class": 3},
    ):
        tree.attrs["vmqp_facts"] = json.dumps(facts | {"estimator": change})
        tree.to_netcdf(tmp_path / "wrong.nc", engine="h5netcdf")
        with pytest.raises(
            InputError, match=r"description of the model in .*wrong\.nc cannot be read.*damaged"
        ):
            vmqp.load(tmp_path / "wrong.nc")


def test_a_model_is_no_posterior(model, tmp_path):
    from vmqp.posterior.posterior import load

    model.save(tmp_path / "model.nc")
    with pytest.raises(
        InputError, match=r"holds a learned model and no predictions: read it with vmqp\.load"
    ):
        load(tmp_path / "model.nc")


# Joint draws


def test_joint_draws_of_a_model(model):
    joint = model.joint_posterior(NEW, draws=260)
    assert joint.joint
    assert joint.draws.shape == (4, 65, 3)
    table = joint.diagnostics()
    assert table.index.str.startswith("angle[").sum() == 3
    assert "joint draws agree" in str(joint.verdict()) or "chains of the simulation disagree" in str(
        joint.verdict()
    )
    assert joint.to_frame()["kind"].tolist() == ["a", "b", "a"]
    np.testing.assert_array_equal(model.joint_posterior(NEW, draws=260).draws, joint.draws)
    assert model.simulate(NEW, 7).shape == (7, 3)
    assert model.joint_posterior(NEW, draws=7).draws.shape == (4, 50, 3), "enough to compare chains"


def test_chains_that_disagree_are_warned_of(model, monkeypatch):
    monkeypatch.setattr("vmqp.posterior.diagnostics._RHAT_SIMULATED", 0.5)
    with pytest.warns(ConvergenceWarning, match="The chains of the simulation disagree") as said:
        model.simulate(NEW, 5)
    assert said[-1].filename == __file__, "a warning names the line that asked"
