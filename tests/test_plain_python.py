"""Compiled loops against the same loops as plain Python, on the small cases of `plain_cases`.

Whole numbers, truth values and random streams have to be the same. Other numbers may differ by rounding: where sums may
be reordered (``fastmath``), and where Python and the compiled code call different functions of the C library. Each is
compared with the largest of its array. From 1e-16 at the start, a difference grows by a small factor with each sweep or
leapfrog; cases make so few of them that it stays below 1e-12, or 1e-10 where trajectories of HMC follow each other or
large sums cancel.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config

import plain_cases

pytestmark = [
    pytest.mark.xdist_group("plain-python"),
    pytest.mark.skipif(
        bool(config.DISABLE_JIT), reason="nothing is compiled, so there is nothing to compare"
    ),
]

CLOSE = 1e-12
AFTER_TRAJECTORIES = 1e-10
TRAJECTORIES = {
    "hmc_plain",
    "hmc_augmented",
    "hmc_whitened",
    "hybrid",
    "exchange",
    "exchange_by_bridges",
    "exchange_on_neighbours",
    "joint_draws",
    "slopes",
}
FAULT = """
import sys
sys.path.insert(0, {tests!r})
import plain_cases
from vmqp.sampling import heatbath

right = heatbath._reflect

def wrong(hc, hs, c, s):
    c, s = right(hc, hs, c, s)
    return c, (1.0 + 1e-9) * s

heatbath._reflect = wrong
plain_cases.main([{out!r}, "heatbath", "augmented"])
"""


def plain_arrays(out, *command):
    """What a process without compiling writes."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    with np.load(out) as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    out = tmp_path_factory.mktemp("plain") / "arrays.npz"
    return plain_arrays(out, plain_cases.__file__, str(out))


def apart(one, other):
    """The largest difference of two arrays, relative to the largest number of the second."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return np.inf
    if one.dtype.kind != "f":
        return 0.0 if np.array_equal(one, other) else np.inf
    finite = np.isfinite(other)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True) or not np.isfinite(one[finite]).all():
        return np.inf
    size = np.abs(other[finite]).max(initial=0.0)
    return np.abs(one[finite] - other[finite]).max(initial=0.0) / (size if size > 0.0 else 1.0)


def differences(name, plain, compiled):
    """Arrays of a case that differ by more than rounding, with how much."""
    own = {key: value for key, value in plain.items() if key.startswith(f"{name}/")}
    assert own.keys() == compiled.keys()
    assert own
    bound = AFTER_TRAJECTORIES if name in TRAJECTORIES else CLOSE
    found = {key: float(apart(own[key], compiled[key])) for key in own}
    return {key: value for key, value in found.items() if not value <= bound}


@pytest.mark.parametrize("name", plain_cases.CASES)
def test_plain_and_compiled_loops_agree(name, plain):
    assert differences(name, plain, plain_cases.run(name)) == {}


def test_every_case_was_run(plain):
    assert {key.partition("/")[0] for key in plain} == set(plain_cases.CASES)
    assert set(plain_cases.CASES) >= TRAJECTORIES


def test_a_fault_in_a_loop_is_noticed(tmp_path):
    """A reflection that is wrong in the ninth digit, in plain Python alone; what makes none stays the same."""
    out = str(tmp_path / "arrays.npz")
    code = FAULT.format(tests=str(Path(plain_cases.__file__).parent), out=out)
    faulty = plain_arrays(out, "-c", code)
    noticed = differences("heatbath", faulty, plain_cases.run("heatbath"))
    for form in ("dense", "sparse", "rooted"):
        assert noticed[f"heatbath/{form}, field"] > 100.0 * CLOSE
    assert differences("augmented", faulty, plain_cases.run("augmented")) == {}


@pytest.mark.parametrize("name", ["numbers", "words", "shape", "not a number"])
def test_the_comparison_can_fail(name):
    right = np.array([1.0, np.nan, -3.0])
    wrong = {
        "numbers": right + 1e-11,
        "words": right.astype(np.float32),
        "shape": right[:2],
        "not a number": np.array([np.nan, np.nan, -3.0]),
    }[name]
    assert apart(right, right.copy()) == 0.0
    assert apart(wrong, right) > CLOSE
    assert apart(right, wrong) > CLOSE
