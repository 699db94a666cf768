"""What passes the door also runs: places and angles at the ends of what is accepted, without a warning."""

import numpy as np
import pytest

import vmqp
from vmqp import kernels, priors

X = np.arange(6.0)[:, None]
Y = np.array([350.0, 10.0, 40.0, 30.0, 80.0, 100.0])
NEW = np.array([[2.5], [7.0]])
ALMOST = X + np.array([[0.0], [-1.0 + 1e-13], [0.0], [0.0], [0.0], [0.0]])
FIXED = 1.0 * kernels.Exponential(1.0)

CASES = {
    "large unit": {"X": X * 1e99, "X_new": NEW * 1e99},
    "small unit": {"X": X * 1e-99, "X_new": NEW * 1e-99},
    "one far place": {"X": np.concatenate([X[:5], [[1e50]]])},
    "one far new place": {"X_new": [[2.5], [-1e50]]},
    "far from zero": {"X": X + 1e12, "X_new": NEW + 1e12},
    "units that differ": {"X": X * [[1e-40, 1e40]], "X_new": NEW * [[1e-40, 1e40]]},
    "two rows": {"X": X[:2], "y": Y[:2]},
    "two rows at one place": {"X": X[[0, 0]], "y": Y[:2], "transductive": True},
    "all rows at one place": {"X": np.zeros((6, 1)), "transductive": True},
    "all but one at one place": {"X": np.array([[0.0]] * 5 + [[1.0]])},
    "new places at one place": {"X_new": np.full((4, 1), 2.5)},
    "new places are the observed": {"X_new": X},
    "almost one place": {"X": ALMOST},
    "one angle": {"y": np.full(6, 90.0)},
    "angles on the cut": {"y": np.array([0.0, 360.0, 0.0, 360.0, 359.999, 0.0])},
    "opposite angles": {"y": np.array([0.0, 180.0] * 3)},
    "all round": {"y": np.arange(6) * 60.0},
    "tiny angles": {"y": np.arange(6) * 1e-300},
    "tiny period": {"y": Y * 1e-90, "period": 360e-90},
    "strong drift": {"concentration": 1e12},
    "no drift": {"concentration": 0},
    "strong drift of the mean": {"concentration": 1e6, "drift": "mean"},
    "sharp noise": {"noise": 1e12},
    "blunt noise": {"noise": 1e-12},
    "noise of every size": {"noise": [1e-12, 1e-6, 1.0, 1e3, 1e6, 1e12], "noise_new": [1e-12, 1e12]},
    "learned noise, no variance": {
        "noise": priors.HalfNormal(1e6),
        "kernel": 1e-6 * kernels.Exponential(1.0),
    },
    "large variance": {"kernel": 1e12 * kernels.Exponential(1.0)},
    "small variance": {"kernel": 1e-9 * kernels.Exponential(1.0)},
    "short length scale": {"kernel": 1.0 * kernels.Exponential(1e-300)},
    "long length scale": {"kernel": 1.0 * kernels.Exponential(1e9)},
    "stiff": {"kernel": priors.HalfNormal(1.0) * kernels.Gaussian(3.0)},
    "nothing learned": {"kernel": FIXED, "concentration": 0.5, "direction": 90},
    "no warm-up": {"warmup": 0},
    "only a nugget": {"kernel": kernels.Nugget(1.0)},
    "nearest neighbors": {"precision": "vecchia"},
    "one parameter draw": {"parameter_draws": 1},
    "observed without a nugget": {"kernel": FIXED, "X_new": X},
    "nearly observed without a nugget": {"kernel": FIXED, "X_new": X[:2] + 1e-14},
    "transductive": {"transductive": True},
    "transductive, noise": {"transductive": True, "noise": 5.0},
    "linear": {"kernel": 1.0 * kernels.Linear() + kernels.Nugget(0.1)},
}


@pytest.mark.parametrize("name", CASES)
def test_it_runs(name):
    given = {"X": X, "y": Y, "X_new": NEW, "period": 360} | CASES[name]
    few = {"chains": 1, "draws": 3, "warmup": 3, "progress": False}
    post = vmqp.regress(given.pop("X"), given.pop("y"), given.pop("X_new"), **few | given)
    assert np.isfinite(post.draws).all()
    assert np.isfinite(post.variance).all()
    assert np.isfinite(post.interval(0.9)).all()
    density = post.density(np.linspace(0.0, post.period, 90, endpoint=False))
    np.testing.assert_allclose(density.sum(axis=1) * post.period / 90, 1.0, rtol=1e-3)
    assert np.isfinite(post.log_score(post.draws[0, 0])).all()
    assert np.isfinite(post.loo().pointwise).all()
    assert post.to_frame().shape[0] == len(post.X_new)
    assert post.verdict().trusted == (name == "nothing learned"), "one chain of three draws"


def test_places_that_no_kernel_tells_apart_are_refused_in_words():
    with pytest.raises(vmqp.NotPositiveDefiniteError, match=r"add a kernels\.Nugget, or remove places"):
        vmqp.regress(ALMOST, Y, NEW, period=360, noise=5.0, progress=False, chains=1, draws=3, warmup=3)


def test_inputs_without_a_difference_say_nothing():
    """In the transductive mode above they differ from the new ones."""
    with pytest.raises(vmqp.InputError, match="column 0 of X holds 0 in every row"):
        vmqp.regress(np.zeros((6, 1)), Y, NEW, period=360)
