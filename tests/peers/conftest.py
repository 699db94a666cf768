"""Small linear algebra in one thread, as in a run: with more, they would wait for each other."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def _one_thread():
    with threadpool_limits(1):
        yield
