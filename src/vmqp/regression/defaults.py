"""Kernels for those who have given none: priors of their length scales come from the spread of the inputs.

They are ``σ² · k(l) + Nugget(τ²)``, with a half-normal prior on σ² (scale 1) and on τ² (scale 0.1), and a log-normal
one on l about half of the median distance between observed locations, a factor e wide. Columns that differ in spread by
more than a factor 3 are taken to have different units: each gets a length scale of its own. Text columns become a
factor of their own, with a learned correlation between different categories. `vmqp.regression.selection` chooses among
them.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from vmqp import kernels, priors
from vmqp.circle import FloatArray
from vmqp.kernels import metrics
from vmqp.regression.earth import latitude_first
from vmqp.tables import Table

__all__ = ["FAMILIES", "NUGGET", "VARIANCE", "candidates", "default_kernel", "lengthscale_prior", "same_unit"]

FAMILIES: dict[str, Callable[..., kernels.Kernel]] = {
    "exponential": kernels.Exponential,
    "Matérn 3/2": kernels.Matern32,
    "Matérn 5/2": kernels.Matern52,
}
"""From rough to smooth."""
VARIANCE, NUGGET = priors.HalfNormal(1.0), priors.HalfNormal(0.1)
_EACH = "{}, a length scale for each column"
_DIFFERENT = 3.0  # ratio of spreads from which columns have a length scale each
_ROWS = 500  # for median distances: more would change little
_WIDTH = 1.0  # of the log-normal prior


def candidates(table: Table, *, metric: str, nugget: bool) -> dict[str, kernels.Kernel]:
    """Make the kernels to choose among, by name: each family with one length scale, and with one for each column.

    >>> list(candidates(Table(np.eye(3)[:, :2], None, {}, "numpy"), metric="euclidean", nugget=True))[::2]
    ['exponential', 'Matérn 5/2', 'Matérn 3/2, a length scale for each column']
    """
    columns = [i for i in range(table.values.shape[1]) if i not in table.categories]
    if not columns:  # of categories alone
        return {"categorical": default_kernel(table, metric=metric, nugget=nugget)}
    choices = [False, True] if same_unit(table.values[:, columns]) else [True]
    if len(columns) == 1 or metric == "geographic":
        choices = [False]
    return {
        _EACH.format(name) if each else name: default_kernel(
            table, metric=metric, nugget=nugget, family=family, each=each
        )
        for each in choices
        for name, family in FAMILIES.items()
    }


def default_kernel(
    table: Table,
    *,
    metric: str,
    nugget: bool,
    variance: priors.Prior | float = VARIANCE,
    family: Callable[..., kernels.Kernel] = kernels.Exponential,
    each: bool | None = None,
) -> kernels.Kernel:
    """Make a kernel for a table of observed locations.

    `each` says whether every column has a length scale of its own; by default it does where units differ.

    >>> table = Table(np.array([[0.0], [2.0], [4.0]]), None, {}, "numpy")
    >>> default_kernel(table, metric="euclidean", nugget=True)
    HalfNormal(scale=1.0) * Exponential(lengthscale=LogNormal(mu=0.0, sigma=1.0)) +
        Nugget(variance=HalfNormal(scale=0.1))
    """
    columns = [i for i in range(table.values.shape[1]) if i not in table.categories]
    factors: list[kernels.Kernel] = []
    if columns:
        own = None if not table.categories else columns
        if metric == "geographic" and len(columns) == 2 and latitude_first(table, columns):
            columns = own = columns[::-1]
        scale = lengthscale_prior(table.values, columns, metric, each)
        factors.append(family(scale, columns=own, metric=metric))
    if table.categories:
        factors.append(kernels.Categorical(priors.Uniform(0.0, 1.0), columns=sorted(table.categories)))
    kernel = variance * math.prod(factors[1:], start=factors[0])
    return kernel + kernels.Nugget(NUGGET) if nugget else kernel


def lengthscale_prior(
    X: FloatArray, columns: Sequence[int], metric: str, each: bool | None = None
) -> priors.LogNormal | list[priors.LogNormal]:
    """One prior for all columns, or a list with one for each; by default the latter where they differ in unit."""
    step = max(1, len(X) // _ROWS)
    chosen = X[::step][:, list(columns)]
    rows, cols = np.triu_indices(len(chosen), 1)
    if metric == "geographic":
        metrics.great_circle(X[:, list(columns)], rows[:0], cols[:0])  # sees that every row is on the earth
        return _prior(metrics.great_circle(chosen, rows, cols))
    if not (not same_unit(chosen) if each is None else each):
        return _prior(np.sqrt(metrics.squared_distance(chosen, rows, cols)))
    apart = np.sqrt(metrics.squared_differences(chosen, rows, cols))
    return [_prior(column * math.sqrt(len(apart))) for column in apart]


def same_unit(X: FloatArray) -> bool:
    """Whether the columns are spread alike."""
    spread = X.std(axis=0)
    return bool(spread.max() <= _DIFFERENT * spread.min())


def _prior(distances: FloatArray) -> priors.LogNormal:
    positive = distances[distances > 0.0]
    middle = float(np.median(positive)) if positive.size else 1.0
    return priors.LogNormal(math.log(0.5 * middle), _WIDTH)
