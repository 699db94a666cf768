"""Joint draws at parameters that were learned before: chunks, orders, their start, and the distribution of the draws.

False alarms. Draws of 49 locations are compared with a long dense chain by differences in units of their standard
errors; `_APART` is five of them, so that new seeds would fail once in 20,000 runs. Where angles are few enough for
quadrature, frequencies of cells are compared by χ² with effective counts; its level is 1e-4. The seeds are fixed.
"""

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import i0e

import vmqp
from run_toy import same
from simulations import KERNEL, SETS, N, make_task, square, stations
from vmqp import circle, kernels, model, priors
from vmqp.errors import InputError, NotPositiveDefiniteError
from vmqp.learning import make_problem
from vmqp.precision import factorise
from vmqp.regression.simulate import SimulationTask, check_room, simulation_task
from vmqp.run import run_chains
from vmqp.run.diagnostics import blocks
from vmqp.sampling import sample_angles

pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")
RUN = {"chains": 2, "draws": 9, "seed": 3, "progress": False}


@pytest.fixture(scope="module")
def whole():
    return run_chains(make_task(), **RUN)


@pytest.mark.parametrize(("workers", "chunk"), [(1, 1), (2, 4)])
def test_chunks_and_workers_make_no_difference(workers, chunk, whole):
    assert same(run_chains(make_task(), **RUN, workers=workers, chunk=chunk), whole)


def test_a_task_that_traveled_is_the_same(whole):
    assert same(run_chains(pickle.loads(pickle.dumps(make_task())), **RUN), whole)


def test_a_run_that_was_stopped_is_resumed(tmp_path, whole):
    run_chains(make_task(), **RUN | {"draws": 4}, checkpoint=tmp_path, chunk=2)
    assert same(run_chains(make_task(), **RUN, checkpoint=tmp_path, chunk=2), whole)


def moments(tree, m=49):
    return np.exp(1j * tree["posterior"]["angle"].values.reshape(-1, m)).mean(axis=0)


def test_locations_come_out_in_the_order_of_the_user(whole):
    ordered = run_chains(make_task(rows=np.arange(49)), **RUN)
    X = whole["constant_data"]["X"].values
    np.testing.assert_array_equal(X[N:], square(7))
    np.testing.assert_array_equal(X, ordered["constant_data"]["X"].values)
    # Another order of the sweeps, so other draws; but the same field to within what is uncertain.
    gap = circle.difference(np.angle(moments(whole)), np.angle(moments(ordered)))
    assert np.cos(gap).min() > 0.9
    assert np.cos(gap + np.angle(moments(ordered)) - np.roll(np.angle(moments(ordered)), 11)).min() < 0.9


def test_draws_and_fields_are_of_the_same_locations(whole):
    angle = np.exp(1j * whole["posterior"]["angle"].values)
    field = np.exp(1j * np.arctan2(whole["field"]["y"].values, whole["field"]["x"].values))
    apart = (angle * field.conj()).real.mean(axis=(0, 1))
    assert apart.min() > 0.7
    wrong = (angle * np.roll(field, 11, axis=2).conj()).real.mean(axis=(0, 1))
    assert wrong.min() < 0.4


def test_all_chains_visit_the_same_sets(whole):
    lengthscale = whole["posterior"]["lengthscale"].values
    np.testing.assert_array_equal(lengthscale[0], lengthscale[1])
    assert set(lengthscale[0]) == set(SETS["lengthscale"])


def test_the_start_is_the_normalized_kriging():
    task = make_task(neighbors=N + 48)
    problem = task.problem
    K = problem.kernel.bind(problem.X).covariance({"variance": 0.6, "lengthscale": 0.8})
    x = np.stack([np.cos(problem.observed), np.sin(problem.observed)])
    mean = 0.4 * np.array([np.cos(0.5), np.sin(0.5)])[:, None]
    expected = mean + (x - mean) @ np.linalg.solve(K[:N, :N], K[:N, N:])
    found = task.start(0, 0)["latent"][:, 0]
    np.testing.assert_allclose(found, expected / np.hypot(*expected), atol=1e-9)


