"""Models beside each other: the same random splits of the data, and how well each predicts what it has not seen.

>>> import numpy as np
>>> from vmqp import CircularRegressor
>>> X = np.linspace(0.0, 4.0, 12)[:, None]
>>> y = np.mod(80.0 * X[:, 0] + 300.0, 360.0)
>>> models = {
...     kernel: CircularRegressor(period=360, kernel=kernel, warmup=20, draws=50, chains=2)
...     for kernel in ("exponential(2.0) + nugget(0.1)", "gaussian(1.0) + nugget(0.1)")
... }
>>> compare(models, X, y, folds=2, progress=False).table["folds"].tolist()
[2, 2]
"""

from vmqp.comparison.fits import compare
from vmqp.comparison.result import Comparison
from vmqp.comparison.splits import split

__all__ = ["Comparison", "compare", "split"]
