"""log Z and log Z[w] / Z[w'] by sampling, each with an error estimate.

Two densities f₀ and f₁ of the form of ``eq:Z_w_definition`` are joined by log f_β = (1 − β) log f₀ + β log f₁
(``eq_ap:pk``), so that M and the field of f_β are linear mixtures (``eq_ap:Mk``). With Δ = log f₁ − log f₀,

* annealed importance sampling: Z₁/Z₀ = E Π_k exp((β_{k+1} − β_k) Δ(x_k)), where x_0 is drawn from f₀ and x_k is x_{k−1}
  moved by sweeps that leave f_{β_k} unchanged (``eq_ap:AIC``). The weights are unbiased however slowly the sweeps
  mix; slow mixing shows in their variance. Sweeps in fixed order are not reversible, and need not be.
* thermodynamic integration: log Z₁/Z₀ = ∫₀¹ E_β Δ dβ, with E_β from chains at Gauss–Legendre nodes.

The double sum of the energy includes i = j, so −½ tr M counts, as in :func:`vmqp.model.log_normaliser_quadrature`.

Where M is stiff, Δ varies by M at β = 0 and by 1/β further on: equal steps of β would be useless. Both methods space
β by the standard deviation s(β) of Δ. Annealing takes equal steps of ∫ s dβ, measured along a pilot run.
Integration needs a smooth change of variable, t(β) ∝ β + log(1 + a₀ β) + log(1 + a₁) − log(1 + a₁ (1 − β)) with
a = s/√(d/2) at both ends: this is ∫ s dβ for a density that is stiff at either end.
"""

import inspect
from functools import partial
from typing import Any, Literal, NamedTuple
from warnings import warn

import numpy as np
from numpy.random import SeedSequence
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import i0e

from vmqp.checks import check_count
from vmqp.circle import FloatArray
from vmqp.errors import ConvergenceWarning, InputError
from vmqp.sampling import build_sampler, seed_streams
from vmqp.sampling.heatbath import sweeps as sweep
from vmqp.sampling.sampler import Streams, unit_vectors
from vmqp.sampling.target import Target, make_target

__all__ = ["Density", "Estimate", "annealed_importance", "log_normaliser", "thermodynamic_integration"]

Method = Literal["annealed", "thermodynamic"]
_PILOT = 32  # chains of the pilot run
_STRIDE = 0.5  # standard deviation of an increment of the pilot's log-weights
_SHORTEST = 0.01  # share of the way to the nearer end that a step of the pilot takes at least
_PROBE = 100  # draws of a chain at each end, to set the spacing of the nodes
_FEW = 0.1  # share of the chains below which the effective number of weights is too small


class Density(NamedTuple):
    """Coupling M, (d, d), and field, (d, 2)."""

    M: Any
    field: Any


class Estimate(NamedTuple):
    """A number and its standard error."""

    value: float
    error: float


class _Path(NamedTuple):
    """The way from one checked density to another."""

    start: Target
    end: Target
    trace: float
    """Of M₁ − M₀. The targets keep a diagonal only where it helps the sampler: not where angles are independent."""

    def at(self, beta: float) -> Target:
        """The mixture at β."""
        both = (1.0 - beta, self.start), (beta, self.end)
        matrix, field = sum(s * t.matrix() for s, t in both), sum(s * t.field for s, t in both)
        diagonal = sparse.diags_array(sum(s * t.diagonal for s, t in both))
        return make_target(matrix + diagonal, np.asarray(field).T)  # eq_ap:Mk

    def difference(self, x: FloatArray) -> FloatArray:
        """Δ of unit vectors (2, C, d): shape (C,)."""
        coupling, field = self.end.matrix() - self.start.matrix(), self.end.field - self.start.field
        # x_i·x_i = 1: the diagonal is a constant, and a large one costs no digits.
        total = np.full(x.shape[1], -0.5 * self.trace)
        for part, pull in zip(x, field, strict=True):
            total += part @ pull - 0.5 * np.sum(part * (coupling @ part.T).T, axis=1)
        return total

    def first(self, rng: Streams) -> FloatArray:
        """Draws from the start, one a chain: exact where its angles are independent, else after a warm-up."""
        if abs(self.start.matrix()).sum() == 0.0:
            x = np.zeros((2, len(rng), self.start.size))
            sweep(rng, self.start, x, 0, 1)
            return x
        sampler = build_sampler("hybrid", self.start, {})
        return sampler.warm_up(rng, sampler.init(rng), sampler.default_warmup).x


