"""One BLAS thread: in every thread, for libraries that are loaded late too, and not for longer than needed."""

import os
import subprocess
import sys
import textwrap

import pytest

START = """
import threading
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits
from vmqp.linalg.threads import one_blas_thread

def blas():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

def in_a_thread(function):
    with ThreadPoolExecutor(1) as thread:
        thread.submit(function).result()

assert blas() == {2}, blas()
"""


def run(code):
    """In a process of its own, where BLAS has two threads and is loaded by NumPy only."""
    env = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    command = [sys.executable, "-c", START + textwrap.dedent(code)]
    done = subprocess.run(
        command, env=os.environ | env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_main_thread_has_set_a_limit_before():
    run(
        """
        threadpool_limits(2)

        def limited():
            with one_blas_thread():
                assert blas() == {1}, blas()

        in_a_thread(limited)
        assert blas() == {2}, blas()
        limited()
        assert blas() == {2}, blas()
        """
    )


@pytest.mark.parametrize("first", ["one", "two"])
def test_limit_stays_until_the_last_has_left(first):
    run(
        """
        first = FIRST
        entered, leave = threading.Barrier(3), {name: threading.Event() for name in ("one", "two")}

        def limited(name):
            with one_blas_thread():
                entered.wait(10)
                leave[name].wait(10)

        threads = {name: threading.Thread(target=limited, args=(name,)) for name in leave}
        for thread in threads.values():
            thread.start()
        entered.wait(10)
        assert blas() == {1}, blas()
        leave[first].set()
        threads[first].join()
        assert blas() == {1}, blas()
        for name, thread in threads.items():
            leave[name].set()
            thread.join()
        assert blas() == {2}, blas()
        """.replace("FIRST", repr(first))
    )


def test_library_that_is_loaded_late():
    run(
        """
        with one_blas_thread():
            import scipy.linalg  # which may bring a BLAS of its own
            with one_blas_thread():
                assert blas() == {1}, blas()
            assert blas() == {1}, blas()
        assert blas() == {2}, blas()
        """
    )
