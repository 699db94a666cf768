"""What predictions are computed with: the exponential of compiled blocks, and threads that stay between queries."""

import math
import multiprocessing
import threading

import numpy as np
import pytest

from vmqp import kernels
from vmqp.kernels.compiled import _exp
from vmqp.precision import kriging


def units_apart(x):
    """By how many units in the last place the exponential differs from NumPy's."""
    exact = np.exp(x)
    return np.abs(np.array([_exp(value) for value in x]) - exact) / np.spacing(exact)


def test_the_exponential_is_right_to_the_last_place():
    rng = np.random.default_rng(1)
    x = -np.concatenate(
        [rng.uniform(0.0, 708.0, 4000), 10.0 ** rng.uniform(-300.0, 2.8, 4000), np.arange(709.0)]
    )
    halves = np.log(2.0) * (np.arange(-1000.0, 1.0) + 0.5)  # where k changes
    assert units_apart(x).max() <= 2.0
    assert units_apart(np.concatenate([halves, np.nextafter(halves, 0.0)])).max() <= 2.0
    assert _exp(0.0) == _exp(-1e-300) == 1.0
    assert 0.0 < _exp(-709.0) == _exp(-1e9) == _exp(-np.inf) < 4e-308


def test_a_term_less_would_be_noticed():
    """The same with a polynomial of one degree less."""
    x = -np.random.default_rng(1).uniform(0.0, 700.0, 4000)
    k = np.floor(x / np.log(2.0) + 0.5)
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    short = np.polynomial.polynomial.polyval(r, [1.0 / math.factorial(n) for n in range(12)]) * 2.0**k
    assert (np.abs(short - np.exp(x)) / np.spacing(np.exp(x))).max() > 2.0


def test_each_part_is_done_once_and_by_several_threads():
    done, who = [], set()
    met = threading.Barrier(3, timeout=60)

    def work(part):
        if part < 3:
            met.wait()  # passes only where three parts are done at the same time
        done.append(part)
        who.add(threading.get_ident())

    kriging._spread(work, 20, 3)
    assert sorted(done) == list(range(20))
    assert len(who) == 3
    assert threading.get_ident() in who


@pytest.mark.parametrize("wrong", [0, 1, 7])
def test_an_error_of_any_part_is_raised(wrong):
    def work(part):
        if part == wrong:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kriging._spread(work, 8, 2)


def means(queue=None):
    rng = np.random.default_rng(2)
    X, values = rng.uniform(size=(60, 2)), rng.normal(size=(40, 60, 2))
    found = kriging.Kriging(kernels.Exponential(0.3), X, values, {}, neighbors=12).at(X[:1] + 0.01, 2).mean
    if queue is not None:
        queue.put(found)
    return found


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    """Those of the parent are not there: to wait for them would be forever."""
    before, context = means(), multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=means, args=(queue,), daemon=True)
    child.start()
    child.join(60)
    assert child.exitcode == 0
    np.testing.assert_array_equal(queue.get(), before)