def test_a_sparse_problem_is_sorted_in_space_and_a_dense_one_is_not():
    task = make_task(rows=np.arange(49))
    sorted_ = simulation_task(task.problem, SETS)
    assert sorted(sorted_.rows) == list(range(49))
    np.testing.assert_array_equal(sorted_.problem.X[N:], square(7)[sorted_.rows])
    assert dict(sorted_.problem.metric_at) == {"variance": 0.6, "lengthscale": 0.8}
    dense = simulation_task(replace(task.problem, neighbors=None), SETS)
    np.testing.assert_array_equal(dense.rows, np.arange(49))


_APART = 5.0


def effective(tree):
    """Effective samples of each location, the fewer of its cosine and sine."""
    angles = {"angle": tree["posterior"]["angle"].values}
    return np.concatenate([block.ess().reshape(-1, 2).min(axis=1) for block in blocks({}, angles, set())])


@pytest.mark.parametrize(
    ("noise", "neighbors", "fault"),
    [
        (None, None, None),
        (None, N + 48, None),
        (30.0, None, None),
        (30.0, N + 48, None),
        (None, N + 48, "variance"),
        (None, None, "data"),
        (30.0, N + 48, "data"),
        (30.0, None, "variance"),
    ],
)
def test_the_distribution_of_the_angles(noise, neighbors, fault):
    """With all locations as neighbors it is that of a dense precision; other parameters and data are seen."""
    one = {name: values[:1] * (1.6 if fault == name else 1.0) for name, values in SETS.items()}
    task = make_task(neighbors=neighbors, sets=one, noise=noise, rows=np.arange(49))
    tree = run_chains(task, chains=4, draws=900, seed=8, progress=False)
    problem = task.problem
    M = factorise(problem.kernel.bind(problem.X).covariance({"variance": 0.6, "lengthscale": 0.8})).M
    field = model.drift_field(M, 0.4, 0.5, "mean")
    observed = problem.observed + (0.3 if fault == "data" else 0.0)
    if noise is None:
        coupling, pull = model.conditional(M, observed, field)
    else:
        coupling, pull = model.noisy(M, observed, field, noise)
    angles = sample_angles(coupling, pull, draws=20_000, seed=1)[:, -49:]
    expected = np.exp(1j * angles).mean(axis=0)
    drawn = np.exp(1j * tree["posterior"]["angle"].values.reshape(-1, 49))
    spread = np.maximum(drawn.real.var(axis=0), drawn.imag.var(axis=0))
    error = np.sqrt(spread / effective(tree) + spread / 4_000)
    worst = (np.abs(drawn.mean(axis=0) - expected) / error).max()
    assert (worst < _APART) if fault is None else (worst > 2.0 * _APART), worst


def test_a_set_without_a_factor_is_passed_over():
    kernel = priors.HalfNormal(1) * kernels.Gaussian(priors.LogNormal(0, 1))
    sets = {"variance": np.array([0.6, 0.6]), "lengthscale": np.array([1e6, 0.5])}
    tree = run_chains(make_task(kernel=kernel, sets=sets), **RUN)
    assert set(tree["posterior"]["lengthscale"].values.ravel()) == {0.5}
    hopeless = {name: values[:1] for name, values in sets.items()}
    with pytest.raises(NotPositiveDefiniteError, match=r"add a kernels\.Nugget, or ask for locations"):
        make_task(kernel=kernel, sets=hopeless).start(0, 0)


def test_noise_by_row():
    task = make_task(noise=np.linspace(20.0, 50.0, N))
    assert task.describe().constant_data["noise"].shape == (N,)
    assert KERNEL.size == 3


def test_more_than_fits_the_memory():
    check_room(10**6, 10**6, 20, 200, "8GB")
    with pytest.raises(
        InputError, match=r"200 joint draws of 1,000,000 locations.*the bound is 1 GB: draw fewer"
    ):
        check_room(10**6, 10**6, 20, 200, "1GB")
    with pytest.raises(InputError, match="give a larger memory"):
        check_room(20_000, 10, None, 200, "8GB")  # dense


# Refinement


def nested(side):
    """Which of the locations of a finer square are those of one with 21 locations a side."""
    step = (side - 1) // 20
    number = np.arange(side * side).reshape(side, side)
    return number[::step, ::step].ravel()


def means_at_common_locations(side, drift):
    X, y = stations()
    problem = make_problem(
        X, y, square(side), kernel=0.5 * kernels.Exponential(1.0) + kernels.Nugget(0.02), drift=drift,
        concentration=1.0, direction=np.pi, neighbors=15,
    )  # fmt: skip
    task = SimulationTask(problem, {}, np.arange(side * side))
    tree = run_chains(task, chains=2, draws=12, seed=2, progress=False)
    return np.angle(moments(tree, side * side))[nested(side)]


