"""The second stage of a map: chunks, orders, its start, and the law of what it draws.

False alarms: a map is compared with a long dense chain at 49 places by differences in units of their standard errors;
`_APART` is five of them, so that new seeds would fail once in 20,000 runs. The seeds are fixed.
"""

import pickle

import numpy as np
import pytest

from map_tasks import KERNEL, SETS, N, make_task, square, stations
from run_toy import same
from vmqp import kernels, model, priors
from vmqp.errors import NotPositiveDefiniteError
from vmqp.learning import make_problem
from vmqp.maps import MapTask, Moments
from vmqp.precision import factorise
from vmqp.run import Converged, run_chains
from vmqp.sampling import sample_angles

pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")
RUN = {"chains": 2, "draws": 9, "seed": 3, "progress": False}


@pytest.fixture(scope="module")
def whole():
    return run_chains(make_task(), **RUN)


def equal(one, other):
    return same(one, other) and all(
        np.array_equal(one["totals"][name].values, other["totals"][name].values)
        for name in ("sums", "counts")
    )


@pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")
@pytest.mark.parametrize(("workers", "chunk"), [(1, 1), (2, 4)])
def test_chunks_and_workers_make_no_difference(workers, chunk, whole):
    assert equal(run_chains(make_task(), **RUN, workers=workers, chunk=chunk), whole)


def test_a_task_that_travelled_is_the_same(whole):
    assert equal(run_chains(pickle.loads(pickle.dumps(make_task())), **RUN), whole)


def test_a_run_that_was_stopped_goes_on(tmp_path, whole):
    run_chains(make_task(), **RUN | {"draws": 4}, checkpoint=tmp_path, chunk=2)
    assert equal(run_chains(make_task(), **RUN, checkpoint=tmp_path, chunk=2), whole)
    assert equal(run_chains(make_task(), **RUN, checkpoint=tmp_path), whole), (
        "a finished run has its summaries too"
    )


def test_places_come_out_in_the_order_of_the_user(whole):
    sorted_ = run_chains(make_task(rows=np.arange(49)), **RUN)
    X = whole["constant_data"]["X"].values
    np.testing.assert_array_equal(X[N:], square(7))
    np.testing.assert_array_equal(X, sorted_["constant_data"]["X"].values)
    # Another order of the sweeps, so other draws; but the same field to within what is uncertain.
    means = [
        Moments(t["totals"]["sums"].values, t["totals"]["counts"].values).mean() for t in (whole, sorted_)
    ]
    assert np.cos(means[0] - means[1]).min() > 0.95


def test_draws_and_summaries_are_of_the_same_places(whole):
    angles = whole.posterior["angle"].values.reshape(-1, 49)
    mean = np.angle(np.exp(1j * angles).mean(axis=0))
    moments = Moments(whole["totals"]["sums"].values, whole["totals"]["counts"].values)
    assert np.cos(mean - moments.mean()).min() > 0.9
    wrong = np.roll(moments.mean(), 11)  # a shift of the places is seen by this comparison
    assert np.cos(mean - wrong).min() < 0.9


def test_all_chains_walk_through_the_same_sets(whole):
    sets = whole.sample_stats["set"].values
    np.testing.assert_array_equal(sets[0], sets[1])
    assert set(sets[0]) == {0.0, 1.0, 2.0}


def test_the_start_is_the_normalised_kriging():
    task = make_task(neighbors=N + 48)
    problem = task.problem
    K = problem.kernel.bind(problem.X).covariance({"variance": 0.6, "lengthscale": 0.8})
    x = np.stack([np.cos(problem.observed), np.sin(problem.observed)])
    mean = 0.4 * np.array([np.cos(0.5), np.sin(0.5)])[:, None]
    expected = mean + (x - mean) @ np.linalg.solve(K[:N, :N], K[:N, N:])
    found = task.start(0, 0)["latent"][:, 0]
    np.testing.assert_allclose(found, expected / np.hypot(*expected), atol=1e-9)


_APART = 5.0


