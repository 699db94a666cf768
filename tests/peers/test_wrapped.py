"""The wrapped process: its likelihood, kept and joint draws, rotations, permutations, and chains that are cut anywhere.

Statistical tests fail by chance with the probability RATE = 1e-6; seeds are fixed.
"""

import pickle

import numpy as np
import pytest
from scipy import stats

from references import RATE
from vmqp import kernels
from vmqp.laws import wrapped_normal
from vmqp.learning import make_problem
from vmqp.peers import wrapped as room
from vmqp.peers.locations import NewLocations, factor_of
from vmqp.peers.wrapped import WrappedTask
from vmqp.priors import LogNormal

TWO_PI = 2.0 * np.pi
BROAD = LogNormal(0.0, 0.8)
KERNEL = LogNormal(1.0, 0.8) * kernels.Exponential(BROAD) + kernels.Nugget(LogNormal(-2.0, 0.8))
LOCATIONS = np.array([0.0, 0.4, 1.1, 1.5, 2.6, 3.0])[:, None]
NEW = np.array([[0.7], [3.5], [3.6]])
ANGLES = np.array([0.2, 0.9, 2.8, -2.9, -1.5, 0.1])


def task_of(angles=ANGLES, X=LOCATIONS, kernel=KERNEL, warmup=40, thin=1):
    return WrappedTask(make_problem(X, angles, kernel=kernel, concentration=0.0), warmup, thin)


def whole(task, values):
    """The kernel matrix of the observed and the new locations."""
    return task.problem.kernel.bind(np.concatenate([task.problem.X, NEW])).covariance(values)


def joint(task, draw, rng):
    """New angles together at one draw."""
    given = NewLocations(task.problem, NEW).given(
        {name: draw.parameters[name] for name in task.problem.exchanged}
    )
    return task.joint(draw.parameters, draw.pointwise["latent/winding"], given, rng)


def wrap(values):
    return np.mod(np.asarray(values) + np.pi, TWO_PI) - np.pi


def test_the_likelihood_is_that_of_the_differences():
    """Up to a constant, and for any common scale of the kernel matrix."""
    task = task_of()
    walker = task.walker(task.start(1, 0))
    y = walker._y
    D = np.concatenate([-np.ones((5, 1)), np.eye(5)], axis=1)

    def both(values, scale):
        factor = factor_of(task.problem, values)
        K = scale * task.problem.bound.covariance(values)
        expected = stats.multivariate_normal(np.zeros(5), D @ K @ D.T).logpdf(D @ y)
        return room._log_likelihood(walker._sums(factor), scale) - expected

    names = task.problem.exchanged
    first = both(dict(zip(names, (1.0, 1.0, 0.1), strict=True)), 1.0)
    for numbers, scale in (((2.0, 0.3, 0.5), 1.0), ((1.0, 1.0, 0.1), 3.7), ((9.0, 2.0, 0.01), 0.02)):
        assert both(dict(zip(names, numbers, strict=True)), scale) == pytest.approx(first, abs=1e-9)


def test_moves_along_the_common_scale_keep_the_factor_right():
    """After many iterations the factor and its scale still belong to the parameters."""
    task = task_of()
    walker = task.walker(task.start(1, 0))
    scales = []
    for _ in range(150):
        walker.iterate()
        walk = walker._walk
        scales.append(walk.scale)
        K = task.problem.bound.covariance(walk.values)
        np.testing.assert_allclose(walk.scale * walk.factor.L @ walk.factor.L.T, K, rtol=1e-9)
        np.testing.assert_allclose(walk.factor.M / walk.scale @ K, np.eye(6), atol=1e-9)
    assert len(set(scales)) > 50


def test_windings_are_whole_turns_of_the_data():
    task = task_of()
    state, _ = task.advance(task.start(1, 0), 100)
    k = (state["y"] - ANGLES) / TWO_PI
    np.testing.assert_allclose(k, np.round(k), atol=1e-9)


def dense_distribution(task, values, y):
    """Mean and covariance of (μ, y*) given y: the mean has a variance that is as good as infinite."""
    K = whole(task, values)
    n = len(y)
    wide = K + 1e7
    weights = np.linalg.solve(wide[:n, :n], np.concatenate([np.full((n, 1), 1e7), wide[:n, n:]], axis=1))
    prior = np.block(
        [[np.full((1, 1), 1e7), np.full((1, len(K) - n), 1e7)], [np.full((len(K) - n, 1), 1e7), wide[n:, n:]]]
    )
    across = np.concatenate([np.full((n, 1), 1e7), wide[:n, n:]], axis=1)
    return y @ weights, prior - across.T @ weights


