"""Exact references for the samplers of angles, and the statistical checks that compare with them.

All targets are p(φ) ∝ exp(Σ_i ρ_i·x_i − ½ Σ_ij Q_ij x_i·x_j). Statistics of many chains come as an array
(chains, statistics) of means over each chain, in the order of ``chain_moments``: E x_a, then E x_a x_b for a ≤ b,
where x = (cos φ_1 … cos φ_d, sin φ_1 … sin φ_d). That is every first and second moment of all pairs.
"""

import os

import numpy as np
from numba import njit
from scipy import sparse, stats
from scipy.special import i0e, ive

RATE = 1e-6
"""False-alarm rate of one comparison; the suite makes a few hundred, so it fails by chance below 1e-3."""


def size(n):
    """``n`` at the normal size, eight times as many where VMQP_TEST_SIZE=long."""
    return 8 * n if os.environ.get("VMQP_TEST_SIZE") == "long" else n


# Checks


def p_value(means, exact):
    """Do the chains' means of S statistics have the expectations ``exact``?

    ``means`` (R, S) holds one mean for each of R independent chains. Only the independence of the chains is used:
    what happens within a chain may be correlated. Each statistic has a t-test across the chains, and the smallest
    p-value is multiplied by S (Bonferroni). A statistic that is the same in all chains has to be right to 1e-9.
    """
    means, exact = np.asarray(means), np.asarray(exact)
    assert np.isfinite(means).all()
    error = stats.sem(means, axis=0)
    return _smallest(means.mean(axis=0) - exact, error, np.full(exact.shape, means.shape[0] - 1.0))


def two_sample_p_value(first, second):
    """Do two sets of independent chains, (R1, S) and (R2, S) means, have the same expectations? Welch's t-test."""
    first, second = np.asarray(first), np.asarray(second)
    assert np.isfinite(first).all()
    assert np.isfinite(second).all()
    a, b = stats.sem(first, axis=0) ** 2, stats.sem(second, axis=0) ** 2
    bottom = a**2 / (len(first) - 1) + b**2 / (len(second) - 1)
    freedom = np.divide((a + b) ** 2, bottom, out=np.ones_like(a), where=bottom > 0.0)
    return _smallest(first.mean(axis=0) - second.mean(axis=0), np.sqrt(a + b), freedom)


def _smallest(difference, error, freedom):
    constant = error < 1e-13
    p = 2.0 * stats.t.sf(np.abs(difference) / np.where(constant, 1.0, error), freedom)
    p = np.where(constant, np.where(np.abs(difference) < 1e-9, 1.0, 0.0), p)
    return min(1.0, float(p.min()) * p.size)


def chain_moments(angles):
    """Means over each chain of all first and second moments, from angles (C, draws, m): shape (C, S)."""
    x = np.concatenate([np.cos(angles), np.sin(angles)], axis=2)
    second = np.swapaxes(x, 1, 2) @ x / x.shape[1]
    a, b = np.triu_indices(x.shape[2])
    return np.concatenate([x.mean(axis=1), second[:, a, b]], axis=1)


def batch_means(values, batches):
    """Means of a long run (draws, …) over consecutive batches, as if each were a chain: (batches, …)."""
    length = len(values) // batches
    return values[: batches * length].reshape(batches, length, *values.shape[1:])


# Quadrature and exact draws, d ≤ 3


def log_density(coupling, field, angles):
    """Of angles (…, d), up to a constant that does not depend on them."""
    c, s = np.cos(angles), np.sin(angles)
    hollow = coupling - np.diag(np.diag(coupling))
    pull = c @ field[:, 0] + s @ field[:, 1]
    return pull - 0.5 * ((c @ hollow * c).sum(-1) + (s @ hollow * s).sum(-1))


def grid(d, points):
    """All points of a regular grid on the torus, (points**d, d)."""
    line = -np.pi + 2.0 * np.pi * (np.arange(points) + 0.5) / points
    return np.stack(np.meshgrid(*[line] * d, indexing="ij"), axis=-1).reshape(-1, d)


def exact_moments(coupling, field, points=72):
    """Expectations in the order of ``chain_moments``, by the trapezoidal rule on the torus.

    The rule converges faster than any power of the spacing for a periodic analytic integrand: with 72 points it is
    exact to rounding for the concentrations that are used here (up to about 40).
    """
    angles = grid(len(field), points)
    logs = log_density(coupling, field, angles)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    x = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    second = (x * weights[:, None]).T @ x
    return np.concatenate([weights @ x, second[np.triu_indices(x.shape[1])]])


