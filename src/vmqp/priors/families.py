"""The distributions that a parameter can have, and a number as the distribution that is fixed."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import erfinv, gammaincinv, gammaln

from vmqp.circle import FloatArray, FloatOrArray, as_result, wrap
from vmqp.errors import InputError
from vmqp.priors.base import HalfLine, Prior, Size, Terms, check_field, is_finite_number

__all__ = [
    "Fixed",
    "Gamma",
    "HalfNormal",
    "InverseGamma",
    "LogNormal",
    "Squared",
    "Uniform",
    "UniformAngle",
    "as_prior",
]


@dataclass(frozen=True)
class HalfNormal(HalfLine):
    """Half-normal distribution: p(x) = √(2/π) / s · exp(-x² / 2s²) for x > 0, with s = scale.

    >>> HalfNormal(2).log_density([1.0, -1.0]).round(4).tolist()
    [-1.0439, -inf]
    """

    scale: float

    def __post_init__(self) -> None:
        check_field(self, "scale")

    def terms(self) -> Terms:
        """The coefficients of the log density."""
        constant = 0.5 * math.log(2 / math.pi) - math.log(self.scale)
        return Terms(constant, 1.0, math.sqrt(2) * self.scale, 2.0)

    def _draw(self, rng: Generator, size: Size) -> Any:
        return self.scale * np.abs(rng.standard_normal(size))

    def _median(self) -> float:
        return float(self.scale * math.sqrt(2) * erfinv(0.5))


@dataclass(frozen=True)
class LogNormal(HalfLine):
    """Log-normal distribution: log x is normal with mean mu and standard deviation sigma.

    >>> LogNormal(0, 0.5).typical()
    1.0
    """

    mu: float
    sigma: float

    def __post_init__(self) -> None:
        check_field(self, "mu", positive=False)
        check_field(self, "sigma")
        if abs(self.mu) > 700:
            raise InputError(
                f"mu of LogNormal must lie in [-700, 700] but is {self.mu!r}; give the log of the median."
            )

    def terms(self) -> Terms:
        """The coefficients of the log density."""
        constant = 1.0 - math.log(self.sigma) - 0.5 * math.log(2 * math.pi)
        return Terms(constant, 0.0, 1.0, 0.0, self.mu, self.sigma)

    def _draw(self, rng: Generator, size: Size) -> Any:
        return np.exp(self.mu + self.sigma * rng.standard_normal(size))

    def _median(self) -> float:
        return math.exp(self.mu)


@dataclass(frozen=True)
class Gamma(HalfLine):
    """Gamma distribution: p(x) = b^a / Γ(a) · x^(a-1) · exp(-b x) for x > 0, with a = shape and b = rate.

    >>> round(Gamma(1, rate=2).log_density(3.0), 4)
    -5.3069
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        check_field(self, "shape")
        check_field(self, "rate")

    def terms(self) -> Terms:
        """The coefficients of the log density."""
        return Terms(self.shape * math.log(self.rate) - gammaln(self.shape), self.shape, 1.0 / self.rate, 1.0)

    def _draw(self, rng: Generator, size: Size) -> Any:
        return np.divide(rng.standard_gamma(self.shape, size), self.rate)

    def _median(self) -> float:
        return float(np.divide(gammaincinv(self.shape, 0.5), self.rate))


@dataclass(frozen=True)
class InverseGamma(HalfLine):
    """Inverse gamma distribution: p(x) = b^a / Γ(a) · x^(-a-1) · exp(-b / x) for x > 0, with a = shape, b = scale.

    Its reciprocal 1/x has the gamma distribution with shape a and rate b.

    >>> round(InverseGamma(3, scale=2).log_density(1.0), 4)
    -0.6137
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        check_field(self, "shape")
        check_field(self, "scale")

    def terms(self) -> Terms:
        """The coefficients of the log density."""
        return Terms(self.shape * math.log(self.scale) - gammaln(self.shape), -self.shape, self.scale, -1.0)

    def _draw(self, rng: Generator, size: Size) -> Any:
        return np.divide(self.scale, rng.standard_gamma(self.shape, size))

    def _median(self) -> float:
        return float(np.divide(self.scale, gammaincinv(self.shape, 0.5)))


@dataclass(frozen=True)
class Uniform(Prior):
    """Uniform distribution on [lower, upper]: p(x) = 1 / (upper - lower).

    >>> Uniform(0, 4).log_density([1.0, 5.0]).round(4).tolist()
    [-1.3863, -inf]
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        check_field(self, "lower", positive=False)
        check_field(self, "upper", positive=False)
        if not self.lower < self.upper or math.isinf(self.upper - self.lower):
            raise InputError(
                f"lower must be below upper by a finite distance but the two are {self.lower!r} and "
                f"{self.upper!r}; change one of them."
            )

    @property
    def support(self) -> tuple[float, float]:
        """The interval."""
        return self.lower, self.upper

    def _log_density(self, x: FloatArray) -> Any:
        return -math.log(self.upper - self.lower)

    def _slope(self, x: float) -> float:
        return 0.0

    def _draw(self, rng: Generator, size: Size) -> Any:
        return rng.uniform(self.lower, self.upper, size)

    def _median(self) -> float:
        return self.lower + (self.upper - self.lower) / 2


