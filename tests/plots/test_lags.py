"""Autocorrelation: the estimate itself, angles by cosine and sine, and the lag in the legend."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from vmqp.errors import InputError
from vmqp.plots import Scale, autocorrelation
from vmqp.plots.lags import mean_autocorrelation


def axes():
    return Figure(figsize=(7, 4), layout="constrained").add_subplot()


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def autoregression(correlation, chains=4, draws=4000, seed=1):
    noise = np.random.default_rng(seed).normal(size=(chains, draws))
    for i in range(1, draws):
        noise[:, i] = correlation * noise[:, i - 1] + np.sqrt(1 - correlation**2) * noise[:, i]
    return noise


def test_estimate_is_the_mean_over_chains_of_the_plain_sum():
    chains = np.random.default_rng(2).normal(size=(3, 50)).cumsum(axis=1)
    expected = np.zeros(11)
    for chain in chains:
        centred = chain - chain.mean()
        products = [(centred[lag:] * centred[: 50 - lag]).sum() for lag in range(11)]
        expected += np.array(products) / products[0] / 3
    np.testing.assert_allclose(mean_autocorrelation(chains, 10), expected, atol=1e-12)


def test_known_correlation_is_found():
    # With 40,000 draws the estimate strays by 0.02 at most, five standard deviations.
    found = mean_autocorrelation(autoregression(0.8, draws=10_000), 5)
    np.testing.assert_allclose(found, 0.8 ** np.arange(6), atol=0.03)


def test_legend_tells_the_first_lag_below_005_and_a_dot_marks_it():
    draws = autoregression(0.8)
    ax = autocorrelation({"lengthscale": draws}, max_lag=40, ax=axes())
    lag = int(np.flatnonzero(mean_autocorrelation(draws, 40) < 0.05)[0])
    assert 8 <= lag <= 20
    assert texts(ax) == [f"lengthscale: {lag}"]
    dot = next(line for line in ax.lines if line.get_label() == "_below")
    assert dot.get_xdata()[0] == lag
    assert ax.get_xlim() == (0, 40)
    assert "0.05" in ax.get_xlabel()


def test_angle_is_drawn_as_cosine_and_sine_without_a_jump_at_the_cut():
    # An angle that wanders slowly about the cut: its numbers jump, its cosine and sine do not.
    angles = (360 + 10 * autoregression(0.95)) % 360
    ax = autocorrelation(
        {"direction": angles}, circular={"direction"}, scale=Scale(360, 0.0), max_lag=20, ax=axes()
    )
    assert [text.split(":")[0] for text in texts(ax)] == ["cos direction", "sin direction"]
    sine = next(line for line in ax.lines if line.get_label().startswith("sin"))
    np.testing.assert_allclose(
        sine.get_ydata(), mean_autocorrelation(np.sin(np.radians(angles)), 20), atol=1e-12
    )
    assert sine.get_ydata()[1] > 0.9


def test_slow_stuck_and_short_chains():
    slow = np.linspace(0, 1, 200)[None, :]
    ax = autocorrelation(
        {"slow": slow, "stuck": np.ones((2, 200)), "short": [[1.0, 2.0, 1.0]]}, max_lag=10, ax=axes()
    )
    assert texts(ax)[0] == "slow: more than 10"
    assert texts(ax)[1] == "stuck: never moves"
    assert len(ax.lines[-1].get_xdata()) <= 3 or ax.get_xlim()[1] == 10


def test_a_name_that_is_wider_than_the_axes_does_not_squeeze_them():
    draws = autoregression(0.5, draws=100)
    ax = autocorrelation({"lengthscale of the first kernel " * 4: draws}, ax=axes())
    ax.figure.draw_without_rendering()
    assert ax.get_window_extent().width > 0.7 * ax.figure.bbox.width


def test_an_angle_without_draws_is_passed_over():
    ax = autocorrelation({"a": autoregression(0.5, draws=100)}, circular={"direction"}, ax=axes())
    assert texts(ax)[0].startswith("a:")


def test_one_stuck_chain_does_not_hide_the_others():
    draws = autoregression(0.5, draws=500)
    draws[0] = 1.0
    np.testing.assert_allclose(mean_autocorrelation(draws, 5), mean_autocorrelation(draws[1:], 5))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"draws": []}, "map names"),
        ({"draws": {"a": [1.0]}}, "two draws"),
        ({"max_lag": 0}, "max_lag"),
        ({"circular": {"a"}}, "scale"),
    ],
)
def test_bad_input_is_named(change, word):
    with pytest.raises(InputError, match=word):
        autocorrelation(**{"draws": {"a": [[1.0, 2.0, 3.0]]}, "ax": axes(), **change})
