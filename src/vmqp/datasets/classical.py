"""Two small sets of directions from the textbooks, as numbers.

They have no inputs: they are for descriptions of angles, and for tests whose answers are in print.
"""

import numpy as np

from vmqp.circle import FloatArray

__all__ = ["roulette", "turtles"]

_ROULETTE = (43, 45, 52, 61, 75, 88, 88, 279, 357)
_TURTLES = """
      8   9  13  13  14  18  22  27  30  34  38  38  40  44  45  47  48  48  48  48  50  53  56  57  58  58
     61  63  64  64  64  65  65  68  70  73  78  78  78  83  83  88  88  88  90  92  92  93  95  96  98 100
    103 106 113 118 138 153 153 155 204 215 223 226 237 238 243 244 250 251 257 268 285 319 343 350
"""


def roulette() -> FloatArray:
    """Nine stops of a roulette wheel, in degrees (K. V. Mardia, Statistics of Directional Data, 1972).

    Their mean direction is 51° and the resultant length is 0.711. The arithmetic mean, 120.9°, is nowhere near them.

    >>> from vmqp import circle
    >>> round(circle.mean(roulette(), period=360)), round(circle.resultant_length(roulette(), period=360), 3)
    (51, 0.711)
    """
    return np.array(_ROULETTE, dtype=np.float64)


def turtles() -> FloatArray:
    """Directions in which 76 sea turtles left after they had laid their eggs, in degrees clockwise from north.

    Most went to about 60°, and some the opposite way: the law has two modes. The mean direction is 64° and the
    resultant length is 0.497. The observations are by E. Gould, published by M. A. Stephens (Techniques for
    Directional Data, 1969), and are in the textbooks of Fisher (1993) and of Mardia and Jupp (2000).

    >>> from vmqp import circle
    >>> round(circle.mean(turtles(), period=360)), round(circle.resultant_length(turtles(), period=360), 3)
    (64, 0.497)
    """
    return np.array(_TURTLES.split(), dtype=np.float64)