def whitened(task, draw_jointly=joint):
    """Many draws from one state: the mean and the new locations, on the line before they are wrapped; standardized."""
    walker, rng = task.walker(task.start(1, 0)), np.random.default_rng(7)
    y = walker._y.copy()
    drawn = [walker.draw() for _ in range(1500)]
    mean, covariance = dense_distribution(task, {}, y)
    values = [[draw.parameters["direction"], *draw_jointly(task, draw, rng)[0]] for draw in drawn]
    values = mean + wrap(np.array(values) - mean)
    return np.linalg.solve(np.linalg.cholesky(covariance), (values - mean).T)


def p_values(white):
    """Of each row, and of the squared length."""
    square = stats.kstest(np.square(white).sum(axis=0), stats.chi2(len(white)).cdf).pvalue
    return [stats.kstest(row, "norm").pvalue for row in white] + [square]


def narrow_task():
    kernel = 0.04 * kernels.Exponential(1.0) + kernels.Nugget(0.01)  # so narrow that wrapping is no matter
    return task_of(angles=0.3 * LOCATIONS[:, 0] + 2.0, kernel=kernel)


def test_joint_draws_condition_on_the_latent_line():
    assert min(p_values(whitened(narrow_task()))) > RATE


def test_independent_draws_in_place_of_joint_ones_are_caught():
    """The distribution of each location alone is right, and together they are not."""

    def alone(task, draw, rng):
        _, own = joint(task, draw, rng)
        return rng.normal(own["wrapped/mean"], np.sqrt(own["wrapped/variance"])), own

    assert min(p_values(whitened(narrow_task(), alone))) < RATE


def test_distributions_of_a_draw_are_those_of_its_latent_line():
    task = task_of()
    state, _ = task.advance(task.start(1, 0), 60)
    walker = task.walker(state)
    draw, y = walker.draw(), state["y"]
    K = whole(task, {name: draw.parameters[name] for name in task.problem.exchanged})
    own = joint(task, draw, np.random.default_rng(1))[1] | draw.pointwise
    mean = draw.parameters["direction"]
    line = ANGLES + TWO_PI * own["latent/winding"]  # relative to the mean
    np.testing.assert_allclose(line - line[0], y - y[0], atol=1e-9)
    slope = np.linalg.solve(K[:6, :6], K[:6, 6:])
    spread = (K[6:, 6:] - K[6:, :6] @ slope).diagonal()
    np.testing.assert_allclose(own["wrapped/variance"], spread, rtol=1e-9)
    np.testing.assert_allclose(wrap(own["wrapped/mean"] - (mean + (line - mean) @ slope)), 0.0, atol=1e-9)
    for i in range(6):
        rest = np.delete(np.arange(6), i)
        part = np.linalg.solve(K[np.ix_(rest, rest)], K[rest, i])
        expected = wrapped_normal(ANGLES[i], mean + (line[rest] - mean) @ part, K[i, i] - K[i, rest] @ part)
        assert own["log_likelihood/angle"][i] == pytest.approx(float(expected), abs=1e-9)


# Equivariance


