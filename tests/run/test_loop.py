"""The runner: the same draws however they are computed, and what happens when something goes wrong."""

import re
import subprocess
import sys
import threading
import tracemalloc
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from run_toy import Toy, blas_threads, first, same, values
from vmqp.errors import InputError, WorkerError
from vmqp.run import Converged, run_chains
from vmqp.run.pools import Pool

# The runs here are too short to converge.
pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")

SMALL = {"chains": 3, "draws": 150, "seed": 4, "progress": False}


class Inline(Executor):
    """Computes in the caller's thread, as the simplest executor a user could bring."""

    def __init__(self):
        self.closed = False
        self.calls = 0

    def submit(self, function, /, *args, **kwargs):
        self.calls += 1
        future = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.closed = True


@pytest.fixture(scope="module")
def reference():
    """Each chain in one piece, without the runner."""
    toy = Toy()
    chunks = [toy.advance(toy.start(4, chain), toy.warmup + 150)[1] for chain in range(3)]
    groups = [{**c.parameters, **c.angles, **c.stats} for c in chunks]
    return {name: np.stack([group[name] for group in groups]) for name in groups[0]}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"executor": "threads", "workers": 1},
        {"workers": 4, "chunk": 1},
        {"workers": 2, "chunk": 7},
        {"chunk": 10_000},
        {"executor": "processes", "workers": 2},
        {"executor": "processes", "workers": 1, "chunk": 64},
        {"executor": Inline(), "chunk": 13},
    ],
    ids=lambda options: "-".join(str(v) if isinstance(v, int | str) else "own" for v in options.values()),
)
def test_draws_do_not_depend_on_how_they_are_computed(options, reference):
    result = run_chains(Toy(), **SMALL, **options)
    assert same(result, reference)
    assert result.attrs["stopped"] == "draws"


def test_more_draws_begin_with_the_same(reference):
    fewer = values(run_chains(Toy(), **SMALL | {"draws": 40, "chains": 2}))
    assert same(fewer, {name: a[:2] for name, a in first(reference, 40).items()})


@pytest.mark.parametrize("chunk", [1, 4, 50])
def test_thinning(chunk):
    every = run_chains(Toy(), **SMALL)
    third = run_chains(Toy(thin=3), **SMALL | {"draws": 50}, chunk=chunk)
    assert same(third, {name: a[:, 2::3].copy() for name, a in values(every).items()})


def test_no_warmup():
    assert run_chains(Toy(warmup=0), **SMALL | {"draws": 5}, chunk=3).posterior["level"].shape == (3, 5)


def test_seeds():
    one, other = (run_chains(Toy(), **SMALL | {"seed": seed}).posterior for seed in (np.int64(1), 2**70))
    assert not np.isin(one["level"], other["level"]).any()
    assert not np.isin(one["level"][0], one["level"][1]).any()


@pytest.mark.parametrize("executor", ["threads", "processes", Inline()], ids=["threads", "processes", "own"])
def test_a_chain_has_one_blas_thread(executor):
    before = blas_threads()
    result = run_chains(Toy(watch=True), **SMALL | {"draws": 20}, executor=executor)
    assert (result.sample_stats["threads"] == 1).all()
    assert blas_threads() == before, "the limit is lifted again"


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(1)])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_executor_of_the_user_is_not_shut_down(make, reference):
    with make() as executor:
        result = run_chains(Toy(), **SMALL, executor=executor)
        assert same(result, reference)
        assert executor.submit(abs, -3).result() == 3


def test_executor_of_the_user_is_not_shut_down_after_an_error():
    executor = Inline()
    with pytest.raises(ZeroDivisionError):
        run_chains(Toy(broken=60), **SMALL, executor=executor)
    assert executor.calls
    assert not executor.closed


def test_worker_process_starts_light():
    """It needs neither labels nor diagnostics, which take longer to import than a worker to start."""
    code = "import sys, vmqp.run.worker; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"xarray", "arviz_stats", "rich", "numba", "scipy"} & set(loaded.split())


def test_own_threads_are_gone_afterwards():
    run_chains(Toy(), **SMALL)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("vmqp")]


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_error_of_the_task_is_raised_and_stops_the_others(executor, tmp_path):
    toy = Toy(broken=60, pause=0.001)
    with pytest.raises(ZeroDivisionError, match="the toy is broken"):
        run_chains(
            toy, **SMALL | {"draws": 100_000}, executor=executor, chunk=10, checkpoint=tmp_path / "run"
        )
    assert (tmp_path / "run/chain-1/50-60.npz").exists(), "what was done stays"
    assert same(run_chains(Toy(), **SMALL, checkpoint=tmp_path / "run"), run_chains(Toy(), **SMALL))


def test_killed_worker_is_replaced(tmp_path, reference):
    toy = Toy(fatal=str(tmp_path / "deaths"), deaths=2)
    result = run_chains(toy, **SMALL, executor="processes", workers=2)
    assert (tmp_path / "deaths").read_text().count("died") == 2
    assert same(result, reference)


def test_worker_that_always_dies_is_given_up(tmp_path):
    toy = Toy(fatal=str(tmp_path / "deaths"), deaths=99)
    with pytest.raises(WorkerError, match=r"died 4 times on the same chunk of chain 1.*memory.*__main__"):
        run_chains(toy, **SMALL | {"chains": 2}, executor="processes", workers=1, chunk=300)
    assert (tmp_path / "deaths").read_text().count("died") == 4


