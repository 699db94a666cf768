"""The classical sets: as many as published, and with the published moments."""

import pytest

from vmqp import circle
from vmqp.datasets import roulette, turtles


@pytest.mark.parametrize(
    ("values", "count", "mean", "length"), [(roulette(), 9, 51.0, 0.711), (turtles(), 76, 64.2, 0.497)]
)
def test_published_facts(values, count, mean, length):
    assert values.shape == (count,)
    assert (values == values.round()).all()
    assert (values >= 0).all()
    assert (values < 360).all()
    assert circle.mean(values, period=360) == pytest.approx(mean, abs=0.5)
    assert circle.resultant_length(values, period=360) == pytest.approx(length, abs=5e-4)


def test_a_call_gives_an_array_of_its_own():
    first = turtles()
    first[:] = 0.0
    assert turtles()[0] == 8.0
