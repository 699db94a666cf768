"""Any kernel reads back from what Python shows, and no text breaks the reader."""

import contextlib

import hypothesis.strategies as st
from hypothesis import example, given, settings

from vmqp.errors import InputError
from vmqp.kernels import (
    Categorical,
    Constant,
    Exponential,
    Gaussian,
    Kernel,
    Linear,
    Matern32,
    Matern52,
    Nugget,
    Periodic,
    RationalQuadratic,
    parse,
)
from vmqp.priors import Fixed, Gamma, HalfNormal, InverseGamma, LogNormal, Squared, Uniform

positive = st.floats(1e-6, 1e6)
prior_laws = st.one_of(
    st.builds(HalfNormal, positive),
    st.builds(LogNormal, st.floats(-9, 9), positive),
    st.builds(Gamma, positive, positive),
    st.builds(InverseGamma, positive, positive),
    st.builds(Uniform, st.floats(0, 1), st.floats(2, 3)),
    st.builds(lambda scale: Squared(HalfNormal(scale)), positive),
    st.builds(Fixed, positive),
)
setting = positive | prior_laws
column = st.text(max_size=5) | st.integers(0, 99)
options = st.fixed_dictionaries({}, optional={"name": st.text(min_size=1, max_size=5)})
chosen = st.fixed_dictionaries({}, optional={"columns": st.lists(column, min_size=2, max_size=2)})
lengths = setting | st.lists(setting, min_size=2, max_size=2)


def leaf(kind, *values):
    return st.builds(lambda values, a, b: kind(*values, **a, **b), st.tuples(*values), options, chosen)


leaves = st.one_of(
    *(leaf(kind, lengths) for kind in (Gaussian, Exponential, Matern32, Matern52)),
    leaf(RationalQuadratic, lengths, setting),
    leaf(Periodic, lengths, setting),
    leaf(Linear, st.floats(-9, 9)),
    leaf(Categorical, st.floats(0, 0.9)),
    st.builds(lambda value, more: Nugget(value, **more), setting, options),
    st.builds(lambda value, more: Constant(value, **more), setting, options),
    st.builds(lambda value: Gaussian(value, metric="geographic"), setting),
)
expressions = st.recursive(
    leaves,
    lambda parts: st.one_of(
        st.builds(lambda a, b: a + b, parts, parts),
        st.builds(lambda a, b: a * b, parts, parts),
        st.builds(lambda variance, a: variance * a, setting, parts),
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(expressions)
def test_any_expression_reads_back(kernel):
    assert parse(repr(kernel)) == kernel


PIECES = [
    *(
        "gaussian",
        "nugget",
        "linear",
        "HalfNormal",
        "Squared",
        "lengthscale",
        "columns",
        "metric",
        "name",
        "a",
    ),
    *("1", "2.5", "1e-3", "1e999", "9" * 400, "-", "+", "*", "(", ")", "[", "]", ",", "=", "'", '"', "'b'"),
    *("\\", " ", "\n", "\0", "é", "²", "٣", "'\\q'", "'\\U99999999'", "__class__", "eval", "None", "."),
]


@settings(max_examples=400, deadline=None)
@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.booleans())
@example("(" * 19_999, True)
@example("squared(" * 2_000, False)
@example("gaussian(1) * 2" + " * 2" * 4_000, False)
@example("linear+" * 2_800 + "linear", True)
@example("(linear+" * 2_000, True)
@example("linear*(" * 20 + "linear" + ")" * 20, True)
@example("gaussian(" + "9" * 10_000 + ")", False)
@example("gaussian(1, columns=[" + "9" * 10_000 + "])", False)
@example("gaussian(1, columns=" + "0" * 10_000 + "1)", False)
@example("'" * 19_999, False)
@example("\\" * 19_999, False)
@example("a" * 19_999, False)
@example("a-" * 9_999, False)
@example("linear" + " " * 30_000, False)
def test_no_text_raises_anything_but_our_own_error(text, complete):
    supply = (lambda draft: dict.fromkeys(draft.missing, 1.0)) if complete else None
    with contextlib.suppress(InputError):
        kernel = parse(text, defaults=supply, default_variance=HalfNormal(1) if complete else None)
        assert isinstance(kernel, Kernel)
        assert repr(kernel)  # shallow enough for Python's stack
        assert len(kernel.parameters()) == kernel.size


@settings(max_examples=200, deadline=None)
@given(expressions.map(repr), st.data())
def test_no_damaged_text_raises_anything_but_our_own_error(text, data):
    at = data.draw(st.integers(0, len(text)))
    damaged = (
        text[:at] + data.draw(st.sampled_from(["", *PIECES])) + text[at + data.draw(st.integers(0, 3)) :]
    )
    with contextlib.suppress(InputError):
        assert isinstance(parse(damaged), Kernel)
