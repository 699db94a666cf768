"""`WrappedGP` and `ProjectedGP` in use: the methods of `CircularRegressor`, runs, posteriors, and what is refused.

What they predict is compared with plain NumPy in tests/peers/test_predictions.py.
"""

import inspect
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import vmqp
from vmqp import CircularRegressor, kernels, priors
from vmqp.errors import InputError, NotPositiveDefiniteError, VmqpError
from vmqp.peers import ProjectedGP, WrappedGP
from vmqp.regression import fitting
from vmqp.report.build import make_content

# Far too few draws to converge: what is tested is that the parts fit together.
pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")

X = np.arange(8.0)[:, None]
Y = np.mod(300.0 + 40.0 * X[:, 0] + 10.0 * np.cos(3.0 * X[:, 0]), 360.0)
NEW = np.array([[2.5], [9.0]])
FEW = {"period": 360, "chains": 2, "draws": 40, "warmup": 30, "progress": False}
PEERS = pytest.mark.parametrize("peer", [WrappedGP, ProjectedGP])
OWN = {"mean_x", "mean_y", "stretch_x", "stretch_y"}
PARAMETERS = {
    WrappedGP: {"variance", "lengthscale", "nugget", "direction"},
    ProjectedGP: {"lengthscale", "nugget"} | OWN,
}


@pytest.fixture(scope="module")
def posteriors():
    """One short run of each."""
    with pytest.warns(vmqp.errors.ConvergenceWarning):
        return {peer: peer(**FEW).fit(X, Y).posterior(NEW) for peer in (WrappedGP, ProjectedGP)}


@pytest.fixture
def runs(monkeypatch):
    """How often chains have run."""
    seen = []
    run_chains = fitting.run_chains
    monkeypatch.setattr(fitting, "run_chains", lambda *a, **k: seen.append(k) or run_chains(*a, **k))
    return seen


# As an estimator


@PEERS
def test_options_are_those_of_the_regressor(peer):
    known = inspect.signature(CircularRegressor).parameters
    for name, option in inspect.signature(peer).parameters.items():
        assert option.kind is option.KEYWORD_ONLY
        if name not in ("mean_scale", "stretch_scale"):
            assert option.default is known[name].default or option.default == known[name].default


@PEERS
def test_parameters_and_clones(peer):
    kernel = priors.HalfNormal(1.0) * kernels.Gaussian(priors.LogNormal(0.0, 1.0))
    regressor = peer(kernel=kernel, seed=3)
    assert regressor.get_params()["kernel"] is kernel
    assert regressor.set_params(seed=4) is regressor
    copy = clone(regressor.fit(X, Y / 60.0))
    assert copy.get_params() == regressor.get_params()
    assert not hasattr(copy, "data_")
    assert is_regressor(regressor)
    with pytest.raises(ValueError, match="Invalid parameter 'noise'"):
        regressor.set_params(noise=1)
    assert peer.__name__ in repr(peer(period=360))


@PEERS
def test_not_fitted(peer):
    for ask in ("predict", "posterior", "sample", "simulate", "joint_posterior"):
        with pytest.raises(NotFittedError):
            getattr(peer(), ask)(NEW)
    with pytest.raises(NotFittedError):
        peer().condition(X, Y)


@PEERS
def test_predictions_are_of_one_run(peer, runs):
    fitted = peer(**FEW).fit(X, Y)
    post = fitted.posterior(NEW)
    np.testing.assert_array_equal(fitted.predict(NEW), post.mean)
    np.testing.assert_array_equal(fitted.sample(NEW), post.draws.reshape(-1, 2))
    assert fitted.score(NEW, post.mean) > fitted.score(NEW, post.mean + 180.0)
    assert len(runs) == 1
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(NEW), post.mean)
    np.testing.assert_array_equal(fitted.set_params(draws=7).predict(NEW), post.mean)
    assert len(runs) == 1
    assert fitted.fit(X, Y).posterior(NEW).draws.shape == (2, 7, 2)


@PEERS
def test_cross_validation(peer):
    scores = cross_val_score(peer(**FEW | {"chains": 1, "draws": 10, "warmup": 10}), X, Y, cv=2)
    assert ((scores <= 0.0) & (scores >= -2.0)).all()


