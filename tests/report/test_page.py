"""The page as text: whole, self-contained, escaped, and written whole or not at all."""

import base64
import hashlib
import os
import re
from html.parser import HTMLParser

import pytest

from vmqp.errors import InputError
from vmqp.report.content import Column, Content, Measure, Picture, Place, Predictions, Verdict
from vmqp.report.page import render, write

VOID = {"meta", "img", "br", "hr", "input", "link"}


class Tree(HTMLParser):
    """Collects elements with their attributes and text, and checks that each one is closed."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(page)
        self.close()
        assert self.open == [], "not closed"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), []))
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1][0] == tag, f"</{tag}> closes <{self.open[-1][0]}>"
        self.open.pop()

    def handle_data(self, data):
        for _, _, text in self.open:
            text.append(data)

    def all(self, tag):
        return [(attributes, "".join(text)) for name, attributes, text in self.elements if name == tag]


def test_page_has_every_section_once_and_in_order(page_content):
    tree = Tree(render(page_content()))
    sections = [attributes["id"] for attributes, _ in tree.all("section")]
    assert sections == [
        *("verdict", "reading", "overview", "predictions", "scores", "diagnostics", "parameters"),
        *("pictures", "data", "repeat", "glossary"),
    ]
    linked = [attributes["href"].removeprefix("#") for attributes, _ in tree.all("a")]
    assert linked == sections[1:]
    ids = [attributes["id"] for _, attributes, _ in tree.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_page_without_the_parts_that_may_be_missing(page_content):
    bare = page_content(
        **dict.fromkeys(
            ("facts", "reading", "highlighted", "overview", "pictures", "scores", "parameters"), ()
        ),
        **dict.fromkeys(("diagnostics", "remarks", "calls", "versions", "glossary"), ()),
    )
    tree = Tree(render(bare))
    assert [attributes["id"] for attributes, _ in tree.all("section")] == ["verdict", "predictions"]


def test_verdict_comes_first_in_words(page_content):
    bad = Verdict(False, "Do not use these numbers yet", ("The chains disagree.",), ("Draw more.",))
    tree = Tree(render(page_content(verdict=bad)))
    attributes, text = tree.all("section")[0]
    assert attributes["class"] == "verdict bad"
    assert re.sub(r"\s+", " ", text).strip() == (
        "✗ Do not use these numbers yet The chains disagree. What to do Draw more."
    )


def test_table_is_whole_without_a_script(page_content):
    tree = Tree(render(page_content(60)))
    rows = [text for attributes, text in tree.all("tr") if "Station" in text]
    assert len(rows) == 60
    assert not [text for attributes, text in tree.all("tr") if "hidden" in attributes]


def test_nothing_is_fetched(page_content):
    page = render(page_content())
    tree = Tree(page)
    assert not tree.all("link")
    assert {attributes["src"][:15] for attributes, _ in tree.all("img")} == {"data:image/png;"}
    assert all(attributes["href"].startswith("#") for attributes, _ in tree.all("a"))
    assert all("src" not in attributes for attributes, _ in tree.all("script"))
    style = tree.all("style")[0][1]
    assert "url(" not in style
    assert "@import" not in style
    assert not [attributes for _, attributes, _ in tree.elements if "style" in attributes]


def test_policy_allows_the_own_script_and_style_only(page_content):
    tree = Tree(render(page_content()))
    policy = next(
        attributes["content"]
        for attributes, _ in tree.all("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        digest = hashlib.sha256(tree.all(tag)[0][1].encode()).digest()
        assert rules[f"{tag}-src"] == f"'sha256-{base64.b64encode(digest).decode()}'"


EVIL = (
    '<script>alert("1")</script>',
    '"><img src=x onerror=alert(2)>',
    "' onmouseover='alert(3)",
    "&lt;b&gt;",
)


@pytest.mark.parametrize("evil", EVIL)
def test_what_the_data_say_is_text(evil, page_content):
    def tags(content):
        return [(tag, sorted(attributes)) for tag, attributes, _ in Tree(render(content)).elements]

    def filled(text):
        rose = Picture(text, text, b"\x89PNG\r\n\x1a\n", text)
        return Content(
            title=text,
            question=(text,),
            verdict=Verdict(False, text, (text,), (text,)),
            predictions=Predictions((Column(text, text, numeric=False),), ((text,),)),
            highlighted=(Place(text, text, (text,), rose),),
            parameter_columns=(text,),
            parameters=(Measure(text, (text,), text),),
        )

    assert tags(filled(evil)) == tags(filled("plain"))
    tree = Tree(render(filled(evil)))
    assert tree.all("title")[0][1] == evil
    assert tree.all("td")[0][1] == evil
    assert tree.all("img")[0][0]["alt"] == evil


def test_numeric_cells_carry_what_they_are_sorted_by():
    table = Predictions((Column("mean", digits=0),), ((12.6,), (None,), (float("nan"),), (7.0,)))
    tree = Tree(render(Content("t", (), Verdict(True, "ok"), table)))
    assert [(text, attributes.get("data-v")) for attributes, text in tree.all("td")] == [
        ("13", "12.6"),
        ("–", ""),
        ("–", ""),
        ("7", None),
    ]


def test_many_rows_and_pictures_stay_small(page_content):
    content = page_content(3600)
    pictures = tuple(
        Picture("Map", "", b"\x89PNG\r\n\x1a\n" + os.urandom(300_000), "A large picture") for _ in range(6)
    )
    text_only = len(render(content))
    assert text_only < 1_500_000
    assert len(render(page_content(3600, pictures=pictures))) < 5_000_000


def test_file_is_replaced_whole(tmp_path, page_content):
    path = tmp_path / "report.html"
    path.write_text("old")
    assert write(page_content(), str(path)) == path
    assert path.read_text(encoding="utf-8") == render(page_content())
    assert os.listdir(tmp_path) == ["report.html"]


@pytest.mark.parametrize(
    ("name", "reason"), [("", "it is a directory"), ("no/such/report.html", "there is no directory")]
)
def test_unwritable_path_is_our_error(name, reason, tmp_path, page_content):
    with pytest.raises(InputError, match=reason):
        write(page_content(), tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_full_disk_leaves_the_old_file(tmp_path, page_content, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        write(page_content(), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_half_a_character_does_not_stop_the_report(tmp_path):
    table = Predictions((Column("place", numeric=False),), (("\ud800",),))
    path = write(Content("t", (), Verdict(True, "ok"), table), tmp_path / "report.html")
    assert "<td>?</td>" in path.read_text(encoding="utf-8")
