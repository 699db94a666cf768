"""The projected process: radii and parameters, kept and joint draws, rotations, and chains that are cut anywhere.

Statistical tests fail by chance with the probability RATE = 1e-6; seeds are fixed.
"""

import numpy as np
import pytest
from scipy import stats

from exact_peers import covariance_of_parts, matrix_of
from references import RATE
from vmqp import kernels
from vmqp.laws import projected_normal
from vmqp.learning import make_problem
from vmqp.peers import projected as room
from vmqp.peers import stretch as stretch_room
from vmqp.peers.collapsed import find_frame
from vmqp.peers.locations import NewLocations, factor_of
from vmqp.peers.projected import ProjectedTask
from vmqp.priors import LogNormal

TWO_PI = 2.0 * np.pi
KERNEL = 1.0 * kernels.Exponential(LogNormal(0.0, 0.8)) + kernels.Nugget(LogNormal(-2.0, 0.8))
LOCATIONS = np.array([0.0, 0.4, 1.1, 1.5, 2.6, 3.0])[:, None]
NEW = np.array([[0.7], [3.5], [3.6]])
ANGLES = np.array([0.2, 0.9, 2.8, -2.9, -1.5, 0.1])
SCALES = {"mean_scale": 1.7, "stretch_scale": 0.6}


def task_of(angles=ANGLES, X=LOCATIONS, kernel=KERNEL, warmup=40, thin=1, **scales):
    problem = make_problem(X, angles, kernel=kernel, concentration=0.0)
    return ProjectedTask(problem, warmup, thin, **SCALES | scales)


def wrap(values):
    return np.mod(np.asarray(values) + np.pi, TWO_PI) - np.pi


def whole(problem, values):
    """The kernel matrix of the observed and the new locations."""
    return problem.kernel.bind(np.concatenate([problem.X, NEW])).covariance(values)


def turned(e, c):
    return np.array([[np.cos(c), -np.sin(c)], [np.sin(c), np.cos(c)]]) @ e


@pytest.fixture
def walker():
    task = task_of()
    state, _ = task.advance(task.start(1, 0), 60)
    return task.walker(state)


POINTS = [((0.1, -2.0), (0.0, 0.0)), ((-0.8, -1.0), (0.7, -0.2)), ((0.9, -3.0), (-1.5, 1.0))]


def level_of_vectors(task, u, e, radii):
    """Log density of the vectors with the mean in their covariance, and of the parameters."""
    values = task.problem.values(u)
    C = covariance_of_parts(task.problem.bound.covariance(values), e, SCALES["mean_scale"])
    parts = (radii[:, None] * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)).ravel()
    prior = sum(
        stats.norm(task.problem.priors[name].mu, task.problem.priors[name].sigma).logpdf(own)
        for name, own in zip(task.problem.exchanged, u, strict=True)
    )
    prior += stats.norm(0.0, SCALES["stretch_scale"]).logpdf(e).sum()
    return prior + stats.multivariate_normal(np.zeros(12), C).logpdf(parts)


def test_the_target_is_the_density_of_the_vectors(walker):
    """Σ log r and the change to coordinates come on top: both are taken by differences here."""
    task, rng = walker._task, np.random.default_rng(1)
    gaps = []
    for u, e in POINTS:
        u, e = np.array(u), np.array(e)
        radii = np.exp(0.4 * rng.normal(size=6))
        point = walker._point(u, e, factor_of(task.problem, task.problem.values(u)))
        frame = find_frame(point.A, np.ones(6))
        rest, h = frame.rest(radii), 1e-6
        slopes = [
            (frame.radii(rest + h * unit) - frame.radii(rest - h * unit)) / (2.0 * h) for unit in np.eye(6)
        ]
        jacobian = np.linalg.slogdet(np.array(slopes))[1]  # of r by its coordinates
        expected = level_of_vectors(task, u, e, radii) + np.log(radii).sum() + jacobian
        gaps.append(room._log_density(point, radii, frame) - expected)
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-6)


