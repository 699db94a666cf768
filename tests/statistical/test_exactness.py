"""Every sampler against exact laws, and deliberately broken ones that the same suite has to reject.

False alarms: each comparison fails by chance with the probability RATE = 1e-6 (``references.p_value``). There are about
500 of them in this file, so new seeds would make it fail by chance once in 2,000 runs; the seeds are fixed.
"""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import i0e, ive

import vmqp
from references import (
    RATE,
    batch_means,
    chain_moments,
    exact_draws,
    p_value,
    size,
    spin_glass,
)
from small_laws import CASES, STIFF, expected, moved, stiff_p_value, stiff_target, suite_p_value
from vmqp.sampling import SAMPLERS, Sampler, make_target
from vmqp.sampling.heatbath import HeatBath
from vmqp.sampling.sampler import Info, unit_vectors

pytestmark = pytest.mark.statistical

TRUE_SAMPLERS = {name: (name, {}) for name in SAMPLERS} | {
    "augmented-scalar": ("augmented", {"scaling": "scalar"}),
    "heatbath-plain": ("heatbath", {"overrelax": 0}),
    "heatbath-3": ("heatbath", {"overrelax": 3}),
}


FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


@FORMS
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_moments_are_those_of_quadrature(sampler, name, form):
    assert suite_p_value(name, *TRUE_SAMPLERS[sampler], form=form) > RATE


@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_one_long_chain(sampler):
    """Means over 50 batches of 200 draws, far longer than the correlation, stand for independent chains."""
    kind, options = TRUE_SAMPLERS[sampler]
    name = "3-mixed-signs"
    angles = vmqp.sample_angles(*CASES[name], draws=size(10_000), sampler=kind, seed=3, **options)
    assert p_value(chain_moments(batch_means(angles, 50)), expected(name)) > RATE


@pytest.mark.parametrize("steps", [1, 20])
@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_exact_draws_stay_exact(sampler, steps):
    """One exact draw for each chain, so the test does not depend on how fast the sampler mixes."""
    name = "3-strong-field"
    starts = exact_draws(*CASES[name], size(4000), seed=5)
    ends = moved(make_target(*CASES[name]), *TRUE_SAMPLERS[sampler], starts, steps)
    assert p_value(chain_moments(ends[:, None]), expected(name)) > RATE


# More angles than quadrature can do: blocks of four rows, and what is left over

CHAIN_LAWS = {
    4: [-1.5, 3.0, -0.5],
    5: [2.0, -4.0, 0.3, 1.0],
    7: [-2.0, 1.0, 5.0, -0.7, -3.0, 1.5],
    8: [-2.0, 1.0, 5.0, -0.7, 0.0, -3.0, 1.5],
}


@FORMS
@pytest.mark.parametrize("m", CHAIN_LAWS)
@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_open_chain_has_independent_bonds(sampler, m, form):
    """In an open chain without field the bonds are independent von Mises; sites are numbered at random."""
    kind, options = TRUE_SAMPLERS[sampler]
    bonds = np.array(CHAIN_LAWS[m])
    order = np.random.default_rng(m).permutation(m)
    coupling = np.zeros((m, m))
    coupling[order[:-1], order[1:]] = coupling[order[1:], order[:-1]] = bonds
    angles = vmqp.sample_angles_batch(
        form(coupling),
        np.zeros((m, 2)),
        chains=256,
        draws=size(150),
        warmup=150,
        sampler=kind,
        seed=2,
        **options,
    )
    moments = chain_moments(np.diff(angles[..., order], axis=2))
    first = -ive(1, bonds) / i0e(bonds)
    second = np.outer(first, first)
    np.fill_diagonal(second, 0.5 + 0.5 * ive(2, bonds) / i0e(bonds))
    n, zero = m - 1, np.zeros((m - 1, m - 1))
    full = np.block([[second, zero], [zero, np.diag(1.0 - np.diag(second))]])
    exact = np.concatenate([first, np.zeros(n), full[np.triu_indices(2 * n)]])
    assert p_value(moments, exact) > RATE


