"""The errors and warnings that a user can catch.

Each error also derives from the built-in exception that fits, so that ``except ValueError`` works.

>>> issubclass(InputError, ValueError)
True
"""

import inspect

__all__ = [
    "CheckpointError",
    "CheckpointWarning",
    "ConvergenceWarning",
    "InputError",
    "InterruptedWarning",
    "NotPositiveDefiniteError",
    "TimeLimitError",
    "TransductiveWarning",
    "VmqpError",
    "WorkerError",
    "caller_level",
]


class VmqpError(Exception):
    """Anything that vmqp raises on purpose."""


class InputError(VmqpError, ValueError):
    """What was given cannot be used; the message names the remedy."""


class NotPositiveDefiniteError(InputError):
    """A kernel matrix has no Cholesky factor; the message names the closest rows and the remedy."""


class CheckpointError(VmqpError, OSError):
    """A checkpoint cannot be written or resumed; the message names the file and the remedy."""


class TimeLimitError(VmqpError, TimeoutError):
    """The time limit came before the first draw."""


class WorkerError(VmqpError, RuntimeError):
    """Workers died again and again on the same chunk, or a task broke its promises to the runner."""


class ConvergenceWarning(UserWarning):
    """A result may not have converged; its numbers are not to be trusted yet."""


class InterruptedWarning(UserWarning):
    """A run was stopped by Ctrl-C; the result holds the draws up to then."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written, or another version of vmqp wrote it."""


class TransductiveWarning(UserWarning):
    """Predictions depend on the set of places that are asked for; said once, when there are many."""


def caller_level() -> int:
    """The ``stacklevel`` at which a warning names the line that called vmqp, and not one of ours."""
    level, frame = 1, inspect.currentframe()
    frame = None if frame is None else frame.f_back
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("vmqp."):
        level, frame = level + 1, frame.f_back
    return level
