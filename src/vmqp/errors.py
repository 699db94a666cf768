"""The errors and warnings that a user can catch.

Each error also derives from the built-in exception that fits, so that ``except ValueError`` works.

>>> issubclass(InputError, ValueError)
True
"""

__all__ = ["ConvergenceWarning", "InputError", "NotPositiveDefiniteError", "VmqpError"]


class VmqpError(Exception):
    """Anything that vmqp raises on purpose."""


class InputError(VmqpError, ValueError):
    """What was given cannot be used; the message names the remedy."""


class NotPositiveDefiniteError(InputError):
    """A kernel matrix has no Cholesky factor; the message names the closest rows and the remedy."""


class ConvergenceWarning(UserWarning):
    """A result may not have converged; its numbers are not to be trusted yet."""