def exact_draws(coupling, field, n, seed, points=48):
    """Independent draws (n, d) by rejection from a grid: no approximation at all.

    A cell of the grid is drawn with the density of its centre, a point in it uniformly. Inside a cell the log-density
    rises by at most half the cell's width times Σ_i (|ρ_i| + Σ_j |Q_ij|), the bound on its gradient; a
    point is accepted with the density relative to that bound.
    """
    rng = np.random.default_rng(seed)
    d = len(field)
    centres = grid(d, points)
    logs = log_density(coupling, field, centres)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    hollow = coupling - np.diag(np.diag(coupling))
    rise = np.pi / points * (np.hypot(*field.T).sum() + np.abs(hollow).sum())
    kept, total = [], 0
    while total < n:
        cell = rng.choice(len(centres), 2 * n, p=weights)
        angles = centres[cell] + rng.uniform(-np.pi / points, np.pi / points, (2 * n, d))
        gain = log_density(coupling, field, angles) - logs[cell] - rise
        assert gain.max() <= 1e-9
        angles = angles[rng.uniform(size=2 * n) < np.exp(gain)]
        kept.append(angles)
        total += len(angles)
    return np.concatenate(kept)[:n]


class StiffTarget:
    """Exact expectations and draws for a stiff coupling of two or three angles that lie close together.

    With y_i = φ_i − φ_1 the density is exp(−E(y)) · exp(Re(h̄ e^{iφ_1})), E(y) = Σ_{i<j} Q_ij (cos(y_i − y_j) − 1) and
    h(y) = Σ_i ρ_i e^{−i y_i}. So φ_1 | y is von Mises and integrates to I₀(|h|), and d − 1 coordinates are left.
    They are taken along the axes of the Hessian of E at 0, scaled to unit variance, and integrated with the
    trapezoidal rule out to ``reach`` deviations, where the density is below e^−50; with steps of 1/20 the rule is
    exact to rounding.
    Draws come by rejection from a wider Gaussian; the bound is the largest ratio on the grid plus 1 %, and
    no proposal may exceed it.
    """

    reach = 12.0

    def __init__(self, coupling, field):
        self.coupling, self.field = np.asarray(coupling), np.asarray(field)
        self.rho = self.field[:, 0] + 1j * self.field[:, 1]
        d = len(self.field)
        hollow = self.coupling - np.diag(np.diag(self.coupling))
        self.basis = np.linalg.eigh((hollow - np.diag(hollow.sum(axis=1)))[1:, 1:])[
            1
        ]  # y = basis · coordinates
        steps = np.geomspace(1e-6, 1.0, 1000)
        climbs = [self._energy(self._relative(steps[:, None] * axis)) for axis in np.eye(d - 1)]
        assert min(climb.max() for climb in climbs) > 50.0, "the angles have to lie close together"
        self.basis = self.basis * [steps[np.argmax(climb > 0.5)] for climb in climbs]
        line = np.linspace(-self.reach, self.reach, 481)
        points = np.stack(np.meshgrid(*[line] * (d - 1), indexing="ij"), axis=-1).reshape(-1, d - 1)
        for _ in range(3):
            logs = self._log(points)
            weights = np.exp(logs - logs.max())
            self.basis = self.basis * np.sqrt(weights @ points**2 / weights.sum())
        logs = self._log(points)
        edge = np.abs(points).max(axis=1) == self.reach
        assert logs[edge].max() < logs.max() - 50.0, "the grid has to reach further"
        self.bound = (logs + 0.5 * (points**2).sum(axis=1) / self._wide**2).max() + 0.01
        keep = logs > logs.max() - 60.0
        self.points, weights = points[keep], np.exp(logs[keep] - logs.max())
        self.weights = weights / weights.sum()

    _wide = 1.25

    def _relative(self, points):
        return np.concatenate([np.zeros((len(points), 1)), points @ self.basis.T], axis=1)

    def _energy(self, y):
        i, j = np.triu_indices(y.shape[1], 1)
        return -2.0 * np.sin(0.5 * (y[:, i] - y[:, j])) ** 2 @ self.coupling[i, j]

    def _log(self, points):
        y = self._relative(points)
        h = np.abs(np.exp(-1j * y) @ self.rho)
        return -self._energy(y) + np.log(i0e(h)) + h

    def statistics(self, angles):
        """Of one draw a chain (C, d): all moments, then what sees the stiff directions at their own scale."""
        relative = np.angle(np.exp(1j * (angles - angles[:, :1])))
        scaled = np.linalg.solve(self.basis, relative[:, 1:].T).T
        energy = self._energy(relative)
        return np.column_stack([chain_moments(angles[:, None]), scaled, scaled**2, energy])

    def expectations(self):
        """Of ``statistics``."""
        y = self._relative(self.points)
        h = np.exp(-1j * y) @ self.rho
        size, turn = np.abs(h), np.exp(1j * np.angle(h))
        one = self.weights * ive(1, size) / i0e(size) * turn  # E e^{iφ_1}, one point of the grid
        two = self.weights * ive(2, size) / i0e(size) * turn**2
        e = np.exp(1j * y)
        first = one @ e
        plus, minus = (e * two[:, None]).T @ e, (e * self.weights[:, None]).T @ e.conj()
        cc, ss = 0.5 * (minus + plus).real, 0.5 * (minus - plus).real
        cs = 0.5 * (plus - minus).imag  # cos φ_i sin φ_j
        second = np.block([[cc, cs], [cs.T, ss]])
        moments = np.concatenate([first.real, first.imag, second[np.triu_indices(len(second))]])
        scaled = [self.weights @ self.points, self.weights @ self.points**2, self.weights @ self._energy(y)]
        return np.concatenate([moments, *map(np.atleast_1d, scaled)])

    def draws(self, n, seed):
        """Independent draws (n, d)."""
        rng = np.random.default_rng(seed)
        kept, total = [], 0
        while total < n:
            points = self._wide * rng.standard_normal((2 * n, self.basis.shape[0]))
            gain = self._log(points) + 0.5 * (points**2).sum(axis=1) / self._wide**2 - self.bound
            assert gain.max() <= 0.0
            points = points[rng.uniform(size=2 * n) < np.exp(gain)]
            kept.append(points)
            total += len(points)
        y = self._relative(np.concatenate(kept)[:n])
        h = np.exp(-1j * y) @ self.rho
        return np.angle(np.exp(1j * (y + rng.vonmises(np.angle(h), np.abs(h))[:, None])))


