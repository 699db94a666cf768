"""What all baselines share: inputs and angles are read as everywhere in vmqp, and answers come in the user's period.

A baseline learns from inputs and radians in `_learn`, and gives the mean direction and draws of new observations in
radians by `_mean` and `_draw`.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from vmqp import scores
from vmqp.checks import check_count
from vmqp.circle import TWO_PI, FloatArray
from vmqp.errors import InputError
from vmqp.tables import Table, read_angles, read_inputs, read_new_inputs, read_truth

__all__ = ["Baseline", "Standard", "numbers_only"]

_SCORED = 1000  # draws of each place from which a score is estimated


class Baseline(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A model that predicts each place by itself, in the manner of scikit-learn."""

    period: float | str

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from observed places and angles."""
        table = read_inputs(X, "X")
        radians, angles = read_angles(y, self.period, name="y", count=len(table.values))
        self._learn(table, radians)
        self.table_, self.range_ = table, angles
        self.n_features_in_ = table.values.shape[1]
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def predict(self, X_new: Any) -> FloatArray:
        """Circular mean at each new place, (m,), in the period and range of the data; nan where there is none."""
        new = self._new(X_new)
        return np.asarray(self.range_.from_radians(self._mean(new)))

    def draws(self, X_new: Any, n: int = 1000, seed: int = 0) -> FloatArray:
        """Draws of a new observation at each place, (n, m), in the period and range of the data."""
        new = self._new(X_new)
        count = check_count(n, "n", 1, "draws of each place")
        rng = np.random.default_rng(check_count(seed, "seed", 0, "a stream of random numbers"))
        return np.asarray(self.range_.from_radians(self._draw(new, count, rng)))

    def crps(self, X: Any, y: npt.ArrayLike, distance: str = "cosine") -> FloatArray:
        """CRPS of the predictions at X given the true angles, (m,), as `vmqp.Posterior.crps`."""
        score = self._scored(X, y, lambda new, truth: self._crps(new, truth, distance))
        return score * (self.range_.period / TWO_PI if distance == "arc" else 1.0)

    def log_score(self, X: Any, y: npt.ArrayLike) -> FloatArray:
        """Log density of the predictions at X at the true angles, (m,): larger is better.

        A prediction that has its weight on a few angles has no density, and is refused.
        """
        return np.asarray(self._scored(X, y, self._log_density) + np.log(TWO_PI / self.range_.period))

    def score(self, X: Any, y: npt.ArrayLike) -> float:
        """Minus the mean CRPS of the predictions at X, but for rows where y is nan: larger is better."""
        return -float(np.nanmean(self.crps(X, y)))

    @abstractmethod
    def _learn(self, table: Table, radians: FloatArray) -> None:
        """Learn from checked data."""

    @abstractmethod
    def _mean(self, new: Table) -> FloatArray:
        """Mean directions in radians, (m,)."""

    @abstractmethod
    def _draw(self, new: Table, n: int, rng: np.random.Generator) -> FloatArray:
        """Draws in radians, (n, m)."""

    def _crps(self, new: Table, truth: FloatArray, distance: str) -> FloatArray:
        """In radians; from draws, unless the law is a few angles and can be scored itself."""
        draws = self._draw(new, _SCORED, np.random.default_rng(0))
        return scores.crps(draws, truth, distance=distance)

    def _log_density(self, new: Table, truth: FloatArray) -> FloatArray:
        """In radians, (m,)."""
        raise InputError(
            f"{type(self).__name__} predicts a few angles with equal weights, which have no density: score it by crps."
        )

    def _scored(
        self, X: Any, y: npt.ArrayLike, score: Callable[[Table, FloatArray], FloatArray]
    ) -> FloatArray:
        """A score of each place; nan where the true angle is nan."""
        new = self._new(X)
        truth = read_truth(y, self.range_, len(new.values), name="y")
        known = ~np.isnan(truth)
        return np.where(known, score(new, np.where(known, truth, 0.0)), np.nan)

    def _new(self, X_new: Any) -> Table:
        check_is_fitted(self, "table_")
        return read_new_inputs(X_new, self.table_, "X_new")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # the score is no R²: the best is 0
        return tags


class Standard:
    """Columns shifted and scaled as those of a table: mean 0 and standard deviation 1; constant ones become 0.

    >>> table = read_inputs([[1.0, 5.0], [3.0, 5.0]])
    >>> Standard(table.values)(table.values).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    def __init__(self, values: FloatArray) -> None:
        self._middle, spread = values.mean(axis=0), values.std(axis=0)
        fixed = (values == values[0]).all(axis=0)
        self._scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=~fixed & (spread > 0.0))

    def __call__(self, values: FloatArray) -> FloatArray:
        """Values of the same columns, shifted and scaled."""
        return np.asarray((values - self._middle) * self._scale)


def numbers_only(table: Table, model: str) -> FloatArray:
    """The values of a table, or an error where a column holds text.

    >>> import pandas
    >>> numbers_only(read_inputs(pandas.DataFrame({"kind": ["a", "b"]})), "TanHalfRegression")
    Traceback (most recent call last):
    vmqp.errors.InputError: column 'kind' holds text, which TanHalfRegression cannot use: give numbers, such as a column
    of 0 and 1 for each category.
    """
    if table.categories:
        label = table.label(min(table.categories))
        raise InputError(
            f"column {label!r} holds text, which {model} cannot use: give numbers, such as a column of 0 and 1 for "
            "each category."
        )
    return table.values
