"""Random numbers inside compiled loops: xoshiro256++ with a 256-layer ziggurat.

The streams of all chains are one array (C, 4) of 64-bit words, advanced in place. It is an array, so that a chain's
state holds nothing but arrays; and it is inlined into the loops. A NumPy ``Generator`` in compiled code costs about
seven times as much for a uniform, and for each call more than a whole sweep over 50 angles. NumPy's ``SeedSequence``
makes the seeds, so that streams of different chains do not overlap.

References: Blackman and Vigna (2021), "Scrambled linear pseudorandom number generators";
Marsaglia and Tsang (2000), "The ziggurat method for generating random variables".
"""

import math

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = ["fill_normal", "normal", "seed_streams", "uniform"]

_STEP = 1.0 / 9007199254740992.0  # 2⁻⁵³: a double holds 53 random bits
_TAIL_START = 3.6541528853610088  # for 256 layers of equal area
_LAYER_AREA = 0.00492867323399


def _ziggurat() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Right edges of the layers under exp(−x²/2), and the height at each edge."""
    edges = np.zeros(257)
    edges[0] = _LAYER_AREA * math.exp(0.5 * _TAIL_START**2)
    edges[1] = _TAIL_START
    for i in range(2, 256):
        edges[i] = math.sqrt(-2.0 * math.log(_LAYER_AREA / edges[i - 1] + math.exp(-0.5 * edges[i - 1] ** 2)))
    return edges, np.exp(-0.5 * edges**2)


_EDGES, _HEIGHTS = _ziggurat()


def seed_streams(seed: int | np.random.SeedSequence, chains: int) -> npt.NDArray[np.uint64]:
    """One stream for each chain, shape (chains, 4).

    The stream of chain 0 does not depend on how many chains there are.

    >>> one, three = seed_streams(7, 1), seed_streams(7, 3)
    >>> three.shape, bool((one[0] == three[0]).all()), bool((three[0] == three[1]).any())
    ((3, 4), True, False)
    """
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    # Children are addressed by their key and not spawned: spawning would change the caller's object.
    children = [
        np.random.SeedSequence(sequence.entropy, spawn_key=(*sequence.spawn_key, c)) for c in range(chains)
    ]
    return np.stack([child.generate_state(4, np.uint64) for child in children])


@njit(cache=True, forceinline=True)
def _next(streams, k):  # type: ignore[no-untyped-def]
    s0, s1, s2, s3 = streams[k, 0], streams[k, 1], streams[k, 2], streams[k, 3]
    total = s0 + s3
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    streams[k, 1] = s1 ^ s2
    streams[k, 0] = s0 ^ s3
    streams[k, 2] = s2 ^ shifted
    streams[k, 3] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return result


@njit(cache=True, forceinline=True)
def uniform(streams, k):  # type: ignore[no-untyped-def]
    """Draw from [0, 1) with the stream of chain k."""
    return (_next(streams, k) >> np.uint64(11)) * _STEP


@njit(cache=True, error_model="numpy")
def _rare_normal(streams, k, layer, u):  # type: ignore[no-untyped-def]
    """Finish a draw that fell outside the rectangle of its layer: the wedge, the tail, or a new try."""
    while True:
        x = u * _EDGES[layer]
        if abs(x) < _EDGES[layer + 1]:
            return x
        if layer == 0:
            while True:
                excess = -math.log(1.0 - uniform(streams, k)) / _TAIL_START
                if -2.0 * math.log(1.0 - uniform(streams, k)) > excess * excess:
                    return _TAIL_START + excess if u > 0.0 else -_TAIL_START - excess
        low, high = _HEIGHTS[layer], _HEIGHTS[layer + 1]
        if low + uniform(streams, k) * (high - low) < math.exp(-0.5 * x * x):
            return x
        bits = _next(streams, k)
        layer = np.int64(bits & np.uint64(255))
        u = 2.0 * ((bits >> np.uint64(11)) * _STEP) - 1.0


@njit(cache=True, forceinline=True)
def normal(streams, k):  # type: ignore[no-untyped-def]
    """Draw from N(0, 1) with the stream of chain k."""
    bits = _next(streams, k)
    layer = np.int64(bits & np.uint64(255))
    u = 2.0 * ((bits >> np.uint64(11)) * _STEP) - 1.0
    x = u * _EDGES[layer]
    if abs(x) >= _EDGES[layer + 1]:
        x = _rare_normal(streams, k, layer, u)
    return x


@njit(cache=True)
def fill_normal(streams, k, out):  # type: ignore[no-untyped-def]
    """Fill the vector ``out`` with draws from N(0, 1)."""
    for i in range(out.shape[0]):
        out[i] = normal(streams, k)