@PEERS
def test_names_and_categories(peer):
    table = pd.DataFrame({"species": ["ant", "bee"] * 4, "temp": np.arange(8.0)})
    fitted = peer(**FEW | {"period": 2 * np.pi}).fit(table, np.linspace(-1, 1, 8))
    assert fitted.feature_names_in_.tolist() == ["species", "temp"]
    frame = fitted.posterior(table.iloc[:2]).to_frame()
    assert frame["species"].tolist() == ["ant", "bee"]


# The posterior


@PEERS
def test_what_a_posterior_tells(peer, posteriors):
    post = posteriors[peer]
    assert set(post.parameters) == PARAMETERS[peer]
    assert post.draws.shape == (2, 40, 2)
    assert ((post.draws >= 0.0) & (post.draws < 360.0)).all()
    assert abs(np.mod(post.mean[0] - 40.0 + 180.0, 360.0) - 180.0) < 60.0
    assert post.interval(0.9).shape == (2, 2)
    assert (post.width(0.5) <= post.width(0.9)).all()
    assert post.variance[0] < post.variance[1], "less is known away from the data"
    grid = np.arange(0.0, 360.0, 0.5)
    np.testing.assert_allclose(post.density(grid).sum(axis=1) * 0.5, 1.0, rtol=1e-3)
    fine = np.arange(0.0, 360.0, 0.05)
    at = post.density(fine)
    for score, density, truth in zip(post.log_score([40.0, 200.0]), at, (40.0, 200.0), strict=True):
        assert score == pytest.approx(np.log(density[round(truth / 0.05)]), abs=0.05)
    assert np.isfinite(post.loo().pointwise).all()
    assert np.isfinite(post.crps([40.0, 200.0], distance="arc")).all()
    assert ((post.pit([40.0, 200.0]) >= 0.0) & (post.pit([40.0, 200.0]) <= 1.0)).all()
    assert len(post.regions()) == len(post.modes()) == 2
    assert set(post.summary().index) == PARAMETERS[peer]
    assert post.to_frame().shape[0] == 2
    assert len(post.diagnostics()) >= len(PARAMETERS[peer])
    assert isinstance(str(post.verdict()), str)
    assert post.attributes["model"].endswith("Gaussian process")


@PEERS
def test_the_density_is_that_of_the_draws(peer):
    """The probability of a sector is the integral of the density, and the fraction of draws in it.

    That of 400 draws, which are independent given the mixture, is off by five standard errors with less than 1e-6.
    """
    post = peer(**FEW | {"draws": 200, "seed": 5}).fit(X, Y).posterior(NEW)
    grid = np.arange(0.0, 360.0, 0.5)
    for row, lower, upper in ((0, 0.0, 45.0), (1, 90.0, 220.0)):
        inside = (grid > lower) & (grid < upper)
        density = post.density(grid)[row]
        mass = 0.5 * (density[inside].sum() + 0.5 * density[np.isin(grid, (lower, upper))].sum())
        found = post.probability(lower, upper)[row]
        assert found == pytest.approx(mass, abs=1e-4)
        drawn = post.draws[..., row]
        fraction = ((drawn >= lower) & (drawn < upper)).mean()
        assert fraction == pytest.approx(found, abs=5.0 * np.sqrt(found * (1.0 - found) / 400.0))


@PEERS
def test_the_call_repeats_the_posterior(peer, posteriors):
    post = posteriors[peer]
    assert post.call.startswith(f"vmqp.peers.{peer.__name__}(")
    assert "progress" not in post.call
    again = eval(post.call, {"vmqp": vmqp, "X": X, "y": Y, "X_new": NEW})
    np.testing.assert_array_equal(again.draws, post.draws)


@PEERS
def test_what_is_loaded_is_what_was_saved(peer, posteriors, tmp_path):
    post = posteriors[peer]
    post.save(tmp_path / "run.nc")
    again = vmqp.load(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.draws, post.draws)
    np.testing.assert_array_equal(again.density([1.0, 200.0]), post.density([1.0, 200.0]))
    np.testing.assert_array_equal(again.loo().pointwise, post.loo().pointwise)
    for name, values in post.parameters.items():
        np.testing.assert_array_equal(again.parameters[name], values)
    assert again.to_frame().equals(post.to_frame())


