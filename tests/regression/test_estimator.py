"""The estimator in the manner of scikit-learn: its own checks, and what they do not ask."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import vmqp
from vmqp import CircularRegressor, kernels, priors
from vmqp.errors import InputError
from vmqp.regression import fitting

# The checks of scikit-learn. Their targets have any sign and reach beyond 100, so that a period is given that holds
# them: values outside the period are refused by design. Nothing is learned, which is fast and asks the same questions.

CHECKED = CircularRegressor(
    period=1000,
    kernel=1.0 * kernels.Exponential(1.0) + kernels.Nugget(0.1),
    concentration=1.0,
    direction=0.0,
    sampler="heatbath",
    chains=1,
    draws=1,
    warmup=0,
    progress=False,
)
EXCEPTIONS = {
    "check_n_features_in_after_fitting": "the error names the argument, X_new, where the check looks for 'X has'",
    "check_parameters_default_constructible": "defaults are priors, immutable, which the check does not know",
    "check_supervised_y_2d": "a table of one column is taken for what it is, without a warning",
}


@parametrize_with_checks([CHECKED], expected_failed_checks=lambda _: EXCEPTIONS)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


# Our own

X = np.arange(8.0)[:, None]
Y = np.mod(40.0 * X[:, 0] + 300.0, 360.0)
NEW = np.array([[2.5], [9.0]])
FEW = {"period": 360, "chains": 1, "draws": 10, "warmup": 10, "progress": False}


@pytest.fixture
def fitted():
    """New for each test, for some change its options."""
    return CircularRegressor(**FEW).fit(X, Y)


@pytest.fixture
def runs(monkeypatch):
    """How often chains have run."""
    seen = []
    run_chains = fitting.run_chains
    monkeypatch.setattr(fitting, "run_chains", lambda *a, **k: seen.append(k) or run_chains(*a, **k))
    return seen


def test_the_class_and_the_function_agree(fitted):
    expected = vmqp.regress(X, Y, NEW, **FEW)
    np.testing.assert_array_equal(fitted.posterior(NEW).draws, expected.draws)
    np.testing.assert_array_equal(fitted.predict(NEW), expected.mean)
    np.testing.assert_array_equal(fitted.sample(NEW), expected.draws.reshape(-1, 2))
    assert fitted.score(NEW, [10.0, 20.0]) == -expected.crps([10.0, 20.0]).mean()


def test_a_better_prediction_has_a_higher_score(fitted):
    mean = fitted.predict(NEW)
    assert fitted.score(NEW, mean) > fitted.score(NEW, mean + 90.0) > fitted.score(NEW, mean + 180.0)


def test_some_samples(fitted):
    every, some = fitted.sample(NEW), fitted.sample(NEW, 3)
    np.testing.assert_array_equal(some, every[[0, 4, 9]])


def test_only_learning_runs_chains(runs):
    fitted = CircularRegressor(**FEW).fit(X, Y)
    assert len(runs) == 1
    fitted.predict(NEW)
    fitted.sample(NEW + 0.1)
    fitted.score(NEW, [10.0, 20.0])
    fitted.condition(X, Y + 5.0).posterior(NEW).interval(0.5)
    assert len(runs) == 1


def test_the_same_locations_run_once_where_it_is_transductive(runs):
    fitted = CircularRegressor(**FEW, transductive=True).fit(X, Y)
    assert len(runs) == 0, "new locations belong to the model"
    fitted.predict(NEW)
    fitted.sample(NEW.tolist())
    fitted.score(NEW, [10.0, 20.0])
    fitted.simulate(NEW, 3)
    assert len(runs) == 1
    fitted.predict(NEW + 0.1)
    fitted.predict(NEW)
    assert len(runs) == 3
    assert fitted.set_params(draws=7).posterior(NEW).draws.shape[1] == 7
    other = fitted.fit(X, Y + 5.0).posterior(NEW)
    np.testing.assert_allclose(other.y, Y + 5.0)
    assert len(runs) == 5


@pytest.mark.parametrize(
    "ask", ["verdict", "diagnostics", "summary", "loo", "parameters", "save", "condition", "joint_posterior"]
)
def test_what_a_transductive_model_knows_only_with_new_locations(ask, tmp_path):
    fitted = CircularRegressor(**FEW, transductive=True).fit(X, Y)
    given = {"save": (tmp_path / "model.nc",), "condition": (X, Y), "joint_posterior": (NEW,)}.get(ask, ())
    with pytest.raises(InputError, match=r"learned together with the new locations: ask posterior\(X_new\)"):
        getattr(fitted, ask)(*given)
    assert list(tmp_path.iterdir()) == []


def test_simulate_where_it_is_transductive():
    fitted = CircularRegressor(**FEW, transductive=True).fit(X, Y)
    np.testing.assert_array_equal(fitted.simulate(NEW, 3), fitted.sample(NEW, 3))


def test_a_result_that_is_changed_is_a_copy(fitted):
    before = fitted.predict(NEW)
    fitted.predict(NEW)[:] = 0.0
    np.testing.assert_array_equal(fitted.predict(NEW), before)


def test_options_of_learning_count_in_fit_and_those_of_predictions_at_once(fitted, runs):
    assert fitted.set_params(draws=7).posterior(NEW).draws.shape[1] == 10
    assert fitted.fit(X, Y).posterior(NEW).draws.shape[1] == 7
    few = fitted.set_params(parameter_draws=2).posterior(NEW)
    assert few._predictive.sets == 2
    assert (few.mean != fitted.set_params(parameter_draws=7).posterior(NEW).mean).all()
    other = fitted.fit(X, Y + 5.0).posterior(NEW)
    np.testing.assert_allclose(other.y, Y + 5.0)
    assert len(runs) == 2


def test_the_period_is_that_of_the_data(fitted):
    fitted.set_params(period=24)
    post = fitted.posterior(NEW)
    assert post.period == 360.0
    assert "period=360" in post.call


def test_not_fitted():
    for transductive in (False, True):
        model = CircularRegressor(transductive=transductive)
        for ask in ("predict", "posterior", "sample", "simulate", "joint_posterior", "save"):
            with pytest.raises(NotFittedError):
                getattr(model, ask)(NEW)
        for ask in ("verdict", "diagnostics", "summary", "loo"):
            with pytest.raises(NotFittedError):
                getattr(model, ask)()
        with pytest.raises(NotFittedError):
            model.condition(X, Y)
        with pytest.raises(NotFittedError):
            _ = model.parameters
    with pytest.raises(NotFittedError):
        CircularRegressor().score(NEW, [1.0, 2.0])


def test_names_of_features():
    frame = pd.DataFrame({"east": X[:, 0], "north": X[:, 0] ** 2})
    regressor = CircularRegressor(**FEW)
    assert regressor.fit(frame, Y) is regressor
    assert regressor.feature_names_in_.tolist() == ["east", "north"]
    assert regressor.n_features_in_ == 2
    regressor.fit(X, Y)
    assert regressor.n_features_in_ == 1
    assert not hasattr(regressor, "feature_names_in_")


def test_a_fit_that_fails_is_no_fit():
    regressor = CircularRegressor(**FEW)
    with pytest.raises(InputError, match="outside a period"):
        regressor.fit(X, Y * 100.0)
    with pytest.raises(NotFittedError):
        regressor.predict(NEW)


def test_parameters_and_clones():
    kernel = priors.HalfNormal(1.0) * kernels.Gaussian(priors.LogNormal(0.0, 1.0))
    few = {"chains": 1, "draws": 3, "warmup": 3, "progress": False}
    regressor = CircularRegressor(kernel=kernel, noise=np.full(8, 5.0), seed=3, **few)
    assert regressor.get_params()["kernel"] is kernel
    assert regressor.set_params(seed=4, drift="mean") is regressor
    copy = clone(regressor.fit(X, Y / 60.0))
    assert copy.get_params() == regressor.get_params()
    assert not hasattr(copy, "data_")
    with pytest.raises(ValueError, match="Invalid parameter 'sead'"):
        regressor.set_params(sead=1)
    assert is_regressor(regressor)


def test_an_executor_survives_cloning():
    """scikit-learn copies what it clones, and an executor cannot be copied."""
    with ThreadPoolExecutor(1) as executor:
        assert clone(CircularRegressor(executor=executor)).executor is executor


def test_representation_names_what_was_given():
    text = repr(CircularRegressor(period=360, kernel=1.0 * kernels.Exponential(2.0)))
    assert "period=360" in text
    assert "Exponential(lengthscale=2.0)" in text
    assert "CircularRegressor" in CircularRegressor()._repr_html_()


def test_pickling_keeps_the_posterior(fitted, runs):
    before = fitted.predict(NEW)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(NEW), before)
    np.testing.assert_array_equal(again.posterior(NEW).draws, fitted.posterior(NEW).draws)


def test_cross_validation():
    scores = cross_val_score(CircularRegressor(**FEW), X, Y, cv=4)
    assert scores.shape == (4,)
    assert ((scores <= 0.0) & (scores >= -2.0)).all()


def test_pipeline_and_search():
    pipeline = make_pipeline(StandardScaler(), CircularRegressor(**FEW)).fit(X * 1000.0, Y)
    expected = CircularRegressor(**FEW).fit(StandardScaler().fit_transform(X * 1000.0), Y)
    new = StandardScaler().fit(X * 1000.0).transform(NEW * 1000.0)
    np.testing.assert_array_equal(pipeline.predict(NEW * 1000.0), expected.predict(new))
    grid = {"circularregressor__kernel": ["exponential + nugget", "gaussian + nugget"]}
    search = GridSearchCV(pipeline, grid, cv=2, refit=False).fit(X, Y)
    assert len(search.cv_results_["mean_test_score"]) == 2
