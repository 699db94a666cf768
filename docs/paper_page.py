"""Makes docs/paper.md from full runs: ``vmqp paper all --out DIR``, then ``python docs/paper_page.py DIR``.

Pictures (PNG), numbers (CSV) and records (JSON) of each item are copied into docs/paper, and the texts become one page
below what is written here. A directory ``gait-runners`` beside ``gait`` holds the same with the data of runners.
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

PREFACE = (HERE / "paper" / "preface.md").read_text(encoding="utf-8")


def main(runs: Path) -> None:
    """Copy the files and write the page."""
    folder = HERE / "paper"
    folder.mkdir(exist_ok=True)
    parts = [PREFACE.rstrip()]
    for folder_name in [part for name in NAMES for part in (name, *ALSO.get(name, ()))]:
        source, name = runs / folder_name, folder_name.split("-")[0]
        prefix = folder_name.removeprefix(name).removeprefix("-")
        prefix = f"{prefix}-" if prefix else ""
        if not (source / f"{name}.md").is_file():
            print(f"{folder_name}: no run in {runs}")
            continue
        if json.loads((source / f"{name}.json").read_text(encoding="utf-8"))["quick"]:
            print(f"{folder_name}: only a quick run, and its text says so")
        for file in sorted(source.iterdir()):
            if file.suffix in KEPT and file.stat().st_size <= (
                10 * LARGEST if file.suffix == ".png" else LARGEST
            ):
                shutil.copyfile(file, folder / f"{prefix}{file.name}")
        parts.append(_section((source / f"{name}.md").read_text(encoding="utf-8"), prefix))
    (HERE / "paper.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _section(text: str, prefix: str) -> str:
    """A text one level down, its files in docs/paper; its tables are in the CSV files."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("|")]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    text = re.sub(r"^# (.*)", rf"## \1{', ' + prefix[:-1] if prefix else ''}", text)
    return re.sub(r"\]\(([^)/]+\.(?:png|csv))\)", rf"](paper/{prefix}\1)", text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
