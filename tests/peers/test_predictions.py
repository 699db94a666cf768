"""What the peers predict: in closed form and jointly against plain NumPy, with other data, and after saving.

Statistical tests fail by chance with the probability RATE = 1e-6; seeds are fixed, and planted faults are below it.
"""

import subprocess
import sys

import numpy as np
import pytest

import vmqp
from exact_peers import matrix_of
from references import RATE, p_value, two_sample_p_value
from vmqp.peers import ProjectedGP, WrappedGP
from vmqp.peers import locations as locations_module
from vmqp.peers import projected as projected_module
from vmqp.peers import wrapped as wrapped_module
from vmqp.posterior.components import WrappedNormal
from vmqp.posterior.predictive import ClosedForm
from vmqp.precision.kriging import Kriging

pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")

RNG = np.random.default_rng(8)
X = RNG.uniform(0.0, 4.0, (12, 2))
Y = np.mod(70.0 * X[:, 0] + 40.0 * RNG.standard_normal(12), 360.0)
NEW = np.concatenate([RNG.uniform(0.0, 4.0, (3, 2)), [[1.0, 1.0], [1.05, 1.0]], X[:1], [[40.0, 0.0]]])
RADIANS = np.deg2rad(np.where(Y > 180.0, Y - 360.0, Y))  # as stored: windings count from there
CHAINS, DRAWS = 4, 60
OPTIONS = {"period": 360, "chains": CHAINS, "draws": DRAWS, "warmup": 60, "progress": False, "seed": 2}
PEERS = pytest.mark.parametrize("peer", [WrappedGP, ProjectedGP])


@pytest.fixture(scope="module")
def models():
    """All draws are used in predictions. The wrapped process is so wide that windings change."""
    wide = "lognormal(1.5, 0.5) * exponential(lognormal(0, 0.5)) + nugget(lognormal(-1, 0.5))"
    return {
        WrappedGP: WrappedGP(kernel=wide, parameter_draws=CHAINS * DRAWS, **OPTIONS).fit(X, Y),
        ProjectedGP: ProjectedGP(parameter_draws=CHAINS * DRAWS, **OPTIONS).fit(X, Y),
    }


def components(posterior):
    return posterior._predictive.components(slice(None))


def stored(model):
    """Each draw of the parameters, and what is latent at it."""
    tree = model._model.tree
    latent = next(iter(tree["latent"].data_vars.values())).values
    latent = latent.reshape(-1, latent.shape[2]).astype(float)
    columns = {str(name): own.values.reshape(-1) for name, own in tree["posterior"].data_vars.items()}
    return [{name: own[i] for name, own in columns.items()} for i in range(len(latent))], latent


def distance(one, other):
    return np.linalg.norm(one[:, None] - other, axis=-1)


def kriged(model, new=NEW, radians=RADIANS):
    """Mean and variance of each new location at each stored draw, by the formulas for a Gaussian process."""
    sets, latent = stored(model)
    rows = []
    for values, own in zip(sets, latent, strict=True):
        variance, scale, nugget = values.get("variance", 1.0), values["lengthscale"], values["nugget"]
        K = variance * np.exp(-distance(X, X) / scale) + nugget * np.eye(len(X))
        weights = np.linalg.solve(K, variance * np.exp(-distance(X, new) / scale))
        left = variance + nugget - (variance * np.exp(-distance(X, new) / scale) * weights).sum(axis=0)
        if isinstance(model, WrappedGP):
            line = radians + 2.0 * np.pi * own - values["direction"]
            rows.append([values["direction"] + line @ weights, left])
        else:
            mean = np.array([values["mean_x"], values["mean_y"]])
            z = own[:, None] * np.stack([np.cos(radians), np.sin(radians)], axis=1) - mean
            T = matrix_of([values["stretch_x"], values["stretch_y"]])
            rows.append([*(mean[:, None] + z.T @ weights), T[0, 0] * left, T[0, 1] * left, T[1, 1] * left])
    return np.moveaxis(np.array(rows), 1, 0)


