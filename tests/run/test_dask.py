"""Chains on a Dask cluster: the same bits, also when workers die, and nothing is left behind."""

import asyncio
import os
import signal
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import distributed
import numpy as np
import pytest

from run_dask import Watchful, give_blas_two_threads, make_cluster
from run_learner import make_learner, wait_until
from run_toy import Toy, blas_threads, first, launch, same
from simulations import make_task
from vmqp.errors import ConvergenceWarning, InputError, WorkerError
from vmqp.run import Converged, run_chains
from vmqp.run.cluster import Cluster

pytestmark = [
    pytest.mark.xdist_group("dask"),
    # The runs here are too short to converge.
    pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning"),
]

SMALL = {"chains": 3, "draws": 150, "seed": 4, "progress": False}
LEARNER = {"chains": 2, "draws": 120, "seed": 9, "progress": False}


@pytest.fixture(scope="module")
def cluster():
    with make_cluster() as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    wait_until(lambda: len(cluster.scheduler.workers) == 2)  # those that died are started again
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def reference():
    return without_warnings(Toy(), **SMALL)


@pytest.fixture(scope="module")
def learned():
    return without_warnings(make_learner(), **LEARNER)


def without_warnings(task, **options):
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return run_chains(task, **options)


def is_empty(cluster):
    """Whether the scheduler and the workers have forgotten every chunk."""
    return not cluster.scheduler.tasks and not any(w.has_what for w in cluster.scheduler.workers.values())


def after(chunks, folder, action):
    """Do something as soon as so many chunks are on disk; returns a function that waits for what it gives."""

    def wait_and_act():
        wait_until(lambda: len(list(folder.glob("chain-*/*-*.npz"))) >= chunks)
        return action()

    thread = ThreadPoolExecutor(1)
    acted = thread.submit(wait_and_act)
    thread.shutdown(wait=False)
    return acted.result


def kill_a_worker(client):
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)
    return pid


class TestDraws:
    def test_all_ways_to_name_a_cluster_give_the_same(self, cluster, client, reference):
        address = cluster.scheduler_address
        for executor in (address.replace("tcp", "dask"), address, client, client.get_executor()):
            assert same(run_chains(Toy(), **SMALL, executor=executor), reference)
            wait_until(lambda: is_empty(cluster), 5.0)
        assert client.submit(abs, -3).result() == 3, "a client of the user stays open"
        names = [name for name in cluster.scheduler.clients if name.startswith("vmqp")]
        assert not names, "those that were opened for an address are closed"

    def test_a_rule_stops_at_the_same_draw(self, client):
        rule = Converged(rhat=1.05, rhat_angles=1.05, ess=150)
        one, other = (
            run_chains(Toy(), **SMALL | {"draws": 400}, until=rule, executor=e) for e in (client, "threads")
        )
        assert one.attrs["stopped"] == "converged"
        assert same(one, other)

    def test_runs_side_by_side(self, client, reference):
        with ThreadPoolExecutor(4) as threads:
            runs = [threads.submit(run_chains, Toy(pause=0.001), **SMALL, executor=client) for _ in range(4)]
            assert all(same(run.result(), reference) for run in runs)

    def test_equal_calls_are_not_taken_for_one(self, client):
        """Else who cancels a chunk would cancel it for others too."""
        pool = Cluster(client)
        one, other = (pool.submit(time.time) for _ in range(2))
        assert one.result() != other.result()

    def test_several_threads_in_a_worker(self, tmp_path, learned):
        """Chains in one process, whose BLAS would take two threads if it was let; and the process is killed."""
        with make_cluster(1, 3) as cluster, distributed.Client(cluster, set_as_default=False) as client:
            client.run(give_blas_two_threads)
            assert client.submit(blas_threads).result() == 2
            toy = Toy(watch=True, pause=0.001)
            result = run_chains(toy, **SMALL | {"draws": 40}, executor=client)
            assert (result.sample_stats["threads"] == 1).all()
            assert client.submit(blas_threads, pure=False).result() == 2, "the limit is lifted again"
            killed = after(4, tmp_path, lambda: kill_a_worker(client))
            task = make_learner(pause=0.05)
            result = run_chains(task, **LEARNER, executor=client, chunk=20, checkpoint=tmp_path)
            assert same(result, learned)
            assert killed() not in client.run(os.getpid).values()

    def test_arrays_lie_where_arrays_usually_lie(self, client):
        data = np.random.default_rng(1).normal(size=1001)
        data.setflags(write=False)  # such arrays stay where the message has put them
        run_chains(Watchful(data=data), **SMALL | {"draws": 20}, executor=client)


