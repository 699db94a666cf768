"""Whatever is given to `regress`, it comes to the run of the chains or raises an error of ours; nothing else, ever.

The chains themselves are replaced, so that thousands of cells are read in seconds. Warnings are errors here: an
overflow at the door would be seen too.
"""

import datetime
import functools
import math
from decimal import Decimal
from fractions import Fraction
from unittest import mock

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
from hypothesis import HealthCheck, event, given, settings
from hypothesis.extra import numpy as hnp

import vmqp
from vmqp import kernels, priors
from vmqp.errors import ConvergenceWarning, VmqpError
from vmqp.learning import Method
from vmqp.regression import fitting
from vmqp.run import Converged
from vmqp.run.door import check_memory, check_plan

EXAMPLES = settings(
    max_examples=250,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)


class _ReachedError(Exception):
    """The call has come through the door."""


def _stop(learner, **options):
    plan = check_plan(task=learner, chunk=None, **options)
    check_memory(plan, learner.describe(), None)
    raise _ReachedError


def come_to_the_door(*args, **options):
    with mock.patch.object(fitting, "run_chains", _stop):
        try:
            vmqp.regress(*args, **options)
            found = None
        except (
            _ReachedError,
            VmqpError,
            ConvergenceWarning,
        ) as error:  # the last where a time limit is short
            found = error
    event(type(found).__name__)
    assert found is not None or options["inference"] == "fast"
    assert len(str(found)) < 2500, str(found)
    assert str(found) or isinstance(found, _ReachedError)


# Cells, columns, tables

SCALES = [0.0, 1.0, -1.0, 360.0, 1e-9, 5e-324, 1e-300, 1e-160, 1e-99, 1e99, 1e154, 1e300, 1.7e308]
numbers = st.one_of(
    st.floats(-10.0, 370.0),
    st.integers(-3, 30),
    st.sampled_from(SCALES),
    st.floats(),
    st.integers(),
    st.sampled_from(
        [10**30, -(10**400), np.int8(-128), np.uint64(2**64 - 1), np.float16(65504.0), Decimal("1e400")]
    ),
    st.sampled_from([Fraction(1, 3), Decimal("NaN"), np.longdouble(1.5), np.float32(3.4e38)]),
)
words = st.one_of(
    st.sampled_from(["", " ", "a", "b", "nan", "1e5", "inf", "lon", "None", "\0", "é"]), st.text()
)
oddities = st.sampled_from(
    [
        None,
        True,
        b"bytes",
        1j,
        [],
        {},
        (1, 2),
        object(),
        np.nan,
        np.datetime64("NaT"),
        pd.NaT,
        pd.NA,
        datetime.date(2024, 1, 1),
        np.array([1.0, 2.0]),
        lambda: 0,
        float,
        ...,
    ]
)
cells = st.one_of(numbers, words, oddities)
near = st.sampled_from([0.0, 1e-300, 1e-16, 1.0, 1.0 + 2e-16, 2.0, 3.0])


tame = [st.floats(-180.0, 180.0, width=16), st.integers(-90, 90), near, st.sampled_from(["a", "b"])]
wild = [*tame, numbers, words, cells, st.booleans()]


def columns(rows, kinds):
    return st.one_of([st.lists(kind, min_size=rows, max_size=rows) for kind in kinds])


@st.composite
def tables(draw, rows, width, kinds):
    """Rows of a table, or a frame of pandas or of polars, with columns of these kinds."""
    parts = [draw(columns(rows, kinds)) for _ in range(width)]
    if draw(st.booleans()):
        wanted = draw(st.sampled_from([float, object, list, "f4", int]))
        rows_ = [list(row) for row in zip(*parts, strict=True)] or [[] for _ in range(rows)]
        if wanted is list:
            return rows_
        try:
            with np.errstate(all="ignore"):
                return np.array(rows_, dtype=wanted)
        except (TypeError, ValueError, OverflowError):
            return rows_
    names = draw(
        st.lists(st.sampled_from(["lon", "lat", "x", "", "1"]), min_size=width, max_size=width, unique=True)
    )
    # polars is given only what it has types for: other objects make it, or pyarrow, crash.
    plain = all(type(cell) in (float, int, str, bool, type(None)) for part in parts for cell in part)
    make = pl.DataFrame if plain and draw(st.booleans()) else pd.DataFrame
    try:
        return make(dict(zip(names, parts, strict=True)))
    except Exception:  # what neither can hold is not ours to refuse
        return parts


