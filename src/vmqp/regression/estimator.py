"""`CircularRegressor`, in the manner of scikit-learn, and `regress`, the same in one call."""

import inspect
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.posterior import Posterior
from vmqp.priors import HalfNormal, UniformAngle
from vmqp.regression.base import PosteriorRegressor
from vmqp.regression.fitting import Data, Learned, condition, draw_jointly, draw_transductive, learn
from vmqp.regression.kernel import check_columns, choose_kernel
from vmqp.regression.options import check_choices, read_noise_new
from vmqp.regression.places import check_scale
from vmqp.tables import Table, find_missing, nearest, read_inputs, read_new_inputs, take_rows
from vmqp.tables.words import shown

__all__ = ["CircularRegressor", "regress"]

_KAPPA, _NU = HalfNormal(1.0), UniformAngle()


@dataclass(kw_only=True, eq=False, repr=False)
class CircularRegressor(PosteriorRegressor):
    """Bayesian regression of an angle on inputs, by a von Mises quasi-process.

    `fit` learns the parameters from the observed data. Predictions then follow in closed form, one location at a time:
    `predict`, `posterior`, `sample` and `score` need no sampling and no other locations. `simulate` draws joint fields.

    Parameters
    ----------
    period
        Of the angles: 2π, 360, 24, … or a word such as "degrees" or "hours". Use 180 for axes without a head.
    kernel
        A kernel of `vmqp.kernels`, or its text, such as "exponential + nugget". None chooses among exponential, Matérn
        3/2 and Matérn 5/2, with one length scale and with one for each column, by leave-one-out; the verdict names the
        choice. Where `transductive`, None is the exponential.
    metric
        "euclidean", or "geographic" for inputs longitude and latitude in degrees; for the default kernel and for text.
    drift
        "mean" conditions a Gaussian process of constant mean on the circle, and does not depend on how dense the
        locations are; "constant" is the paper's, which pulls every location with the same strength. By default "mean",
        and "constant" where `transductive`.
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
    inference
        "bayes" draws the parameters from their posterior. "fast" takes those of the largest penalized
        pseudo-likelihood, in a fraction of a second: for first looks, cross-validation and the choice of a model. The
        uncertainty of the parameters is then left out.
    transductive
        Learn parameters and new angles together, as the paper does: then nothing is learned in `fit`, `posterior`
        samples, its draws are joint, and the answer at a location depends on which others are asked for.
    precision
        "dense", "vecchia" (sparse, for many locations), or "auto": dense up to 500 locations for learning and up to
        2,000 for joint draws; of more than 20,000 observations 600 are learned from. Predictions are conditioned on all
        observed locations where it is "dense", or up to 320 of them.
    neighbors
        Neighbors of a location in a sparse precision: more are more accurate, and slower. A prediction that is not
        conditioned on all observed locations takes so many of the nearest, but at least 40.
    parameter_draws
        Parameter draws that a prediction is a mixture over, evenly thinned; 200 by default, 64 beyond 100,000
        locations.
    memory
        Bound on the memory of `simulate`, in bytes or as "4GB"; half of the machine's if not given.
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

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0.0, 4.0, 9)[:, None]
    >>> y = np.mod(80.0 * X[:, 0] + 300.0, 360.0)
    >>> kernel = "2.0 * exponential(3.0) + nugget(0.01)"  # with numbers in place of priors nothing is learned
    >>> model = CircularRegressor(period=360, kernel=kernel, concentration=0, progress=False).fit(X, y)
    >>> model.predict([[2.25]]).round(-1)
    array([120.])
    >>> model.sample([[2.25]], 10).shape, model.posterior([[2.25]]).interval(0.9).shape
    ((10, 1), (1, 2))
    >>> model.score([[2.25]], [120.0]) > -0.1  # minus the mean CRPS: 0 is perfect, −0.5 knows nothing
    True
    >>> later = model.condition(X, np.mod(y + 10.0, 360.0))  # other angles, the same parameters
    >>> later.predict([[2.25]]).round(-1)
    array([130.])
    >>> model.simulate([[2.25], [2.5]], draws=20).shape
    (20, 2)
    """

    drift: str | None = None
    concentration: Any = _KAPPA
    direction: Any = _NU
    noise: Any = None
    noise_new: Any = None
    inference: str = "bayes"
    transductive: bool = False
    precision: str = "auto"
    neighbors: int = 20
    memory: Any = None
    sampler: str = "hybrid"
    method: Any = None

    @property
    def _learns(self) -> bool:
        if not isinstance(self.transductive, bool | np.bool_):
            raise InputError(f"transductive is {shown(self.transductive)}: give True or False.")
        if self.transductive and self.inference == "fast":
            raise InputError(
                "transductive=True was given with inference='fast', which learns from the observed data alone: leave "
                "one of them out."
            )
        return not self.transductive

    def _learn(self, data: Data, options: dict[str, Any]) -> Learned:
        noisy = options["noise"] is not None
        if options["noise_new"] is not None and not noisy:
            read_noise_new(options["noise_new"], 1, noisy=False)
        return learn(data, options, self._defaults())

    def _defaults(self) -> dict[str, Any]:
        defaults: dict[str, Any] = type(self)().get_params(deep=False)
        return defaults

    def _check_new(self, new: Table) -> None:
        check_columns(self._model.kernel, self.data_.table, new)
        check_scale(self.data_.table, new)

    def _noise_new(self, m: int) -> FloatArray | None:
        if self.noise_new is None:
            return None
        return read_noise_new(self.noise_new, m, noisy=self.noise is not None)

    def posterior(self, X_new: Any) -> Posterior:
        """Predict new locations, (m, columns): in closed form, or by joint draws where `transductive`.

        In closed form the answer at a location does not depend on which others are asked for. It is a mixture over
        evenly thinned parameter draws: as many as `parameter_draws` says, else 200, or 64 beyond 100,000 locations.
        """
        check_is_fitted(self, "data_")
        if self._learned is not None:
            return super().posterior(X_new)
        new = read_new_inputs(X_new, self.data_.table, "X_new")
        key = repr((new.values.shape, new.categories, new.kind)).encode() + new.values.tobytes()
        # The period is that of the data; other options may have been changed since.
        options = self.get_params(deep=False) | {"period": self._period}
        before = self._memory.get("transductive")
        if before is None or before[0] != key or any(options[o] is not v for o, v in before[1].items()):
            before = key, options, draw_transductive(self.data_, new, options, self._defaults())
            self._memory["transductive"] = before
        found: Posterior = before[2]
        return found

    def _joint(self, learned: Learned, X_new: Table, draws: int) -> Posterior:
        options = self.get_params(deep=False)
        return draw_jointly(learned, X_new, options, draws, self._noise_new(len(X_new.values)))

    def simulate(self, X_new: Any, draws: int = 200) -> FloatArray:
        """Draw joint fields at new locations, (draws, m): for routes, areas and fronts, where dependence matters.

        It warns where the chains disagree; `joint_posterior` has the same draws with all diagnostics. Where
        `transductive`, they are some of the draws of `posterior`, evenly chosen.
        """
        check_is_fitted(self, "data_")
        if self._learned is not None:
            return super().simulate(X_new, draws)
        return self.sample(X_new, draws)

    def _condition(self, learned: Learned, data: Data, **more: Any) -> Learned:
        return condition(learned, data, self.get_params(deep=False), more.get("noise"))

    def condition(self, X: Any, y: Any, *, noise: Any = None) -> Self:
        """Return a model with the same parameter draws and other observations: next hour's angles, without learning.

        Parameters
        ----------
        X, y
            The other observations, with the columns and in the period of the model.
        noise
            The known noise χ of each of these rows, where the model was fitted with one for each row.
        """
        return self._conditioned(X, y, noise=noise)


