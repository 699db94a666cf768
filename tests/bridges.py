"""Densities and steps on which bridging is tested."""

import numpy as np
import pytest
from scipy import sparse

from vmqp.sampling import make_target
from vmqp.sampling.heatbath import sweeps
from vmqp.sampling.target import Dense, Target

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
CLOSE = 1e-12


def coupling_and_field(d, strength, seed):
    """A positive definite coupling whose entries have both signs, and a field without symmetry."""
    rng = np.random.default_rng([d, seed])
    root = rng.normal(size=(d, d))
    return strength * (root @ root.T / d + 0.2 * np.eye(d)), strength * rng.normal(size=(d, 2))


def ends(d, strength=1.0):
    """Two targets, the second with a scale of its own, as points that share a factorisation have."""
    first = make_target(*coupling_and_field(d, strength, 1))
    second = make_target(*coupling_and_field(d, strength, 2))
    scale = 0.7
    return first, Target(Dense(second.coupling.matrix / scale, scale), second.diagonal, second.field)


def parts(target):
    """The hollow coupling, and the field by rows: what the references take."""
    return np.asarray(target.matrix()), target.field.T


def imbalance(transitions, weights):
    """The largest |π_i T_ij − π_j T_ji| relative to the largest flow."""
    flow = weights[:, None] * transitions
    return np.abs(flow - flow.T).max() / flow.max()


def plain_sweep(target, x):
    sweeps(None, target, x, 0, 1)