def test_the_level_of_the_stretch_is_the_density_of_the_vectors(walker):
    M, radii = walker._factor.M, walker._radii
    z = np.stack([radii * np.cos(ANGLES), radii * np.sin(ANGLES)], axis=1)
    weights = M.sum(axis=1)
    G, g = z.T @ M @ z, weights @ z
    given, own = np.array([G[0, 0], G[0, 1], G[1, 1]]), (np.empty(3), np.empty(2))
    stretch_room._sums(M, weights, np.cos(ANGLES), np.sin(ANGLES), radii, *own)
    np.testing.assert_allclose(own[0], given, rtol=1e-10)
    np.testing.assert_allclose(own[1], g, rtol=1e-10)
    K = walker._problem.bound.covariance(walker._problem.values(walker._u))
    gaps = []
    for e in ((0.0, 0.0), (0.4, 0.1), (-1.0, 2.0)):
        C = covariance_of_parts(K, np.array(e), SCALES["mean_scale"])
        expected = stats.multivariate_normal(np.zeros(12), C).logpdf(z.ravel())
        found = stretch_room._level(np.array(e), given, g, weights.sum(), SCALES["mean_scale"])
        gaps.append(found - expected)
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-8)


@pytest.mark.parametrize("e", [(0.0, 0.0), (1e-10, 0.0), (0.5, 0.0), (-0.3, 2.0)])
def test_the_stretch_has_determinant_one_and_its_long_axis_at_half_its_angle(e):
    T = room._matrix(np.array(e))
    np.testing.assert_allclose(T, matrix_of(e), rtol=1e-12, atol=1e-15)
    assert np.linalg.det(T) == pytest.approx(1.0)
    np.testing.assert_allclose(T @ room._matrix(-np.array(e)), np.eye(2), atol=1e-12)
    half = 0.5 * np.arctan2(e[1], e[0])
    axis = np.array([np.cos(half), np.sin(half)])
    np.testing.assert_allclose(T @ axis, np.exp(np.hypot(*e)) * axis, rtol=1e-12)


def joint(walker, draw, rng):
    """New angles together at one draw."""
    problem = walker._problem
    given = NewLocations(problem, NEW).given({name: draw.parameters[name] for name in problem.exchanged})
    return walker._task.joint(draw.parameters, draw.pointwise["latent/radius"], given, rng)


def p_values(walker, draw_jointly=joint):
    """Many draws from one state: the mean vector, the angle at each new location, and how these depend on each other.

    The last are compared with angles of vectors from the covariance of all of them.
    """
    radii, e = walker._radii.copy(), walker._e.copy()
    values = walker._problem.values(walker._u)
    K, T = whole(walker._problem, values), matrix_of(e)
    n, m = 6, 3
    s2 = SCALES["mean_scale"] ** 2
    # μ, the observed vectors and the new ones, all in one covariance.
    ones = np.ones((n + m + 1, n + m + 1))
    own = np.zeros((n + m + 1, n + m + 1))
    own[1:, 1:] = K
    C = np.kron(own, T) + s2 * np.kron(ones, np.eye(2))
    known = np.arange(2, 2 + 2 * n)
    rest = np.setdiff1d(np.arange(len(C)), known)
    z = (radii[:, None] * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)).ravel()
    slope = np.linalg.solve(C[np.ix_(known, known)], C[np.ix_(known, rest)])
    mean, covariance = z @ slope, C[np.ix_(rest, rest)] - C[np.ix_(rest, known)] @ slope
    drawn = [walker.draw() for _ in range(1500)]
    found = np.array([[draw.parameters["mean_x"], draw.parameters["mean_y"]] for draw in drawn])
    white = np.linalg.solve(np.linalg.cholesky(covariance[:2, :2]), (found - mean[:2]).T)
    found = [stats.kstest(row, "norm").pvalue for row in white]
    rng = np.random.default_rng(7)
    every = np.array([draw_jointly(walker, draw, rng)[0] for draw in drawn])
    line = np.linspace(-np.pi, np.pi, 4001)
    for i in range(m):
        at = slice(2 + 2 * i, 4 + 2 * i)
        S = covariance[at, at]
        density = np.exp(projected_normal(line, *mean[at], S[0, 0], S[0, 1], S[1, 1]))
        mass = np.append(0.0, np.cumsum(0.5 * (density[1:] + density[:-1]) * (line[1] - line[0])))
        found.append(
            stats.kstest(every[:, i], lambda x, mass=mass: np.interp(x, line, mass / mass[-1])).pvalue
        )
    root = np.linalg.cholesky(covariance[2:, 2:])
    vectors = (mean[2:] + rng.standard_normal((100_000, 2 * m)) @ root.T).reshape(-1, m, 2)
    exact = np.arctan2(vectors[..., 1], vectors[..., 0])
    for i, j in ((0, 1), (0, 2), (1, 2)):
        apart = [np.abs(wrap(angles[:, i] - angles[:, j])) for angles in (every, exact)]
        found.append(stats.ks_2samp(*apart).pvalue)
    return found