@pytest.mark.parametrize("noise", [None, 30.0])
@pytest.mark.parametrize("fault", [None, "variance", "data"])
def test_the_law_of_the_angles(noise, fault):
    """With all places as neighbours and one set it is the law of a dense precision; other parameters are seen."""
    one = {name: values[:1] * (1.6 if fault == name else 1.0) for name, values in SETS.items()}
    task = make_task(neighbors=N + 48, sets=one, noise=noise, rows=np.arange(49))
    tree = run_chains(task, chains=4, draws=300, seed=8, progress=False)
    moments = Moments(tree["totals"]["sums"].values, tree["totals"]["counts"].values)
    problem = task.problem
    M = factorise(problem.kernel.bind(problem.X).covariance({"variance": 0.6, "lengthscale": 0.8})).M
    field = model.drift_field(M, 0.4, 0.5, "mean")
    observed = problem.observed + (0.3 if fault == "data" else 0.0)
    if noise is None:
        coupling, pull = model.conditional(M, observed, field)
    else:
        coupling, pull = model.noisy(M, observed, field, noise)
    angles = sample_angles(coupling, pull, draws=20_000, seed=1)[:, -49:]
    z = np.exp(1j * angles).mean(axis=0)
    c, s = moments.resultant()
    within, _ = moments.spread()
    error = np.sqrt(within.max(axis=0) / moments.effective() + within.max(axis=0) / 4_000)
    worst = (np.abs(c + 1j * s - z) / error).max()
    assert (worst < _APART) if fault is None else (worst > 2.0 * _APART), worst


def test_a_set_without_a_factor_is_passed_over():
    kernel = priors.HalfNormal(1) * kernels.Gaussian(priors.LogNormal(0, 1))
    sets = {"variance": np.array([0.6, 0.6]), "lengthscale": np.array([1e6, 0.5])}
    tree = run_chains(make_task(kernel=kernel, sets=sets), **RUN)
    assert set(tree.sample_stats["set"].values.ravel()) == {1.0}
    hopeless = {name: values[:1] for name, values in sets.items()}
    with pytest.raises(NotPositiveDefiniteError, match="coarser grid"):
        make_task(kernel=kernel, sets=hopeless).start(0, 0)


def test_it_stops_when_the_chains_agree():
    tree = run_chains(make_task(), **RUN | {"draws": 200}, until=Converged(rhat_angles=1.2, first=4))
    assert tree.attrs["stopped"] == "converged"
    assert tree.posterior.sizes["draw"] < 200


def nested(side):
    """Which of the places of a finer square are those of one with 21 places a side."""
    step = (side - 1) // 20
    number = np.arange(side * side).reshape(side, side)
    return number[::step, ::step].ravel()


def means_at_common_places(side, drift):
    X, y = stations()
    problem = make_problem(
        X, y, square(side), kernel=0.5 * kernels.Exponential(1.0) + kernels.Nugget(0.02), drift=drift,
        concentration=1.0, direction=np.pi, neighbors=15,
    )  # fmt: skip
    task = MapTask(problem, {}, np.arange(side * side))
    tree = run_chains(task, chains=2, draws=12, seed=2, progress=False)
    return Moments(tree["totals"]["sums"].values, tree["totals"]["counts"].values).mean()[nested(side)]


@pytest.mark.xdist_group("refinement")
class TestRefinement:
    """The mean at a place does not depend on how fine the grid around it is, from 20 × 20 cells to 160 × 160."""

    @pytest.fixture(scope="class")
    def coarse(self):
        return means_at_common_places(21, "mean")

    @pytest.mark.parametrize("side", [41, 81, 161])
    def test_stable_under_the_drift_of_maps(self, side, coarse):
        gap = np.angle(np.exp(1j * (means_at_common_places(side, "mean") - coarse)))
        assert np.sqrt(np.mean(gap**2)) < 0.1

    def test_dragged_along_by_a_constant_drift(self, coarse):
        """The comparison sees what it is for."""
        gaps = [
            np.angle(np.exp(1j * (means_at_common_places(side, "constant") - coarse))) for side in (21, 81)
        ]
        assert np.sqrt(np.mean(gaps[1] ** 2)) > 0.3


def test_noise_by_row_and_unused_names():
    task = make_task(noise=np.linspace(20.0, 50.0, N))
    assert task.describe().constant_data["noise"].shape == (N,)
    assert KERNEL.size == 3
