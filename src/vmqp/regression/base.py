"""What every regressor with a posterior does, in the manner of scikit-learn: `fit` learns, the rest is cheap."""

import warnings
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from vmqp.arcs import check_probability
from vmqp.checks import check_count
from vmqp.circle import TWO_PI, FloatArray
from vmqp.errors import ConvergenceWarning, InputError, caller_level
from vmqp.posterior import LeaveOneOut, Posterior, Verdict
from vmqp.posterior.diagnostics import DOUBTS, diagnose, judge, kernel_choice, parameters_in
from vmqp.posterior.loo import leave_one_out
from vmqp.posterior.predictive import ClosedForm, default_draws
from vmqp.posterior.saving import write_tree
from vmqp.posterior.summary import summarise
from vmqp.precision.kriging import EXACT, NEAREST
from vmqp.priors import Prior
from vmqp.regression.fitting import Data, Learned
from vmqp.tables import Table, read_angles, read_inputs, read_new_inputs

__all__ = ["PosteriorRegressor"]

_DRAWS = 200  # joint draws of `simulate`
_PLAIN = (str, int, float, bool, type(None))
_PER_ROW = ("noise", "noise_new")
_RUNNING = ("executor", "workers", "checkpoint", "progress")


class _Memory(dict[Any, Any]):
    """What was computed for predictions, to be used again; it is not copied with a model."""

    def __reduce__(self) -> tuple[type["_Memory"], tuple[()]]:
        return _Memory, ()


