"""Downloads, from a server on this machine that answers badly: tried again or not, and nothing is left behind."""

import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from file_server import Answer, left_in
from vmqp.datasets import batch, download, receiver
from vmqp.datasets.batch import Job, fetch_all
from vmqp.datasets.download import fetch
from vmqp.datasets.kept import TEMPORARY, remember, unchanged
from vmqp.datasets.receiver import Receiver
from vmqp.errors import InputError

pytest.importorskip("pooch", reason='downloads need pooch: pip install "vmqp[data]"')

BODY = b"0123456789" * 20_000


def test_a_file_comes_whole_and_is_checked_under_its_own_name(files, tmp_path):
    files.answers["/a"] = BODY
    seen = []
    target = tmp_path / "new" / "wind.zip"
    assert (
        fetch(f"{files.url}/a", target, check=lambda path: seen.append((path.name, path.read_bytes())))
        == target
    )
    assert target.read_bytes() == BODY
    assert seen == [("wind.zip", BODY)]
    assert left_in(tmp_path) == ["new", "wind.zip"]


BAD = {
    "server error": Answer(b"sorry", 500),
    "overloaded": Answer(b"sorry", 503),
    "too many": Answer(b"sorry", 429),
    "cut short": Answer(BODY[:1000], announced=len(BODY)),
    "cut at once": Answer(b"", announced=len(BODY)),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_what_may_pass_is_tried_again(files, tmp_path, bad):
    files.answers["/a"] = [bad, bad, BODY]
    assert fetch(f"{files.url}/a", tmp_path / "a").read_bytes() == BODY
    assert len(files.asked) == 3


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_what_does_not_pass_is_given_up_and_leaves_what_was_there(files, tmp_path, bad):
    files.answers["/a"] = bad
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(InputError, match=rf"{files.url}/a could not be downloaded .*: try again later"):
        fetch(f"{files.url}/a", tmp_path / "a")
    assert len(files.asked) == 3
    assert left_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"
    files.answers["/a"] = BODY
    assert fetch(f"{files.url}/a", tmp_path / "a").read_bytes() == BODY


def test_pauses_grow(files, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "FIRST_PAUSE", 1.0)
    stop, pauses = threading.Event(), []
    stop.wait = pauses.append
    with pytest.raises(InputError):
        download.receive(f"{files.url}/a", tmp_path / "a", tries=1, stop=stop)
    files.answers["/a"] = Answer(status=500)
    with pytest.raises(InputError):
        download.receive(f"{files.url}/a", tmp_path / "a", tries=4, stop=stop)
    assert pauses == [1.0, 3.0, 9.0]


def test_a_file_that_is_not_there_is_asked_for_once(files, tmp_path):
    with pytest.raises(InputError, match=r"could not be downloaded \(the server says 404 Not Found\)"):
        fetch(f"{files.url}/a", tmp_path / "a")
    assert len(files.asked) == 1
    assert left_in(tmp_path) == []


def test_nobody_at_the_address(tmp_path):
    with pytest.raises(
        InputError, match=r"127\.0\.0\.1:9/a could not be downloaded \(the server could not be reached"
    ):
        fetch("http://127.0.0.1:9/a", tmp_path / "a")
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("announced", [None, -1], ids=["announced", "not announced"])
def test_too_much_is_not_taken(files, tmp_path, announced):
    files.answers["/a"] = Answer(BODY, announced=announced)
    with pytest.raises(InputError, match="too large: at most 1,000 bytes"):
        fetch(f"{files.url}/a", tmp_path / "a", largest=1000)
    assert len(files.asked) == 1
    assert left_in(tmp_path) == []


def test_a_file_whose_length_is_not_announced(files, tmp_path):
    files.answers["/a"] = Answer(BODY, announced=-1)
    assert fetch(f"{files.url}/a", tmp_path / "a").read_bytes() == BODY


def test_what_the_check_refuses_is_thrown_away(files, tmp_path):
    def check(path):
        raise InputError(f"{path.name} is no wind.")

    files.answers["/a"] = BODY
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(InputError, match=r"not the file.*: a is no wind\. It was thrown away: ask again\."):
        fetch(f"{files.url}/a", tmp_path / "a", check=check, advice="ask again")
    assert len(files.asked) == 1
    assert (tmp_path / "a").read_bytes() == b"old"
    assert left_in(tmp_path) == ["a"]


@pytest.mark.parametrize(
    "url", ["", "wind.zip", "file:///etc/passwd", "ftp://example.org/a", "http://", None, 3, "http://["]
)
def test_other_addresses_are_refused(tmp_path, url):
    with pytest.raises(InputError, match=r"give one that begins with http:// or https://"):
        fetch(url, tmp_path / "a")
    with pytest.raises(InputError, match=r"give one that begins with http:// or https://"):
        fetch_all([Job(url, tmp_path / "a")])


def test_redirects_are_followed_but_not_out_of_the_web(files, tmp_path):
    files.answers["/a"] = Answer(status=302, headers={"Location": "/b"})
    files.answers["/b"] = BODY
    assert fetch(f"{files.url}/a", tmp_path / "a").read_bytes() == BODY
    files.answers["/a"] = Answer(status=302, headers={"Location": "file:///etc/hostname"})
    with pytest.raises(InputError, match="could not be downloaded"):
        fetch(f"{files.url}/a", tmp_path / "c")
    assert left_in(tmp_path) == ["a"]


def test_an_encrypted_address_does_not_lead_to_a_plain_one():
    for address in ("https://example.org/a", "HTTPS://example.org/a"):
        listener = Receiver(None, address, 10, None, None)
        with pytest.raises(InputError, match="not encrypted"):
            listener.hear(SimpleNamespace(url="http://example.org/a", headers={}, ok=True))


def test_an_interrupt_leaves_nothing(files, tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    files.answers["/a"] = BODY
    with pytest.raises(KeyboardInterrupt):
        download.receive(f"{files.url}/a", tmp_path / "a", tell=interrupt)
    assert left_in(tmp_path) == []


DRIBBLE = Answer(BODY[:600], pause=0.05)  # half a minute


@pytest.mark.parametrize("announced", [None, -1], ids=["of known size", "of unknown size"])
def test_a_server_that_sends_next_to_nothing_is_given_up(files, tmp_path, monkeypatch, announced):
    monkeypatch.setattr(receiver, "SLOW", 0.3)
    files.answers["/a"] = replace(DRIBBLE, announced=announced)
    with pytest.raises(InputError, match=r"fewer than 10,000 bytes came in 0\.3 seconds"):
        fetch(f"{files.url}/a", tmp_path / "a")
    assert files.asked == ["/a"] * 3
    assert files.dribbled < 300
    assert left_in(tmp_path) == []


def test_a_slow_server_that_sends_enough_is_waited_for(files, tmp_path, monkeypatch):
    monkeypatch.setattr(receiver, "SLOW", 0.5)
    monkeypatch.setattr(receiver, "LEAST", 1)
    monkeypatch.setattr(download, "_CHUNK", 4)
    files.answers["/a"] = Answer(BODY[:80], pause=0.02)
    assert fetch(f"{files.url}/a", tmp_path / "a").read_bytes() == BODY[:80]


@pytest.mark.parametrize("announced", [None, -1], ids=["of known size", "of unknown size"])
def test_ctrl_c_hangs_up_on_a_slow_server(files, tmp_path, monkeypatch, announced):
    def interrupt(waiting, **_):
        while not files.dribbled:
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(batch, "wait", interrupt)
    files.answers["/a"] = replace(DRIBBLE, announced=announced)
    with pytest.raises(KeyboardInterrupt):
        fetch_all([Job(f"{files.url}/a", tmp_path / "a")])
    assert files.dribbled < 300
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("answer", [Answer(b"", 404), BODY], ids=["not there", "refused"])
def test_passwords_are_not_shown(files, tmp_path, answer):
    def refuse(_):
        raise InputError("it is not.")

    files.answers["/a"] = answer
    address = files.url.replace("//", "//me:secret@")
    with pytest.raises(InputError, match=r"127\.0\.0\.1") as caught:
        fetch(f"{address}/a", tmp_path / "a", check=refuse)
    assert "secret" not in str(caught.value)


def test_a_folder_that_cannot_be_made(files, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="could not be downloaded"):
        fetch(f"{files.url}/a", tmp_path / "file" / "a")


def test_without_pooch(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)
    with pytest.raises(InputError, match=r'pip install "vmqp\[data\]"'):
        fetch("http://127.0.0.1:9/a", tmp_path / "a")


def jobs(files, folder, count, good=BODY):
    for number in range(count):
        files.answers[f"/{number}"] = good
    return [Job(f"{files.url}/{number}", folder / str(number)) for number in range(count)]


def test_many_files_are_fetched_and_noted(files, tmp_path):
    many = jobs(files, tmp_path, 9)
    assert fetch_all(many, progress=True) == {}
    assert sorted(files.asked) == [f"/{number}" for number in range(9)]
    assert all(job.target.read_bytes() == BODY and unchanged(job.target) for job in many)


def test_the_first_failure_ends_the_rest(files, tmp_path):
    many = jobs(files, tmp_path, 200)
    files.answers["/0"] = Answer(b"", 404)
    with pytest.raises(InputError, match="/0 could not be downloaded"):
        fetch_all(many)
    assert len(files.asked) < 200
    assert not (tmp_path / "0").exists()
    assert not [name for name in left_in(tmp_path) if name.startswith(TEMPORARY)]
    assert all((tmp_path / name).read_bytes() == BODY for name in left_in(tmp_path) if name.isdigit())


def test_a_failure_ends_the_pauses_of_the_others(files, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "FIRST_PAUSE", 5.0)
    pair = jobs(files, tmp_path, 2)
    files.answers["/0"], files.answers["/1"] = Answer(b"", 500), Answer(b"", 404)
    with pytest.raises(InputError, match="/1 could not be downloaded"):
        fetch_all(pair)
    assert files.asked.count("/0") <= 1
    assert left_in(tmp_path) == []


def test_others_go_on_if_asked_to(files, tmp_path):
    many = jobs(files, tmp_path, 9)
    files.answers["/3"] = Answer(b"", 404)
    failed = fetch_all(many, go_on=True)
    assert list(failed) == [tmp_path / "3"]
    assert "404" in str(failed[tmp_path / "3"])
    assert sum(job.target.exists() for job in many) == 8


def test_an_interrupt_of_many_leaves_whole_files_only(files, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(batch, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch_all(jobs(files, tmp_path, 50))
    assert not [name for name in left_in(tmp_path) if name.startswith(TEMPORARY)]
    assert all((tmp_path / name).read_bytes() == BODY for name in left_in(tmp_path) if name.isdigit())
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("download")]


def test_a_kept_file_that_was_changed_is_noticed(tmp_path):
    path = tmp_path / "a"
    assert not unchanged(path)
    path.write_bytes(BODY)
    assert not unchanged(path)
    remember(path)
    assert unchanged(path)
    path.write_bytes(BODY[:-1])
    assert not unchanged(path)
    path.write_bytes(BODY)
    assert unchanged(path)
    (tmp_path / "a.sha256").write_bytes(b"\xff\xfe")
    assert not unchanged(path)
