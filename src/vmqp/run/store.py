"""The draws of all chains in memory: one array for each name, made once and filled chunk by chunk.

The arrays of the result are views of these, so that no draw is held twice.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vmqp.chain import Arrays, Chunk
from vmqp.errors import WorkerError

__all__ = ["Draws", "Group", "Groups", "as_stored"]

Group = dict[str, npt.NDArray[Any]]


class Groups(NamedTuple):
    """Draws by kind and name, (chains, draws) or (chains, draws, places)."""

    parameters: Group
    angles: Group
    stats: Group
    pointwise: Group


def as_stored(chunk: Chunk, dtype: str) -> Chunk:
    """Return the chunk with parameters and angles in the type that is kept.

    >>> as_stored(Chunk({"noise": np.ones(3)}, {}, {}, {}), "float32").parameters["noise"].dtype
    dtype('float32')
    """

    def cast(arrays: Arrays) -> Arrays:
        return {name: np.asarray(values).astype(dtype, copy=False) for name, values in arrays.items()}

    stats = {name: np.asarray(values) for name, values in chunk.stats.items()}
    pointwise = {name: np.asarray(values) for name, values in chunk.pointwise.items()}
    return Chunk(cast(chunk.parameters), cast(chunk.angles), stats, chunk.progress, pointwise)


class Draws:
    """Room for `draws` draws of each chain.

    >>> store = Draws(chains=2, draws=5)
    >>> store.add(1, Chunk({"noise": np.array([0.1, 0.2])}, {}, {}, {}), due=2)
    >>> store.done, store.first(1, chain=1).parameters
    ([0, 2], {'noise': array([[0.1]])})
    """

    def __init__(self, chains: int, draws: int, places: Arrays | None = None) -> None:
        self.chains = chains
        self.draws = draws
        self._places = places or {}
        self.done = [0] * chains
        self._groups: Groups | None = None

    def add(self, chain: int, chunk: Chunk, due: int) -> None:
        """Append a chunk, of which `due` draws are expected; those beyond the room are left out."""
        arrays = _groups(chunk)
        if self._groups is None:
            self._check_shapes(chunk)
            self._groups = Groups(*({name: self._room(a) for name, a in group.items()} for group in arrays))
        start = self.done[chain]
        end = min(start + due, self.draws)
        for room, group in zip(self._groups, arrays, strict=True):
            if room.keys() != group.keys():
                raise WorkerError(
                    f"a chunk of chain {chain} holds {sorted(group)}, but the one before held {sorted(room)}: "
                    "every chunk of a task must have the same names, in warm-up too."
                )
            for name, values in group.items():
                if values.shape != (due, *room[name].shape[2:]):
                    raise WorkerError(
                        f"a chunk of chain {chain} holds {name!r} of shape {values.shape}, but "
                        f"{(due, *room[name].shape[2:])} is due: "
                        "a task keeps every thin-th iteration after its warm-up."
                    )
                room[name][chain, start:end] = values[: end - start]
        self.done[chain] = end

    def first(self, count: int, chain: int | None = None) -> Groups:
        """Views of the first draws, of all chains or of one."""
        if self._groups is None:
            return Groups({}, {}, {}, {})
        rows = slice(None) if chain is None else slice(chain, chain + 1)
        return Groups(*({name: a[rows, :count] for name, a in group.items()} for group in self._groups))

    def _check_shapes(self, chunk: Chunk) -> None:
        """See at the first chunk what could else only be seen when a long run is over."""
        due: dict[str, tuple[int, ...]] = dict.fromkeys((*chunk.parameters, *chunk.stats), ())
        due |= {name: (len(rows),) for name, rows in self._places.items()}
        found = {name: a.shape[1:] for group in _groups(chunk) for name, a in group.items()}
        if found != due:
            raise WorkerError(
                f"a draw of the task has the shapes {found}, but {due} is due: parameters and statistics are "
                "numbers, and angles agree with the places that the task describes."
            )

    def _room(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.empty((self.chains, self.draws, *values.shape[1:]), dtype=values.dtype)


def _groups(chunk: Chunk) -> Groups:
    return Groups(chunk.parameters, chunk.angles, chunk.stats, chunk.pointwise)
