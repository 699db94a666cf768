"""What tests of downloads share: a server on this machine, and no pauses between tries."""

import pytest

from file_server import serve
from vmqp.datasets import download


@pytest.fixture
def files():
    """A server that answers as a test tells it; without pooch there is nothing to test."""
    pytest.importorskip("pooch", reason='downloads need pooch: pip install "vmqp[data]"')
    with serve() as files:
        yield files


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(download, "FIRST_PAUSE", 0.0)
