"""The frame of `vmqp paper`: names, files, and what is wrong."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import paper_items
from vmqp import paper
from vmqp._version import __version__
from vmqp.errors import InputError
from vmqp.paper import catalogue, write
from vmqp.paper.catalogue import NAMES, Item, list_items
from vmqp.paper.frame import Setting


@pytest.fixture
def fakes(monkeypatch):
    paper_items.put_in(monkeypatch)


def test_all_nine_names_are_in_the_papers_order():
    names = ["fig1", "fig2", "fig3", "fig4", "table1", "fig5", "gait", "traces", "bridging"]
    assert list(NAMES) == names
    listed = list(list_items())
    assert [name for name in names if name in listed] == listed
    assert {"fig1", "fig2", "fig3", "fig4", "bridging"} <= set(listed)


def test_an_item_without_a_module_is_not_listed(monkeypatch):
    monkeypatch.setattr(catalogue, "NAMES", NAMES | {"fig99": Item("fig99", "Figure 99", "nothing")})
    assert "fig99" not in list_items()
    with pytest.raises(InputError, match="'fig99' is not in the paper"):
        catalogue.find("fig99")


def test_an_unknown_name_suggests_the_nearest(tmp_path):
    with pytest.raises(InputError, match=r"did you mean 'bridging'\? There are fig1, "):
        paper.make("briging", out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_files_hold_the_outcome(fakes, tmp_path):
    outcome = paper.make("fig0", out=tmp_path / "deep" / "out", quick=True, seed=3)
    folder = tmp_path / "deep" / "out" / "fig0"
    names = {path.name for path in folder.iterdir()}
    assert names == {"fig0.png", "fig0.svg", "fig0.csv", "fig0.md", "fig0.json"}
    assert (folder / "fig0.png").read_bytes().startswith(b"\x89PNG")
    ET.parse(folder / "fig0.svg")
    pd.testing.assert_frame_equal(pd.read_csv(folder / "fig0.csv"), outcome.tables["fig0"])
    text = (folder / "fig0.md").read_text(encoding="utf-8")
    for part in ("A line.", "A line, short.", "yes: both are lines.", "Two points.", "--quick", "a\\|b"):
        assert part in text
    assert "![fig0](fig0.png)" in text
    facts = json.loads((folder / "fig0.json").read_text(encoding="utf-8"))
    assert facts["facts"] == {"rhat": 1.25, "draws": 7, "nothing": None, "word": "κ"}
    assert (facts["quick"], facts["seed"], facts["name"]) == (True, 3, "fig0")
    assert facts["versions"]["vmqp"] == __version__
    assert facts["versions"]["numpy"] == np.__version__
    assert facts["seconds"] >= 0.0
    assert set(facts["files"]) == names - {"fig0.json"}


def test_a_long_run_is_not_called_short(fakes, tmp_path):
    paper.make("fig0", out=tmp_path)
    assert "--quick" not in (tmp_path / "fig0" / "fig0.md").read_text(encoding="utf-8")


def test_the_same_run_gives_the_same_pictures(fakes, tmp_path):
    """A date or a random identifier in an SVG would make every run a change in version control."""
    for part in ("a", "b"):
        paper.make("fig0", out=tmp_path / part, seed=2)
    for name in ("fig0.svg", "fig0.png", "fig0.csv"):
        assert (tmp_path / "a" / "fig0" / name).read_bytes() == (tmp_path / "b" / "fig0" / name).read_bytes()


def test_a_disk_that_runs_full_leaves_no_half_written_file_and_no_record(fakes, tmp_path, monkeypatch):
    paper.make("fig0", out=tmp_path)
    before = (tmp_path / "fig0" / "fig0.csv").read_bytes()
    whole = write.write_whole

    def full(path, fill):
        if path.suffix == ".csv":
            raise OSError(28, "No space left on device")
        whole(path, fill)

    monkeypatch.setattr(write, "write_whole", full)
    with pytest.raises(InputError, match=r"No space left on device.*--out"):
        paper.make("fig0", out=tmp_path, seed=5)
    assert not (tmp_path / "fig0" / "fig0.json").exists()
    assert (tmp_path / "fig0" / "fig0.csv").read_bytes() == before
    assert not [path for path in (tmp_path / "fig0").iterdir() if path.name.startswith(".")]


def test_a_short_run_does_not_replace_a_full_one(fakes, tmp_path):
    paper.make("fig0", out=tmp_path, quick=True)
    paper.make("fig0", out=tmp_path)
    with pytest.raises(InputError, match="holds a full run, which a short one would replace"):
        paper.make("fig0", out=tmp_path, quick=True)
    assert json.loads((tmp_path / "fig0" / "fig0.json").read_text(encoding="utf-8"))["quick"] is False


def test_a_run_that_was_stopped_writes_nothing(fakes, tmp_path):
    """Chains return what they have after Ctrl-C; a figure made of that would pass for a whole one."""
    with pytest.raises(KeyboardInterrupt):
        paper.make("fig9", out=tmp_path)
    assert not list((tmp_path / "fig9").iterdir())


def test_what_is_wrong_is_said_before_anything_is_made(fakes, tmp_path):
    (tmp_path / "file").write_text("")
    for options, words in (
        ({"out": tmp_path / "file"}, "give another directory with --out"),
        ({"out": tmp_path / "new", "data": tmp_path / "no.csv"}, "--data"),
        ({"out": tmp_path / "new", "seed": -1}, "at least 0"),
        ({"out": tmp_path / "new", "seed": True}, "at least 0"),
    ):
        with pytest.raises(InputError, match=words):
            paper.make("fig0", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_engine_is_chosen_by_the_number_of_places_if_none_is_given(tmp_path):
    setting = Setting(out=tmp_path)
    assert (setting.executor(99), setting.executor(100)) == ("threads", "processes")
    assert Setting(out=tmp_path, engine="auto").executor(100) == "processes"
    assert Setting(out=tmp_path, engine="dask://a:1").executor(5) == "dask://a:1"
