"""A chain is a sequence of chunks: what the runner asks of anything that it runs.

A `Task` makes a starting state and advances a state by some iterations. Both are pure: a state holds arrays only,
the random streams among them, and nothing in a chain reads the clock. So a chain that is cut into chunks anywhere,
in any process, gives the same draws to the last bit. Progress, checkpoints, resuming, stopping rules and clusters
follow from that, and live in `vmqp.run`.

Iterations are counted from 0. The first `warmup` of them adapt and leave no draws; after that every `thin`-th
iteration leaves one.
"""

from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

__all__ = ["Chunk", "Description", "State", "Task", "kept_draws"]

Arrays = dict[str, npt.NDArray[Any]]

State = Arrays
"""Where one chain stands: named arrays and nothing else."""


class Chunk(NamedTuple):
    """What some iterations of one chain left behind; the first axis counts the draws that were kept.

    >>> import numpy as np
    >>> chunk = Chunk({"noise": np.array([1.0, 1.2])}, {"angle": np.zeros((2, 5))}, {}, {"accept": 0.4})
    >>> chunk.angles["angle"].shape
    (2, 5)
    """

    parameters: Arrays
    """Name to values, (kept,)."""
    angles: Arrays
    """Name to angles in radians, (kept, places)."""
    stats: Arrays
    """Name to a statistic of each kept iteration, (kept,)."""
    progress: dict[str, float]
    """Numbers for the eye while a run goes on, such as the acceptance over this chunk; also in warm-up."""
    pointwise: Arrays = {}  # noqa: RUF012  # never written to
    """What each draw says of each place, as ``group/name`` to (kept, places); no part in R-hat."""


class Description(NamedTuple):
    """What a result tells beside the draws.

    >>> from vmqp import kernels, learning
    >>> problem = learning.make_problem([[0.0], [1.0]], [0.1, 0.3], [[0.5]], kernel=kernels.Exponential(1.0))
    >>> description = learning.Learner(problem).describe()
    >>> description.places, description.attributes["model"]
    ({'angle': array([2])}, 'von Mises quasi-process')
    """

    places: dict[str, npt.NDArray[Any]]
    """For each entry of `Chunk.angles`: the row numbers of its places, (places,)."""
    observed_data: Arrays
    """The data: name to an array whose first axis counts the observed rows."""
    constant_data: Arrays
    """The inputs and what else was given: name to an array whose first axis counts rows."""
    attributes: dict[str, str | int | float]
    """What was run: the model, the method."""
    pointwise: dict[str, npt.NDArray[Any]] = {}  # noqa: RUF012  # never written to
    """For each entry of `Chunk.pointwise`: the row numbers of its places, (places,)."""


class Task(Protocol):
    """What can be run in chunks. It must be picklable for executors of processes.

    `vmqp.learning.Learner` is one; `vmqp.run.run_chains` shows how to write one.

    >>> from vmqp import kernels, learning
    >>> problem = learning.make_problem([[0.0], [1.0]], [0.1, 0.3], [[0.5]], kernel=kernels.Exponential(1.0))
    >>> task: Task = learning.Learner(problem, warmup=10)
    >>> state, chunk = task.advance(task.start(seed=1, chain=0), 12)
    >>> chunk.angles["angle"].shape, kept_draws(task, 12)
    ((2, 1), 2)
    """

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides the draws beside the seed: data, model, method, warm-up, thinning."""

    @property
    def warmup(self) -> int:
        """Iterations that adapt and are not kept."""

    @property
    def thin(self) -> int:
        """Iterations between two kept draws."""

    @property
    def chunk(self) -> int:
        """Iterations that take some seconds at most, from the size of the problem; at least 1."""

    def start(self, seed: int, chain: int) -> State:
        """Return the state of a chain before its first iteration."""

    def advance(self, state: State, iterations: int) -> tuple[State, Chunk]:
        """Return the state after some more iterations, and what they left; the given state stays as it is."""

    def describe(self) -> Description:
        """Say what the draws are of."""

    def warnings(self, stats: Arrays) -> list[str]:
        """Say in sentences what should not be trusted, from the statistics (chains, draws) of a whole run."""


def kept_draws(task: Task, iterations: int) -> int:
    """Draws that a chain of so many iterations has left.

    >>> from types import SimpleNamespace
    >>> kept_draws(SimpleNamespace(warmup=100, thin=2), 111)
    5
    """
    return max(0, iterations - task.warmup) // task.thin
