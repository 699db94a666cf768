"""The pictures of a posterior: its arrays, handed to `vmqp.plots`. They are the plot methods of the class.

Each draws on the axes that it is given and returns them; without any it makes a figure. With ``compass=True`` angles
run clockwise from north, as bearings and wind directions do, else counter-clockwise from east. matplotlib is loaded
when the first picture is drawn.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vmqp.errors import InputError
from vmqp.posterior.tables import column_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from vmqp.plots import Scale
    from vmqp.posterior.posterior import Posterior

__all__ = [
    "plot",
    "plot_autocorrelation",
    "plot_calibration",
    "plot_direction",
    "plot_map",
    "plot_parameters",
    "plot_rose",
    "plot_variance",
]

_MOST_ROSES = 6
_LEVELS = np.arange(0.05, 1.0, 0.05)


def plot(
    post: "Posterior", *, probability: float = 0.9, compass: bool = False, ax: "Axes | None" = None
) -> "Axes":
    """Draw all predictions: a curve with its band for one input, arrows on a map for two."""
    columns = _varying(post)
    if len(columns) == 2:
        return post.plot_map(compass=compass, ax=ax)
    if len(columns) != 1:
        raise InputError(
            f"there is no one picture of predictions over {len(columns)} inputs: look at single places with "
            "plot_rose, or at to_frame()."
        )
    from vmqp import plots

    (column,) = columns
    lower, upper = post.interval(probability).T
    return plots.curve(
        post.X_new[:, column],
        post.mean,
        lower,
        upper,
        scale=_scale(post, compass),
        observed=(post.X[:, column], post.y),
        probability=probability,
        label_x=_labels(post)[column],
        ax=ax,
    )


def plot_map(
    post: "Posterior", *, compass: bool = False, background: bool = False, ax: "Axes | None" = None
) -> "Axes":
    """Draw arrows on a map of two inputs: observed and predicted; the less certain, the shorter and paler."""
    from vmqp import plots

    columns, names = _plane(post)
    return plots.arrows(
        post.X_new[:, columns],
        post.mean,
        post.variance,
        scale=_scale(post, compass),
        observed=(post.X[:, columns], post.y),
        background=background,
        names=names,
        ax=ax,
    )


def plot_variance(post: "Posterior", *, ax: "Axes | None" = None) -> "Axes":
    """Draw the circular variance as a map of two inputs."""
    from vmqp import plots

    columns, names = _plane(post)
    return plots.variance_map(
        post.X_new[:, columns], post.variance, observed=post.X[:, columns], names=names, ax=ax
    )


def plot_direction(post: "Posterior", *, compass: bool = False, ax: "Axes | None" = None) -> "Axes":
    """Draw the mean direction in the colours of a wheel, as a map of two inputs."""
    from vmqp import plots

    columns, names = _plane(post)
    observed = post.X[:, columns], post.y
    scale = _scale(post, compass)
    return plots.direction_map(
        post.X_new[:, columns], post.mean, scale=scale, observed=observed, names=names, ax=ax
    )


def plot_rose(
    post: "Posterior",
    places: int | Sequence[int] | None = None,
    *,
    y_true: npt.ArrayLike | None = None,
    probability: float = 0.9,
    compass: bool = False,
    ax: "Axes | None" = None,
) -> Any:
    """Draw rose diagrams of the prediction at some rows of X_new, with density, mean and regions.

    Without `places` they are the first six rows. `y_true` holds the true angle of each row of X_new, or nan. With
    `ax`, polar axes, there can be one place only.
    """
    from vmqp import plots

    rows = _rows(places, len(post.X_new))
    truth = None if y_true is None else np.asarray(post.range.from_radians(post._truth(y_true)))
    grid, densities = post._even_densities(rows)
    draws = post.draws_at(rows)
    titles = [_title(post, row) for row in rows]
    panels: list[dict[str, Any]] = [
        {
            "draws": draws[..., i].reshape(-1),
            "density": (grid, density),
            "truth": None if truth is None or np.isnan(truth[row]) else float(truth[row]),
            "interval": post._region(row, density, probability),
        }
        for i, (row, density) in enumerate(zip(rows, densities, strict=True))
    ]
    shared: dict[str, Any] = {"scale": _scale(post, compass), "probability": probability}
    if ax is not None or len(rows) == 1:
        if len(rows) > 1:
            raise InputError(f"{len(rows)} places were given for one axes: give one place, or no axes.")
        return plots.rose(**panels[0], **shared, title=titles[0], ax=ax)
    return plots.roses(
        [panel["draws"] for panel in panels],
        densities=[panel["density"] for panel in panels],
        truths=None if truth is None else [panel["truth"] for panel in panels],
        intervals=[panel["interval"] for panel in panels],
        titles=titles,
        **shared,
    )


def plot_parameters(post: "Posterior", *, compass: bool = False, axes: Any = None) -> Any:
    """Draw the trace and the histogram of each learned parameter; the direction as a rose."""
    from vmqp import plots

    scale = _scale(post, compass)
    return plots.parameters(post.parameters, circular=("direction",), scale=scale, axes=axes)


def plot_calibration(post: "Posterior", y_true: npt.ArrayLike, *, axes: Any = None) -> Any:
    """Draw how honest the probabilities are against the truth, where it is not nan: PIT histogram, coverage of arcs."""
    from vmqp import plots

    shares = [post.coverage(y_true, float(level)) for level in _LEVELS]
    transform = post.pit(y_true)
    return plots.calibration(transform[~np.isnan(transform)], coverage=(_LEVELS, shares), axes=axes)


def plot_autocorrelation(post: "Posterior", *, max_lag: int = 100, ax: "Axes | None" = None) -> "Axes":
    """Draw how long the chains remember: the autocorrelation of each parameter."""
    from vmqp import plots

    draws = next(iter(post.parameters.values()), np.empty((1, 2)))
    lag = min(max_lag, draws.shape[1] - 1)
    scale = _scale(post, False)
    return plots.autocorrelation(post.parameters, circular=("direction",), scale=scale, max_lag=lag, ax=ax)


def _scale(post: "Posterior", compass: bool) -> "Scale":
    from vmqp import plots

    return plots.Scale(post.period, post.range.origin, post.unit, compass=compass)


def _labels(post: "Posterior") -> list[str]:
    return column_labels(post.column_names, post.X_new.shape[1])


def _varying(post: "Posterior") -> list[int]:
    """Columns of numbers that are not the same at all new places; categories make a picture of none."""
    columns = [i for i in range(post.X_new.shape[1]) if np.ptp(post.X_new[:, i]) > 0.0]
    columns = columns or [0]
    return [] if any(i in post.categories for i in columns) else columns


def _plane(post: "Posterior") -> tuple[list[int], tuple[str, str]]:
    columns, labels = _varying(post), _labels(post)
    if len(columns) != 2:
        raise InputError(
            f"a map needs two inputs that are numbers and vary over the new places, but there are {len(columns)}: "
            "use plot() for one input, plot_rose() for single places."
        )
    return columns, (labels[columns[0]], labels[columns[1]])


def _rows(places: int | Sequence[int] | None, m: int) -> list[int]:
    given = list(range(min(m, _MOST_ROSES))) if places is None else np.atleast_1d(places).tolist()
    if not given or not all(isinstance(row, int) and -m <= row < m for row in given):
        raise InputError(f"places is {places!r}: give rows of X_new, from 0 to {m - 1}.")
    return [row % m for row in given]


def _title(post: "Posterior", row: int) -> str:
    place = ", ".join(
        post.categories[i][int(value)] if i in post.categories else f"{value:.4g}"
        for i, value in enumerate(post.X_new[row])
    )
    return f"location {row} ({place})"
