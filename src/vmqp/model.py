"""The density of a von Mises quasi-process: energy, field, conditional and noise. No sampling.

Notation, with ``x_i = (cos φ_i, sin φ_i)`` for the angle φ_i at place i of d:

=====================  =============  ==========================================================
name                   paper          meaning
=====================  =============  ==========================================================
``M``                  M              the precision K⁻¹, (d, d), symmetric
``field``              ρ              the pull on each unit vector, (d, 2)
``concentration``      κ              the strength of the drift
``direction``          ν              the direction of the drift
``noise``              χ              the concentration of an observation about its latent angle
=====================  =============  ==========================================================

The log-density is ``−U(φ) − log Z`` with ``U(φ) = ½ Σ_ij M_ij cos(φ_i − φ_j) − Σ_i field_i · x_i``
(``eq:prior``, ``eq:Z_w_definition``). Angles are in radians and may carry leading axes, (..., d).

>>> import numpy as np
>>> M = np.array([[2.0, -1.0], [-1.0, 2.0]])
>>> field = drift_field(M, concentration=0.5, direction=0.0, drift="constant")
>>> float(energy([0.0, 0.0], M, field))
0.0
>>> float(energy([0.0, np.pi], M, field))
3.0
"""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import i0e

from vmqp.circle import FloatArray, FloatOrArray, as_result, wrap
from vmqp.errors import InputError

__all__ = [
    "Conditional",
    "Drift",
    "canonical",
    "conditional",
    "direction_conditional",
    "direction_weights",
    "drift_field",
    "energy",
    "gradient",
    "local_field",
    "log_density_unnormalised",
    "log_normaliser_quadrature",
    "noise_log_likelihood",
    "noisy",
    "predictive_field",
    "unit_vectors",
]

Drift = Literal["constant", "mean"]


def _check(M: FloatArray, field: FloatArray, angles: FloatArray | None = None) -> None:
    """Refuse shapes that do not belong together, before NumPy broadcasts them."""
    shape = getattr(M, "shape", None)
    if shape is None or len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(
            f"M is {f'of shape {shape}' if shape else f'a {type(M).__name__}'}, but a (d, d) array is needed: "
            "give the precision matrix, such as factorise(K).M."
        )
    d = shape[0]
    if np.shape(field) != (d, 2):
        raise InputError(
            f"field has shape {np.shape(field)}, but M has {d} rows: give a field of shape ({d}, 2)."
        )
    if angles is not None and (angles.ndim == 0 or angles.shape[-1] != d):
        raise InputError(f"angles have shape {angles.shape}, but M has {d} rows: give shape (..., {d}).")


def _observed(angles: npt.ArrayLike, d: int) -> FloatArray:
    """Unit vectors of n ≤ d observed angles."""
    values = np.asarray(angles, dtype=np.float64)
    if values.ndim != 1 or len(values) > d:
        raise InputError(
            f"observed angles have shape {values.shape}, but M has {d} rows: give shape (n,) with n at most {d}; "
            "the observed rows of M come first."
        )
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(
            f"the observed angle at row {row} is {values[row]}: give finite angles, or drop the row."
        )
    return unit_vectors(values)


def unit_vectors(angles: npt.ArrayLike) -> FloatArray:
    """Return ``(cos φ, sin φ)``, shape (..., d, 2).

    >>> unit_vectors([0.0, np.pi / 2]).round(6)
    array([[1., 0.],
           [0., 1.]])
    """
    angles = np.asarray(angles, dtype=np.float64)
    return np.stack((np.cos(angles), np.sin(angles)), axis=-1)


def energy(angles: npt.ArrayLike, M: FloatArray, field: FloatArray) -> FloatArray:
    """Return U(φ), shape (...): minus the log-density without its normaliser.

    The double sum includes i = j. The diagonal of M adds the constant ``½ Σ_i M_ii``, since cos 0 = 1: it
    changes no conditional and cancels in every ratio at fixed M, but it counts in an absolute log Z.

    >>> M, field = np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([[0.5, 0.0], [0.0, 0.0]])
    >>> energy([[0.0, 0.0], [0.0, np.pi]], M, field)  # two sets of angles
    array([0.5, 2.5])
    """
    x = unit_vectors(angles)
    _check(M, field, x[..., 0])
    # eq:prior, eq:Z_w_definition: cos(φ_i − φ_j) = x_i · x_j.
    return np.asarray(0.5 * np.sum(x * (M @ x), axis=(-2, -1)) - np.sum(field * x, axis=(-2, -1)))


