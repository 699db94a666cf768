"""Small tables and runs for the command line; the finished run is made once."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from command_lines import FIXED, Answer, predict, write_stations
from vmqp.cli import main

Call = Callable[[Sequence[str]], Answer]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of its own for each test, where it also stands."""
    monkeypatch.chdir(tmp_path)
    write_stations(tmp_path / "stations.csv")
    return tmp_path


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command line in this process."""

    def run(arguments: Sequence[str]) -> Answer:
        capsys.readouterr()
        code = main(list(arguments))
        shown = capsys.readouterr()
        return Answer(code, shown.out, shown.err)

    return run


@pytest.fixture
def without_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report takes seconds; where it is not the point, a line of text stands for it."""

    def short(posterior: object, path: Path, **options: object) -> Path:
        path.write_text("report", encoding="utf-8")
        return path

    monkeypatch.setattr("vmqp.cli.results.report", short)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that converged, with its report."""
    place = tmp_path_factory.mktemp("finished")
    table = write_stations(place / "stations.csv")
    arguments = predict(
        "--holdout", "0.2", "--kernel", FIXED, "--chains", "2", "--warmup", "200", file=str(table)
    )
    arguments += ["--target-ess", "50", "--quiet", "--title", "Wind over the stations"]
    assert main([*arguments, "--out", str(place / "run")]) == 0
    return place / "run"


@pytest.fixture
def copied(finished: Path, folder: Path) -> Path:
    """A copy of the finished run."""
    return Path(shutil.copytree(finished, folder / "run"))
