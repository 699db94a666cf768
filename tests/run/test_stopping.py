"""When runs stop: by convergence at the same draw everywhere, by the clock, and by Ctrl-C."""

import os
import signal
import subprocess
import time
import warnings

import numpy as np
import pytest

from run_toy import Toy, first, launch, same
from vmqp.errors import InputError, InterruptedWarning, TimeLimitError
from vmqp.run import Converged, run_chains, scheduler
from vmqp.run.diagnostics import blocks
from vmqp.run.stopping import rounds

# The runs here are too short to converge.
pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")

SMALL = {"chains": 2, "draws": 400, "seed": 2, "progress": False}
RULE = Converged(rhat=1.05, rhat_angles=1.05, ess=150)


def met(rule, result, draws):
    seen = first(result, draws)
    return rule.met(
        {name: seen[name] for name in ("level", "direction")}, {"angles": seen["angles"]}, {"direction"}
    )


@pytest.fixture(scope="module")
def stopped():
    return run_chains(Toy(), **SMALL, until=RULE, workers=1)


class TestConverged:
    def test_stops_at_the_first_round_that_satisfies_the_rule(self, stopped):
        assert stopped.attrs["stopped"] == "converged"
        draws = stopped.posterior.sizes["draw"]
        assert draws < SMALL["draws"]
        whole = run_chains(Toy(), **SMALL)
        assert same(stopped, first(whole, draws))
        asked = [count for count in rounds(SMALL["draws"]) if count <= draws]
        assert asked[-1] == draws
        assert len(asked) > 1
        assert [met(RULE, whole, count) for count in asked] == [False] * (len(asked) - 1) + [True]

    @pytest.mark.parametrize(
        "options",
        [{"workers": 2}, {"executor": "processes", "workers": 2, "chunk": 40}, {"chunk": 3}],
        ids=str,
    )
    def test_stops_at_the_same_draw_however_computed(self, options, stopped):
        assert same(run_chains(Toy(), **SMALL, until=RULE, **options), stopped)

    @pytest.mark.parametrize("before", [100, 130, 172])
    def test_a_run_that_was_stopped_elsewhere_stops_at_the_same_draw(self, before, tmp_path, stopped):
        run_chains(Toy(), **SMALL | {"draws": before}, checkpoint=tmp_path)
        assert same(run_chains(Toy(), **SMALL, until=RULE, checkpoint=tmp_path), stopped)

    def test_draws_are_the_maximum(self):
        result = run_chains(Toy(), **SMALL | {"draws": 130}, until=Converged(ess=1e6))
        assert result.posterior.sizes["draw"] == 130
        assert result.attrs["stopped"] == "draws"

    def test_chains_apart_do_not_converge(self):
        result = run_chains(Toy(apart=9.0), **SMALL, until=Converged(ess=10))
        assert result.attrs["stopped"] == "draws"

    def test_each_limit_counts(self):
        draws = run_chains(Toy(), **SMALL)
        assert met(Converged(1.1, 1.1, 50), draws, 400)
        assert not met(Converged(1.0001, 1.1, 50), draws, 400)
        assert not met(Converged(1.1, 1.0001, 50), draws, 400)
        assert not met(Converged(1.1, 1.1, 5000), draws, 400)

    @pytest.mark.parametrize("field", ["rhat", "rhat_angles", "ess"])
    @pytest.mark.parametrize("value", [-1, np.nan, np.inf, "1", None, True])
    def test_bad_limits(self, field, value):
        with pytest.raises(InputError, match=rf"{field} is .*must be a number above"):
            Converged(**{field: value})


def test_rounds_end_with_the_last_draw():
    for draws in (1, 99, 100, 101, 119, 120, 5000):
        counts = list(rounds(draws))
        assert counts[-1] == draws
        assert (np.diff(counts) > 0).all()


def test_fixed_parameter_does_not_hinder_and_a_stuck_chain_does():
    noise = np.random.default_rng(1).normal(size=(2, 500))
    stuck = np.ones((2, 500)) * [[1.0], [2.0]]
    for values, expected in ((np.ones((2, 500)), True), (stuck, False), (noise * np.nan, False)):
        assert RULE.met({"noise": noise, "other": values}, {}, set()) == expected


def test_direction_is_compared_as_an_angle():
    """Chains that look at π from both sides agree, though their numbers do not."""
    near = np.pi + 0.1 * np.random.default_rng(3).normal(size=(2, 400))
    one = {"direction": near - [[0.0], [2.0 * np.pi]]}
    assert RULE.met(one, {}, {"direction"})
    assert not RULE.met(one, {}, set())


def test_blocks_of_angles_cover_every_place(monkeypatch):
    angles = np.random.default_rng(3).uniform(-3.0, 3.0, size=(2, 10, 7))
    [whole] = blocks({}, {"angles": angles}, set())
    monkeypatch.setattr("vmqp.run.diagnostics._BLOCK", 80)
    parts = list(blocks({}, {"angles": angles}, set()))
    assert [part.first for part in parts] == [0, 2, 4, 6]
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts], axis=2), whole.values)
    np.testing.assert_array_equal(whole.values[..., 1::2], np.sin(angles))


