"""The score: the two derivatives of the log-density that J is made of. Its optimum is checked in test_objective."""

import numpy as np
import pytest

from vmqp import model
from vmqp.errors import InputError
from vmqp.learning.score_matching import score


def test_it_is_made_of_the_derivatives_of_the_log_density():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((3, 3))
    M, field, angles, step = A @ A.T, rng.standard_normal((3, 2)), rng.uniform(-3, 3, 3), 1e-3
    expected = 0.0
    for e in step * np.eye(3):
        below, here, above = (model.log_density_unnormalised(angles + s * e, M, field) for s in (-1, 0, 1))
        expected += 0.5 * ((above - below) / (2 * step)) ** 2 + (above - 2 * here + below) / step**2
    assert score(angles, M, field) == pytest.approx(expected, rel=1e-4)
    first = model.gradient(angles, M, field)
    local = np.sum(model.local_field(angles, M, field) * model.unit_vectors(angles))
    assert score(angles, M, field) == pytest.approx(0.5 * np.sum(first**2) - local, rel=1e-12)
    assert score(np.tile(angles, (4, 2, 1)), M, field).shape == (4, 2)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="field has shape"):
        score(np.zeros(2), np.eye(2), np.zeros((3, 2)))