def annealed_importance(
    start: Density, end: Density, *, temperatures: int = 200, chains: int = 64, seed: int = 0, sweeps: int = 1
) -> Estimate:
    """Estimate log Z_end − log Z_start by annealed importance sampling, with a standard error from its weights.

    The first draws are exact where the start has a diagonal M. Elsewhere they come from warmed-up hybrid chains: one
    path between two like densities has far less variance than two paths from independence. Where chains at the start
    cannot be trusted, as in a glass, take the difference of two `log_normaliser` in place of it.

    Each of `chains` runs makes `temperatures` steps, with `sweeps` sweeps in between. A ConvergenceWarning says where a
    few weights hold almost all: the value is then likely to be too small, and its error too.

    >>> import numpy as np
    >>> start, end = Density(np.eye(2), np.zeros((2, 2))), Density(np.ones((2, 2)), np.zeros((2, 2)))
    >>> value, error = annealed_importance(start, end)
    >>> bool(abs(value - np.log(np.i0(1.0))) < 4 * error < 0.1)
    True
    """
    path = _path(start, end)
    temperatures = check_count(temperatures, "temperatures", 1, "steps from the start to the end")
    chains = check_count(chains, "chains", 2, "runs, whose spread gives the error")
    sweeps = check_count(sweeps, "sweeps", 1, "sweeps at each temperature")
    seed = check_count(seed, "seed", 0, "a stream of random numbers")
    betas = _schedule(path, temperatures, sweeps, seed_streams(SeedSequence(seed, spawn_key=(0,)), _PILOT))
    logs = _log_weights(path, betas, sweeps, seed_streams(SeedSequence(seed, spawn_key=(1,)), chains))
    weights = np.exp(logs - logs.max())
    share = weights / weights.sum()
    effective = 1.0 / np.sum(share**2)
    if effective < _FEW * chains:
        message = f"the weights of {chains} chains are worth {effective:.1f}: raise temperatures or sweeps."
        warn(message, ConvergenceWarning, stacklevel=2)
    variance = float(np.var(chains * share, ddof=1)) / chains
    # The logarithm of a mean is too small by half its relative variance.
    return Estimate(float(logs.max() + np.log(weights.mean())) + 0.5 * variance, variance**0.5)


