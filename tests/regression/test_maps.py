"""Regressions at many places: which precision, how many stages, and what comes back."""

import warnings

import numpy as np
import pytest

import vmqp
from map_tasks import square, stations
from vmqp import kernels, priors
from vmqp.errors import InputError
from vmqp.regression.stages import learning_problem, read_sizes

X, Y = stations(40)
KERNEL = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1)) + kernels.Nugget(0.03)
FIXED = 0.5 * kernels.Exponential(1.0) + kernels.Nugget(0.05)
QUICK = {
    "warmup": 60,
    "chains": 2,
    "seed": 2,
    "progress": False,
    "until": vmqp.run.Converged(2, 2, 5, first=60),
}

pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")


def sizes(n, m, **options):
    return read_sizes(n, m, {"precision": "auto", "stages": "auto", "neighbors": 20} | options)


@pytest.mark.parametrize(
    ("n", "m", "options", "expected"),
    [
        (260, 52, {}, (None, False)),
        (1000, 1000, {}, (None, False)),
        (260, 1741, {}, (20, True)),
        (7000, 1760, {}, (20, True)),
        (7000, 1760, {"stages": 1}, (20, False)),
        (30_000, 100, {}, (20, True)),
        (260, 3600, {"stages": 1}, (20, False)),
        (260, 52, {"stages": 2}, (20, True)),
        (260, 52, {"precision": "vecchia", "neighbors": 30}, (30, False)),
        (260, 3600, {"precision": "dense"}, (None, False)),
        (260, 0, {"stages": 2}, (None, False)),
        (260, 0, {"stages": 2, "precision": "dense"}, (None, False)),
    ],
)
def test_which_precision_and_how_many_stages(n, m, options, expected):
    assert tuple(sizes(n, m, **options)) == expected


@pytest.mark.parametrize("stages", [0, 3, "two", True, None])
def test_stages_that_there_are_not(stages):
    with pytest.raises(InputError, match="'auto', 1 and 2"):
        sizes(10, 10, stages=stages)


def test_two_stages_are_not_dense():
    with pytest.raises(InputError, match=r"stages is 2 and precision is 'dense'.*give stages=1"):
        sizes(10, 10, stages=2, precision="dense")


@pytest.mark.parametrize("neighbors", [0, -1, 2.5, "many", None])
def test_neighbours_that_are_no_number(neighbors):
    with pytest.raises(InputError, match="neighbours of a place"):
        sizes(10, 10, neighbors=neighbors)


@pytest.fixture(scope="module")
def post():
    with warnings.catch_warnings(action="ignore"):  # so few draws have not converged
        return vmqp.regress(X, Y, square(15), kernel=KERNEL, stages=2, draws=20, **QUICK)


def test_shapes(post):
    assert post.draws.shape[::2] == (2, 225)
    assert post.mean.shape == post.variance.shape == (225,)
    assert post.interval(0.9).shape == (225, 2)
    assert post.X_new.shape == (225, 2)
    np.testing.assert_array_equal(post.X_new, square(15))


def test_parameters_are_those_that_were_learned(post):
    assert set(post.parameters) == {"variance", "lengthscale", "concentration", "direction"}
    assert post.parameters["lengthscale"].shape[1] >= 60, "of the first stage, which drew more"
    assert set(post.summary().index) == set(post.parameters)


def test_summaries_are_those_of_all_steps(post):
    """They are near those of the draws, and not the same."""
    from vmqp import circle

    flat = post.draws.reshape(-1, 225)
    gap = np.abs(circle.difference(post.mean, circle.mean(flat, axis=0)))
    assert 0.0 < gap.max() < 0.4
    assert 0.0 < np.abs(post.variance - circle.variance(flat, axis=0)).max() < 0.15


def test_diagnostics_and_verdict(post):
    table = post.diagnostics()
    assert table.index.str.startswith("angle[").sum() == 225
    assert "lengthscale" in table.index
    text = str(post.verdict())
    assert "R-hat" in text


def test_densities_and_scores(post):
    grid = np.linspace(-np.pi, np.pi, 60, endpoint=False)
    density = post.density(grid)
    np.testing.assert_allclose(density.sum(axis=1) * (grid[1] - grid[0]), 1.0, atol=0.01)
    assert post.crps(post.mean).max() < 0.5
    assert len(post.regions(0.9)) == 225


