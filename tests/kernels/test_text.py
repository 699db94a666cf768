"""Kernels as text: what it means, that what Python shows reads back, and errors that point at the place."""

import inspect
import sys

import pytest

from vmqp import kernels, priors
from vmqp.errors import InputError
from vmqp.kernels import (
    Categorical,
    Constant,
    Custom,
    Exponential,
    Gaussian,
    Linear,
    Matern32,
    Matern52,
    Nugget,
    Periodic,
    RationalQuadratic,
    parse,
)
from vmqp.kernels.text import Draft
from vmqp.priors import Gamma, HalfNormal, InverseGamma, LogNormal, Squared, Uniform, UniformAngle

H = HalfNormal(1)
A, B, C = Gaussian(1), Exponential(2), Matern32(3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gaussian(1)", A),
        ("GAUSSIAN(1.0)", A),
        ("  gaussian (\n1 )  ", A),
        ("kernels.Gaussian(1)", A),
        ("vmqp.kernels.Gaussian(lengthscale=vmqp.priors.HalfNormal(1))", Gaussian(H)),
        ("gaussian(length_scale=1,)", A),
        ("gaussian(1e-3)", Gaussian(1e-3)),
        ("gaussian(1E+3)", Gaussian(1e3)),
        ("gaussian(.5)", Gaussian(0.5)),
        ("gaussian(+5.)", Gaussian(5.0)),
        ("gaussian([1, half-normal(1)])", Gaussian([1, H])),
        ("gaussian([1, 2,])", Gaussian([1, 2])),
        ("matern32(3) + matern-3/2(3) + Matern_32(3)", C + C + C),
        ("matern-5/2(1)", Matern52(1)),
        ("rational_quadratic(1, 2)", RationalQuadratic(1, 2)),
        ("rational-quadratic(shape=2, lengthscale=1)", RationalQuadratic(1, 2)),
        ("linear", Linear()),
        ("linear(center=-1.5)", Linear(-1.5)),
        ("linear()", Linear()),
        ("categorical(Uniform(0, 1), columns=species)", Categorical(Uniform(0, 1), columns="species")),
        ("constant", Constant(1.0)),
        ("nugget(0)", Nugget(0)),
        ("nugget(fixed(2))", Nugget(2)),
        ("gaussian(1, columns=[lon, lat])", Gaussian(1, columns=["lon", "lat"])),
        ("gaussian(1, columns=lon)", Gaussian(1, columns=["lon"])),
        ("gaussian(1, columns=2)", Gaussian(1, columns=[2])),
        ("gaussian(1, columns=[0, Height, 'my wind'])", Gaussian(1, columns=[0, "Height", "my wind"])),
        ('gaussian(1, columns="it\'s")', Gaussian(1, columns="it's")),
        ("gaussian(1, columns=[u-10, v.max, a/b])", Gaussian(1, columns=["u-10", "v.max", "a/b"])),
        ("gaussian(1, metric=Geographic, name=coast)", Gaussian(1, metric="geographic", name="coast")),
        ("gaussian(1) + exponential(2)", A + B),
        ("gaussian(1) + exponential(2) * matern32(3)", A + B * C),
        ("(gaussian(1) + exponential(2)) * matern32(3)", (A + B) * C),
        ("gaussian(1) * (exponential(2) * matern32(3))", A * (B * C)),
        ("((gaussian(1)))", A),
        ("2 * gaussian(1)", 2 * A),
        ("(2) * gaussian(1)", 2 * A),
        ("gaussian(1) * 2", A * 2),
        ("2 * gaussian(1) * exponential(2)", 2 * A * B),
        ("gaussian(1) * 2 * exponential(2)", A * 2 * B),
        ("gaussian(1) * exponential(2) * 2", A * B * 2),
        ("gaussian(1) * (2 * exponential(2))", A * (2 * B)),
        ("2 * (3 * gaussian(1))", 2 * (3 * A)),
        ("2 * (gaussian(1) + exponential(2))", 2 * (A + B)),
        ("HalfNormal(1) * gaussian(1)", H * A),
        ("squared(squared(halfnormal(1))) * gaussian(1)", Squared(Squared(H)) * A),
        (
            "2.0 * gaussian(lengthscale=300, columns=[lon, lat]) + nugget(0.1)",
            2 * Gaussian(300, columns=["lon", "lat"]) + Nugget(0.1),
        ),
        (
            "HalfNormal(1) * Exponential(LogNormal(0, 1), metric='geographic') + Nugget(HalfNormal(0.1))",
            H * Exponential(LogNormal(0, 1), metric="geographic") + Nugget(HalfNormal(0.1)),
        ),
        (
            "exponential(1, columns=[lon,lat]) * periodic(1, columns=hour, period=24)",
            Exponential(1, columns=["lon", "lat"]) * Periodic(1, 24, columns="hour"),
        ),
    ],
)
def test_text_means_what_it_means_in_python(text, expected):
    assert parse(text) == expected