def test_joint_draws_condition_on_the_latent_vectors(walker):
    assert min(p_values(walker)) > RATE


def test_independent_draws_in_place_of_joint_ones_are_caught(walker):
    """The distribution of each location alone is right, and together they are not."""

    def alone(walker, draw, rng):
        _, own = joint(walker, draw, rng)
        x, y, xx, xy, yy = (own[f"projected/{name}"] for name in ("x", "y", "xx", "xy", "yy"))
        roots = np.linalg.cholesky(np.moveaxis(np.array([[xx, xy], [xy, yy]]), -1, 0))
        z = np.stack([x, y], 1) + np.einsum("iab,ib->ia", roots, rng.standard_normal((len(x), 2)))
        return np.arctan2(z[:, 1], z[:, 0]), own

    found = p_values(walker, alone)
    assert min(found[:-3]) > RATE
    assert min(found[-3:]) < RATE


def test_distributions_of_a_draw_are_those_of_its_latent_vectors(walker):
    draw = walker.draw()
    values = walker._problem.values(walker._u)
    K, T = whole(walker._problem, values), matrix_of(walker._e)
    z = walker._radii[:, None] * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
    mean = np.array([draw.parameters["mean_x"], draw.parameters["mean_y"]])
    slope = np.linalg.solve(K[:6, :6], K[:6, 6:])
    own = joint(walker, draw, np.random.default_rng(1))[1] | draw.pointwise
    np.testing.assert_allclose(
        np.stack([own["projected/x"], own["projected/y"]], 1), mean + slope.T @ (z - mean), rtol=1e-8
    )
    spread = (K[6:, 6:] - K[6:, :6] @ slope).diagonal()
    for name, entry in (("xx", T[0, 0]), ("xy", T[0, 1]), ("yy", T[1, 1])):
        np.testing.assert_allclose(own[f"projected/{name}"], entry * spread, rtol=1e-8)
    for i in range(6):
        rest = np.delete(np.arange(6), i)
        part = np.linalg.solve(K[np.ix_(rest, rest)], K[rest, i])
        centre, variance = mean + part @ (z[rest] - mean), K[i, i] - K[i, rest] @ part
        expected = projected_normal(ANGLES[i], *centre, *(variance * T[[0, 0, 1], [0, 1, 1]]))
        assert own["log_likelihood/angle"][i] == pytest.approx(float(expected), abs=1e-8)


# Equivariance


@pytest.mark.parametrize("turn", [1.0, np.pi, -2.5])
def test_a_turn_of_the_data_turns_the_target(turn, walker):
    """The distribution of radii and parameters is the same where e is turned by twice as much: also across the cut."""
    other = task_of(wrap(ANGLES + turn)).walker(walker.state())
    for u, e in POINTS:
        u, e = np.array(u), np.array(e)
        factor = factor_of(walker._problem, walker._problem.values(u))
        one, two = walker._point(u, e, factor), other._point(u, turned(e, 2.0 * turn), factor)
        np.testing.assert_allclose(two.A, one.A, rtol=1e-9, atol=1e-11)
        assert two.log_normalizer == pytest.approx(one.log_normalizer, rel=1e-12)


@pytest.mark.parametrize("turn", [1.0, np.pi])
def test_a_turn_of_the_data_turns_the_start(turn):
    one, two = (task_of(angles).start(3, 1) for angles in (ANGLES, wrap(ANGLES + turn)))
    np.testing.assert_allclose(two["stretch"], turned(one["stretch"], 2.0 * turn), atol=1e-12)
    np.testing.assert_array_equal(two["u"], one["u"])
    np.testing.assert_array_equal(two["radii"], one["radii"])


