"""The pseudo-likelihood (Besag 1975): the product of each angle's density given all others, and its maximum.

With unit vectors ``x_i``, ``M = K⁻¹`` and the local field ``h_i = κ w_i e(ν) − Σ_{j≠i} M_ij x_j`` (weights w of the
drift: 1, or M 1), each angle given all others is von Mises, so the normalizer Z (``eq:Z_w_definition``) is not needed::

    log PL = Σ_i [h_i·x_i − log 2π I₀(|h_i|)],    g_i = ∂/∂h_i = x_i − A(|h_i|) h_i/|h_i|,    A = I₁/I₀

Its maximum, times the priors, is consistent and found in a fraction of a second. It is a fit in its own right, a start
for the samplers of the posterior, and its curvature gives them a first step.

With ``y = M x``, ``z = M g``, ``c_i = g_i·x_i`` and ``a_i = g_i·e``, and since ∂M = −M ∂K M, the derivative by the
kernel matrix is the symmetric part of

    ∂/∂K = z yᵀ − M diag(c) M − κ (M a) wᵀ        (the last term for w = M 1 only)

Here c_i > 0, because A < 1, so that the middle term is −B Bᵀ with B = M diag(√c): a gradient costs one factorization,
one inverse and one such product, 2 n³ operations in all.

With Vecchia's M = U Uᵀ, t = Uᵀx, γ = Uᵀg, τ = Uᵀ1 and α = Uᵀa, the derivative by an entry of U is

    ∂/∂U_ie = −g_i·t_e − γ_e·x_i + 2 c_i U_ie + κ (a_i τ_e + α_e)

and column u of U, from the kernel matrix C of a block of neighbors with the location itself last, is
``C⁻¹e / √(eᵀC⁻¹e)``; a derivative ū by it becomes ``−(C⁻¹ū) uᵀ + ½ (ū·u) u uᵀ`` by C.

Noisy observations are treated as exact ones with ``K + I/χ``: an approximation, since noise of concentration χ adds
about 1/χ to the variance of an angle.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy import special
from scipy.optimize import minimize_scalar

from vmqp import model
from vmqp.checks import check_count
from vmqp.circle import FloatArray, wrap
from vmqp.kernels.compiled import (
    Program,
    add_by_parameters,
    compile_kernel,
    numbers_at,
    rows_within,
    tile,
    tile_gradient,
)
from vmqp.kernels.embedding import embed, flat
from vmqp.kernels.inputs import Inputs
from vmqp.learning.objective import Ruled, check_problem, complete_angles, draw_complete, find_maximum
from vmqp.learning.optimum import Maximum, Search, starting_points, values_at
from vmqp.learning.problem import Problem
from vmqp.linalg.lapack import factorize, gram, i0e, i1e, invert
from vmqp.linalg.threads import one_blas_thread
from vmqp.precision.dense import SMALLEST_RCOND
from vmqp.precision.groups import groups_of_near
from vmqp.precision.vecchia import Graph, gather, make_graph, vecchia_column
from vmqp.priors import Prior
from vmqp.priors.compiled import Coordinates

__all__ = ["Observed", "log_pseudolikelihood", "maximize", "maximize_latent", "some_rows"]

DENSE = 600
"""Locations up to which a dense precision is the faster one."""
NEIGHBORS = 30
"""Neighbors of a location beyond."""

_PAIRS = 4096  # of a tile, so that it stays in the cache
_COLUMNS = 2000  # of U, in one part of the work
_RANKED, _CLIMBED = 60, (120, 600)  # locations that starts are compared on, and that are climbed on first
_GROUP = 15  # of them that are near each other
_CLIMBS = 2
_ROUGH, _FINE = 1e-6, 1e-9  # where a climb ends: relative to the value
_REACH = 12.0  # of a search for χ, on the unconstrained scale
_REFRESH = 100  # steps of the sampler at new values, from where it stood


@njit(cache=True, nogil=True, error_model="numpy")
def _site(h0, h1, x0, x1):  # type: ignore[no-untyped-def]
    """log vM(x; h), and its derivative by h."""
    size = math.sqrt(h0 * h0 + h1 * h1)
    dot, cross = h0 * x0 + h1 * x1, h0 * x1 - h1 * x0
    # |h| − h·x loses all digits to cancellation for a large field; (h×x)² = |h|² − (h·x)² gives them back.
    gap = cross * cross / (size + dot) if dot > 0.0 else size - dot
    zero = i0e(size)
    ratio = i1e(size) / (size * zero) if size > 1e-150 else 0.5
    return -gap - math.log(2.0 * math.pi * zero), x0 - ratio * h0, x1 - ratio * h1


@njit(cache=True, nogil=True, error_model="numpy")
def _sites(x, y, diagonal, weights, kappa, nu, terms, g, slopes):  # type: ignore[no-untyped-def]
    """The sum over all sites, its terms, g, (2, n), and the derivatives by κ and ν."""
    ec, es = math.cos(nu), math.sin(nu)
    value = by_kappa = by_nu = 0.0
    for i in range(x.shape[1]):
        pull = kappa * weights[i]
        h0 = pull * ec - y[0, i] + diagonal[i] * x[0, i]
        h1 = pull * es - y[1, i] + diagonal[i] * x[1, i]
        terms[i], g[0, i], g[1, i] = _site(h0, h1, x[0, i], x[1, i])
        value += terms[i]
        by_kappa += weights[i] * (g[0, i] * ec + g[1, i] * es)
        by_nu += pull * (g[1, i] * ec - g[0, i] * es)
    slopes[0], slopes[1] = by_kappa, by_nu
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _norm(matrix, sums):  # type: ignore[no-untyped-def]
    """The largest sum of absolute values in a row of a symmetric matrix, from its lower triangle."""
    for a in range(matrix.shape[0]):
        total = 0.0
        for b in range(a):
            size = abs(matrix[a, b])
            total += size
            sums[b] += size
        sums[a] = total + abs(matrix[a, a])
    return sums.max()


@njit(cache=True, nogil=True, error_model="numpy")
def _dense(  # type: ignore[no-untyped-def]
    steps, sources, scales, points, theta, x, mean, known, shared, wanted, M, W, buffers, terms, by_theta
):
    """log PL; −inf where K has no factor. With `wanted`, the gradient by θ too."""
    n, most = x.shape[1], buffers.shape[2]
    numbers, kappa, nu = numbers_at(theta, sources, scales), theta[-3], theta[-2]
    squares, values, tape = buffers[0], buffers[1], buffers[2]
    added = 1.0 / theta[-1] if shared else 0.0
    low = 0
    while low < n:
        high = rows_within(low, n, most)
        tile(steps, numbers, points, low, high, squares, values)
        p = 0
        for a in range(low, high):
            M[a, : a + 1] = values[-1, p : p + a + 1]
            M[a, a] += known[a] + added
            p += a + 1
        low = high
    weights, diagonal = np.ones(n), np.empty(n)
    norm = _norm(M, weights)
    if not (norm < np.inf and factorize(M) and invert(M)):
        return -np.inf
    if not 1.0 / norm / _norm(M, weights) >= SMALLEST_RCOND:
        return -np.inf
    for a in range(n):
        diagonal[a], weights[a] = M[a, a], 1.0
        for b in range(a):
            M[b, a] = M[a, b]
    if mean:
        for a in range(n):
            weights[a] = M[a].sum()
    y, g, slopes = np.dot(x, M), np.empty((2, n)), np.empty(2)
    value = _sites(x, y, diagonal, weights, kappa, nu, terms, g, slopes)
    if not wanted or not math.isfinite(value):
        return value
    z, along = np.dot(g, M), kappa * (math.cos(nu) * g[0] + math.sin(nu) * g[1])
    drift = np.dot(along, M) if mean else along
    for a in range(n):
        diagonal[a] = math.sqrt(max(g[0, a] * x[0, a] + g[1, a] * x[1, a], 0.0))
    for a in range(n):
        for b in range(n):
            M[a, b] *= diagonal[b]
    gram(M, W)
    by_extra, by_numbers = 0.0, np.zeros(len(sources))
    low = 0
    while low < n:
        high = rows_within(low, n, most)
        if low > 0 or high < n:  # else they are still there
            tile(steps, numbers, points, low, high, squares, values)
        p = 0
        for a in range(low, high):
            row = tape[-1, p : p + a + 1]
            for b in range(a + 1):
                row[b] = z[0, a] * y[0, b] + z[0, b] * y[0, a] + z[1, a] * y[1, b] + z[1, b] * y[1, a]
                row[b] -= 2.0 * W[a, b]
                if mean:
                    row[b] -= drift[a] * weights[b] + drift[b] * weights[a]
            row[a] *= 0.5
            by_extra += row[a]
            p += a + 1
        tile_gradient(steps, numbers, points, low, high, squares, values, tape, by_numbers)
        low = high
    by_theta[:] = 0.0
    add_by_parameters(theta, sources, scales, by_numbers, by_theta)
    by_theta[-3], by_theta[-2], by_theta[-1] = slopes[0], slopes[1], -by_extra * added * added
    return value


class Dense:
    """log PL of n angles with a dense precision.

    Parameters
    ----------
    program : Program
        The kernel on the n locations.
    x : ndarray of shape (2, n)
        Cosines and sines of the angles.
    mean : bool
        Whether the drift has the weights M 1, and not 1.
    known : ndarray of shape (n,)
        What is added to the diagonal of K.
    shared : bool
        Whether 1/χ is added too.
    """

    def __init__(self, program: Program, x: FloatArray, mean: bool, known: FloatArray, shared: bool) -> None:
        n = x.shape[1]
        self.terms = np.empty(n)
        """The log density of each angle given all others, at the last call."""
        most = min(max(_PAIRS, n), n * (n + 1) // 2)
        self._given = program.steps, program.sources, program.scales, program.points
        self._data = x, mean, known, shared
        self._work = np.empty((n, n)), np.empty((n, n)), np.empty((3, len(program.steps), most)), self.terms

    def __call__(self, theta: FloatArray, wanted: bool, by_theta: FloatArray) -> float:
        """The value at θ, the parameters of the kernel, κ, ν and χ; its gradient, where it is wanted, in `by_theta`."""
        value: float = _dense(*self._given, theta, *self._data, wanted, *self._work, by_theta)
        return value


@njit(cache=True, nogil=True, error_model="numpy")
def _block(steps, numbers, points, extra, neighbors, count, last, own, squares, values):  # type: ignore[no-untyped-def]
    """The kernel matrix of a block of neighbors with the location itself last; its lower triangle, row by row."""
    gather(points, neighbors, count, last, own)
    tile(steps, numbers, own, 0, count + 1, squares, values)
    triangle = values[-1]
    for a in range(count):
        triangle[a * (a + 3) // 2] += extra[neighbors[a]]
    triangle[count * (count + 3) // 2] += extra[last]
    return triangle


@njit(cache=True, nogil=True, error_model="numpy")
def _columns(steps, numbers, points, extra, first, last, neighbors, counts, slots, U):  # type: ignore[no-untyped-def]
    """Columns of U from `first` to before `last`; False where a block has no factor."""
    k = slots.shape[1] - 1
    pairs = (k + 1) * (k + 2) // 2
    lower, work, own = np.empty((k + 1, k + 1)), np.empty(k + 1), np.empty((points.shape[0], k + 1))
    squares, values = np.empty((steps.shape[0], pairs)), np.empty((steps.shape[0], pairs))
    for e in range(first, last):
        block = _block(steps, numbers, points, extra, neighbors[e], counts[e], e, own, squares, values)
        if not vecchia_column(block, counts[e], slots[e], lower, work, U, 0.0):
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _columns_gradient(  # type: ignore[no-untyped-def]
    steps,
    numbers,
    points,
    extra,
    first,
    last,
    neighbors,
    counts,
    slots,
    U,
    x,
    g,
    c,
    along,
    t,
    s,
    mean,
    by_numbers,
):
    """Add to the gradient by the numbers what some columns of U contribute; return that by `extra`."""
    k = slots.shape[1] - 1
    pairs = (k + 1) * (k + 2) // 2
    lower, work, own = np.empty((k + 1, k + 1)), np.empty(k + 1), np.empty((points.shape[0], k + 1))
    squares, values = np.empty((steps.shape[0], pairs)), np.empty((steps.shape[0], pairs))
    tape, scratch, places = np.empty((steps.shape[0], pairs)), np.empty(k + 1), np.arange(k + 1)
    column, back, by_extra = np.empty(k + 1), np.empty(k + 1), 0.0
    for e in range(first, last):
        count = counts[e]
        block = _block(steps, numbers, points, extra, neighbors[e], count, e, own, squares, values)
        vecchia_column(block, count, places[: count + 1], lower, work, scratch, 0.0)
        dot = 0.0
        for a in range(count + 1):
            i = neighbors[e, a] if a < count else e
            column[a] = scratch[a]
            back[a] = 2.0 * c[i] * column[a] - g[0, i] * t[0, e] - g[1, i] * t[1, e]
            back[a] -= s[0, e] * x[0, i] + s[1, e] * x[1, i]
            if mean:
                back[a] += along[i] * t[2, e] + s[2, e]
            dot += back[a] * column[a]
        for a in range(count + 1):  # C⁻¹ū by both triangles of the factor
            for b in range(a):
                back[a] -= lower[a, b] * back[b]
            back[a] /= lower[a, a]
        for a in range(count, -1, -1):
            back[a] /= lower[a, a]
            for b in range(a):
                back[b] -= lower[a, b] * back[a]
        p = 0
        for a in range(count + 1):
            for b in range(a + 1):
                tape[-1, p] = dot * column[a] * column[b] - back[a] * column[b] - back[b] * column[a]
                p += 1
            tape[-1, p - 1] *= 0.5
            by_extra += tape[-1, p - 1]
        tile_gradient(steps, numbers, own, 0, count + 1, squares, values, tape, by_numbers)
    return by_extra


@njit(cache=True, nogil=True)
def _rows(starts, columns, U, v, mean, t, y, diagonal, weights):  # type: ignore[no-untyped-def]
    """t = Uᵀv for both columns of v and for ones, y = U t of the former, the diagonal of M and its row sums."""
    n = v.shape[1]
    t[:] = 0.0
    for i in range(n):
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            j, value = columns[e], U[e]
            t[0, j] += value * v[0, i]
            t[1, j] += value * v[1, i]
            t[2, j] += value * v[2, i]
            total += value * value
        diagonal[i] = total
    for i in range(n):
        a = b = c = 0.0
        for e in range(starts[i], starts[i + 1]):
            j, value = columns[e], U[e]
            a += value * t[0, j]
            b += value * t[1, j]
            c += value * t[2, j]
        y[0, i], y[1, i] = a, b
        weights[i] = c if mean else 1.0


class Sparse:
    """log PL of n angles with Vecchia's precision on a graph of neighbors.

    The gradient is summed in parts of fixed size, so that it is the same over any number of threads.
    """

    def __init__(
        self,
        program: Program,
        x: FloatArray,
        mean: bool,
        known: FloatArray,
        shared: bool,
        graph: Graph,
        workers: int,
    ) -> None:
        self.program, self.x, self.mean, self.graph, self.workers = program, x, mean, graph, workers
        self.known, self.shared = known, shared
        n = x.shape[1]
        self.terms = np.empty(n)
        self._U = np.empty(len(graph.pattern.columns))
        self._v = np.concatenate([x, np.ones((1, n))])
        self._parts = [(first, min(first + _COLUMNS, n)) for first in range(0, n, _COLUMNS)]

    def _over_parts(self, work: Callable[[tuple[int, int]], float]) -> list[float]:
        if self.workers == 1 or len(self._parts) == 1:
            return [work(part) for part in self._parts]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(work, self._parts))

    def __call__(self, theta: FloatArray, wanted: bool, by_theta: FloatArray) -> float:
        """As `Dense` has it."""
        program, graph, n = self.program, self.graph, self.x.shape[1]
        starts, columns = graph.pattern.starts, graph.pattern.columns
        kappa, nu, added = theta[-3], theta[-2], 1.0 / theta[-1] if self.shared else 0.0
        numbers = numbers_at(theta, program.sources, program.scales)
        given = program.steps, numbers, program.points, self.known + added

        def fill(part: tuple[int, int]) -> float:
            return float(_columns(*given, *part, graph.neighbours, graph.counts, graph.slots, self._U))

        if not all(self._over_parts(fill)):
            return -math.inf
        t, y, diagonal, weights = np.empty((3, n)), np.empty((2, n)), np.empty(n), np.empty(n)
        _rows(starts, columns, self._U, self._v, self.mean, t, y, diagonal, weights)
        g, slopes = np.empty((3, n)), np.empty(2)
        value: float = _sites(self.x, y, diagonal, weights, kappa, nu, self.terms, g, slopes)
        if not wanted or not math.isfinite(value):
            return value
        c = g[0] * self.x[0] + g[1] * self.x[1]
        g[2] = along = kappa * (math.cos(nu) * g[0] + math.sin(nu) * g[1])
        s = np.empty((3, n))
        _rows(starts, columns, self._U, g, self.mean, s, y, diagonal, weights)
        found = np.zeros((len(self._parts), len(numbers)))

        def differentiate(part: tuple[int, int]) -> float:
            return float(
                _columns_gradient(
                    *given,
                    *part,
                    graph.neighbours,
                    graph.counts,
                    graph.slots,
                    self._U,
                    self.x,
                    g,
                    c,
                    along,
                    t,
                    s,
                    self.mean,
                    found[part[0] // _COLUMNS],
                )
            )

        by_added = math.fsum(self._over_parts(differentiate))
        by_theta[:] = 0.0
        add_by_parameters(theta, program.sources, program.scales, found.sum(axis=0), by_theta)
        by_theta[-3:] = *slopes, -by_added * added * added
        return value


def _rule(h: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log PL, (...), and its derivative by h, (..., d, 2)."""
    size = np.hypot(h[..., 0], h[..., 1])
    dot = np.sum(h * x, axis=-1)
    cross = h[..., 0] * x[..., 1] - h[..., 1] * x[..., 0]
    # |h| − h·x loses all digits to cancellation for a large field; (h×x)² = |h|² − (h·x)² gives them back.
    sharp = dot > 0.0
    gap = np.where(sharp, cross**2 / np.where(sharp, size + dot, 1.0), size - dot)
    ratio = np.divide(
        special.i1e(size), size * special.i0e(size), out=np.full_like(size, 0.5), where=size > 1e-150
    )
    return -np.sum(gap + np.log(2.0 * np.pi * special.i0e(size)), axis=-1), x - ratio[..., None] * h


