"""Priors: one suite of properties for all of them, against scipy.stats."""

import dataclasses
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from vmqp import priors
from vmqp.circle import difference
from vmqp.errors import InputError
from vmqp.priors.compiled import Coordinates

# Each prior beside the same law of an outside library.
LAWS = [
    (priors.HalfNormal(1), stats.halfnorm()),
    (priors.HalfNormal(0.02), stats.halfnorm(scale=0.02)),
    (priors.LogNormal(0, 1), stats.lognorm(s=1)),
    (priors.LogNormal(-3, 0.4), stats.lognorm(s=0.4, scale=math.exp(-3))),
    (priors.Gamma(3, 5), stats.gamma(3, scale=1 / 5)),
    (priors.Gamma(0.5, 10), stats.gamma(0.5, scale=1 / 10)),
    (priors.InverseGamma(3, 2), stats.invgamma(3, scale=2)),
    (priors.InverseGamma(1.5, 0.1), stats.invgamma(1.5, scale=0.1)),
    (priors.Uniform(0, 4), stats.uniform(0, 4)),
    (priors.Uniform(-2, 3), stats.uniform(-2, 5)),
    (priors.UniformAngle(), stats.uniform(-math.pi, 2 * math.pi)),
    # The square of a chi variable with k degrees of freedom has the gamma law with shape k/2 and rate 1/2.
    (priors.Squared(priors.Gamma(1.5, 0.5)), stats.chi(3)),
    (priors.Squared(priors.Gamma(0.5, 0.5)), stats.halfnorm()),
    (priors.Squared(priors.InverseGamma(2, 0.5)), stats.gengamma(2, -2, scale=0.5**0.5)),
    (priors.Squared(priors.LogNormal(1, 0.6)), stats.lognorm(s=0.3, scale=math.exp(0.5))),
    (priors.Squared(priors.Uniform(0, 4)), stats.powerlaw(2, scale=2)),
    (priors.Squared(priors.HalfNormal(1)), stats.gengamma(0.5, 4, scale=2**0.25)),
]

PRIORS = [prior for prior, _ in LAWS] + [priors.Squared(priors.Uniform(1, 4)), priors.LogNormal(0, 20)]

# A Kolmogorov-Smirnov test fails by chance once in a million; with 4,000 draws it sees any law whose
# distribution function is off by more than about 0.06 somewhere.
FALSE_ALARM = 1e-6
N_DRAWS = 4000

each_law = pytest.mark.parametrize(
    ("prior", "law"), LAWS, ids=lambda x: repr(x) if hasattr(x, "typical") else ""
)
each_prior = pytest.mark.parametrize("prior", PRIORS, ids=repr)
each_transformed = pytest.mark.parametrize(
    "prior", [p for p in PRIORS if not isinstance(p, priors.UniformAngle)], ids=repr
)


def mass_in_unconstrained_scale(prior):
    """Integral of the density of u; the trapezoid rule converges fast for smooth tails that vanish."""
    if isinstance(prior, priors.UniformAngle):
        u = np.linspace(1.0, 1.0 + 2 * math.pi, 1001)
    else:
        u = np.linspace(-300, 300, 60_001)
    log_density = prior.log_density(prior.from_unconstrained(u)) + prior.log_jacobian(u)
    return integrate.trapezoid(np.exp(log_density), u)


def ks_p_value(prior, law, seed=1):
    return stats.kstest(prior.sample(np.random.default_rng(seed), N_DRAWS), law.cdf).pvalue


@dataclasses.dataclass(frozen=True)
class WithoutJacobian(priors.Prior):
    """The planted fault: a prior that forgets the Jacobian of its transform."""

    prior: priors.Prior

    support = property(lambda self: self.prior.support)

    def _log_density(self, x):
        return self.prior._log_density(x)

    def _draw(self, rng, size):
        return self.prior._draw(rng, size)

    def _median(self):
        return self.prior._median()

    def log_jacobian(self, u):
        return np.zeros(np.shape(u))


@dataclasses.dataclass(frozen=True)
class ForgetsTheRoot(priors.Squared):
    """The other planted faults: draws of the square, and a density without the factor 2x."""

    def _draw(self, rng, size):
        return self.prior.sample(rng, size)

    def _log_density(self, x):
        return self.prior.log_density(x * x)


