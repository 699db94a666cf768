"""The paper's augmentation: Gaussian variables z that decouple the angles, so that all move at once.

With ``AᵀA = D − Q`` (``eq:Cholesky``), ``z | φ ~ N(A x, 1)`` (``eq:z_given_phi``), and given z the angles are
independent von Mises with fields ``b = ρ + Aᵀz`` (``eq:product_vMises``, ``eq:kappas``). A step draws z, then φ.

The paper has D = λ1 with λ just above the largest eigenvalue of Q, ``scaling="scalar"``; the closest pair of
places then slows all angles down. Any diagonal D with D − Q positive definite is valid: ``scaling="diagonal"`` takes
``D = λ S²`` with S² = diag Q and λ just above the largest eigenvalue of S⁻¹QS⁻¹.
"""

from typing import Any, Literal

import numpy as np
from numba import njit
from scipy import sparse
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackError, eigsh

from vmqp.checks import check_positive
from vmqp.errors import InputError
from vmqp.sampling.angle import keep_angles
from vmqp.sampling.factor import Factor, apply_root, apply_root_transposed, cholesky
from vmqp.sampling.heatbath import renew
from vmqp.sampling.random import normal
from vmqp.sampling.sampler import Info, Sampler, State, Streams
from vmqp.sampling.target import Array, Target

__all__ = ["Augmented", "augmentation", "draw_auxiliary"]

_CLEARANCE = 1e-6  # by which λ exceeds the largest eigenvalue, relative


def augmentation(target: Target, scaling: str = "diagonal", lam: float | None = None) -> Factor:
    """The root A of D − Q.

    >>> from vmqp.sampling.target import make_target
    >>> target = make_target([[2.0, 1.0], [1.0, 2.0]], np.zeros((2, 2)))
    >>> A = augmentation(target, "scalar", lam=4.0).upper
    >>> A.T @ A  # 4·1 − Q
    array([[ 2., -1.],
           [-1.,  2.]])
    """
    if scaling not in ("scalar", "diagonal"):
        raise InputError(
            f"scaling is {scaling!r}, but the choices are 'scalar' (the paper's) and 'diagonal'."
        )
    if lam is not None and scaling != "scalar":
        raise InputError(
            "lam was given, but it belongs to scaling='scalar': give that too, or leave lam out."
        )
    check_positive(lam, "lam", optional=True)
    hollow = target.matrix()
    diagonal = target.diagonal if scaling == "scalar" else target.useful_diagonal()
    scale = np.ones(target.size) if scaling == "scalar" else _scale(hollow, diagonal)
    largest = _largest_eigenvalue(hollow, diagonal, scale) if target.size else 0.0
    if lam is None:
        # Relative to the size of the matrix, since the eigenvalue itself may be zero or negative.
        spread = max(abs(largest), float(np.abs(diagonal / scale).max(initial=0.0)), 1e-300)
        lam = largest + _CLEARANCE * spread
    factor = cholesky(-hollow, lam * scale - diagonal)
    if factor is None:
        raise InputError(
            f"lam is {lam:.6g}, but it must exceed the largest eigenvalue of the coupling, {largest:.6g}: "
            "give a larger one, or leave it out."
        )
    return factor


def _scale(hollow: Any, diagonal: Array) -> Array:
    """S²: the diagonal of Q, or the size of the row where that is not positive."""
    rows = np.asarray(abs(hollow).sum(axis=1)).ravel()
    scale: Array = np.where(diagonal > 0.0, diagonal, np.where(rows > 0.0, rows, 1.0))
    return scale


def _largest_eigenvalue(hollow: Any, diagonal: Array, scale: Array) -> float:
    """The largest eigenvalue of S⁻¹QS⁻¹."""
    size, root = len(scale), 1.0 / np.sqrt(scale)
    if isinstance(hollow, np.ndarray):
        matrix = hollow * np.outer(root, root)
        np.fill_diagonal(matrix, diagonal / scale)
        try:
            return float(eigvalsh(matrix, subset_by_index=[size - 1, size - 1])[0])
        except np.linalg.LinAlgError:  # LAPACK's search for one of them can fail where all are nearly equal
            return float(eigvalsh(matrix, driver="ev")[-1])
    own = diagonal / scale
    rows = np.asarray(abs(hollow).sum(axis=1)).ravel()
    if not rows.any():
        return float(own.max())
    scaled = sparse.diags_array(root) @ hollow @ sparse.diags_array(root) + sparse.diags_array(
        diagonal / scale
    )
    if size <= 32:
        return float(eigvalsh(scaled.toarray())[-1])
    bound = float((own + root * (abs(hollow) @ root)).max())  # Gershgorin's
    start = np.random.default_rng(0).standard_normal(size)  # a fixed start: the same answer every time
    try:
        value = eigsh(scaled, k=1, which="LA", v0=start, tol=1e-5, maxiter=200, return_eigenvectors=False)[0]
    except ArpackError:
        return bound
    return min(bound, float(value) + 2e-5 * abs(float(value)))


@njit(cache=True)
def draw_auxiliary(streams, factor, x, z):  # type: ignore[no-untyped-def]
    """z | φ, in place."""
    apply_root(factor, x, z)  # eq:z_given_phi
    for k in range(x.shape[1]):
        for i in range(x.shape[2]):
            z[0, k, i] += normal(streams, k)
            z[1, k, i] += normal(streams, k)


@njit(cache=True, error_model="numpy")
def _draw_angles(streams, factor, field, z, x):  # type: ignore[no-untyped-def]
    apply_root_transposed(factor, z, x)
    for k in range(x.shape[1]):
        for i in range(x.shape[2]):
            bc, bs = field[0, i] + x[0, k, i], field[1, i] + x[1, k, i]  # eq:kappas
            x[0, k, i], x[1, k, i] = renew(streams, k, bc, bs)  # eq:product_vMises


@njit(cache=True, nogil=True)
def _run(streams, factor, field, x, thin, out):  # type: ignore[no-untyped-def]
    z = np.empty_like(x)
    for draw in range(out.shape[1]):
        for _ in range(thin):
            draw_auxiliary(streams, factor, x, z)
            _draw_angles(streams, factor, field, z, x)
        keep_angles(x, out, draw)


class Augmented(Sampler):
    """Gibbs sampling of (z, φ), the method of the paper's section 3."""

    name = "augmented"
    default_warmup = 500

    def __init__(
        self,
        target: Target,
        *,
        scaling: Literal["scalar", "diagonal"] = "diagonal",
        lam: float | None = None,
        factor: Factor | None = None,
    ) -> None:
        super().__init__(target)
        self.factor = augmentation(target, scaling, lam) if factor is None else factor

    def step(self, rng: Streams, state: State) -> tuple[State, Info]:
        """Draw z given φ, then all angles given z."""
        state, _ = self.run(rng, state, 1)
        return state, Info(np.ones(rng.shape[0]))

    def run(self, rng: Streams, state: State, draws: int, thin: int = 1) -> tuple[State, Array]:
        """Make all steps in one compiled loop."""
        x = state.x.copy()
        out = np.empty((x.shape[1], draws, x.shape[2]))
        _run(rng, self.factor, self.target.field, x, thin, out)
        return state._replace(x=x, steps=state.steps + draws * thin), out
