"""The experiments with data, each in its quick form: gait, wind map, traces. Numbers in their tables are asserted.

Seeds are fixed, so that nothing here fails by chance on one machine. The bounds leave room for another one: the mean
error of the phase was 1.7 to 1.9 % of the cycle in six runs on the walking data, the share covered 0.95 or 0.96.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.ndimage import gaussian_filter

from vmqp import paper
from vmqp.datasets import generated_gait
from vmqp.errors import InputError
from vmqp.paper.chains import Health, length
from vmqp.paper.fig5 import _claim, _share_of_shifts
from vmqp.paper.frame import Setting
from vmqp.paper.gait import peaks
from vmqp.paper.gait_task import our_kernel, paper_kernel, task
from vmqp.paper.traces import _summary
from vmqp.paper.wind_task import stations, the_wind

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def shared(name):
    if name is None:
        return None
    if not (SHARED / name).is_file():
        pytest.skip(f"the shared data {name} are not here")
    return SHARED / name


def made(name, tmp_path, data):
    outcome = paper.make(name, out=tmp_path, quick=True, data=shared(data), progress=False)
    folder = tmp_path / name
    for stem in outcome.figures:
        assert (folder / f"{stem}.png").stat().st_size > 10_000
        assert (folder / f"{stem}.svg").is_file()
    for stem, table in outcome.tables.items():
        assert len(pd.read_csv(folder / f"{stem}.csv")) == len(table)
    assert "seed" in json.loads((folder / f"{name}.json").read_text())
    assert outcome.agrees.split(":")[0] in {"yes", "in part", "no"}
    assert "quick run" in outcome.length
    return outcome


@pytest.mark.parametrize("data", [None, "walking_gait_by_speed.csv"])
def test_gait(tmp_path, data):
    outcome = made("gait", tmp_path, data)
    scores = outcome.tables["gait_scores"]
    ours = scores[scores["model"].str.startswith("ours")]
    assert ours["predicted_points"].tolist() == [20, 30 if data is None else 51]
    assert (ours["mean_error_pct"] <= 2.5).all()
    assert (ours["coverage_90"] >= 0.8).all()
    assert (ours["mean_arc_pct"] < 25).all(), "arcs that cover by being long say nothing"
    assert outcome.tables["gait_parameters"]["parameter"].tolist() == ["σ²", "l²", "g²"] * 2
    assert ("Generated" if data is None else "file") in outcome.ours


def test_gait_of_runners(tmp_path):
    outcome = made("gait", tmp_path, "running_gait.csv")
    ours = outcome.tables["gait_scores"].iloc[1]
    assert ours["predicted_points"] == 60
    scores = outcome.tables["gait_scores"]
    assert (scores["learned_points"] + scores["predicted_points"]).max() < 350
    assert ours["mean_error_pct"] < 6
    assert not set(outcome.tables["gait_points"]["group"]) & set(ours["held_out"])


@pytest.mark.parametrize("data", [None, "wind_germany.csv"])
def test_fig5(tmp_path, data):
    outcome = made("fig5", tmp_path, data)
    stations = outcome.tables["fig5_stations"]
    assert len(stations) == 52
    errors = np.angle(np.exp(1j * (stations["mean_rad"] - stations["observed_rad"])))
    assert np.degrees(np.median(np.abs(errors))) < 20
    assert len(outcome.tables["fig5_grid"]) == 900
    assert outcome.tables["fig5_grid"]["circular_variance"].between(0, 1).all()
    if data is not None:
        assert 0.045 < outcome.facts["crps"] < 0.060, "0.052 in long runs"
    else:
        assert "generated" in outcome.ours


def test_traces(tmp_path):
    outcome = made("traces", tmp_path, "walking_gait_by_speed.csv")
    table = outcome.tables["traces"].set_index(["experiment", "quantity"])
    assert table.loc["wind"].index[:4].tolist() == ["σ²", "l²", "κ", "ν"]
    assert table.loc["gait"].index.tolist() == ["σ²", "l²", "g²"]
    assert len(outcome.figures) == 3
    assert "generated wind field" in outcome.ours
    assert "from a file" in outcome.ours


def test_the_held_out_curve_is_not_learned_from():
    gait = generated_gait(points=30)
    chosen = task(gait, "-5 %", every=3)
    assert set(chosen.train["group"]) == {"-10 %", "0 %", "5 %", "10 %"}
    assert set(chosen.test["group"]) == {"-5 %"}
    assert len(chosen.train) == 40
    np.testing.assert_allclose(chosen.X(chosen.test)[:, 0], np.radians(gait.curve("-5 %")["hip"]))
    np.testing.assert_allclose(np.diff(chosen.y(chosen.points)).mean(), 5.0, atol=0.4)


def test_kernels_are_those_of_the_text():
    chosen = task(generated_gait(points=10))
    assert "Gaussian" in repr(paper_kernel(chosen))
    assert "Nugget" not in repr(paper_kernel(chosen))
    assert "Nugget" in repr(our_kernel(chosen))
    places = np.array([[0.0, 0.0, 0.0, 0.0], [0.3, 0.0, 0.4, 2.0]])
    bound = paper_kernel(chosen).bind(places)
    values = {"variance": 1.7, "lengthscale_1": 0.6, "lengthscale_2": 1.5}
    expected = 1.7 * np.exp(-0.25 / (2 * 0.6**2) - 4.0 / (2 * 1.5**2))  # eq:gait_kernel
    np.testing.assert_allclose(bound.covariance(values)[0, 1], expected)


def test_peaks():
    rng = np.random.default_rng(1)
    one, other = rng.gamma(40.0, 0.05, 2000), rng.gamma(40.0, 0.3, 2000)
    assert len(peaks(one)) == 1
    assert len(peaks(np.concatenate([one, other]))) == 2
    assert len(peaks(np.concatenate([one, 1.1 * one]))) == 1


def test_the_claim_is_seen_where_it_holds_and_not_where_it_does_not():
    rng = np.random.default_rng(2)
    distance, disagree = rng.random(400), rng.random(400)
    table = pd.DataFrame({"nearest_deg": distance, "neighbours_disagree": disagree})
    held = _claim(table.assign(circular_variance=distance + 0.3 * disagree))
    assert held["near"] > 0.5
    assert held["near_p"] == 1 / 400, "no shift has as much"
    none = _claim(table.assign(circular_variance=distance + 0.3 * rng.random(400)))
    assert abs(none["all"]) < 0.2  # four standard deviations


def smooth(rng, cells=20, reach=2.5):
    """A map whose neighbouring cells are alike."""
    return gaussian_filter(rng.standard_normal((cells, cells)), reach, mode="wrap").ravel()


def test_smooth_maps_that_know_nothing_of_each_other_are_not_taken_for_the_claim():
    """With smooth maps 400 cells are no 400 pairs. Of 40 at 1 %, four or more are one case in 1,400."""
    rng = np.random.default_rng(3)
    distance = rng.random(400)
    tables = [
        pd.DataFrame(
            {
                "nearest_deg": distance,
                "neighbours_disagree": smooth(rng),
                "circular_variance": distance + smooth(rng),
            }
        )
        for _ in range(40)
    ]
    assert sum(_share_of_shifts(table, np.ones(400, dtype=bool)) <= 0.01 for table in tables) <= 3


def test_the_split_is_that_of_the_published_code(tmp_path):
    wind = the_wind(Setting(out=tmp_path, wind=shared("wind_germany.csv")))
    table = pd.read_csv(SHARED / "wind_germany.csv")
    rows = np.random.RandomState(18).choice(260, 52, replace=False)
    np.testing.assert_array_equal(wind.new_directions, table["dir_rad"].to_numpy()[rows])
    assert len(wind.places) == 208
    grid = wind.grid(3)
    assert grid.shape == (9, 2)
    assert (grid[:3, 1] == grid[0, 1]).all()


def test_directions_of_a_file_are_not_rounded(tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"longitude": rng.random(30), "latitude": rng.random(30), "dir_rad": rng.uniform(-3, 3, 30)}
    )
    table.to_csv(tmp_path / "own.csv", index=False)
    frame, source, published = stations(Setting(out=tmp_path, wind=tmp_path / "own.csv"))
    np.testing.assert_allclose(frame["direction_deg"], np.degrees(table["dir_rad"] + np.pi))
    assert (source, published) == ("own.csv", False)
    frame, _, published = stations(Setting(out=tmp_path, wind=shared("wind_germany.csv")))
    assert published
    assert (frame["direction_deg"] % 10 == 0).all()


def test_angles_are_summarised_on_the_circle():
    draws = (
        np.mod(np.pi + 0.1 * np.random.default_rng(1).standard_normal((2, 500)) + np.pi, 2 * np.pi) - np.pi
    )
    low, middle, high = _summary("ν", draws)
    assert abs(abs(middle) - np.pi) < 0.02
    assert np.mod(high - low, 2 * np.pi) < 0.4
    assert _summary("κ", np.arange(101.0)) == (5.0, 50.0, 95.0)


def test_a_table_with_few_stations_is_refused(tmp_path):
    (tmp_path / "few.csv").write_text("longitude,latitude,dir_rad\n9,50,0\n10,51,1\n")
    with pytest.raises(InputError, match="2 stations"):
        the_wind(Setting(out=tmp_path, wind=tmp_path / "few.csv"))


def test_length_says_what_was_run():
    text = length(Health(1.234, 17.0, 2, 300), 600_000, quick=True)
    for part in ("2 chains of 300", "17 effective", "1.234", "600,000", "quick run"):
        assert part in text
    assert not Health(1.03, 400.0, 4, 1000).sound