class TestDeaths:
    def test_killed_worker(self, client, tmp_path, reference):
        killed = after(4, tmp_path, lambda: kill_a_worker(client))
        toy = Toy(pause=0.005)
        result = run_chains(toy, **SMALL, executor=client, chunk=10, checkpoint=tmp_path)
        assert same(result, reference)
        assert killed() not in client.run(os.getpid).values()

    def test_worker_killed_while_a_field_is_drawn(self, client, tmp_path):
        options = {"chains": 2, "draws": 30, "seed": 3, "progress": False}
        whole = without_warnings(make_task(), **options)
        killed = after(4, tmp_path, lambda: kill_a_worker(client))
        result = without_warnings(make_task(), **options, executor=client, chunk=1, checkpoint=tmp_path)
        assert same(result, whole)
        assert killed() not in client.run(os.getpid).values()

    def test_chunk_that_kills_its_worker_twice(self, cluster, client, tmp_path, reference, monkeypatch):
        """Dask tries nothing again here, so it is us."""
        monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
        toy = Toy(fatal=str(tmp_path / "deaths"), deaths=2)
        assert same(run_chains(toy, **SMALL, executor=client), reference)
        assert (tmp_path / "deaths").read_text().count("died") == 2

    def test_chunk_that_always_kills_its_worker_is_given_up(self, cluster, client, tmp_path):
        toy = Toy(fatal=str(tmp_path / "deaths"), deaths=99)
        with pytest.raises(
            WorkerError, match=r"died 4 times on the same chunk of chain 1.*Dask workers"
        ) as found:
            run_chains(toy, **SMALL | {"chains": 2}, executor=client, chunk=300)
        assert isinstance(found.value.__cause__.__cause__, distributed.KilledWorker)
        assert (tmp_path / "deaths").read_text().count("died") == 4, "as with processes of our own"
        wait_until(lambda: is_empty(cluster), 5.0)

    def test_chunks_that_others_cancel(self, client, tmp_path, reference):
        """As when the cluster is restarted: chunks are cancelled, which is not taken for a wish of ours."""

        def cancel_all():
            futures = [distributed.Future(key, client) for key in list(client.futures)]
            client.cancel(futures)
            return len(futures)

        cancelled = after(2, tmp_path, cancel_all)
        toy = Toy(pause=0.01)
        assert same(run_chains(toy, **SMALL, executor=client, chunk=40, checkpoint=tmp_path), reference)
        assert cancelled() > 0

    @pytest.mark.parametrize("end", ["client", "scheduler"])
    def test_lost_for_good(self, end, tmp_path, reference):
        with make_cluster(1, **{"distributed.comm.timeouts.connect": 1}) as cluster:
            client = distributed.Client(cluster, set_as_default=False)
            executor = client if end == "client" else cluster.scheduler_address
            ended = after(4, tmp_path, client.close if end == "client" else cluster.close)
            with pytest.raises(
                WorkerError, match=r"connection to the Dask scheduler is closed.*a checkpoint"
            ):
                run_chains(Toy(pause=0.02), **SMALL, executor=executor, chunk=5, checkpoint=tmp_path)
            ended()
            client.close()
        assert same(run_chains(Toy(), **SMALL, checkpoint=tmp_path), reference)