def test_half_a_turn_of_the_data_leaves_the_chain_of_parameters_as_it_is():
    """To rounding: e comes back to where it was."""
    chunks = []
    for angles in (ANGLES, wrap(ANGLES + np.pi)):
        task = task_of(angles)
        chunks.append(task.advance(task.start(3, 0), 80)[1])
    for name in (*task.problem.exchanged, "stretch_x", "stretch_y"):
        np.testing.assert_allclose(
            chunks[1].parameters[name], chunks[0].parameters[name], rtol=1e-6, atol=1e-8
        )


def test_the_order_of_rows_makes_no_difference_to_the_target(walker):
    order = np.array([3, 0, 5, 1, 4, 2])
    other = task_of(ANGLES[order], LOCATIONS[order]).walker(
        walker.state() | {"radii": walker._radii[order], "mode": walker._mode[order]}
    )
    for u, e in POINTS:
        u, e = np.array(u), np.array(e)
        one, two = (w._point(u, e, factor_of(w._problem, w._problem.values(u))) for w in (walker, other))
        np.testing.assert_allclose(two.A, one.A[np.ix_(order, order)], rtol=1e-8, atol=1e-10)
        assert two.log_normalizer == pytest.approx(one.log_normalizer, rel=1e-10)


# Runs


@pytest.mark.parametrize("thin", [1, 3])
@pytest.mark.parametrize("stretch_scale", [0.0, 0.6])
def test_a_chain_that_is_cut_gives_the_same_bits(thin, stretch_scale):
    task = task_of(thin=thin, stretch_scale=stretch_scale)
    start = task.start(5, 2)
    before = {name: values.copy() for name, values in start.items()}
    end, whole = task.advance(start, 60 + 60)
    state, parts = start, []
    for length in (25, 1, 34, 60):
        state, chunk = task.advance(state, length)
        parts.append(chunk)
    for name, values in end.items():
        np.testing.assert_array_equal(values, state[name])
    for i in (0, 1, 2, 4):
        for name, values in whole[i].items():
            np.testing.assert_array_equal(values, np.concatenate([part[i][name] for part in parts]))
    for name, values in before.items():
        np.testing.assert_array_equal(values, start[name])


def test_scales_are_in_the_fingerprint():
    prints = {
        task.fingerprint
        for task in (task_of(), task_of(mean_scale=1.8), task_of(stretch_scale=0.5), task_of())
    }
    assert len(prints) == 3


@pytest.mark.parametrize(
    ("kernel", "stretch_scale", "moves"),
    [
        (1.0 * kernels.Exponential(1.0), 0.0, set()),
        (1.0 * kernels.Exponential(1.0), 0.5, {"acceptance_factorised"}),
        (LogNormal(0, 1) * kernels.Exponential(1.0), 0.0, {"acceptance_factorised"}),
        (KERNEL, 0.5, {"acceptance_factorised"}),
    ],
)
def test_statistics_are_of_the_moves_that_are_made(kernel, stretch_scale, moves):
    task = task_of(kernel=kernel, stretch_scale=stretch_scale)
    _, chunk = task.advance(task.start(1, 0), 60)
    assert set(chunk.stats) == moves
    assert all(np.isfinite(values).all() for values in chunk.stats.values())
    if not stretch_scale:
        assert not chunk.parameters["stretch_x"].any()


EXTREMES = {
    "one direction": (np.full(6, 3.0), {}),
    "one direction, a vague mean": (np.full(6, 3.0), {"mean_scale": 1e3}),
    "one direction, a vague stretch": (np.full(6, 3.0), {"stretch_scale": 1e3}),
    "opposite directions": (np.array([0.0, np.pi] * 3), {"stretch_scale": 1e3}),
    "no mean": (ANGLES, {"mean_scale": 1e-9}),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes(name):
    """Nothing hangs, and all numbers are finite."""
    angles, scales = EXTREMES[name]
    task = task_of(angles, **scales)
    _, chunk = task.advance(task.start(1, 0), 120)
    for values in (*chunk.parameters.values(), *chunk.pointwise.values()):
        assert np.isfinite(values).all()
