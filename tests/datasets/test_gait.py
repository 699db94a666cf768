"""Gait: the generated one against its truth, and files of walking and running read by their columns."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from vmqp.datasets import Gait, gait_angles, generated_gait, read_gait
from vmqp.errors import InputError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
ANGLES = ["hip", "knee", "ankle"]


def written(tmp_path, frame, name="gait.csv"):
    frame.to_csv(tmp_path / name, index=False)
    return tmp_path / name


def walking(**changes):
    table = {
        "speed_class": ["Slow", "Slow", "Free", "Free", "Fast", "Fast"],
        "cycle_pct": [0, 50] * 3,
        "hip_deg_mean": [30.0, -9.0, 35.0, -8.0, 39.0, -7.0],
        "knee_deg_mean": [5.0, 7.0, 6.0, 9.0, 8.0, 10.0],
        "ankle_deg_mean": [-3.0, 10.0, -2.0, 11.0, -1.0, 12.0],
    }
    return pd.DataFrame(table | changes)


def test_generated_is_the_truth_plus_a_known_scatter():
    gait = generated_gait(points=100, scatter_sd=0.5, seed=3)
    assert gait.generated
    assert gait.by == "gradient"
    assert gait.groups == ["-10 %", "-5 %", "0 %", "5 %", "10 %"]
    assert gait.frame.groupby("group", sort=False)["level"].first().tolist() == [-2, -1, 0, 1, 2]
    true = gait.frame[[f"true_{name}" for name in ANGLES]].to_numpy()
    np.testing.assert_allclose(true, gait_angles(gait.frame["cycle_pct"], 5.0 * gait.frame["level"]))
    scatter = gait.frame[ANGLES].to_numpy() - true
    # 15 curves of 10 squared weights each: the mean square is within 35 % of 0.25, at 3 standard deviations.
    assert 0.65 * 0.25 < (scatter**2).mean() < 1.35 * 0.25


def test_generated_changes_smoothly_and_ranges_are_those_of_a_run():
    phases = np.linspace(0, 100, 201)
    curves = np.stack([gait_angles(phases, gradient) for gradient in (-10, -5, 0, 5, 10)])
    assert np.abs(np.diff(curves, axis=0)).max() < 10
    assert np.abs(np.diff(curves, n=2, axis=0)).max() < 1
    reach = np.ptp(curves[2], axis=0)
    assert (reach > [30, 60, 30]).all()
    assert (reach < [60, 100, 60]).all()
    np.testing.assert_allclose(curves[:, 0], curves[:, -1])


def test_generated_is_the_same_again_and_without_scatter_the_truth():
    assert generated_gait(seed=5).frame.equals(generated_gait(seed=5).frame)
    assert not generated_gait(seed=5).frame.equals(generated_gait(seed=6).frame)
    exact = generated_gait(scatter_sd=0, gradients=(2,), points=7).frame
    np.testing.assert_array_equal(exact[ANGLES], exact[[f"true_{name}" for name in ANGLES]])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"gradients": (1, 1)}, "gradients"),
        ({"gradients": (40,)}, "-30 to 30"),
        ({"gradients": "steep"}, "gradients"),
        ({"points": 3}, "points"),
        ({"points": 2.5}, "points"),
        ({"scatter_sd": -1}, "scatter_sd"),
        ({"scatter_sd": float("nan")}, "scatter_sd"),
    ],
)
def test_generated_refuses(options, said):
    with pytest.raises(InputError, match=said):
        generated_gait(**options)


def test_walking(tmp_path):
    gait = read_gait(written(tmp_path, walking()))
    assert gait.by == "speed"
    assert not gait.generated
    assert list(gait.frame) == ["group", "level", "cycle_pct", *ANGLES]
    assert gait.frame["level"].tolist() == [-1, -1, 0, 0, 1, 1]
    assert gait.curve("Free")["hip"].tolist() == [35.0, -8.0]
    with pytest.raises(InputError, match="'Free'"):
        gait.curve("Free ")


def test_running(tmp_path):
    table = walking().rename(columns=lambda name: name.replace("_deg_mean", "_sagittal_deg"))
    gait = read_gait(written(tmp_path, table.rename(columns={"speed_class": "subject"})))
    assert gait.by == "runner"
    assert gait.frame["level"].isna().all()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (walking().drop(columns="knee_deg_mean"), "no column 'knee_deg_mean'"),
        (walking().drop(columns="speed_class"), "'speed_class' .walking. or 'subject'"),
        (walking(cycle_pct=[0, 150] * 3), "150"),
        (walking(hip_deg_mean=["a", "b"] * 3), "hip_deg_mean"),
    ],
)
def test_files_that_are_refused(tmp_path, table, said):
    with pytest.raises(InputError, match=said):
        read_gait(written(tmp_path, table))


@pytest.mark.parametrize(
    ("name", "by", "groups", "rows"),
    [("walking_gait_by_speed.csv", "speed", 5, 255), ("running_gait.csv", "runner", 46, 4646)],
)
def test_shared_data(name, by, groups, rows):
    if not (SHARED / name).is_file():
        pytest.skip(f"the shared data {name} are not here")
    gait = read_gait(SHARED / name)
    assert isinstance(gait, Gait)
    assert (gait.by, len(gait.groups), len(gait.frame)) == (by, groups, rows)
    assert gait.frame[ANGLES].abs().to_numpy().max() < 130