anything = st.one_of(
    cells,
    hnp.arrays(float, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)),
    hnp.arrays(st.sampled_from(["U3", "M8[s]", "c16", "?", "i1"]), hnp.array_shapes(max_dims=3, max_side=4)),
    st.lists(st.lists(cells, max_size=3), max_size=4),
    st.lists(cells, max_size=4),
    st.builds(iter, st.just([1, 2])),
    st.just(np.ma.array([[1.0], [2.0], [3.0]], mask=[[0], [1], [0]])),
    st.sampled_from(
        [pd.DataFrame(), pl.DataFrame(), pd.Series(dtype=float), pl.Series([1.0]), pl.LazyFrame({"x": [1]})]
    ),
)


@st.composite
def data(draw):
    """X, y and X_new: mostly tables that fit each other, sometimes anything."""
    width, kinds = draw(st.integers(1, 3)), draw(st.sampled_from([tame[:3], tame[:3], tame, wild]))
    n, m = draw(st.integers(2 if kinds is not wild else 0, 6)), draw(st.integers(1, 4))
    X, X_new = draw(tables(n, width, kinds)), draw(tables(m, width, kinds))
    y = draw(st.one_of(st.lists(st.floats(0.0, 6.0), min_size=n, max_size=n), columns(n, kinds)))
    if draw(st.booleans()):
        X_new = X[:m]
    given = [X, y, X_new]
    if draw(st.integers(0, 4)) == 0:
        given[draw(st.integers(0, 2))] = draw(anything)
    return tuple(given)


# Options

VALUES = {
    "period": [360, "degrees", "furlongs", 0, np.inf, 1e-320, 10**400, None],
    "kernel": [
        "exponential",
        "exponential + nugget",
        "gaussian(columns=[lon]) * categorical(columns=[x])",
        "exponential(((",
        "linear + constant + periodic(3)",
        kernels.Gaussian(1.0),
        1.0 * kernels.Linear() + kernels.Nugget(1e-300),
        kernels.Categorical(0.5),
        1e300 * kernels.Exponential(1e-300),
        kernels.Custom(lambda a, b: np.exp(-np.abs(a - b).sum(axis=1))),
        kernels.Custom(lambda a, b: 1 / 0),
        3,
    ],
    "metric": ["geographic", "euclidean", "miles", None],
    "drift": [None, "auto", "mean", "constant", "up", np.array([1, 2])],
    "transductive": [True, False, np.True_, 1, "x"],
    "parameter_draws": [1, 10**6, 10**400, 0, 2.5, np.int8(3), True],
    "neighbors": [1, 10**30, 10**400, 0, "many"],
    "memory": ["4GB", 1e9, 10**400, -1, "lots"],
    "concentration": [
        0,
        1.0,
        1e12,
        1e300,
        -1,
        10**400,
        priors.HalfNormal(1e-300),
        priors.UniformAngle(),
        "a",
    ],
    "direction": [
        0,
        1e308,
        -1e308,
        np.float32(3),
        np.nan,
        10**400,
        priors.UniformAngle(),
        priors.Fixed(1.0),
        "a",
    ],
    "noise": [
        1.0,
        1e-300,
        1e300,
        [5.0] * 4,
        [[1], [2, 3]],
        np.array(3.0),
        pd.Series([1.0, np.nan]),
        priors.HalfNormal(50),
        priors.UniformAngle(),
        "a",
        {},
        10**400,
        np.array([3.0, 1j]),
    ],
    "noise_new": [1.0, [1.0, 2.0], "a", -1, np.array([["a"]]), 10**400],
    "precision": ["dense", "vecchia"],
    "sampler": ["heatbath", "augmented", "nuts", []],
    "method": [Method(bridge=3), Method(steps=(1.0,)), "m"],
    "warmup": [0, 10**400, -1, np.int8(3), 1.0],
    "thin": [1, 0, 10**100],
    "chains": [1, 2, 0, 10**30, 10**400, "x", True, np.array(2)],
    "draws": [1, 0, 10**12, 10**400, None],
    "seed": [0, 2**200, -1, 10**5000, 1.5],
    "executor": ["threads", "processes", "gpu", 3, "dask://", "dask://nowhere:x"],
    "workers": [1, 0, 10**400, "a"],
    "checkpoint": ["", 3, "a\0b", b"run"],
    "progress": [False, "x", 1],
    "until": [Converged(), 3],
    "inference": ["bayes", "fast", 1],
    "time_limit": [1000.0, 0, np.nan, np.inf, 10**400, "1"],
    "dtype": ["float32", "int8", np.float32, None],
}
one_option = st.sampled_from(list(VALUES)).flatmap(
    lambda name: st.tuples(st.just(name), st.one_of(st.sampled_from(VALUES[name]), cells))
)
some_options = st.lists(one_option, max_size=3).map(dict)


@EXAMPLES
@given(data=data(), options=st.one_of(st.just({}), some_options))
def test_any_data_and_options(data, options):
    come_to_the_door(*data, **options)


