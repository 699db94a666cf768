"""The call that repeats a posterior, as text: it needs ``import vmqp`` and the data, and nothing else."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from vmqp import kernels, priors

__all__ = ["call_text"]

_SILENT = (
    "checkpoint",
    "executor",
    "workers",
    "progress",
)  # how it runs, which makes no difference to any draw
_SHORT = 10
_TEXT_OR_NAME = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![\w.])([A-Z]\w*)(?=\()""")
_ROOMS = (
    dict.fromkeys(kernels.__all__, "kernels")
    | dict.fromkeys(priors.__all__, "priors")
    | {"Converged": "run", "Method": "learning"}
)


def call_text(options: Mapping[str, Any], defaults: Mapping[str, Any], peer: str = "") -> str:
    """Write the call of `vmqp.regress`, or of a peer's class, with what differs from the defaults.

    Long arrays are left as variables with the option's name.

    >>> given = {"noise": priors.HalfNormal(50), "draws": 100, "seed": 0}
    >>> call_text(given, {"noise": None, "draws": 1000, "seed": 0})
    'vmqp.regress(X, y, X_new, noise=vmqp.priors.HalfNormal(scale=50.0), draws=100)'
    """
    given = [
        f"{name}={_written(name, value)}"
        for name, value in options.items()
        if name not in _SILENT and not _same(value, defaults[name])
    ]
    if peer:
        return f"vmqp.peers.{peer}({', '.join(given)}).fit(X, y).posterior(X_new)"
    return f"vmqp.regress({', '.join(['X', 'y', 'X_new', *given])})"


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and repr(value) == repr(default)


def _written(name: str, value: Any) -> str:
    if not isinstance(value, str) and (hasattr(value, "__len__") or isinstance(value, np.generic)):
        values = np.asarray(value)  # of an array, a list, a column of a frame, or a number of NumPy's
        return repr(values.tolist()) if values.size <= _SHORT else name
    return _TEXT_OR_NAME.sub(_qualified, repr(value))


def _qualified(found: re.Match[str]) -> str:
    room = _ROOMS.get(found[1] or "")
    return found[0] if room is None else f"vmqp.{room}.{found[0]}"