@dataclass(kw_only=True, eq=False, repr=False)  # equality and text are scikit-learn's
class PosteriorRegressor(RegressorMixin, BaseEstimator, ABC):
    """A model of angles: `fit` draws its parameters from their posterior, and predictions follow in closed form.

    The options that all models share are here; a subclass adds its own fields.
    """

    period: float | str = TWO_PI
    kernel: Any = None
    metric: str = "euclidean"
    warmup: int = 1000
    thin: int = 1
    chains: int = 4
    draws: int | None = None
    seed: int = 0
    executor: Any = None
    workers: int | None = None
    checkpoint: Any = None
    progress: bool | None = None
    until: Any = None
    time_limit: float | None = None
    dtype: str = "float64"
    parameter_draws: int | None = None

    @abstractmethod
    def _learn(self, data: Data, options: dict[str, Any]) -> Learned:
        """Check the options and learn."""

    @abstractmethod
    def _joint(self, learned: Learned, X_new: Table, draws: int) -> Posterior:
        """Draw all new locations together."""

    @abstractmethod
    def _condition(self, learned: Learned, data: Data, **more: Any) -> Learned:
        """The same parameter draws with other data."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the parameters from observed locations and angles.

        Parameters
        ----------
        X : array or frame of shape (n, columns)
            Observed locations: an array, or a pandas or polars frame, whose text columns become categories.
        y : array of shape (n,)
            Observed angles in the period of the model.

        Returns
        -------
        self
        """
        data = self._read(X, y)
        self._asked_draws()
        self.n_features_in_ = data.table.values.shape[1]
        if data.table.names is not None:
            self.feature_names_in_ = np.array(data.table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._period = self.period
        options = self.get_params(deep=False)
        return self._keep(data, self._learn(data, options) if self._learns else None)

    @property
    def _learns(self) -> bool:
        """Whether learning needs the observed data alone."""
        return True

    def _read(self, X: Any, y: Any) -> Data:
        table = read_inputs(X, "X")
        radians, angles = read_angles(y, self.period, name="y", count=len(table.values))
        return Data(table, radians, angles)

    def _keep(self, data: Data, learned: Learned | None) -> Self:
        self.data_, self._learned, self._memory = data, learned, _Memory()
        return self

    @property
    def _model(self) -> Learned:
        """What was learned."""
        check_is_fitted(self, "data_")
        if self._learned is None:
            raise InputError(
                "with transductive=True parameters are learned together with the new locations: ask "
                "posterior(X_new), which has the same."
            )
        return self._learned

    # Predictions

    def posterior(self, X_new: Any) -> Posterior:
        """Predict new locations: a mixture over parameter draws, in closed form and without sampling.

        The answer at a location does not depend on which others are asked for. Of the parameter draws some are used,
        evenly thinned: as many as `parameter_draws` says, else 200, or 64 beyond 100,000 locations.

        Parameters
        ----------
        X_new : array or frame of shape (m, columns)
            New locations, with the columns that the model was fitted with.

        Returns
        -------
        Posterior
        """
        learned = self._model
        new = read_new_inputs(X_new, self.data_.table, "X_new")
        self._check_new(new)
        return self._predicted(learned, new)

    def _check_new(self, new: Table) -> None:
        """Refuse new locations that the kernel cannot take."""

    def _noise_new(self, m: int) -> FloatArray | None:
        """The noise of new observations, where it is given."""
        return None

    def _predicted(self, learned: Learned, new: Table) -> Posterior:
        n, facts = len(self.data_.radians), learned.facts
        noise_new = self._noise_new(len(new.values))
        asked, neighbors = self._asked_draws(), self._neighbors_of_new(n)
        noisy = facts.noise_of_new if noise_new is None else "given"
        key = asked or default_draws(len(new.values)), neighbors, noisy
        if key not in self._memory:
            self._memory[key] = ClosedForm(
                learned.tree,
                learned.kernel,
                new.values,
                column_names=facts.names,
                parameter_draws=asked,
                neighbors=neighbors,
                noise_of_new=noisy,
            )
        predictive = self._memory[key].elsewhere(new.values, noise_new)
        return Posterior(learned.tree, facts.with_new(new, noisy), predictive)

    def _asked_draws(self) -> int | None:
        asked = self.parameter_draws
        return (
            None
            if asked is None
            else check_count(asked, "parameter_draws", 1, "parameter draws of a prediction")
        )

    def _neighbors_of_new(self, n: int) -> int | None:
        """Observed locations that a prediction is conditioned on; None leaves it to their number."""
        precision = getattr(self, "precision", "auto")
        if precision == "dense" or (precision == "auto" and n <= EXACT):
            return n
        return max(NEAREST, int(getattr(self, "neighbors", NEAREST)))

    def predict(self, X_new: Any) -> FloatArray:
        """Circular mean at each new location, (m,), in the period of the data."""
        return self.posterior(X_new).mean

    def sample(self, X_new: Any, n: int | None = None) -> FloatArray:
        """Draws of new observations, (n, m), independent between locations; all of them if n is not given."""
        draws = self.posterior(X_new).draws
        count = draws.shape[0] * draws.shape[1]
        if n is None:
            n = count
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= count:
            raise InputError(
                f"n is {n!r}, but there are {count} draws: give a number from 1 to that, or None."
            )
        return evenly(draws, int(n))

    def score(self, X: Any, y: npt.ArrayLike) -> float:
        """Minus the mean CRPS of the predictions at X, but for rows where y is nan: larger is better."""
        return -float(np.nanmean(self.posterior(X).crps(y)))

    def joint_posterior(self, X_new: Any, draws: int = _DRAWS) -> Posterior:
        """Draw all new locations together: a `Posterior` with joint draws, and with diagnostics of its own.

        Parameters
        ----------
        X_new : array or frame of shape (m, columns)
            New locations.
        draws : int, default 200
            Joint draws in all, by 4 chains that visit the same parameter draws; at least 200 are made, so that the
            chains can be compared.
        """
        learned = self._model
        count = check_count(draws, "draws", 1, "joint draws")
        new = read_new_inputs(X_new, self.data_.table, "X_new")
        self._check_new(new)
        joint = self._joint(learned, new, max(count, _DRAWS))
        verdict = self.verdict()
        if not verdict.trusted:
            joint.to_datatree().attrs[DOUBTS] = str(verdict)
        return joint

    def simulate(self, X_new: Any, draws: int = _DRAWS) -> FloatArray:
        """Draw joint fields at new locations, (draws, m): for routes, areas and fronts, where dependence matters.

        It warns where the chains disagree; `joint_posterior` has the same draws with all diagnostics.
        """
        joint = self.joint_posterior(X_new, draws)
        verdict = joint.verdict()
        if not verdict.trusted:
            warnings.warn(str(verdict), ConvergenceWarning, stacklevel=caller_level())
        return evenly(joint.draws, draws)

    # The model

    def condition(self, X: Any, y: Any) -> Self:
        """Return a model with the same parameter draws and other observations: next hour's angles, without learning.

        Parameters
        ----------
        X, y
            The other observations, with the columns and in the period of the model.
        """
        return self._conditioned(X, y)

    def _conditioned(self, X: Any, y: Any, **more: Any) -> Self:
        learned = self._model
        table = read_new_inputs(X, self.data_.table, "X")
        radians, angles = read_angles(y, self._period, name="y", count=len(table.values))
        data = Data(table, radians, angles)
        other = copy(self)
        return other._keep(data, self._condition(learned, data, **more))

    @property
    def parameters(self) -> dict[str, FloatArray]:
        """Draws of the learned parameters by name, (chains, draws); the direction ν in the period of the data."""
        return parameters_in(self._model.tree, self._model.facts.range)

    def diagnostics(self) -> pd.DataFrame:
        """R-hat and effective sample size of each learned parameter, and with noise of each latent angle."""
        tree = self._model.tree
        if "diagnostics" not in self._memory:
            self._memory["diagnostics"] = diagnose(tree)
        table: pd.DataFrame = self._memory["diagnostics"]
        return table.copy()

    def verdict(self) -> Verdict:
        """Whether what was learned can be trusted, in words."""
        return judge(self.diagnostics(), self._model.tree, self._model.facts.target_ess)

    @property
    def kernel_choice(self) -> pd.DataFrame:
        """The kernels that the default was chosen among, by leave-one-out; no rows where a kernel was given."""
        return kernel_choice(self._model.tree)

    def summary(self, probability: float = 0.9) -> pd.DataFrame:
        """One row for each learned parameter: mean, standard deviation, interval, R-hat, effective sample size."""
        level = check_probability(probability)
        return summarise(self.parameters, self.diagnostics(), level, self._model.facts.range)

    def loo(self) -> LeaveOneOut:
        """Leave-one-out log density of each observed angle, with its reliability k̂."""
        return leave_one_out(self._model.tree, self._model.facts.range.period)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a NetCDF file, which `vmqp.load` reads.

        >>> import tempfile
        >>> from pathlib import Path
        >>> import vmqp
        >>> model = vmqp.CircularRegressor(kernel="2.0 * exponential(3.0)", concentration=0, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.fit([[0.0], [1.0]], [0.1, 0.3]).save(Path(folder, "model.nc"))
        ...     again = vmqp.load(Path(folder, "model.nc"))
        >>> bool((again.predict([[0.5]]) == model.predict([[0.5]])).all())
        True
        """
        learned = self._model
        own = {"class": type(self).__name__, "options": _as_text(self.get_params(deep=False))}
        write_tree(learned.tree, replace(learned.facts, estimator=own), path)

    def __sklearn_clone__(self) -> Self:
        # Options are shared and never changed; an executor among them could not be copied.
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # the score is no R²: the best is 0
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def evenly(draws: FloatArray, count: int) -> FloatArray:
    """Some of the draws, (chains, draws, m), in the order of chains and evenly chosen, (count, m).

    >>> evenly(np.arange(6.0).reshape(2, 3, 1), 3).ravel().tolist()
    [0.0, 2.0, 5.0]
    """
    flat = draws.reshape(-1, draws.shape[2])
    return np.asarray(flat[np.linspace(0, len(flat) - 1, count).astype(int)])


def _as_text(options: dict[str, Any]) -> dict[str, Any]:
    """Options that a file can hold; the kernel is told by the draws, and how it ran and other objects are left out."""
    kept: dict[str, Any] = {}
    for name, value in options.items():
        plain = value.item() if isinstance(value, np.generic) else value
        if name == "kernel" or name in _RUNNING:
            continue
        if isinstance(plain, _PLAIN):
            kept[name] = plain
        elif isinstance(plain, Prior):
            kept[name] = {"prior": repr(plain)}
        elif name in _PER_ROW:
            kept[name] = {"rows": np.asarray(plain, dtype=float).tolist()}
    return kept