@each_law
def test_log_density_agrees_with_scipy(prior, law):
    x = law.ppf(np.linspace(0.001, 0.999, 200))
    np.testing.assert_allclose(prior.log_density(x), law.logpdf(x), rtol=1e-10, atol=1e-10)
    assert prior.log_density(x.reshape(10, 20)).shape == (10, 20)
    assert type(prior.log_density(float(x[7]))) is float


@each_law
def test_typical_is_the_median(prior, law):
    assert type(prior.typical()) is float
    assert prior.typical() == pytest.approx(law.median(), rel=1e-10, abs=1e-12)


@each_law
def test_samples_follow_the_law(prior, law):
    assert ks_p_value(prior, law) > FALSE_ALARM


def test_the_sampling_check_sees_a_forgotten_root():
    prior = priors.Squared(priors.Gamma(1.5, 0.5))
    assert ks_p_value(ForgetsTheRoot(prior.prior), stats.chi(3)) < FALSE_ALARM


@each_law
def test_density_integrates_to_one(prior, law):
    # A heavy tail is integrated decade by decade.
    ends = law.ppf([1e-9, 0.01, 0.5, 0.99, 1 - 1e-4, 1 - 1e-6, 1 - 1e-8])
    pieces = [
        integrate.quad(lambda x: math.exp(prior.log_density(x)), a, b, limit=200)[0]
        for a, b in itertools.pairwise(ends)
    ]
    assert sum(pieces) == pytest.approx(1, abs=1e-6)


@each_prior
def test_density_of_u_integrates_to_one(prior):
    assert mass_in_unconstrained_scale(prior) == pytest.approx(1, abs=1e-6)


@each_transformed
def test_the_integral_sees_a_missing_jacobian(prior):
    assert abs(mass_in_unconstrained_scale(WithoutJacobian(prior)) - 1) > 0.01


def test_the_integral_sees_a_missing_factor_of_the_square():
    assert abs(mass_in_unconstrained_scale(ForgetsTheRoot(priors.HalfNormal(1))) - 1) > 0.01


@each_prior
def test_jacobian_is_the_derivative_of_the_transform(prior):
    u, step = np.linspace(-3, 3, 13), 1e-6
    slope = (prior.from_unconstrained(u + step) - prior.from_unconstrained(u - step)) / (2 * step)
    np.testing.assert_allclose(prior.log_jacobian(u), np.log(slope), atol=1e-7)


@each_prior
def test_transforms_round_trip(prior):
    x = prior.sample(np.random.default_rng(2), (5, 8))
    u = prior.to_unconstrained(x)
    assert u.shape == (5, 8)
    np.testing.assert_allclose(prior.from_unconstrained(u), x, rtol=1e-10)
    one = prior.to_unconstrained(prior.typical())
    assert type(one) is float
    assert type(prior.from_unconstrained(one)) is float
    assert type(prior.log_jacobian(one)) is float


@given(st.sampled_from(PRIORS), st.floats(-30, 30))
@settings(max_examples=300, deadline=None, derandomize=True, database=None)
def test_unconstrained_values_round_trip(prior, u):
    back = prior.to_unconstrained(prior.from_unconstrained(u))
    if isinstance(prior, priors.UniformAngle):
        assert abs(difference(back, u)) < 1e-12
    elif math.isinf(prior.support[1]):
        assert back == pytest.approx(u, abs=1e-12)
    elif abs(u) < 10:
        # Near the end of an interval the value itself has no digits left to tell u.
        assert back == pytest.approx(u, abs=1e-9)


@given(st.sampled_from(PRIORS), st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=500, deadline=None, derandomize=True, database=None)
def test_any_u_gives_a_usable_density(prior, u):
    density = prior.log_density(prior.from_unconstrained(u)) + prior.log_jacobian(u)
    assert density < math.inf  # false for nan, too


@each_prior
def test_extreme_u_is_far_from_likely(prior):
    u = np.array([-1e300, -1e4, -800, -745.2, -745, -740, 0, 700, 709.7, 709.8, 745, 800, 1e4, 1e300])
    density = prior.log_density(prior.from_unconstrained(u)) + prior.log_jacobian(u)
    assert not np.isnan(density).any()
    at_start = prior.to_unconstrained(prior.typical())
    peak = prior.log_density(prior.typical()) + prior.log_jacobian(at_start)
    assert np.all(density <= peak + 1.0)


