"""The gradient of the likelihood, ``eq:cd_gradient``, by draws of the angles: a difference of two expectations.

::

    ∇_w log p(θ | w) = E_prior [∇_w U(φ | w)] − E_posterior [∇_w U(φ | w)]

The first expectation is over all d angles of the process at w, the second over those that are not known, given the
observed ones. With ``U = ½ Σ_ij M_ij x_i·x_j − κ Σ_i w_i e·x_i`` and ``∂M = −M ∂K M`` the derivative by a parameter
of the kernel is::

    ∂U = −½ Σ_c (M x_c)ᵀ ∂K (M x_c)  [+ κ (M (x·e))ᵀ ∂K (M 1)  where the weights are w = M 1]

with c over cosines and sines. Both expectations are large where there are many angles and their difference is
small, so the error of the estimate matters: the paper found learning by this gradient not to work
(``fig:cont_div``). It is here to check other estimates, and to show that.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vmqp import model
from vmqp.checks import check_count
from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.learning.objective import (
    check_angles,
    complete_angles,
    covariance_derivatives,
    draw_complete,
    precision_and_field,
)
from vmqp.learning.problem import Problem
from vmqp.linalg.threads import one_blas_thread
from vmqp.sampling import sample_angles

__all__ = ["Estimate", "draw_gradient", "energy_gradient", "gradient"]

_FEWEST = 4  # draws that make two batches of two


class Estimate(NamedTuple):
    """A number known by sampling, with its standard error."""

    value: float
    error: float


def energy_gradient(
    problem: Problem, values: Mapping[str, float], angles: npt.ArrayLike
) -> dict[str, FloatArray]:
    """Return ∇_w U of each draw of complete angles, (draws, d): name to (draws,).

    The names are ``problem.exchanged``, and ``direction`` if ν is learned. Derivatives are by the parameters
    themselves, not on the unconstrained scale. `values` holds all learned parameters.

    >>> from vmqp import kernels, priors
    >>> from vmqp.learning.problem import make_problem
    >>> problem = make_problem([[0.0]], [0.0], kernel=1.0 * kernels.Exponential(1.0))
    >>> energy_gradient(problem, {"concentration": 2.0, "direction": 0.0}, [[0.0]])["concentration"]
    array([-1.])
    """
    complete = complete_angles(problem, angles)
    t = _coordinates(problem, values, complete.names)
    M = precision_and_field(problem, values)[0]
    kappa, nu = complete.drift(t)
    weights = model.direction_weights(M, problem.drift)
    x = complete.x
    along = np.cos(nu) * x[0] + np.sin(nu) * x[1]
    across = np.cos(nu) * x[1] - np.sin(nu) * x[0]
    pulled, pulled_drift = x @ M, along @ M
    found: dict[str, FloatArray] = {}
    for j, change in covariance_derivatives(complete, t):
        by_t = -0.5 * np.sum(pulled * (pulled @ change), axis=(0, 2))
        if problem.drift == "mean":
            by_t += kappa * (pulled_drift @ (change @ weights))
        name = complete.names[j]
        found[name] = by_t / np.exp(problem.priors[name].log_jacobian(t[j]))
    if "concentration" in complete.names:
        found["concentration"] = -(along @ weights)
    if "direction" in complete.names:
        found["direction"] = -kappa * (across @ weights)
    return found


def gradient(
    problem: Problem,
    values: Mapping[str, float],
    *,
    prior_draws: npt.ArrayLike,
    posterior_draws: npt.ArrayLike,
) -> dict[str, Estimate]:
    """Return the gradient of log p(θ | w) by each parameter, from draws of both laws, (draws, d) each.

    Errors come from the means of about √draws batches, so draws of a chain may be correlated over less than a batch.

    >>> import numpy as np
    >>> from vmqp import kernels
    >>> from vmqp.learning.problem import make_problem
    >>> problem = make_problem([[0.0]], [0.0], kernel=1.0 * kernels.Exponential(1.0), direction=0.0)
    >>> prior, posterior = np.pi * np.array([[0.0], [1.0], [0.0], [1.0]]), np.zeros((4, 1))
    >>> gradient(problem, {"concentration": 1.0}, prior_draws=prior, posterior_draws=posterior)
    {'concentration': Estimate(value=1.0, error=0.0)}
    """
    first, second = (
        energy_gradient(problem, values, _enough(draws, problem.d, name))
        for draws, name in ((prior_draws, "prior_draws"), (posterior_draws, "posterior_draws"))
    )
    # eq:cd_gradient
    return {
        name: Estimate(
            float(first[name].mean() - second[name].mean()),
            float(np.hypot(_standard_error(first[name]), _standard_error(second[name]))),
        )
        for name in first
    }


def draw_gradient(
    problem: Problem, values: Mapping[str, float], *, draws: int = 1000, seed: int = 0
) -> dict[str, Estimate]:
    """Draw from both laws and return the gradient of log p(θ | w).

    >>> from vmqp import kernels
    >>> from vmqp.learning.problem import make_problem
    >>> problem = make_problem([[0.0]], [0.0], [[1.0]], kernel=1.0 * kernels.Exponential(1.0), direction=0.0)
    >>> estimate = draw_gradient(problem, {"concentration": 1.0}, draws=400)["concentration"]
    >>> 0.3 < estimate.value < 0.8, 0.0 < estimate.error < 0.2
    (True, True)
    """
    draws = check_count(draws, "draws", _FEWEST, "draws of each law")
    seed = check_count(seed, "seed", 0, "a stream of random numbers")
    _coordinates(problem, values, problem.learned)
    first, second = (int(own) for own in np.random.SeedSequence(seed).generate_state(2))
    with one_blas_thread():
        M, field = precision_and_field(problem, values)
        prior = sample_angles(M, field, draws=draws, seed=first)
        posterior = draw_complete(problem, values, draws=draws, seed=second)
        return gradient(problem, values, prior_draws=prior, posterior_draws=posterior)


def _coordinates(problem: Problem, values: Mapping[str, float], names: tuple[str, ...]) -> FloatArray:
    """Return the named values on the unconstrained scale; refuse what is missing or has no derivative."""
    missing = [name for name in names if name not in values]
    if missing:
        raise InputError(f"values has no {missing[0]!r}: give a value for each of {list(names)}.")
    t = np.array([float(problem.priors[name].to_unconstrained(values[name])) for name in names])
    for name, u in zip(names, t, strict=True):
        if not np.isfinite(u):
            raise InputError(
                f"{name} = {values[name]} is an end of its prior's support, where there is no derivative: "
                "give a value inside."
            )
    return t


def _enough(draws: npt.ArrayLike, d: int, name: str) -> FloatArray:
    angles = check_angles(draws, d)
    if len(angles) < _FEWEST:
        raise InputError(f"{name} has {len(angles)} draws: give at least {_FEWEST} for a standard error.")
    return angles


def _standard_error(values: FloatArray) -> float:
    """Of the mean of a chain, by the means of batches of equal length."""
    batches = int(np.sqrt(len(values)))
    length = len(values) // batches
    means = values[: batches * length].reshape(batches, length).mean(axis=1)
    return float(means.std(ddof=1) / np.sqrt(batches))