def log_density_unnormalised(angles: npt.ArrayLike, M: FloatArray, field: FloatArray) -> FloatArray:
    """Return −U(φ), shape (...).

    >>> import numpy as np
    >>> float(log_density_unnormalised([0.0], np.array([[2.0]]), np.array([[3.0, 0.0]])))
    2.0
    """
    return -energy(angles, M, field)


def local_field(angles: npt.ArrayLike, M: FloatArray, field: FloatArray) -> FloatArray:
    """Return ``h_i = field_i − Σ_{j≠i} M_ij x_j``, shape (..., d, 2).

    One angle given the rest is von Mises about ``arg h_i`` with concentration ``|h_i|``.

    >>> import numpy as np
    >>> local_field([0.0, np.pi / 2], np.array([[2.0, -1.0], [-1.0, 2.0]]), np.zeros((2, 2))).round(6)
    array([[0., 1.],
           [1., 0.]])
    """
    x = unit_vectors(angles)
    _check(M, field, x[..., 0])
    # The diagonal is taken out before the product, so that a large M_ii costs no digits.
    coupling = M - np.diag(np.diagonal(M))
    return np.asarray(field - coupling @ x)


def gradient(angles: npt.ArrayLike, M: FloatArray, field: FloatArray) -> FloatArray:
    """Return ``dU/dφ_i``, shape (..., d): the cross product of h_i and x_i.

    >>> import numpy as np
    >>> gradient([0.0], np.array([[2.0]]), np.array([[0.0, 3.0]]))
    array([-3.])
    """
    x = unit_vectors(angles)
    h = local_field(angles, M, field)
    return np.asarray(h[..., 0] * x[..., 1] - h[..., 1] * x[..., 0])


def direction_weights(M: FloatArray, drift: Drift) -> FloatArray:
    """Return the weight w_i of each place in the drift, (d,): 1, or ``(M 1)_i`` for ``drift="mean"``.

    >>> M = np.array([[2.0, -1.0], [-1.0, 3.0]])
    >>> direction_weights(M, "constant"), direction_weights(M, "mean")
    (array([1., 1.]), array([1., 2.]))
    """
    if drift == "constant":
        return np.ones(len(M))
    if drift == "mean":
        return np.asarray(M.sum(axis=1))
    raise InputError(f"drift = {drift!r} was given: give 'constant' or 'mean'.")


def drift_field(M: FloatArray, concentration: float, direction: float, drift: Drift) -> FloatArray:
    """Return the field of the drift, (d, 2).

    ``"constant"`` is the paper's: ``κ (cos ν, sin ν)`` at every place (``eq:prior``). ``"mean"`` conditions a
    Gaussian process of constant mean ``κ (cos ν, sin ν)`` on the circle: the terms of ``eq:2d_Gaussian`` that
    are linear in f give ``κ (M 1)_i (cos ν, sin ν)``.

    >>> import numpy as np
    >>> drift_field(np.array([[2.0, -1.0], [-1.0, 3.0]]), 0.5, 0.0, "mean")
    array([[0.5, 0. ],
           [1. , 0. ]])
    """
    pull = concentration * np.array([np.cos(direction), np.sin(direction)])
    return np.asarray(direction_weights(M, drift)[:, None] * pull)


def canonical(concentration: npt.ArrayLike, direction: npt.ArrayLike) -> tuple[FloatOrArray, FloatOrArray]:
    """Return the same drift with κ ≥ 0 and ν in (−π, π].

    The density is unchanged under ``(κ, ν) ↔ (−κ, ν − π)``; numbers and arrays are accepted.

    >>> canonical(-2.0, 0.5)
    (2.0, -2.641592653589793)
    """
    kappa = np.asarray(concentration, dtype=np.float64)
    nu = np.asarray(direction, dtype=np.float64)
    return as_result(np.abs(kappa)), wrap(np.where(kappa < 0.0, nu - np.pi, nu))


