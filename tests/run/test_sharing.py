"""Runs one beside another, in threads of their own, over one executor."""

import multiprocessing
import signal
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from run_learner import wait_until
from run_toy import Toy, first, same
from vmqp.run import run_chains
from vmqp.run.interrupts import Interrupts
from vmqp.run.pools import Pool
from vmqp.run.progress import Display, Lines, Tracker, make_progress
from vmqp.run.store import Draws

# The runs here are too short to converge.
pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")

SMALL = {"chains": 3, "draws": 120, "progress": False}
SEEDS = range(4)


@pytest.fixture(scope="module")
def alone():
    return [run_chains(Toy(), **SMALL, seed=seed) for seed in SEEDS]


def side_by_side(executor, tasks, **options):
    """Four runs at once; returns a function for each that gives its result or raises its error."""
    with ThreadPoolExecutor(len(SEEDS)) as threads:
        return [
            threads.submit(run_chains, task, **SMALL | {"seed": seed, "executor": executor} | options).result
            for seed, task in zip(SEEDS, tasks, strict=True)
        ]


@pytest.mark.parametrize(
    "make",
    [lambda: ThreadPoolExecutor(2), lambda: Pool("threads", 2), lambda: Pool("processes", 2)],
    ids=["threads of the user", "threads", "processes"],
)
def test_draws_are_those_of_each_alone(make, alone):
    with make() as executor:
        results = side_by_side(executor, [Toy(pause=0.001)] * 4, chunk=10)
        assert all(same(result(), expected) for result, expected in zip(results, alone, strict=True))
        again = run_chains(Toy(), **SMALL, seed=0, executor=executor)
    assert same(again, alone[0]), "what is shared is not shut down"


def test_each_has_one_blas_thread():
    """Also where the main thread has set a limit before."""
    run_chains(Toy(watch=True), **SMALL)
    for result in side_by_side(None, [Toy(watch=True, pause=0.001)] * 4):
        assert (result().sample_stats["threads"] == 1).all()


def test_worker_that_dies_is_replaced_for_all(tmp_path, alone):
    toys = [Toy(pause=0.001), Toy(fatal=str(tmp_path / "deaths"), deaths=2), Toy(pause=0.001), Toy()]
    with Pool("processes", 2) as pool:
        results = side_by_side(pool, toys, chunk=10)
        assert all(same(result(), expected) for result, expected in zip(results, alone, strict=True))
        assert pool.generation == 2
    assert (tmp_path / "deaths").read_text().count("died") == 2


def test_error_of_one_leaves_the_others_alone(alone):
    with Pool("threads", 2) as pool:
        results = side_by_side(pool, [Toy(), Toy(broken=60), Toy(), Toy()], chunk=10)
        with pytest.raises(ZeroDivisionError):
            results[1]()
        assert all(same(results[k](), alone[k]) for k in (0, 2, 3))


def test_process_pool_of_the_user_that_breaks_is_told(tmp_path):
    """It is not ours to make anew."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor, pytest.raises(BrokenExecutor):
        run_chains(Toy(fatal=str(tmp_path / "deaths")), **SMALL, executor=executor)


@pytest.mark.filterwarnings("ignore::vmqp.errors.InterruptedWarning")
def test_ctrl_c_stops_all(tmp_path, alone):
    """The main thread listens, and waits for the others."""

    def run(seed):
        return run_chains(Toy(pause=0.02), **SMALL, seed=seed, chunk=5, checkpoint=tmp_path / str(seed))

    def on_disk(seed):
        return min(len(list(tmp_path.glob(f"{seed}/chain-{chain}/*-*.npz"))) for chain in range(3))

    with ThreadPoolExecutor(2) as threads, Interrupts() as interrupts:
        runs = [threads.submit(run, seed) for seed in (0, 1)]
        wait_until(lambda: on_disk(0) > 6 and on_disk(1) > 6)
        signal.raise_signal(signal.SIGINT)
        results = [run.result() for run in runs]
    assert interrupts.count == 1
    for result, whole in zip(results, alone, strict=False):
        draws = result.posterior.sizes["draw"]
        assert result.attrs["stopped"] == "interrupted"
        assert 0 < draws < SMALL["draws"]
        assert same(result, first(whole, draws))


def test_count_inside_a_count_hears_the_same_presses():
    with Interrupts() as outer:
        signal.raise_signal(signal.SIGINT)
        with Interrupts() as inner:
            signal.raise_signal(signal.SIGINT)
            assert inner.count == 2
    assert outer.count == 2
    with Interrupts() as later:
        assert later.count == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_only_the_main_thread_draws_a_table(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")

    def kind():
        progress = make_progress(None, Tracker([0], 10, 5, Draws(1, 5), set()))
        progress.close()
        return type(progress)

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(kind).result() is Lines
    assert kind() is Display