def test_it_is_saved_and_read(post, tmp_path):
    post.save(tmp_path / "map.nc")
    again = vmqp.load(tmp_path / "map.nc")
    np.testing.assert_array_equal(again.mean, post.mean)
    np.testing.assert_array_equal(again.variance, post.variance)
    assert str(again.verdict()) == str(post.verdict())
    assert again.parameters.keys() == post.parameters.keys()


def test_it_is_a_map_of_xarray(post):
    assert post.to_xarray()["mean"].shape == (15, 15)
    assert len(post.to_frame()) == 225


@pytest.mark.filterwarnings("ignore::vmqp.errors.TransductiveWarning")
class TestOptions:
    def test_a_constant_drift_is_refused(self):
        with pytest.raises(InputError, match="needs drift='mean'"):
            vmqp.regress(X, Y, square(5), stages=2, drift="constant", **QUICK)

    def test_more_draws_than_fit(self):
        with pytest.raises(InputError, match="do not fit the memory"):
            vmqp.regress(X, Y, square(60), stages=2, draws=10**6, memory="1GB", **QUICK)

    def test_a_constant_drift_of_no_strength_is_none(self):
        found = [
            vmqp.regress(
                X, Y, square(5), stages=2, kernel=FIXED, concentration=0, drift=drift, draws=8, **QUICK
            )
            for drift in ("constant", "mean")
        ]
        np.testing.assert_array_equal(found[0].draws, found[1].draws)

    @pytest.mark.parametrize("draws", [8, 90])
    def test_a_number_of_draws_is_what_is_drawn(self, draws):
        """Without a rule; with one it is the most."""
        options = QUICK | {"until": None, "concentration": 0, "kernel": FIXED, "stages": 2}
        assert vmqp.regress(X, Y, square(4), draws=draws, **options).draws.shape == (2, draws, 16)

    def test_any_number_of_draws_that_fits(self, monkeypatch):
        asked = {}

        def run_chains(task, **options):
            asked.update(options)
            raise InputError("enough")

        monkeypatch.setattr("vmqp.regression.stages.run_chains", run_chains)
        with pytest.raises(InputError, match="enough"):
            vmqp.regress(
                X, Y, square(50), stages=2, kernel=FIXED, concentration=0, draws=5000, memory="16GB", **QUICK
            )
        assert asked["draws"] == 5000

    @pytest.mark.parametrize(
        ("option", "message"),
        [
            ({"chains": 0}, "chains is 0"),
            ({"chains": "4"}, "chains is '4'"),
            ({"workers": "x"}, "workers is 'x'"),
            ({"until": 5}, "until is 5"),
            ({"time_limit": "x"}, "time_limit"),
            ({"time_limit": -5.0}, r"time_limit.*-5"),
            ({"checkpoint": ""}, "checkpoint is ''"),
            ({"checkpoint": 5}, "checkpoint is 5"),
            ({"executor": "cloud"}, "executor is 'cloud'"),
            ({"draws": 0}, "draws is 0"),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("learned", [True, False])
    def test_wrong_options_are_named(self, option, message, learned):
        more = {} if learned else {"kernel": FIXED, "concentration": 0}
        with pytest.raises(InputError, match=message):
            vmqp.regress(X, Y, square(5), stages=2, **QUICK | more | option)

    def test_one_chain_is_not_trusted(self):
        options = QUICK | {"chains": 1, "until": None, "draws": 10, "kernel": FIXED, "concentration": 0}
        verdict = vmqp.regress(X, Y, square(4), stages=2, **options).verdict()
        assert not verdict.trusted
        assert "one chain only" in str(verdict)

    def test_folders_of_others_stay(self, tmp_path):
        options = QUICK | {"kernel": FIXED, "concentration": 0, "stages": 2, "draws": 8}
        mine, old = tmp_path / "map-germany", tmp_path / "map-0123456789ab"
        for folder in (mine, old):
            folder.mkdir()
            (folder / "thesis.txt").write_text("years of work")
        vmqp.regress(X, Y, square(4), checkpoint=tmp_path, **options)
        assert (mine / "thesis.txt").exists()
        assert (old / "thesis.txt").exists()
        (old / "manifest.json").write_text("{}")
        vmqp.regress(X, Y, square(4), checkpoint=tmp_path, **options)
        assert not old.exists(), "a map of other parameters"

    def test_a_map_goes_on_with_another_memory(self, tmp_path, monkeypatch):
        """Fields are kept where there is room for them, and a map that was begun keeps to its choice."""
        options = QUICK | {"kernel": FIXED, "concentration": 0, "stages": 2, "until": None}
        whole = vmqp.regress(X, Y, square(4), draws=20, **options)
        for begun, later in ((1000, 30), (30, 1000)):
            folder = tmp_path / str(begun)
            for draws, room in ((8, begun), (20, later)):
                monkeypatch.setattr(
                    "vmqp.regression.stages.affordable_draws", lambda *_, room=room, **__: room
                )
                if begun > later and draws == 20:
                    with pytest.raises(InputError, match=r"keeps its fields.*draw at most 10"):
                        vmqp.regress(X, Y, square(4), draws=draws, checkpoint=folder, **options)
                    continue
                found = vmqp.regress(X, Y, square(4), draws=draws, checkpoint=folder, **options)
            assert len(list(folder.glob("map-*"))) == 1
        np.testing.assert_array_equal(found.draws, whole.draws)

    def test_leave_one_out_says_how(self, post):
        with pytest.raises(InputError, match="stages=1"):
            post.loo()

    def test_a_memory_that_is_none(self):
        with pytest.raises(InputError, match="'4GB'"):
            vmqp.regress(X, Y, square(5), stages=2, memory="lots", **QUICK)

    def test_nothing_to_learn(self):
        found = vmqp.regress(X, Y, square(5), kernel=FIXED, concentration=0, stages=2, draws=10, **QUICK)
        assert found.parameters == {}
        assert found.draws.shape == (2, 10, 25)
        assert "map" in str(found.verdict())

    @pytest.mark.parametrize("noise", [30.0, priors.HalfNormal(50)])
    def test_noise(self, noise):
        kernel = priors.HalfNormal(1) * kernels.Exponential(1.0)
        found = vmqp.regress(X, Y, square(5), kernel=kernel, noise=noise, stages=2, draws=12, **QUICK)
        spread = [np.exp(1j * draws).mean(axis=(0, 1)) for draws in (found.latent, found.draws)]
        assert (np.abs(spread[1]) < np.abs(spread[0])).mean() > 0.7, (
            "an observation scatters more than the process"
        )
        np.testing.assert_allclose(found.mean, np.angle(spread[1]), atol=1e-5)

    def test_a_checkpoint_holds_both_stages(self, tmp_path):
        first = vmqp.regress(X, Y, square(6), stages=2, draws=8, checkpoint=tmp_path / "run", **QUICK)
        assert {path.name.split("-")[0] for path in (tmp_path / "run").iterdir()} == {"learning", "map"}
        again = vmqp.regress(X, Y, square(6), stages=2, draws=8, checkpoint=tmp_path / "run", **QUICK)
        np.testing.assert_array_equal(first.mean, again.mean)
        np.testing.assert_array_equal(first.draws, again.draws)

    def test_one_stage_on_a_sparse_precision(self):
        options = QUICK | {"until": None, "draws": 150, "warmup": 150}
        dense, sparse = (
            vmqp.regress(
                X, Y, square(4), kernel=KERNEL, drift="mean", precision=precision, neighbors=30, **options
            )
            for precision in ("dense", "vecchia")
        )
        assert np.cos(dense.mean - sparse.mean).min() > 0.98
        assert np.cos(dense.mean - np.roll(sparse.mean, 3)).min() < 0.98


def test_the_coarse_set_is_spread_out():
    from vmqp.learning import make_problem

    problem = make_problem(X, Y, square(40), kernel=KERNEL, drift="mean", neighbors=10)
    fewer = learning_problem(problem, "auto")
    assert fewer.n == 40
    assert fewer.d == 90
    assert not fewer.is_sparse
    new = fewer.X[40:]
    gaps = np.linalg.norm(new[:, None] - new, axis=-1) + 10 * np.eye(50)
    assert gaps.min() > 0.15, "50 of 1600 places at random would have neighbours of the grid, 0.08 apart"


def test_many_observed_places_are_learned_with_in_part():
    from vmqp.learning import make_problem

    hours = np.arange(9000.0)[:, None]
    problem = make_problem(
        hours, np.sin(hours[:, 0]), hours[:30] + 0.5, kernel=KERNEL, drift="mean", neighbors=10
    )
    fewer = learning_problem(problem, "auto")
    assert 450 <= fewer.n <= 600
    gaps = np.diff(np.sort(fewer.X[: fewer.n, 0]))
    assert np.median(gaps) == 1.0, "as dense as all"
    assert (gaps > 1.0).sum() >= 15, "in groups"
    assert gaps.max() < 1200.0, "all over the series"
    assert (fewer.observed == np.sin(fewer.X[: fewer.n, 0])).all()
