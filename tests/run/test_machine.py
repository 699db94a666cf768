"""What a bound on memory is read from, and what is refused."""

import pytest

from vmqp.errors import InputError
from vmqp.run.machine import read_memory


@pytest.mark.parametrize(
    ("given", "expected"), [("4GB", 4e9), ("500 MB", 5e8), ("2g", 2e9), (1e9, 1e9), ("800000000", 8e8)]
)
def test_sizes(given, expected):
    assert read_memory(given) == expected


@pytest.mark.parametrize("given", ["", "much", "-1GB", 0, True, "4 GiBi", float("nan"), float("inf")])
def test_sizes_that_are_none(given):
    with pytest.raises(InputError, match="'4GB'"):
        read_memory(given)


def test_half_of_the_machine_by_default(monkeypatch):
    monkeypatch.setattr("vmqp.run.machine.memory", lambda: 6e9)
    assert read_memory(None) == 3e9
    monkeypatch.setattr("vmqp.run.machine.memory", lambda: float("inf"))
    assert read_memory(None) == 4e9
