"""The directory of a run: which files are ours, who may write to it, and how a failed start leaves it as it was.

::

    request.json      what was asked for           model.nc          what was learned
    data.csv          the rows that were used      predictions.csv   the table of results
    places.csv        the rows to predict          posterior.nc      the predictions, for Python
    unfilled.csv      the table with its gaps      filled.csv        the same, filled
    checkpoint/       draws and states so far      report.html       the page to read
                                                   result.json       the verdict, written last
"""

import contextlib
import hashlib
import re
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from vmqp.cli.request import Request
from vmqp.errors import InputError
from vmqp.run.files import DirectoryLock, is_temporary, write_whole

__all__ = ["RunFolder"]

_FILES = (
    "request.json",
    "data.csv",
    "places.csv",
    "unfilled.csv",
    "model.nc",
    "predictions.csv",
    "filled.csv",
    "posterior.nc",
    "report.html",
    "result.json",
)
_CHECKPOINT = "checkpoint"
_OURS = (*_FILES, _CHECKPOINT)
_CHUNK = re.compile(r"\d+-\d+\.npz")
_BEFORE = ".before."
_PARTS = re.compile(r"\.(model|posterior)\.nc\..*\.part")  # what `save` writes beside


class RunFolder:
    """A directory that holds one run, or will hold it.

    >>> folder = RunFolder(Path("run"))
    >>> folder.report.name, folder.checkpoint.name
    ('report.html', 'checkpoint')
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.request, self.data, self.places, self.unfilled = (path / name for name in _FILES[:4])
        self.model, self.predictions, self.filled = (path / name for name in _FILES[4:7])
        self.posterior, self.report, self.result = (path / name for name in _FILES[7:])
        self.checkpoint = path / _CHECKPOINT
        self._lock = DirectoryLock(path)
        self._claimed = False
        self._made: list[Path] = []
        self._before: Path | None = None
        self._stays = False

    def owns(self, path: Path) -> bool:
        """Whether a path is one of the files that a run writes here."""
        return path.name in _OURS and path.resolve().parent == self.path.resolve()

    def has_draws(self) -> bool:
        """Whether some chunk of some chain is on disk."""
        return any(_CHUNK.fullmatch(path.name) for path in self.checkpoint.glob("**/chain-*/*.npz"))

    def read_request(self) -> Request:
        """Read the request, or say why there is none."""
        if not self.path.is_dir():
            raise InputError(
                f"there is no directory {self.path}: give the one that vmqp fit or vmqp predict wrote to."
            )
        return Request.from_text(self.read(self.request), str(self.request))

    def read(self, path: Path) -> str:
        """Read one of the run's own files."""
        try:
            return self.content(path).decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{path} cannot be read ({error}): restore it.") from error

    def content(self, path: Path) -> bytes:
        """The bytes of one of the run's own files."""
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise InputError(
                f"{self.path} has no {path.name}, so it is not a run that can be resumed: give a directory that "
                "vmqp fit or vmqp predict made."
            ) from error
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error}): restore it.") from error

    def digest(self, path: Path) -> str:
        """SHA-256 of one of the run's own files."""
        return hashlib.sha256(self.content(path)).hexdigest()

    def write(self, path: Path, pieces: Iterable[bytes]) -> None:
        """Write one of the run's own files, whole or not at all."""
        try:
            write_whole(path, lambda file: file.writelines(pieces))
        except OSError as error:
            raise InputError(
                f"{path} cannot be written ({error.strerror or error}): make room, or give another directory."
            ) from error

    def check_free(self, request: Request, *, overwrite: bool) -> None:
        """Refuse a directory that holds something; nothing is changed."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(
                f"{self.path} is a file, but a directory is needed: give another path with --out."
            )
        try:
            there = (
                sorted(p.name for p in self.path.iterdir() if not _is_aside(p)) if self.path.is_dir() else []
            )
        except OSError as error:
            raise self._unwritable(error) from error
        if not there:
            return
        if self.request.name not in there:
            self._check_strangers(there, overwrite)
        elif not overwrite:
            raise InputError(self._occupied(request))

    def claim(self) -> None:
        """Make the directory ours; what an earlier run left is put aside until `commit` or `rollback`."""
        missing = [path for path in (self.path, *self.path.parents) if not path.exists()]
        self._stays = (self.path / DirectoryLock.NAME).exists()
        try:
            for path in reversed(missing):
                path.mkdir()
                self._made.append(path)
            self.lock()
            self._claimed = True
            earlier = [self.path / name for name in _OURS if (self.path / name).exists()]
            if earlier:
                self._before = self.path / f"{_BEFORE}{secrets.token_hex(4)}.vmqp-tmp"
                self._before.mkdir()
                for path in earlier:
                    path.rename(self._before / path.name)
        except OSError as error:
            self.rollback()
            raise self._unwritable(error) from error
        except InputError:
            self.rollback()
            raise

    def lock(self) -> None:
        """Keep other processes out until `release`, and remove what a killed one left half-written."""
        try:
            free = self._lock.take()
        except OSError as error:
            raise self._unwritable(error) from error
        if not free:
            raise InputError(
                f"another process is working in {self.path}: wait for it, or give another directory."
            )
        for path in list(self.path.iterdir()):
            if path.name.startswith(_BEFORE):
                shutil.rmtree(path, ignore_errors=True)
            elif is_temporary(path) or _PARTS.fullmatch(path.name):
                path.unlink(missing_ok=True)

    def release(self) -> None:
        """Let other processes in."""
        self._lock.release()

    def commit(self) -> None:
        """Remove what an earlier run left; there is no way back."""
        if self._before is not None:
            shutil.rmtree(self._before, ignore_errors=True)
        self._claimed, self._made, self._before = False, [], None

    def rollback(self) -> None:
        """Leave the directory as it was before `claim`."""
        with contextlib.suppress(OSError):
            if self._claimed:
                for name in _OURS:
                    _remove(self.path / name)
            if self._before is not None:
                for path in list(self._before.iterdir()):
                    path.rename(self.path / path.name)
                self._before.rmdir()
            self.release()
            if self._claimed and not self._stays:
                (self.path / DirectoryLock.NAME).unlink(missing_ok=True)
            for path in reversed(self._made):
                path.rmdir()

    def _check_strangers(self, there: list[str], overwrite: bool) -> None:
        ours = [name for name in there if name in _OURS]
        if ours:
            raise InputError(
                f"{self.path} holds {ours[0]!r}, which would be replaced and is not of a run of vmqp: give another "
                "directory with --out."
            )
        if not overwrite:
            raise InputError(
                f"{self.path} holds {there[0]!r} and is not the directory of a run: give another one with --out, or "
                "--overwrite to write beside it."
            )

    def _occupied(self, request: Request) -> str:
        go_on = (
            f"vmqp resume {self.path} goes on with it, --overwrite replaces it, --out gives another directory"
        )
        try:
            same = self.read_request().same_result(request)
        except InputError:
            return f"{self.path} holds a run whose request cannot be read: give another directory, or --overwrite."
        if not same:
            return f"{self.path} holds another run: {go_on}."
        state = "is finished" if self.result.exists() else "is not finished"
        return f"{self.path} holds this very run, and it {state}: {go_on}."

    def _unwritable(self, error: OSError) -> InputError:
        return InputError(
            f"{self.path} cannot be written to ({error.strerror or error}): give another directory with --out."
        )


def _is_aside(path: Path) -> bool:
    """Files that stand in nobody's way: hidden ones, and the lock that stays when a run is over."""
    return path.name.startswith(".") or path.name == DirectoryLock.NAME


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