@PEERS
def test_plots_and_report(peer, posteriors):
    post = posteriors[peer]
    for plot in (post.plot(), post.plot_parameters(), post.plot_rose(0)):
        assert plot is not None
    content = make_content(post)
    assert [fact.value for fact in content.facts if fact.label == "Picture left out"] == []
    assert {row.name for row in content.parameters} == PARAMETERS[peer]


def test_peers_can_be_compared(posteriors):
    wrapped, projected = posteriors.values()
    assert len(wrapped.compare(projected, [40.0, 200.0]))


# Units, turns and order


@PEERS
def test_the_unit_of_the_angles_makes_no_difference(peer, posteriors):
    """Degrees and radians: the same chains, but for the last digits of the conversion."""
    post = peer(**FEW | {"period": 2 * np.pi}).fit(X, np.deg2rad(Y)).posterior(NEW)
    degrees = posteriors[peer]
    gap = np.rad2deg(post.draws) - degrees.draws
    np.testing.assert_allclose(np.mod(gap + 180.0, 360.0) - 180.0, 0.0, atol=1e-6)
    np.testing.assert_allclose(post.parameters["lengthscale"], degrees.parameters["lengthscale"], rtol=1e-6)


@pytest.mark.parametrize("turn", [57.3, 180.0])
def test_turned_data_turn_the_predictions_of_a_wrapped_process(turn, posteriors):
    model = WrappedGP(**FEW).fit(X, np.mod(Y + turn, 360.0))
    post, before = model.posterior(NEW), posteriors[WrappedGP]
    for one, other in (
        (post.draws, before.draws),
        (model.joint_posterior(NEW).draws, WrappedGP(**FEW).fit(X, Y).joint_posterior(NEW).draws),
        (post.mean, before.mean),
        (post.interval(), before.interval()),
    ):
        np.testing.assert_allclose(np.mod(one - other - turn + 180.0, 360.0) - 180.0, 0.0, atol=1e-6)
    np.testing.assert_allclose(post.parameters["variance"], before.parameters["variance"], rtol=1e-6)
    np.testing.assert_allclose(post.variance, before.variance, atol=1e-9)


@PEERS
def test_turned_and_shuffled_data_turn_the_predictions(peer):
    """Other random numbers: mixtures over 200 of 800 draws, five of whose standard errors are below 15 degrees."""
    order = np.array([5, 2, 7, 0, 3, 6, 1, 4])
    options = FEW | {"draws": 200, "warmup": 80, "chains": 4}
    near = np.array([[2.5], [4.4]])
    one = peer(**options).fit(X, Y).posterior(near)
    two = peer(**options | {"seed": 9}).fit(X[order], np.mod(Y + 57.3, 360.0)[order]).posterior(near)
    np.testing.assert_allclose(np.mod(two.mean - one.mean - 57.3 + 180.0, 360.0) - 180.0, 0.0, atol=15.0)
    np.testing.assert_allclose(two.variance, one.variance, atol=0.1)


# Runs


@PEERS
def test_workers_and_executor_make_no_difference(peer, posteriors):
    one = peer(**FEW, workers=1).fit(X, Y).posterior(NEW)
    other = peer(**FEW, workers=1, executor="processes").fit(X, Y).posterior(NEW)
    for post in (one, other):
        np.testing.assert_array_equal(post.draws, posteriors[peer].draws)
        np.testing.assert_array_equal(post.loo().pointwise, posteriors[peer].loo().pointwise)


@PEERS
def test_a_run_goes_on_from_its_checkpoint(peer, posteriors, tmp_path):
    options = FEW | {"checkpoint": tmp_path / "run"}
    first, whole = peer(**options | {"draws": 11}).fit(X, Y), posteriors[peer]
    for name, values in first.parameters.items():
        np.testing.assert_array_equal(values, whole.parameters[name][:, :11])
    resumed = peer(**options).fit(X, Y)
    post = resumed.posterior(NEW)
    np.testing.assert_array_equal(post.draws, whole.draws)
    np.testing.assert_array_equal(post.density([10.0]), whole.density([10.0]))
    np.testing.assert_array_equal(resumed.simulate(NEW), peer(**FEW).fit(X, Y).simulate(NEW))


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    options = FEW | {"checkpoint": tmp_path / "run"}
    WrappedGP(**options).fit(X, Y).posterior(NEW)
    with pytest.raises(VmqpError, match="another"):
        ProjectedGP(**options).fit(X, Y).posterior(NEW)
    with pytest.raises(VmqpError, match="another"):
        WrappedGP(**options | {"kernel": "gaussian + nugget"}).fit(X, Y).posterior(NEW)


