"""The result: labels, attributes, warnings; and that ArviZ and files can take it."""

import warnings
from datetime import datetime

import arviz_base
import numpy as np
import pytest
import xarray as xr

import vmqp
from run_toy import Toy, same
from vmqp.chain import Description
from vmqp.errors import ConvergenceWarning
from vmqp.run import Converged, run_chains
from vmqp.run.result import make_result
from vmqp.run.store import Groups

SMALL = {"chains": 3, "draws": 200, "seed": 5, "progress": False}


@pytest.fixture(scope="module")
def result():
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return run_chains(Toy(), **SMALL)


def test_groups_and_labels(result):
    assert list(result.children) == ["posterior", "sample_stats", "observed_data", "constant_data"]
    posterior = result.posterior
    assert posterior["level"].dims == posterior["direction"].dims == ("chain", "draw")
    assert posterior["angles"].dims == ("chain", "draw", "angles_place")
    np.testing.assert_array_equal(posterior["angles_place"], [0, 10, 20])
    np.testing.assert_array_equal(posterior["chain"], range(3))
    np.testing.assert_array_equal(posterior["draw"], range(200))
    assert posterior["angles"].sel(angles_place=20).shape == (3, 200)
    assert result.sample_stats["large"].dtype == bool
    np.testing.assert_array_equal(result.observed_data["y"], np.linspace(0.0, 1.0, 4))
    assert result.constant_data["X"].shape == (4, 2)


def test_attributes(result):
    for attributes in (result.attrs, result.posterior.attrs, result.sample_stats.attrs):
        assert attributes["creation_library"] == attributes["inference_library"] == "vmqp"
        assert attributes["creation_library_version"] == vmqp.__version__
        assert (attributes["seed"], attributes["stopped"], attributes["model"]) == (5, "draws", "toy")
        assert attributes["sampling_time"] > 0.0
        age = datetime.now().astimezone() - datetime.fromisoformat(attributes["created_at"])
        assert 0.0 <= age.total_seconds() < 600.0
        assert attributes["created_at"].endswith("+00:00")


def test_draws_are_not_copied():
    draws = np.zeros((2, 50, 3))
    tree = make_result(
        Groups({}, {"angles": draws[:, :20]}, {}, {}),
        Description({"angles": np.arange(3)}, {}, {}, {}),
        seed=0,
        stopped="interrupted",
        seconds=1.0,
    )
    assert np.shares_memory(tree.posterior["angles"].values, draws)
    assert list(tree.children) == ["posterior"]


def test_arviz_base_reads_it(result):
    assert arviz_base.convert_to_datatree(result) is result
    flat = arviz_base.extract(result, var_names="angles")
    assert flat.sizes == {"angles_place": 3, "sample": 600}


def test_arviz_stats_reads_it(result):
    from arviz_stats import ess, rhat, summary

    table = summary(result, group="posterior")
    assert list(table.index) == ["level", "direction", "angles[0]", "angles[10]", "angles[20]"]
    assert abs(float(rhat(result)["level"]) - 1.0) < 0.1
    assert float(ess(result, method="bulk")["level"]) > 50


def test_saved_and_loaded(result, tmp_path):
    result.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "run.nc", engine="h5netcdf") as loaded:
        assert same(loaded.load(), result)
        assert loaded.attrs == result.attrs
        np.testing.assert_array_equal(loaded.posterior["angles_place"], [0, 10, 20])


def test_seed_too_large_for_a_file_is_kept_as_text(tmp_path):
    tree = run_chains(Toy(), chains=1, draws=3, seed=2**70, progress=False)
    assert tree.attrs["seed"] == str(2**70)


class Doubtful(Toy):
    def warnings(self, stats):
        assert stats["jump"].shape == (3, 200)
        return ["the first doubt.", "the second doubt."]


def caught(task, **options):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run_chains(task, **SMALL | options)
    assert all(w.category is ConvergenceWarning and w.filename == __file__ for w in found)
    return [str(w.message) for w in found]


def test_doubts_of_the_task_are_warnings():
    assert [text for text in caught(Doubtful()) if "doubt" in text] == [
        "the first doubt.",
        "the second doubt.",
    ]


def test_chains_apart_are_a_warning_that_names_the_worst():
    [text] = caught(Toy(apart=5.0))
    assert text.startswith("R-hat of parameter 'level' is ")
    assert "below 1.01" in text
    assert "draw more" in text


def test_angles_apart_are_a_warning_that_names_the_place():
    class Apart(Toy):
        def advance(self, state, iterations):
            state, chunk = super().advance(state, iterations)
            angles = chunk.angles["angles"].copy()
            angles[:, 1] = 0.01 * angles[:, 1] + float(state["chain"])
            return state, chunk._replace(angles={"angles": angles})

    [text] = caught(Apart())
    assert text.startswith("R-hat of 'angles' at place 10 is ")
    assert "below 1.02" in text


def test_limits_of_the_rule_hold_for_the_warning():
    assert caught(Toy(correlation=0.0), until=Converged(1.2, 1.2, 10)) == []


@pytest.mark.parametrize("options", [{"chains": 1}, {"draws": 3}], ids=str)
def test_no_r_hat_without_chains_or_draws_to_compare(options):
    assert caught(Toy(apart=5.0), **options) == []


def test_converged_run_is_silent():
    assert caught(Toy(correlation=0.0, warmup=0), draws=3000, chains=2) == []
