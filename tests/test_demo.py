"""The demonstration: the picture is made, nothing jumps at the cut, and a bad directory is one sentence."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from vmqp import demo


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "made" / "on the way"
    return out, demo.main(["--out", str(out), "--places", "24", "--draws", "200"])


def test_picture_exists_and_is_not_blank(run):
    out, code = run
    assert code == 0
    pixels = imread(out / demo.PICTURE)[..., :3]
    assert pixels.shape[0] > 500
    assert pixels.shape[1] > 500
    # Every panel has ink: no sixth of the picture is one colour.
    for rows in np.array_split(pixels, 3):
        for panel in np.array_split(rows, 2, axis=1):
            assert panel.std() > 0.05


def test_output_says_what_is_done_and_ends_with_the_path(tmp_path, capsys):
    assert demo.main(["--out", str(tmp_path), "--places", "12", "--draws", "50"]) == 0
    out, err = capsys.readouterr()
    *steps, last = out.splitlines()
    assert last == str(tmp_path / demo.PICTURE)
    assert len(steps) == 6
    assert all(step.endswith(" s") for step in steps)
    assert err == ""


@pytest.mark.parametrize("inside", [False, True])
def test_bad_directory_is_one_sentence(tmp_path, capsys, inside):
    file = tmp_path / "a file"
    file.write_text("not a directory")
    assert demo.main(["--out", str(file / "inside" if inside else file)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("The picture cannot be saved in")
    assert err.count("\n") == 1
    assert "--out" in err


def test_directory_without_the_right_to_write(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo.os, "access", lambda path, mode: False)
    assert demo.main(["--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("option", ["--places", "--draws"])
def test_too_small_sizes_are_refused(option, capsys):
    with pytest.raises(SystemExit) as stop:
        demo.main([option, "1"])
    assert stop.value.code == 2
    assert "give 2 or more" in capsys.readouterr().err


def test_curve_has_no_vertical_line_at_the_cut():
    places = np.linspace(0.0, 1.0, 200)
    winding = np.linspace(-1.0, 11.0, 200)
    axes = Figure().add_subplot()
    demo.draw_curve(axes, places, np.angle(np.exp(1j * winding)), label="curve")
    assert len(axes.lines) == 3  # the curve is seen in three turns
    shown = np.zeros(200, dtype=int)
    for line in axes.lines:
        angles = np.asarray(line.get_ydata())
        assert np.abs(np.diff(angles)).max() < 0.1
        np.testing.assert_allclose(np.exp(1j * angles), np.exp(1j * winding), atol=1e-12)
        shown += np.abs(angles) <= np.pi
    assert (shown == 1).all()  # each place once
    assert [line.get_label() for line in axes.lines].count("curve") == 1


def test_band_crosses_the_cut_without_a_jump():
    places = np.linspace(0.0, 1.0, 50)
    mean = np.linspace(2.0, 4.0, 50)
    wrap = lambda angles: np.angle(np.exp(1j * angles))  # noqa: E731
    axes = Figure().add_subplot()
    demo.draw_band(axes, demo.Band(places, wrap(mean), wrap(mean - 0.4), wrap(mean + 0.2)))
    assert len(axes.collections) == 2
    for band in axes.collections:
        heights = band.get_paths()[0].vertices[:, 1]
        assert heights.max() - heights.min() == pytest.approx(2.6)


def test_prior_functions_are_angles_and_follow_the_seed():
    kernel = demo.kernels.Exponential(2.0)
    places = np.linspace(0.0, 1.0, 6)
    first = demo.draw_prior(kernel, places, 3, seed=5)
    assert first.shape == (3, 6)
    assert (np.abs(first) <= np.pi).all()
    np.testing.assert_array_equal(first, demo.draw_prior(kernel, places, 3, seed=5))
    assert (first != demo.draw_prior(kernel, places, 3, seed=6)).any()
