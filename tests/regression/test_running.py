"""What a run of `regress` is told, and what it tells: the call that repeats it, checkpoints, limits."""

import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vmqp
from vmqp import kernels, priors
from vmqp.errors import InputError, TimeLimitError
from vmqp.run import Converged


@pytest.mark.parametrize("transductive", [False, True])
def test_many_new_locations_are_no_reason_for_a_warning(data, few, transductive):
    """Warnings are errors in these tests."""
    X, y, _ = data
    many = np.linspace(0.0, 9.0, 30)[:, None]
    assert vmqp.regress(X, y, many, period=360, transductive=transductive, **few).mean.shape == (30,)


def test_an_option_that_is_not_known():
    with pytest.raises(InputError, match=r"regress has no option 'chain': did you mean 'chains'\?"):
        vmqp.regress([[0.0], [1.0]], [0.0, 1.0], [[2.0]], chain=2)


def test_signature_names_all_options():
    names = list(inspect.signature(vmqp.regress).parameters)
    assert names[:4] == ["X", "y", "X_new", "period"]
    assert "time_limit" in names


CALLS = {
    "defaults": {},
    "text": {"kernel": "exponential(columns=[0]) + nugget"},
    "kernel": {"kernel": priors.HalfNormal(2) * kernels.Gaussian([3.0], columns=[0]) + kernels.Nugget(0.1)},
    "noise": {"noise": priors.Gamma(2, 1), "drift": "mean", "concentration": 0.5, "direction": 90},
    "rows": {"noise": np.arange(1.0, 9.0), "noise_new": np.float64(3.0), "dtype": "float32"},
    "transductive": {"transductive": True, "neighbors": 30},
    "parameter draws": {"parameter_draws": 3},
    "method": {"method": vmqp.learning.Method(sampler="heatbath", outer_steps=3), "thin": 2, "seed": 5},
}


@pytest.mark.parametrize("name", CALLS)
def test_the_call_repeats_the_posterior(data, few, name):
    X, y, X_new = data
    post = vmqp.regress(X, y, X_new, period=360, **CALLS[name], **few)
    assert "progress" not in post.call
    again = eval(post.call, {"vmqp": vmqp, "X": X, "y": y, "X_new": X_new})
    np.testing.assert_array_equal(again.draws, post.draws)


def test_a_long_array_stays_a_name_in_the_call(few):
    X, noise = np.arange(20.0)[:, None], np.full(20, 5.0)
    post = vmqp.regress(X, np.zeros(20), [[3.5]], noise=noise, **few)
    assert ", noise=noise" in post.call


@pytest.mark.parametrize("transductive", [False, True])
def test_a_run_goes_on_from_its_checkpoint(data, few, tmp_path, transductive):
    X, y, X_new = data
    options = few | {"transductive": transductive}
    whole = vmqp.regress(X, y, X_new, period=360, **options | {"draws": 12})
    first = vmqp.regress(X, y, X_new, period=360, checkpoint=tmp_path / "run", **options)
    np.testing.assert_array_equal(first.parameters["lengthscale"], whole.parameters["lengthscale"][:, :5])
    if transductive:
        np.testing.assert_array_equal(first.draws, whole.draws[:, :5])
    resumed = vmqp.regress(X, y, X_new, period=360, checkpoint=tmp_path / "run", **options | {"draws": 12})
    np.testing.assert_array_equal(resumed.draws, whole.draws)
    np.testing.assert_array_equal(resumed.density([10.0, 20.0]), whole.density([10.0, 20.0]))
    # Twelve draws are too few for a tail, which is said and no error.
    assert len(whole.loo().unreliable) == 8
    np.testing.assert_array_equal(resumed.loo().pointwise, whole.loo().pointwise)


def test_the_seed_decides(data, few):
    X, y, X_new = data
    one, same, other = (vmqp.regress(X, y, X_new, period=360, seed=s, **few) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.draws, same.draws)
    assert (one.draws != other.draws).any()


def test_a_rule_stops_the_run(data):
    X, y, X_new = data
    rule = Converged(rhat=100.0, rhat_angles=100.0, ess=1.5)
    post = vmqp.regress(X, y, X_new, period=360, until=rule, chains=2, draws=5000, warmup=5, progress=False)
    assert post.stopped == "converged"
    assert post.draws.shape[1] == 100
    assert "1.5 are asked for" not in str(post.verdict())


def test_a_time_limit_stops_the_run(data, few):
    X, y, X_new = data
    options = few | {"kernel": "exponential + nugget", "draws": 100_000}
    post = vmqp.regress(X, y, X_new, period=360, time_limit=4.0, **options)
    assert post.stopped == "time limit"
    assert 0 < post.draws.shape[1] < 100_000
    with pytest.raises(TimeLimitError):
        vmqp.regress(X, y, X_new, period=360, time_limit=1e-9, transductive=True, **few)


def test_where_the_time_is_too_short_for_chains_the_fast_fit_is_there(data, few):
    X, y, X_new = data
    with pytest.warns(vmqp.ConvergenceWarning, match="time limit came before the chains were of use"):
        post = vmqp.regress(X, y, X_new, period=360, time_limit=1e-9, **few)
    fast = vmqp.regress(X, y, X_new, period=360, inference="fast", progress=False)
    assert post.stopped == "time limit"
    assert not post.verdict().trusted
    assert "these are the predictions of a fast fit" in str(post.verdict())
    np.testing.assert_allclose(post.mean, fast.mean, atol=1e-6)


def test_workers_and_executor_make_no_difference(data, few):
    X, y, X_new = data
    expected = vmqp.regress(X, y, X_new, period=360, **few | {"chains": 2, "draws": 3})
    with ThreadPoolExecutor(1) as executor:
        own = vmqp.regress(X, y, X_new, period=360, executor=executor, **few | {"chains": 2, "draws": 3})
    one = vmqp.regress(X, y, X_new, period=360, workers=1, **few | {"chains": 2, "draws": 3})
    np.testing.assert_array_equal(own.draws, expected.draws)
    np.testing.assert_array_equal(one.draws, expected.draws)


@pytest.mark.parametrize("transductive", [False, True])
def test_single_precision(data, few, transductive):
    X, y, X_new = data
    options = few | {"transductive": transductive}
    single = vmqp.regress(X, y, X_new, period=360, dtype="float32", **options)
    double = vmqp.regress(X, y, X_new, period=360, **options)
    assert single.parameters["lengthscale"].dtype == np.float32
    assert single.draws.dtype == (np.float32 if transductive else np.float64)
    np.testing.assert_allclose(single.draws, double.draws, rtol=1e-5)
    np.testing.assert_allclose(single.mean, double.mean, rtol=1e-5)