@EXAMPLES
@given(options=some_options, width=st.integers(1, 2))
def test_any_options_with_good_data(options, width):
    X = np.arange(4.0 * width).reshape(4, width)
    come_to_the_door(X, [0.1, 1.0, 2.0, 0.3], X + 0.5, **options)


TOKENS = [
    *(
        "exponential",
        "gaussian",
        "nugget",
        "linear",
        "periodic",
        "constant",
        "categorical",
        "HalfNormal",
        "LogNormal",
    ),
    *(
        "(",
        "(",
        ")",
        ")",
        "*",
        "+",
        ",",
        "=",
        "[",
        "]",
        "-",
        "1",
        "0.5",
        "1e400",
        "columns=0",
        "name='a'",
        "period=",
        " ",
    ),
]


@EXAMPLES
@given(
    text=st.one_of(
        st.text(max_size=40),
        st.text("ab()[],.*+='\" 01e-", max_size=40),
        st.lists(st.sampled_from(TOKENS), max_size=12).map("".join),
    )
)
def test_any_text_for_a_kernel(text):
    come_to_the_door([[0.0], [1.0], [3.0]], [0.1, 1.0, 2.0], [[2.0]], kernel=text)


@EXAMPLES
@given(
    scale=st.sampled_from([s for s in SCALES if s] + [-1e150, 1e-50]),
    offset=st.sampled_from([0.0, 1.0, 1e16, -1e100, 1e300]),
    gaps=st.lists(st.sampled_from([0.0, 1e-300, 1e-17, 1.0, 5.0]), min_size=3, max_size=6),
    kernel=st.sampled_from([None, "exponential", "1 * gaussian(1)", "linear + nugget", "rationalquadratic"]),
    noise=st.sampled_from([None, 1.0]),
)
def test_any_scale_of_the_inputs(scale, offset, gaps, kernel, noise):
    with np.errstate(over="ignore"):
        places = np.cumsum(gaps)[:, None] * scale + offset
    come_to_the_door(places, np.arange(len(gaps)), places[:1] - scale, kernel=kernel, noise=noise, period=7)


@EXAMPLES
@given(
    y=st.lists(st.one_of(st.floats(), st.floats(-7.0, 7.0), st.integers()), min_size=2, max_size=5),
    period=st.one_of(st.floats(), st.integers(), st.sampled_from(["radians", "hours", "x", math.pi]), cells),
)
def test_any_period(y, period):
    come_to_the_door(np.arange(float(len(y)))[:, None], y, [[0.5]], period=period)


# A model that was learned before: whatever is asked, there is an answer or an error of ours

FITTED = {
    "array": lambda: ([[0.0, 1.0], [1.0, 0.5], [2.0, 3.0]], {}),
    "frame": lambda: (
        pd.DataFrame({"lon": [0.0, 1.0, 2.0], "lat": [1.0, 0.5, 3.0]}),
        {"metric": "geographic"},
    ),
    "category": lambda: (pd.DataFrame({"lon": [0.0, 1.0, 2.0], "x": ["a", "b", "a"]}), {}),
}


@functools.cache
def fitted(name):
    X, options = FITTED[name]()
    few = {"chains": 1, "draws": 2, "warmup": 2, "progress": False}
    return vmqp.CircularRegressor(**few, **options).fit(X, [0.1, 1.0, 2.0])


def answers(ask, check):
    """The outcome of a question: what it returns passes a check, or the error is ours."""
    try:
        found, text = ask(), None
    except VmqpError as error:
        found, text = None, str(error)
    event("answered" if text is None else "refused")
    if text is None:
        check(found)
    else:
        assert 0 < len(text) < 2500


def check_prediction(post):
    assert ((post.variance >= 0.0) & (post.variance <= 1.0)).all()
    assert np.isfinite(post.interval(0.9)).all()
    assert np.isfinite(post.draws).all()


new_tables = st.one_of(
    st.integers(1, 4).flatmap(
        lambda m: st.sampled_from([tame[:3], tame, wild]).flatmap(lambda k: tables(m, 2, k))
    ),
    anything,
)


@EXAMPLES
@given(name=st.sampled_from(list(FITTED)), X_new=new_tables)
def test_any_new_locations_of_a_model(name, X_new):
    model = fitted(name)
    answers(lambda: model.posterior(X_new), check_prediction)


@EXAMPLES
@given(name=st.sampled_from(list(FITTED)), data=data())
def test_any_other_data_of_a_model(name, data):
    model = fitted(name)
    X, y, _ = data
    answers(lambda: model.condition(X, y).posterior(FITTED[name]()[0]), check_prediction)
