"""`CircularRegressor`, in the manner of scikit-learn, and `regress`, the same in one call."""

import inspect
from dataclasses import dataclass
from typing import Any

from vmqp.errors import InputError
from vmqp.posterior import Posterior
from vmqp.priors import HalfNormal, UniformAngle
from vmqp.regression.base import PosteriorRegressor
from vmqp.regression.fitting import Data, fit_posterior
from vmqp.tables import Table, nearest

__all__ = ["CircularRegressor", "regress"]

_KAPPA, _NU = HalfNormal(1.0), UniformAngle()


@dataclass(kw_only=True, eq=False, repr=False)
class CircularRegressor(PosteriorRegressor):
    """Bayesian regression of an angle on inputs, by a von Mises quasi-process.

    `fit` checks and keeps the data. The chains run when new places are known, in `posterior`, for they belong to the
    model: predictions at a place depend on which other places are asked for.

    **Parameters**

    period
        Of the angles: 2π, 360, 24, … or a word such as "degrees" or "hours". Use 180 for axes without a head.
    kernel
        A kernel of `vmqp.kernels`, or its text; None makes one from the spread of the inputs.
    metric
        "euclidean", or "geographic" for inputs longitude and latitude in degrees; for the default kernel and for text.
    drift
        "constant" pulls every place with the same strength, "mean" stays the same when places are added; "auto" takes
        the first up to as many new places as observed ones.
    concentration
        Strength κ of the drift: a number (fixed) or a prior (learned). 0 is no drift.
    direction
        Direction ν of the drift: an angle in the data's period, or ``priors.UniformAngle()``.
    noise
        Concentration χ of the observations about the process: None for none (the nugget stands for scatter), a number,
        a prior, or an array with a known one for each row.
    noise_new
        Concentration of new observations, where it differs; with a noise for each row it is needed for predictions of
        observations, else those of the process are returned.
    precision
        "dense", "vecchia" (sparse, for many places), or "auto": dense up to 2,000 places.
    neighbors
        Neighbours of a place in a sparse precision: more are more accurate, and slower.
    stages
        2 learns the parameters with the observed and some new places and then draws the whole map, 1 does both at once;
        "auto" takes 2 for more than 2,000 places on a sparse precision. `draws` are then those of the map, 400 if not
        given, while `sampler`, `method`, `warmup` and `thin` are those of learning.
    memory
        Bound on the memory of a map in two stages, in bytes or as "4GB"; half of the machine's if not given.
    sampler
        Of the angles: "hybrid", "heatbath", or "augmented", the paper's.
    method
        A `vmqp.learning.Method` with all choices, in place of `sampler`.
    warmup, thin, chains, draws, seed
        Iterations that adapt, iterations for each draw, chains, draws of each chain, and what decides all randomness.
        Without a number of draws they are 1,000, or as many more as the diagnostics need, up to 10,000.
    executor
        "threads", "processes", the address of a Dask scheduler as "dask://host:port", or an Executor.
    workers, checkpoint, progress, until, time_limit, dtype
        As in `vmqp.run.run_chains`.

    >>> import numpy as np
    >>> X = np.linspace(0.0, 4.0, 9)[:, None]
    >>> y = np.mod(80.0 * X[:, 0] + 300.0, 360.0)
    >>> kernel = "2.0 * exponential(3.0) + nugget(0.01)"  # with numbers in place of priors nothing is learned
    >>> regressor = CircularRegressor(period=360, kernel=kernel, concentration=0, progress=False).fit(X, y)
    >>> regressor.predict([[2.25]]).round(-1)
    array([120.])
    >>> regressor.sample([[2.25]], 10).shape, regressor.posterior([[2.25]]).interval(0.9).shape
    ((10, 1), (1, 2))
    >>> regressor.score([[2.25]], [120.0]) > -0.1  # minus the mean CRPS: 0 is perfect, −0.5 knows nothing
    True
    """

    drift: str = "auto"
    concentration: Any = _KAPPA
    direction: Any = _NU
    noise: Any = None
    noise_new: Any = None
    precision: str = "auto"
    neighbors: int = 20
    stages: Any = "auto"
    memory: Any = None
    sampler: str = "hybrid"
    method: Any = None

    def _draw(self, data: Data, X_new: Table, options: dict[str, Any]) -> Posterior:
        return fit_posterior(data, X_new, options, type(self)().get_params(deep=False))


def regress(X: Any, y: Any, X_new: Any, **options: Any) -> Posterior:
    """Regress angles on inputs and predict them at new places, in one call.

    `X` holds the observed places, one row each: an array, or a pandas or polars frame, whose text columns become
    categories. `y` holds the observed angles. The options are those of `CircularRegressor`.

    >>> import numpy as np
    >>> X, y = np.arange(8.0)[:, None], np.mod(40.0 * np.arange(8.0), 360.0)
    >>> post = regress(X, y, [[2.5], [3.5]], period=360, progress=False)
    >>> post.mean.round(-1)
    array([100., 140.])
    """
    known = list(inspect.signature(CircularRegressor.__init__).parameters)[1:]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise InputError(
            f"regress has no option {unknown[0]!r}: did you mean {nearest(unknown[0], known)!r}? "
            f"The options are {', '.join(known)}."
        )
    return CircularRegressor(**options).fit(X, y).posterior(X_new)


regress.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # for help() and editors
    [
        *list(inspect.signature(regress).parameters.values())[:3],
        *list(inspect.signature(CircularRegressor.__init__).parameters.values())[1:],
    ],
    return_annotation=Posterior,
)
