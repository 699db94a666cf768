"""A Dask cluster as a place for chunks.

`Cluster` looks like any `concurrent.futures.Executor`. It is not Dask's own (``client.get_executor()``), which takes
equal calls for one call, drops a chunk that runs when it is cancelled, and never completes a chunk whose connection is
lost while its result is on the way. Here each chunk is a call of its own, a chunk that runs is waited for, and every
chunk that is lost says so, by which the scheduler knows to hand it in again.

The task travels with each chunk. At 1000 places that is 20 kB and some milliseconds, beside seconds of work; a task
that stays on the workers would have to be brought back each time that one of them dies. It travels packed as bytes, and
is unpacked where errors are those of the chunk: a worker that meets a module that it does not have while it reads its
mail would die of it.

Dask is imported when it is first asked for.
"""

import asyncio
import re
import sys
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from copy import deepcopy
from importlib import import_module
from typing import Any

from vmqp._version import __version__
from vmqp.errors import InputError, WorkerError

__all__ = [
    "Cluster",
    "DaskClient",
    "LostChunk",
    "call_packed",
    "check_dask",
    "installed",
    "is_address",
    "is_dask",
]

DaskClient = Any
"""A ``distributed.Client``, which need not be installed."""

_ADDRESS = re.compile(r"(?:dask|tcp)://((?:[^\s/:\[\]]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5})/?")
_ANSWER_SECONDS = 5.0


class LostChunk(BrokenExecutor):
    """A chunk is gone with the worker or the connection that had it."""

    def __init__(self, message: str, deaths: int) -> None:
        super().__init__(message)
        self.deaths = deaths
        """How many workers died of it, as far as Dask knows."""


def is_address(executor: Any) -> bool:
    """Whether this is meant as the address of a Dask scheduler.

    >>> is_address("dask://node-7:8786"), is_address("threads")
    (True, False)
    """
    return isinstance(executor, str) and executor.startswith(("dask://", "tcp://"))


def is_dask(executor: Any) -> bool:
    """Whether this is an address, a client, or the executor of a client.

    >>> is_dask("dask://node-7:8786"), is_dask("threads")
    (True, False)
    """
    dask = sys.modules.get("distributed")  # whoever has an object of Dask has imported it
    if is_address(executor) or dask is None:
        return is_address(executor)
    return isinstance(executor, dask.Client | dask.cfexecutor.ClientExecutor)


def check_dask(executor: Any) -> None:
    """Refuse an address that cannot be one, and clients that cannot be used.

    >>> check_dask("dask://node-7")
    Traceback (most recent call last):
    vmqp.errors.InputError: executor is 'dask://node-7', but the address of a Dask scheduler is needed:
    give it as 'dask://host:port', as `dask scheduler` prints it.
    """
    if is_address(executor):
        _connectable(executor)
        try:
            import_module("distributed")
        except ImportError as error:
            raise InputError(
                f"executor is {executor!r}, but Dask is not installed: run pip install 'vmqp[dask]'."
            ) from error
        return
    client, _ = _parts(executor)
    if client.asynchronous:
        raise InputError(
            f"executor is {client!r}, which is asynchronous: give a client that was made without asynchronous=True."
        )
    if client.status not in ("running", "connecting"):
        raise InputError(f"executor is {client!r}, which is {client.status}: give an open client.")


def installed() -> str:
    """The version of vmqp; asked of the workers.

    >>> installed() == __version__
    True
    """
    return __version__


def call_packed(call: bytes) -> Any:
    """Unpack a function and its arguments, and call it; what workers do.

    Arrays that came over a network lie wherever the message put them. They are copied to where arrays usually lie, for
    loops and sums may go another way through an array that is not aligned.
    """
    function, args = import_module("distributed.protocol").deserialize_bytes(call)
    return function(*deepcopy(args))