class TestEnd:
    def test_error_of_the_task(self, cluster, client):
        with pytest.raises(ZeroDivisionError, match="the toy is broken"):
            run_chains(Toy(broken=60, pause=0.001), **SMALL | {"draws": 10**5}, executor=client, chunk=10)
        wait_until(lambda: is_empty(cluster), 5.0)

    def test_time_limit_waits_for_what_runs(self, cluster, client):
        """The last chunks are sized to end about then; what runs is not thrown away."""
        result = run_chains(
            Toy(warmup=0, pause=0.1), **SMALL | {"chains": 2}, executor=client, chunk=15, time_limit=0.7
        )
        assert 1 <= result.posterior.sizes["draw"] <= 15
        assert result.attrs["stopped"] == "time limit"
        wait_until(lambda: is_empty(cluster), 5.0)

    def test_what_runs_is_taken_back_by_force_only(self, cluster, client):
        pool = Cluster(client)
        promises = [pool.submit(time.sleep, 1.5) for _ in range(8)]
        wait_until(lambda: sum(len(w.processing) for w in cluster.scheduler.workers.values()) >= 2)
        taken = pool.take_back(promises, force=False)
        assert taken
        assert all(promise.cancelled() for promise in taken)
        rest = [promise for promise in promises if promise not in taken]
        assert rest
        assert not any(promise.done() for promise in rest)
        assert rest[0].result() is None, "what runs goes on to its end"
        pool.take_back(rest, force=True)
        wait_until(lambda: is_empty(cluster), 5.0)

    def test_ctrl_c(self, cluster, tmp_path, reference):
        out, folder = tmp_path / "out.npz", tmp_path / "run"
        run = SMALL | {"executor": cluster.scheduler_address, "chunk": 5, "checkpoint": str(folder)}
        process = launch({"pause": 0.02}, run, out)
        wait_until(lambda: len(list(folder.glob("chain-*/*-*.npz"))) >= 18)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0, process.stderr.read()
        assert "stopped by Ctrl-C" in process.stderr.read()
        process.stderr.close()
        result = dict(np.load(out))
        assert str(result.pop("stopped")) == "interrupted"
        assert same(result, first(reference, result["level"].shape[1]))
        assert is_empty(cluster)


class TestDoor:
    def test_workers_are_those_of_the_cluster(self, client):
        for executor in (client, "dask://127.0.0.1:8786"):
            with pytest.raises(InputError, match=r"workers is 2.*leave workers out"):
                run_chains(Toy(), **SMALL, executor=executor, workers=2)

    def test_address_of_a_worker(self, cluster, client):
        with pytest.raises(InputError, match="no Dask scheduler answered there"):
            run_chains(Toy(), **SMALL, executor=next(iter(cluster.scheduler.workers)))

    def test_closed_client(self, cluster):
        client = distributed.Client(cluster, set_as_default=False)
        client.close()
        for executor in (client, client.get_executor()):
            with pytest.raises(InputError, match="which is closed: give an open client"):
                run_chains(Toy(), **SMALL, executor=executor)

    def test_asynchronous_client(self, cluster):
        async def inside():
            async with distributed.Client(cluster.scheduler_address, asynchronous=True) as client:
                with pytest.raises(InputError, match="which is asynchronous"):
                    run_chains(Toy(), **SMALL, executor=client)

        asyncio.run(inside())

    def test_worker_of_another_version(self, client, monkeypatch):
        monkeypatch.setattr("vmqp.run.cluster.__version__", "99.0")
        with pytest.raises(InputError, match=r"vmqp 99.0 runs here, but the Dask worker at tcp://.* has \d"):
            run_chains(Toy(), **SMALL, executor=client)

    def test_worker_without_vmqp(self, client, elsewhere, monkeypatch):
        monkeypatch.setattr("vmqp.run.cluster.installed", elsewhere.installed)
        with pytest.raises(
            InputError, match=r"the Dask worker at tcp://.* cannot load it \(.*No module named"
        ):
            run_chains(Toy(), **SMALL, executor=client)

    def test_task_that_workers_do_not_know(self, client, elsewhere, reference):
        """It must not kill the workers."""
        before = client.run(os.getpid)
        with pytest.raises(ModuleNotFoundError, match="only_here"):
            run_chains(elsewhere.Mine(), **SMALL, executor=client)
        assert client.run(os.getpid) == before


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A module that workers cannot import."""
    (tmp_path / "only_here.py").write_text(
        "from run_toy import Toy\nclass Mine(Toy): pass\ndef installed(): return ''\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    yield only_here
    del sys.modules["only_here"]
