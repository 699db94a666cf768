"""Run the benchmarks: ``python -m benchmarks``, or some of them by name, as in ``python -m benchmarks sweep scale``."""

import sys

from threadpoolctl import threadpool_limits

from benchmarks import (
    accuracy,
    fast,
    learning,
    peers,
    predictions,
    samplers,
    scale,
    startup,
    sweep,
    vecchia,
    wind,
)

PARTS = {
    "startup": startup.main,
    "sweep": sweep.main,
    "learning": learning.main,
    "wind": wind.main,
    "peers": peers.main,
    "samplers": samplers.main,
    "scale": scale.main,
    "vecchia": vecchia.main,
    "predictions": predictions.main,
    "fast": fast.main,
}
LONG = {
    "accuracy": accuracy.main,
    "choice": fast.main_choice,
    "smooth": fast.main_smooth,
    "few": fast.main_few,
    "long": fast.main_long,
}
"""Parts that run only where they are asked for by name."""


def main(names: list[str]) -> int:
    every = PARTS | LONG
    unknown = [name for name in names if name not in every]
    if unknown:
        print(f"no benchmark {unknown[0]!r}: the choices are {', '.join(every)}")
        return 2
    with threadpool_limits(1):
        for name in names or PARTS:
            every[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
