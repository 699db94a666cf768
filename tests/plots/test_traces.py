"""Traces and histograms of the parameters; angles as points and roses."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from matplotlib.projections.polar import PolarAxes

from vmqp.errors import InputError
from vmqp.plots import Scale, parameters

RNG = np.random.default_rng(1)
LENGTHS = RNG.gamma(3.0, size=(4, 300))
DIRECTIONS = (350 + 30 * RNG.normal(size=(4, 300))) % 360


def panels(*kinds):
    figure = Figure(figsize=(9, 3 * len(kinds)), layout="constrained")
    axes = np.empty((len(kinds), 2), dtype=object)
    for row, polar in enumerate(kinds):
        axes[row, 0] = figure.add_subplot(len(kinds), 2, 2 * row + 1)
        axes[row, 1] = figure.add_subplot(len(kinds), 2, 2 * row + 2, projection="polar" if polar else None)
    return axes


def histogram(ax):
    return next(patch for patch in ax.patches if isinstance(patch, StepPatch) and patch.get_fill())


def test_a_line_for_each_chain_and_a_histogram_of_all():
    given = panels(False, True)
    draws = {"lengthscale": LENGTHS, "direction": DIRECTIONS}
    axes = parameters(draws, circular={"direction"}, scale=Scale(360, 0.0, compass=True), axes=given)
    assert (axes == given).all()
    np.testing.assert_array_equal([line.get_ydata() for line in axes[0, 0].lines], LENGTHS)
    values, edges, _ = histogram(axes[0, 1]).get_data()
    np.testing.assert_allclose(values * np.diff(edges), np.histogram(LENGTHS, edges)[0] / LENGTHS.size)
    assert axes[0, 0].get_ylabel() == "lengthscale"
    assert axes[0, 1].get_xlabel().startswith("lengthscale")
    assert axes[1, 0].get_xlabel() == "draw"
    assert [text.get_text() for text in axes[0, 0].get_legend().get_texts()] == [
        f"chain {i}" for i in (1, 2, 3, 4)
    ]


def test_an_angle_is_drawn_as_points_over_one_turn_and_as_a_rose():
    axes = parameters({"direction": DIRECTIONS}, circular=["direction"], scale=Scale(360), axes=panels(True))
    left, right = axes[0]
    assert all(line.get_linestyle() == "None" for line in left.lines)
    assert left.get_ylim() == (-180.0, 180.0)
    assert left.get_ylabel() == "direction (degrees)"
    np.testing.assert_allclose((left.lines[2].get_ydata() - DIRECTIONS[2]) % 360 % (360 - 1e-9), 0, atol=1e-9)
    assert isinstance(right, PolarAxes)
    assert sum(bar.get_height() ** 2 * bar.get_width() / 2 for bar in right.patches) == pytest.approx(1)


def test_priors_are_drawn_on_the_scale_of_the_histogram():
    def exponential(x):
        with np.errstate(divide="ignore"):
            return np.where(x > 0, np.exp(-x), np.inf)

    axes = parameters(
        {"lengthscale": LENGTHS, "direction": DIRECTIONS},
        circular={"direction"},
        scale=Scale(360, 0.0),
        priors={"lengthscale": exponential, "direction": lambda x: 1 / 360},
        axes=panels(False, True),
    )
    x, y = next(line for line in axes[0, 1].lines if line.get_label() == "prior").get_data()
    np.testing.assert_allclose(y, np.exp(-x))
    uniform = next(line for line in axes[1, 1].lines if line.get_label() == "prior")
    np.testing.assert_allclose(uniform.get_ydata(), np.sqrt(1 / np.pi))
    assert "prior" in axes[1, 1].get_xlabel()


def test_a_pole_of_the_prior_does_not_flatten_the_histogram():
    plain = parameters({"a": LENGTHS}, axes=panels(False))[0, 1].get_ylim()
    spiked = parameters({"a": LENGTHS}, priors={"a": lambda x: 1e6 / (x + 1e-9)}, axes=panels(False))[
        0, 1
    ].get_ylim()
    assert plain == spiked


def test_a_long_tail_is_cut_off_and_the_label_says_so():
    tailed = np.exp(2 * np.random.default_rng(2).normal(size=(2, 2000)))
    ax = parameters({"variance": tailed}, axes=panels(False))[0, 1]
    edges = histogram(ax).get_data().edges
    beyond = np.mean(tailed > edges[-1])
    assert 0.002 < beyond < 0.008
    assert ax.get_xlabel() == f"variance ({100 * beyond:.2g} % of draws beyond)"
    # The heights are shares of all draws, not of those shown.
    assert (histogram(ax).get_data().values * np.diff(edges)).sum() == pytest.approx(1 - beyond)


def test_many_draws_are_thinned_in_the_trace_only():
    draws = np.random.default_rng(3).normal(size=(2, 30_000))
    left, right = parameters({"a": draws}, axes=panels(False))[0]
    assert 1000 < len(left.lines[0].get_xdata()) <= 2000
    assert left.lines[0].get_xdata()[-1] > 29_900
    values, edges, _ = histogram(right).get_data()
    assert (values * np.diff(edges)).sum() == pytest.approx(1, abs=0.02)


def test_an_angle_without_draws_is_passed_over():
    axes = parameters({"a": LENGTHS}, circular={"direction"}, axes=panels(False))
    assert len(axes[0, 0].lines) == 4


def test_parameter_that_never_moves_and_a_single_chain():
    axes = parameters({"fixed": np.full((1, 10), 3.0)}, axes=panels(False))
    edges = histogram(axes[0, 1]).get_data().edges
    assert edges[0] < 3 < edges[-1]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"draws": {}}, "at least one"),
        ({"draws": {"a": np.zeros((2, 3, 4))}}, "chains, draws"),
        ({"draws": {"a": [[1.0, np.nan]]}}, "finite"),
        ({"priors": {"c": np.exp}}, "'c'"),
        ({"circular": {"a"}}, "scale"),
        ({"circular": {"a"}, "scale": Scale()}, "polar"),
        ({"axes": panels(False, False)}, "shape"),
    ],
)
def test_bad_input_is_named(change, word):
    with pytest.raises(InputError, match=word):
        parameters(**{"draws": {"a": LENGTHS}, "axes": panels(False), **change})
