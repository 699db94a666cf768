"""Hamiltonian Monte Carlo on the angles: plain, and with the coupling as mass matrix.

With U the negative log-density (``eq:conditional_density``), the angles move with velocity W⁻¹p and the momentum
with −∂U/∂φ. ``Hmc`` has W = 1. ``WhitenedHmc`` has W = Q, its diagonal raised where that is needed to make it
positive definite: stiff kernels, which freeze every local sampler, then look alike in all directions.

The state keeps unit vectors, so a drift of the angles is a rotation and nothing has to be wrapped.
"""

import math

import numpy as np
from numba import njit

from vmqp.checks import check_count, check_positive
from vmqp.sampling.linear import apply_coupling
from vmqp.sampling.random import uniform
from vmqp.sampling.sampler import Info, Sampler, State, Streams
from vmqp.sampling.target import Array, Target
from vmqp.sampling.tuning import adapted, frozen, start_tuning
from vmqp.sampling.tuning import step_size as current_step
from vmqp.sampling.whitening import Whitening, draw_momentum, unwhiten, whiten

__all__ = ["Hmc", "WhitenedHmc", "kick", "rotate", "settle"]

_MANY = 4000  # angles from which a first step is shorter than for a few
_MOST_LEAPFROGS = 1000  # a step size that is far too small must not make one move last for hours


@njit(cache=True)
def _potential(coupling, field, x, product, gradient, energy):  # type: ignore[no-untyped-def]
    """U of every chain and ∂U/∂φ."""
    apply_coupling(coupling, x, product)
    for k in range(x.shape[1]):
        total = 0.0
        for i in range(x.shape[2]):
            c, s = x[0, k, i], x[1, k, i]
            qc, qs = product[0, k, i], product[1, k, i]
            total += c * (0.5 * qc - field[0, i]) + s * (0.5 * qs - field[1, i])
            gradient[k, i] = c * (qs - field[1, i]) - s * (qc - field[0, i])
        energy[k] = total


@njit(cache=True)
def _kinetic(p, v, energy):  # type: ignore[no-untyped-def]
    for k in range(p.shape[0]):
        total = 0.0
        for i in range(p.shape[1]):
            total += p[k, i] * v[k, i]
        energy[k] = 0.5 * total


@njit(cache=True)
def rotate(x, v, step):  # type: ignore[no-untyped-def]
    """Turn every unit vector by step · v."""
    for k in range(v.shape[0]):
        for i in range(v.shape[1]):
            turn = step * v[k, i]
            ct, st = math.cos(turn), math.sin(turn)
            c, s = x[0, k, i], x[1, k, i]
            c, s = c * ct - s * st, s * ct + c * st
            fix = 1.5 - 0.5 * (c * c + s * s)  # one Newton step keeps the length at 1
            x[0, k, i], x[1, k, i] = c * fix, s * fix


@njit(cache=True)
def kick(p, gradient, share):  # type: ignore[no-untyped-def]
    """Change the momenta by −share · gradient."""
    for k in range(p.shape[0]):
        for i in range(p.shape[1]):
            p[k, i] -= share * gradient[k, i]


@njit(cache=True)
def settle(streams, gain, acceptance, new, x):  # type: ignore[no-untyped-def]
    """Accept or reject each chain, whose log-density, with the momentum's, rises by ``gain``.

    Afterwards ``gain`` is 1 where a chain was accepted and 0 where it was not.
    """
    for k in range(x.shape[1]):
        # Written so that a gain that is not a number, from a step that blew up, rejects.
        acceptance[k] = math.exp(min(gain[k], 0.0)) if gain[k] > -745.0 else 0.0
        if uniform(streams, k) < acceptance[k]:
            gain[k] = 1.0
            for i in range(x.shape[2]):
                x[0, k, i], x[1, k, i] = new[0, k, i], new[1, k, i]
        else:
            gain[k] = 0.0


@njit(cache=True, nogil=True)
def _trajectory(streams, coupling, field, mass, x, step, leapfrogs, acceptance):  # type: ignore[no-untyped-def]
    """Move x in place by one trajectory and a Metropolis decision for each chain."""
    # Loops in place of array expressions: they compile in a third of the time.
    chains, m = x.shape[1], x.shape[2]
    new, product = x.copy(), np.empty_like(x)
    p, v, gradient = np.empty((chains, m)), np.empty((chains, m)), np.empty((chains, m))
    potential, kinetic, gain = np.empty(chains), np.empty(chains), np.empty(chains)
    draw_momentum(streams, mass, p)
    unwhiten(mass, p, v)
    _potential(coupling, field, new, product, gradient, potential)
    _kinetic(p, v, kinetic)
    for k in range(chains):
        gain[k] = potential[k] + kinetic[k]
    kick(p, gradient, 0.5 * step)
    for leap in range(leapfrogs):
        unwhiten(mass, p, v)
        rotate(new, v, step)
        _potential(coupling, field, new, product, gradient, potential)
        kick(p, gradient, step if leap < leapfrogs - 1 else 0.5 * step)
    unwhiten(mass, p, v)
    _kinetic(p, v, kinetic)
    for k in range(chains):
        gain[k] -= potential[k] + kinetic[k]
    settle(streams, gain, acceptance, new, x)


