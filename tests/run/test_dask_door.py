"""Addresses of Dask schedulers that are none, and a Python without Dask."""

import socket
import subprocess
import sys
import threading
import time

import pytest

from run_toy import Toy
from vmqp.errors import InputError
from vmqp.run import cluster, run_chains

pytestmark = pytest.mark.xdist_group("dask")

SMALL = {"chains": 3, "draws": 150, "seed": 4, "progress": False}


@pytest.fixture
def unused_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_address_that_does_not_answer(unused_port, tmp_path, monkeypatch):
    assert cluster._ANSWER_SECONDS <= 5.0
    monkeypatch.setattr(cluster, "_ANSWER_SECONDS", 1.0)
    began = time.monotonic()
    with pytest.raises(
        InputError, match=rf"'dask://127.0.0.1:{unused_port}', but no Dask scheduler answered"
    ):
        run_chains(Toy(), **SMALL, executor=f"dask://127.0.0.1:{unused_port}", checkpoint=tmp_path / "run")
    assert time.monotonic() - began < 5.0
    assert not (tmp_path / "run").exists(), "nothing has started"


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 3])
def test_address_of_something_else(answer, monkeypatch):
    monkeypatch.setattr(cluster, "_ANSWER_SECONDS", 1.0)
    before = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reply():
            with server.accept()[0] as connection:
                connection.sendall(answer)
                connection.recv(10**6)
                time.sleep(1.5)

        thread = threading.Thread(target=reply)
        thread.start()
        with pytest.raises(InputError, match="no Dask scheduler answered there within 1 s"):
            run_chains(Toy(), **SMALL, executor=f"tcp://127.0.0.1:{server.getsockname()[1]}")
        thread.join()
    assert set(threading.enumerate()) <= before


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"Dask is not installed: run pip install 'vmqp\[dask\]'\."):
        run_chains(Toy(), **SMALL, executor="dask://127.0.0.1:8786")


@pytest.mark.parametrize(
    "address",
    ["dask://", "dask://host", "tcp://:8786", "dask://host:port", "tcp://host:99999", "tcp://a b:1"],
)
def test_bad_address(address):
    with pytest.raises(InputError, match=rf"executor is '{address}'.*'dask://host:port'"):
        run_chains(Toy(), **SMALL, executor=address)


def test_dask_is_imported_when_it_is_asked_for():
    code = "import sys, vmqp.run.pools; print('distributed' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
