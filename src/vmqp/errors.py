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
    """Anything that vmqp raises on purpose.

    >>> from vmqp import priors
    >>> try:
    ...     priors.HalfNormal(-1.0)
    ... except VmqpError as error:
    ...     print(type(error).__name__)
    InputError
    """


class InputError(VmqpError, ValueError):
    """What was given cannot be used; the message names the remedy.

    >>> from vmqp import priors
    >>> try:
    ...     priors.HalfNormal(-1.0)
    ... except InputError as error:
    ...     print(error)
    scale of HalfNormal must be positive and finite but is -1.0; give a number such as 1.0.
    """


class NotPositiveDefiniteError(InputError):
    """A kernel matrix has no Cholesky factor; the message names the closest rows and the remedy.

    >>> from vmqp import kernels, precision
    >>> K = kernels.Gaussian(1.0).bind([[0.0], [3.0], [3.0]]).covariance({})
    >>> try:
    ...     precision.factorise(K)
    ... except NotPositiveDefiniteError as error:
    ...     print(error)
    the kernel matrix of 3 rows is not positive definite in floating point: rows 1 and 2 are the closest ...
    """


class CheckpointError(VmqpError, OSError):
    """A checkpoint cannot be written or resumed; the message names the file and the remedy.

    >>> import tempfile
    >>> import vmqp
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         vmqp.regress([[0.0], [1.0]], [0.1, 0.3], [[0.5]], checkpoint=file.name, progress=False)
    ...     except CheckpointError as error:
    ...         print(str(error).removeprefix(file.name))
     is a file, but a directory is needed: give another path.
    """


class TimeLimitError(VmqpError, TimeoutError):
    """The time limit came before the first draw.

    With ``transductive=True`` there is nothing to return then; else a fast fit takes their place.

    >>> import vmqp
    >>> short = {"chains": 1, "warmup": 100_000, "time_limit": 0.01, "transductive": True, "progress": False}
    >>> try:
    ...     vmqp.regress([[0.0], [1.0]], [0.1, 0.3], [[0.5]], kernel="2.0 * exponential(1.0)", **short)
    ... except TimeLimitError as error:
    ...     print(error)
    the time limit of 0.01 s came before every chain had a draw: give more time; ...
    """


class WorkerError(VmqpError, RuntimeError):
    """Workers died again and again on the same chunk, or a task broke its promises to the runner.

    >>> import numpy as np
    >>> from vmqp.chain import Chunk, Description
    >>> from vmqp.run import run_chains
    >>> class Careless:  # it leaves one draw, however many iterations are asked for
    ...     fingerprint, warmup, thin, chunk = "careless", 0, 1, 10
    ...     def start(self, seed, chain):
    ...         return {}
    ...     def advance(self, state, iterations):
    ...         return {}, Chunk({"one": np.ones(1)}, {}, {}, {})
    ...     def describe(self):
    ...         return Description({}, {}, {}, {})
    ...     def warnings(self, stats):
    ...         return []
    >>> try:
    ...     run_chains(Careless(), chains=1, draws=5, progress=False)
    ... except WorkerError as error:
    ...     print(error)
    a chunk of chain 0 holds 'one' of shape (1,), but (5,) is due: a task keeps every thin-th iteration ...
    """


class ConvergenceWarning(UserWarning):
    """A result may not have converged; its numbers are not to be trusted yet.

    >>> import warnings
    >>> import vmqp
    >>> short = {"chains": 2, "warmup": 5, "draws": 20, "progress": False}
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     post = vmqp.regress([[0.0], [1.0]], [0.1, 0.3], [[0.5]], **short)
    >>> {warning.category.__name__ for warning in caught}
    {'ConvergenceWarning'}
    >>> post.verdict().trusted
    False
    """


class InterruptedWarning(UserWarning):
    """A run was stopped by Ctrl-C; the result holds the draws up to then.

    As an error it ends a script, which would else go on with few draws:

    >>> import warnings
    >>> with warnings.catch_warnings(action="error", category=InterruptedWarning):
    ...     warnings.warn("the run was stopped by Ctrl-C after 200 of 1000 draws", InterruptedWarning)
    Traceback (most recent call last):
    vmqp.errors.InterruptedWarning: the run was stopped by Ctrl-C after 200 of 1000 draws
    """


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written, or another version of vmqp wrote it.

    As an error it stops a run that would go on with draws of another version:

    >>> import warnings
    >>> with warnings.catch_warnings(action="error", category=CheckpointWarning):
    ...     warnings.warn("the checkpoint was begun with another version of vmqp", CheckpointWarning)
    Traceback (most recent call last):
    vmqp.errors.CheckpointWarning: the checkpoint was begun with another version of vmqp
    """


class TransductiveWarning(UserWarning):
    """Predictions depend on the set of places that are asked for; said once, when there are many.

    Who knows that can silence it:

    >>> import warnings
    >>> import vmqp
    >>> fixed = {"kernel": "2.0 * exponential(1.0)", "concentration": 0, "chains": 1, "draws": 50, "warmup": 50}
    >>> with warnings.catch_warnings(action="ignore", category=TransductiveWarning):
    ...     post = vmqp.regress([[0.0], [1.0]], [0.1, 0.3], [[0.2], [0.5], [0.7]], **fixed, progress=False)
    >>> len(post.X_new) > len(post.X)
    True
    """


def caller_level() -> int:
    """The ``stacklevel`` at which a warning names the line that called vmqp, and not one of ours.

    >>> def inside():  # one call deeper in this module
    ...     return caller_level()
    >>> inside() - caller_level()
    1
    """
    level, frame = 1, inspect.currentframe()
    frame = None if frame is None else frame.f_back
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("vmqp."):
        level, frame = level + 1, frame.f_back
    return level
