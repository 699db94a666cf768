"""What is seen while chains run: lines in a log, a table on a terminal, nothing if asked."""

import os
import pty
import re
import subprocess

import pytest

from run_toy import Toy, launch
from vmqp.run import progress, run_chains
from vmqp.run.progress import Tracker
from vmqp.run.store import Draws

# The runs here are too short to converge.
pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")

SMALL = {"chains": 2, "draws": 100, "seed": 2}


def test_plain_lines_where_there_is_no_terminal(capsys):
    run_chains(Toy(), **SMALL)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 2, "a short run has one line for each chain, at its end"
    for chain in (0, 1):
        pattern = rf"chain {chain}: 120/120 iterations, done, acceptance 0\.8, ESS \d+"
        assert any(re.fullmatch(pattern, line) for line in lines), err
    assert "\x1b" not in err


def test_lines_tell_phase_and_time_left(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.0)
    run_chains(Toy(), **SMALL, chunk=10)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("chain 1")]
    assert len(lines) == 12
    assert re.fullmatch(r"chain 1: 10/120 iterations, warm-up, acceptance 0\.8, \d+:\d\d left", lines[0])
    assert re.fullmatch(
        r"chain 1: 50/120 iterations, sampling, acceptance 0\.8, ESS \d+, \d+:\d\d left", lines[4]
    )


def test_silence(capsys):
    run_chains(Toy(), **SMALL, progress=False)
    assert capsys.readouterr() == ("", "")


def test_table_is_shown_where_it_is_asked_for(capsys):
    run_chains(Toy(), **SMALL, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "120/120" in err
    assert "\x1b[" in err, "it is drawn over and over"


def test_table_on_a_terminal():
    master, slave = pty.openpty()
    os.environ["TERM"], before = "xterm", os.environ.get("TERM")
    try:
        process = launch({"pause": 0.005}, SMALL | {"chunk": 10}, stderr=slave, stdout=subprocess.DEVNULL)
    finally:
        os.environ.pop("TERM") if before is None else os.environ.update(TERM=before)
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other side was closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    assert process.wait(20) == 0, shown.decode()
    text = shown.decode()
    for word in ("chain", "iteration", "warm-up", "sampling", "acceptance 0.8", "ESS", "left", "120/120"):
        assert word in text
    assert "\x1b[" in text
    assert text.count("iteration") > 2, "drawn more than once"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(10.0, "1:30"), (1000.0, "2:30:00"), (0.01, "0:00")], ids=lambda value: str(value)
)
def test_time_left_is_from_the_pace_of_this_run(seconds, shown, monkeypatch):
    """100 of 1100 iterations were on disk; 100 more took the time given, and 900 are left."""
    clock = [50.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    tracker = Tracker([100], 1100, 10, Draws(1, 1090), set())
    assert tracker.cells(0)[-1] == ""
    tracker.rows[0].position = 200
    clock[0] += seconds
    assert tracker.cells(0)[-1] == shown