# Couplings


def lattice(shape, beta):
    """XY model on a periodic lattice with J = 1: a sparse coupling of −β between neighbours."""
    sites = np.arange(np.prod(shape)).reshape(shape)
    rows = np.concatenate([sites.ravel()] * len(shape))
    columns = np.concatenate([np.roll(sites, -1, axis).ravel() for axis in range(len(shape))])
    half = sparse.coo_array((np.full(rows.size, -float(beta)), (rows, columns)), shape=(sites.size,) * 2)
    return (half + half.T).tocsr()


def spin_glass(m, beta, seed):
    """Sherrington-Kirkpatrick couplings of variance β²/m, zero diagonal; for XY spins the glass begins at β = 2."""
    upper = np.triu(np.random.default_rng(seed).normal(0.0, beta / np.sqrt(m), (m, m)), 1)
    return upper + upper.T


def energy(coupling, angles):
    """½ Σ_ij Q_ij cos(φ_i − φ_j) for each site, of angles (…, m); the diagonal must be zero."""
    flat = angles.reshape(-1, angles.shape[-1])
    c, s = np.cos(flat), np.sin(flat)
    total = 0.5 * ((c * (coupling @ c.T).T).sum(1) + (s * (coupling @ s.T).T).sum(1))
    return total.reshape(angles.shape[:-1]) / angles.shape[-1]


def magnetisation(angles):
    """|Σ x_i|² / m² of angles (…, m)."""
    return np.cos(angles).mean(-1) ** 2 + np.sin(angles).mean(-1) ** 2


# Wolff


@njit(cache=True)
def _updates(rng, starts, columns, values, x, clusters, joined, stack):
    m = x.shape[1]
    for _ in range(clusters):
        turn = rng.uniform(0.0, 2.0 * np.pi)
        a, b = np.cos(turn), np.sin(turn)
        joined[:] = False
        site = int(rng.uniform(0.0, 1.0) * m)
        joined[site] = True
        stack[0], depth = site, 1
        while depth > 0:
            depth -= 1
            i = stack[depth]
            along = a * x[0, i] + b * x[1, i]
            for e in range(starts[i], starts[i + 1]):
                j = columns[e]
                if not joined[j]:
                    exponent = 2.0 * values[e] * along * (a * x[0, j] + b * x[1, j])
                    if exponent < 0.0 and rng.uniform(0.0, 1.0) < 1.0 - np.exp(exponent):
                        joined[j] = True
                        stack[depth] = j
                        depth += 1
            x[0, i] -= 2.0 * along * a
            x[1, i] -= 2.0 * along * b


def sample_wolff(coupling, *, chains, draws, warmup, clusters, seed):
    """Angles (chains, draws, m) of a ferromagnetic XY model without field by Wolff's cluster algorithm (1989).

    A reference that shares no code with the samplers. A random direction r and a random site start a cluster. A
    neighbour with the coupling −J joins with the probability 1 − exp(−2 J (r·x_i)(r·x_j)) where the exponent is
    negative; the whole cluster is reflected across the line perpendicular to r. ``clusters`` updates make a draw.
    """
    coupling = coupling.tocsr()
    assert coupling.data.max() <= 0.0, "Wolff's algorithm needs ferromagnetic couplings"
    parts = coupling.indptr.astype(np.int64), coupling.indices.astype(np.int64), coupling.data
    m = coupling.shape[0]
    joined, stack = np.zeros(m, np.bool_), np.zeros(m, np.int64)
    out = np.empty((chains, draws, m))
    for chain in range(chains):
        rng = np.random.default_rng([seed, chain])
        angles = rng.uniform(-np.pi, np.pi, m)
        x = np.stack([np.cos(angles), np.sin(angles)])
        _updates(rng, *parts, x, warmup * clusters, joined, stack)
        for draw in range(draws):
            _updates(rng, *parts, x, clusters, joined, stack)
            out[chain, draw] = np.arctan2(x[1], x[0])
    return out
