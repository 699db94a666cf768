"""Fast fits: the maximum of the penalized pseudo-likelihood in place of draws, and the choice of the default kernel."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import vmqp
from vmqp import kernels, model, priors
from vmqp.errors import InputError
from vmqp.learning import make_problem
from vmqp.learning.pseudolikelihood import log_pseudolikelihood, maximize
from vmqp.precision import factorise
from vmqp.regression import fitting
from vmqp.regression.selection import select_kernel

RNG = np.random.default_rng(11)
X = RNG.uniform(0.0, 10.0, (60, 2))
Y = np.degrees(0.5 * X[:, 0] + np.sin(0.8 * X[:, 1]) + RNG.vonmises(0.0, 60.0, 60)) % 360.0
NEW = RNG.uniform(0.0, 10.0, (9, 2))
FAST = {"period": 360, "inference": "fast", "progress": False}
NAMED = "matern32 + nugget"


def fitted(**options):
    return vmqp.CircularRegressor(**FAST | options).fit(X, Y)


# The fit


def test_the_maximum_is_that_of_a_fine_grid():
    """Value and place, against the formula in plain NumPy on a grid of two parameters."""
    scale, nugget = priors.LogNormal(1.0, 1.0), priors.HalfNormal(0.1)
    problem = make_problem(
        X,
        np.radians(Y),
        kernel=1.5 * kernels.Matern32(scale) + kernels.Nugget(nugget),
        drift="mean",
        concentration=0.7,
        direction=0.4,
    )
    found = maximize(problem)
    bound, steps = problem.kernel.bind(X), np.linspace(-0.5, 0.5, 41)

    def value(u, v):
        at = {"lengthscale": float(np.exp(u)), "nugget": float(np.exp(v))}
        M = factorise(bound.covariance(at)).M
        field = model.drift_field(M, 0.7, 0.4, "mean")
        logs = float(log_pseudolikelihood(np.radians(Y), M, field))
        return (
            logs + scale.log_density(at["lengthscale"]) + u + nugget.log_density(at["nugget"]) + v
        )  # with the Jacobians

    middle = np.log([found.values["lengthscale"], found.values["nugget"]])
    grid = np.array([[value(middle[0] + a, middle[1] + b) for b in steps] for a in steps])
    best = np.unravel_index(grid.argmax(), grid.shape)
    assert abs(steps[best[0]]) < 0.026
    assert abs(steps[best[1]]) < 0.026
    assert found.value == pytest.approx(value(*middle), abs=1e-8)
    assert found.value >= grid.max() - 1e-9
    assert found.converged


@pytest.mark.parametrize("n", [40, 300, 900])
def test_all_sizes_end_at_a_maximum(n):
    """With one stage, with a part first, and with neighbors: no other start comes higher."""
    rng = np.random.default_rng(n)
    places = rng.uniform(0.0, 10.0, (n, 2))
    angles = 0.5 * places[:, 0] + np.sin(0.8 * places[:, 1]) + 0.15 * rng.standard_normal(n)
    kernel = priors.HalfNormal(1.0) * kernels.Exponential(priors.LogNormal(1.0, 1.0))
    problem = make_problem(
        places, angles, kernel=kernel + kernels.Nugget(priors.HalfNormal(0.1)), drift="mean"
    )
    found = maximize(problem)
    assert found.converged
    for shift in (-1.0, 1.0):
        moved = found.t + shift * rng.standard_normal(len(found.t))
        assert maximize(problem, start=moved).value <= found.value + 1e-4


@pytest.mark.parametrize("n", [30, 300, 900])
def test_angles_that_are_all_the_same_are_fitted(n):
    """The variances run to 0, as far as the search goes."""
    places = np.random.default_rng(n).uniform(0.0, 10.0, (n, 2))
    fast = vmqp.CircularRegressor(**FAST).fit(places, np.full(n, 20.0))
    np.testing.assert_allclose(fast.predict(NEW), 20.0, atol=1e-3)
    assert fast.posterior(NEW).width(0.9).max() < 30.0


def test_predictions_are_the_closed_form_at_the_fitted_parameters():
    fast = fitted(kernel=NAMED)
    at = {name: float(values[0, 0]) for name, values in fast.parameters.items()}
    fixed = at["variance"] * kernels.Matern32(at["lengthscale"]) + kernels.Nugget(at["nugget"])
    drift = {"concentration": at["concentration"], "direction": at["direction"]}
    same = vmqp.CircularRegressor(period=360, kernel=fixed, **drift, draws=10, progress=False).fit(X, Y)
    one, other = fast.posterior(NEW), same.posterior(NEW)
    np.testing.assert_allclose(one.mean, other.mean, atol=1e-9)
    np.testing.assert_allclose(one.density([10.0, 200.0]), other.density([10.0, 200.0]), rtol=1e-9)
    np.testing.assert_allclose(one.interval(0.9), other.interval(0.9), atol=1e-3)


def test_leave_one_out_is_the_log_score_of_each_left_out_angle():
    fast = fitted(kernel=NAMED)
    found = fast.loo()
    assert not found.unreliable.size
    for row in (0, 17, 59):
        rest = np.arange(60) != row
        left = fast.condition(X[rest], Y[rest]).posterior(X[[row]]).log_score(Y[[row]])
        assert found.pointwise[row] == pytest.approx(left[0], abs=1e-6)
    with pytest.raises(InputError, match="learned from other"):
        fast.condition(X[1:], Y[1:]).loo()


def test_it_says_that_the_uncertainty_of_parameters_is_left_out(tmp_path):
    fast = fitted(kernel=NAMED)
    verdict = fast.verdict()
    assert verdict.trusted
    assert "Their uncertainty is left out" in str(verdict)
    assert str(fast.posterior(NEW).verdict()) == str(verdict), "no Monte Carlo error is claimed"
    assert fast.posterior(NEW).stopped == "optimum"
    fast.save(tmp_path / "model.nc")
    again = vmqp.load(tmp_path / "model.nc")
    assert again.verdict() == verdict
    np.testing.assert_array_equal(again.predict(NEW), fast.predict(NEW))
    assert fast.condition(X, (Y + 10.0) % 360.0).verdict().trusted


def test_draws_are_as_many_as_one_asks_for():
    fast = fitted(kernel=NAMED)
    draws = fast.posterior(NEW).draws
    assert draws.shape == (1, 1000, 9)
    assert len(np.unique(draws[0, :, 0])) == 1000
    assert fast.sample(NEW, 700).shape == (700, 9)
    assert fast.simulate(NEW, 20).shape == (20, 9)


@pytest.mark.parametrize("noise", [priors.HalfNormal(50.0), 30.0, np.full(60, 40.0)])
def test_with_noise_the_angles_of_the_process_are_drawn_at_the_fit(noise):
    fast = fitted(kernel="matern32", noise=noise)
    exact = fitted(kernel=NAMED)
    assert fast.verdict().trusted
    assert np.abs(np.mod(fast.predict(NEW) - exact.predict(NEW) + 180.0, 360.0) - 180.0).max() < 15.0
    assert ("noise" in fast.parameters) == isinstance(noise, priors.Prior)


def test_a_kernel_without_a_compiled_form_is_fitted_too():
    def triangle(a, b, *, width):
        return np.clip(1.0 - np.abs(a - b)[:, 0] / width, 0.0, None)

    kernel = priors.HalfNormal(1.0) * kernels.Custom(triangle, width=priors.HalfNormal(10.0))
    fast = vmqp.CircularRegressor(**FAST, kernel=kernel + kernels.Nugget(0.05)).fit(X[:, :1], Y)
    assert np.isfinite(fast.predict(X[:3, :1])).all()
    assert "left out" in str(fast.verdict())


def test_cross_validation_and_comparison_run_with_it():
    own = vmqp.CircularRegressor(**FAST, kernel=NAMED)
    scores = cross_val_score(own, X, Y, cv=3)
    assert scores.shape == (3,)
    assert (scores > -0.3).all()
    rough = vmqp.CircularRegressor(**FAST, kernel="exponential + nugget")
    table = vmqp.comparison.compare({"smooth": own, "rough": rough}, X, Y, folds=2, progress=False).table
    assert not table["untrusted"].any()
    assert np.isfinite(table["log_score"]).all()


def test_new_locations_cannot_belong_to_a_fast_fit():
    with pytest.raises(InputError, match="transductive=True was given with inference='fast'"):
        fitted(transductive=True)


def test_a_fit_that_is_cut_short_is_not_trusted(monkeypatch):
    fast = fitted(kernel=NAMED, time_limit=1e-9)
    if not fast._model.tree.attrs["converged"]:
        assert not fast.verdict().trusted
        assert "has not ended at a maximum" in str(fast.verdict())
    fast._model.tree.attrs["converged"] = 0
    assert not fast.verdict().trusted


# The kernel


def wave(seed, n=200):
    rng = np.random.default_rng(seed)
    places = rng.uniform(0.0, 10.0, (n, 2))
    return places, np.degrees(np.sin(places @ [0.4, 0.3]) + rng.vonmises(0.0, 800.0, n)) % 360.0


def test_smooth_angles_get_a_smooth_kernel_and_rough_ones_a_rough_kernel():
    smooth = vmqp.CircularRegressor(**FAST).fit(*wave(1))
    assert smooth.kernel_choice.index[0].startswith("Matérn 5/2")
    assert smooth.kernel_choice.loc["exponential", "difference"] < -20.0
    walk = np.cumsum(np.random.default_rng(2).normal(0.0, 20.0, 300)) % 360.0
    rough = vmqp.CircularRegressor(**FAST).fit(np.arange(300.0)[:, None], walk)
    assert rough.kernel_choice.index[0] == "exponential"
    assert len(rough.kernel_choice) == 3, "one column has one length scale"


def test_the_choice_is_told_in_the_verdict_and_kept(tmp_path):
    places, angles = wave(1, 80)
    chosen = vmqp.CircularRegressor(**FAST).fit(places, angles)
    table = chosen.kernel_choice
    assert list(table) == ["elpd", "difference", "se"]
    assert len(table) == 6
    assert table["difference"].iloc[0] == table["se"].iloc[0] == 0.0
    first, second = table.index[:2]
    assert f"Of 6 kernels {first} was chosen by leave-one-out" in str(chosen.verdict())
    assert second in str(chosen.verdict())
    chosen.save(tmp_path / "model.nc")
    pd.testing.assert_frame_equal(vmqp.load(tmp_path / "model.nc").kernel_choice, table)
    post = chosen.posterior(places[:2] + 0.1)
    pd.testing.assert_frame_equal(post.kernel_choice, table)
    # The elpd of the choice is the leave-one-out of the model, in radians.
    assert table["elpd"].iloc[0] == pytest.approx(chosen.loo().elpd + 80 * np.log(180.0 / np.pi), abs=1e-3)


def test_of_many_observations_all_kernels_see_the_same():
    places, angles = wave(5, 700)
    table = vmqp.CircularRegressor(**FAST).fit(places * [1.0, 2.0], angles).kernel_choice
    assert len(table) == 6
    assert np.isfinite(table.to_numpy()).all()
    assert table["difference"].abs().max() < 1000.0


def test_a_given_kernel_is_kept_and_nothing_is_chosen():
    assert not len(fitted(kernel=NAMED).kernel_choice)
    assert "was chosen" not in str(fitted(kernel=NAMED).verdict())
    frame = pd.DataFrame({"species": list("abc") * 20})
    alone = vmqp.CircularRegressor(**FAST).fit(frame, Y)
    assert not len(alone.kernel_choice), "of categories alone there is one kernel"


def test_chains_learn_with_the_chosen_kernel():
    places, angles = wave(3, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vmqp.ConvergenceWarning)
        drawn = vmqp.CircularRegressor(period=360, chains=2, draws=20, warmup=20, progress=False).fit(
            places, angles
        )
    fast = vmqp.CircularRegressor(**FAST).fit(places, angles)
    assert drawn._model.kernel == fast._model.kernel
    pd.testing.assert_frame_equal(drawn.kernel_choice, fast.kernel_choice)


def test_within_the_margin_the_first_is_taken(monkeypatch):
    """And beyond it the best."""
    places, angles = wave(4, 60)
    problem = {"drift": "mean"}
    prior = priors.LogNormal(1.0, 1.0)
    offered = {
        name: priors.HalfNormal(1.0) * family(prior) + kernels.Nugget(priors.HalfNormal(0.1))
        for name, family in (("rough", kernels.Exponential), ("smooth", kernels.Matern52))
    }

    def choose():
        return select_kernel(
            offered, lambda kernel: make_problem(places, np.radians(angles), kernel=kernel, **problem)
        )

    assert choose().table[0]["kernel"] == "smooth"
    gap = -float(choose().table[1]["difference"])
    monkeypatch.setattr("vmqp.regression.selection.MARGIN", gap + 0.1)
    assert choose().table[0]["kernel"] == "rough"
    assert choose().kernel == offered["rough"]


def test_length_scales_that_ran_away_are_named_with_the_remedy():
    frame = pd.DataFrame(X, columns=["east", "idle"])
    angles = np.degrees(np.sin(X[:, 0])) % 360.0
    scales = [priors.LogNormal(0.0, 1.0), priors.LogNormal(9.0, 1.0)]
    kernel = priors.HalfNormal(1.0) * kernels.Exponential(scales) + kernels.Nugget(0.01)
    away = vmqp.CircularRegressor(**FAST, kernel=kernel).fit(frame, angles)
    assert "lengthscale_idle is" in str(away.verdict())
    assert "times the extent of the data" in str(away.verdict())
    assert "Leave it out of the inputs" in str(away.verdict())
    assert "lengthscale_east" not in str(away.verdict())
    alone = priors.HalfNormal(1.0) * kernels.Exponential(priors.LogNormal(11.0, 0.2)) + kernels.Nugget(0.01)
    shared = vmqp.CircularRegressor(**FAST, kernel=alone).fit(frame, 5.0 * np.sin(np.arange(60.0)) + 50.0)
    assert "give it a number or a narrower prior" in str(shared.verdict())
    assert "times the extent" not in str(fitted(kernel=NAMED).verdict())


# Many observations, and how long it takes


def test_from_500_observations_on_chains_have_a_sparse_precision(monkeypatch):
    seen = []
    monkeypatch.setattr(
        fitting, "run_task", lambda task, *_: seen.append(task.problem) or pytest.skip("seen")
    )
    rng = np.random.default_rng(1)
    for n, sparse in ((500, False), (501, True)):
        places = rng.uniform(0.0, 10.0, (n, 2))
        with pytest.raises(pytest.skip.Exception):
            vmqp.CircularRegressor(kernel=NAMED, progress=False).fit(places, np.sin(places[:, 0]))
        assert seen[-1].is_sparse == sparse
        assert seen[-1].n == n


def test_an_estimate_of_the_time_comes_before_the_first_draw(monkeypatch, capsys):
    monkeypatch.setattr(fitting, "_QUICK", 0.0)
    monkeypatch.setattr(fitting, "_LONG", 0.0)
    options = {"kernel": NAMED, "chains": 2, "draws": 20, "warmup": 30}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vmqp.ConvergenceWarning)
        one = vmqp.CircularRegressor(**options).fit(X, np.radians(Y))
        told = capsys.readouterr().err
        silent = vmqp.CircularRegressor(**options, progress=False).fit(X, np.radians(Y))
    assert "Learning from 60 observations takes about" in told
    assert "about 50 iterations of 2 chains" in told
    assert "--fast" in told
    assert capsys.readouterr().err == ""
    for name, draws in one.parameters.items():
        np.testing.assert_array_equal(draws, silent.parameters[name], err_msg="the estimate changes no draw")


def test_attributes_are_plain_text():
    """A file holds them."""
    places, angles = wave(1, 40)
    attributes = vmqp.CircularRegressor(**FAST).fit(places, angles)._model.tree.attrs
    assert json.loads(attributes["kernel_choice"])[0]["difference"] == 0.0
    assert attributes["inference"] == "fast"
    assert "warmup" not in attributes
