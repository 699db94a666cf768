"""Splits of data, random or given."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmqp.checks import check_count
from vmqp.errors import InputError

__all__ = ["Rows", "length", "make_splits", "read_splits", "split"]

Rows = NDArray[np.intp]


def split(rows: int, share: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Part rows at random: those that stay, and the share that is held out, both in their order.

    >>> [part.tolist() for part in split(5, 0.4, np.random.default_rng(1))]
    [[1, 2, 3], [0, 4]]
    """
    order = rng.permutation(rows)
    held = round(share * rows)
    return np.sort(order[held:]), np.sort(order[:held])


def make_splits(rows: int, test: float, folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Make random splits; each leaves rows to learn from and to predict."""
    rng = np.random.default_rng(check_count(seed, "seed", 0, "a stream of random numbers"))
    splits = [split(rows, test, rng) for _ in range(folds)]
    if len(splits[0][0]) < 2 or not len(splits[0][1]):
        raise InputError(
            f"test={test:g} of {rows} rows leaves {len(splits[0][0])} to learn from and {len(splits[0][1])} to "
            "predict, where 2 and 1 are needed: give more rows, or another share."
        )
    return splits


def read_splits(splits: Any, rows: int) -> list[tuple[Rows, Rows]]:
    """Read splits that were given, as pairs of row numbers: those to learn from, and those to predict.

    >>> [[part.tolist() for part in pair] for pair in read_splits([([0, 3], [1])], 4)]
    [[[0, 3], [1]]]
    >>> read_splits([([0, 3], [3])], 4)
    Traceback (most recent call last):
    vmqp.errors.InputError: split 0 has row 3 both to learn from and to predict: give each row on one side only.
    """
    try:
        pairs = [tuple(pair) for pair in splits]
    except TypeError:
        pairs = []
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise InputError(
            "splits must be a list of pairs (rows to learn from, rows to predict), at least one, but are not: "
            "give [(train_rows, test_rows), …]."
        )
    found = []
    for number, (learned, held) in enumerate(pairs):
        train = _read_rows(learned, f"split {number}, rows to learn from", rows, 2)
        test = _read_rows(held, f"split {number}, rows to predict", rows, 1)
        both = np.intersect1d(train, test)
        if both.size:
            raise InputError(
                f"split {number} has row {both[0]} both to learn from and to predict: give each row on one side only."
            )
        found.append((train, test))
    return found


def _read_rows(given: Any, where: str, rows: int, least: int) -> Rows:
    try:
        numbers = np.asarray(given)
    except ValueError:
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise InputError(
            f"{where}: these are of type {numbers.dtype} and shape {numbers.shape}, where a list of whole numbers is "
            "needed: give row numbers, such as np.flatnonzero(mask)."
        )
    if numbers.size < least:
        raise InputError(f"{where}: {numbers.size} rows are given, where {least} are needed: give more.")
    outside = (numbers < 0) | (numbers >= rows)
    if outside.any():
        raise InputError(
            f"{where}: {numbers[outside][0]} is no row of the data, which has {rows}: give numbers from 0 to "
            f"{rows - 1}."
        )
    values, counts = np.unique(numbers, return_counts=True)
    if values.size < numbers.size:
        raise InputError(f"{where}: row {values[counts > 1][0]} comes more than once: give each row once.")
    return numbers.astype(np.intp)


def length(data: Any) -> int:
    """The number of rows."""
    try:
        return len(data)
    except TypeError:
        raise InputError(
            f"{type(data).__name__} is not a table: give arrays or frames for X and y."
        ) from None
