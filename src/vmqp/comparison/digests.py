"""What a fit depends on, in 64 letters: the model and its options, the data, and the split."""

import hashlib
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from vmqp._version import __version__
from vmqp.comparison.splits import Rows

__all__ = ["RUNNING", "digest_of_data", "digest_of_fit"]

RUNNING = ("executor", "workers", "checkpoint", "progress")
"""Options that say how a model is run and change no result."""


def digest_of_data(X: Any, y: Any) -> str:
    """Of observed places and angles, as values and names of columns.

    >>> digest_of_data([[1.0], [2.0]], [3.0, 4.0]) == digest_of_data(np.array([[1.0], [2.0]]), np.array([3.0, 4.0]))
    True
    """
    return _hashed(_table(X), _table(y))


def digest_of_fit(model: Any, data: str, learned: Rows, held: Rows) -> str:
    """Of a fit of a model to some rows of data.

    An object among the options counts by its ``repr``, and so a function within it by its name: one that is changed and
    keeps its name is not noticed. An object whose ``repr`` is its address counts as new in each process.
    """
    options = {name: value for name, value in model.get_params(deep=False).items() if name not in RUNNING}
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    return _hashed(__version__, kind, _written(options), data, _written(learned), _written(held))


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\n".join(f"{len(part)} {part}" for part in parts).encode()).hexdigest()


def _table(data: Any) -> str:
    native = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return _written({name: native[name].to_numpy() for name in native.columns})
    if isinstance(native, nw.Series):
        return _written(native.to_numpy())
    try:
        return _written(np.asarray(data))
    except ValueError:  # rows of different lengths, which the model will refuse
        return repr(data)


def _written(value: Any) -> str:
    """All of a value as text; the ``repr`` of a long array would leave most of it out."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return f"array{value.shape}{_written(value.tolist())}"
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array{value.shape}{value.dtype}{content}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_written(value[key])}" for key in sorted(value, key=repr)) + "}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(_written(part) for part in value)})"
    native = nw.from_native(value, allow_series=True, pass_through=True)
    return _table(value) if isinstance(native, nw.DataFrame | nw.Series) else repr(value)