def largest_error(model, found, expected=None):
    """Largest difference of the parts of all components; directions are compared on the circle."""
    errors = [
        np.abs(a - b) for a, b in zip(found, kriged(model) if expected is None else expected, strict=True)
    ]
    if isinstance(model, WrappedGP):
        errors[0] = np.abs(np.angle(np.exp(1j * errors[0])))
    return max(float(error.max()) for error in errors)


# One location at a time


@PEERS
def test_components_are_those_of_kriging_at_each_draw(peer, models):
    assert largest_error(models[peer], components(models[peer].posterior(NEW))) < 1e-9


@PEERS
def test_summaries_are_those_of_the_mixture(peer, models):
    """Of the density of all components on a fine grid."""
    post = models[peer].posterior(NEW)
    grid = np.deg2rad(np.arange(0.0, 360.0, 0.05))
    for row in range(len(NEW)):
        density = np.exp(components(post).at(slice(row, row + 1)).log_density(grid)).mean(axis=0)
        moment = (density * np.exp(1j * grid)).sum() / density.sum()
        assert abs(np.angle(np.exp(1j * np.deg2rad(post.mean[row])) / moment)) < 1e-8
        assert post.variance[row] == pytest.approx(1.0 - abs(moment), abs=1e-8)


def _narrower(monkeypatch):
    at = Kriging.at

    def narrower(*given):
        found = at(*given)
        return found._replace(variance=found.variance - 0.01)

    monkeypatch.setattr(Kriging, "at", narrower)


def _latent_of_another_draw(monkeypatch):
    latent = ClosedForm._latent
    monkeypatch.setattr(ClosedForm, "_latent", lambda self, name: np.roll(latent(self, name), 1, axis=0))


@PEERS
@pytest.mark.parametrize("plant", [_narrower, _latent_of_another_draw])
def test_wrong_kriging_is_caught(peer, plant, models, monkeypatch):
    """A variance that is too small by 0.01, and latent variables of another draw."""
    plant(monkeypatch)
    model = models[peer]
    model._memory.clear()
    try:
        assert largest_error(model, components(model.posterior(NEW))) > 1e-3
    finally:
        model._memory.clear()


