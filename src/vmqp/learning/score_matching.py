"""Score matching (Hyvärinen 2005) on the torus: an objective of the parameters that needs no normaliser.

The squared distance between the score of the model, ``s_i = ∂ log p/∂φ_i``, and that of the law of the data is, up to
a constant, the expectation of

    J = Σ_i [½ s_i² + ∂s_i/∂φ_i] = Σ_i [½ (h_i × x_i)² − h_i·x_i],    ∂J/∂h_i = s_i (−sin φ_i, cos φ_i) − x_i

with h the local field, so that ``s_i = h_i·(−sin φ_i, cos φ_i)``. The torus has no boundary, so integrating by
parts leaves no boundary term. J is quadratic in M and in the field. The paper's outlook names this way of learning.
"""

import numpy as np
import numpy.typing as npt

from vmqp import model
from vmqp.circle import FloatArray
from vmqp.learning.objective import find_maximum
from vmqp.learning.optimum import Maximum
from vmqp.learning.problem import Problem

__all__ = ["minimise", "score"]


def _rule(h: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return −J, (...), and its derivative by h, (..., d, 2): a rule is to be large."""
    across = np.stack([-x[..., 1], x[..., 0]], axis=-1)
    slope = np.sum(h * across, axis=-1)
    dot = np.sum(h * x, axis=-1)
    return np.sum(dot - 0.5 * slope**2, axis=-1), x - slope[..., None] * across


def score(angles: npt.ArrayLike, M: FloatArray, field: FloatArray) -> FloatArray:
    """Return J, shape (...), of angles (..., d): small where the parameters fit.

    >>> import numpy as np
    >>> float(score([0.0], np.array([[2.0]]), np.array([[3.0, 0.0]])))
    -3.0
    """
    return -_rule(model.local_field(angles, M, field), model.unit_vectors(angles))[0]


def minimise(problem: Problem, *, angles: npt.ArrayLike | None = None, prior: bool = False) -> Maximum:
    """Return the parameters with the smallest J.

    By default it is that of the n observed places alone; with `angles`, (draws, d), it is the mean over draws of
    all d angles. With `prior` the log prior is taken off J, which keeps parameters in bounds that J leaves open,
    but makes no posterior. The answer's `value` is −J, with the log prior if it was asked for.

    >>> import numpy as np
    >>> from vmqp import kernels, priors
    >>> from vmqp.learning.problem import make_problem
    >>> X = np.linspace(0.0, 5.0, 30)[:, None]
    >>> kernel = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1))
    >>> minimum = minimise(make_problem(X, np.sin(X[:, 0]), kernel=kernel), prior=True)
    >>> minimum.converged, list(minimum.values)
    (True, ['variance', 'lengthscale', 'concentration', 'direction'])
    """
    return find_maximum(problem, _rule, angles=angles, prior=prior)