def log_pseudolikelihood(angles: npt.ArrayLike, M: FloatArray, field: FloatArray) -> FloatArray:
    """Return ``Σ_i log p(φ_i | the other angles)``, shape (...), of angles (..., d).

    >>> import numpy as np
    >>> from scipy.stats import vonmises
    >>> value = log_pseudolikelihood([0.3], np.array([[2.0]]), np.array([[1.5, 0.0]]))
    >>> bool(np.isclose(value, vonmises(1.5).logpdf(0.3)))
    True
    """
    return _rule(model.local_field(angles, M, field), model.unit_vectors(angles))[0]


class Observed:
    """The log pseudo-likelihood of observed angles, times their priors: value and gradient by t.

    Parameters
    ----------
    problem : Problem
        The model and its data; its kernel has a compiled form.
    rows : ndarray of int, optional
        Observed rows; all by default.
    at : ndarray, optional
        Kernel parameters, on the unconstrained scale of t, in whose metric neighbors are chosen beyond `DENSE` rows.
    prior : bool
        Whether the log prior is added.
    workers : int
        Threads, where the precision is sparse.
    """

    def __init__(
        self,
        problem: Problem,
        rows: npt.NDArray[np.intp] | None = None,
        *,
        at: FloatArray | None = None,
        prior: bool = True,
        workers: int = 1,
    ) -> None:
        rows = np.arange(problem.n) if rows is None else rows
        self.problem, self.rows, self.prior = problem, rows, prior
        self.X = problem.X[rows]
        self.x = np.stack([np.cos(problem.observed[rows]), np.sin(problem.observed[rows])])
        self.names = problem.learned
        inputs, kernel = Inputs(self.X, problem.column_names), problem.named.parameters
        program = compile_kernel(problem.kernel, inputs)
        assert program is not None, "the kernel has a compiled form"
        self.program: Program = program
        self._coordinates = Coordinates([problem.priors[name] for name in self.names])
        # θ: the parameters of the kernel, κ, ν and χ
        nu = 0.0 if problem.no_drift else problem.direction.typical()
        shared = problem.noise is not None and problem.noise_rows is None
        chi = 0.0 if problem.noise is None else problem.noise.typical()
        fixed = [own.typical() for own in kernel.values()]
        self._theta = np.array([*fixed, problem.concentration.typical(), nu, chi])
        self._by_theta = np.zeros_like(self._theta)
        order = [*kernel, "concentration", "direction", "noise"]
        self._places = np.array([order.index(name) for name in self.names], dtype=np.intp)
        known = np.zeros(len(rows)) if problem.noise_rows is None else 1.0 / problem.noise_rows[rows]
        given = program, self.x, problem.drift == "mean", known, shared
        self._rule: Dense | Sparse
        if len(rows) <= DENSE:
            self._rule = Dense(*given)
        else:
            near = None if at is None else flat(problem.kernel, list(kernel), values_at(self, at))
            points = embed(problem.kernel, inputs, near)
            self._rule = Sparse(*given, make_graph(points, 0, NEIGHBORS, workers), workers)

    def _evaluate(self, t: FloatArray, wanted: bool) -> float:
        """The value; its gradient by θ stays in place."""
        log_prior = self._coordinates.move(t)
        self._theta[self._places] = self._coordinates.x
        value = self._rule(self._theta, wanted, self._by_theta)
        return value + log_prior if self.prior else value

    def value(self, t: FloatArray) -> float:
        """The value; −inf where the kernel matrix has no usable factor."""
        value = self._evaluate(t, False)
        return value if math.isfinite(value) else -math.inf

    def value_and_gradient(self, t: FloatArray) -> tuple[float, FloatArray] | None:
        """The value and its gradient by t; None where the kernel matrix has no usable factor."""
        value = self._evaluate(t, True)
        if not math.isfinite(value):
            return None
        gradient = self._by_theta[self._places] * self._coordinates.stretches
        return value, gradient + self._coordinates.slopes if self.prior else gradient

    def pointwise(self, t: FloatArray) -> FloatArray:
        """The log density of each angle given all others, without the prior, (rows,)."""
        self._evaluate(t, False)
        return self._rule.terms.copy()

    def covariance(self, t: FloatArray) -> FloatArray:
        """The kernel matrix of the first locations, for an error that names rows."""
        problem = self.problem
        own = problem.kernel_values(problem.values(t))
        return problem.kernel.bind(self.X[:DENSE], problem.column_names).covariance(own)


