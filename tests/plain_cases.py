"""Small cases of the compiled loops, as a script too: ``NUMBA_DISABLE_JIT=1 python plain_cases.py OUT.npz [case …]``.

Without compiling, an ``@njit`` function is the Python code that is written there. The same cases compiled have to give
the same arrays; and only without compiling can the lines of the loops be counted.

A case is a function without arguments that returns named arrays. Random streams are among them: they end equal only if
both forms took the same branches. Cases are short, so that a difference by rounding has no time to grow.
"""

import sys
import warnings

import numpy as np
from numba import config

import plain_learning
import plain_precision
import plain_sampling

__all__ = ["CASES", "main", "run"]

CASES = plain_sampling.CASES | plain_precision.CASES | plain_learning.CASES

# The generator's words and the hash of a cell are meant to overflow. NumPy says so of whole numbers one at a time.
_MEANT = r"vmqp\.(sampling\.random|precision\.ordering)"


def run(name):
    """The arrays of a case, by ``case/array``."""
    return {f"{name}/{key}": np.asarray(value) for key, value in CASES[name]().items()}


def main(arguments):
    """Write the arrays of all cases, or of those that are named."""
    out, *names = arguments
    if not config.DISABLE_JIT:
        raise SystemExit("set NUMBA_DISABLE_JIT=1: this is to run the loops as plain Python.")
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "overflow encountered in scalar", RuntimeWarning, _MEANT)
        for name in names or CASES:
            found |= run(name)
    np.savez(out, **found)


if __name__ == "__main__":
    main(sys.argv[1:])