@dataclass(frozen=True)
class UniformAngle(Prior):
    """Uniform distribution of an angle in radians, on (-π, π]: p(x) = 1 / 2π.

    A chain walks in the angle itself and wraps it, so the Jacobian is 1; u and u + 2π are one angle, and the
    density of u integrates to 1 over one turn.

    >>> round(UniformAngle().from_unconstrained(4.0), 4)
    -2.2832
    """

    @property
    def support(self) -> tuple[float, float]:
        """One turn."""
        return -math.pi, math.pi

    def to_unconstrained(self, x: ArrayLike) -> FloatOrArray:
        """Wrap to (-π, π]."""
        return wrap(x)

    def from_unconstrained(self, u: ArrayLike) -> FloatOrArray:
        """Wrap to (-π, π]."""
        return wrap(u)

    def log_jacobian(self, u: ArrayLike) -> FloatOrArray:
        """Return 0."""
        return as_result(np.zeros(np.shape(u)))

    def unconstrained(self, u: float) -> tuple[float, float, float]:
        """The same density everywhere."""
        return -math.log(2 * math.pi), 0.0, 1.0

    def _inside(self, x: FloatArray) -> Any:
        return (x > -math.pi) & (x <= math.pi)

    def _log_density(self, x: FloatArray) -> Any:
        return -math.log(2 * math.pi)

    def _draw(self, rng: Generator, size: Size) -> Any:
        return np.negative(rng.uniform(-math.pi, math.pi, size))  # from [-π, π) to (-π, π]

    def _median(self) -> float:
        return 0.0


@dataclass(frozen=True)
class Fixed(Prior):
    """A number, not learned: all mass at one value, and no unconstrained coordinate.

    >>> Fixed(2.0).log_density([2.0, 2.5]).tolist()
    [0.0, -inf]
    """

    value: float

    def __post_init__(self) -> None:
        check_field(self, "value", positive=False)

    @property
    def is_fixed(self) -> bool:
        """True."""
        return True

    @property
    def support(self) -> tuple[float, float]:
        """The value, twice."""
        return self.value, self.value

    def _log_density(self, x: FloatArray) -> Any:
        return 0.0

    def _draw(self, rng: Generator, size: Size) -> Any:
        return self.value if size is None else np.full(size, self.value)

    def _median(self) -> float:
        return self.value


@dataclass(frozen=True)
class Squared(Prior):
    """A prior on the square of a positive parameter: if s = x² has density p_s, then p(x) = p_s(x²) · 2x.

    The unconstrained coordinate is that of x.

    >>> Squared(Uniform(0, 4)).support
    (0.0, 2.0)
    >>> round(Squared(HalfNormal(1)).log_density(1.0), 4)  # log 2 more than HalfNormal(1) at 1
    -0.0326
    """

    prior: Prior

    def __post_init__(self) -> None:
        if not isinstance(self.prior, Prior) or self.prior.is_fixed or self.prior.support[0] < 0:
            raise InputError(
                f"Squared needs a prior of positive values but got {self.prior!r}; "
                "give one such as HalfNormal(1), or fix the parameter itself with a number."
            )

    @property
    def support(self) -> tuple[float, float]:
        """Square roots of the inner support's ends."""
        lower, upper = self.prior.support
        return math.sqrt(lower), math.sqrt(upper)

    def _log_density(self, x: FloatArray) -> Any:
        # The square of an end may round past the inner end.
        square = np.clip(x * x, *self.prior.support)
        return self.prior.log_density(square if square.ndim else float(square)) + math.log(2) + np.log(x)

    def _slope(self, x: float) -> float:
        return 2.0 * x * self.prior._slope(x * x) + 1.0 / x

    def _draw(self, rng: Generator, size: Size) -> Any:
        return np.sqrt(self.prior.sample(rng, size))

    def _median(self) -> float:
        return math.sqrt(self.prior.typical())


def as_prior(value: object, name: str, *, positive: bool = True) -> Prior:
    """Turn a number into :class:`Fixed` and leave a prior as it is.

    The name is the parameter's, for the error. With `positive`, 0 and priors of negative values are errors.

    >>> as_prior(2, "lengthscale")
    Fixed(value=2.0)
    >>> as_prior("2", "lengthscale")
    Traceback (most recent call last):
    vmqp.errors.InputError: lengthscale must be positive but is '2'; give a number such as 1.0 or a prior ...
    """
    prior = Fixed(value) if is_finite_number(value) else value
    if isinstance(prior, Prior):
        lowest = prior.support[0]
        if not positive or lowest > 0 or (lowest == 0 and not prior.is_fixed):
            return prior
    raise InputError(
        f"{name} must be {'positive' if positive else 'finite'} but is {value!r}; "
        "give a number such as 1.0 or a prior such as HalfNormal(1)."
    )