def thermodynamic_integration(
    start: Density, end: Density, *, nodes: int = 12, draws: int = 2000, chains: int = 4, seed: int = 0
) -> Estimate:
    """Estimate log Z_end − log Z_start by thermodynamic integration with hybrid chains at each node.

    The error joins the spread of the chains' means at each node and, as far as this does not explain it, how far the
    Gauss–Legendre rule lies from one of lower order, a polynomial fitted to the same nodes.

    >>> import numpy as np
    >>> start, end = Density(np.eye(2), np.zeros((2, 2))), Density(np.ones((2, 2)), np.zeros((2, 2)))
    >>> value, error = thermodynamic_integration(start, end, nodes=6, draws=200)
    >>> bool(abs(value - np.log(np.i0(1.0))) < 4 * error < 0.1)
    True
    """
    path = _path(start, end)
    nodes = check_count(nodes, "nodes", 2, "nodes of the Gauss–Legendre rule")
    draws = check_count(draws, "draws", 1, "draws of a chain at each node")
    chains = check_count(chains, "chains", 2, "chains, whose spread gives the error")
    seed = check_count(seed, "seed", 0, "a stream of random numbers")
    run = partial(_differences, path, chains, seed)
    probes = [run(key, beta, _PROBE) for key, beta in enumerate((0.0, 0.5, 1.0))]
    # A constant is integrated exactly. Half-way E Δ is moderate, but independent angles in a stiff M are far from it.
    level = float(probes[1].mean())
    scaled = [float(probes[k].std()) / (0.5 * path.start.size) ** 0.5 for k in (0, 2)]
    t, full = np.polynomial.legendre.leggauss(nodes)
    betas, jacobian = _change_of_variable(0.5 * (t + 1.0), *scaled)
    # The integral over [−1, 1] of a polynomial is twice its first Legendre coefficient.
    gap = full - 2.0 * np.linalg.pinv(np.polynomial.legendre.legvander(t, nodes // 2))[0]
    means = np.stack([run(key, beta, draws).mean(axis=1) for key, beta in enumerate(betas, 3)])
    heights = 0.5 * jacobian * (means.mean(axis=1) - level)
    variances = (0.5 * jacobian) ** 2 * means.var(axis=1, ddof=1) / chains
    rule = max(0.0, float(gap @ heights) ** 2 - float(gap**2 @ variances))
    return Estimate(level + float(full @ heights), (float(full**2 @ variances) + rule) ** 0.5)


def log_normaliser(M: Any, field: Any, method: Method = "annealed", **options: int) -> Estimate:
    """Estimate log Z (``eq:Z_w_definition``), from independent angles in the same field and with the same diagonal.

    Their log Z is closed: −½ tr M + Σ_i log 2π I₀(k_i), k_i the length of field_i. `options` are those of the method.

    >>> import numpy as np
    >>> from vmqp.model import log_normaliser_quadrature
    >>> M, field = np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    >>> value, error = log_normaliser(M, field, temperatures=50)
    >>> bool(abs(value - log_normaliser_quadrature(M, field)) < 4 * error < 0.1)
    True
    """
    methods: dict[str, Any] = {"annealed": annealed_importance, "thermodynamic": thermodynamic_integration}
    if not isinstance(method, str) or method not in methods:
        raise InputError(f"method is {method!r}, but the choices are {', '.join(map(repr, methods))}.")
    known = list(inspect.signature(methods[method]).parameters)[2:]
    if wrong := ", ".join(set(options) - set(known)):
        raise InputError(f"method {method!r} has no option {wrong}: it takes {', '.join(known)}.")
    target = make_target(M, field)
    k = np.hypot(*target.field)
    closed = float(np.sum(np.log(2.0 * np.pi * i0e(k)) + k) - 0.5 * target.diagonal.sum())
    independent = Density(sparse.diags_array(target.diagonal), target.field.T)
    value, error = methods[method](independent, Density(M, field), **options)
    return Estimate(closed + value, error)


def _path(start: Any, end: Any) -> _Path:
    """Check both ends at the door."""
    targets = []
    for name, density in (("start", start), ("end", end)):
        if not isinstance(density, tuple) or len(density) != 2:
            raise InputError(f"{name} is a {type(density).__name__}: give a pair, Density(M, field).")
        targets.append(make_target(*density))
    first, last = targets
    if first.size != last.size or first.size == 0:
        raise InputError(f"start has {first.size} angles, end has {last.size}: give the same, at least one.")
    useful = [target._replace(diagonal=target.useful_diagonal()) for target in targets]
    return _Path(useful[0], useful[1], float((last.diagonal - first.diagonal).sum()))


def _log_weights(path: _Path, betas: FloatArray, sweeps: int, rng: Streams) -> FloatArray:
    """Log-weights of annealed runs along β₀ = 0 … 1, one a chain."""
    x = path.first(rng)
    logs: FloatArray = betas[1] * path.difference(x)
    for k in range(1, len(betas) - 1):
        sweep(rng, path.at(betas[k]), x, 1, 1, sweeps, turn=True)
        # eq_ap:AIC: the step from β_k is weighed at a state that belongs to β_k.
        logs += (betas[k + 1] - betas[k]) * path.difference(x)
    return logs


def _schedule(path: _Path, temperatures: int, sweeps: int, rng: Streams) -> FloatArray:
    """β₀ = 0 … 1 in equal steps of ∫ s dβ, as a pilot run measures it."""
    x, beta, betas, lengths = path.first(rng), 0.0, [0.0], [0.0]
    while beta < 1.0:
        spread = max(float(path.difference(x).std()), 1e-30)  # Δ may be constant
        least = max(_SHORTEST * min(beta, 1.0 - beta), float(np.spacing(beta)))
        step = min(1.0 - beta, max(_STRIDE / spread, least))
        beta = 1.0 if step == 1.0 - beta else beta + step
        betas.append(beta)
        lengths.append(lengths[-1] + step * spread)
        sweep(rng, path.at(beta), x, 1, 1, sweeps, turn=True)
    return np.asarray(np.interp(np.linspace(0.0, lengths[-1], temperatures + 1), lengths, betas))


def _differences(path: _Path, chains: int, seed: int, key: int, beta: float, draws: int) -> FloatArray:
    """Δ along hybrid chains at β, with streams of their own for each key: (C, draws)."""
    rng = seed_streams(SeedSequence(seed, spawn_key=(key,)), chains)
    sampler = build_sampler("hybrid", path.at(beta), {})
    state = sampler.warm_up(rng, sampler.init(rng), sampler.default_warmup)
    angles = sampler.run(rng, state, draws)[1]
    return np.stack([path.difference(unit_vectors(own)) for own in angles])


def _change_of_variable(t: FloatArray, first: float, last: float) -> tuple[FloatArray, FloatArray]:
    """β(t) and dβ/dt at t in (0, 1)."""

    def length(beta: float) -> float:
        return float(beta + np.log1p(first * beta) + np.log1p(last) - np.log1p(last * (1.0 - beta)))

    total, exact = length(1.0), 1e-14 / (1.0 + first + last)
    betas = np.array([brentq(lambda beta, u=u: length(beta) - u * total, 0.0, 1.0, xtol=exact) for u in t])
    return betas, total / (1.0 + first / (1.0 + first * betas) + last / (1.0 + last * (1.0 - betas)))
