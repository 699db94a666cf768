"""Heat bath and over-relaxation: one angle at a time, each from its exact conditional.

One angle given the rest is von Mises, ``φ_i | rest ~ vM(arg h_i, |h_i|)`` with the field
``h_i = ρ_i − Σ_{j≠i} Q_ij x_j`` (the conditionals of ``eq:conditional_density``). The heat bath draws from it.
Over-relaxation reflects x_i about h_i, which leaves the energy as it is and needs no random number:
``x_i ← 2 (x_i·ĥ_i) ĥ_i − x_i``. A step is one heat-bath sweep and ``overrelax`` sweeps of reflections.

Every field is summed afresh from the current x, four rows ahead and corrected inside the block, so nothing can
drift and a sweep costs one pass over Q. On a root, Q = U Uᵀ, the sums t = Uᵀx are kept along and made anew with each
call (`vmqp.sampling.rooted`). A sweep in this fixed order leaves the target unchanged but is not
reversible; a palindrome of sweeps is, `there_and_back`.
"""

import math

import numpy as np
from numba import njit

from vmqp.checks import check_count
from vmqp.sampling.angle import keep_angles
from vmqp.sampling.linear import four_rows, one_row
from vmqp.sampling.rooted import Rooted, rooted_sums
from vmqp.sampling.sampler import Info, Sampler, State, Streams
from vmqp.sampling.target import Array, Dense, Target
from vmqp.sampling.vonmises import vonmises

__all__ = ["HeatBath", "renew", "sweeps", "there_and_back"]

_ROUNDING = 1e-12  # of a sum that holds Q_ii x_i and loses it again
_TINY = 1e-290  # a field whose square is below this is no field: the square would have lost its digits


@njit(inline="always", error_model="numpy")
def renew(streams, k, hc, hs):  # type: ignore[no-untyped-def]
    """Draw the unit vector of a site of chain k with field h."""
    square = hc * hc + hs * hs
    if square > _TINY:
        size = math.sqrt(square)
        ec, es = hc / size, hs / size
    else:
        size, ec, es = 0.0, 1.0, 0.0
    w, t = vonmises(streams, k, size)
    return ec - w * ec - t * es, es - w * es + t * ec


@njit(cache=True, forceinline=True, error_model="numpy")
def _reflect(hc, hs, c, s):  # type: ignore[no-untyped-def]
    """Reflect the unit vector (c, s) of a site about its field h."""
    square = hc * hc + hs * hs
    if square <= _TINY:
        return c, s
    twice = 2.0 * (c * hc + s * hs) / square
    return twice * hc - c, twice * hs - s


@njit(cache=True, error_model="numpy")
def _dense_sweep(streams, matrix, scale, field, x, reflect, backward, block):  # type: ignore[no-untyped-def]
    chains, m = x.shape[1], x.shape[2]
    blocks = (m + 3) // 4
    for b in range(blocks):
        start = 4 * (blocks - 1 - b if backward else b)
        stop = min(start + 4, m)
        for k in range(chains):  # the four rows stay in the cache for all chains
            if stop - start == 4:
                four_rows(matrix, start, x, k, 0, m, block)
            else:
                for i in range(start, stop):
                    block[i - start, 0], block[i - start, 1] = one_row(matrix, i, x, k, 0, m)
            for step in range(stop - start):
                i = stop - 1 - step if backward else start + step
                c, s = x[0, k, i], x[1, k, i]
                hc = field[0, i] - scale * block[i - start, 0]
                hs = field[1, i] - scale * block[i - start, 1]
                if reflect:
                    nc, ns = _reflect(hc, hs, c, s)
                else:
                    nc, ns = renew(streams, k, hc, hs)
                x[0, k, i], x[1, k, i] = nc, ns
                for e in range(start if backward else i + 1, i if backward else stop):
                    block[e - start, 0] += matrix[i, e] * (nc - c)
                    block[e - start, 1] += matrix[i, e] * (ns - s)


