"""Regression of angles on inputs: one call, or an estimator in the manner of scikit-learn."""

from vmqp.regression.estimator import CircularRegressor, regress

__all__ = ["CircularRegressor", "regress"]