def stein_statistics(coupling, field, angles):
    """Means over each chain of statistics whose expectation is zero for the target, whatever its size.

    On the torus E[∂_i U g] = E[∂_i g] for any smooth g. Taken are g = ∂_j U for all pairs (the second derivatives
    have the same mean as the products of the first), and g = cos φ_i, sin φ_i; and E[x_i·ĥ_i − I₁/I₀(|h_i|)] = 0.
    """
    c, s = np.cos(angles), np.sin(angles)
    hollow = coupling - np.diag(np.diag(coupling))
    hc, hs = field[:, 0] - c @ hollow, field[:, 1] - s @ hollow
    slope = s * hc - c * hs  # ∂U/∂φ_i
    draws = angles.shape[1]
    products = np.swapaxes(slope, 1, 2) @ slope / draws
    bend = hollow * (np.swapaxes(c, 1, 2) @ c + np.swapaxes(s, 1, 2) @ s) / draws
    i = np.arange(angles.shape[2])
    bend[:, i, i] = (c * hc + s * hs).mean(axis=1)
    a, b = np.triu_indices(angles.shape[2])
    h = np.hypot(hc, hs)
    parts = [
        (products - bend)[:, a, b],
        (slope * c + s).mean(axis=1),
        (slope * s - c).mean(axis=1),
        ((c * hc + s * hs) / h - ive(1, h) / i0e(h)).mean(axis=1),
    ]
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("m", [4, 5, 7, 9])
@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_identities_of_a_dense_random_target(sampler, m):
    kind, options = TRUE_SAMPLERS[sampler]
    rng = np.random.default_rng(m)
    coupling, field = 2.0 * spin_glass(m, 1.0, m), rng.normal(0.0, 0.7, (m, 2))
    settings = {"chains": 200, "draws": size(150), "warmup": 200, "sampler": kind, "seed": 4}
    angles = vmqp.sample_angles_batch(coupling, field, **settings, **options)
    means = stein_statistics(coupling, field, angles)
    assert p_value(means, np.zeros(means.shape[1])) > RATE


# Stiff: condition number 1e6


@pytest.mark.parametrize("steps", [1, 20])
@pytest.mark.parametrize("name", STIFF)
@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_stiff_law_is_unchanged(sampler, name, steps):
    assert stiff_p_value(name, *TRUE_SAMPLERS[sampler], steps) > RATE


@pytest.mark.parametrize("sampler", TRUE_SAMPLERS)
def test_stiff_law_is_unchanged_on_sparse_rows(sampler):
    assert stiff_p_value("3-two-scales", *TRUE_SAMPLERS[sampler], 20, form=sparse.csr_array) > RATE


@pytest.mark.parametrize("name", STIFF)
def test_stiff_reference_agrees_with_itself(name):
    coupling, _ = STIFF[name]
    assert 0.99e6 < np.linalg.cond(coupling) < 1.01e6
    reference = stiff_target(name)
    assert p_value(reference.statistics(reference.draws(20_000, 1)), reference.expectations()) > RATE


# Broken samplers


class Plain(Sampler):
    """A NumPy sampler of the tests, right unless a subclass breaks it."""

    def random(self, rng):
        """A generator that follows from the streams, which are advanced."""
        seeds = np.random.default_rng(rng.ravel())
        rng[:] = seeds.integers(1, 2**63, rng.shape, dtype=np.uint64)
        return seeds

    def field_of(self, x, i):
        return self.target.field[:, i, None] - np.einsum("ckj,j->ck", x, self.target.matrix()[i])

    def step(self, rng, state):
        x = self.moved(self.random(rng), state.x.copy())
        return state._replace(x=x, steps=state.steps + 1), Info(np.ones(rng.shape[0]))


class RightHeatBath(Plain):
    name = "right-heatbath"
    share = 1.0
    stale = False

    def moved(self, random, x):
        before = x.copy()
        for i in range(x.shape[2]):
            h = self.field_of(before if self.stale else x, i)
            turn = random.vonmises(0.0, self.share * np.hypot(*h))
            x[:, :, i] = unit_vectors(np.arctan2(h[1], h[0]) + turn)
        return x


