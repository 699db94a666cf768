"""Random splits of data, and the rows of what data come as: arrays, lists, frames of pandas or polars."""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from vmqp.errors import InputError
from vmqp.sampling.checks import check_count

__all__ = ["Rows", "length", "make_splits", "split", "take"]

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


def take(data: Any, rows: Rows) -> Any:
    """Some rows of an array, a list, or a frame of pandas or polars."""
    native = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native[rows.tolist()].to_native()
    return [data[row] for row in rows] if isinstance(data, list | tuple) else np.asarray(data)[rows]


def length(data: Any) -> int:
    """The number of rows."""
    try:
        return len(data)
    except TypeError:
        raise InputError(
            f"{type(data).__name__} is not a table: give arrays or frames for X and y."
        ) from None
