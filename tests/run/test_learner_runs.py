"""The runner with a real learner: the same bits with any workers and after any death, and a result that ArviZ reads."""

import signal
import time
import warnings

import numpy as np
import pytest

from run_learner import BROAD, alive, children, launch, make_learner, wait_until
from run_toy import first, same
from vmqp import kernels
from vmqp.errors import ConvergenceWarning
from vmqp.learning import Learner, Method, make_problem
from vmqp.linalg.threads import one_blas_thread
from vmqp.run import Converged, run_chains

# The runs here are too short to converge.
pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")

SMALL = {"chains": 2, "draws": 120, "seed": 9, "progress": False}
ITERATIONS = 60 + SMALL["draws"]


@pytest.fixture(scope="module")
def whole():
    """Threads with two workers, in large chunks."""
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return run_chains(make_learner(), **SMALL, workers=2)


@pytest.mark.parametrize(
    ("executor", "workers", "chunk"),
    [("threads", 1, 17), ("threads", 2, 1), ("processes", 1, 50), ("processes", 2, 33)],
)
def test_draws_do_not_depend_on_the_workers(executor, workers, chunk, whole):
    assert same(run_chains(make_learner(), **SMALL, executor=executor, workers=workers, chunk=chunk), whole)


def test_the_runner_draws_what_the_learner_draws(whole):
    task = make_learner()
    for chain in range(2):
        # As the runner does: two threads add sums up in another order, on some processors.
        with one_blas_thread():
            _, chunk = task.advance(task.start(9, chain), ITERATIONS)
        for name, values in {**chunk.parameters, **chunk.angles}.items():
            np.testing.assert_array_equal(whole.posterior[name].values[chain], values)
        for name, values in chunk.stats.items():
            np.testing.assert_array_equal(whole.sample_stats[name].values[chain], values)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_killed_at_random_moments(executor, tmp_path, whole):
    """Killed three times for good, then resumed here: the draws are those of a run in one piece."""
    folder = tmp_path / "run"

    def written():
        return len(list(folder.glob("chain-*/*-*.npz")))

    for moment in np.random.default_rng(20).uniform(0.0, 0.15, size=3):
        before = written()
        # A worker process takes seconds to start, so there is one.
        workers = 2 if executor == "threads" else 1
        run = SMALL | {"executor": executor, "workers": workers, "chunk": 2, "checkpoint": str(folder)}
        process = launch(0.02, run)
        wait_until(lambda before=before: written() > before + 2)
        time.sleep(moment)
        started = children(process.pid)
        assert bool(started) == (executor == "processes")
        process.send_signal(signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
        wait_until(lambda started=started: not any(map(alive, started)))
    reached = max(int(path.stem.split("-")[1]) for path in folder.glob("chain-*/*-*.npz"))
    assert 0 < reached < ITERATIONS, "it was killed in the middle"
    assert same(run_chains(make_learner(), **SMALL, checkpoint=folder), whole)


def test_more_draws_go_on_from_a_checkpoint(tmp_path, whole):
    run_chains(make_learner(), **SMALL | {"draws": 31}, checkpoint=tmp_path)
    assert same(run_chains(make_learner(), **SMALL, checkpoint=tmp_path), whole)
    assert same(run_chains(make_learner(), **SMALL | {"draws": 10}, checkpoint=tmp_path), first(whole, 10))


def test_groups_of_the_result(whole):
    posterior = whole.posterior
    learned = {"variance", "lengthscale", "concentration", "direction", "noise"}
    assert set(posterior.data_vars) == learned | {"angle", "latent"}
    assert all(posterior[name].dims == ("chain", "draw") for name in learned)
    np.testing.assert_array_equal(posterior["angle_place"], np.arange(6, 12))
    np.testing.assert_array_equal(posterior["latent_place"], np.arange(6))
    stats = whole.sample_stats
    acceptance = ["acceptance_factorised", "acceptance_cheap", "acceptance_noise"]
    assert set(stats.data_vars) == {*acceptance, "inner_steps", "inner_needed", "energy"}
    for name in acceptance:
        assert ((stats[name] >= 0.0) & (stats[name] <= 1.0)).all()
        assert stats[name].mean() > 0.05
    assert (stats["inner_steps"] >= 1.0).all()
    assert np.isfinite(stats["energy"]).all()
    problem = make_learner().problem
    np.testing.assert_array_equal(whole.observed_data["angle"], problem.observed)
    np.testing.assert_array_equal(whole.constant_data["X"], problem.X)
    assert whole.attrs["model"] == "von Mises quasi-process"
    assert whole.attrs["kernel"] == repr(problem.kernel)
    assert whole.attrs["circular"] == "direction"


def test_arviz_stats_reads_the_result(whole):
    from arviz_stats import summary

    table = summary(whole, group="posterior")
    assert {"variance", "lengthscale", "concentration", "noise", "angle[6]", "latent[0]"} <= set(table.index)
    np.testing.assert_allclose(
        float(table.loc["variance", "mean"]), float(whole.posterior["variance"].mean()), rtol=0.1
    )


def test_a_rule_of_convergence_stops_the_run():
    rule = Converged(rhat=1.2, rhat_angles=1.3, ess=20)
    with warnings.catch_warnings(action="error"):
        result = run_chains(make_learner(), **SMALL | {"draws": 3000}, until=rule)
    assert result.attrs["stopped"] == "converged"
    assert 100 <= result.posterior.sizes["draw"] < 3000


def test_an_inner_chain_that_is_too_short_is_a_warning():
    stiff = make_problem([[0.0], [1.0]], [2.0, 2.1], kernel=BROAD * kernels.Exponential(50.0), direction=0.0)
    task = Learner(stiff, Method(sampler="heatbath", inner_steps=1), warmup=40)
    with pytest.warns(
        ConvergenceWarning, match=r"the inner chain of the exchange algorithm has 1 steps, but \d+"
    ):
        run_chains(task, chains=1, draws=30, progress=False)
