"""Makes docs/paper.md from full runs: ``vmqp paper all --out DIR``, then ``python docs/paper_page.py DIR``.

Pictures (PNG), numbers (CSV) and records (JSON) of each item are copied into docs/paper, and the texts become one page
below what is written in docs/paper/preface.md. A directory ``gait-runners`` beside ``gait`` holds the same with the
data of runners. An item without a full run in DIR keeps the section that the page has.
"""

import json
import re
import shutil
import sys
from pathlib import Path

from vmqp.paper.catalogue import NAMES

HERE = Path(__file__).parent
KEPT = (".png", ".csv", ".json")
LARGEST = 200_000  # bytes of a table that is worth keeping with the source

ALSO = {"gait": ("gait-runners",)}


def main(runs: Path, here: Path = HERE) -> None:
    """Copy the files and write the page."""
    folder, page = here / "paper", here / "paper.md"
    written = _sections(page.read_text(encoding="utf-8")) if page.is_file() else {}
    parts = [(folder / "preface.md").read_text(encoding="utf-8").rstrip()]
    for folder_name in [part for name in NAMES for part in (name, *ALSO.get(name, ()))]:
        source, name = runs / folder_name, folder_name.split("-")[0]
        prefix = folder_name.removeprefix(name).removeprefix("-")
        title = NAMES[name].title + (f", {prefix}" if prefix else "")
        if _is_full(source / f"{name}.json"):
            parts.append(_copied(source, folder, name, title, f"{prefix}-" if prefix else ""))
        elif title in written:
            print(f"{folder_name}: no full run in {runs}; its section stays as it is")
            parts.append(written[title])
        else:
            print(f"{folder_name}: no full run in {runs}, and the page has none")
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _is_full(record: Path) -> bool:
    return record.is_file() and not json.loads(record.read_text(encoding="utf-8"))["quick"]


def _copied(source: Path, folder: Path, name: str, title: str, prefix: str) -> str:
    """Copy the files of a run and return its section; a table that is too large is not kept, nor linked."""
    missing = []
    for file in sorted(source.iterdir()):
        if file.suffix not in KEPT:
            continue
        target = folder / f"{prefix}{file.name}"
        if file.suffix == ".png" or file.stat().st_size <= LARGEST:
            shutil.copyfile(file, target)
        else:
            target.unlink(missing_ok=True)  # not that of another run
            missing.append(file.name)
    return _section((source / f"{name}.md").read_text(encoding="utf-8"), title, prefix, missing)


def _section(text: str, title: str, prefix: str, missing: list[str]) -> str:
    """A text one level down, its files in docs/paper; its tables are in the CSV files."""
    lines = [
        line
        for line in text.strip().splitlines()
        if not line.startswith("|") and not any(f"]({name})" in line for name in missing)
    ]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    text = re.sub(r"^# .*", lambda _: f"## {title}", text)
    return re.sub(r"\]\(([^)/]+\.(?:png|csv))\)", rf"](paper/{prefix}\1)", text)


def _sections(page: str) -> dict[str, str]:
    """Sections of a page by their titles."""
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]
    return {part.splitlines()[0].removeprefix("## "): part.rstrip() for part in parts}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
