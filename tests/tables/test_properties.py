"""Properties of the door: whatever is given, it ends with a checked result or with an error of our own.

Examples are derandomised: a run fails always or never. Warnings are errors here as in all tests, so a door that
lets numpy or pandas warn fails too.
"""

import contextlib
import math
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vmqp import circle
from vmqp.errors import VmqpError
from vmqp.tables import (
    AngleRange,
    read_angles,
    read_inputs,
    read_new_inputs,
    read_period,
    read_truth,
)

door = settings(
    deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)


class Hostile:
    """An object that has everything and can do nothing."""

    columns = property(lambda self: 1 / 0)
    dtype = object()
    shape = (2, 2)
    ndim = 2

    def __array__(self, *arguments, **options):
        raise RuntimeError("no")

    def __float__(self):
        raise RuntimeError("no")

    def __len__(self):
        raise RuntimeError("no")


class Unprintable(Hostile):
    """One that cannot even be printed, which a failing example has to be."""

    def __repr__(self):
        raise RuntimeError("no")


def endless():
    """A list that holds itself twice: whoever opens it never ends."""
    nested = []
    nested.extend([nested, nested])
    return nested


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.integers(),
    st.just(10**400),
    st.just(-(2**63) - 1),
    st.complex_numbers(),
    st.text(max_size=5),
    st.sampled_from(["", " ", "nan", "inf", "1.5", "-3", "NA", "2020-01-01", "\ud800", "1_0", "360", "deg"]),
    st.binary(max_size=3),
    st.decimals(allow_nan=False),  # pandas itself fails to print a signalling NaN
    st.just(Decimal("NaN")),
    st.fractions(),
    st.dates(min_value=date(1900, 1, 1), max_value=date(2100, 1, 1)),
    st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1)),
    st.timedeltas(min_value=timedelta(-1000), max_value=timedelta(1000)),
    st.builds(object),
    st.builds(Hostile),
    st.sampled_from([pd.NA, pd.NaT, np.ma.masked, np.float32(1.5), np.int8(3), np.bool_(True), np.str_("a")]),
    st.sampled_from(
        [np.datetime64("NaT"), np.timedelta64(3, "s"), np.array(2.0), np.longdouble(1), range(3)]
    ),
)
NESTED = st.recursive(
    SCALARS,
    lambda children: st.one_of(
        st.lists(children, max_size=4),
        st.lists(children, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), children, max_size=2),
    ),
    max_leaves=12,
)
ROWS = st.integers(0, 3).flatmap(
    lambda width: st.lists(st.lists(SCALARS, min_size=width, max_size=width), max_size=4)
)
ARRAYS = st.one_of(
    hnp.arrays(
        st.one_of(hnp.scalar_dtypes(), hnp.array_dtypes(max_size=2), st.just(np.dtype(np.longdouble))),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    ),
    hnp.arrays(object, hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3), elements=SCALARS),
)


def masked(array):
    return np.ma.array(array, mask=np.arange(array.size).reshape(array.shape) % 2 == 0)


def objects(cells):
    array = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):
        array[row] = cell
    return array


@st.composite
def pandas_frames(draw):
    rows = draw(st.integers(0, 4))
    names = draw(st.lists(st.one_of(st.text(max_size=2), st.integers(0, 2), st.none()), max_size=3))
    columns = []
    for _ in names:
        cells = draw(st.lists(SCALARS, min_size=rows, max_size=rows))
        series = pd.Series(objects(cells), dtype=object)
        kind = draw(st.sampled_from(["object", "category", "inferred", "Int64", "bool", "string"]))
        with contextlib.suppress(Exception):  # cells that do not convert stay objects
            series = series.infer_objects() if kind == "inferred" else series.astype(kind)
        columns.append(series)
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(rows))
    frame.columns = names
    return frame


POLARS_TYPES = st.sampled_from(
    [
        st.one_of(st.none(), st.floats()),
        st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
        st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=3)),
        st.one_of(st.none(), st.booleans()),
        st.one_of(st.none(), st.dates(min_value=date(1900, 1, 1), max_value=date(2100, 1, 1))),
        st.one_of(st.none(), st.binary(max_size=2)),
        st.lists(st.integers(0, 3), max_size=2),
        st.none(),
    ]
)


@st.composite
def polars_frames(draw):
    rows = draw(st.integers(0, 4))
    names = draw(st.lists(st.text(st.characters(codec="utf-8"), max_size=2), max_size=3, unique=True))
    columns = {name: draw(st.lists(draw(POLARS_TYPES), min_size=rows, max_size=rows)) for name in names}
    return pl.DataFrame(columns)


FRAMES = st.one_of(pandas_frames(), polars_frames())
SERIES = st.one_of(
    st.lists(SCALARS, max_size=4).map(lambda cells: pd.Series(objects(cells), dtype=object)),
    polars_frames().filter(lambda frame: frame.width > 0).map(lambda frame: frame.to_series(0)),
)
SIMPLE_ARRAYS = ARRAYS.filter(lambda array: array.dtype.names is None)
ANYTHING = st.one_of(NESTED, ROWS, ARRAYS, SIMPLE_ARRAYS.map(masked), FRAMES, SERIES, st.builds(endless))


