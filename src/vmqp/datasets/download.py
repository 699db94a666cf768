"""One file over HTTP: tried again, checked, and only then put in its place.

The file is received beside its place. It is moved there when as many bytes came as were announced, no more than
allowed, and when the caller's check had nothing against it. Whatever goes wrong, what was there before stays, and
nothing half-written is left.
"""

import os
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vmqp._version import __version__
from vmqp.checks import check_count
from vmqp.datasets.bar import download_bar
from vmqp.datasets.kept import TEMPORARY
from vmqp.datasets.receiver import Receiver, SizeError, SlowError, StoppedError, public
from vmqp.errors import InputError
from vmqp.tables.words import shown

__all__ = ["ADVICE", "LARGEST", "check_address", "fetch", "load_pooch", "receive"]

ADVICE = "try again later, or get the file yourself and give its path"
LARGEST = 200_000_000
TIMEOUT = 30.0  # seconds without an answer
FIRST_PAUSE = 1.0  # seconds; each later one is three times as long
_CHUNK = 8_192  # bytes; less than what a slow server has to send to be waited for
_COME_BACK = (408, 429)  # statuses below 500 that ask for another try

Check = Callable[[Path], None]


def fetch(
    url: str,
    target: Path,
    *,
    check: Check | None = None,
    largest: int = LARGEST,
    tries: int = 3,
    progress: bool | None = None,
    advice: str = ADVICE,
) -> Path:
    """Download a file to `target` and return `target`; needs the package pooch.

    `check` gets the path of what was received, under the name of the target, and raises `InputError` if it is not what
    was wanted. A file that is already there is replaced only after that. Lost connections, answers of 500 and above,
    and sizes other than announced are tried again, `tries` times in all with growing pauses. `largest` bounds the
    bytes. `progress` True shows a bar, False none, None one on a terminal. `advice` ends the messages.

    >>> fetch("ftp://example.org/wind.zip", Path("wind.zip"))
    Traceback (most recent call last):
    vmqp.errors.InputError: the address is 'ftp://example.org/wind.zip': give one that begins with http:// or https://.
    """
    check_address(url)
    check_count(tries, "tries", 1, "tries")
    with download_bar(progress, 1, target.name) as bar:
        receive(url, target, check=check, largest=largest, tries=tries, advice=advice, tell=bar.received)
        bar.done()
    return target


def receive(
    url: str,
    target: Path,
    *,
    check: Check | None = None,
    largest: int = LARGEST,
    tries: int = 3,
    advice: str = ADVICE,
    tell: Callable[[int], None] = lambda _: None,
    stop: threading.Event | None = None,
) -> None:
    """Do what `fetch` does, telling of each piece that came, and ending with `StoppedError` once `stop` is set."""
    pooch, stop = load_pooch(), stop or threading.Event()
    lost = import_module("requests").exceptions.RequestException
    for number in range(tries):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=TEMPORARY) as folder:
                file = Path(folder) / target.name
                _receive(pooch, url, file, largest, tell, stop)
                _check(check, file, url, advice)
                if stop.is_set():
                    raise StoppedError
                os.replace(file, target)
            return
        except (lost, SizeError, SlowError) as error:
            if stop.is_set():
                raise StoppedError from error
            if number + 1 == tries or not _may_pass(error):
                raise _failed(url, error, advice) from error
        except InputError:
            raise
        except (OSError, ValueError) as error:
            raise _failed(url, error, advice) from error
        stop.wait(FIRST_PAUSE * 3**number)
        if stop.is_set():
            raise StoppedError


def check_address(url: Any) -> str:
    """Refuse an address that is not one of the web.

    >>> check_address("https://example.org/data/")
    'https://example.org/data/'
    """
    parts = None
    if isinstance(url, str):
        with suppress(ValueError):
            parts = urlsplit(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.netloc:
        raise InputError(f"the address is {shown(url)}: give one that begins with http:// or https://.")
    return str(url)


def load_pooch() -> Any:
    """Import pooch, which only downloads need."""
    try:
        return import_module("pooch")
    except ImportError:
        raise InputError(
            'downloads need the package pooch, which is not installed: run pip install "vmqp[data]", or get the files '
            "yourself and give their place."
        ) from None


def _receive(
    pooch: Any, url: str, path: Path, largest: int, tell: Callable[[int], None], stop: threading.Event
) -> None:
    with open(path, "xb") as file:
        receiver = Receiver(file, url, largest, tell, stop)
        download = pooch.HTTPDownloader(
            chunk_size=_CHUNK,
            timeout=TIMEOUT,
            headers={"Accept-Encoding": "identity", "User-Agent": f"vmqp/{__version__}"},
            hooks={"response": receiver.hear},
        )
        try:
            with receiver.watched():
                download(url, receiver, None)
        except OSError:  # those of requests are
            receiver.judge()
            raise
        finally:
            receiver.close()
        receiver.finish()


def _check(check: Check | None, file: Path, url: str, advice: str) -> None:
    if check is None:
        return
    try:
        check(file)
    except InputError as error:
        raise InputError(
            f"what was downloaded from {public(url)} is not the file that was asked for: {error} It was thrown away: "
            f"{advice}."
        ) from error


def _may_pass(error: Exception) -> bool:
    """Whether another try can go better."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    # A ValueError of requests is an address that it cannot read.
    return not isinstance(error, ValueError) and (status is None or status >= 500 or status in _COME_BACK)


def _failed(url: str, error: BaseException, advice: str) -> InputError:
    return InputError(f"{public(url)} could not be downloaded ({_why(error)}): {advice}.")


def _why(error: BaseException) -> str:
    """Say in a few words what went wrong; what requests says of a connection is a page."""
    failures = import_module("requests").exceptions
    answer = getattr(error, "response", None)
    if answer is not None:
        return f"the server says {answer.status_code} {answer.reason}".strip()
    if isinstance(error, failures.Timeout):
        return f"there was no answer within {TIMEOUT:g} seconds"
    if isinstance(error, failures.ConnectionError):
        return "the server could not be reached, or hung up: is there a network?"
    text = public(" ".join(str(error).split()))[:200]
    return f"{type(error).__name__}: {text}"
