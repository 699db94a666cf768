"""Hamiltonian Monte Carlo on the paper's augmented density of (z, φ), ``eq:joint``.

The energy is ½ zᵀz − Σ_i (ρ + Aᵀz)_i · x_i with A from ``eq:Cholesky``. Angles and z move together with unit mass.
It is here to be compared with the Gibbs sampler on the same density, as in the paper's figure on samplers.
"""

from typing import Literal

import numpy as np
from numba import njit

from vmqp.sampling.augmented import augmentation, draw_auxiliary
from vmqp.sampling.factor import apply_root, apply_root_transposed
from vmqp.sampling.hmc import Hmc, kick, rotate, settle
from vmqp.sampling.random import normal
from vmqp.sampling.sampler import Info, State, Streams
from vmqp.sampling.target import Array, Target
from vmqp.sampling.tuning import step_size as current_step

__all__ = ["AugmentedHmc"]


@njit(cache=True)
def _forces(factor, field, x, z, push, product, gradient, energy):  # type: ignore[no-untyped-def]
    """Energy of every chain, its derivative by the angles, and by z (in ``product``)."""
    apply_root_transposed(factor, z, push)
    apply_root(factor, x, product)
    for k in range(x.shape[1]):
        total = 0.0
        for i in range(x.shape[2]):
            c, s = x[0, k, i], x[1, k, i]
            bc, bs = field[0, i] + push[0, k, i], field[1, i] + push[1, k, i]
            z0, z1 = z[0, k, i], z[1, k, i]
            total += 0.5 * (z0 * z0 + z1 * z1) - c * bc - s * bs  # eq:joint
            gradient[k, i] = s * bc - c * bs
            product[0, k, i], product[1, k, i] = z0 - product[0, k, i], z1 - product[1, k, i]
        energy[k] = total


@njit(cache=True)
def _kinetic(p, q, k):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(p.shape[1]):
        total += p[k, i] ** 2 + q[0, k, i] ** 2 + q[1, k, i] ** 2
    return 0.5 * total


@njit(cache=True, nogil=True)
def _trajectory(streams, factor, field, x, z, step, leapfrogs, acceptance):  # type: ignore[no-untyped-def]
    chains, m = x.shape[1], x.shape[2]
    new_x, new_z = x.copy(), z.copy()
    push, pull = np.empty_like(x), np.empty_like(x)
    p, gradient, q = np.empty((chains, m)), np.empty((chains, m)), np.empty_like(x)
    energy, gain = np.empty(chains), np.empty(chains)
    for k in range(chains):
        for i in range(m):
            p[k, i], q[0, k, i], q[1, k, i] = normal(streams, k), normal(streams, k), normal(streams, k)
    _forces(factor, field, new_x, new_z, push, pull, gradient, energy)
    for k in range(chains):
        gain[k] = energy[k] + _kinetic(p, q, k)
    kick(p, gradient, 0.5 * step)
    kick(q[0], pull[0], 0.5 * step)
    kick(q[1], pull[1], 0.5 * step)
    for leap in range(leapfrogs):
        rotate(new_x, p, step)
        kick(new_z[0], q[0], -step)
        kick(new_z[1], q[1], -step)
        _forces(factor, field, new_x, new_z, push, pull, gradient, energy)
        share = step if leap < leapfrogs - 1 else 0.5 * step
        kick(p, gradient, share)
        kick(q[0], pull[0], share)
        kick(q[1], pull[1], share)
    for k in range(chains):
        gain[k] -= energy[k] + _kinetic(p, q, k)
    settle(streams, gain, acceptance, new_x, x)
    for k in range(chains):
        if gain[k] > 0.0:  # accepted
            for i in range(m):
                z[0, k, i], z[1, k, i] = new_z[0, k, i], new_z[1, k, i]


class AugmentedHmc(Hmc):
    """HMC on (z, φ) with unit mass; options of the augmentation and of ``Hmc``."""

    name = "hmc-augmented"

    def __init__(
        self,
        target: Target,
        *,
        scaling: Literal["scalar", "diagonal"] = "diagonal",
        lam: float | None = None,
        step_size: float | None = None,
        leapfrogs: int = 12,
    ) -> None:
        super().__init__(target, step_size=step_size, leapfrogs=leapfrogs)
        self.factor = augmentation(target, scaling, lam)

    def init(self, rng: Streams, angles: Array | None = None) -> State:
        """Start with z drawn given the angles."""
        state = super().init(rng, angles)
        z = np.empty_like(state.x)
        draw_auxiliary(rng, self.factor, state.x, z)
        return state._replace(auxiliary=z)

    def step(self, rng: Streams, state: State) -> tuple[State, Info]:
        """One trajectory of angles and z."""
        x, z, acceptance = state.x.copy(), state.auxiliary.copy(), np.empty(rng.shape[0])
        step, leapfrogs = self.draw_length(rng, current_step(state.tuning))
        _trajectory(rng, self.factor, self.target.field, x, z, step, leapfrogs, acceptance)
        return state._replace(x=x, auxiliary=z, steps=state.steps + 1), Info(acceptance)
