"""Autocorrelation of the parameters' draws: how far apart draws must be to be new information."""

from collections.abc import Collection, Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from vmqp.circle import FloatArray, to_radians
from vmqp.errors import InputError
from vmqp.plots.inputs import chains_of
from vmqp.plots.scale import Scale
from vmqp.plots.style import COLOURS, DASHES, given_or_new, legend_above

__all__ = ["autocorrelation", "mean_autocorrelation"]

_SMALL = 0.05


def autocorrelation(
    draws: Mapping[str, ArrayLike],
    *,
    circular: Collection[str] = (),
    scale: Scale | None = None,
    max_lag: int = 100,
    ax: Axes | None = None,
) -> Axes:
    """Draw the autocorrelation of each parameter over the lag, averaged over its chains.

    `draws` maps names to arrays of shape (chains, draws). The names in `circular` are angles, given in `scale`, and
    are drawn as their cosine and sine; a name without draws is passed over. The legend tells the first lag at which
    a line is below 0.05, and that is marked on it.

    >>> from matplotlib.figure import Figure
    >>> noise = np.random.default_rng(1).normal(size=(4, 1000))
    >>> ax = autocorrelation({"nugget": noise}, max_lag=20, ax=Figure().add_subplot())
    >>> ax.get_legend().get_texts()[0].get_text()
    'nugget: 1'
    """
    if max_lag < 1:
        raise InputError(f"max_lag must be 1 or more but is {max_lag}; give 100.")
    series = _series(chains_of(draws), circular, scale)
    ax = given_or_new(ax, (7.6, 4.2))
    longest = 1
    for number, (name, values) in enumerate(series.items()):
        correlation = mean_autocorrelation(values, max_lag)
        longest = max(longest, len(correlation) - 1)
        below = np.flatnonzero(correlation < _SMALL)
        colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        label = f"{name}: {_lag(correlation, below)}"
        ax.plot(correlation, color=colour, linestyle=dashes, linewidth=1.6, label=label)
        if below.size:
            ax.plot(below[0], correlation[below[0]], "o", color=colour, markersize=6, label="_below")
    ax.axhspan(-_SMALL, _SMALL, color="0.9", linewidth=0, zorder=0)
    ax.axhline(0.0, color="0.5", linewidth=0.8, zorder=0.5)
    ax.set_xlim(0, longest)
    ax.set_ylim(top=1.02)
    ax.set_xlabel(f"lag in draws (dot and number: first lag below {_SMALL:g})")
    ax.set_ylabel("autocorrelation")
    legend_above(ax, handlelength=3.2)
    return ax


def mean_autocorrelation(chains: FloatArray, max_lag: int) -> FloatArray:
    """Autocorrelation at the lags 0, 1, ..., each chain about its own mean, averaged over the chains.

    Chains that never move have none: the result is nan.

    >>> mean_autocorrelation(np.array([[1.0, -1.0, 1.0, -1.0]]), 2).tolist()
    [1.0, -0.75, 0.5]
    """
    n = chains.shape[1]
    lags = min(max_lag, n - 1)
    centred = chains - chains.mean(axis=1, keepdims=True)
    moving = np.ptp(chains, axis=1) > 0
    if not moving.any():
        return np.full(lags + 1, np.nan)
    # Zeros up to twice the length keep the end of a chain from meeting its beginning.
    spectrum = np.fft.rfft(centred[moving], 2 * n, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n, axis=1)[:, : lags + 1]
    return np.asarray((covariance / covariance[:, :1]).mean(axis=0))


def _series(
    chains: Mapping[str, FloatArray], circular: Collection[str], scale: Scale | None
) -> dict[str, FloatArray]:
    """Each parameter, or the cosine and sine of each angle."""
    circular = set(circular) & set(chains)
    if circular and scale is None:
        raise InputError("scale is needed to draw angles but is None; give Scale(period, origin, unit).")
    series: dict[str, FloatArray] = {}
    for name, values in chains.items():
        if name in circular and scale is not None:
            radians = np.asarray(to_radians(values, scale.period))
            series[f"cos {name}"], series[f"sin {name}"] = np.cos(radians), np.sin(radians)
        else:
            series[name] = values
    return series


def _lag(correlation: FloatArray, below: NDArray[np.intp]) -> str:
    if np.isnan(correlation).any():
        return "never moves"
    return str(int(below[0])) if below.size else f"more than {len(correlation) - 1}"
