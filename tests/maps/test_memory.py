"""The bound on memory: what is read, what is refused, and that the operating system agrees."""

import os
import subprocess
import sys
import textwrap

import pytest

from vmqp.errors import InputError
from vmqp.maps.memory import affordable_draws, fixed_memory, read_memory


@pytest.mark.parametrize(
    ("given", "expected"), [("4GB", 4e9), ("500 MB", 5e8), ("2g", 2e9), (1e9, 1e9), ("800000000", 8e8)]
)
def test_sizes(given, expected):
    assert read_memory(given) == expected


@pytest.mark.parametrize("given", ["", "much", "-1GB", 0, True, "4 GiBi", float("nan"), float("inf")])
def test_sizes_that_are_none(given):
    with pytest.raises(InputError, match="'4GB'"):
        read_memory(given)


def test_half_of_the_machine_by_default():
    assert 1e8 < read_memory(None) < 1e14


def test_more_memory_holds_more_draws():
    counts = [affordable_draws(10**6, 10**6, 20, 4, 2, bound) for bound in (4e9, 5e9, 8e9)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_noise_takes_more():
    """Draws of observations are kept beside those of the process, and each worker has a mass of its own."""
    size = (10**6, 10**6, 20, 4, 2, 16e9)
    assert affordable_draws(*size, noisy=True) < 0.5 * affordable_draws(*size)


def test_roots_of_more_workers_take_more():
    assert fixed_memory(10**6, 20, 8, 8) - fixed_memory(10**6, 20, 8, 2) > 6 * 8 * 21e6


def test_a_million_places_need_less_than_8_gb():
    assert fixed_memory(10**6, 20, 4, 2) < 4e9


def test_a_bound_that_is_too_small_says_what_would_do():
    with pytest.raises(
        InputError, match=r"needs about .* GB, but the bound is 1 GB.*memory='\dGB'.*coarser grid"
    ):
        affordable_draws(10**6, 10**6, 20, 4, 2, 1e9)


CHILD = """
import resource, sys, warnings
bound, allowed = float(sys.argv[1]), int(float(sys.argv[2]))
import numpy as np
import vmqp
from vmqp import kernels
from vmqp.errors import InputError
warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
line = np.linspace(0.0, 3.0, 200)
grid = np.array([(x, y) for y in line for x in line])
rng = np.random.default_rng(1)
X = rng.uniform(size=(30, 2)) * 3
kernel = 0.5 * kernels.Exponential(1.0) + kernels.Nugget(0.05)
try:
    post = vmqp.regress(X, np.sin(X[:, 0]) + X[:, 1], grid, kernel=kernel, concentration=0, chains=2, memory=bound,
                        draws=6, progress=False)
    print("drawn", post.mean.shape[0], float(post.variance.max()) < 1.0)
except InputError as error:
    print("refused", error)
except MemoryError:
    print("out of memory")
"""


def child(bound, allowed):
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD), str(bound), str(allowed)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        # BLAS sets memory aside for each core, which is not the map's.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
    )
    return found.stdout.strip() or found.stderr.strip()[-300:]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on data is Linux's")
class TestLimitOfTheSystem:
    def test_a_map_keeps_to_the_bound(self):
        assert child(1.0e9, 1.0e9) == "drawn 40000 True"

    def test_a_map_that_does_not_fit_is_refused_before_it_begins(self):
        assert child(0.55e9, 1.0e9).startswith("refused a map of 40,000 places")

    def test_the_limit_is_one(self):
        """With less than is needed the system stops it: the two tests above are not empty."""
        assert not child(1.0e9, 0.3e9).startswith("drawn")