def regress(X: Any, y: Any, X_new: Any = None, **options: Any) -> Posterior:
    """Regress angles on inputs and predict them at new locations, in one call.

    `X` holds the observed locations, one row each: an array, or a pandas or polars frame, whose text columns become
    categories. `y` holds the observed angles. The options are those of `CircularRegressor`. The same in two steps,
    learning once and predicting as often as needed: ``CircularRegressor(**options).fit(X, y).posterior(X_new)``.

    Without `X_new` the rows of X are predicted whose angle is missing: nan or None in y.

    >>> import numpy as np
    >>> X, y = np.arange(8.0)[:, None], np.mod(40.0 * np.arange(8.0), 360.0)
    >>> post = regress(X, y, [[2.5], [3.5]], period=360, progress=False)
    >>> post.mean.round(-1)
    array([100., 140.])
    >>> y[3] = np.nan  # a gap
    >>> gaps = regress(X, y, period=360, kernel="2 * exponential(3) + nugget(0.01)", progress=False)
    >>> gaps.X_new.tolist(), gaps.mean.round(-1).tolist()
    ([[3.0]], [120.0])
    """
    known = list(inspect.signature(CircularRegressor.__init__).parameters)[1:]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise InputError(
            f"regress has no option {unknown[0]!r}: did you mean {nearest(unknown[0], known)!r}? "
            f"The options are {', '.join(known)}."
        )
    table, missing = read_inputs(X, "X"), find_missing(y, "y")
    if X_new is None:
        observed, gaps = _parted(len(table.values), missing)
        noise: Any = options.get("noise")
        if np.ndim(noise) == 1 and len(noise) == len(missing):
            options["noise"] = take_rows(noise, observed)
        X_new, X, y = take_rows(X, gaps), take_rows(X, observed), take_rows(y, observed)
        table = read_inputs(X, "X")
    elif missing.any():
        raise InputError(
            f"row {int(np.argmax(missing))} of y holds NaN or nothing: drop the row, fill in a value, or leave X_new "
            "out, so that the rows without an angle are predicted."
        )
    model = CircularRegressor(**options)
    _check_ahead(model, table, read_new_inputs(X_new, table, "X_new"))
    return model.fit(X, y).posterior(X_new)


def _parted(rows: int, missing: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows with an angle, and rows without one, which are predicted."""
    if len(missing) != rows:
        raise InputError(f"X has {rows} rows and y has {len(missing)}: give one angle for each row.")
    if not missing.any():
        raise InputError(
            "X_new was not given, and no value of y is missing, so that there is nothing to predict: give X_new, or "
            "NaN in y for the rows to predict."
        )
    if rows - missing.sum() < 2:
        raise InputError(
            f"{missing.sum()} of {rows} values of y are missing, but at least 2 observed angles are needed: give more."
        )
    return np.flatnonzero(~missing), np.flatnonzero(missing)


def _check_ahead(model: CircularRegressor, X: Table, X_new: Table) -> None:
    """Refuse new locations before hours of learning, not after."""
    check_choices(model.get_params(deep=False))
    noisy = model.noise is not None
    read_noise_new(model.noise_new, len(X_new.values), noisy=noisy)
    check_scale(X, X_new)
    check_columns(choose_kernel(X, None, model.kernel, metric=model.metric, noisy=noisy), X, X_new)


regress.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # for help() and editors
    [
        *list(inspect.signature(regress).parameters.values())[:3],
        *list(inspect.signature(CircularRegressor.__init__).parameters.values())[1:],
    ],
    return_annotation=Posterior,
)
