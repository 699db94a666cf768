"""What all tests need of the process that they run in."""

import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard():
    """A shell starts what runs in its background deaf to Ctrl-C, and tests press it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
