"""Fits that are done, on disk: one small JSON file each, so that a comparison that was stopped goes on.

A file says which model and split it is of, and the digest of all that decides its numbers; one with another digest is
not taken, and overwritten when the fit is made anew. Every file is whole or not there.
"""

import hashlib
import json
import math
import os
import re
import warnings
from pathlib import Path
from typing import Any

from vmqp.errors import CheckpointWarning, InputError, caller_level
from vmqp.run.files import write_whole

__all__ = ["DoneFits"]

_FORMAT = 1
_NUMBERS = ("crps", "crps_arc", "log_score", "coverage", "width", "rhat", "ess", "seconds")


class DoneFits:
    """A directory of fits; with None nothing is kept.

    >>> DoneFits(None).find("a", 0, "") is None
    True
    """

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._folder = None if folder is None else _made(folder)

    def find(self, model: str, fold: int, digest: str) -> dict[str, Any] | None:
        """A fit that was made before, if what decided it was the same; None also for a file that cannot be read."""
        if self._folder is None:
            return None
        try:
            content = json.loads(self._path(self._folder, model, fold).read_text(encoding="utf-8"))
            expected = {"format": _FORMAT, "digest": digest, "model": model, "fold": fold}
            if any(content[name] != value for name, value in expected.items()):
                return None
            numbers = {name: float(content["fit"][name]) for name in _NUMBERS}
            seconds = numbers.pop("seconds")  # the last of the columns, as of a fit that was just made
            trusted = bool(content["fit"]["trusted"])
            return {"model": model, "fold": fold, **numbers, "trusted": trusted, "seconds": seconds}
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, fit: dict[str, Any], digest: str) -> None:
        """Write a fit; where that fails the comparison goes on, with a warning."""
        if self._folder is None:
            return
        # JSON has no infinity and no NaN: they become text, which float() reads.
        scores = {name: fit[name] if math.isfinite(fit[name]) else str(fit[name]) for name in _NUMBERS}
        content = {
            "format": _FORMAT,
            "digest": digest,
            "model": fit["model"],
            "fold": fit["fold"],
            "fit": {**scores, "trusted": fit["trusted"]},
        }
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        try:
            write_whole(
                self._path(self._folder, fit["model"], fit["fold"]), lambda file: file.write(text.encode())
            )
        except OSError as error:
            warnings.warn(
                f"a fit could not be written to {self._folder} ({error.strerror or error}): it would be made again.",
                CheckpointWarning,
                stacklevel=caller_level(),
            )

    @staticmethod
    def _path(folder: Path, model: str, fold: int) -> Path:
        """A name that says what is in it; the hash tells models apart whose names differ in other letters only."""
        readable = re.sub(r"[^A-Za-z0-9]+", "-", model).strip("-")[:40]
        return folder / f"{readable}-{hashlib.sha256(model.encode()).hexdigest()[:8]}-{fold}.json"


def _made(folder: Any) -> Path:
    try:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
    except TypeError:
        raise InputError(
            f"checkpoint is {folder!r}: give the path of a directory, or None for none."
        ) from None
    except OSError as error:
        raise InputError(
            f"checkpoint={str(folder)!r} cannot be made ({error.strerror or error}): give another directory."
        ) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise InputError(f"checkpoint={str(folder)!r} cannot be written to: give another directory.")
    return path