@njit(cache=True, error_model="numpy")
def _sparse_sweep(streams, starts, columns, values, field, x, reflect, backward):  # type: ignore[no-untyped-def]
    chains, m = x.shape[1], x.shape[2]
    for step in range(m):
        i = m - 1 - step if backward else step
        for k in range(chains):
            hc, hs = field[0, i], field[1, i]
            for e in range(starts[i], starts[i + 1]):
                hc -= values[e] * x[0, k, columns[e]]
                hs -= values[e] * x[1, k, columns[e]]
            if reflect:
                x[0, k, i], x[1, k, i] = _reflect(hc, hs, x[0, k, i], x[1, k, i])
            else:
                x[0, k, i], x[1, k, i] = renew(streams, k, hc, hs)


@njit(cache=True, error_model="numpy")
def _rooted_sweep(  # type: ignore[no-untyped-def]
    streams, starts, columns, values, diagonal, scale, field, x, t, reflect, backward
):
    chains, m = x.shape[1], x.shape[2]
    for k in range(chains):
        sums = t[k]
        for step in range(m):
            i = m - 1 - step if backward else step
            first, last = starts[i], starts[i + 1]
            a = b = 0.0
            for e in range(first, last):
                j, value = columns[e], values[e]
                a += value * sums[j, 0]
                b += value * sums[j, 1]
            c, s = x[0, k, i], x[1, k, i]
            hc = field[0, i] - scale * (a - diagonal[i] * c)
            hs = field[1, i] - scale * (b - diagonal[i] * s)
            floor = _ROUNDING * scale * diagonal[i]
            if hc * hc + hs * hs <= floor * floor:
                hc = hs = (
                    0.0  # what rounding left of Q_ii x_i depends on x_i: there is no field to reflect about
                )
            if reflect:
                nc, ns = _reflect(hc, hs, c, s)
            else:
                nc, ns = renew(streams, k, hc, hs)
            x[0, k, i], x[1, k, i] = nc, ns
            nc, ns = nc - c, ns - s
            for e in range(first, last):
                j, value = columns[e], values[e]
                sums[j, 0] += value * nc
                sums[j, 1] += value * ns


@njit(cache=True, error_model="numpy")
def turn_together(streams, field, x):  # type: ignore[no-untyped-def]
    """Draw the common rotation α of all angles from its conditional, vM(arg, size) of Σ_i ρ_i x̄_i.

    Turning all angles by α multiplies the density by exp(Re(e^(−iα) Σ_i ρ_i x̄_i)) and leaves the coupling's part
    as it is, so this is a Gibbs step; it renews the one mode that a weak field leaves to slow diffusion.
    """
    for k in range(x.shape[1]):
        along = across = 0.0
        for i in range(x.shape[2]):
            along += field[0, i] * x[0, k, i] + field[1, i] * x[1, k, i]
            across += field[1, i] * x[0, k, i] - field[0, i] * x[1, k, i]
        ct, st = renew(streams, k, along, across)
        for i in range(x.shape[2]):
            c, s = x[0, k, i], x[1, k, i]
            x[0, k, i], x[1, k, i] = c * ct - s * st, s * ct + c * st


@njit(cache=True, nogil=True)
def _run_dense(streams, matrix, scale, field, x, overrelax, turn, thin, out):  # type: ignore[no-untyped-def]
    block = np.empty((4, 2))
    for draw in range(out.shape[1]):
        for _ in range(thin):
            for sweep in range(1 + overrelax):
                _dense_sweep(streams, matrix, scale, field, x, sweep > 0, False, block)
            if turn:
                turn_together(streams, field, x)
        keep_angles(x, out, draw)


@njit(cache=True, nogil=True)
def _run_sparse(streams, starts, columns, values, field, x, overrelax, turn, thin, out):  # type: ignore[no-untyped-def]
    for draw in range(out.shape[1]):
        for _ in range(thin):
            for sweep in range(1 + overrelax):
                _sparse_sweep(streams, starts, columns, values, field, x, sweep > 0, False)
            if turn:
                turn_together(streams, field, x)
        keep_angles(x, out, draw)