class StaleField(RightHeatBath):
    """All fields from the start of the sweep, as if angles could be renewed at once."""

    name = "stale-field"
    stale = True


class HalvedConcentration(RightHeatBath):
    name = "halved-concentration"
    share = 0.5


class RightHmc(Plain):
    """Ten leapfrogs of a step that is too large for some targets: the rejections have to repair that."""

    name = "right-hmc"
    reject = True
    size = 0.55

    def slope(self, angles):
        c, s = np.cos(angles), np.sin(angles)
        matrix, field = self.target.matrix(), self.target.field
        return s * (field[0] - c @ matrix) - c * (field[1] - s @ matrix)

    def potential(self, angles):
        c, s = np.cos(angles), np.sin(angles)
        matrix, field = self.target.matrix(), self.target.field
        return (c * (0.5 * c @ matrix - field[0]) + s * (0.5 * s @ matrix - field[1])).sum(1)

    def moved(self, random, x):
        old = np.arctan2(x[1], x[0])
        step = self.size * random.uniform(0.8, 1.2)
        new, p = old.copy(), random.standard_normal(old.shape)
        before = self.potential(old) + 0.5 * (p**2).sum(1)
        p -= 0.5 * step * self.slope(new)
        for leap in range(random.integers(1, 10, endpoint=True)):
            if leap:
                p -= step * self.slope(new)
            new += step * p
        p -= 0.5 * step * self.slope(new)
        rise = self.potential(new) + 0.5 * (p**2).sum(1) - before
        accept = (
            random.uniform(size=len(rise)) < np.exp(-np.maximum(rise, 0.0)) if self.reject else rise < np.inf
        )
        return unit_vectors(np.where(accept[:, None], new, old))


class NoRejection(RightHmc):
    name = "no-rejection"
    reject = False


class WrongFieldSign(HeatBath):
    name = "wrong-field-sign"

    def __init__(self, target):
        super().__init__(target._replace(field=-target.field))


class WrongCouplingSign(HeatBath):
    name = "wrong-coupling-sign"

    def __init__(self, target):
        coupling = target.coupling._replace(matrix=-target.coupling.matrix)
        super().__init__(target._replace(coupling=coupling))


class ReflectionsOnly(Plain):
    """Over-relaxation alone keeps the energy of the start for ever."""

    name = "reflections-only"

    def moved(self, random, x):
        for i in range(x.shape[2]):
            h = self.field_of(x, i)
            square = np.maximum((h**2).sum(0), 1e-300)
            x[:, :, i] = 2.0 * (x[:, :, i] * h).sum(0) / square * h - x[:, :, i]
        return x


WITNESSES = ["2-repulsion-field", "3-mixed-signs", "3-strong-field"]


@pytest.mark.parametrize("kind", [RightHeatBath, RightHmc])
@pytest.mark.parametrize("name", WITNESSES)
def test_right_plain_sampler_passes(monkeypatch, kind, name):
    """The plain samplers pass, so what is rejected below is the fault that was put into them."""
    monkeypatch.setitem(SAMPLERS, kind.name, kind)
    assert suite_p_value(name, kind.name, {}) > RATE


@pytest.mark.parametrize("name", WITNESSES)
@pytest.mark.parametrize(
    "kind",
    [WrongFieldSign, WrongCouplingSign, NoRejection, StaleField, HalvedConcentration, ReflectionsOnly],
    ids=lambda kind: kind.name,
)
def test_broken_sampler_is_rejected(monkeypatch, kind, name):
    monkeypatch.setitem(SAMPLERS, kind.name, kind)
    assert suite_p_value(name, kind.name, {}) < RATE


@pytest.mark.parametrize("kind", [NoRejection, StaleField], ids=lambda kind: kind.name)
def test_broken_sampler_is_rejected_on_a_stiff_target(monkeypatch, kind):
    monkeypatch.setattr(RightHmc, "size", 0.02)
    monkeypatch.setitem(SAMPLERS, kind.name, kind)
    assert stiff_p_value("3-two-scales", kind.name, {}, 1) < RATE