def maximize(
    problem: Problem,
    *,
    angles: npt.ArrayLike | None = None,
    rows: npt.NDArray[np.intp] | None = None,
    prior: bool = True,
    start: FloatArray | None = None,
    workers: int = 1,
    deadline: float = math.inf,
) -> Maximum:
    """Return the parameters with the largest pseudo-likelihood, times their prior if `prior`.

    By default it is that of the n observed locations alone, or of some `rows` of them. With `angles`, (draws, d), it is
    the mean of log PL over draws of all d angles. The search begins at `start` and nowhere else, where it is given, and
    ends where it is when `time.monotonic()` reaches the deadline.

    >>> import numpy as np
    >>> from vmqp import kernels, priors
    >>> from vmqp.learning.problem import make_problem
    >>> X = np.linspace(0.0, 5.0, 30)[:, None]
    >>> kernel = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1))
    >>> maximum = maximize(make_problem(X, np.sin(X[:, 0]), kernel=kernel))
    >>> maximum.converged, list(maximum.values), maximum.covariance.shape
    (True, ['variance', 'lengthscale', 'concentration', 'direction'], (3, 3))
    """
    check_problem(problem)
    if angles is not None or not is_compiled(problem):
        return find_maximum(problem, _rule, angles=angles, prior=prior)
    whole = np.arange(problem.n) if rows is None else rows
    # Several threads would wait for each other on matrices of this size, and for chains that run beside.
    with one_blas_thread():
        if start is not None:
            search = Search(Observed(problem, whole, at=start, prior=prior, workers=workers), deadline)
            search.climb([start], 1)
            return search.maximum(start)
        sizes = [size for size in _CLIMBED if 1.25 * size < len(whole)] if problem.learned else []
        part, starts = _first_climb(
            problem,
            some_rows(problem, sizes[0], whole) if sizes else whole,
            prior,
            _ROUGH if sizes else _FINE,
        )
        for size in [*sizes[1:], len(whole)] if sizes and part.best is not None else []:
            near, fewer = part.best, len(part.objective.X)
            assert near is not None
            chosen = whole if size == len(whole) else some_rows(problem, size, whole)
            # The curvature grows with the number of observations.
            covariance = part.inverse_curvature(near, part.gradient) * (fewer / len(chosen))
            part = Search(Observed(problem, chosen, at=near, prior=prior, workers=workers), deadline)
            part.climb_scaled(near, covariance)
        return part.maximum(starts[0])


