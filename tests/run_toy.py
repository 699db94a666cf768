"""A toy task for the runner: an AR(1) parameter, a direction, and a few angles that wander.

Run as a program it takes its arguments as JSON, so that tests can kill or interrupt it.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from vmqp.chain import Arrays, Chunk, Description, State


@dataclass(frozen=True)
class Toy:
    warmup: int = 20
    thin: int = 1
    chunk: int = 25
    places: int = 3
    correlation: float = 0.5
    apart: float = 0.0  # distance between the means of chains: above 0 they never agree
    pause: float = 0.0  # seconds for each iteration; decides no draw
    pause_from: int = 0
    fatal: str = ""  # whoever comes to iteration 30 of chain 1 and finds fewer than `deaths` lines here, dies
    deaths: int = 1
    watch: bool = False  # notes the BLAS threads, which takes a while
    broken: int = -1  # the iteration at which the task raises

    @property
    def fingerprint(self) -> str:
        parts = (self.warmup, self.thin, self.places, self.correlation, self.apart)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def start(self, seed: int, chain: int) -> State:
        key = np.random.SeedSequence(seed, spawn_key=(chain,)).generate_state(2, np.uint64)
        return {
            "key": key,
            "chain": np.array(chain),
            "iteration": np.array(0),
            "level": np.array(5.0),
            "scale": np.array(1.0),
            "angles": np.zeros(self.places),
        }

    def advance(self, state: State, iterations: int) -> tuple[State, Chunk]:
        level, scale, angles = float(state["level"]), float(state["scale"]), state["angles"].copy()
        chain, first = int(state["chain"]), int(state["iteration"])
        kept: dict[str, list] = {"level": [], "direction": [], "angles": [], "jump": [], "large": []}
        for iteration in range(first, first + iterations):
            self._mishap(chain, iteration)
            noise = np.random.Generator(np.random.Philox(key=state["key"], counter=iteration)).normal(
                size=self.places + 1
            )
            if iteration < self.warmup:  # adapts to what it meets, so that a lost state would show
                scale = 0.9 * scale + 0.1 * abs(noise[0])
            level = self.correlation * level + scale * noise[0]
            angles = np.angle(np.exp(1j * (0.5 * angles + noise[1:])))
            after = iteration - self.warmup + 1
            if after > 0 and after % self.thin == 0:
                kept["level"].append(level + self.apart * chain)
                kept["direction"].append(np.angle(np.exp(1j * (np.pi + noise[0]))))
                kept["angles"].append(angles)
                kept["jump"].append(abs(noise[0]))
                kept["large"].append(noise[0] > 1.0)
        n = len(kept["level"])
        end = {**state, "iteration": np.array(first + iterations), "level": np.array(level)}
        return end | {"scale": np.array(scale), "angles": angles}, Chunk(
            {"level": np.array(kept["level"]), "direction": np.array(kept["direction"])},
            {"angles": np.array(kept["angles"]).reshape(n, self.places)},
            {
                "jump": np.array(kept["jump"]),
                "large": np.array(kept["large"], dtype=bool),
                "threads": np.full(n, blas_threads() if self.watch else 0),
            },
            {"acceptance": 0.8},
        )

    def _mishap(self, chain: int, iteration: int) -> None:
        if self.pause and iteration >= self.pause_from:
            time.sleep(self.pause)
        if iteration == self.broken and chain == 1:
            raise ZeroDivisionError("the toy is broken")
        if self.fatal and chain == 1 and iteration == 30:
            path = Path(self.fatal)
            if not path.exists() or len(path.read_text().splitlines()) < self.deaths:
                with path.open("a") as file:
                    file.write("died\n")
                os.kill(os.getpid(), signal.SIGKILL)

    def describe(self) -> Description:
        return Description(
            {"angles": 10 * np.arange(self.places)},
            {"y": np.linspace(0.0, 1.0, 4)},
            {"X": np.ones((4, 2))},
            {"model": "toy", "circular": "direction"},
        )

    def warnings(self, stats: Arrays) -> list[str]:
        return ["the jumps are odd."] if (stats["jump"] > 1e9).any() else []


def blas_threads() -> int:
    return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")


def values(tree) -> dict[str, np.ndarray]:
    """All draws of a result, by name."""
    return {name: tree[group][name].values for group in ("posterior", "sample_stats") for name in tree[group]}


def same(one, other) -> bool:
    """Whether two results agree in every bit."""
    one, other = (x if isinstance(x, dict) else values(x) for x in (one, other))
    return one.keys() == other.keys() and all(
        one[name].dtype == other[name].dtype and one[name].tobytes() == other[name].tobytes() for name in one
    )


def first(result, draws: int) -> dict[str, np.ndarray]:
    """The first draws of a result."""
    result = result if isinstance(result, dict) else values(result)
    return {name: a[:, :draws].copy() for name, a in result.items()}


def launch(toy: dict, run: dict, out: Path | str = "", **options) -> subprocess.Popen:
    """Start this program in a session of its own, so that signals to its group stay there."""
    here = Path(__file__).parent
    return subprocess.Popen(
        [sys.executable, "-c", "import run_toy; run_toy.main()", json.dumps([toy, run, str(out)])],
        env=os.environ | {"PYTHONPATH": str(here)},
        start_new_session=True,
        text=True,
        **{"stderr": subprocess.PIPE} | options,
    )


def main() -> None:
    toy, run, out = json.loads(sys.argv[1])
    from vmqp.run import run_chains

    tree = run_chains(Toy(**toy), **run)
    if out:
        # Written beside and renamed: who waits for the file must not see half of it.
        np.savez(out + ".part.npz", **values(tree), stopped=np.array(tree.attrs["stopped"]))
        os.replace(out + ".part.npz", out)
