"""Run the benchmarks: ``python -m benchmarks``, or some of them by name, as in ``python -m benchmarks sweep scale``."""

import sys

from threadpoolctl import threadpool_limits

from benchmarks import learning, peers, samplers, scale, startup, sweep, vecchia, wind

PARTS = {
    "startup": startup.main,
    "sweep": sweep.main,
    "learning": learning.main,
    "wind": wind.main,
    "peers": peers.main,
    "samplers": samplers.main,
    "scale": scale.main,
    "vecchia": vecchia.main,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"no benchmark {unknown[0]!r}: the choices are {', '.join(PARTS)}")
        return 2
    with threadpool_limits(1):
        for name in names or PARTS:
            PARTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
