"""Many files over HTTP, a few at once; Ctrl-C or the first failure ends them all, and leaves nothing half-written."""

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from vmqp.datasets.bar import Bar, download_bar
from vmqp.datasets.download import ADVICE, LARGEST, Check, check_address, load_pooch, receive
from vmqp.datasets.kept import remember
from vmqp.datasets.receiver import StoppedError
from vmqp.errors import InputError

__all__ = ["Job", "fetch_all"]

AT_ONCE = 4
_LOOK = 0.2  # seconds between looks at the keyboard, which some systems need


@dataclass(frozen=True)
class Job:
    """A file to be fetched."""

    url: str
    target: Path
    check: Check | None = None


def fetch_all(
    jobs: Sequence[Job],
    *,
    label: str = "files",
    go_on: bool = False,
    largest: int = LARGEST,
    progress: bool | None = None,
    advice: str = ADVICE,
) -> dict[Path, InputError]:
    """Fetch files as `fetch` does, four at a time, note what each is (`unchanged` tells), and return what failed.

    The first failure is raised, and ends the rest; with `go_on` the others are still fetched. Files that came before
    are kept in either case.

    >>> fetch_all([])
    {}
    """
    for job in jobs:
        check_address(job.url)
    if not jobs:
        return {}
    load_pooch()
    stop, failed = threading.Event(), {}

    def work(job: Job, bar: Bar) -> None:
        if not stop.is_set():
            receive(
                job.url,
                job.target,
                check=job.check,
                largest=largest,
                advice=advice,
                tell=bar.received,
                stop=stop,
            )
            _note(job.target)
            bar.done()

    with (
        download_bar(progress, len(jobs), label) as bar,
        ThreadPoolExecutor(min(AT_ONCE, len(jobs)), "download") as pool,
    ):
        waiting: dict[Future[None], Job] = {pool.submit(work, job, bar): job for job in jobs}
        try:
            while waiting:
                for future in wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED).done:
                    job, error = waiting.pop(future), future.exception()
                    if isinstance(error, InputError) and go_on:
                        failed[job.target] = error
                    elif error is not None and not isinstance(error, StoppedError):
                        raise error
        finally:
            # The rest ends at its next piece; a file is moved to its place only if nobody asked to stop.
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
    return failed


def _note(target: Path) -> None:
    try:
        remember(target)
    except OSError as error:
        raise InputError(
            f"{target} could not be noted as fetched ({error}): see whether the disk is full, or give another folder."
        ) from error
