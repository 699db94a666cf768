"""What holds for every picture: the axes given are those returned, no backend is chosen, nothing warns."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from vmqp import plots
from vmqp.plots import Scale

SCALE = Scale(360, 0.0, compass=True)
RNG = np.random.default_rng(1)
GRID = np.stack(np.meshgrid(np.linspace(6, 9, 5), np.linspace(50, 52, 4)), -1).reshape(-1, 2)
ANGLES = RNG.uniform(0, 360, 20)
VARIANCE = RNG.uniform(0, 1, 20)
OBSERVED = (GRID[:5] + 0.1, ANGLES[:5])
X = RNG.uniform(0, 5, 20)
CHAINS = {"lengthscale": RNG.gamma(2.0, size=(2, 50)), "direction": RNG.uniform(0, 360, (2, 50))}
LEVELS = ([0.5, 0.9], [0.4, 0.95])

ONE = {
    "curve": lambda ax: plots.curve(
        X, ANGLES, ANGLES - 20, ANGLES + 30, scale=SCALE, observed=(X, ANGLES), truth=ANGLES, ax=ax
    ),
    "arrows": lambda ax: plots.arrows(GRID, ANGLES, VARIANCE, scale=SCALE, observed=OBSERVED, ax=ax),
    "arrows, background": lambda ax: plots.arrows(
        GRID, ANGLES, VARIANCE, scale=SCALE, background=True, ax=ax
    ),
    "variance_map": lambda ax: plots.variance_map(GRID, VARIANCE, observed=GRID[:3], ax=ax),
    "direction_map": lambda ax: plots.direction_map(GRID, ANGLES, scale=SCALE, observed=OBSERVED, ax=ax),
    "autocorrelation": lambda ax: plots.autocorrelation(
        CHAINS, circular={"direction"}, scale=SCALE, max_lag=10, ax=ax
    ),
    "rose": lambda ax: plots.rose(ANGLES, scale=SCALE, interval=(350, 20), truth=3.0, observed=5.0, ax=ax),
}
SEVERAL = {
    "roses": (3, lambda axes: plots.roses([ANGLES, ANGLES + 9, X], scale=SCALE, axes=axes)),
    "parameters": (
        4,
        lambda axes: plots.parameters(CHAINS, circular={"direction"}, scale=SCALE, axes=axes),
    ),
    "calibration": (2, lambda axes: plots.calibration(VARIANCE, LEVELS, axes=axes)),
}


@pytest.fixture
def pyplot():
    backend = matplotlib.get_backend()
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    yield plt
    plt.close("all")
    matplotlib.use(backend)


@pytest.mark.parametrize("name", ONE)
def test_axes_given_are_those_returned_and_pyplot_is_left_alone(name, pyplot, tmp_path):
    figure = Figure(layout="constrained")
    ax = figure.add_subplot(projection="polar" if name == "rose" else None)
    assert ONE[name](ax) is ax
    figure.savefig(tmp_path / "picture.png")
    assert_nothing_is_cut_off(tmp_path / "picture.png")
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("name", ONE)
def test_without_axes_a_figure_is_made_that_a_notebook_shows(name, pyplot, tmp_path):
    ax = ONE[name](None)
    assert pyplot.figure(pyplot.get_fignums()[0]) is ax.figure
    ax.figure.savefig(tmp_path / "picture.png")
    assert_nothing_is_cut_off(tmp_path / "picture.png")


@pytest.mark.parametrize("name", SEVERAL)
def test_several_panels(name, pyplot, tmp_path):
    count, draw = SEVERAL[name]
    axes = draw(None)
    assert axes.size == count
    figure = axes.flat[0].figure
    assert pyplot.get_fignums() == [figure.number]
    figure.savefig(tmp_path / "picture.png")
    assert_nothing_is_cut_off(tmp_path / "picture.png")


@pytest.mark.parametrize("name", ["arrows", "curve", "variance_map", "direction_map"])
def test_drawing_on_axes_of_a_part_of_a_figure(name, tmp_path):
    figure = Figure(figsize=(12, 5), layout="constrained")
    part = figure.subfigures(1, 2)[0]
    ax = part.add_subplot()
    assert ONE[name](ax) is ax
    figure.savefig(tmp_path / "picture.png")


def assert_nothing_is_cut_off(file):
    """A label that is cut off at the edge of the picture would leave ink there."""
    pixels = imread(file)[..., :3]
    edges = (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1])
    assert all((edge == 1.0).all() for edge in edges)
    assert pixels.min() < 0.1


def test_a_label_that_is_cut_off_is_noticed(tmp_path):
    figure = Figure()
    figure.text(0.99, 0.5, "too far to the right")
    figure.savefig(tmp_path / "picture.png")
    with pytest.raises(AssertionError):
        assert_nothing_is_cut_off(tmp_path / "picture.png")


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_chooses_no_backend_and_drawing_on_given_axes_does_not_either():
    code = """
import sys
import vmqp.plots as plots
from matplotlib.figure import Figure
from matplotlib.image import imread
plots.curve([0, 1], [0, 1], [0, 0], [1, 2], scale=plots.Scale(), ax=Figure().add_subplot())
print('matplotlib.pyplot' in sys.modules)
"""
    assert run(code) == "False"


def test_every_public_name_exists_and_is_documented():
    for name in plots.__all__:
        assert getattr(plots, name).__doc__
