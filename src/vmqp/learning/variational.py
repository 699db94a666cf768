"""Mean field: the closest product of von Mises laws, and a lower bound on log Z.

Let q = Π_i vM(arg h_i, |h_i|) with the means m_i = E_q x_i = A(|h_i|) h_i / |h_i|, A = I₁/I₀. For the density of
``eq:prior`` every expectation under q is closed, and Jensen's inequality gives

    log Z ≥ −½ Σ_{i≠j} M_ij m_i·m_j − ½ tr M + Σ_i field_i·m_i + Σ_i H_i,

with Z of ``eq:Z_w_definition`` and the entropies H_i = log 2π I₀(|h_i|) − |h_i| A(|h_i|). The bound is largest in
q_i, the others fixed, at h_i = field_i − Σ_{j≠i} M_ij m_j: the local field with means in place of unit vectors.
Visiting the angles in turn therefore never lowers the bound. It is equal to log Z where M is diagonal.

Sweeps crawl where M is stiff. From time to time Newton's method on R = h − field + C m(h) = 0, C being M without its
diagonal, is tried. It is accepted only if the bound rises, so the ascent stays monotone.

The bound can have several maxima, and q leaves out every correlation: it is too narrow where angles move together.
"""

from fractions import Fraction
from typing import Any, NamedTuple
from warnings import warn

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.linalg import cho_factor, cho_solve
from scipy.special import i0e

from vmqp.checks import check_count, check_positive
from vmqp.circle import FloatArray
from vmqp.errors import ConvergenceWarning, InputError
from vmqp.model import conditional, noisy
from vmqp.sampling.target import as_reals, make_target

__all__ = ["MeanField", "approximate_angles", "bessel_ratio", "mean_field"]

_FAR = 32.0  # from here on the asymptotic series of A is exact to rounding
_PUSH = 0.01  # length of the push at the default start
_PATIENCE = 50  # sweeps between two trials of Newton's method
_HALVINGS = 6


def _asymptotic(terms: int) -> FloatArray:
    """Coefficients c_n of 1 − A(k) = Σ_n c_n k⁻ⁿ, n = 1 … terms, from A' = 1 − A/k − A²."""
    a = [Fraction(1)]
    for n in range(1, terms + 1):
        a.append(((n - 2) * a[n - 1] - sum(a[j] * a[n - j] for j in range(1, n))) / 2)
    return np.array([-float(value) for value in a[1:]])


_SERIES = _asymptotic(13)


@njit(cache=True, error_model="numpy")
def _ratio(k):  # type: ignore[no-untyped-def]
    """A(k) and 1 − A(k), each with all its digits for large k."""
    if k > _FAR:
        gap = 0.0
        for n in range(_SERIES.shape[0] - 1, -1, -1):
            gap = (gap + _SERIES[n]) / k
        return 1.0 - gap, gap
    # I_n / I_{n−1} = k / (2n + k I_{n+1} / I_n), downwards: errors shrink by the square of the ratio at each step.
    ratio = 0.0
    for n in range(12 + int(1.5 * k), 0, -1):
        ratio = k / (2.0 * n + k * ratio)
    return ratio, 1.0 - ratio


@njit(cache=True)
def _ratios(k):  # type: ignore[no-untyped-def]
    ratio, gap = np.empty_like(k), np.empty_like(k)
    for i in range(k.shape[0]):
        ratio[i], gap[i] = _ratio(k[i])
    return ratio, gap


@njit(cache=True, nogil=True, error_model="numpy")
def _ascend(coupling, field, means, h, tolerance, sweeps):  # type: ignore[no-untyped-def]
    """Sweep until no mean moves by more than the tolerance; means and h change in place. Returns the sweeps made."""
    for sweep in range(sweeps):
        largest = 0.0
        for i in range(means.shape[0]):
            hc, hs = field[i, 0], field[i, 1]
            for j in range(means.shape[0]):
                hc -= coupling[i, j] * means[j, 0]
                hs -= coupling[i, j] * means[j, 1]
            size = np.hypot(hc, hs)
            share = _ratio(size)[0] / size if size > 0.0 else 0.0
            c, s = share * hc, share * hs
            largest = max(largest, abs(c - means[i, 0]), abs(s - means[i, 1]))
            means[i, 0], means[i, 1], h[i, 0], h[i, 1] = c, s, hc, hs
        if largest <= tolerance:
            return sweep + 1, True
    return sweeps, False