def test_all_kernels_and_priors_can_be_written():
    kinds = [kind for name in kernels.__all__ if inspect.isclass(kind := getattr(kernels, name))]
    leaves = [kind for kind in kinds if issubclass(kind, kernels.Kernel) and hasattr(kind, "_parameters")]
    for kind in set(leaves) - {Custom}:
        assert type(parse(kind.__name__, defaults=lambda draft: dict.fromkeys(draft.missing, 0.5))) is kind
    for name in set(priors.__all__) - {"Prior", "as_prior"}:
        with pytest.raises(InputError, match="alone"):
            parse(f"{name}({ARGUMENTS.get(name, '1, 2')})")


ARGUMENTS = {"HalfNormal": "1", "UniformAngle": "", "Fixed": "1", "Squared": "HalfNormal(1)"}

SHOWN = [
    A,
    Gaussian([1.0, H], columns=["a", 0]),
    Gaussian({"east": 1.0, "north": LogNormal(-2, 1)}),
    Exponential(Squared(Uniform(0, 4)), columns=["lon", "lat"], metric="geographic", name="my 'coast' \"\\"),
    Exponential(1.0, columns=["\n\t\r\\n", "é", "\x00", "\u2028", "\U0001f600", "\ud800", ""]),
    RationalQuadratic(Gamma(1, 2), InverseGamma(3, 4)),
    Periodic([1.0, 2.0], Uniform(20, 28)),
    Categorical([Uniform(0, 1), 0.5]),
    Linear(UniformAngle()),
    Linear([-1.0, 1e-300]),
    Nugget(0.0, name="wet"),
    Constant(1e300),
    Matern52(5e-324),
    2 * A * B,
    A * 2 * B,
    A * B * 2,
    A * (2 * B),
    2 * (3 * A),
    2 * (A * B) * C,
    2 * (3 * A * B) * (4 * C),
    (A + B) * (B + C),
    2 * (A + B) * C,
    A * (B + 2 * C) + Nugget(H),
    H * (Gaussian(H) * Linear() + Nugget(0.1)) * Periodic(H, 24.0) + Constant(H),
]


@pytest.mark.parametrize("kernel", SHOWN, ids=range(len(SHOWN)))
def test_what_python_shows_reads_back(kernel):
    assert parse(repr(kernel)) == kernel


@pytest.mark.parametrize("text", [None, 3, b"linear", ["linear"], A])
def test_what_is_not_a_text_is_refused(text):
    with pytest.raises(InputError, match="must be a string"):
        parse(text)