@pytest.mark.xdist_group("refinement")
class TestRefinement:
    """The mean at a location does not depend on how fine the grid around it is, from 20 × 20 cells to 60 × 60."""

    @pytest.fixture(scope="class")
    def coarse(self):
        return means_at_common_locations(21, "mean")

    @pytest.mark.parametrize("side", [41, 61])
    def test_stable_under_the_default_drift(self, side, coarse):
        gap = circle.difference(means_at_common_locations(side, "mean"), coarse)
        assert np.sqrt(np.mean(gap**2)) < 0.2

    def test_dragged_along_by_a_constant_drift(self, coarse):
        """The comparison sees what it is for."""
        gap = circle.difference(means_at_common_locations(61, "constant"), coarse)
        assert np.sqrt(np.mean(gap**2)) > 0.4


# The regressor: exact distribution of two or three new angles


_X = np.array([[0.0], [1.0], [2.5]])
_Y = np.array([0.3, 1.9, -2.5])
_NEW = np.array([[0.4], [1.6], [3.0]])
_CELLS = 6  # of the circle, for each angle
_FINE = 8  # points of a quadrature in a cell


def fixed(**options):
    kernel = 0.8 * kernels.Exponential(1.5) + kernels.Nugget(0.1)
    given = {
        "kernel": kernel,
        "concentration": 0.7,
        "direction": 0.9,
        "chains": 2,
        "draws": 50,
        "progress": False,
    }
    return vmqp.CircularRegressor(**given | options).fit(_X, _Y)


def quadrature(m, drift="mean", noise=None, variance=0.8):
    """Probability of each of the cells of m angles, (cells,) * m; of the noisy ones of an observation."""
    every = np.concatenate([_X, _NEW[:m]])
    K = variance * np.exp(-np.abs(every - every.T) / 1.5) + 0.1 * np.eye(len(every))
    M = np.linalg.inv(K)
    pull = 0.7 * (M.sum(axis=1) if drift == "mean" else np.ones(len(every)))
    points = _CELLS * _FINE
    grid = -np.pi + (np.arange(points) + 0.5) * (2.0 * np.pi / points)
    latent = m if noise is None else m + len(_X)
    assert noise is None or m == 1
    points_of = [grid] * latent
    axes = list(np.meshgrid(*points_of, indexing="ij", sparse=True))
    angles = ([*_Y] if noise is None else axes[: len(_X)]) + axes[latent - m :]
    energy = sum(pull[i] * np.cos(angles[i] - 0.9) for i in range(len(every)))
    for i in range(len(every)):
        for j in range(i):
            energy = energy - M[i, j] * np.cos(angles[i] - angles[j])
    if noise is not None:
        for i, y in enumerate(_Y):
            energy = energy + noise * np.cos(angles[i] - y)
    weight = np.exp(energy - energy.max())
    if noise is not None:  # the latent angles are summed over, and an observation scatters about the process
        process = weight.sum(axis=tuple(range(len(_X))))
        scatter = np.exp(noise * (np.cos(grid[:, None] - grid) - 1.0)) / i0e(noise)
        weight = scatter @ process
    weight = weight.reshape((_CELLS, _FINE) * m).sum(axis=tuple(range(1, 2 * m, 2)))
    return weight / weight.sum()


def surprise(joint, expected):
    """P-value of χ² of the cells that draws fall into, with as many of them as are effective."""
    angles = joint.draws
    m = angles.shape[2]
    cell = np.floor((np.mod(angles + np.pi, 2.0 * np.pi)) / (2.0 * np.pi) * _CELLS).astype(int) % _CELLS
    flat = np.ravel_multi_index(np.moveaxis(cell, 2, 0), (_CELLS,) * m).reshape(-1)
    counts = np.bincount(flat, minlength=_CELLS**m) / flat.size
    order = np.argsort(expected.ravel())
    # Cells of little probability are taken together.
    group = np.minimum(np.floor(np.cumsum(expected.ravel()[order]) * 30.0), 29).astype(int)
    seen, wanted = (np.bincount(group, values[order]) for values in (counts, expected.ravel()))
    wanted, seen = wanted[wanted > 0.0], seen[wanted > 0.0]
    size = joint.diagnostics()["ess"].min()
    return stats.chi2.sf(size * ((seen - wanted) ** 2 / wanted).sum(), len(wanted) - 1)


