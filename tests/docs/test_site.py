"""The site as `make docs` builds it: without a warning or a dead link or a download, and right in a real browser."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from browsing import CHROMIUM, Visit, launched

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted(file.stem for file in (ROOT / "docs" / "tutorials").glob("plot_*.py"))
# Built once under pytest-xdist: all six tutorials run in it.
pytestmark = pytest.mark.xdist_group("site")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed: the site is checked as text"
)

# Put before the build in its own process: whoever asks for an address that is not this machine's fails.
_NO_NETWORK = """
import socket, sys
def refuse(self, address, *more):
    if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise AssertionError(f"the build asked for {address}")
    return connect(self, address, *more)
connect, socket.socket.connect = socket.socket.connect, refuse
from sphinx.cmd.build import main
sys.exit(main(sys.argv[1:]))
"""


def link_checker():
    spec = importlib.util.spec_from_file_location("links", ROOT / "docs" / "links.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built from a copy of the documents so that nothing is written beside them."""
    source = tmp_path_factory.mktemp("site-source")
    aside = shutil.ignore_patterns("auto_tutorials")
    shutil.copytree(ROOT / "docs", source / "docs", ignore=aside)
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source / name)
    out = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(source / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-c", _NO_NETWORK, *options, str(source / "docs"), str(out)],
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
        cwd=source,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return out


@pytest.fixture(scope="module")
def browser():
    with launched() as chromium:
        yield chromium


class SiteVisit(Visit):
    """A page of the site; its theme logs which colours it took, which is no fault."""

    def _hear(self, message):
        if message.type in ("error", "warning"):
            super()._hear(message)


@pytest.fixture
def visit(browser, site):
    """Open pages of the site; at the end none of them may have complained, or asked for anything from elsewhere."""
    opened = []

    def open_page(name, **options):
        opened.append(SiteVisit(browser, f"{site.as_uri()}/{name}", **options))
        return opened[-1].page

    yield open_page
    for one in opened:
        one.close()


def test_links_lead_somewhere(site):
    wrong, _ = link_checker().check(site)
    assert wrong == []


def test_dead_links_are_noticed(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">b</a><a href="#me" id="me">a</a><img src="c.png">'
    )
    (tmp_path / "b.html").write_text('<a href="a.html#gone">a</a><a href="https://example.org/">out</a>')
    wrong, elsewhere = link_checker().check(tmp_path)
    assert wrong == [
        "a.html: b.html#here leads to no such place in the page.",
        "a.html: c.png leads to no file.",
        "b.html: a.html#gone leads to no such place in the page.",
    ]
    assert elsewhere == {"https://example.org/"}
    assert link_checker().check(tmp_path / "empty")[0] != []


def test_there_are_the_six_tutorials():
    assert len(TUTORIALS) == 6


@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorials_were_executed(site, name):
    """Each page has what the code printed, and a picture that the code made."""
    text = (site / "auto_tutorials" / f"{name}.html").read_text(encoding="utf-8")
    assert "sphx-glr-script-out" in text
    assert f"sphx_glr_{name}_001.png" in text


def test_the_network_would_be_refused():
    code = "import urllib.request as r; r.urlopen('http://192.0.2.1/', timeout=2)"
    block = _NO_NETWORK.split("from sphinx")[0] + code
    done = subprocess.run(
        [sys.executable, "-c", block], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0
    assert "the build asked for ('192.0.2.1', 80)" in done.stderr


@needs_browser
def test_first_screen_says_what_it_is(visit):
    """What for, a picture, install and the ten lines are all on the first screen of a laptop."""
    page = visit("index.html", width=1280)
    height = page.viewport_size["height"]
    for text in ("Bayesian regression for angles", "pip install"):
        assert page.get_by_text(text).first.bounding_box()["y"] < height
    picture = page.locator("article img").first
    assert picture.evaluate("image => image.naturalWidth") > 300
    box = picture.bounding_box()
    assert box["y"] + box["height"] < height
    lines = page.locator("div.highlight-python").first.bounding_box()
    assert lines["y"] + lines["height"] < height
    assert page.locator("div.highlight-python").first.inner_text().strip().count("\n") + 1 <= 11


@needs_browser
@pytest.mark.parametrize("width", [1280, 400], ids=["laptop", "phone"])
@pytest.mark.parametrize(
    "name",
    ["index.html", "sharp-bits.html", "reference/index.html", "auto_tutorials/index.html", "paper.html"],
)
def test_pages_are_no_wider_than_the_screen(visit, name, width):
    page = visit(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").first.is_visible()


@needs_browser
@pytest.mark.parametrize("name", TUTORIALS)
def test_pictures_of_tutorials_are_shown(visit, name):
    page = visit(f"auto_tutorials/{name}.html")
    widths = page.locator("article img").evaluate_all("images => images.map(image => image.naturalWidth)")
    assert widths
    assert min(widths) > 100


@needs_browser
def test_search_finds_a_name(visit):
    """The search works from files, without a server."""
    page = visit("search.html?q=regress")
    page.wait_for_selector("#search-results li a", timeout=20_000)
    assert page.locator("#search-results li a").count() >= 3


@needs_browser
def test_the_top_leads_to_every_part(visit):
    page = visit("index.html", width=1280)
    texts = " ".join(page.locator("header nav a").all_inner_texts())
    for part in ("Tutorials", "How-to", "Explanation", "Reference"):
        assert part in texts
    page.get_by_role("link", name="Reference", exact=True).first.click()
    page.wait_for_url("**/reference/index.html")