# text, what stands at the caret, what the message says
FAULTS = [
    ("", "", "found the end, expected a kernel"),
    ("gausian(1)", "gausian", "did you mean 'gaussian'?"),
    ("2 * Expnential(1)", "Expnential", "did you mean 'exponential'?"),
    ("halfnormall(1) * linear", "halfnormall", "did you mean 'HalfNormal'?"),
    ("linear + xyz", "xyz", "known are: exponential, gaussian"),
    ("custom(1)", "custom", "in Python"),
    ("gaussian(lenscale=1)", "lenscale", "did you mean 'lengthscale'?"),
    ("nugget(1, metric=geographic)", "metric", "known are: variance, name"),
    ("gaussian(1) gaussian(2)", "gaussian(2)", "expected '+', '*' or the end"),
    ("gaussian(1) - nugget(1)", "-", "expected '+', '*' or the end"),
    ("gaussian(1) / 2", "/", "expected a name, a number"),
    ("gaussian(1))", ")", "expected '+', '*' or the end"),
    ("gaussian(1", "", "expected ',' or ')'"),
    ("(gaussian(1)", "", "expected '+', '*' or ')'"),
    ("gaussian(1) +", "", "found the end, expected a kernel"),
    ("gaussian(1) + * linear", "* linear", "expected a kernel"),
    ("gaussian([1, 2)", ")", "expected ',' or ']'"),
    ("gaussian(1, 2)", "2)", "expected ')' or name=value; the arguments of Gaussian are: lengthscale"),
    ("gaussian(columns=a, 2)", "2)", "name=value"),
    ("gaussian(1, lengthscale=2)", "lengthscale=2", "lengthscale twice"),
    ("gaussian(wide)", "wide", "a number or a prior such as HalfNormal(1)"),
    ("gaussian('wide')", "'wide'", "a number or a prior such as HalfNormal(1)"),
    ("gaussian(linear)", "linear", "a number or a prior such as HalfNormal(1)"),
    ("gaussian(halfnormal)", "halfnormal", "write HalfNormal(scale=1.0)"),
    ("squared * linear", "squared", "write Squared(prior=HalfNormal(1))"),
    ("gaussian([[1]])", "[1]", "a number or a prior"),
    ("gaussian(1, metric=3)", "3", "expected a word"),
    ("gaussian(1, columns=[10m_wind])", "m_wind", "needs quotes"),
    ("gaussian(1, columns=[my wind])", "wind", "needs quotes"),
    ("gaussian(1, columns='wind)", "'wind", "closes"),
    ("gaussian(1, columns=['a\\q'])", "\\q", "backslash"),
    (r"gaussian(1, columns='a\U00110000')", r"\U00110000", "backslash"),
    ("gaussian(1e999)", "1e999", "below 1.8e308"),
    ("gaussian(1, columns=0.5)", "gaussian", "list of column names"),
    ("linear + gaussian(-1)", "gaussian", "lengthscale must be positive but is -1"),
    ("linear + gaussian(1, metric=manhattan)", "gaussian", "'euclidean' or 'geographic'"),
    ("linear * -2", "-2", "variance must be positive"),
    ("linear + 0 * linear", "0 * linear", "variance must be positive"),
    ("linear + 0.1", "0.1", "nugget(...)"),
    ("HalfNormal(1) + linear", "HalfNormal", "constant(...)"),
    ("2", "2", "alone"),
    ("2 * 3 * linear", "3", "second variance"),
    ("2 * linear * HalfNormal(1)", "HalfNormal", "second variance"),
    ("linear +\n\tgausian(1)", "gausian", "did you mean 'gaussian'?"),
    ("linear + " * 40 + "gausian(1)" + " + linear" * 40, "gausian", "did you mean 'gaussian'?"),
    ("(" * 31 + "linear" + ")" * 31, "(" + "linear", "more than 30 deep"),
    ("exponential + nugget(1)", "exponential", "exponential(lengthscale=LogNormal(0, 1)) to learn it"),
    ("linear + nugget", "nugget", "write nugget(variance=1.0) to fix it"),
    ("periodic(1)", "periodic", "no period of Periodic"),
]


@pytest.mark.parametrize(("text", "at_caret", "message"), FAULTS, ids=range(len(FAULTS)))
def test_errors_point_at_the_place(text, at_caret, message):
    with pytest.raises(InputError) as caught:
        parse(text)
    reason, shown, caret = str(caught.value).split("\n")
    assert message in reason
    assert "expected" in reason or "must be" in reason or "give" in reason or "use" in reason
    assert caret.strip() == "^"
    found = shown[caret.index("^") :]
    assert found.startswith(at_caret)
    assert bool(found) == bool(at_caret)
    if len(text) < 40:
        assert shown.strip() == " ".join(text.replace("\n", " ").split("\t"))


def test_thirty_brackets_are_not_too_deep():
    assert parse("(" * 29 + "linear" + ")" * 29) == Linear()
    assert parse(" + ".join(["(linear)"] * 40)) == sum([Linear()] * 40)  # beside each other they are not deep


