"""What is sampled: p(φ) ∝ exp(Σ_i ρ_i·x_i − ½ Σ_ij Q_ij x_i·x_j), x_i = (cos φ_i, sin φ_i).

This is ``eq:conditional_density`` with any symmetric coupling Q and any field ρ. The diagonal of Q never
matters for φ, since x_i·x_i = 1. It is kept beside a hollow copy of Q, because methods that need a positive
definite matrix start from it.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from vmqp.errors import InputError
from vmqp.precision.vecchia import VecchiaPrecision
from vmqp.sampling.rooted import Rooted

__all__ = ["Array", "Dense", "Rooted", "Sparse", "Target", "as_reals", "make_target"]

Array = npt.NDArray[np.float64]
_ASYMMETRY = 1e-8
_LARGEST = 1e100


class Dense(NamedTuple):
    """A coupling with zero diagonal as a full matrix, rows contiguous, times a scale."""

    matrix: Array
    scale: float = 1.0


class Sparse(NamedTuple):
    """A coupling with zero diagonal as compressed sparse rows."""

    starts: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    values: Array


class Target(NamedTuple):
    """The density to sample: hollow coupling, its former diagonal, and the field as two rows (cos, sin).

    >>> target = make_target([[5.0, -1.0], [-1.0, 5.0]], [[1.0, 0.0], [0.0, 2.0]])
    >>> target.size, target.diagonal, target.useful_diagonal()
    (2, array([5., 5.]), array([1.5, 1.5]))
    """

    coupling: Dense | Sparse | Rooted
    """Q with a zero diagonal, as a full matrix, compressed rows, or a root."""
    diagonal: Array
    """What stood on the diagonal of Q, (m,)."""
    field: Array
    """ρ, (2, m)."""
    order: npt.NDArray[np.int32] | None = None
    """Of the rows of a root, for triangular systems."""

    @property
    def size(self) -> int:
        """Number of angles m."""
        return int(self.field.shape[1])

    def useful_diagonal(self) -> Array:
        """The diagonal, no larger than 1.5 times the row's coupling.

        It does not matter for the density; but methods that build on it slow down where it is much larger.
        """
        if isinstance(self.coupling, Rooted):  # the root is one of the coupling with its diagonal
            return self.diagonal
        rows = np.asarray(abs(self.matrix()).sum(axis=1)).ravel()
        clipped: Array = np.minimum(self.diagonal, 1.5 * rows)
        return clipped

    def matrix(self) -> Any:
        """The hollow coupling as an array or a SciPy sparse array."""
        if isinstance(self.coupling, Dense):
            matrix, scale = self.coupling
            return matrix if scale == 1.0 else scale * matrix
        if isinstance(self.coupling, Rooted):
            own = self.coupling
            root = sparse.csr_array((own.values, own.columns, own.starts), shape=(self.size, self.size))
            return (own.scale * (root @ root.T - sparse.diags_array(own.diagonal))).tocsr()
        starts, columns, values = self.coupling
        return sparse.csr_array((values, columns, starts), shape=(self.size, self.size))


def make_target(coupling: Any, field: Any) -> Target:
    """Check a coupling and a field at the door and bring them into the samplers' form.

    >>> target = make_target([[5.0, -1.0], [-1.0, 5.0]], [[1.0, 0.0], [0.0, 2.0]])
    >>> target.coupling.matrix
    array([[ 0., -1.],
           [-1.,  0.]])
    """
    rooted = isinstance(coupling, VecchiaPrecision)
    matrix: Any = None if rooted else _symmetric(coupling)
    size = coupling.d if rooted else matrix.shape[0]
    rho = as_reals(field, "field")
    if rho.shape != (size, 2) and not (size == 0 and rho.size == 0):
        raise InputError(
            f"field has shape {rho.shape}, but a coupling of {size} angles needs shape ({size}, 2): "
            "give one row (cosine part, sine part) for each angle."
        )
    if not np.isfinite(rho).all():
        raise InputError(
            f"field holds {_bad_entry(rho)}: give finite numbers, for example by dropping those rows."
        )
    _check_size(np.abs(rho).max(initial=0.0), "field")
    rows = np.ascontiguousarray(rho.reshape(size, 2).T)
    if rooted:
        _check_size(coupling.diagonal.max(initial=0.0), "coupling")
        parts = Rooted(coupling.pattern.starts, coupling.pattern.columns, coupling.values, coupling.diagonal)
        return Target(parts, coupling.diagonal, rows, coupling.pattern.order)
    if isinstance(matrix, np.ndarray):
        diagonal = matrix.diagonal().copy()
        np.fill_diagonal(matrix, 0.0)
        return Target(Dense(matrix), diagonal, rows)
    diagonal = matrix.diagonal()
    hollow = (matrix - sparse.diags_array(diagonal)).tocsr()
    hollow.eliminate_zeros()
    hollow.sort_indices()
    entries = Sparse(hollow.indptr.astype(np.int64), hollow.indices.astype(np.int64), hollow.data)
    return Target(entries, diagonal, rows)


def _symmetric(coupling: Any) -> Any:
    """A fresh symmetric float64 copy: a C-contiguous array, or a SciPy sparse array."""
    if sparse.issparse(coupling):
        if coupling.dtype.kind not in "biuf":
            raise InputError(
                f"coupling has type {coupling.dtype}, but real numbers are needed: convert it first."
            )
        matrix = sparse.csr_array(coupling, dtype=np.float64)
    else:
        matrix = as_reals(coupling, "coupling")
        if matrix.shape == (0,):
            matrix = matrix.reshape(0, 0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"coupling has shape {matrix.shape}, but it must be square: give one row and one column an angle."
        )
    values = matrix.data if sparse.issparse(matrix) else matrix
    if not np.isfinite(values).all():
        entries = matrix.toarray() if sparse.issparse(matrix) else matrix
        raise InputError(
            f"coupling holds {_bad_entry(entries)}: give finite numbers; a precision from a singular kernel "
            "matrix needs a nugget."
        )
    largest = np.abs(values).max(initial=0.0)
    _check_size(largest, "coupling")
    asymmetry = abs(matrix - matrix.T)
    worst = asymmetry.max() if matrix.shape[0] else 0.0
    if worst > _ASYMMETRY * largest:
        raise InputError(
            f"coupling is not symmetric: entries across the diagonal differ by up to {worst:.3g}; "
            "give (A + A.T) / 2 if that is what you mean."
        )
    # Halving first keeps entries near the largest double finite.
    return 0.5 * matrix + 0.5 * matrix.T


def as_reals(values: Any, name: str) -> Array:
    """A fresh float64 array of real numbers; text, complex and masked values are refused."""
    try:
        array = np.ma.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} is not an array of real numbers: give numbers in rows of equal length."
        ) from error
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} is not an array of real numbers but of {array.dtype}: convert it first.")
    if np.ma.is_masked(array):
        raise InputError(f"{name} has masked values: fill them or drop their rows first.")
    return np.array(array.data, dtype=np.float64, order="C")


def _check_size(largest: float, name: str) -> None:
    """Fields are squared, and a square must not overflow."""
    if largest > _LARGEST:
        raise InputError(
            f"{name} holds values up to {largest:.3g}, but {_LARGEST:g} is the most that can be used: rescale it."
        )


def _bad_entry(values: Array) -> str:
    where = np.argwhere(~np.isfinite(values))
    return f"{len(where)} NaN or infinite values (the first at position {_position(where[0])})"


def _position(index: Iterable[Any]) -> str:
    return "[" + ", ".join(str(int(i)) for i in index) + "]"
