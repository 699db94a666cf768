"""Checks of the places that need the model: repeated ones, columns that say nothing, and how many are asked for."""

from typing import Any

import numpy as np

from vmqp import kernels
from vmqp.errors import InputError
from vmqp.run import machine
from vmqp.tables import Table, constant_columns

__all__ = [
    "check_constant",
    "check_scale",
    "check_size",
    "first_repeat",
    "has_nugget",
    "repeat_error",
]

_FAR = 1e100  # its square, and the inverse, are far from the ends of what a float holds
_SHARED, _OWN = 7, 14  # d × d matrices: of all chains together, and of each (measured)


def has_nugget(kernel: kernels.Kernel) -> bool:
    """Whether rows at the same place differ: whether a term of the kernel is a nugget."""
    return any(isinstance(node, kernels.Nugget) for node in kernel.nodes())


def first_repeat(X: Table, X_new: Table | None = None) -> tuple[str, str] | None:
    """Name the first two rows that are the same place, or return None.

    >>> table = Table(np.array([[0.0], [1.0]]), None, {}, "numpy")
    >>> first_repeat(table, Table(np.array([[1.0]]), None, {}, "numpy"))
    ('row 1 of X', 'row 0 of X_new')
    """
    every = X.values if X_new is None else np.concatenate([X.values, X_new.values])
    _, first, index = np.unique(every, axis=0, return_index=True, return_inverse=True)
    earlier = first[index.reshape(-1)]
    repeated = np.flatnonzero(earlier != np.arange(len(every)))
    if not repeated.size:
        return None
    n = len(X.values)
    names = [
        f"row {row} of X" if row < n else f"row {row - n} of X_new"
        for row in (earlier[repeated[0]], repeated[0])
    ]
    return names[0], names[1]


def repeat_error(rows: tuple[str, str]) -> InputError:
    """The error for places that a model without noise and nugget cannot tell apart."""
    return InputError(
        f"{rows[0]} and {rows[1]} are the same place, and the model has neither noise nor nugget: add noise, as in "
        "noise=priors.HalfNormal(50), or a nugget, as in kernel + kernels.Nugget(priors.HalfNormal(0.1)), or drop one "
        "of the rows."
    )


def check_constant(X: Table, X_new: Table) -> None:
    """Refuse a column that has one value everywhere."""
    columns = constant_columns(X, X_new)
    if columns:
        value = X.values[0, columns[0]]
        label = columns[0] if X.names is None else repr(X.names[columns[0]])
        shown = X.categories[columns[0]][int(value)] if columns[0] in X.categories else f"{value:g}"
        raise InputError(
            f"column {label} of X holds {shown} in every row, so it says nothing about the angles: drop it."
        )


def check_scale(X: Table, X_new: Table) -> None:
    """Refuse numbers whose squared differences would overflow or vanish.

    >>> table = Table(np.array([[0.0], [1e200]]), None, {}, "numpy")
    >>> check_scale(table, table)
    Traceback (most recent call last):
    vmqp.errors.InputError: column 0 of X has values as large as 1e+200: give it in a larger unit.
    """
    values = np.concatenate([X.values, X_new.values])
    for column in range(values.shape[1]):
        label = column if X.names is None else repr(X.names[column])
        largest = float(np.abs(values[:, column]).max())
        if largest > _FAR:
            raise InputError(
                f"column {label} of X has values as large as {largest:g}: give it in a larger unit."
            )
        span = float(np.ptp(values[:, column]))
        if 0.0 < span < 1.0 / _FAR:
            raise InputError(
                f"column {label} of X has values that differ by {span:g} at most: give it in a smaller unit."
            )


def check_size(n: int, m: int, chains: Any) -> None:
    """Refuse more places than the memory of this machine has room for: it grows with their square.

    >>> check_size(100, 10**7, 4)
    Traceback (most recent call last):
    vmqp.errors.InputError: 100 observed and 10000000 new places need about ... GB of memory, and this machine has ...
    """
    known = isinstance(chains, int | np.integer) and not isinstance(chains, bool)
    at_once = min(max(int(chains), 1), machine.cores()) if known else 1
    need = 8.0 * (n + m) ** 2 * (_SHARED + _OWN * at_once)
    room = machine.memory()
    if need > room:
        most = int((n + m) * (room / need) ** 0.5)
        raise InputError(
            f"{n} observed and {m} new places need about {need / 1e9:.3g} GB of memory, and this machine has "
            f"{room / 1e9:.3g} GB: give at most {most} places in all, such as a coarser grid, or some of the rows."
        )