@pytest.mark.parametrize("options", [{}, {"executor": "processes"}, {"until": Converged(ess=1e6)}], ids=str)
def test_time_limit(options):
    limit = 1.5 if "executor" in options else 0.5  # processes take a while to start
    result = run_chains(Toy(pause=0.003), **SMALL | {"draws": 2000}, time_limit=limit, chunk=5, **options)
    draws = result.posterior.sizes["draw"]
    assert result.attrs["stopped"] == "time limit"
    assert 0 < draws < 2000
    assert result.attrs["sampling_time"] < 10.0
    assert same(result, run_chains(Toy(), **SMALL | {"draws": draws}))


def test_time_limit_that_is_not_reached():
    assert run_chains(Toy(), **SMALL, time_limit=100).attrs["stopped"] == "draws"


def test_time_limit_in_warmup(tmp_path):
    toy = Toy(pause=0.01, warmup=1000)
    with pytest.raises(
        TimeLimitError, match=r"0.1 s came before every chain had a draw.*a checkpoint directory"
    ):
        run_chains(toy, **SMALL, time_limit=0.1, chunk=5)
    with pytest.raises(TimeLimitError, match=r"to resume, call again with checkpoint='.*run'"):
        run_chains(toy, **SMALL, time_limit=0.1, chunk=5, checkpoint=tmp_path / "run")
    assert list((tmp_path / "run/chain-0").glob("0-*.npz")), "the last chunk ends about when the time does"
    fast = Toy(warmup=1000)
    assert same(run_chains(fast, **SMALL, checkpoint=tmp_path / "run"), run_chains(fast, **SMALL))


def test_keyboard_interrupt_of_another_handler(monkeypatch):
    """Where Ctrl-C raises, as in a handler of the user, the draws are kept too."""
    wait, calls = scheduler.wait, []

    def interrupted(*args, **kwargs):
        calls.append(args)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return wait(*args, **kwargs)

    monkeypatch.setattr(scheduler, "wait", interrupted)
    with pytest.warns(InterruptedWarning, match=r"after \d+ of 400 draws.*give a checkpoint"):
        result = run_chains(Toy(), **SMALL, chunk=10, workers=1)
    assert result.attrs["stopped"] == "interrupted"


def finish(process):
    try:
        return process.communicate(timeout=30)[1]
    finally:
        process.kill()


def wait_for(folder, chunks, seconds=30.0):
    deadline = time.monotonic() + seconds
    while len(list(folder.glob("chain-*/*-*.npz"))) < chunks:
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_ctrl_c_returns_the_draws_so_far(executor, tmp_path):
    """Sent to the whole group, as a terminal does."""
    folder, out = tmp_path / "run", tmp_path / "out.npz"
    options = {"executor": executor, "chunk": 10, "checkpoint": str(folder), "draws": 4000}
    process = launch({"pause": 0.003}, SMALL | options, out)
    wait_for(folder, 12)
    signal_group(process)
    errors = finish(process)
    assert process.returncode == 0, errors
    assert "InterruptedWarning: the run was stopped by Ctrl-C after" in errors
    assert f"to resume, call again with checkpoint={str(folder)!r}" in errors
    assert "Traceback" not in errors
    result = dict(np.load(out))
    assert result.pop("stopped") == "interrupted"
    draws = result["level"].shape[1]
    assert 0 < draws < 4000
    with warnings.catch_warnings(action="ignore"):
        again = run_chains(Toy(), **SMALL | {"draws": draws + 5}, checkpoint=folder)
    assert same(result, first(again, draws))
    assert same(again, run_chains(Toy(), **SMALL | {"draws": draws + 5}))


def test_second_ctrl_c_does_not_wait(tmp_path):
    folder, out = tmp_path / "run", tmp_path / "out.npz"
    toy = {"pause": 8.0, "pause_from": 100}
    process = launch(toy, SMALL | {"chunk": 50, "checkpoint": str(folder)}, out)
    wait_for(folder, 4)
    try:
        signal_group(process)
        time.sleep(0.5)
        assert not out.exists(), "the first waits for the chunk"
        signal_group(process)
        deadline = time.monotonic() + 5.0
        while not out.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert np.load(out)["level"].shape == (2, 80)
    finally:
        process.kill()
        process.communicate()


def test_ctrl_c_in_warmup_is_raised(tmp_path):
    process = launch(
        {"warmup": 10_000, "pause": 0.003}, SMALL | {"checkpoint": str(tmp_path / "run"), "chunk": 5}
    )
    wait_for(tmp_path / "run", 3)
    signal_group(process)
    errors = finish(process)
    assert process.returncode == -signal.SIGINT
    assert (
        "KeyboardInterrupt: stopped before the first draw; to resume, call again with checkpoint=" in errors
    )


def signal_group(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGINT)
