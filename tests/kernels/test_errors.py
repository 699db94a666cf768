"""What kernels refuse, and that the message names the remedy."""

import numpy as np
import pytest

from vmqp.errors import InputError
from vmqp.kernels import Categorical, Constant, Custom, Gaussian, Linear, Nugget, Periodic, RationalQuadratic
from vmqp.priors import HalfNormal

H = HalfNormal(1)
X = np.random.default_rng(0).normal(size=(9, 3))
ABC = ["east", "north", "height"]


def triangle(a, b, width):
    return np.maximum(0.0, 1.0 - np.abs(a[:, 0] - b[:, 0]) / width)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(-1.0), "lengthscale must be"),
        (lambda: Gaussian("wide"), "lengthscale must be"),
        (lambda: Gaussian([1.0, 0.0]), "lengthscale must be"),
        (lambda: Gaussian([1.0, 2.0], columns=["a"]), "has 2 values for 1 columns"),
        (lambda: Gaussian({"a": 1.0}, columns=["a", "b"]), r"columns \['a'\] and columns=\['a', 'b'\]"),
        (lambda: Gaussian(1.0, columns=[]), "list of column names"),
        (lambda: Gaussian({}), "list of column names"),
        (lambda: Gaussian(1.0, columns=[0.5]), "0.5 was given"),
        (lambda: Gaussian(1.0, columns=[True]), "True was given"),
        (lambda: Gaussian(1.0, columns=3.0), "list of column names"),
        (lambda: Gaussian(1.0, metric="manhattan"), "'euclidean' or 'geographic'"),
        (lambda: Gaussian([1.0, 1.0], metric="geographic"), "one length scale, in km"),
        (lambda: Gaussian(1.0, name=""), "short text"),
        (lambda: Periodic(1.0, 24.0, metric="geographic"), "made for 'euclidean'"),
        (lambda: Linear(metric="geographic"), "made for 'euclidean'"),
        (lambda: Categorical(metric="geographic"), "made for 'euclidean'"),
        (lambda: Custom(triangle, width=1.0, metric="geographic"), "metric must be"),
        (lambda: RationalQuadratic(1.0, [1.0, 2.0]), "shape must be"),
        (lambda: Categorical(1.0), "at least 0 and less than 1 but is 1.0"),
        (lambda: Categorical(H), "Uniform"),
        (lambda: Nugget(-0.1), "nugget must be"),
        (lambda: Constant(0.0), "variance must be"),
        (lambda: 0.0 * Gaussian(1.0), "variance must be"),
        (lambda: -1 * Gaussian(1.0), "variance must be"),
        (lambda: Gaussian(1.0) + 0.1, "Nugget"),
        (lambda: H + Gaussian(1.0), "Nugget"),
        (lambda: Custom(3.0), "give a function"),
        (lambda: Custom(triangle, width=1.0, name=3), "short text"),
        (lambda: Nugget(0.1, name=""), "short text"),
    ],
)
def test_refused_when_made(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("other", ["x", None, [1.0], np.ones(2)])
def test_other_types_do_not_combine(other):
    with pytest.raises(TypeError):
        other * Gaussian(1.0)
    with pytest.raises(TypeError):
        Gaussian(1.0) + other


@pytest.mark.parametrize(
    ("kernel", "inputs", "column_names", "message"),
    [
        (Gaussian(0.8), np.ones(3), None, r"X\[:, None\]"),
        (Gaussian(0.8), np.ones((0, 2)), None, "rows"),
        (Gaussian(0.8), [[1.0, np.nan]], None, "nan at row 0, column 1"),
        (Gaussian(0.8), X, ["a", "b"], "for 3 columns"),
        (Gaussian(0.8), X, ["a", "b", "a"], "name of its own"),
        (Gaussian(1.0, columns=["nroth"]), X, ABC, "did you mean 'north'"),
        (Gaussian(1.0, columns=["north"]), X, None, "no column names"),
        (Gaussian(1.0, columns=[3]), X, ABC, "from 0 to 2"),
        (Gaussian(1.0, columns=[-1]), X, ABC, "from 0 to 2"),
        (Gaussian(1.0, columns=[0, "east"]), X, ABC, "twice"),
        (Gaussian([1.0, 2.0]), X, ABC, "has 2 values for 3 columns"),
        (Gaussian(1.0, metric="geographic"), X, ABC, "for 3 columns"),
        (
            Gaussian(1.0, metric="geographic", columns=[0, 1]),
            [[48.0, 11.0, 0.0], [9.0, 120.0, 0.0]],
            None,
            "row 1",
        ),
        (Custom(lambda a, b: a[:, 0]), X, None, "not symmetric at rows"),
        (Custom(lambda a, b: 1.0), X, None, r"returned shape \(\)"),
        (Custom(lambda a, b: np.full(len(a), np.nan)), X, None, "not finite"),
    ],
)
def test_refused_when_bound(kernel, inputs, column_names, message):
    with pytest.raises(InputError, match=message):
        kernel.bind(inputs, column_names)


@pytest.mark.parametrize(
    ("rows", "cols", "message"),
    [
        ([0, 9], [0, 0], "rows goes from 0 to 9"),
        ([0], [-1], "cols"),
        ([0, 1], [0], "equal"),
        ([0.0], [1], "integers"),
    ],
)
def test_refused_pairs(rows, cols, message):
    with pytest.raises(InputError, match=message):
        Gaussian(0.8).bind_pairs(X, rows, cols)


def test_a_value_for_an_unknown_parameter_is_refused():
    with pytest.raises(InputError, match="no parameter 'length'"):
        Gaussian(1.0).bind([[0.0], [1.0]]).covariance({"length": 2.0})