def outcome(read, *arguments):
    """Return the result and no words, or no result and the words of our own error; others go through."""
    try:
        return read(*arguments), ""
    except VmqpError as error:
        return None, str(error)


TABLES = [
    read_inputs([[1.0, 2.0], [3.0, 4.0]]),
    read_inputs(pd.DataFrame({"a": [1.0, 2.0], "": ["x", "y"]})),
    read_inputs(pl.DataFrame({"0": [True, False]})),
]


def check_table(table):
    assert table.values.dtype == np.float64
    assert table.values.ndim == 2
    assert table.values.size > 0
    assert np.isfinite(table.values).all()
    for column, categories in table.categories.items():
        codes = table.values[:, column]
        assert set(codes.tolist()) <= set(range(len(categories)))
        assert len(set(categories)) == len(categories)
    if table.names is not None:
        assert len(set(table.names)) == len(table.names) == table.values.shape[1]


@door
@given(ANYTHING)
def test_inputs_are_checked_or_refused(X):
    table, words = outcome(read_inputs, X)
    if table is None:
        assert "X" in words
    else:
        check_table(table)


@door
@given(ANYTHING, st.sampled_from(TABLES))
def test_new_inputs_are_checked_or_refused(X_new, table):
    new, words = outcome(read_new_inputs, X_new, table)
    if new is None:
        assert "X_new" in words
        return
    check_table(new)
    assert new.values.shape[1] == table.values.shape[1]
    assert new.names == table.names
    for column, categories in table.categories.items():
        assert new.categories[column][: len(categories)] == categories


@door
@given(st.one_of(ANYTHING, SCALARS))
def test_periods_are_read_or_refused(period):
    result, words = outcome(read_period, period)
    if result is None:
        assert "period" in words
    else:
        assert 0 < result[0] < math.inf
        assert isinstance(result[1], str)


@door
@given(ANYTHING, st.sampled_from([2 * math.pi, 360, "hours", 1e100]))
def test_angles_are_checked_or_refused(y, period):
    result, words = outcome(read_angles, y, period)
    if result is None:
        assert "y" in words
        return
    radians, angle_range = result
    assert radians.ndim == 1
    assert len(radians) >= 2
    assert ((radians > -np.pi) & (radians <= np.pi)).all()
    assert isinstance(angle_range, AngleRange)


@door
@given(ANYTHING, st.sampled_from([2 * math.pi, 360.0, 1e-100]), st.integers(1, 3))
def test_truths_are_checked_or_refused(y_true, period, count):
    radians, words = outcome(read_truth, y_true, AngleRange(period, True, ""), count)
    if radians is None:
        assert "y_true" in words
    else:
        assert radians.shape == (count,)
        assert ((radians > -np.pi) & (radians <= np.pi)).all()


PERIODS = st.one_of(st.sampled_from([2 * math.pi, 360.0, 24.0, 100.0, 180.0]), st.floats(1e-6, 1e6))


@door
@given(PERIODS, st.lists(st.floats(0, 1), min_size=2, max_size=8), st.sampled_from([0.0, -0.5, -0.2]))
def test_angles_come_back_in_the_range_they_came_in(period, parts, start):
    y = np.clip((np.array(parts) + start) * period, start * period, (1 + start) * period)
    radians, angle_range = read_angles(y, period)
    back = angle_range.from_radians(radians)
    assert np.abs(circle.difference(back, y, period)).max() <= 1e-12 * period
    low, high = (-period / 2, period / 2) if (y < 0).any() else (0.0, period)
    assert ((back >= low) & (back <= high)).all()
    assert (back != (low if (y < 0).any() else high)).all()
    assert np.array_equal(angle_range.to_radians(back), circle.to_radians(back, period))


@door
@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int32, np.uint8, np.bool_]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=4),
        elements={"allow_nan": False, "allow_infinity": False},
    )
)
def test_good_arrays_are_accepted_by_every_way_in(array):
    table = read_inputs(array)
    assert np.array_equal(table.values, array.astype(float))
    for other in (array.tolist(), array.astype(object), [tuple(row) for row in array]):
        assert np.array_equal(read_inputs(other).values, table.values)
    names = [f"c{column}" for column in range(array.shape[1])]
    for frame in (pd.DataFrame(array, columns=names), pl.DataFrame(array, schema=names)):
        if array.dtype != np.bool_:
            named = read_inputs(frame)
            assert np.array_equal(named.values, table.values)
            assert np.array_equal(read_new_inputs(frame[names[::-1]], named).values, table.values)


@pytest.mark.parametrize("read", [read_inputs, read_angles, read_period])
def test_hostile_objects_are_refused(read):
    for thing in (Unprintable(), endless()):
        for given_thing in (thing, [thing], [[thing]], objects([thing]), objects([thing])[:, None]):
            with pytest.raises(VmqpError):
                read(given_thing)
