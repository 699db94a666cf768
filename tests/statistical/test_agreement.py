"""All samplers agree with each other on systems too large for quadrature, and with Wolff's algorithm on ferromagnets.

Every sampler runs 32 chains, half from an ordered start and half from a disordered one, and each chain gives one
mean of every statistic. Compared are all pairs of samplers (Welch's t-test across chains), the two kinds of start, and
identities that hold exactly. A system fails by chance with the probability RATE = 1e-6 for each of the three, whatever
the number of pairs and statistics (Bonferroni): 1.2e-5 for the whole file.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import i0e, ive

import vmqp
from references import (
    RATE,
    energy,
    lattice,
    magnetisation,
    p_value,
    sample_wolff,
    size,
    spin_glass,
    two_sample_p_value,
)

pytestmark = pytest.mark.statistical

CHAINS = 32
THIN = 5
SAMPLERS = {
    "hybrid": ("hybrid", {}),
    "heatbath": ("heatbath", {}),
    "heatbath-plain": ("heatbath", {"overrelax": 0}),
    "augmented": ("augmented", {}),
    "augmented-scalar": ("augmented", {"scaling": "scalar"}),
    "hmc": ("hmc", {}),
    "hmc-augmented": ("hmc-augmented", {}),
    "hmc-whitened": ("hmc-whitened", {}),
}
SLOW = {"heatbath-plain": 2, "augmented": 3, "augmented-scalar": 3, "hmc-whitened": 1, "hmc-augmented": 1}


def run(coupling, kind, options, steps):
    """Angles (chains, draws, m), even chains from the ordered start."""
    m = coupling.shape[0]
    start = np.zeros((CHAINS, m))
    start[1::2] = np.random.default_rng(0).uniform(-np.pi, np.pi, (CHAINS // 2, m))
    return vmqp.sample_angles_batch(
        coupling,
        np.zeros((m, 2)),
        chains=CHAINS,
        draws=size(steps) // THIN,
        thin=THIN,
        warmup=steps,
        sampler=kind,
        initial=start,
        seed=1,
        **options,
    )


def bonds(coupling):
    """Four pairs that are coupled strongly."""
    upper = np.triu(coupling.toarray() if hasattr(coupling, "toarray") else coupling, 1)
    order = np.argsort(-np.abs(upper), axis=None, kind="stable")[[0, 1, 2, 3]]
    return np.unravel_index(order, upper.shape)


def statistics(coupling, angles):
    """Means over each chain: energy and its square, squared magnetisation, cosines of four bonds."""
    i, j = bonds(coupling)
    value = energy(coupling, angles)
    columns = np.stack([value, value**2, magnetisation(angles)], axis=-1)
    return np.concatenate([columns, np.cos(angles[..., i] - angles[..., j])], axis=-1).mean(axis=1)


def identities(coupling, angles):
    """Means over each chain that have expectation 0: Σ (∂_i U)² − ∂_i² U, and Σ x_i·ĥ_i − I₁/I₀(|h_i|), over sites."""
    flat = angles.reshape(-1, angles.shape[-1])
    c, s = np.cos(flat), np.sin(flat)
    hc, hs = -(coupling @ c.T).T, -(coupling @ s.T).T
    h = np.hypot(hc, hs)
    along, across = c * hc + s * hs, s * hc - c * hs
    values = np.stack([(across**2 - along).mean(1), (along / h - ive(1, h) / i0e(h)).mean(1)], axis=-1)
    return values.reshape(*angles.shape[:2], 2).mean(axis=1)


def check(coupling, steps, others):
    """Run every sampler and compare; ``others`` are means from elsewhere."""
    means, starts, exact = dict(others), {}, {}
    for name, (kind, options) in SAMPLERS.items():
        angles = run(coupling, kind, options, SLOW.get(name, 1) * steps)
        means[name] = statistics(coupling, angles)
        starts[name] = two_sample_p_value(means[name][::2], means[name][1::2])
        exact[name] = p_value(identities(coupling, angles), np.zeros(2))
    pairs = {pair: two_sample_p_value(*(means[name] for name in pair)) for pair in combinations(means, 2)}
    for what, p in {"start": starts, "identity": exact, "pair": pairs}.items():
        wrong = {name: value * len(p) for name, value in p.items() if value * len(p) < RATE}
        assert not wrong, f"{what}: {wrong}"


def wolff(coupling, clusters):
    """About one renewal of the lattice for each draw."""
    angles = sample_wolff(coupling, chains=CHAINS, draws=size(200), warmup=100, clusters=clusters, seed=1)
    return {"wolff": statistics(coupling, angles)}


def test_spin_glass():
    check(spin_glass(50, 1.0, seed=1), 600, {})


def test_warm_square_lattice():
    coupling = lattice((16, 16), 0.5)
    dense = statistics(coupling, run(coupling.toarray(), "heatbath", {}, 250))
    check(coupling, 250, wolff(coupling, 40) | {"heatbath-dense": dense})


def test_cool_square_lattice():
    """β = 1.0: the lattice is shorter than the correlation length, and local samplers slow down."""
    coupling = lattice((16, 16), 1.0)
    dense = statistics(coupling, run(coupling.toarray(), "hybrid", {}, 250))
    check(coupling, 400, wolff(coupling, 5) | {"hybrid-dense": dense})


def test_cubic_lattice():
    coupling = lattice((6, 6, 6), 0.3)
    dense = statistics(coupling, run(coupling.toarray(), "hmc-whitened", {}, 250))
    check(coupling, 250, wolff(coupling, 40) | {"hmc-whitened-dense": dense})


def test_the_check_sees_a_wrong_temperature():
    """The same comparison rejects a heat bath whose temperature is 3 % off."""
    coupling = lattice((16, 16), 1.0)
    right = statistics(coupling, run(coupling, "heatbath", {}, 400))
    wrong = statistics(coupling, run(0.97 * coupling, "heatbath", {}, 400))
    pairs = (len(SAMPLERS) + 2) * (len(SAMPLERS) + 1) // 2
    assert two_sample_p_value(right, wrong) * pairs < RATE
