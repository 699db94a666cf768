"""The words of messages."""

import pytest

from vmqp.tables import nearest
from vmqp.tables.words import listed, shown


@pytest.mark.parametrize(
    ("name", "choices", "near"),
    [
        ("LAT", ["lon", "lat"], "lat"),
        ("lat", ["LON", "LAT"], "LAT"),
        ("latitude", ["longitude", "lat"], "longitude"),
        ("anything", ["one"], "one"),
        ("x", [], ""),
        ("x" * 10**6, ["y" * 10**6, "x" * 10**6], "x" * 10**6),
    ],
    ids=range(6),
)
def test_nearest(name, choices, near):
    assert nearest(name, iter(choices)) == near


def test_long_things_are_cut():
    assert len(shown("x" * 10**6)) == 40
    assert shown(10**5000) == "an integer of 16610 bits"
    assert listed(map(str, range(30)), most=3) == "'0', '1', '2' and 27 more"
