"""`vmqp resume`: it needs the directory only, and ends where a run without a stop would have ended."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command_lines import FIXED, predict
from vmqp.run.files import DirectoryLock

LONG = ("--holdout", "0.2", "--chains", "2", "--warmup", "60", "--target-ess", "1e9", "--allow-unconverged")


def contents(run: Path) -> dict[str, bytes]:
    return {str(p.relative_to(run)): p.read_bytes() for p in run.rglob("*") if p.is_file()}


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "vmqp", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_draws(run: Path, process: subprocess.Popen[str], chunks: int) -> None:
    """Wait until every chain has some chunks on disk."""
    for _ in range(1200):
        if all(len(list(run.glob(f"checkpoint/chain-{chain}/*-*.npz"))) > chunks for chain in (0, 1)):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("no draws")


def test_a_finished_run_stays_as_it_is(call, copied):
    before = contents(copied)
    answer = call(["resume", "run"])
    assert answer.code == 0
    assert "This run is finished." in answer.out
    assert "These draws can be trusted." in answer.out
    assert contents(copied) == before


def test_missing_files_of_a_finished_run_are_written_anew(call, copied):
    before = contents(copied)
    for name in ("predictions.csv", "report.html"):
        (copied / name).unlink()
    answer = call(["resume", "run", "--json"])
    assert answer.code == 0
    assert json.loads(answer.out)["trusted"]
    assert (copied / "predictions.csv").read_bytes() == before["predictions.csv"]
    assert (copied / "report.html").exists()


@pytest.mark.usefixtures("without_report")
def test_a_run_that_lost_its_draws_is_made_again_from_the_checkpoint(call, copied):
    before = contents(copied)
    for name in ("predictions.csv", "posterior.nc", "result.json"):
        (copied / name).unlink()
    assert call(["resume", "run"]).code == 0
    assert (copied / "predictions.csv").read_bytes() == before["predictions.csv"]
    assert (copied / "posterior.nc").exists()


@pytest.mark.usefixtures("without_report")
def test_more_draws_give_what_one_run_would_have_given(call):
    options = predict(
        "--holdout", "0.2", "--chains", "2", "--warmup", "60", "--kernel", FIXED, "--target-ess", "1e9"
    )
    assert call([*options, "--draws", "250", "--out", "whole"]).code == 3
    assert call([*options, "--draws", "130", "--out", "parts"]).code == 3
    answer = call(["resume", "parts", "--draws", "250", "--engine", "processes", "--json"])
    found = json.loads(answer.out)
    assert (answer.code, found["draws"], found["stopped"]) == (3, 250, "draws")
    assert "vmqp resume parts" in found["advice"]
    assert Path("parts/predictions.csv").read_bytes() == Path("whole/predictions.csv").read_bytes()


@pytest.mark.usefixtures("without_report")
def test_a_higher_target_goes_on_and_a_lower_one_ends(call, copied):
    before = json.loads((copied / "result.json").read_text())
    target = 2 * int(before["worst"]["ess"]["value"])
    answer = call(["resume", "run", "--target-ess", str(target), "--json"])
    found = json.loads(answer.out)
    assert (answer.code, found["trusted"], found["target_ess"]) == (0, True, target)
    assert found["draws"] > before["draws"]
    assert found["worst"]["ess"]["value"] >= target
    after = contents(copied)
    assert call(["resume", "run", "--target-ess", str(target - 1)]).code == 0
    assert contents(copied) == after


@pytest.mark.usefixtures("without_report")
def test_killed_in_the_middle_and_resumed_it_is_the_same_to_the_byte(call, folder):
    options = predict(*LONG, "--draws", "400", "--quiet")
    process = start(*options, "--out", "killed")
    wait_for_draws(folder / "killed", process, 3)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not Path("killed/predictions.csv").exists()
    answer = call(["resume", "killed", "--allow-unconverged"])
    assert answer.code == 0
    assert call([*options, "--out", "whole"]).code == 0
    assert Path("killed/predictions.csv").read_bytes() == Path("whole/predictions.csv").read_bytes()


def test_ctrl_c_writes_the_draws_so_far_and_exits_with_130(folder):
    process = start(*predict(*LONG, "--out", "run"))
    wait_for_draws(folder / "run", process, 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "vmqp resume run goes on" in out
    assert json.loads(Path("run/result.json").read_text())["stopped"] == "interrupted"
    assert len(Path("run/predictions.csv").read_text().splitlines()) == 5


def test_the_command_of_the_shell_has_the_same_exit_codes(finished):
    process = start("resume", str(finished), "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out)["exit_code"] == 0
    process = start("resume", "nowhere")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert err.startswith("error: there is no directory nowhere")


def refuse(call, run: Path, *words: str) -> None:
    before = contents(run)
    answer = call(["resume", str(run)])
    assert answer.code == 2
    assert "Traceback" not in answer.err
    for word in words:
        assert word in answer.err, answer.err
    assert contents(run) == before


def test_a_directory_without_a_request_is_refused(call):
    Path("other").mkdir()
    refuse(call, Path("other"), "no request.json")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"program": "vmqp", "format": 2}', '{"format": 2}', "\udcff"]
)
def test_a_damaged_or_foreign_request_is_refused(call, copied, text):
    (copied / "request.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    refuse(call, copied, "request")


def test_a_request_of_another_format_is_refused(call, copied):
    path = copied / "request.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 9, "version": "9.9"}))
    refuse(call, copied, "format 9", "9.9")


def test_a_request_of_the_first_edition_is_refused(call, copied):
    """Its draws hold the new locations too: they are not those of a model that predicts one at a time."""
    path = copied / "request.json"
    new = json.loads(path.read_text())
    flat = new["learning"] | new["predicting"] | {"inputs": new["inputs"], "memory": None, "given": {}}
    path.write_text(json.dumps({"program": "vmqp", "format": 1, **flat, "version": "0.1.0"}))
    words = ("has format 1, written by vmqp '0.1.0'", "reads format 3", "with the version that wrote it")
    refuse(call, copied, *words)


@pytest.mark.parametrize(
    ("section", "part", "value"),
    [
        ("learning", "seed", True),
        ("learning", "seed", "1"),
        ("learning", "time_limit", "soon"),
        ("learning", "noise", {}),
        ("learning", "noise", {"kind": "fixed", "value": "much", "column": None}),
        ("predicting", "compass", 1),
        ("", "inputs", {}),
        ("", "inputs", {"lon": "date"}),
        ("", "notes", [1]),
        ("", "learning", "all"),
    ],
)
def test_a_request_with_a_wrong_part_is_refused(call, copied, section, part, value):
    path = copied / "request.json"
    request = json.loads(path.read_text())
    (request[section] if section else request)[part] = value
    path.write_text(json.dumps(request))
    refuse(call, copied, f"its '{part}' is")
    del (request[section] if section else request)[part]
    path.write_text(json.dumps(request))
    refuse(call, copied, f"its '{part}' is None")


@pytest.mark.parametrize("name", ["data.csv", "places.csv"])
def test_changed_data_are_refused(call, copied, name):
    path = copied / name
    path.write_text(path.read_text().replace("5", "6", 1))
    refuse(call, copied, name, "not what the run began with")
    path.unlink()
    refuse(call, copied, name)


def test_a_run_that_another_process_works_on_is_refused(call, copied):
    lock = DirectoryLock(copied)
    assert lock.take()
    try:
        refuse(call, copied, "another process")
        answer = call(predict("--holdout", "0.3", "--out", "run", "--overwrite"))
        assert answer.code == 2
        assert "another process" in answer.err
    finally:
        lock.release()


@pytest.mark.usefixtures("without_report")
def test_overwrite_replaces_what_is_ours_and_nothing_else(call, copied):
    (copied / "notes.txt").write_text("mine")
    before = contents(copied)
    arguments = predict(
        "--holdout", "0.3", "--kernel", FIXED, "--chains", "2", "--warmup", "60", "--draws", "60"
    )
    assert call([*arguments, "--allow-unconverged", "--out", "run", "--overwrite", "--quiet"]).code == 0
    after = contents(copied)
    assert after["notes.txt"] == b"mine"
    assert after["places.csv"] != before["places.csv"]
    assert not [name for name in after if ".before." in name or name.endswith(".vmqp-tmp")]
    shutil.rmtree(copied)