class MeanField(NamedTuple):
    """A product of von Mises laws, one for each angle."""

    field: FloatArray
    """h of each factor, (d, 2)."""
    means: FloatArray
    """E x_i of each factor, (d, 2)."""
    bound: float
    """A lower bound on log Z, valid whether or not the ascent has converged."""
    sweeps: int
    """How often all angles were visited."""
    converged: bool
    """Whether the last sweep moved no mean by more than the tolerance."""

    @property
    def direction(self) -> FloatArray:
        """Mean direction of each angle, (d,), in radians."""
        return np.asarray(np.arctan2(self.field[:, 1], self.field[:, 0]))

    @property
    def concentration(self) -> FloatArray:
        """Concentration of each angle, (d,)."""
        return np.asarray(np.hypot(self.field[:, 0], self.field[:, 1]))


def bessel_ratio(concentration: npt.ArrayLike) -> FloatArray:
    """Return A(k) = I₁(k) / I₀(k), the mean resultant length of a von Mises law.

    >>> bessel_ratio([0.0, 2.0, 1e8]).round(6)
    array([0.      , 0.697775, 1.      ])
    """
    k = as_reals(concentration, "concentration")
    if not (np.isfinite(k) & (k >= 0.0)).all():
        raise InputError("a concentration is negative or not finite: give numbers of at least 0.")
    return np.asarray(_ratios(k.ravel())[0].reshape(k.shape))


def mean_field(
    M: Any, field: Any, *, start: Any = None, tolerance: float = 1e-10, max_sweeps: int = 10_000
) -> MeanField:
    """Fit the product of von Mises laws that is closest to the density of M, (d, d), and the field, (d, 2).

    Closest is meant in KL(q | p), and locally: where the bound has several maxima, the start decides. `start` holds
    the means to begin with, (d, 2), such as ``unit_vectors(angles)`` or the means of an earlier fit. Without it the
    ascent begins at the mean M⁻¹ field of the Gaussian before it is put on the circle, where M is positive definite
    (it finds a smooth function where the field's signs alternate), and at no mean at all where M is not. Each mean is
    then pushed a little along its field, or along the first axis where it has none. The push is turned by an angle
    that differs from site to site, since means that lie on one axis by symmetry would never leave it.

    >>> import numpy as np
    >>> q = mean_field(np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 0.0]]))
    >>> q.concentration.round(3), round(q.bound, 3), q.converged
    (array([1.256, 0.53 ]), 1.97, True)
    """
    target = make_target(M, field)
    check_positive(tolerance, "tolerance")
    max_sweeps = check_count(max_sweeps, "max_sweeps", 1, "sweeps over all angles at the most")
    matrix = target.matrix()
    coupling = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    pull = np.ascontiguousarray(target.field.T)
    means = _default_start(coupling, target.diagonal, pull) if start is None else _start(start, len(pull))
    h = np.zeros_like(means)
    sweeps, converged = 0, False
    while not converged and sweeps < max_sweeps:
        if sweeps:
            means, h = _newton(coupling, pull, means, h)
        most = min(_PATIENCE, max_sweeps - sweeps)
        made, converged = _ascend(coupling, pull, means, h, float(tolerance), most)
        sweeps += made
    if not converged:
        message = f"mean field still moves after {sweeps} sweeps: raise max_sweeps, or the tolerance of {tolerance:g}."
        warn(message, ConvergenceWarning, stacklevel=2)
    bound = _bound(coupling, pull, means, h) - 0.5 * float(target.diagonal.sum())
    return MeanField(h, means, bound, sweeps, converged)