def direction_conditional(
    angles: npt.ArrayLike, M: FloatArray, concentration: npt.ArrayLike, drift: Drift
) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the concentration of the von Mises law of ν given φ and κ, under a uniform prior.

    Z does not depend on ν (rotate everything), so this is exact: ``ν ~ vM(arg R, κ |R|)`` with
    ``R = Σ_i w_i x_i`` and the weights of `direction_weights`.

    >>> import numpy as np
    >>> mean, concentration = direction_conditional([0.5, 0.5], np.eye(2), 3.0, "constant")
    >>> round(float(mean), 6), round(float(concentration), 6)
    (0.5, 6.0)
    """
    total = np.einsum("...ik,i->...k", unit_vectors(angles), direction_weights(M, drift))
    pull = np.asarray(concentration, dtype=np.float64)[..., None] * total
    return np.arctan2(pull[..., 1], pull[..., 0]), np.hypot(pull[..., 0], pull[..., 1])


class Conditional(NamedTuple):
    """The density of the unobserved angles: the same form, with Q and ρ for M and the field.

    >>> law = conditional(np.array([[2.0, -1.0], [-1.0, 3.0]]), [0.0], np.zeros((2, 2)))
    >>> law.Q, law.rho
    (array([[3.]]), array([[1., 0.]]))
    """

    Q: FloatArray
    """The precision of the m unobserved angles, (m, m)."""
    rho: FloatArray
    """The pull on each of them, (m, 2)."""


def conditional(M: FloatArray, observed_angles: npt.ArrayLike, field: FloatArray) -> Conditional:
    """Return Q, (m, m), and ρ, (m, 2), of the unobserved angles; the n observed rows come first.

    >>> import numpy as np
    >>> M = np.array([[2.0, -1.0], [-1.0, 3.0]])
    >>> Q, rho = conditional(M, [0.0], np.zeros((2, 2)))
    >>> Q, rho
    (array([[3.]]), array([[1., 0.]]))
    """
    _check(M, field)
    x = _observed(observed_angles, len(M))
    n = len(x)
    # eq:conditional_density
    return Conditional(np.ascontiguousarray(M[n:, n:]), field[n:] - M[n:, :n] @ x)


def predictive_field(
    kriged: FloatArray,
    ones: FloatArray,
    variance: FloatArray,
    concentration: npt.ArrayLike,
    direction: npt.ArrayLike,
    drift: Drift,
) -> FloatArray:
    """Return the field h* of one new angle given the n observed ones, shape (2, ...).

    In the model of the n observed locations and one new location the new angle is von Mises about ``arg h*`` with
    concentration ``|h*|``. With the covariances ``k = k(X, x*)`` and the kriging variance
    ``s² = k(x*, x*) − kᵀK⁻¹k``, the nugget of the new row included in ``k(x*, x*)``::

        h* = kᵀK⁻¹x / s² + κ e(ν)                              drift "constant"
        h* = [kᵀK⁻¹x + κ (1 − kᵀK⁻¹1) e(ν)] / s²               drift "mean"

    It is `conditional` for one unobserved row: by the inverse of a partitioned matrix the entries of M between the
    new row and the others are ``−kᵀK⁻¹/s²``, and their sum with the diagonal ``1/s²`` is the weight of the drift.

    Parameters
    ----------
    kriged : ndarray of shape (2, ...)
        ``kᵀK⁻¹x`` for the cosines and the sines of the observed angles.
    ones : ndarray of shape (...)
        ``kᵀK⁻¹1``.
    variance : ndarray of shape (...)
        The kriging variance s².
    concentration, direction : array_like, broadcast with `variance`
        κ and ν.
    drift : {"constant", "mean"}
        How the drift pulls.

    Examples
    --------
    >>> import numpy as np
    >>> kriged, ones, variance = np.array([[0.5], [0.0]]), np.array([0.5]), np.array([0.75])
    >>> predictive_field(kriged, ones, variance, 2.0, 0.0, "mean")[0].round(3)
    array([2.])
    """
    # eq:conditional_density, for one unobserved angle
    weight = np.asarray(concentration) * (1.0 if drift == "constant" else (1.0 - ones) / variance)
    nu = np.broadcast_to(direction, variance.shape)
    return np.asarray(kriged / variance + np.stack([np.cos(nu), np.sin(nu)]) * weight)


def noisy(
    M: FloatArray, observed_angles: npt.ArrayLike, field: FloatArray, noise: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return M and the field of all d latent angles, given noisy observations of the first n.

    `noise` is χ, one number or one for each observed row.

    >>> import numpy as np
    >>> noisy(np.eye(2), [0.0], np.zeros((2, 2)), 4.0)[1]
    array([[4., 0.],
           [0., 0.]])
    """
    _check(M, field)
    x = _observed(observed_angles, len(M))
    total = np.array(field, dtype=np.float64)
    # eq:noisy: χ cos(θ_i − φ_i) is a pull of strength χ towards the observation.
    total[: len(x)] += np.asarray(noise, dtype=np.float64)[..., None] * x
    return M, total