@each_prior
def test_density_is_nothing_outside_the_support(prior):
    lower, upper = prior.support
    outside = [lower - 1, lower - 1e-9, -math.inf, math.inf, math.nan]
    outside += [upper + 1e-9, upper + 1] if math.isfinite(upper) else [lower]
    assert np.all(prior.log_density(outside) == -math.inf)
    assert prior.log_density(lower - 1) == -math.inf


def test_ends_of_the_supports():
    assert priors.Uniform(1, 3).log_density([1, 3]).tolist() == [-math.log(2)] * 2
    assert np.isfinite(
        priors.Squared(priors.Uniform(0.3, 0.7)).log_density(priors.Squared(priors.Uniform(0.3, 0.7)).support)
    ).all()
    angle = priors.UniformAngle()
    assert np.isfinite(angle.log_density(math.pi))
    assert angle.log_density(-math.pi) == -math.inf
    assert angle.from_unconstrained(-math.pi) == math.pi
    assert priors.HalfNormal(1).to_unconstrained(0) == -math.inf


@each_prior
def test_samples_lie_in_the_support(prior):
    rng = np.random.default_rng(3)
    assert type(prior.sample(rng)) is float
    assert prior.sample(rng, 3).shape == (3,)
    assert prior.sample(rng, (2, 3)).shape == (2, 3)
    assert np.isfinite(prior.log_density(prior.sample(rng, 1000))).all()
    first, second = (prior.sample(np.random.default_rng(4), 5) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "prior",
    [
        priors.Gamma(1e-4, 1),
        priors.Gamma(1e-4, 1e-300),
        priors.Gamma(1, 1e-310),
        priors.InverseGamma(1e-4, 1),
        priors.InverseGamma(1e-4, 1e300),
        priors.LogNormal(700, 100),
        priors.LogNormal(-700, 100),
        priors.HalfNormal(1e-320),
    ],
    ids=repr,
)
def test_laws_at_the_edge_of_the_numbers_stay_positive_and_finite(prior):
    draws = prior.sample(np.random.default_rng(5), 1000)
    for values in (draws, np.array(prior.typical())):
        assert np.isfinite(values).all()
        assert (values > 0).all()
    assert not np.isnan(prior.log_density(draws)).any()


@each_prior
def test_priors_are_values(prior):
    assert pickle.loads(pickle.dumps(prior)) == prior
    assert hash(prior) == hash(dataclasses.replace(prior))
    assert prior.size == 1
    assert not prior.is_fixed
    # `prior * kernel` is the kernel's to handle.
    for operator in ("__mul__", "__rmul__", "__add__", "__radd__"):
        assert not hasattr(prior, operator)


def test_arguments_are_stored_as_floats():
    prior = priors.LogNormal(np.int64(0), np.float32(0.5))
    assert repr(prior) == "LogNormal(mu=0.0, sigma=0.5)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        prior.mu = 1


def test_fixed_is_a_number():
    fixed = priors.Fixed(2)
    rng = np.random.default_rng(6)
    before = rng.bit_generator.state
    assert (fixed.is_fixed, fixed.size, fixed.typical(), fixed.sample(rng)) == (True, 0, 2.0, 2.0)
    assert fixed.sample(rng, (2, 2)).tolist() == [[2, 2], [2, 2]]
    assert rng.bit_generator.state == before
    assert fixed.log_density([2, 3, math.nan]).tolist() == [0, -math.inf, -math.inf]
    assert fixed.log_density(2) == 0
    for transform in (fixed.to_unconstrained, fixed.from_unconstrained, fixed.log_jacobian):
        with pytest.raises(InputError, match="no unconstrained coordinate"):
            transform(0.0)
    assert not hasattr(fixed, "__mul__")


@pytest.mark.parametrize("value", [2, 2.0, np.float64(2), np.float32(2), np.int64(2)])
def test_a_number_becomes_fixed(value):
    assert priors.as_prior(value, "lengthscale") == priors.Fixed(2.0)


@each_prior
def test_a_prior_stays_as_it_is(prior):
    assert priors.as_prior(prior, "direction", positive=False) is prior
    if prior.support[0] >= 0:
        assert priors.as_prior(prior, "lengthscale") is prior


BAD = [
    True,
    np.True_,
    "1",
    None,
    math.nan,
    math.inf,
    -math.inf,
    [1.0],
    np.ones(2),
    1j,
    priors.HalfNormal,
    stats.norm(),
]
NOT_POSITIVE = [
    0,
    -1,
    0.0,
    -1e-300,
    priors.Fixed(0),
    priors.Fixed(-1),
    priors.Uniform(-1, 1),
    priors.UniformAngle(),
]