@njit(cache=True, nogil=True)
def _run_rooted(  # type: ignore[no-untyped-def]
    streams, starts, columns, values, diagonal, scale, field, x, overrelax, turn, thin, out
):
    t = np.empty((x.shape[1], x.shape[2], 2))
    for draw in range(out.shape[1]):
        for _ in range(thin):
            # Afresh in each step: nothing can drift, and the common rotation has changed them all anyway.
            for k in range(x.shape[1]):
                rooted_sums(starts, columns, values, x, k, t[k])
            for sweep in range(1 + overrelax):
                _rooted_sweep(
                    streams, starts, columns, values, diagonal, scale, field, x, t, sweep > 0, False
                )
            if turn:
                turn_together(streams, field, x)
        keep_angles(x, out, draw)


def sweeps(
    rng: Streams, target: Target, x: Array, overrelax: int, draws: int, thin: int = 1, turn: bool = False
) -> Array:
    """Move ``x`` in place by ``draws * thin`` steps and return the angles kept, shape (C, draws, m).

    With ``turn`` each step ends by drawing the common rotation of all angles.
    """
    out = np.empty((x.shape[1], draws, x.shape[2]))
    if isinstance(target.coupling, Dense):
        _run_dense(rng, *target.coupling, target.field, x, overrelax, turn, thin, out)
    elif isinstance(target.coupling, Rooted):
        _run_rooted(rng, *target.coupling, target.field, x, overrelax, turn, thin, out)
    else:
        _run_sparse(rng, *target.coupling, target.field, x, overrelax, turn, thin, out)
    return out


@njit(cache=True, nogil=True)
def _there_and_back_dense(streams, matrix, scale, field, x, overrelax):  # type: ignore[no-untyped-def]
    block = np.empty((4, 2))
    for sweep in range(2 * overrelax + 2):
        renewing = sweep == overrelax or sweep == overrelax + 1
        _dense_sweep(streams, matrix, scale, field, x, not renewing, sweep > overrelax, block)


@njit(cache=True, nogil=True)
def _there_and_back_sparse(streams, starts, columns, values, field, x, overrelax):  # type: ignore[no-untyped-def]
    for sweep in range(2 * overrelax + 2):
        renewing = sweep == overrelax or sweep == overrelax + 1
        _sparse_sweep(streams, starts, columns, values, field, x, not renewing, sweep > overrelax)


@njit(cache=True, nogil=True)
def _there_and_back_rooted(  # type: ignore[no-untyped-def]
    streams, starts, columns, values, diagonal, scale, field, x, overrelax
):
    t = np.empty((x.shape[1], x.shape[2], 2))
    for k in range(x.shape[1]):
        rooted_sums(starts, columns, values, x, k, t[k])
    for sweep in range(2 * overrelax + 2):
        renewing = sweep == overrelax or sweep == overrelax + 1
        _rooted_sweep(
            streams, starts, columns, values, diagonal, scale, field, x, t, not renewing, sweep > overrelax
        )


def there_and_back(rng: Streams, target: Target, x: Array, overrelax: int = 1) -> None:
    """Move ``x`` in place by a reversible step: reflections, a heat bath there and back, reflections backward.

    Each single-site update is reversible, and a palindrome of reversible updates is. The reflections stand outside:
    in the middle the second half would undo the first.
    """
    if isinstance(target.coupling, Dense):
        _there_and_back_dense(rng, *target.coupling, target.field, x, overrelax)
    elif isinstance(target.coupling, Rooted):
        _there_and_back_rooted(rng, *target.coupling, target.field, x, overrelax)
    else:
        _there_and_back_sparse(rng, *target.coupling, target.field, x, overrelax)


class HeatBath(Sampler):
    """Heat-bath sweeps, each followed by ``overrelax`` sweeps of reflections."""

    name = "heatbath"

    def __init__(self, target: Target, *, overrelax: int = 1) -> None:
        super().__init__(target)
        self.overrelax = check_count(overrelax, "overrelax", 0, "sweeps of reflections")

    def step(self, rng: Streams, state: State) -> tuple[State, Info]:
        """One heat-bath sweep and the reflections."""
        state, _ = self.run(rng, state, 1)
        return state, Info(np.ones(rng.shape[0]))

    def run(self, rng: Streams, state: State, draws: int, thin: int = 1) -> tuple[State, Array]:
        """Make all steps in one compiled loop."""
        x = state.x.copy()
        out = sweeps(rng, self.target, x, self.overrelax, draws, thin)
        return state._replace(x=x, steps=state.steps + draws * thin), out
