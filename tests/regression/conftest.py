"""Regressions that stop at the door, before any chain runs, and small data to give them."""

import os
from unittest import mock

import numpy as np
import pytest

import vmqp
from vmqp.errors import InputError, VmqpError
from vmqp.regression import fitting
from vmqp.run.door import check_memory, check_plan

X = np.arange(8.0)[:, None]
Y = np.mod(300.0 + 40.0 * X[:, 0] + 10.0 * np.cos(3.0 * X[:, 0]), 360.0)
X_NEW = np.array([[2.5], [9.0]])
FEW = {"chains": 1, "draws": 5, "warmup": 5, "progress": False}


class ReachedError(Exception):
    """A call has come through the door; what would run is kept."""

    def __init__(self, learner, options):
        super().__init__("the chains would run now")
        self.learner = learner
        self.options = options


def stop(learner, **options):
    """In place of `run_chains`: its own door, and then no chains."""
    plan = check_plan(task=learner, chunk=None, **options)
    check_memory(plan, learner.describe(), None)
    raise ReachedError(learner, options)


@pytest.fixture
def learner_of():
    """What `regress` would run, without running it."""

    def run(*args, **options):
        with mock.patch.object(fitting, "run_chains", stop), pytest.raises(ReachedError) as found:
            vmqp.regress(*args, **options)
        return found.value.learner

    return run


@pytest.fixture
def data():
    return X.copy(), Y.copy(), X_NEW.copy()


@pytest.fixture
def few():
    """Options of a run that is as short as can be."""
    return dict(FEW)


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """Calls that must be refused, with one thing wrong; they are made in an empty directory, which must stay empty."""
    monkeypatch.chdir(tmp_path)

    def call(message, X=X, y=Y, X_new=X_NEW, error=InputError, **options):
        with pytest.raises(error, match=message) as found:
            vmqp.regress(X, y, X_new, **{"period": 360} | FEW | options)
        assert isinstance(found.value, VmqpError)
        assert len(str(found.value)) < 1000
        return str(found.value)

    yield call
    assert os.listdir(tmp_path) == []
