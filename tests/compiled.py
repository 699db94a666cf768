"""Overloads called from compiled code, as samplers call them."""

from numba import njit

from vmqp.sampling.whitening import draw_momentum, unwhiten


@njit
def compiled_unwhiten(mass, p, v):
    unwhiten(mass, p, v)


@njit
def compiled_momentum(streams, mass, p):
    draw_momentum(streams, mass, p)
