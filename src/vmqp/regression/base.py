"""What every regressor with a posterior does, in the manner of scikit-learn: data at the door, then draws on demand."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from vmqp.circle import TWO_PI, FloatArray
from vmqp.errors import InputError
from vmqp.posterior import Posterior
from vmqp.regression.fitting import Data
from vmqp.tables import Table, read_angles, read_inputs, read_new_inputs

__all__ = ["PosteriorRegressor"]


class _Memory:
    """The last posterior, and what it was asked for with; predicting leaves the estimator's own attributes alone."""

    def __init__(self) -> None:
        self._key = b""
        self._options: dict[str, Any] = {}
        self._posterior: Posterior | None = None

    def recall(self, key: bytes, options: dict[str, Any]) -> Posterior | None:
        same = key == self._key and all(options[name] is value for name, value in self._options.items())
        return self._posterior if same else None

    def keep(self, key: bytes, options: dict[str, Any], posterior: Posterior) -> Posterior:
        self._key, self._options, self._posterior = key, options, posterior
        return posterior


@dataclass(kw_only=True, eq=False, repr=False)  # equality and text are scikit-learn's
class PosteriorRegressor(RegressorMixin, BaseEstimator, ABC):
    """A model of angles whose posterior is drawn when new places are known.

    The options that all models share are here; a subclass adds its own fields and draws in `_draw`.
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

    @abstractmethod
    def _draw(self, data: Data, X_new: Table, options: dict[str, Any]) -> Posterior:
        """Check the options and draw."""

    def fit(self, X: Any, y: Any) -> Self:
        """Check the observed places and angles and keep them."""
        table = read_inputs(X, "X")
        radians, angles = read_angles(y, self.period, name="y", count=len(table.values))
        self.data_ = Data(table, radians, angles)
        self.n_features_in_ = table.values.shape[1]
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._period = self.period
        self._memory = _Memory()
        return self

    def posterior(self, X_new: Any) -> Posterior:
        """Draw from the posterior at new places; the same places again give the same object."""
        check_is_fitted(self, "data_")
        new = read_new_inputs(X_new, self.data_.table, "X_new")
        key = repr((new.values.shape, new.categories, new.kind)).encode() + new.values.tobytes()
        # The period is that of the data; other options may have been changed since.
        options = self.get_params(deep=False) | {"period": self._period}
        found = self._memory.recall(key, options)
        if found is None:
            found = self._draw(self.data_, new, options)
        return self._memory.keep(key, options, found)

    def predict(self, X_new: Any) -> FloatArray:
        """Circular mean at each new place, in the period of the data."""
        return self.posterior(X_new).mean.copy()

    def sample(self, X_new: Any, n: int | None = None) -> FloatArray:
        """Draws of new observations, (n, m), in the order of chains; all of them if n is not given."""
        draws = self.posterior(X_new).draws
        flat = draws.reshape(-1, draws.shape[2])
        if n is None:
            return flat
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= len(flat):
            raise InputError(
                f"n is {n!r}, but there are {len(flat)} draws: give a number from 1 to that, or None."
            )
        return np.asarray(flat[np.linspace(0, len(flat) - 1, int(n)).astype(int)])

    def score(self, X: Any, y: npt.ArrayLike) -> float:
        """Minus the mean CRPS of the predictions at X: larger is better."""
        return -float(self.posterior(X).crps(y).mean())

    def __sklearn_clone__(self) -> Self:
        # Options are shared and never changed; an executor among them could not be copied.
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # the score is no R²: the best is 0
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
