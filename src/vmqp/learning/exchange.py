"""The exchange algorithm: parameters on which the unknown normaliser Z depends.

A move from w to w' draws fictitious angles ξ at w' by an inner chain (double Metropolis-Hastings, Liang 2010) and
accepts with ``eq:double_MH``

    p(w') f(φ|w') f(ξ|w) / (p(w) f(φ|w) f(ξ|w')),

in which Z(w) and Z(w') cancel. With K > 0 densities between w' and w the last quotient becomes the product of
``eq_ap:bridging_MH``; with `drag` > 0 the latent angles walk from w to w' along a path of the same kind, and the
quotient f(φ|w')/f(φ|w) becomes the product along it.
"""

from typing import NamedTuple

import numpy as np

from vmqp.circle import FloatArray
from vmqp.learning.bridging import AugmentedBridge, HeatBathBridge, Transition, cross
from vmqp.learning.method import Method
from vmqp.learning.moves import Counters, fields_support, make_sampler, move
from vmqp.learning.point import Point, angles_target, energy, fields_target
from vmqp.learning.problem import Problem
from vmqp.sampling.sampler import Streams

__all__ = ["Exchanged", "exchange"]


class Exchanged(NamedTuple):
    """What a proposal led to, before it is accepted or not."""

    log_ratio: float
    x: FloatArray
    """All d angles if it is accepted, (2, 1, d)."""
    fictitious: FloatArray
    """ξ at the end of the inner chain."""
    counters: Counters


def exchange(
    rng: Streams,
    problem: Problem,
    method: Method,
    here: Point,
    there: Point,
    x: FloatArray,
    direction: float,
    noise: float | None,
    start: FloatArray,
    steps: int,
    counters: Counters,
    adapting: bool,
) -> Exchanged:
    """Return the log of the acceptance ratio of a symmetric proposal, without the priors."""
    new_x, data = _data_term(rng, problem, method, here, there, x, direction, noise)
    target = fields_target(problem, there, direction)
    sampler = make_sampler(method.sampler, target, fields_support(method.sampler, there))
    fictitious, counters = move(rng, sampler, start, counters, steps, adapting)
    # eq_ap:AIC, or eq:ratio_normalizing where K = 0
    present = fields_target(problem, here, direction)
    xi = fictitious.copy()
    bridge: Transition | None = None
    if method.bridge and method.bridging == "heatbath":
        bridge = HeatBathBridge(target, present)
    elif method.bridge:
        bridge = AugmentedBridge(target, present, (there.root, here.root))
    normalisers, _ = cross(rng, target, present, xi, method.bridge, bridge)
    return Exchanged(data + normalisers, new_x, fictitious, counters)


def _data_term(
    rng: Streams,
    problem: Problem,
    method: Method,
    here: Point,
    there: Point,
    x: FloatArray,
    direction: float,
    noise: float | None,
) -> tuple[FloatArray, float]:
    """The angles and log f(φ|w') − log f(φ|w), or the sum along the path on which the latent angles are dragged."""
    plain = energy(problem, here, x, direction) - energy(problem, there, x, direction)
    latent = problem.latent
    if not method.drag or latent.start == problem.d:
        return x, plain
    first = angles_target(problem, here, x, direction, noise)
    second = angles_target(problem, there, x, direction, noise)
    dragged = np.ascontiguousarray(x[:, :, latent])
    path, start = cross(rng, first, second, dragged, method.drag, HeatBathBridge(first, second))
    new_x = x.copy()
    new_x[:, :, latent] = dragged
    # The conditional densities differ from the full one by terms of the observed angles alone.
    return new_x, plain + path - start
