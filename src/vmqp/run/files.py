"""Files that are whole or not there: written beside, forced to disk, then renamed; and a lock that dies with us."""

import contextlib
import io
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from vmqp.errors import WorkerError

__all__ = ["DirectoryLock", "is_temporary", "make_writable", "read_arrays", "write_arrays", "write_whole"]

_MARK = ".vmqp-tmp"


def is_temporary(path: Path) -> bool:
    """Whether a file is what a killed process of ours left half-written.

    >>> is_temporary(Path("run/.manifest.json.0a1b.vmqp-tmp")), is_temporary(Path("run/manifest.json"))
    (True, False)
    """
    return path.name.startswith(".") and path.name.endswith(_MARK)


def write_whole(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that a crash at any moment leaves the old one, the new one or a temporary file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "note"), lambda file: file.write(b"whole"))
    ...     Path(folder, "note").read_bytes()
    b'whole'
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_MARK}")
    try:
        with open(beside, "xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _sync_directory(path.parent)


def write_arrays(path: Path, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Write named arrays, without pickle."""
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise WorkerError(
                f"{name} holds Python objects, but a task's state and draws must be plain arrays."
            )
    # In memory first: an archive whose file runs full in the middle cannot be closed cleanly.
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    write_whole(path, lambda file: file.write(buffer.getbuffer()))


def read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read named arrays, without pickle; each is checked against its checksum."""
    # Opened here: NumPy leaves a file open that turns out not to be an archive.
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _sync_directory(folder: Path) -> None:
    """Force a new name to disk; a directory cannot be opened on every system."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class DirectoryLock:
    """A lock on a directory between processes; the kernel releases it when its holder ends, however it ends.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second = DirectoryLock(Path(folder)), DirectoryLock(Path(folder))
    ...     first.take(), second.take()
    ...     first.release()
    ...     second.take()
    ...     second.release()
    (True, False)
    True
    """

    NAME = "vmqp.lock"

    def __init__(self, folder: Path) -> None:
        self._path = folder / self.NAME
        self._handle: int | None = None

    def take(self) -> bool:
        """Take the lock, if no other holds it."""
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.release()
                return False
            except OSError:
                self.release()
                raise
        return True

    def release(self) -> None:
        """Give the lock back. The file stays: to delete it would race with the next holder."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def make_writable(folder: Path) -> None:
    """Make a directory if it is not there; an OSError says why it cannot be written to."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, "it is not writable")