class Cluster(Executor):
    """The workers of a Dask scheduler, from an address, a ``distributed.Client`` or the executor of one.

    A client that was made here is closed by `shutdown`; one that was given stays open.
    """

    def __init__(self, executor: Any) -> None:
        self._ours = is_address(executor)
        self._client, self._options = (_connect(executor), {}) if self._ours else _parts(executor)
        self._remotes: dict[Future[Any], Any] = {}
        try:
            _check_versions(self._client)
        except BaseException:
            self.shutdown()
            raise

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a call to the cluster."""
        if self._client.status in ("closing", "closed"):
            raise WorkerError(
                "the connection to the Dask scheduler is closed: look whether the scheduler runs, then call again "
                "(with a checkpoint the run goes on where it was)."
            )
        # A key of its own for each call: a chunk that is handed in again must not meet the failure of the first.
        key = f"vmqp-{uuid.uuid4()}"
        options = self._options | kwargs | {"key": key, "pure": False}
        pack = import_module("distributed.protocol").serialize_bytes
        call = pack((function, args), serializers=["pickle"], on_error="raise")
        remote = self._client.submit(call_packed, call, **options)
        promise: Future[Any] = Future()
        self._remotes[promise] = remote
        self._client.loop.add_callback(self._deliver, promise, remote)
        return promise

    def take_back(self, promises: Iterable[Future[Any]], force: bool) -> list[Future[Any]]:
        """Cancel the calls that wait for a worker; by force those that run too, whose results are then dropped."""
        busy = set() if force else self._busy()
        waiting = [
            (promise, remote)
            for promise in promises
            if (remote := self._remotes.get(promise)) is not None  # else its outcome is here
            and remote.key not in busy
            and (force or remote.status == "pending")
        ]
        taken = {promise: remote for promise, remote in waiting if promise.cancel()}
        if taken and self._client.status == "running":
            self._client.cancel(list(taken.values()))
        return list(taken)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Close a client of ours; Dask then forgets its calls."""
        if self._ours:
            self._client.close()

    def _busy(self) -> set[Any]:
        """Keys of what has been given to a worker."""
        if self._client.status != "running":
            return set()
        try:
            return {key for keys in self._client.processing().values() for key in keys}
        except Exception:  # what a dying connection raises depends on where it dies
            return set()

    async def _deliver(self, promise: Future[Any], remote: Any) -> None:
        """Bring the outcome of a call home, whatever it is: a promise that nobody keeps would be waited for forever."""
        value: Any = None
        failure: BaseException | None = None
        try:
            value = await remote
        except BaseException as error:  # also asyncio's CancelledError, when the client's loop ends
            failure = _explain(remote, error)
        # Before the promise is kept: whoever sees the result may count on it that the cluster does not hold it.
        self._remotes.pop(promise, None)
        remote.release()
        if not promise.set_running_or_notify_cancel():
            return
        if failure is None:
            promise.set_result(value)
        else:
            promise.set_exception(failure)


def _explain(remote: Any, error: BaseException) -> BaseException:
    """Tell a lost chunk from an error of the task, which stays as it is."""
    if remote.status != "error":
        return _because(LostChunk(f"the connection to the cluster was lost ({error})", 1), error)
    if isinstance(error, import_module("distributed").KilledWorker):
        return _because(LostChunk(str(error), error.allowed_failures + 1), error)
    return error


def _because(lost: LostChunk, error: BaseException) -> LostChunk:
    lost.__cause__ = error
    return lost


def _check_versions(client: Any) -> None:
    """Refuse workers without vmqp, which would die of the first chunk, and those whose draws may differ."""
    for worker, answer in client.run(installed, on_error="return").items():
        if isinstance(answer, OSError) or answer == __version__:  # one that has just died is no matter
            continue
        trouble = f"cannot load it ({answer})" if isinstance(answer, Exception) else f"has {answer}"
        raise InputError(
            f"vmqp {__version__} runs here, but the Dask worker at {worker} {trouble}: install the same version on "
            "the scheduler and on all workers."
        )


def _parts(executor: Any) -> tuple[Any, dict[str, Any]]:
    """The client, and how the user wants calls to be placed, such as workers= or resources=."""
    if isinstance(executor, Executor):  # Dask has no public names for these two
        return executor._client, executor._kwargs  # type: ignore[attr-defined]
    return executor, {}


def _connectable(address: str) -> str:
    match = _ADDRESS.fullmatch(address)
    if match is None or int(address.rstrip("/").rsplit(":", 1)[1]) > 65535:
        raise InputError(
            f"executor is {address!r}, but the address of a Dask scheduler is needed: give it as "
            "'dask://host:port', as `dask scheduler` prints it."
        )
    return f"tcp://{match[1]}"


def _connect(address: str) -> Any:
    target = _connectable(address)
    try:
        # In a thread of its own, for in a notebook this one has a loop that runs.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _knock(target)).result()
        return import_module("distributed").Client(target, name="vmqp", set_as_default=False)
    except Exception as error:  # what is not a scheduler may answer anything
        raise InputError(
            f"executor is {address!r}, but no Dask scheduler answered there within {_ANSWER_SECONDS:g} s: look "
            "whether it runs, and which address it prints."
        ) from error


async def _knock(address: str) -> None:
    """See whether a scheduler answers; Dask's client would wait long for others, and for silent ones without end."""
    core = import_module("distributed.core")
    async with asyncio.timeout(_ANSWER_SECONDS):
        comm = await core.connect(address, timeout=_ANSWER_SECONDS)
        try:
            answer = await core.send_recv(comm, op="identity")
        finally:
            comm.abort()
    if answer["type"] != "Scheduler":
        raise OSError(f"{answer['type']} and no scheduler")
