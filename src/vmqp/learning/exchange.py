"""The exchange algorithm: parameters on which the unknown normaliser Z depends.

A move from w to w' draws fictitious angles ξ at w' by an inner chain (double Metropolis-Hastings, Liang 2010) and
accepts with ``eq:double_MH``

    p(w') f(φ|w') f(ξ|w) / (p(w) f(φ|w) f(ξ|w')),

in which Z(w) and Z(w') cancel. With K > 0 densities between w' and w the last quotient becomes the product of
``eq_ap:bridging_MH``; with `drag` > 0 the latent angles walk from w to w' along a path of the same kind, and the
quotient f(φ|w')/f(φ|w) becomes the product along it.
"""

from typing import NamedTuple

from vmqp.circle import FloatArray
from vmqp.learning.bridging import AugmentedBridge, HeatBathBridge, Transition, cross
from vmqp.learning.method import Method
from vmqp.learning.moves import Counters, fields_support, make_sampler, move
from vmqp.learning.point import Point, Sums, angles_target, energy, fields_target, sums
from vmqp.learning.problem import Noise, Problem
from vmqp.sampling.sampler import Streams
from vmqp.sampling.target import Target

__all__ = ["Exchanged", "Present", "exchange"]


class Exchanged(NamedTuple):
    """What a proposal led to, before it is accepted or not."""

    log_ratio: float
    x: FloatArray
    """All d angles if it is accepted, (2, 1, d)."""
    known: Sums
    """Their sums at the proposed factorisation."""
    fictitious: FloatArray
    """ξ at the end of the inner chain."""
    counters: Counters


class Present(NamedTuple):
    """Where a chain stands when it proposes."""

    point: Point
    x: FloatArray
    """All d angles, (2, 1, d)."""
    known: Sums
    """The sums of x at the point's factorisation."""
    direction: float
    noise: Noise


def exchange(
    rng: Streams,
    problem: Problem,
    method: Method,
    here: Present,
    there: Point,
    direction: float,
    start: FloatArray,
    steps: int,
    counters: Counters,
    adapting: bool,
) -> Exchanged:
    """Propose `there` and a direction ν, with an inner chain of some steps from `start`.

    The log ratio is without the priors.
    """
    new_x, known, data = _data_term(rng, problem, method, here, there, direction)
    target = fields_target(there, direction)
    sampler = make_sampler(method.sampler, target, fields_support(method.sampler, there))
    fictitious, counters = move(rng, sampler, start, counters, steps, adapting)
    normalisers = _normalisers(rng, method, here, there, direction, target, fictitious)
    return Exchanged(data + normalisers, new_x, known, fictitious, counters)


def _sums_at(there: Point, here: Present) -> Sums:
    return here.known if there.base is here.point.base else sums(there.base, here.x)


def _data_term(
    rng: Streams, problem: Problem, method: Method, here: Present, there: Point, direction: float
) -> tuple[FloatArray, Sums, float]:
    """The angles, their sums and log f(φ|w') − log f(φ|w), or the sum along the path of dragged angles."""
    known = _sums_at(there, here)
    plain = energy(here.point, here.known, here.direction) - energy(there, known, direction)
    latent = problem.latent
    if not method.drag or latent.start == problem.d:
        return here.x, known, plain
    first = angles_target(problem, here.point, here.x, here.direction, here.noise)
    second = angles_target(problem, there, here.x, direction, here.noise)
    dragged = here.x[
        :, :, latent
    ].copy()  # a copy even where all angles are latent: the proposal may be refused
    path, start = cross(rng, first, second, dragged, method.drag, HeatBathBridge(first, second))
    x = here.x.copy()
    x[:, :, latent] = dragged
    # The conditional densities differ from the full one by terms of the observed angles alone.
    return x, sums(there.base, x), plain + path - start


def _normalisers(
    rng: Streams,
    method: Method,
    here: Present,
    there: Point,
    direction: float,
    target: Target,
    fictitious: FloatArray,
) -> float:
    """The estimate of log Z(w)/Z(w') from ξ: ``eq:ratio_normalizing``, or ``eq_ap:AIC`` where K > 0."""
    if not method.bridge:
        own = sums(there.base, fictitious)
        other = own if there.base is here.point.base else sums(here.point.base, fictitious)
        return energy(there, own, direction) - energy(here.point, other, here.direction)
    present = fields_target(here.point, here.direction)
    bridge: Transition = (
        HeatBathBridge(target, present)
        if method.bridging == "heatbath"
        else AugmentedBridge(target, present, (there.root, here.point.root))
    )
    return cross(rng, target, present, fictitious.copy(), method.bridge, bridge)[0]
