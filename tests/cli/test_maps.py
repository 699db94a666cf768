"""`vmqp predict --grid` with more places than a dense precision takes: two stages, a bound, going on after a stop."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_lines import FIXED, TINY, predict

MAP = (
    "--grid",
    "46x45",
    "--kernel",
    FIXED,
    "--chains",
    "2",
    "--warmup",
    "60",
    "--target-ess",
    "20",
    "--out",
    "run",
)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--precision", "sparse"), "--precision 'sparse' is not known: did you mean"),
        (("--memory", "lots"), "give a number of bytes, or a text such as '4GB'"),
        (("--memory", "100MB"), "needs about 0."),
        (("--neighbors", "0"), "give a whole number, at least 1"),
        (("--drift", "constant"), "needs --drift mean"),
        (("--draws", "1000000", "--memory", "1GB"), "do not fit the memory"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(call, folder, given, message):
    answer = call([*predict(*MAP), "--quiet", *given])
    assert answer.code == 2
    assert message in " ".join(answer.err.split())
    assert not Path("run").exists()


def test_a_map_and_going_on_with_it(call, without_report):
    answer = call([*predict(*MAP, *TINY[-1:], "--draws", "8", "--allow-unconverged")])
    assert answer.code == 0
    table = pd.read_csv("run/predictions.csv")
    assert len(table) == 46 * 45
    assert table["variance"].between(0.0, 1.0).all()
    np.testing.assert_allclose(table["lon"][:46].diff()[1:], table["lon"][1] - table["lon"][0], rtol=1e-6)
    outcome = json.loads(Path("run/result.json").read_text())
    assert outcome["rows"]["predicted"] == 46 * 45
    assert outcome["model"]["drift"] == "mean"
    assert "concentration" in outcome["parameters"]
    before = outcome["draws"]
    folders = [path.name for path in Path("run/checkpoint").glob("map-*")]
    assert call(["resume", "run", "--draws", str(before + 4), "--quiet", "--allow-unconverged"]).code == 0
    assert [path.name for path in Path("run/checkpoint").glob("map-*")] == folders, "the same map goes on"
    # More is asked of the parameters: they are learned for longer, and the map begins anew.
    more = ("--draws", "4", "--target-ess", "900", "--quiet", "--allow-unconverged")
    assert call(["resume", "run", *more]).code == 0
    assert len({*folders, *(path.name for path in Path("run/checkpoint").glob("map-*"))}) == 2


def test_going_on_within_the_memory_and_beyond_it(call, without_report, monkeypatch):
    """A map gets twice its draws, or as many as fit; where none do, a larger bound is asked for."""
    room = 30
    monkeypatch.setattr("vmqp.cli.work.affordable_map_draws", lambda *_, **__: room)
    monkeypatch.setattr("vmqp.regression.stages.affordable_draws", lambda *_, **__: room)
    strict = ("--draws", "8", "--target-ess", "1e7")  # never reached, so that the verdict is no
    monkeypatch.setattr("vmqp.regression.options._MOST", 60)
    monkeypatch.setattr("vmqp.regression.options._LEAST", 60)
    answer = call([*predict(*MAP, *strict), "--quiet"])
    assert answer.code == 3
    assert "goes on for longer" in " ".join(answer.err.split())
    answer = call(["resume", "run", "--quiet"])  # fields are kept, so that a third of 30 draws fits
    assert json.loads(Path("run/result.json").read_text())["draws"] == 10
    assert "vmqp resume run --memory SIZE goes on" in " ".join(answer.err.split())
    room = 60
    call(["resume", "run", "--memory", "16GB", "--quiet"])
    assert json.loads(Path("run/result.json").read_text())["draws"] == 20
    assert "such as '4GB'" in call(["resume", "run", "--memory", "lots", "--quiet"]).err


def test_a_note_says_what_will_happen(call, without_report):
    answer = call(predict(*MAP, "--draws", "4", "--allow-unconverged"))
    assert "the parameters are learned with some of them, then the whole map is drawn" in " ".join(
        (answer.out + answer.err).split()
    )


def test_killed_while_the_map_is_drawn(call, without_report):
    """Killed for good in the second stage: what it ends with is what a run in one piece ends with."""
    options = ("--draws", "40", "--target-ess", "20", "--quiet", "--allow-unconverged", "--engine", "threads")
    command = [sys.executable, "-m", "vmqp", *predict(*MAP, *options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(2400):
        if len(list(Path("run/checkpoint").glob("map-*/chain-*/*-*.npz"))) >= 3:
            break
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not Path("run/predictions.csv").exists()
    assert call(["resume", "run", "--quiet", "--allow-unconverged"]).code == 0
    resumed = Path("run/predictions.csv").read_bytes()
    Path("run").rename("killed")
    assert call(predict(*MAP, *options)).code == 0
    assert Path("run/predictions.csv").read_bytes() == resumed
