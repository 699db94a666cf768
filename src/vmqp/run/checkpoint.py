"""Checkpoints: a directory that holds all draws so far, and from which a run goes on bit for bit.

::

    manifest.json                 what is run: task, seed, chains, type, format
    vmqp.lock                     held by the process that writes
    chain-0/0-250.npz             draws of iterations 0 to 249 of chain 0
    chain-0/250-500.npz
    chain-0/state-500.npz         where chain 0 stands after 500 iterations

The state is written first, then the draws that lead to it, then the state before is removed. So whenever a process is
killed, the newest file of draws has its state beside it. Every file is whole or not there (`vmqp.run.files`), says what
it belongs to, and is read without pickle.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vmqp._version import __version__
from vmqp.chain import Arrays, Chunk, State
from vmqp.errors import CheckpointError
from vmqp.run.files import DirectoryLock, is_temporary, read_arrays, write_arrays, write_whole

__all__ = ["FORMAT", "Checkpoint", "Identity"]

FORMAT = 1

_MANIFEST = "manifest.json"
_CHUNK = re.compile(r"(\d+)-(\d+)\.npz")
_STATE = re.compile(r"state-(\d+)\.npz")
_ELSEWHERE = "give another directory, or remove this one if its draws are not needed"
_GROUPS = ("parameters", "angles", "stats", "pointwise")


class Identity(NamedTuple):
    """What decides the draws on disk."""

    fingerprint: str
    seed: int
    chains: int
    dtype: str


class Checkpoint:
    """A directory of draws, open for one process.

    Opening and reading change nothing, so that a directory that is refused stays as it was. `begin` makes it ready to
    be written to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(Path(folder, "run"), Identity("abc", 0, 1, "float64"))
    ...     checkpoint.begin()
    ...     checkpoint.write(0, 0, 2, {"x": np.ones(1)}, Chunk({"noise": np.array([0.1, 0.2])}, {}, {}, {}))
    ...     checkpoint.position(0), checkpoint.state(0)
    ...     checkpoint.close()
    (2, {'x': array([1.])})
    """

    def __init__(self, folder: Path, identity: Identity) -> None:
        self.folder = folder
        self._identity = identity
        self.version = __version__
        """The version of vmqp that began the run."""
        self._chunks: dict[int, list[tuple[int, int]]] = {}
        self._leftovers: list[Path] = []
        self._lock = DirectoryLock(folder)
        self._unused = False  # whether the folder is new and holds nothing but the lock
        try:
            self._refuse_foreign()
            self._unused = not folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            if not self._lock.take():
                raise CheckpointError(
                    f"another process is writing to {folder}: wait for it, or give another directory."
                )
            self._list()
        except CheckpointError:
            self.close()
            raise
        except OSError as error:
            self.close()
            raise self._unwritable(error) from error

    def begin(self) -> None:
        """Write the manifest and remove what a killed process left; if that fails, so would the rest."""
        self._unused = False
        manifest = {"format": FORMAT, "version": self.version, **self._identity._asdict()}
        text = json.dumps(manifest, indent=2) + "\n"
        try:
            write_whole(self.folder / _MANIFEST, lambda file: file.write(text.encode()))
            for chain in range(self._identity.chains):
                self._chain_folder(chain).mkdir(exist_ok=True)
            for file in self._leftovers:
                file.unlink(missing_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def position(self, chain: int) -> int:
        """Iterations of a chain that are on disk."""
        return self._chunks[chain][-1][1] if self._chunks[chain] else 0

    def state(self, chain: int) -> State:
        """Where a chain stands after the iterations that are on disk."""
        last = self.position(chain)
        path = self._state_path(chain, last)
        if not path.exists():
            raise CheckpointError(
                f"{path} is missing, and chain {chain} cannot go on without it: {_ELSEWHERE}."
            )
        return self._read(path, chain, last, last).get("state", {})

    def draws(self, chain: int) -> Iterator[tuple[Path, int, int, Chunk]]:
        """The chunks of a chain in order: file, first iteration, the iteration after the last, and draws."""
        for first, last in self._chunks[chain]:
            path = self._chunk_path(chain, first, last)
            groups = self._read(path, chain, first, last)
            members = {kind: groups.get(kind, {}) for kind in _GROUPS}
            yield path, first, last, Chunk(progress={}, **members)

    def write(self, chain: int, first: int, last: int, state: State, chunk: Chunk) -> None:
        """Append a chunk; an OSError leaves the directory as it was."""
        path, beside = self._chunk_path(chain, first, last), self._state_path(chain, last)
        try:
            self._write(beside, chain, last, last, {"state": state})
            self._write(path, chain, first, last, {kind: getattr(chunk, kind) for kind in _GROUPS})
        except BaseException:
            with contextlib.suppress(
                OSError
            ):  # draws first: if they cannot be removed, their state must stay
                path.unlink(missing_ok=True)
                beside.unlink(missing_ok=True)
            raise
        self._chunks[chain].append((first, last))
        with contextlib.suppress(OSError):  # an old state that stays is removed at the next opening
            self._state_path(chain, first).unlink(missing_ok=True)

    def close(self) -> None:
        """Let other processes write; a folder that was made for a run that never began is removed."""
        self._lock.release()
        if self._unused:
            with contextlib.suppress(OSError):
                (self.folder / DirectoryLock.NAME).unlink(missing_ok=True)
                self.folder.rmdir()

    def _refuse_foreign(self) -> None:
        """Look, without a change to the disk, whether the directory is free or holds this run."""
        path = self.folder / _MANIFEST
        if path.exists():
            self._check_manifest(path)
        elif self.folder.is_dir():
            others = sorted(p.name for p in self.folder.iterdir() if not _is_own(p))
            if others:
                raise CheckpointError(
                    f"{self.folder} holds {others[0]!r} and no {_MANIFEST}, so it is not a checkpoint: "
                    "give an empty or a new directory."
                )
        elif self.folder.exists():
            raise CheckpointError(f"{self.folder} is a file, but a directory is needed: give another path.")

    def _check_manifest(self, path: Path) -> None:
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            kind, version = manifest["format"], str(manifest["version"])
            found = Identity(*(manifest[name] for name in Identity._fields)) if kind == FORMAT else None
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{path} is damaged ({error!r}): {_ELSEWHERE}.") from error
        if found is None:
            raise CheckpointError(
                f"{path} has format {kind!r}, but this version of vmqp ({__version__}) reads format {FORMAT}: "
                f"use vmqp {version}, or {_ELSEWHERE}."
            )
        for name, there, here in zip(Identity._fields, found, self._identity, strict=True):
            if there != here:
                what = "another task" if name == "fingerprint" else f"a run with {name}={there!r}"
                mine = "this one" if name == "fingerprint" else f"{name}={here!r}"
                raise CheckpointError(
                    f"{path} belongs to {what}, not to {mine}: resume with what it was begun with, or {_ELSEWHERE}."
                )
        self.version = version

    def _list(self) -> None:
        path = self.folder / _MANIFEST
        if path.exists():
            self._check_manifest(path)  # again: another process may have begun a run before the lock was ours
        self._leftovers = [p for p in self.folder.iterdir() if is_temporary(p)]
        for chain in range(self._identity.chains):
            self._leftovers += self._list_chain(chain)

    def _list_chain(self, chain: int) -> list[Path]:
        """Note the chunks of a chain, without a gap; return the files that are no longer needed."""
        self._chunks[chain], states, leftovers = [], {}, []
        folder = self._chain_folder(chain)
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            if match := _CHUNK.fullmatch(path.name):
                self._chunks[chain].append((int(match[1]), int(match[2])))
            elif match := _STATE.fullmatch(path.name):
                states[int(match[1])] = path
            elif is_temporary(path):
                leftovers.append(path)
            elif not path.name.startswith("."):  # hidden files are left by file managers and network disks
                raise CheckpointError(f"{path} is not a file of a checkpoint: move it elsewhere.")
        self._chunks[chain].sort()
        end = 0
        for first, last in self._chunks[chain]:
            if first != end or last <= first:
                raise CheckpointError(
                    f"{self._chunk_path(chain, first, last)} does not follow on iteration {end}, "
                    f"where the files before it end: restore the missing files, or {_ELSEWHERE}."
                )
            end = last
        if end in states:
            del states[end]
            leftovers += states.values()
        return leftovers

    def _write(self, path: Path, chain: int, first: int, last: int, groups: dict[str, Any]) -> None:
        arrays = self._labels(chain, first, last)
        for kind, members in groups.items():
            arrays |= {f"{kind}/{name}": np.asarray(values) for name, values in members.items()}
        write_arrays(path, arrays)

    def _read(self, path: Path, chain: int, first: int, last: int) -> dict[str, Arrays]:
        try:
            arrays = read_arrays(path)
            labels = {name: arrays.pop(name).item() for name in self._labels(chain, first, last)}
            groups: dict[str, Arrays] = {}
            for key, values in arrays.items():
                kind, name = key.split("/", 1)
                groups.setdefault(kind, {})[name] = values
        except MemoryError:
            raise
        except Exception as error:  # what a damaged file raises depends on which of its bytes are wrong
            raise CheckpointError(f"{path} is damaged or cut short ({error!r}): {_ELSEWHERE}.") from error
        for name, expected in self._labels(chain, first, last).items():
            if labels[name] != expected.item():
                raise CheckpointError(
                    f"{path} belongs to another run: its {name} is {labels[name]!r} and not {expected.item()!r}; "
                    f"restore the right file, or {_ELSEWHERE}."
                )
        return groups

    def _unwritable(self, error: OSError) -> CheckpointError:
        return CheckpointError(
            f"the checkpoint directory {self.folder} cannot be made or written ({error}): "
            "give a directory that you may write to."
        )

    def _labels(self, chain: int, first: int, last: int) -> Arrays:
        mine = self._identity
        labels = {"fingerprint": mine.fingerprint, "seed": str(mine.seed), "chain": chain}
        return {name: np.array(value) for name, value in {**labels, "first": first, "last": last}.items()}

    def _chain_folder(self, chain: int) -> Path:
        return self.folder / f"chain-{chain}"

    def _chunk_path(self, chain: int, first: int, last: int) -> Path:
        return self._chain_folder(chain) / f"{first}-{last}.npz"

    def _state_path(self, chain: int, last: int) -> Path:
        return self._chain_folder(chain) / f"state-{last}.npz"


def _is_own(path: Path) -> bool:
    return path.name == DirectoryLock.NAME or is_temporary(path)
