"""Bayesian regression for angles with von Mises quasi-processes.

Names are imported when they are first used, so that ``import vmqp`` stays light and compiles nothing.

>>> import vmqp
>>> vmqp.sample_angles([[0.0, -2.0], [-2.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]], draws=100).shape
(100, 2)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vmqp._version import __version__
from vmqp.errors import (
    CheckpointError,
    CheckpointWarning,
    ConvergenceWarning,
    InputError,
    InterruptedWarning,
    NotPositiveDefiniteError,
    TransductiveWarning,
    VmqpError,
)

if TYPE_CHECKING:
    from vmqp import (
        arcs,
        chain,
        circle,
        comparison,
        convert,
        datasets,
        kernels,
        laws,
        learning,
        model,
        paper,
        peers,
        plots,
        posterior,
        precision,
        priors,
        regression,
        report,
        run,
        sampling,
        scores,
        tables,
    )
    from vmqp.files import load
    from vmqp.posterior import Posterior
    from vmqp.regression import CircularRegressor, regress
    from vmqp.sampling import sample_angles, sample_angles_batch

_MODULES = (
    "arcs",
    "chain",
    "circle",
    "comparison",
    "convert",
    "datasets",
    "kernels",
    "laws",
    "learning",
    "model",
    "paper",
    "peers",
    "plots",
    "posterior",
    "precision",
    "priors",
    "regression",
    "report",
    "run",
    "sampling",
    "scores",
    "tables",
)
_FUNCTIONS = {
    "CircularRegressor": "vmqp.regression",
    "Posterior": "vmqp.posterior",
    "load": "vmqp.files",
    "regress": "vmqp.regression",
    "sample_angles": "vmqp.sampling",
    "sample_angles_batch": "vmqp.sampling",
}

__all__ = [
    "CheckpointError",
    "CheckpointWarning",
    "CircularRegressor",
    "ConvergenceWarning",
    "InputError",
    "InterruptedWarning",
    "NotPositiveDefiniteError",
    "Posterior",
    "TransductiveWarning",
    "VmqpError",
    "__version__",
    "arcs",
    "chain",
    "circle",
    "comparison",
    "convert",
    "datasets",
    "kernels",
    "laws",
    "learning",
    "load",
    "model",
    "paper",
    "peers",
    "plots",
    "posterior",
    "precision",
    "priors",
    "regress",
    "regression",
    "report",
    "run",
    "sample_angles",
    "sample_angles_batch",
    "sampling",
    "scores",
    "tables",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"vmqp.{name}")
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    raise AttributeError(f"module 'vmqp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
