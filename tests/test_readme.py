"""Every Python block of the documents runs: in order, with one namespace for each file."""

import re
from pathlib import Path
from unittest.mock import patch

import pytest

from vmqp.sampling import SAMPLERS

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("", "howto", "explanation")
PAGES = [file for folder in FOLDERS for file in sorted((ROOT / "docs" / folder).glob("*.md"))]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
NAMES = [document.relative_to(ROOT).as_posix() for document in DOCUMENTS]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)|<img src=\"([^\"]+)\"")


def python_blocks(text: str) -> list[tuple[int, str]]:
    """Return each block with the number of its first line."""
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in _BLOCK.finditer(text)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_python_blocks_run(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "documentation"}
    # A block may add a sampler; the others must not see it.
    with patch.dict(SAMPLERS):
        for line, block in python_blocks(document.read_text(encoding="utf-8")):
            # Empty lines before the block make the line numbers of a traceback those of the document.
            exec(compile("\n" * (line - 1) + block, str(document), "exec"), namespace)


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_links_to_files_lead_somewhere(document):
    for link in map("".join, _LINK.findall(document.read_text(encoding="utf-8"))):
        assert "://" in link or (document.parent / link).exists(), link


def test_documents_have_examples():
    counts = {
        name: len(python_blocks(file.read_text(encoding="utf-8")))
        for name, file in zip(NAMES, DOCUMENTS, strict=True)
    }
    assert counts["README.md"] >= 1
    assert counts["docs/regression.md"] >= 5
    assert counts["CONTRIBUTING.md"] >= 2


def test_blocks_are_found_with_their_lines():
    text = "one\n```python\na = 1\n```\n```sh\nls\n```\n```python\nb = a\nc = b\n```\n"
    assert python_blocks(text) == [(3, "a = 1\n"), (9, "b = a\nc = b\n")]


def test_every_sampler_is_described():
    text = (ROOT / "docs" / "samplers.md").read_text(encoding="utf-8")
    missing = [sampler for sampler in SAMPLERS if f'"{sampler}"' not in text]
    assert not missing