EXACT = {
    "two, mean": (2, {"drift": "mean"}),
    "three, mean": (3, {"drift": "mean"}),
    "two, constant": (2, {"drift": "constant"}),
    "three, sparse": (3, {"drift": "mean", "precision": "vecchia", "neighbors": 5}),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("fault", [False, True])
def test_joint_draws_against_quadrature(name, fault):
    """The dependence between locations too; draws at a variance of 1.3 in place of 0.8 are told apart."""
    m, options = EXACT[name]
    if fault:
        options = options | {"kernel": 1.3 * kernels.Exponential(1.5) + kernels.Nugget(0.1)}
    joint = fixed(**options).joint_posterior(_NEW[:m], draws=8_000)
    p = surprise(joint, quadrature(m, options["drift"]))
    assert (p < 1e-8) if fault else (p > 1e-4), p


@pytest.mark.parametrize("fault", [False, True])
def test_joint_draws_with_noise_against_quadrature(fault):
    """Angles of the process at the observed locations are drawn too; the fault is a noise of 2 in place of 4."""
    joint = fixed(noise=2.0 if fault else 4.0).joint_posterior(_NEW[:1], draws=8_000)
    p = surprise(joint, quadrature(1, noise=4.0))
    assert (p < 1e-8) if fault else (p > 1e-4), p


def test_joint_draws_are_dependent_and_those_of_a_posterior_are_not():
    """Correlations of 4,000 draws: 0.08 is five standard errors."""
    model_ = fixed(kernel=3.0 * kernels.Gaussian(1.0))
    near = np.array([[8.0], [8.2]])
    joint = model_.simulate(near, 4_000)
    alone = model_.set_params(draws=2_000).fit(_X, _Y).sample(near)

    def together(draws):
        c = np.cos(draws[:, 0] - draws[:, 1])
        return c.mean() - np.real(np.exp(1j * draws[:, 0]).mean() * np.exp(-1j * draws[:, 1]).mean())

    assert together(joint) > 0.5
    assert abs(together(alone)) < 0.08


# The bound on memory, which the operating system agrees with

CHILD = """
import resource, sys, warnings
bound, allowed = float(sys.argv[1]), int(float(sys.argv[2]))
import numpy as np
from simulations import KERNEL, SETS, square, stations
from vmqp.errors import InputError
from vmqp.learning import make_problem
from vmqp.regression.simulate import check_room, simulation_task
from vmqp.run import run_chains
warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
try:
    grid = square(200)
    check_room(len(grid) + 25, len(grid), 20, 2, bound)
    problem = make_problem(*stations(), grid, kernel=KERNEL, drift="mean", neighbors=20)
    task = simulation_task(problem, dict(SETS, concentration=np.ones(3), direction=np.ones(3)), warmup=1)
    tree = run_chains(task, chains=2, draws=1, executor="threads", progress=False, memory=bound)
    angle = tree["posterior"]["angle"].values
    print("drawn", angle.shape, bool(np.isfinite(angle).all()))
except InputError as error:
    print("refused", error)
except MemoryError:
    print("out of memory")
"""


def child(bound, allowed):
    found = subprocess.run(
        [sys.executable, "-c", CHILD, str(bound), str(allowed)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        # BLAS sets memory aside for each core, which is not ours.
        env={
            **os.environ,
            "OPENBLAS_NUM_THREADS": "2",
            "OMP_NUM_THREADS": "2",
            "PYTHONPATH": str(Path(__file__).parents[1]),
        },
    )
    return found.stdout.strip() or found.stderr.strip()[-300:]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on data is Linux's")
class TestLimitOfTheSystem:
    def test_a_simulation_keeps_to_the_bound(self):
        assert child(1.0e9, 1.0e9) == "drawn (2, 1, 40000) True"

    def test_one_that_does_not_fit_is_refused_before_it_begins(self):
        assert child(0.55e9, 1.0e9).startswith("refused 2 joint draws of 40,000 locations need about")

    def test_the_limit_is_one(self):
        """With less than is needed the system stops it: the two tests above are not empty."""
        assert not child(1.0e9, 0.3e9).startswith("drawn")
