"""The plot methods of a posterior draw what its methods say, on the axes that they are given."""

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from posteriors import made
from vmqp.errors import InputError

matplotlib.use("Agg")
RNG = np.random.default_rng(10)
PLANE = RNG.random((9, 2))


def draws(m):
    return RNG.vonmises(np.linspace(0.0, 6.0, m), 5.0, size=(2, 300, m))


def posterior(X, **options):
    angles = draws(len(X) - 3)
    parameters = {
        "variance": RNG.gamma(2.0, size=(2, 300)),
        "direction": RNG.vonmises(0.0, 1.0, size=(2, 300)),
    }
    return made(angles, fields=5.0 * np.exp(1j * angles), X=X, parameters=parameters, **options)


@pytest.fixture
def line():
    return posterior(np.linspace(0.0, 5.0, 9)[:, None], names=("hour",))


@pytest.fixture
def plane():
    return posterior(PLANE, names=("east", "north"))


def axes(projection=None):
    return Figure().add_subplot(projection=projection)


def test_one_input_is_a_curve(line):
    ax = axes()
    assert line.plot(ax=ax) is ax
    assert ax.get_xlabel() == "hour"
    assert "degrees" in ax.get_ylabel()


def test_two_inputs_are_a_map(plane):
    ax = axes()
    assert plane.plot(ax=ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")


@pytest.mark.parametrize("name", ["plot_map", "plot_variance", "plot_direction"])
def test_maps_draw_on_the_given_axes(plane, name):
    ax = axes()
    assert getattr(plane, name)(ax=ax) is ax


def test_a_map_of_one_input_is_refused(line):
    for name in ("plot_map", "plot_variance", "plot_direction"):
        with pytest.raises(InputError, match="two inputs"):
            getattr(line, name)()


def test_three_inputs_and_categories_have_no_one_picture():
    with pytest.raises(InputError, match="plot_rose"):
        posterior(RNG.random((9, 3))).plot()
    codes = np.array([[0.0], [1.0], [0.0], [1.0], [0.0], [1.0]])
    with pytest.raises(InputError, match="plot_rose"):
        posterior(codes, categories={0: ("ant", "bee")}).plot()


def test_a_column_that_is_constant_over_the_new_places_is_no_axis_of_the_picture():
    X = np.column_stack([np.linspace(0.0, 5.0, 9), np.where(np.arange(9) < 3, np.arange(9.0), 7.0)])
    ax = axes()
    posterior(X, names=("hour", "level")).plot(ax=ax)
    assert ax.get_xlabel() == "hour"


def test_roses_of_some_places(plane):
    ax = axes("polar")
    assert plane.plot_rose(2, ax=ax) is ax
    assert "location 2" in ax.get_title()
    panels = plane.plot_rose([0, -1], y_true=plane.mean, compass=True)
    assert [("location 0" in panels[0].get_title()), ("location 5" in panels[1].get_title())] == [True, True]
    assert len(plane.plot_rose()) == 6


@pytest.mark.parametrize("places", [[6], [-7], [], ["a"], [0.5]])
def test_roses_of_places_that_are_not_there_are_refused(plane, places):
    with pytest.raises(InputError, match="rows of X_new"):
        plane.plot_rose(places)


def test_several_roses_do_not_fit_one_axes(plane):
    with pytest.raises(InputError, match="one place"):
        plane.plot_rose([0, 1], ax=axes("polar"))


def test_parameters_calibration_and_autocorrelation(plane):
    assert plane.plot_parameters().shape == (2, 2)
    pair = Figure().subplots(1, 2)
    assert plane.plot_calibration(plane.mean, axes=pair)[0] is pair[0]
    ax = axes()
    assert plane.plot_autocorrelation(max_lag=20, ax=ax) is ax
    assert ax.get_xlim()[1] == pytest.approx(20, abs=2)


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