@PEERS
def test_single_precision(peer, posteriors):
    single = peer(**FEW, dtype="float32").fit(X, Y).posterior(NEW)
    assert {values.dtype for values in single.parameters.values()} == {np.dtype(np.float32)}
    for name in ("mean", "variance"):
        np.testing.assert_allclose(
            getattr(single, name), getattr(posteriors[peer], name), rtol=1e-4, atol=1e-4
        )
    grid = np.arange(0.0, 360.0, 5.0)
    np.testing.assert_allclose(single.density(grid), posteriors[peer].density(grid), rtol=1e-3, atol=1e-7)


# What is refused

REFUSED = {
    "kernel, no text": ({"kernel": "nonsense("}, r"nonsense"),
    "kernel, no kernel": ({"kernel": 3}, r"kernel is 3: give a kernel such as"),
    "metric": ({"metric": "miles"}, r"metric is 'miles', but the choices are 'euclidean', 'geographic'"),
    "warmup": ({"warmup": -1}, r"warmup"),
    "thin": ({"thin": 0}, r"thin"),
    "draws": ({"draws": 0}, r"draws"),
    "chains": ({"chains": 0}, r"chains"),
    "dtype": ({"dtype": "int8"}, r"dtype"),
    "executor": ({"executor": "cloud"}, r"executor"),
}


@PEERS
@pytest.mark.parametrize("name", REFUSED)
def test_bad_options_are_refused(peer, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        peer(**FEW | options).fit(X, Y).posterior(NEW)
    assert os.listdir(tmp_path) == []


@PEERS
def test_bad_data_are_refused(peer):
    with pytest.raises(InputError, match="outside a period"):
        peer(**FEW | {"period": 24}).fit(X, Y)
    with pytest.raises(InputError, match="period"):
        peer(**FEW | {"period": -1}).fit(X, Y)
    with pytest.raises(InputError, match=r"X has 8 rows"):
        peer(**FEW).fit(X, Y[:7])
    fitted = peer(**FEW).fit(X, Y)
    with pytest.raises(InputError, match="X_new"):
        fitted.posterior([[1.0, 2.0]])
    with pytest.raises(InputError):
        fitted.posterior(np.empty((0, 1)))


@PEERS
def test_repeated_rows_need_a_nugget(peer):
    twice, angles = np.concatenate([X, X[:1]]), np.append(Y, Y[0])
    bare = peer(**FEW | {"kernel": "exponential", "draws": 2, "warmup": 2})
    with pytest.raises(InputError, match=r"row 0 of X and row 8 of X are the same"):
        bare.fit(twice, angles)
    with pytest.raises(NotPositiveDefiniteError, match=r"9 observed locations has no factor.*Nugget"):
        bare.fit(X, Y).condition(twice, angles)
    peer(**FEW | {"draws": 2, "warmup": 2}).fit(twice, angles).posterior(X[:2])


@PEERS
def test_a_kernel_that_cannot_tell_locations_apart_is_refused(peer):
    line = np.linspace(0.0, 1e-3, 30)[:, None]
    with pytest.raises(NotPositiveDefiniteError, match="Nugget"):
        peer(**FEW | {"kernel": 1.0 * kernels.Gaussian(1.0)}).fit(line, np.zeros(30)).posterior([[0.5]])


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("mean_scale", -1),
        ("mean_scale", 0),
        ("mean_scale", np.nan),
        ("mean_scale", "wide"),
        ("mean_scale", 1e9),
        ("mean_scale", 1e-200),
        ("mean_scale", True),
        ("stretch_scale", -0.5),
        ("stretch_scale", np.inf),
        ("stretch_scale", None),
    ],
)
def test_scales_of_the_projected_process(option, value):
    with pytest.raises(InputError, match=rf"{option} is .*: give"):
        ProjectedGP(**FEW | {option: value}).fit(X, Y).posterior(NEW)


def test_no_stretch():
    post = ProjectedGP(**FEW, stretch_scale=0).fit(X, Y).posterior(NEW)
    assert not post.parameters["stretch_x"].any()
    assert post.summary().loc["stretch_x", "mean"] == 0.0
    assert len(post.diagnostics())
