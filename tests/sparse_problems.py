"""A small problem on a graph of neighbours, and threads that ask at once."""

import threading

import numpy as np

from learners import ANGLES, SEVERAL, X_NEW, X
from vmqp.learning import make_problem, memory
from vmqp.learning.point import factorised

N, D = len(X), len(X) + len(X_NEW)
ALL = D - 1
ROWS = np.linspace(1.0, 5.0, N)
NU, CHI = 0.8, 3.0
U = np.array([0.3, -0.2, -0.5, -1.5, 0.4])  # two variances, a length scale between them, a nugget, κ


def problem(neighbors=ALL, kernel=SEVERAL, new=X_NEW, angles=ANGLES, **options):
    return make_problem(X, angles, new, kernel=kernel, neighbors=neighbors, **options)


def at(given, u=U):
    point = factorised(given, u, given.values(u))
    assert point is not None
    return point


def unit_vectors(angles):
    """The (2, 1, d) of the samplers."""
    return np.stack([np.cos(angles), np.sin(angles)])[:, None]


def forget():
    """As in another process: graphs have to be made anew."""
    memory._found.clear()


def together(ask, count):
    """Call from several threads at once; return what each got."""
    found, ready = [], threading.Barrier(count)

    def run():
        ready.wait()
        found.append(ask())

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == count
    return found