def aligned(one, other, turn):
    """Parameters and likelihoods of two chunks; predictions are compared in tests/peers/test_predictions.py."""
    for name, values in one.parameters.items():
        expected = wrap(values + turn) if name == "direction" else values
        gap = other.parameters[name] - expected
        np.testing.assert_allclose(wrap(gap) if name == "direction" else gap, 0.0, atol=1e-8)
    name = "log_likelihood/angle"
    np.testing.assert_allclose(other.pointwise[name], one.pointwise[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("turn", [1.0, np.pi, -2.5, 100.0])
def test_turned_data_turn_the_chain(turn):
    """To rounding: also where some of the data come across the cut."""
    chunks = []
    for angles in (ANGLES, wrap(ANGLES + turn)):
        task = task_of(angles)
        chunks.append(task.advance(task.start(3, 0), 120)[1])
    aligned(*chunks, turn)


def test_whole_turns_of_single_angles_make_no_difference():
    chunks = []
    for angles in (ANGLES, ANGLES + TWO_PI * np.array([0, 3, -1, 0, 2, -5])):
        task = task_of(angles)
        chunks.append(task.advance(task.start(3, 0), 120)[1])
    aligned(*chunks, 0.0)


def test_the_order_of_rows_makes_no_difference():
    """To the likelihood at any windings."""
    order = np.array([3, 0, 5, 1, 4, 2])
    tasks = task_of(), task_of(ANGLES[order], LOCATIONS[order])
    start = tasks[0].start(1, 0)
    other = start | {"y": start["y"][order]}
    one, two = (task.walker(state) for task, state in zip(tasks, (start, other), strict=True))
    first, second = (walker._sums(walker._walk.factor) for walker in (one, two))
    np.testing.assert_allclose(second[:3], first[:3], rtol=1e-10)
    np.testing.assert_allclose(two._P(), one._P()[np.ix_(order, order)], atol=1e-10)


# Runs


def same_chunks(first, second):
    for one, other in zip(first[:3] + first[4:], second[:3] + second[4:], strict=True):
        assert one.keys() == other.keys()
        for name, values in one.items():
            np.testing.assert_array_equal(values, other[name])


def joined(*chunks):
    groups = []
    for i in (0, 1, 2, 4):
        groups.append({name: np.concatenate([chunk[i][name] for chunk in chunks]) for name in chunks[0][i]})
    return chunks[0]._replace(parameters=groups[0], angles=groups[1], stats=groups[2], pointwise=groups[3])


@pytest.mark.parametrize("thin", [1, 3])
def test_a_chain_that_is_cut_gives_the_same_bits(thin):
    task = task_of(thin=thin)
    start = task.start(5, 2)
    before = {name: values.copy() for name, values in start.items()}
    end, whole = task.advance(start, 160)
    state, parts = start, []
    for length in (25, 1, 34, 60, 40):
        state, chunk = task.advance(state, length)
        parts.append(chunk)
    same_chunks(joined(*parts), whole)
    for name, values in end.items():
        np.testing.assert_array_equal(values, state[name])
    for name, values in before.items():
        np.testing.assert_array_equal(values, start[name])


def test_a_worker_gets_no_geometry():
    task = task_of()
    expected = task.nearness
    again = pickle.loads(pickle.dumps(task))
    assert "nearness" not in vars(again)
    assert "bound" not in vars(again.problem)
    np.testing.assert_array_equal(again.nearness, expected)


def test_new_locations_have_no_part_in_learning():
    with pytest.raises(AssertionError, match="new locations"):
        WrappedTask(make_problem(LOCATIONS, ANGLES, NEW, kernel=KERNEL, concentration=0.0))


def test_chains_start_apart():
    starts = [task_of().start(1, chain) for chain in range(4)]
    assert len({tuple(state["u"]) for state in starts}) == 4
    again = task_of().start(1, 2)
    for name, values in again.items():
        np.testing.assert_array_equal(values, starts[2][name])


def test_what_decides_the_draws_is_in_the_fingerprint():
    one = task_of()
    assert one.fingerprint == task_of().fingerprint
    for other in (
        task_of(warmup=41),
        task_of(thin=2),
        task_of(angles=ANGLES + 1e-9),
        task_of(X=LOCATIONS + 1e-9),
    ):
        assert other.fingerprint != one.fingerprint


def test_nothing_to_learn():
    task = task_of(kernel=2.0 * kernels.Exponential(1.0) + kernels.Nugget(0.1))
    _, chunk = task.advance(task.start(1, 0), 60)
    assert set(chunk.parameters) == {"direction"}
    assert chunk.stats == {}
    assert chunk.progress == {}


def test_one_location():
    """Nothing is known but a direction: the parameters follow their priors; see tests/statistical too."""
    task = task_of(ANGLES[:1], LOCATIONS[:1])
    _, chunk = task.advance(task.start(1, 0), 140)
    assert all(np.isfinite(values).all() for values in chunk.parameters.values())


def test_a_smooth_kernel_at_the_limit_of_rounding():
    """Kernel matrices whose inverse has no correct digit are refused, and nothing else goes wrong."""
    line = np.linspace(0.0, 1.0, 30)[:, None]
    task = task_of(np.sin(6.0 * line[:, 0]), line, 1.0 * kernels.Gaussian(LogNormal(-2.3, 0.6)))
    _, chunk = task.advance(task.start(1, 0), 150)
    for values in (*chunk.parameters.values(), *chunk.pointwise.values()):
        assert np.isfinite(values).all()
