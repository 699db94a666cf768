"""How long the import and the first sample take, with nothing compiled yet."""

import os
import subprocess
import sys
import tempfile
import time

FIRST = "import vmqp; vmqp.sample_angles([[0, 1], [1, 0]], [[1, 0], [0, 1]], draws=10)"


def _seconds(code: str, cache: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"NUMBA_CACHE_DIR": cache})
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        bare = min(_seconds("pass", cache) for _ in range(3))
        imported = min(_seconds("import vmqp", cache) for _ in range(3)) - bare
        first = _seconds(FIRST, cache)
        second = _seconds(FIRST, cache)
    print("\nStart-up, seconds of a new process")
    print(f"  import vmqp                          {imported:6.2f}   wanted: below 1")
    print(f"  first sample, compiling              {first:6.2f}   wanted: below 15")
    print(f"  first sample, compiled code on disk  {second:6.2f}", flush=True)
