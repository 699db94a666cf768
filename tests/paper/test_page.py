"""docs/paper.md is put together from full runs; items without one keep their section."""

import importlib.util
import json
from pathlib import Path

import pytest

from vmqp.paper.catalogue import NAMES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def page():
    spec = importlib.util.spec_from_file_location("paper_page", DOCS / "paper_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def put_run(folder, name, *, quick=False, csv="a\n1\n"):
    folder.mkdir(parents=True)
    (folder / f"{name}.json").write_text(json.dumps({"quick": quick}))
    (folder / f"{name}.png").write_bytes(b"png")
    (folder / f"{name}.csv").write_text(csv)
    text = (
        f"# Old\n\n![{name}]({name}.png)\n\nNew text.\n\nNumbers: [{name}.csv]({name}.csv)\n\n| a |\n| 1 |\n"
    )
    (folder / f"{name}.md").write_text(text)


@pytest.fixture
def here(tmp_path):
    """A page with two sections, and the table of another run."""
    (tmp_path / "docs" / "paper").mkdir(parents=True)
    (tmp_path / "docs" / "paper" / "preface.md").write_text("# Paper\n\n## Where we differ\n")
    (tmp_path / "docs" / "paper" / "fig5.csv").write_text("old\n")
    old = "\n\n".join(f"## {NAMES[name].title}\n\nOld text of {name}." for name in ("fig1", "fig5"))
    (tmp_path / "docs" / "paper.md").write_text(f"# Paper\n\n## Where we differ\n\n{old}\n")
    return tmp_path / "docs"


def test_what_was_run_is_new_and_the_rest_stays(page, here, tmp_path):
    put_run(tmp_path / "runs" / "fig5", "fig5")
    put_run(tmp_path / "runs" / "gait-runners", "gait")
    put_run(tmp_path / "runs" / "fig1", "fig1", quick=True)
    page.main(tmp_path / "runs", here)
    text = (here / "paper.md").read_text()
    titles = [line for line in text.splitlines() if line.startswith("#")]
    runners = f"## {NAMES['gait'].title}, runners"
    assert titles == [
        "# Paper",
        "## Where we differ",
        f"## {NAMES['fig1'].title}",
        f"## {NAMES['fig5'].title}",
        runners,
    ]
    assert "Old text of fig1." in text
    assert "Old text of fig5." not in text
    assert "[gait.csv](paper/runners-gait.csv)" in text
    assert "| a |" not in text
    assert (here / "paper" / "fig5.csv").read_text() == "a\n1\n"
    assert not (here / "paper" / "fig1.csv").exists()


def test_a_table_that_is_too_large_is_neither_kept_nor_linked(page, here, tmp_path):
    put_run(tmp_path / "runs" / "fig5", "fig5", csv="1\n" * 150_000)
    page.main(tmp_path / "runs", here)
    assert not (here / "paper" / "fig5.csv").exists(), "that of another run would pass for it"
    assert "fig5.csv" not in (here / "paper.md").read_text()


def test_the_page_tells_what_its_files_hold():
    text = (DOCS / "paper.md").read_text(encoding="utf-8")
    for name in NAMES:
        record = json.loads((DOCS / "paper" / f"{name}.json").read_text(encoding="utf-8"))
        assert record["quick"] is False
        assert f"## {record['title']}\n" in text
        assert record["agrees"] in text
        for file in record["files"]:
            linked = f"](paper/{file})" in text
            assert linked == (DOCS / "paper" / file).is_file(), file