@PEERS
def test_a_location_does_not_depend_on_the_others(peer, models):
    model = models[peer]
    whole = components(model.posterior(NEW))
    many = np.concatenate([NEW, np.random.default_rng(3).uniform(0.0, 4.0, (3000, 2))])
    for rows, asked in ((slice(2, 3), NEW[2:3]), (slice(None), many)):
        found = components(model.posterior(asked)).at(slice(0, len(NEW)))
        for one, other in zip(found, whole.at(rows), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@PEERS
def test_the_order_of_observed_rows_makes_no_difference(peer, models):
    """The same draws with the rows in another order: data and latent variables."""
    model, order = models[peer], np.random.default_rng(4).permutation(len(X))
    tree = model._model.tree.copy()
    for group in ("latent", "observed_data", "constant_data"):
        own = tree[group].to_dataset()
        axis = next(str(name) for name in own.dims if str(name).endswith(("_place", "_dim_0")))
        tree[group] = tree[group].__class__(own.isel({axis: order}))
    predictive = ClosedForm(tree, model._model.kernel, NEW, parameter_draws=CHAINS * DRAWS)
    for one, other in zip(predictive.components(slice(None)), components(model.posterior(NEW)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)


# All locations together


def joint_p_value(model):
    """Each joint draw less the mean of its own component has the mean 0; given the model, draws are independent."""
    joint = model.joint_posterior(NEW, draws=CHAINS * DRAWS * 4)
    drawn = np.exp(1j * np.deg2rad(joint.draws.reshape(-1, len(NEW))))
    gap = drawn - own_components(joint).moment()
    return p_value(np.concatenate([gap.real, gap.imag], axis=1), np.zeros(2 * len(NEW)))


def own_components(joint):
    """As stored with joint draws: where a density is asked for, narrow ones are widened."""
    kind = type(components(joint))
    tree = joint._tree["wrapped" if kind is WrappedNormal else "projected"]
    names = ("mean", "variance") if kind is WrappedNormal else kind._fields
    return kind(*(tree[name].values.reshape(-1, len(NEW)) for name in names))


@PEERS
def test_joint_draws_have_the_components_of_the_closed_form(peer, models):
    joint = models[peer].joint_posterior(NEW, draws=CHAINS * DRAWS)
    assert joint.joint
    assert joint.draws.shape == (CHAINS, DRAWS, len(NEW))
    assert largest_error(models[peer], own_components(joint)) < 1e-9
    np.testing.assert_array_equal(joint.draws, models[peer].joint_posterior(NEW, draws=CHAINS * DRAWS).draws)


@PEERS
def test_joint_draws_agree_with_the_closed_form(peer, models):
    assert joint_p_value(models[peer]) > RATE


@PEERS
def test_joint_draws_that_are_too_wide_are_caught(peer, models, monkeypatch):
    given = locations_module.NewLocations.given

    def wide(*arguments):
        found = given(*arguments)
        return found._replace(root=1.7 * found.root)

    monkeypatch.setattr(locations_module.NewLocations, "given", wide)
    assert joint_p_value(models[peer]) < RATE


@PEERS
def test_joint_draws_of_near_locations_are_near(peer, models):
    """Rows 3 and 4 of NEW are neighbors: they differ less in one draw than between draws, by five standard errors."""
    draws = np.deg2rad(models[peer].joint_posterior(NEW, draws=3000).draws.reshape(-1, len(NEW)))
    together = 1.0 - np.cos(draws[:, 3] - draws[:, 4])
    between = 1.0 - np.cos(draws[:, 3] - np.roll(draws[:, 4], len(draws) // 3))
    assert between.mean() - together.mean() > 5.0 * np.sqrt((between.var() + together.var()) / len(draws))


@PEERS
@pytest.mark.parametrize("draws", [1, 30, 250])
def test_any_number_of_joint_draws(peer, draws, models):
    assert models[peer].simulate(NEW[:3], draws=draws).shape == (draws, 3)
    joint = models[peer].joint_posterior(NEW[:3], draws=draws)
    assert joint.draws.shape[0] == 4
    assert joint.diagnostics()["rhat"].notna().all()


# Other data


def moments_of_chains(model):
    """E exp(iφ) at the new locations, by chain."""
    moment = components(model.posterior(NEW)).moment().reshape(-1, DRAWS, len(NEW)).mean(axis=1)
    return np.concatenate([moment.real, moment.imag], axis=1)


def moments_of_conditions(model, angles, turn=0.0):
    """The same of models with other data, one for each of some seeds."""
    rows = []
    for seed in range(10):
        other = model.__sklearn_clone__().set_params(seed=seed)
        other._period = model._period
        found = other._keep(model.data_, model._learned).condition(X, angles)
        moment = components(found.posterior(NEW)).moment().mean(axis=0) * np.exp(-1j * np.deg2rad(turn))
        rows.append(np.concatenate([moment.real, moment.imag]))
    return np.array(rows)


@pytest.fixture(scope="module")
def long_models():
    """Twelve chains each, with the kernel fixed: only what is latent moves."""
    options = OPTIONS | {"chains": 12, "parameter_draws": 12 * DRAWS}
    return {
        WrappedGP: WrappedGP(kernel="6.0 * exponential(1.5) + nugget(0.3)", **options).fit(X, Y),
        ProjectedGP: ProjectedGP(
            kernel="1.0 * exponential(1.5) + nugget(0.1)", stretch_scale=0, **options
        ).fit(X, Y),
    }


@PEERS
def test_the_same_data_give_the_same_predictions(peer, long_models):
    model = long_models[peer]
    assert two_sample_p_value(moments_of_conditions(model, Y), moments_of_chains(model)) > RATE


@PEERS
def test_turned_data_give_turned_predictions(peer, long_models):
    model = long_models[peer]
    turned = moments_of_conditions(model, np.mod(Y + 100.0, 360.0), turn=100.0)
    assert two_sample_p_value(turned, moments_of_chains(model)) > RATE


@PEERS
def test_wrong_latent_variables_of_other_data_are_caught(peer, long_models, monkeypatch):
    """Windings of a process with a tenth of the variance, and radii of one."""
    for name in ("turn_places", "turn_groups"):
        turn = getattr(wrapped_module, name)

        def colder(streams, y, P, scale, *others, turn=turn):
            turn(streams, y, P, 0.1 * scale, *others)

        monkeypatch.setattr(wrapped_module, name, colder)
    monkeypatch.setattr(projected_module, "renew", lambda *given: 0.0)
    model = long_models[peer]
    assert two_sample_p_value(moments_of_conditions(model, Y), moments_of_chains(model)) < RATE


@PEERS
def test_a_model_with_other_data(peer, models):
    """Other rows, the same draws of the kernel's parameters; predictions are those of kriging from the other data."""
    model = models[peer]
    angles = np.mod(Y[::-1] + 20.0, 360.0)
    other = model.condition(X, angles)
    for name in ("lengthscale", "nugget"):
        np.testing.assert_array_equal(other.parameters[name], model.parameters[name])
        used, learned = other._model.tree["posterior"][name].values, model.parameters[name]
        assert np.isin(used, learned).all()
    expected = kriged(other, radians=np.deg2rad(np.where(angles > 180.0, angles - 360.0, angles)))
    assert largest_error(other, components(other.posterior(NEW)), expected) < 1e-9
    again = other.condition(X, angles)
    np.testing.assert_array_equal(again.predict(NEW), model.condition(X, angles).predict(NEW))
    assert "learned from other data" in str(other.verdict())
    fewer = model.condition(X[:5], Y[:5])
    assert np.isfinite(fewer.predict(NEW)).all()
    np.testing.assert_array_equal(model.predict(NEW), models[peer].posterior(NEW).mean)


# Files

SCRIPT = """
import sys
import numpy as np
import vmqp
model = vmqp.load(sys.argv[1])
new = np.load(sys.argv[2])
np.savez(sys.argv[3], mean=model.predict(new), draws=model.posterior(new).draws, joint=model.simulate(new),
         other=model.condition(new[:5], [10.0, 20.0, 350.0, 0.0, 90.0]).predict(new), score=model.score(new, new[:, 0]))
"""


@PEERS
def test_a_model_in_a_new_process(peer, models, tmp_path):
    model = models[peer]
    model.save(tmp_path / "model.nc")
    np.save(tmp_path / "new.npy", NEW)
    names = ("model.nc", "new.npy", "found.npz")
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, *(str(tmp_path / name) for name in names)]
    subprocess.run(command, check=True, timeout=300)
    found = np.load(tmp_path / "found.npz")
    other = model.condition(NEW[:5], [10.0, 20.0, 350.0, 0.0, 90.0])
    expected = {
        "mean": model.predict(NEW),
        "draws": model.posterior(NEW).draws,
        "joint": model.simulate(NEW),
        "other": other.predict(NEW),
        "score": model.score(NEW, NEW[:, 0]),
    }
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@PEERS
def test_a_model_with_other_data_is_saved_too(peer, models, tmp_path):
    other = models[peer].condition(X[:7], Y[:7])
    other.save(tmp_path / "other.nc")
    again = vmqp.load(tmp_path / "other.nc")
    np.testing.assert_array_equal(again.predict(NEW), other.predict(NEW))
    np.testing.assert_array_equal(again.simulate(NEW), other.simulate(NEW))
    assert str(again.verdict()) == str(other.verdict())
    for name, values in other.parameters.items():
        np.testing.assert_array_equal(again.parameters[name], values)