@njit(cache=True)
def _two_uniforms(streams):  # type: ignore[no-untyped-def]
    return uniform(streams, 0), uniform(streams, 0)


class Hmc(Sampler):
    """HMC with unit mass. ``leapfrogs`` is the mean number of steps of a trajectory; lengths are drawn anew."""

    name = "hmc"
    default_warmup = 500
    wanted_acceptance = 0.8
    mass: Whitening | None = None

    def __init__(self, target: Target, *, step_size: float | None = None, leapfrogs: int = 12) -> None:
        super().__init__(target)
        check_positive(step_size, "step_size", optional=True)
        self.fixed_step = step_size
        self.leapfrogs = check_count(leapfrogs, "leapfrogs", 1, "steps of a trajectory")

    def init(self, rng: Streams, angles: Array | None = None) -> State:
        """Start with a step size that the warm-up will correct."""
        return super().init(rng, angles)._replace(tuning=start_tuning(self.fixed_step or self.first_step()))

    def first_step(self) -> float:
        """A step size to begin with."""
        strongest = np.hypot(*self.target.field) + np.asarray(abs(self.target.matrix()).sum(axis=1)).ravel()
        return 0.5 / float(np.sqrt(strongest.max(initial=1.0)))

    def draw_length(self, rng: Streams, step: float) -> tuple[float, int]:
        """Step and leapfrogs of the next trajectory; both vary, so that no oscillation can lock in."""
        jitter, share = _two_uniforms(rng)
        return step * (0.8 + 0.4 * jitter), 1 + int((2 * self.leapfrogs - 1) * share)

    def move(self, rng: Streams, x: Array, tuning: Array, most: int | None = None) -> Array:
        """One trajectory, in place, of at most so many leapfrogs; returns the probabilities of acceptance."""
        acceptance = np.empty(x.shape[1])
        step, leapfrogs = self.draw_length(rng, current_step(tuning))
        leapfrogs = leapfrogs if most is None else min(leapfrogs, most)
        _trajectory(rng, self.target.coupling, self.target.field, self.mass, x, step, leapfrogs, acceptance)
        return acceptance

    def step(self, rng: Streams, state: State) -> tuple[State, Info]:
        """One trajectory with the step size in force."""
        x = state.x.copy()
        acceptance = self.move(rng, x, state.tuning)
        return state._replace(x=x, steps=state.steps + 1), Info(acceptance)

    def adapt(self, tuning: Array, acceptance: Array) -> Array:
        """Tuning after one more move of the warm-up."""
        if self.fixed_step is not None:
            return tuning
        return adapted(tuning, float(acceptance.mean()), self.wanted_acceptance)

    def warm_up(self, rng: Streams, state: State, steps: int) -> State:
        """Tune the step size, then freeze it."""
        for _ in range(steps):
            state, info = self.step(rng, state)
            state = state._replace(tuning=self.adapt(state.tuning, info.acceptance))
        return state._replace(tuning=frozen(state.tuning))


class WhitenedHmc(Hmc):
    """HMC with the coupling as mass; a trajectory lasts ``duration`` in units in which all modes look alike."""

    name = "hmc-whitened"

    def __init__(
        self,
        target: Target,
        *,
        step_size: float | None = None,
        duration: float = 1.5,
        mass: Whitening | None = None,
    ) -> None:
        super().__init__(target, step_size=step_size)
        check_positive(duration, "duration")
        self.duration = duration
        self.mass = whiten(target) if mass is None else mass

    def first_step(self) -> float:
        """A step size that suits a whitened target; errors of many angles add up."""
        return 0.4 * min(1.0, math.cbrt(_MANY / max(1, self.target.size)))

    def initial(self, rng: Streams) -> Array:
        """Directions of two Gaussian fields with precision W and mean W⁻¹ρ: near the target, and over-dispersed."""
        chains, m = rng.shape[0], self.target.size
        fields = np.empty((2, chains, m))
        push, pull = np.empty((chains, m)), np.empty((chains, m))
        for part in range(2):
            draw_momentum(rng, self.mass, push)
            unwhiten(self.mass, push + self.target.field[part], pull)
            fields[part] = pull
        length = np.hypot(fields[0], fields[1])
        fields[0, length == 0.0], length[length == 0.0] = 1.0, 1.0
        result: Array = fields / length
        return result

    def draw_length(self, rng: Streams, step: float) -> tuple[float, int]:
        """Step and leapfrogs of the next trajectory, of 0.5 to 1.5 times the mean duration."""
        jitter, share = _two_uniforms(rng)
        return step * (0.8 + 0.4 * jitter), self.leapfrogs_for(step, 0.5 + share)

    def leapfrogs_for(self, step: float, share: float = 1.0) -> int:
        """Leapfrogs that make ``share`` of the mean duration."""
        return max(1, math.ceil(min(self.duration * share / step, _MOST_LEAPFROGS)))