def noise_log_likelihood(observed: npt.ArrayLike, latent: npt.ArrayLike, noise: npt.ArrayLike) -> FloatArray:
    """Return ``Σ_i log vM(θ_i; φ_i, χ)`` over the last axis, with its normaliser ``2π I₀(χ)``.

    `latent` holds the angles φ of the observed rows, (..., n); `noise` is χ, one number or one a row.

    >>> import numpy as np
    >>> bool(np.isclose(noise_log_likelihood([0.3], [1.0], 0.0), -np.log(2.0 * np.pi)))
    True
    """
    chi = np.asarray(noise, dtype=np.float64)
    half = 0.5 * (np.asarray(observed, dtype=np.float64) - np.asarray(latent, dtype=np.float64))
    # eq:noisy, with I₀(χ) = e^χ i0e(χ): χ (cos − 1) = −2 χ sin² of half the angle keeps its digits.
    return np.asarray(np.sum(-2.0 * chi * np.sin(half) ** 2 - np.log(2.0 * np.pi * i0e(chi)), axis=-1))


def log_normaliser_quadrature(M: FloatArray, field: FloatArray, points: int | None = None) -> float:
    """Return log Z for d ≤ 3 by the trapezoid rule on a grid of angles (``eq:Z_w_definition``).

    On a periodic smooth integrand the rule converges faster than any power of the spacing. Without `points`
    (grid points for each angle) the spacing is about half of 1/√(largest field that one angle can feel).

    >>> import numpy as np
    >>> bool(np.isclose(log_normaliser_quadrature(np.zeros((2, 2)), np.zeros((2, 2))), 2 * np.log(2 * np.pi)))
    True
    """
    d = len(M)
    if d > 3:
        raise InputError(
            f"the normaliser of {d} angles was asked for by quadrature: it is made for at most 3."
        )
    coupling = np.asarray(M - np.diag(np.diagonal(M)))
    if points is None:
        # By Gershgorin no curvature of U exceeds twice the largest field: aliasing is below exp(−36).
        largest = float((np.hypot(field[:, 0], field[:, 1]) + np.abs(coupling).sum(axis=1)).max())
        points = max(48, int(np.ceil(12.0 * np.sqrt(largest))))
    if float(points) ** d > 1e9:
        raise InputError(
            f"log Z by quadrature would need {points} grid points for each of {d} angles: "
            "give fewer points, or a weaker coupling and field."
        )
    grid = np.arange(points) * (2.0 * np.pi / points)
    pull = unit_vectors(grid) @ field.T
    log_sum = _log_sum(list(pull.T), coupling, np.cos(grid[:, None] - grid) if d > 1 else np.zeros((1, 1)))
    return float(log_sum - 0.5 * np.trace(M) + d * np.log(2.0 * np.pi / points))


def _log_sum(pull: list[FloatArray], M: FloatArray, cosines: FloatArray) -> float:
    """Log-sum of exp(−U) over the grid of all angles; the first of three is summed outside."""
    if len(pull) == 1:
        return _log_sum_exp(pull[0])
    if len(pull) == 2:
        return _log_sum_exp(pull[0][:, None] + pull[1] - M[0, 1] * cosines)
    slices = [
        pull[0][k] + _log_sum([pull[j] - M[0, j] * cosines[k] for j in (1, 2)], M[1:, 1:], cosines)
        for k in range(len(cosines))
    ]
    return _log_sum_exp(np.array(slices))


def _log_sum_exp(values: FloatArray) -> float:
    largest = values.max()
    return float(largest + np.log(np.sum(np.exp(values - largest))))
