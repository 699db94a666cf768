"""Checks that the links of the built site lead somewhere: ``python docs/links.py build/site``.

Every link and every picture of every page must be a file of the site, and what follows ``#`` an element of that page.
Addresses elsewhere are listed by ``--elsewhere`` and not visited, so that a build needs no network.
"""

import argparse
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page and the names that a link can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag leads to, and its own name."""
        for key, value in attrs:
            if value is None:
                continue
            if key in ("id", "name"):
                self.names.add(value)
            # A link of <link rel="next"> and the like counts too; what a script makes of data-* does not.
            elif key in ("href", "src"):
                self.links.append(value)


def check(site: Path) -> tuple[list[str], set[str]]:
    """Return what is wrong, one sentence each, and the addresses that lead elsewhere."""
    # What a theme keeps in _static are templates and no pages.
    files = [file for file in sorted(site.rglob("*.html")) if "_static" not in file.parts]
    pages = {file.resolve(): Page(file.read_text(encoding="utf-8")) for file in files}
    if not pages:
        return [f"there is no page in {site}: build the site first, with make docs."], set()
    wrong, elsewhere = [], set()
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                elsewhere.add(link)
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            where = file.relative_to(site.resolve())
            if not target.exists():
                wrong.append(f"{where}: {link} leads to no file.")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                wrong.append(f"{where}: {link} leads to no such place in the page.")
    return wrong, elsewhere


def main() -> int:
    """Check a site; the exit code is 1 if a link leads nowhere."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--elsewhere", action="store_true", help="list addresses that lead out of the site")
    given = parser.parse_args()
    wrong, elsewhere = check(given.site)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    if given.elsewhere:
        print(*sorted(elsewhere), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
