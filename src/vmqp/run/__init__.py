"""Running chains: in chunks, over any executor, with checkpoints, progress and stopping rules.

Names are imported when they are first used: a worker process needs `vmqp.run.worker` only, and starts faster without
the rest.

>>> from vmqp.run import Converged
>>> Converged(ess=1000)
Converged(rhat=1.01, rhat_angles=1.02, ess=1000, first=100)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vmqp.run.loop import run_chains
    from vmqp.run.stopping import Converged

_HOMES = {"Converged": "vmqp.run.stopping", "run_chains": "vmqp.run.loop"}

__all__ = ["Converged", "run_chains"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'vmqp.run' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
