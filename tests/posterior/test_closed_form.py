"""Predictions in closed form in the forms that others take: trees, tables, plots, text."""

import arviz_stats
import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import vmqp
from vmqp import circle

matplotlib.use("Agg")
FEW = {"period": 360, "chains": 2, "draws": 60, "warmup": 30, "progress": False, "seed": 2}
RNG = np.random.default_rng(4)
PLANE = RNG.uniform(0.0, 3.0, (10, 2))
ANGLES = np.mod(350.0 + 20.0 * PLANE[:, 0], 360.0)
GRID = np.array([(x, y) for y in np.linspace(0.0, 3.0, 4) for x in np.linspace(0.0, 3.0, 3)])

pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def post():
    return vmqp.regress(PLANE, ANGLES, GRID, **FEW)


def test_the_tree_has_predictions_and_their_locations(post):
    tree = post.to_datatree()
    assert {"posterior", "sample_stats", "observed_data", "constant_data", "log_likelihood"} < set(
        tree.children
    )
    assert "angle" not in tree["posterior"], "nothing is sampled there"
    angle = tree["predictions"]["angle"]
    assert angle.dims == ("chain", "draw", "angle_place")
    np.testing.assert_allclose(circle.difference(np.rad2deg(angle.values), post.draws, 360.0), 0.0, atol=1e-9)
    np.testing.assert_array_equal(tree["predictions_constant_data"]["X"].values, GRID)
    assert "predictions" not in post._tree.children, "a copy"
    assert arviz_stats.summary(tree, var_names=["variance"], kind="stats").shape[0] == 1


def test_a_joint_result_is_a_tree_with_its_draws(post):
    joint = vmqp.regress(PLANE, ANGLES, GRID, transductive=True, **FEW)
    assert joint.joint
    assert not post.joint
    assert "angle" in joint.to_datatree()["posterior"]
    assert "predictions" not in joint.to_datatree().children
    # The same question, so nearly the same answer; each has an uncertainty of some 10 degrees.
    assert np.abs(circle.difference(joint.mean, post.mean, 360.0)).max() < 60.0


def test_text(post):
    text = repr(post)
    assert text.startswith("Posterior(12 new locations given 10, 2 chains of 60 draws, ")
    assert "Nugget" in text
    assert "Do not trust" in post._repr_html_()


def test_tables_and_maps(post):
    frame = post.to_frame(0.5)
    assert list(frame) == ["x0", "x1", "mean", "variance", "lower", "upper", "width"]
    np.testing.assert_array_equal(frame[["lower", "upper"]], post.interval(0.5))
    chart = post.to_xarray()
    assert chart["mean"].shape == (4, 3)
    assert chart["mean"].sel(x0=1.5, x1=1.0).item() == post.mean[4]


@pytest.mark.parametrize("name", ["plot", "plot_map", "plot_variance", "plot_direction"])
def test_plots_over_two_inputs(post, name):
    ax = Figure().add_subplot()
    assert getattr(post, name)(ax=ax) is ax


def test_other_plots(post):
    ax = Figure().add_subplot(projection="polar")
    assert post.plot_rose(3, ax=ax) is ax
    assert post.plot_parameters().shape[1] == 2
    assert len(post.plot_calibration(post.mean)) == 2
    assert post.plot_autocorrelation(max_lag=10).get_xlabel()


def test_quantities_agree_with_draws():
    """With 10,000 draws of independent parameters: limits of six standard errors, by chance exceeded once in 10⁷."""
    kernel = "1.5 * exponential(1.0) + nugget(0.05)"
    fixed = {"kernel": kernel, "concentration": 0, "draws": 5_000}
    post = vmqp.regress(PLANE, ANGLES, GRID[:3], **FEW | fixed)
    draws, truth = post.draws.reshape(-1, 3), np.array([10.0, 100.0, 350.0])
    unit = np.exp(1j * np.deg2rad(draws))
    moment = (1.0 - post.variance) * np.exp(1j * np.deg2rad(post.mean))
    np.testing.assert_allclose(unit.mean(axis=0), moment, atol=6.0 / 100.0)
    assert post.coverage(draws[17], 0.999) >= 2.0 / 3.0
    inside = np.mean(np.mod(draws - 300.0, 360.0) < 100.0, axis=0)
    np.testing.assert_allclose(post.probability(300.0, 40.0), inside, atol=3.0 / 100.0)
    gap = 1.0 - np.cos(np.deg2rad(draws - truth))
    spread = 1.0 - np.abs(unit.mean(axis=0)) ** 2
    np.testing.assert_allclose(post.crps(truth), gap.mean(axis=0) - 0.5 * spread, atol=6.0 / 100.0)
    counts = [np.histogram(column, bins=36, range=(0.0, 360.0), density=True)[0] for column in draws.T]
    np.testing.assert_allclose(post.density(np.arange(5.0, 360.0, 10.0)), counts, atol=2e-3)


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