def test_the_limit_holds_well_within_the_stack():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 200)
    try:
        with pytest.raises(InputError, match="deep"):
            parse("(" * 10_000)
        with pytest.raises(InputError, match="deep"):
            parse("nugget(" + "squared(" * 2_000)
    finally:
        sys.setrecursionlimit(limit)


def test_defaults_see_what_the_text_says_and_fill_in_the_rest():
    drafts = []

    def supply(draft):
        drafts.append(draft)
        return {"lengthscale": [1.0, 2.0], "variance": H, "shape": 3.0, "metric": "euclidean", "other": 1}

    text = "rational-quadratic(columns=[lon, lat]) * exponential(7, metric=geographic) + nugget + constant(5)"
    kernel = parse(text, defaults=supply)
    assert drafts == [
        Draft(RationalQuadratic, ("lengthscale", "shape"), ("lon", "lat"), None, ("euclidean", "geographic")),
        Draft(Exponential, (), None, "geographic", ("euclidean", "geographic")),
        Draft(Nugget, ("variance",), None, None, ()),
        Draft(Constant, (), None, None, ()),
    ]
    first = RationalQuadratic([1.0, 2.0], 3.0, columns=["lon", "lat"])
    assert kernel == first * Exponential(7, metric="geographic") + Nugget(H) + Constant(5)


def test_defaults_may_give_the_metric_but_not_what_a_kernel_lacks():
    def supply(draft):
        return {"metric": "geographic"} if "geographic" in draft.metrics else {}

    text = "exponential(300) * periodic(1, 24, columns=hour) + nugget(1)"
    expected = Exponential(300, metric="geographic") * Periodic(1, 24, columns="hour") + Nugget(1)
    assert parse(text, defaults=supply) == expected
    assert parse("nugget(1)", defaults=lambda draft: {"metric": "geographic"}) == Nugget(1)


def test_defaults_may_leave_out_what_python_knows():
    assert parse("linear + constant", defaults=lambda draft: {}) == Linear() + Constant()
    assert parse("constant", defaults=lambda draft: {"variance": H}) == Constant(H)
    with pytest.raises(InputError, match="lengthscale"):
        parse("exponential", defaults=lambda draft: {})


def test_errors_of_the_defaults_point_at_the_kernel():
    def supply(draft):
        raise InputError("there is no column 'lno'.")

    with pytest.raises(
        InputError, match=r"no column 'lno'(.|\n)*\n    2 \* gaussian\(columns=lno\)\n        \^$"
    ):
        parse("2 * gaussian(columns=lno)", defaults=supply)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gaussian(1)", H * A),
        ("gaussian(1) + exponential(2)", H * A + H * B),
        ("(gaussian(1) + exponential(2))", H * A + H * B),
        ("2 * gaussian(1) + exponential(2)", 2 * A + H * B),
        ("gaussian(1) * 2 + exponential(2)", 2 * A + H * B),
        ("gaussian(1) * exponential(2)", H * A * B),
        ("gaussian(1) * exponential(2) * 2", A * B * 2),
        ("gaussian(1) * (2 * exponential(2))", A * (2 * B)),
        ("(gaussian(1) + exponential(2)) * matern32(3)", H * (A + B) * C),
        ("(2 * gaussian(1) + exponential(2)) * matern32(3)", H * (2 * A + B) * C),
        ("(2 * gaussian(1) + 3 * exponential(2)) * matern32(3)", (2 * A + 3 * B) * C),
        ("gaussian(1) * constant(2)", A * Constant(2)),
        ("gaussian(1) + nugget(1) + constant(2)", H * A + Nugget(1) + Constant(2)),
        ("nugget(1)", Nugget(1)),
        ("linear", H * Linear()),
    ],
)
def test_a_default_variance_goes_to_terms_that_have_none(text, expected):
    assert parse(text, default_variance=H) == expected


def test_a_default_variance_is_checked():
    assert parse("gaussian(1)", default_variance=2) == 2 * A
    for wrong in (-1, "wide"):
        with pytest.raises(InputError, match="default_variance must be positive"):
            parse("gaussian(1)", default_variance=wrong)