@pytest.mark.parametrize("value", BAD, ids=lambda value: type(value).__name__)
def test_what_is_no_parameter_is_named(value):
    for positive in (True, False):
        with pytest.raises(InputError, match=r"^lengthscale must be .* but is .*; give a number"):
            priors.as_prior(value, "lengthscale", positive=positive)


@pytest.mark.parametrize("value", NOT_POSITIVE, ids=repr)
def test_positive_parameters_reject_the_rest(value):
    with pytest.raises(InputError, match=r"^lengthscale must be positive but is"):
        priors.as_prior(value, "lengthscale")
    assert isinstance(priors.as_prior(value, "direction", positive=False), priors.Prior)


@pytest.mark.parametrize(
    ("construct", "named"),
    [
        (lambda x: priors.HalfNormal(x), "scale of HalfNormal"),
        (lambda x: priors.LogNormal(0, x), "sigma of LogNormal"),
        (lambda x: priors.Gamma(x, 1), "shape of Gamma"),
        (lambda x: priors.Gamma(1, x), "rate of Gamma"),
        (lambda x: priors.InverseGamma(x, 1), "shape of InverseGamma"),
        (lambda x: priors.InverseGamma(1, x), "scale of InverseGamma"),
    ],
)
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, True, "1", None])
def test_constructors_name_a_bad_argument(construct, named, value):
    with pytest.raises(InputError, match=f"^{named} must be positive and finite but is"):
        construct(value)


def test_other_bad_arguments_are_named():
    with pytest.raises(InputError, match="mu of LogNormal must be finite"):
        priors.LogNormal(math.nan, 1)
    with pytest.raises(InputError, match="give the log of the median"):
        priors.LogNormal(1000, 1)
    with pytest.raises(InputError, match="lower must be below upper"):
        priors.Uniform(1, 1)
    with pytest.raises(InputError, match="lower must be below upper"):
        priors.Uniform(-1.7e308, 1.7e308)
    with pytest.raises(InputError, match="value of Fixed must be finite"):
        priors.Fixed(math.inf)
    for inner in (priors.Fixed(1), priors.UniformAngle(), priors.Uniform(-1, 1), 2.0):
        with pytest.raises(InputError, match="Squared needs a prior of positive values"):
            priors.Squared(inner)
    with pytest.raises(InputError, match="x must lie between 0 and inf"):
        priors.HalfNormal(1).to_unconstrained(-1)
    with pytest.raises(InputError, match="x must lie between 1 and 2"):
        priors.Uniform(1, 2).to_unconstrained([1.5, math.nan])


T = np.array([-30.0, -3.0, -0.4, 0.0, 0.7, 2.0, 6.0])


def compiled(prior):
    """Log density, slope, stretch and parameter at all T."""
    place = Coordinates([prior])
    return np.array([[place.move(np.array([t])), place.slopes[0], place.stretches[0], place.x[0]] for t in T])


@each_transformed
def test_the_compiled_form_is_the_same(prior):
    one = [[*prior.unconstrained(float(t)), prior.from_unconstrained(float(t))] for t in T]
    # Far out the parameter rounds to an end of its interval, and the slope that is taken from it loses digits.
    np.testing.assert_allclose(compiled(prior), one, rtol=1e-6, atol=1e-9)


def test_several_parameters_add_up():
    place = Coordinates([priors.HalfNormal(2), priors.UniformAngle(), priors.Uniform(1, 3)])
    value = place.move(np.array([0.3, 7.0, -1.0]))
    expected = (
        priors.HalfNormal(2).unconstrained(0.3)[0] + priors.Uniform(1, 3).unconstrained(-1.0)[0]
    )  # an angle adds nothing
    assert value == pytest.approx(expected)
    assert place.x[1] == 7.0
    assert Coordinates([]).move(np.empty(0)) == 0.0


def test_a_prior_of_the_users_is_asked_itself():
    """A subclass has a density of its own: the table of the class that it comes from would be wrong."""
    prior = ForgetsTheRoot(priors.HalfNormal(1))
    one = [prior.unconstrained(float(t))[0] for t in T]
    np.testing.assert_allclose(compiled(prior)[:, 0], one)
    assert not np.allclose(compiled(priors.Squared(priors.HalfNormal(1)))[:, 0], one)