def approximate_angles(
    M: FloatArray, observed_angles: npt.ArrayLike, field: FloatArray, *, noise: npt.ArrayLike | None = None
) -> MeanField:
    """Fit the mean field of the angles given n observed ones, whose rows of M come first.

    Without `noise` it is over the d − n unobserved angles (``eq:conditional_density``). With noise χ, one number or
    one for each observed row, it is over all d latent angles (``eq:noisy``).

    >>> import numpy as np
    >>> M = np.array([[2.0, -1.0], [-1.0, 3.0]])
    >>> approximate_angles(M, [0.5], np.zeros((2, 2))).direction
    array([0.5])
    >>> len(approximate_angles(M, [0.5], np.zeros((2, 2)), noise=4.0).means)
    2
    """
    if noise is None:
        return mean_field(*conditional(M, observed_angles, field))
    chi, n = as_reals(noise, "noise"), np.size(observed_angles)
    if chi.shape not in ((), (n,)) or not (np.isfinite(chi) & (chi >= 0.0)).all():
        raise InputError(
            f"noise is {noise!r}, but it is the concentration of {n} observations: give one number of at least 0, "
            "or one for each of them."
        )
    return mean_field(*noisy(M, observed_angles, field, chi))


def _default_start(coupling: FloatArray, diagonal: FloatArray, field: FloatArray) -> FloatArray:
    """The mean of the Gaussian where there is one, brought inside the circle, and a short push."""
    try:
        mean = cho_solve(cho_factor(coupling + np.diag(diagonal)), field)
    except np.linalg.LinAlgError:
        mean = np.zeros_like(field)
    mean /= np.maximum(1.0, np.hypot(mean[:, 0], mean[:, 1]))[:, None]
    turn = 0.5 * np.sin(2.4 * np.arange(len(field)))
    angles = np.where(field.any(axis=1), np.arctan2(field[:, 1], field[:, 0]), 0.0) + turn
    return np.asarray((1.0 - _PUSH) * mean + _PUSH * np.column_stack([np.cos(angles), np.sin(angles)]))


def _start(start: Any, d: int) -> FloatArray:
    means = as_reals(start, "start")
    if means.shape != (d, 2) or not (np.hypot(means[:, 0], means[:, 1]) <= 1.0 + 1e-9).all():
        raise InputError(
            f"start has shape {means.shape}, but means of shape ({d}, 2) and length at most 1 are needed: "
            "give unit_vectors(angles), or the means of an earlier fit."
        )
    return means


def _bound(coupling: FloatArray, field: FloatArray, means: FloatArray, h: FloatArray) -> float:
    """The bound on log Z, without the diagonal of M."""
    k = np.hypot(h[:, 0], h[:, 1])
    # log 2π I₀(k) − k A(k) = log 2π i0e(k) + k (1 − A(k)): the terms of order k are gone.
    entropy = np.log(2.0 * np.pi * i0e(k)) + k * _ratios(k)[1]
    return float(np.sum(means * (field - 0.5 * coupling @ means)) + entropy.sum())


def _newton(
    coupling: FloatArray, field: FloatArray, means: FloatArray, h: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """One step of Newton's method on R(h) = 0, halved until the bound rises; where it does not, nothing changes."""
    d, k = len(h), np.maximum(np.hypot(h[:, 0], h[:, 1]), 1e-300)
    ratio, gap = _ratios(k)
    unit, slope = h / k[:, None], ratio / k  # the slope of m across h; along h it is A' = 1 − A² − A/k
    along = (gap * (2.0 - gap) - slope) - slope
    derivative = slope[:, None, None] * np.eye(2) + along[:, None, None] * unit[:, :, None] * unit[:, None]
    jacobian = np.eye(2 * d) + np.einsum("ij,jab->iajb", coupling, derivative).reshape(2 * d, 2 * d)
    try:
        step = np.linalg.solve(jacobian, (field - coupling @ means - h).ravel()).reshape(d, 2)
    except np.linalg.LinAlgError:  # no field: all angles can turn together
        return means, h
    current = _bound(coupling, field, means, h)
    for halving in range(_HALVINGS if np.isfinite(step).all() else 0):
        trial = h + step / 2.0**halving
        size = np.maximum(np.hypot(trial[:, 0], trial[:, 1]), 1e-300)
        moved = (_ratios(size)[0] / size)[:, None] * trial
        if _bound(coupling, field, moved, trial) > current:
            return moved, trial
    return means, h
