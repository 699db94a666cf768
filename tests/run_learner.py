"""A small real learner for the runner.

Run as a program it takes its arguments as JSON, so that tests can kill it.
"""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vmqp import kernels, priors
from vmqp.chain import Chunk, State
from vmqp.learning import Learner, Method, make_problem

BROAD = priors.LogNormal(0.0, 0.8)


@dataclass(frozen=True, eq=False)
class Slow(Learner):
    """A learner that rests before each chunk, so that there is time to kill it; that decides no draw."""

    pause: float = 0.0

    def advance(self, state: State, iterations: int) -> tuple[State, Chunk]:
        time.sleep(self.pause)
        return super().advance(state, iterations)


def make_learner(pause: float = 0.0, **method) -> Learner:
    """Six noisy observations and six new places, with a warm-up that adapts."""
    rng = np.random.default_rng(3)
    X = np.sort(rng.uniform(0.0, 4.0, 12))[:, None]
    angles = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(12)
    problem = make_problem(
        X[::2],
        angles[::2],
        X[1::2],
        kernel=BROAD * kernels.Exponential(BROAD),
        noise=priors.LogNormal(1.0, 0.5),
    )
    return Slow(problem, Method(**method), warmup=60, pause=pause)


def launch(pause: float, run: dict) -> subprocess.Popen:
    """Start this program in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", "import run_learner; run_learner.main()", json.dumps([pause, run])],
        cwd=Path(__file__).parent,  # where Python finds this module
        start_new_session=True,
        stderr=subprocess.DEVNULL,  # the tracker of semaphores complains about a death that was meant
    )


def main() -> None:
    pause, run = json.loads(sys.argv[1])
    from vmqp.run import run_chains

    run_chains(make_learner(pause), **run)


def children(pid: int) -> set[int]:
    """Processes that a process has started and that are alive."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.add(int(status.parent.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.002)
