"""Places for tests of orders, neighbours and precisions."""

import numpy as np


def scattered(d, p=2, seed=0):
    return np.random.default_rng(seed).uniform(size=(d, p))


TWICE = np.repeat(scattered(30), 2, axis=0)
ODD = {
    "a grid": np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2),
    "all the same": np.full((40, 2), 3.0),
    "each twice": TWICE,
    "all but one the same": np.vstack([np.zeros((40, 1)), [[5.0]]]),
    "two heaps far apart": np.vstack([1e-9 * scattered(20), 1e9 + scattered(20)]),
    "a column that is constant": np.column_stack([scattered(40, 1), np.full(40, 7.0)]),
    "one place": np.array([[2.0]]),
    "two places": np.array([[2.0], [2.0]]),
    "no column": np.zeros((4, 0)),
}
