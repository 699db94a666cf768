"""A Dask cluster of processes on this machine, and what its workers need; they start faster without the rest."""

import logging
from contextlib import contextmanager
from dataclasses import dataclass

import dask
import distributed
import numpy as np
from threadpoolctl import threadpool_limits

from run_toy import Toy
from vmqp.chain import Chunk, State


@contextmanager
def make_cluster(workers=2, threads=1, **config):
    # A local cluster gives up workers that are gone for 15 s, which a busy machine may need to start another.
    config = {"distributed.deploy.lost-worker-timeout": "1 hour"} | config
    with (
        dask.config.set(config),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,  # deaths that are meant
        ) as cluster,
    ):
        yield cluster


@dataclass(frozen=True)
class Watchful(Toy):
    """Refuses arrays that do not lie as they would in a thread."""

    data: np.ndarray | None = None

    def advance(self, state: State, iterations: int) -> tuple[State, Chunk]:
        for name, array in {**state, "data": self.data}.items():
            assert array.flags.aligned, name
            assert array.flags.writeable, name
        return super().advance(state, iterations)


def give_blas_two_threads() -> None:
    """On a worker: Dask gives it one, which would hide that we do."""
    threadpool_limits(2, user_api="blas")
