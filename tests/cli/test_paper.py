"""`vmqp paper`: the list, items by name, and what is wrong."""

import json
from pathlib import Path

import pytest

import paper_items
from vmqp.cli import main


@pytest.fixture
def fakes(monkeypatch):
    paper_items.put_in(monkeypatch)


def test_the_list_names_every_item(call):
    answer = call(["paper", "list"])
    assert answer.code == 0
    for name in ("fig1", "fig2", "fig3", "fig4", "bridging"):
        assert name in answer.out
    assert "transductive" in answer.out


def test_items_are_made_and_the_answer_says_where_and_whether_they_agree(fakes, call):
    answer = call(["paper", "fig0", "fig0", "--out", "made", "--quick", "--seed", "4"])
    assert answer.code == 0
    assert answer.out.count("yes: both are lines.") == 1  # given twice, made once
    for kind in ("md", "png", "csv"):
        assert str(Path("made", "fig0", f"fig0.{kind}")) in answer.out
        assert Path("made", "fig0", f"fig0.{kind}").is_file()
    facts = json.loads(Path("made/fig0/fig0.json").read_text(encoding="utf-8"))
    assert (facts["seed"], facts["quick"]) == (4, True)


def test_quiet_prints_nothing(fakes, call):
    answer = call(["paper", "fig0", "--quiet"])
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert Path("paper-output/fig0/fig0.json").is_file()


def test_ctrl_c_ends_with_130_and_keeps_what_was_done(fakes, call):
    answer = call(["paper", "all", "--out", "made"])
    assert answer.code == 130
    assert "stopped before fig9 was done" in answer.err
    assert Path("made/fig0/fig0.json").is_file()
    assert not Path("made/fig9/fig9.json").exists()


def test_what_is_wrong_is_one_sentence_before_the_first_item(fakes, call):
    Path("note").write_text("a file", encoding="utf-8")
    Path("wind.csv").write_text("longitude,latitude,dir_rad\n1,2,3\n", encoding="utf-8")
    before = set(Path().rglob("*"))
    for more, word in (
        (["fig0", "fgi9"], "did you mean 'fig9'"),
        (["list", "fig0"], "'list' stands alone"),
        (["fig0", "--engine", "cluster"], "--engine"),
        (["fig0", "--data", "no.csv"], "there is no file 'no.csv'"),
        (["fig0", "--data", "wind.csv"], "which 'fig0' does not take"),
        (["fig0", "--seed", "-1"], "--seed"),
        (["fig0", "--out", "note"], "--out"),
        ([], "NAME"),
    ):
        answer = call(["paper", *more])
        assert answer.code == 2, more
        assert word in answer.err
        assert "Traceback" not in answer.err
    assert set(Path().rglob("*")) == before


def test_files_of_data_go_where_they_belong_or_are_refused(call):
    Path("note.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    Path("wind.csv").write_text("longitude,latitude,dir_rad\n1,2,3\n", encoding="utf-8")
    rows = "".join(f"Slow,{k},{k},{k},{k}\n" for k in range(0, 100, 10))
    for name in ("gait.csv", "more.csv"):
        Path(name).write_text(
            f"speed_class,cycle_pct,hip_deg_mean,knee_deg_mean,ankle_deg_mean\n{rows}", encoding="utf-8"
        )
    for more, word in (
        (
            ["traces", "--data", "gait.csv", "--data", "more.csv"],
            "gait.csv and more.csv are both tables of gait",
        ),
        (["table1", "--data", "note.csv"], "neither a table of winds"),
        (["fig2", "--data", "wind.csv"], "'fig2' does not take"),
        (["gait", "fig5", "--data", "gait.csv", "--data", "wind.csv", "--quick"], "one speed only (Slow)"),
        (["fig5", "--data", "wind.csv", "--quick"], "1 stations"),
    ):
        answer = call(["paper", *more])
        assert answer.code == 2, more
        assert word in answer.err
        assert "Traceback" not in answer.err


@pytest.mark.xdist_group("paper-2")
def test_a_figure_of_the_paper_from_the_shell(tmp_path):
    assert main(["paper", "fig2", "--quick", "--quiet", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "fig2" / "fig2.svg").is_file()
