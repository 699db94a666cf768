"""Checkpoints: a run that was killed goes on bit for bit, and nothing that is not ours is used or touched."""

import errno
import hashlib
import json
import os
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from run_toy import Toy, first, launch, same
from vmqp.chain import Chunk
from vmqp.errors import CheckpointError, CheckpointWarning, WorkerError
from vmqp.run import Converged, files, run_chains
from vmqp.run.checkpoint import Checkpoint, Identity
from vmqp.run.files import DirectoryLock

# The runs here are too short to converge.
pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")

SMALL = {"chains": 2, "draws": 300, "seed": 9, "progress": False}


@pytest.fixture(scope="module")
def whole():
    return run_chains(Toy(), **SMALL)


@pytest.fixture(scope="module")
def half_done(tmp_path_factory):
    """A directory with 120 of the draws; tests work on copies."""
    folder = tmp_path_factory.mktemp("half") / "run"
    run_chains(Toy(), **SMALL | {"draws": 120}, checkpoint=folder, chunk=20)
    return folder


@pytest.fixture
def folder(half_done, tmp_path):
    return Path(shutil.copytree(half_done, tmp_path / "run"))


def listing(folder):
    """Every file with its hash, and every folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else ""
        for path in folder.rglob("*")
    }


def temporary(folder):
    return [path for path in folder.rglob("*") if path.name.endswith("tmp")]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunk": 3},
        {"chunk": 1000},
        {"executor": "processes", "workers": 2, "chunk": 33},
    ],
    ids=str,
)
def test_resumed_run_is_the_whole_run(options, folder, whole):
    assert same(run_chains(Toy(), **SMALL, checkpoint=folder, **options), whole)
    assert same(run_chains(Toy(), **SMALL, checkpoint=str(folder)), whole), "and is read again"


def test_fewer_draws_than_on_disk(folder, whole):
    before = listing(folder)
    assert same(run_chains(Toy(), **SMALL | {"draws": 50}, checkpoint=folder), first(whole, 50))
    assert listing(folder) == before


def test_float32_is_resumed(tmp_path):
    options = SMALL | {"dtype": "float32"}
    run_chains(Toy(), **options | {"draws": 100}, checkpoint=tmp_path)
    assert same(run_chains(Toy(), **options, checkpoint=tmp_path), run_chains(Toy(), **options))


def test_thinned_run_is_resumed_between_two_draws(tmp_path):
    toy = Toy(thin=7, warmup=10)
    run_chains(toy, **SMALL | {"draws": 3}, checkpoint=tmp_path, chunk=5)
    for file in tmp_path.rglob("chain-1/*"):
        if file.name in ("30-31.npz", "state-31.npz"):
            file.unlink()  # as if killed before: but the state at 30 is gone, and nothing is made up
    with pytest.raises(CheckpointError, match=r"state-30\.npz is missing"):
        run_chains(toy, **SMALL | {"draws": 6}, checkpoint=tmp_path)
    shutil.rmtree(tmp_path / "chain-1")
    assert same(
        run_chains(toy, **SMALL | {"draws": 6}, checkpoint=tmp_path), run_chains(toy, **SMALL | {"draws": 6})
    )


def test_convergence_is_found_at_the_same_draw_after_resuming(tmp_path):
    rule = Converged(rhat=1.05, rhat_angles=1.05, ess=150)
    fresh = run_chains(Toy(), **SMALL, until=rule)
    assert fresh.attrs["stopped"] == "converged"
    run_chains(Toy(), **SMALL | {"draws": 61}, checkpoint=tmp_path)
    assert same(run_chains(Toy(), **SMALL, until=rule, checkpoint=tmp_path, chunk=11), fresh)
    run_chains(Toy(), **SMALL, checkpoint=tmp_path)
    assert same(run_chains(Toy(), **SMALL, until=rule, checkpoint=tmp_path), fresh)


def test_layout(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format"] == 1
    assert (manifest["fingerprint"], manifest["seed"], manifest["chains"]) == (Toy().fingerprint, 9, 2)
    names = {path.name for path in (folder / "chain-0").iterdir()}
    assert names == {f"{i}-{i + 20}.npz" for i in range(0, 140, 20)} | {"state-140.npz"}


def test_leftovers_are_removed(folder, whole):
    for path in (folder, folder / "chain-1"):
        (path / ".x.npz.0a1b.vmqp-tmp").write_bytes(b"half")
    shutil.copy(folder / "chain-0/state-140.npz", folder / "chain-0/state-120.npz")
    (folder / "chain-0/state-160.npz").write_bytes(b"killed before the draws were written")
    assert same(run_chains(Toy(), **SMALL, checkpoint=folder), whole)
    assert not temporary(folder)
    assert [path.name for path in folder.glob("chain-0/state-*")] == ["state-320.npz"]


def truncate(path):
    path.write_bytes(path.read_bytes()[:-40])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def other_run(folder, **changes):
    other = folder.parent / "other"
    toy = Toy(**changes.pop("toy", {}))
    run_chains(toy, **SMALL | {"draws": 120} | changes, checkpoint=other, chunk=20)
    return other


def edit_manifest(folder, **changes):
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def objects(folder):
    """Would run code if it were unpickled."""
    with open(folder / "chain-0/60-80.npz", "wb") as file:
        np.savez(file, fingerprint=np.array([print], dtype=object))


DAMAGES = {
    "cut short": (lambda d: truncate(d / "chain-1/60-80.npz"), r"60-80\.npz is damaged or cut short"),
    "empty": (lambda d: (d / "chain-1/120-140.npz").write_bytes(b""), r"120-140\.npz is damaged or cut short"),
    "one bit": (lambda d: flip(d / "chain-0/20-40.npz"), r"20-40\.npz is damaged"),
    "state cut short": (lambda d: truncate(d / "chain-1/state-140.npz"), r"state-140\.npz is damaged"),
    "state gone": (lambda d: (d / "chain-1/state-140.npz").unlink(), r"state-140\.npz is missing"),
    "pickle": (objects, r"60-80\.npz is damaged"),
    "gap": (lambda d: (d / "chain-1/60-80.npz").unlink(), r"80-100\.npz does not follow on iteration 60"),
    "first gone": (lambda d: (d / "chain-0/0-20.npz").unlink(), r"20-40\.npz does not follow on iteration 0"),
    "last gone": (lambda d: (d / "chain-0/120-140.npz").unlink(), r"state-120\.npz is missing"),
    "chunk of another seed": (
        lambda d: shutil.copy(other_run(d, seed=8) / "chain-0/20-40.npz", d / "chain-0/20-40.npz"),
        r"20-40\.npz belongs to another run: its seed is '8' and not '9'",
    ),
    "chunk of another task": (
        lambda d: shutil.copy(other_run(d, toy={"places": 2}) / "chain-0/20-40.npz", d / "chain-0/20-40.npz"),
        r"20-40\.npz belongs to another run: its fingerprint",
    ),
    "chunk of another chain": (
        lambda d: shutil.copy(d / "chain-1/20-40.npz", d / "chain-0/20-40.npz"),
        r"20-40\.npz belongs to another run: its chain is 1 and not 0",
    ),
    "renamed chunk": (
        lambda d: shutil.copy(d / "chain-1/20-40.npz", d / "chain-1/40-60.npz"),
        r"40-60\.npz belongs to another run: its first is 20 and not 40",
    ),
    "state of another chain": (
        lambda d: shutil.copy(d / "chain-1/state-140.npz", d / "chain-0/state-140.npz"),
        r"state-140\.npz belongs to another run",
    ),
    "stray file": (lambda d: (d / "chain-0/notes.txt").write_text("x"), r"notes\.txt is not a file of a checkpoint"),
    "manifest cut short": (lambda d: truncate(d / "manifest.json"), r"manifest\.json is damaged"),
    "manifest empty": (lambda d: (d / "manifest.json").write_bytes(b""), r"manifest\.json is damaged"),
    "manifest of another kind": (lambda d: (d / "manifest.json").write_text("[1]"), r"manifest\.json is damaged"),
    "manifest gone": (lambda d: (d / "manifest.json").unlink(), r"run holds 'chain-0' and no manifest\.json"),
    "other format": (
        lambda d: edit_manifest(d, format=2, version="9.0"),
        r"manifest\.json has format 2.*reads format 1: use vmqp 9\.0",
    ),
    "other task": (lambda d: edit_manifest(d, fingerprint="x"), r"manifest\.json belongs to another task"),
    "other seed": (lambda d: edit_manifest(d, seed=7), r"manifest\.json belongs to a run with seed=7, not to seed=9"),
    "other chains": (lambda d: edit_manifest(d, chains=3), r"a run with chains=3, not to chains=2"),
    "other type": (lambda d: edit_manifest(d, dtype="float32"), r"a run with dtype='float32'"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_not_whole_or_not_ours_is_refused_and_left_alone(name, folder):
    damage, message = DAMAGES[name]
    damage(folder)
    (folder / "chain-0/.x.npz.0a1b.vmqp-tmp").write_bytes(b"half")
    before = listing(folder)
    with pytest.raises(CheckpointError, match=message) as caught:
        run_chains(Toy(), **SMALL, checkpoint=folder)
    assert listing(folder) == before
    assert any(word in str(caught.value) for word in ("give", "restore", "move", "resume", "remove"))


def test_directory_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    before = listing(tmp_path)
    with pytest.raises(CheckpointError, match=r"holds 'thesis\.tex' and no manifest\.json.*empty or a new"):
        run_chains(Toy(), **SMALL, checkpoint=tmp_path)
    assert listing(tmp_path) == before


def test_files_beside_the_manifest_do_not_matter(folder, whole):
    (folder / "notes.txt").write_text("mine")
    (folder / "chain-0/.DS_Store").write_text("left by a file manager")
    assert same(run_chains(Toy(), **SMALL, checkpoint=folder), whole)
    assert (folder / "notes.txt").read_text() == "mine"


def test_any_damaged_byte_is_found_or_does_not_matter(tmp_path):
    identity = Identity("abc", 1, 1, "float64")
    checkpoint = Checkpoint(tmp_path, identity)
    checkpoint.begin()
    noise = np.arange(30.0)
    checkpoint.write(0, 0, 30, {"x": noise}, Chunk({"noise": noise}, {}, {}, {}))
    path = tmp_path / "chain-0/0-30.npz"
    sound = path.read_bytes()
    found = 0
    for place in range(0, len(sound), 7):
        damaged = bytearray(sound)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        try:
            [(_, _, _, chunk)] = checkpoint.draws(0)
            assert set(chunk.parameters) == {"noise"}
            np.testing.assert_array_equal(chunk.parameters["noise"], noise)
        except CheckpointError:
            found += 1
    checkpoint.close()
    assert found > 100


def test_other_version_is_told(folder, whole):
    edit_manifest(folder, version="0.0.1")
    with pytest.warns(CheckpointWarning, match=r"begun with vmqp 0\.0\.1 and goes on with"):
        assert same(run_chains(Toy(), **SMALL, checkpoint=folder), whole)
    assert json.loads((folder / "manifest.json").read_text())["version"] == "0.0.1"


@pytest.mark.parametrize("name", ["file", "file/run", "file/deep/run"])
def test_directory_that_cannot_be_made_is_told_before_sampling(name, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CheckpointError, match=r"file.*(cannot be made or written|is a file).*give"):
        run_chains(Toy(broken=0), **SMALL, checkpoint=tmp_path / name)
    assert listing(tmp_path).keys() == {"file"}


def test_directory_that_cannot_be_written_is_told_before_sampling(tmp_path, monkeypatch):
    def refuse(handle):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(files.os, "fsync", refuse)
    with pytest.raises(CheckpointError, match=r"cannot be made or written.*Read-only"):
        run_chains(Toy(broken=0), **SMALL, checkpoint=tmp_path / "run")
    assert not temporary(tmp_path)


def test_second_process_is_refused(folder, whole):
    lock = DirectoryLock(folder)
    assert lock.take()
    before = listing(folder)
    with pytest.raises(CheckpointError, match="another process is writing to"):
        run_chains(Toy(), **SMALL, checkpoint=folder)
    assert listing(folder) == before
    lock.release()
    assert same(run_chains(Toy(), **SMALL, checkpoint=folder), whole)


@pytest.mark.parametrize("calls", [4, 5, 6, 7, 8, 9])
def test_full_disk_returns_the_draws_so_far(calls, folder, whole, monkeypatch):
    """The manifest takes two calls; a chunk takes two for its state and two for its draws."""
    fsync, count = os.fsync, []

    def full(handle):
        count.append(handle)
        if len(count) >= calls:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        with pytest.warns(
            CheckpointWarning, match=r"\d+-\d+\.npz could not be written.*No space left.*resume"
        ):
            result = run_chains(Toy(), **SMALL, checkpoint=folder, chunk=20, workers=1)
    draws = result.sizes["draw"] if "draw" in result.sizes else result.posterior.sizes["draw"]
    assert result.attrs["stopped"] == "checkpoint failed"
    assert 120 <= draws < 300
    assert same(result, first(whole, draws))
    assert not temporary(folder)
    assert len(list(folder.glob("chain-?/state-*"))) == 2
    assert same(run_chains(Toy(), **SMALL, checkpoint=folder), whole)


def test_chunk_that_could_not_be_written_is_in_the_result(tmp_path, whole, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Checkpoint, "write", full)
    with pytest.warns(CheckpointWarning, match=r"chain-\d.*0-100\.npz.*holds 80 of 300 draws"):
        result = run_chains(Toy(), **SMALL, checkpoint=tmp_path, chunk=100, workers=2)
    assert same(result, first(whole, 80))


def test_full_disk_in_warmup(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Checkpoint, "write", full)
    with pytest.raises(CheckpointError, match=r"0-2\.npz.*No space left.*no draws yet"):
        run_chains(Toy(), **SMALL, checkpoint=tmp_path, chunk=2)


def test_state_with_python_objects_is_told(tmp_path):
    class Odd(Toy):
        def advance(self, state, iterations):
            state, chunk = super().advance(state, iterations)
            return state | {"note": np.array([print], dtype=object)}, chunk

    with pytest.raises(WorkerError, match="state/note holds Python objects"):
        run_chains(Odd(), **SMALL, checkpoint=tmp_path)


def children(pid):
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.add(int(status.parent.name))
    return found


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.002)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_killed_at_random_moments(executor, tmp_path, whole):
    """Killed for good, again and again, then resumed here: the draws are those of a run in one piece."""
    folder = tmp_path / "run"
    moments = np.random.default_rng(20).uniform(0.0, 0.2, size=3 if executor == "threads" else 2)
    for moment in moments:
        before = len(list(folder.glob("chain-*/*-*.npz")))
        # Threads write after each iteration, so that many kills hit a write.
        options = {
            "executor": executor,
            "chunk": 1 if executor == "threads" else 10,
            "checkpoint": str(folder),
        }
        process = launch({"pause": 0.002}, SMALL | options)
        wait_until(lambda before=before: len(list(folder.glob("chain-*/*-*.npz"))) > before + 4)
        time.sleep(moment)
        workers = children(process.pid)
        assert bool(workers) == (executor == "processes")
        process.send_signal(signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
        process.stderr.close()
        wait_until(lambda workers=workers: not any(map(alive, workers)))
    reached = max(int(path.stem.split("-")[1]) for path in folder.glob("chain-*/*-*.npz"))
    assert 0 < reached < 320, "it was killed in the middle"
    assert same(run_chains(Toy(), **SMALL, checkpoint=folder), whole)
    assert not temporary(folder)


def test_a_run_that_fails_before_it_begins_leaves_no_folder(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run", Identity("abc", 0, 1, "float64"))
    checkpoint.close()
    assert not (tmp_path / "run").exists()
    (tmp_path / "mine").mkdir()
    Checkpoint(tmp_path / "mine", Identity("abc", 0, 1, "float64")).close()
    assert (tmp_path / "mine").exists()