def _first_climb(
    problem: Problem, rows: npt.NDArray[np.intp], prior: bool, tolerance: float
) -> tuple[Search, list[FloatArray]]:
    """Climb from the best of many points."""
    search, few = Search(Observed(problem, rows, prior=prior)), some_rows(problem, _RANKED, rows)
    ranking = search if len(few) == len(rows) else Search(Observed(problem, few, prior=prior))
    starts = starting_points(search.objective)
    starts = ranking.ranked(starts)[: 2 * _CLIMBS] or starts
    search.climb(starts, _CLIMBS, tolerance)
    return search, starts


def is_compiled(problem: Problem) -> bool:
    """Whether the kernel has a compiled form."""
    return compile_kernel(problem.kernel, Inputs(problem.X[:1], problem.column_names)) is not None


def some_rows(
    problem: Problem, count: int, rows: npt.NDArray[np.intp] | None = None, group: int = _GROUP
) -> npt.NDArray[np.intp]:
    """About `count` of the observed rows in groups of near ones, so that short and long distances are among them."""
    every = np.arange(problem.n) if rows is None else rows
    if len(every) <= count:
        return every
    points = embed(problem.kernel, Inputs(problem.X[every], problem.column_names))
    return every[groups_of_near(points, count, group)]


def maximize_latent(problem: Problem, *, rounds: int = 10, draws: int = 200, seed: int = 0) -> Maximum:
    """Return the maximum of the pseudo-likelihood of all d places, averaged over the angles that are not known.

    Each round draws the latent angles at the current values and maximizes the mean of log PL over the draws; χ has
    its own likelihood given the latent angles. The answer is the mean over the last half of the rounds. Its
    covariance is the curvature with the angles known, which is too narrow where many are not.

    >>> import numpy as np
    >>> from vmqp import kernels, priors
    >>> from vmqp.learning.problem import make_problem
    >>> X = np.linspace(0.0, 5.0, 20)[:, None]
    >>> kernel = priors.HalfNormal(1) * kernels.Exponential(1.0)
    >>> problem = make_problem(X, np.sin(X[:, 0]), X[:5] + 0.1, kernel=kernel)
    >>> list(maximize_latent(problem, rounds=2, draws=20).values)
    ['variance', 'concentration', 'direction']
    """
    rounds = check_count(rounds, "rounds", 1, "rounds of drawing and maximising")
    draws = check_count(draws, "draws", 1, "draws of the latent angles in each round")
    seed = check_count(seed, "seed", 0, "a stream of random numbers")
    first = maximize(problem)
    if problem.latent.start == problem.d:
        return first
    values, angles = dict(first.values), None
    trace: list[FloatArray] = []
    noises: list[float] = []
    with one_blas_thread():
        for own in np.random.SeedSequence(seed).generate_state(rounds):
            angles = draw_complete(
                problem,
                values,
                draws=draws,
                seed=int(own),
                warmup=None if angles is None else _REFRESH,
                initial=None if angles is None else angles[-1],
            )
            complete = complete_angles(problem, angles)
            start = np.array(
                [float(problem.priors[name].to_unconstrained(values[name])) for name in complete.names]
            )
            search = Search(Ruled(complete, _rule, prior=True))
            search.climb([start], 1)
            best = start if search.best is None else search.best
            trace.append(best)
            values |= complete.values(best)
            if problem.noise is not None and not problem.noise.is_fixed:
                noises.append(_best_noise(problem.noise, problem.observed, angles[:, : problem.n]))
                values["noise"] = float(problem.noise.from_unconstrained(noises[-1]))
        late = np.array(trace[rounds // 2 :])
        turning = np.array(complete.names) == "direction"
        late[:, turning] = late[0, turning] + wrap(late[:, turning] - late[0, turning])
        mean = late.mean(axis=0)
        found = search.at(mean) or search.maximum(best)
    chi = None
    if noises and problem.noise is not None:
        chi = float(problem.noise.from_unconstrained(np.mean(noises[rounds // 2 :])))
    # An average is no maximum of the last draws; it has converged if the rounds do not move on.
    moved = np.abs(late[-1] - late[0])[: len(found.u)]
    settled = bool((moved <= np.sqrt(np.diagonal(found.covariance))).all())
    return replace(found, noise=chi, settled=settled)


def _best_noise(noise: Prior, observed: FloatArray, latent: FloatArray) -> float:
    """Return the unconstrained χ that is most probable given the latent angles, (draws, n)."""
    # eq:noisy: χ Σ_i cos(θ_i − φ_i) − n log I₀(χ), with the cosines averaged over the draws.
    gap = float(np.sum(2.0 * np.sin(0.5 * (latent - observed)) ** 2)) / len(latent)
    centre = float(noise.to_unconstrained(noise.typical()))

    def down(u: float) -> float:
        chi = float(noise.from_unconstrained(u))
        fit = -chi * gap - len(observed) * float(np.log(special.i0e(chi)))
        return -fit - float(noise.log_density(chi)) - float(noise.log_jacobian(u))

    return float(minimize_scalar(down, bounds=(centre - _REACH, centre + _REACH), method="bounded").x)