def test_pool_that_is_known_to_be_broken_is_replaced(monkeypatch, reference):
    """Here the pool tells already when a chunk is handed over."""
    submit, calls = Pool.submit, []

    def breaks_once(self, *args):
        calls.append(self.generation)
        if len(calls) == 5:
            raise BrokenExecutor
        return submit(self, *args)

    monkeypatch.setattr(Pool, "submit", breaks_once)
    assert same(run_chains(Toy(), **SMALL), reference)
    assert set(calls) == {0, 1}


def test_broken_executor_of_the_user_is_told():
    class Broken(Inline):
        def submit(self, function, /, *args, **kwargs):
            raise BrokenExecutor("gone")

    with pytest.raises(BrokenExecutor, match="gone"):
        run_chains(Toy(), **SMALL, executor=Broken())


def test_task_that_leaves_too_few_draws_is_told():
    class Lazy(Toy):
        def advance(self, state, iterations):
            state, chunk = super().advance(state, iterations)
            return state, chunk._replace(parameters={"level": chunk.parameters["level"][1:]})

    with pytest.raises(WorkerError, match=r"'level' of shape \(\d+,\), but \(\d+,\) is due"):
        run_chains(Lazy(warmup=0), **SMALL)


@pytest.mark.parametrize(
    "places", [{}, {"angles": np.arange(2)}, {"angles": np.arange(3), "other": np.arange(1)}]
)
def test_angles_that_are_not_described_are_told_at_the_first_chunk(places):
    class Vague(Toy):
        def describe(self):
            return super().describe()._replace(places=places)

    with pytest.raises(WorkerError, match=r"'angles': \(3,\)\}?.*agree with the places"):
        run_chains(Vague(pause=0.001), **SMALL | {"draws": 10**6})


def test_memory_is_not_held_twice():
    """The peak is that of the draws and one chunk; one chain, so that no R-hat is computed."""
    toy = Toy(places=2000, chunk=50, warmup=0)
    run_chains(toy, chains=1, draws=10, progress=False)
    tracemalloc.start()
    try:
        result = run_chains(toy, chains=1, draws=1500, progress=False, workers=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.35 * result.posterior["angles"].nbytes


def test_float32():
    half, whole = (run_chains(Toy(), **SMALL, dtype=dtype) for dtype in ("float32", "float64"))
    for name in ("level", "direction", "angles"):
        assert half.posterior[name].dtype == np.float32
        np.testing.assert_array_equal(half.posterior[name], whole.posterior[name].astype(np.float32))
    assert half.sample_stats["jump"].dtype == np.float64


def test_too_many_draws_for_the_memory():
    with pytest.raises(
        InputError, match=r"need about 1.2 GB.*limit is 500 MB.*thin=6 with draws=333"
    ) as found:
        run_chains(Toy(places=30_000, thin=2), chains=5, draws=1000, memory=5e8)
    assert "dtype='float32'" in str(found.value)
    assert "draw at most 416" in str(found.value)
    with pytest.raises(InputError, match="the limit is") as found:
        run_chains(Toy(), draws=10**12, dtype="float32")
    assert "float32" not in str(found.value)


BAD_ARGUMENTS = {
    "task": ({"task": "toy"}, "task is 'toy', which has no fingerprint.*vmqp.chain.Task"),
    "class": ({"task": Toy}, "is a class and not an object"),
    "chains": ({"chains": 0}, "chains is 0.*at least 1"),
    "draws": ({"draws": 0}, "draws is 0.*at least 1"),
    "draws as a fraction": ({"draws": 1.5}, "draws is 1.5.*whole number"),
    "seed": ({"seed": -1}, "seed is -1.*at least 0"),
    "seed none": ({"seed": None}, "seed is None"),
    "executor": ({"executor": "cluster"}, "executor is 'cluster'.*'threads', 'processes'"),
    "executor of another type": ({"executor": 4}, "executor is 4.*Executor is needed"),
    "workers": ({"workers": 0}, "workers is 0.*at least 1"),
    "workers of the user": ({"executor": Inline(), "workers": 2}, "workers is 2.*leave workers out"),
    "checkpoint": ({"checkpoint": 3}, "checkpoint is 3.*path of a directory"),
    "checkpoint empty": ({"checkpoint": ""}, "checkpoint is ''.*path of a directory"),
    "progress": ({"progress": "bar"}, "progress is 'bar'.*None, True and False"),
    "until": ({"until": 1.01}, r"until is 1.01.*Converged\(...\)"),
    "until with one chain": ({"until": Converged(), "chains": 1}, "chains is 1: give chains=2"),
    "time limit": ({"time_limit": 0}, "time_limit is 0.*positive"),
    "time limit nan": ({"time_limit": np.nan}, "time_limit is nan.*positive"),
    "chunk": ({"chunk": 0}, "chunk is 0.*at least 1"),
    "dtype": ({"dtype": "float16"}, "dtype is 'float16'.*'float64' and 'float32'"),
    "dtype of another type": ({"dtype": np.float32}, "dtype is <class.*'float64' and 'float32'"),
    "memory": ({"memory": -1}, "memory is -1.*positive"),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_bad_argument_is_refused_in_one_sentence(name, tmp_path):
    changes, message = BAD_ARGUMENTS[name]
    with pytest.raises(InputError, match=message) as caught:
        run_chains(**{"task": Toy(), "checkpoint": tmp_path / "run"} | changes)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert len(re.findall(r"[a-z]\. [A-Z]", text)) == 0, "one sentence"
    assert not (tmp_path / "run").exists(), "nothing has started"
