"""What a kept file was when it was accepted: its SHA-256, in a small file beside it.

A file that was changed or cut short since then is noticed and can be fetched again.
"""

import hashlib
import os
import tempfile
from pathlib import Path

__all__ = ["TEMPORARY", "file_hash", "remember", "unchanged"]

TEMPORARY = ".vmqp-download-"
"""How the names of folders begin in which files are received; they are gone afterwards."""
_ENDING = ".sha256"


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remember(path: Path) -> None:
    """Note what a file is now.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "wind.zip")
    ...     _ = path.write_bytes(b"whole")
    ...     remember(path)
    ...     before = unchanged(path)
    ...     _ = path.write_bytes(b"who")
    ...     before, unchanged(path)
    (True, False)
    """
    line = f"{file_hash(path)}  {path.name}\n"
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=TEMPORARY) as folder:
        note = Path(folder) / "note"
        note.write_text(line, encoding="utf-8")
        os.replace(note, _note(path))


def unchanged(path: Path) -> bool:
    """Whether a file is there and is what it was when it was noted."""
    try:
        return file_hash(path) == _note(path).read_text(encoding="utf-8").partition(" ")[0]
    except (OSError, UnicodeDecodeError):
        return False


def _note(path: Path) -> Path:
    return path.with_name(path.name + _ENDING)
