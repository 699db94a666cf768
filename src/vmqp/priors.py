"""Priors: a parameter is a number (fixed) or a prior (learned).

A prior knows its density p(x) on its support and a coordinate u without bounds in which a chain walks:

    support    x(u)                          log |dx/du|
    (0, ∞)     exp u                         u
    [a, b]     a + (b - a) / (1 + exp(-u))   log(b - a) - log(1 + exp(-u)) - log(1 + exp u)
    (-π, π]    u, wrapped                    0

so that ``log_density(from_unconstrained(u)) + log_jacobian(u)`` is the log density of u, for any finite u.
Densities are normalised, and -inf outside the support. The half-line is open: its priors have no density at
0, where some would be infinite.

>>> prior = LogNormal(0, 1)
>>> u = prior.to_unconstrained(2.0)
>>> round(prior.log_density(prior.from_unconstrained(u)) + prior.log_jacobian(u), 4)  # u is normal
-1.1592
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeGuard

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import erfinv, expit, gammaincinv, gammaln, log_expit, logit

from vmqp.circle import FloatArray, FloatOrArray, as_result, wrap
from vmqp.errors import InputError

__all__ = [
    "Fixed",
    "Gamma",
    "HalfNormal",
    "InverseGamma",
    "LogNormal",
    "Prior",
    "Squared",
    "Uniform",
    "UniformAngle",
    "as_prior",
]

Size = int | tuple[int, ...] | None


class Prior(ABC):
    """A law for one parameter. A subclass gives its density, draws and median, and its support if bounded.

    >>> HalfNormal(1).from_unconstrained([-1.0, 0.0, 1.0]).round(3).tolist()
    [0.368, 1.0, 2.718]
    >>> HalfNormal(1).size, Fixed(1).size
    (1, 0)
    """

    @abstractmethod
    def _log_density(self, x: FloatArray) -> Any:
        """Log density at points of the support."""

    @abstractmethod
    def _draw(self, rng: Generator, size: Size) -> Any:
        """Independent draws."""

    @abstractmethod
    def _median(self) -> float:
        """Return the median."""

    @property
    def support(self) -> tuple[float, float]:
        """Ends of the interval where the density is positive: (0, inf), or two finite ends."""
        return 0.0, math.inf

    @property
    def is_fixed(self) -> bool:
        """Whether the parameter is a number and not learned."""
        return False

    @property
    def size(self) -> int:
        """Number of unconstrained coordinates: 1, or 0 for a fixed parameter."""
        return 0 if self.is_fixed else 1

    def log_density(self, x: ArrayLike) -> FloatOrArray:
        """Log of the normalised density; -inf outside the support."""
        values = np.asarray(x, dtype=float)
        inside = self._inside(values)
        # Far out a square or a product overflows to inf, and the log density to -inf, as it should.
        with np.errstate(over="ignore", divide="ignore"):
            result = self._log_density(np.where(inside, values, self.typical()))
        return as_result(np.where(inside, result, -np.inf))

    def sample(self, rng: Generator, size: Size = None) -> FloatOrArray:
        """Independent draws: one float, or an array of the given size."""
        with np.errstate(over="ignore", divide="ignore"):
            return as_result(self._kept_inside(self._draw(rng, size)))

    def typical(self) -> float:
        """Return the median: a value to start a chain from."""
        with np.errstate(over="ignore", divide="ignore"):
            return float(self._kept_inside(self._median()))

    def to_unconstrained(self, x: ArrayLike) -> FloatOrArray:
        """Map values of the support to u; an end of the support goes to -inf or inf."""
        values = np.asarray(x, dtype=float)
        lower, upper = self._ends()
        if not np.all((values >= lower) & (values <= upper)):
            raise InputError(
                f"x must lie between {lower:g} and {upper:g} for {self!r} but has other values; "
                "start from prior.typical() or prior.sample(rng)."
            )
        with np.errstate(divide="ignore"):
            u = np.log(values) if math.isinf(upper) else logit((values - lower) / (upper - lower))
        return as_result(u)

    def from_unconstrained(self, u: ArrayLike) -> FloatOrArray:
        """Map u to values of the support; far out to one of its ends."""
        values = np.asarray(u, dtype=float)
        lower, upper = self._ends()
        with np.errstate(over="ignore"):
            x = np.exp(values) if math.isinf(upper) else lower + (upper - lower) * expit(values)
        return as_result(x)

    def log_jacobian(self, u: ArrayLike) -> FloatOrArray:
        """Log |dx/du| of :meth:`from_unconstrained`."""
        values = np.array(u, dtype=float)
        lower, upper = self._ends()
        if math.isinf(upper):
            return as_result(values)
        return as_result(math.log(upper - lower) + log_expit(values) + log_expit(-values))

    def _inside(self, x: FloatArray) -> Any:
        """Whether x is where the density is defined: the half-line is open, an interval closed."""
        lower, upper = self.support
        return (x > lower) & (x < upper) if math.isinf(upper) else (x >= lower) & (x <= upper)

    def _kept_inside(self, x: Any) -> FloatArray:
        """Return x, on the half-line without underflow to 0 and overflow to inf."""
        values: FloatArray = np.asarray(x, dtype=float)
        if math.isinf(self.support[1]):
            return np.clip(values, np.finfo(float).tiny, np.finfo(float).max)
        return values

    def _ends(self) -> tuple[float, float]:
        """Return the support for the transforms, which a fixed parameter doesn't have."""
        if self.is_fixed:
            raise InputError(
                f"a learned parameter is needed but {self!r} has no unconstrained coordinate; "
                "leave out the parameters whose prior.is_fixed."
            )
        return self.support


@dataclass(frozen=True)
class HalfNormal(Prior):
    """Half-normal law: p(x) = √(2/π) / s · exp(-x² / 2s²) for x > 0, with s = scale.

    >>> HalfNormal(2).log_density([1.0, -1.0]).round(4).tolist()
    [-1.0439, -inf]
    """

    scale: float

    def __post_init__(self) -> None:
        _check(self, "scale")

    def _log_density(self, x: FloatArray) -> Any:
        return 0.5 * math.log(2 / math.pi) - math.log(self.scale) - 0.5 * (x / self.scale) ** 2

    def _draw(self, rng: Generator, size: Size) -> Any:
        return self.scale * np.abs(rng.standard_normal(size))

    def _median(self) -> float:
        return float(self.scale * math.sqrt(2) * erfinv(0.5))


@dataclass(frozen=True)
class LogNormal(Prior):
    """Log-normal law: log x is normal with mean mu and standard deviation sigma.

    >>> LogNormal(0, 0.5).typical()
    1.0
    """

    mu: float
    sigma: float

    def __post_init__(self) -> None:
        _check(self, "mu", positive=False)
        _check(self, "sigma")
        if abs(self.mu) > 700:
            raise InputError(
                f"mu of LogNormal must lie in [-700, 700] but is {self.mu!r}; give the log of the median."
            )

    def _log_density(self, x: FloatArray) -> Any:
        log_x = np.log(x)
        constant = -math.log(self.sigma) - 0.5 * math.log(2 * math.pi)
        return constant - log_x - 0.5 * ((log_x - self.mu) / self.sigma) ** 2

    def _draw(self, rng: Generator, size: Size) -> Any:
        return np.exp(self.mu + self.sigma * rng.standard_normal(size))

    def _median(self) -> float:
        return math.exp(self.mu)


@dataclass(frozen=True)
class Gamma(Prior):
    """Gamma law: p(x) = b^a / Γ(a) · x^(a-1) · exp(-b x) for x > 0, with a = shape and b = rate.

    >>> round(Gamma(1, rate=2).log_density(3.0), 4)
    -5.3069
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        _check(self, "shape")
        _check(self, "rate")

    def _log_density(self, x: FloatArray) -> Any:
        constant = self.shape * math.log(self.rate) - gammaln(self.shape)
        return constant + (self.shape - 1) * np.log(x) - self.rate * x

    def _draw(self, rng: Generator, size: Size) -> Any:
        return np.divide(rng.standard_gamma(self.shape, size), self.rate)

    def _median(self) -> float:
        return float(np.divide(gammaincinv(self.shape, 0.5), self.rate))


@dataclass(frozen=True)
class InverseGamma(Prior):
    """Inverse gamma law: p(x) = b^a / Γ(a) · x^(-a-1) · exp(-b / x) for x > 0, with a = shape, b = scale.

    Its reciprocal 1/x has the gamma law with shape a and rate b.

    >>> round(InverseGamma(3, scale=2).log_density(1.0), 4)
    -0.6137
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        _check(self, "shape")
        _check(self, "scale")

    def _log_density(self, x: FloatArray) -> Any:
        constant = self.shape * math.log(self.scale) - gammaln(self.shape)
        return constant - (self.shape + 1) * np.log(x) - self.scale / x

    def _draw(self, rng: Generator, size: Size) -> Any:
        return np.divide(self.scale, rng.standard_gamma(self.shape, size))

    def _median(self) -> float:
        return float(np.divide(self.scale, gammaincinv(self.shape, 0.5)))


@dataclass(frozen=True)
class Uniform(Prior):
    """Uniform law on [lower, upper]: p(x) = 1 / (upper - lower).

    >>> Uniform(0, 4).log_density([1.0, 5.0]).round(4).tolist()
    [-1.3863, -inf]
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        _check(self, "lower", positive=False)
        _check(self, "upper", positive=False)
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

    def _draw(self, rng: Generator, size: Size) -> Any:
        return rng.uniform(self.lower, self.upper, size)

    def _median(self) -> float:
        return self.lower + (self.upper - self.lower) / 2


@dataclass(frozen=True)
class UniformAngle(Prior):
    """Uniform law of an angle in radians, on (-π, π]: p(x) = 1 / 2π.

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
        _check(self, "value", positive=False)

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
        return self.prior.log_density(square) + math.log(2) + np.log(x)

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
        ...
    vmqp.errors.InputError: lengthscale must be positive but is '2'; give a number such as 1.0 or a prior ...
    """
    prior = Fixed(value) if _is_finite_number(value) else value
    if isinstance(prior, Prior):
        lowest = prior.support[0]
        if not positive or lowest > 0 or (lowest == 0 and not prior.is_fixed):
            return prior
    raise InputError(
        f"{name} must be {'positive' if positive else 'finite'} but is {value!r}; "
        "give a number such as 1.0 or a prior such as HalfNormal(1)."
    )


def _is_finite_number(value: object) -> TypeGuard[float]:
    # True and False are numbers to Python, but as a parameter a mistake.
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def _check(prior: Prior, field: str, *, positive: bool = True) -> None:
    """Check one argument of a frozen prior and store it as a float."""
    value = getattr(prior, field)
    if not _is_finite_number(value) or (positive and value <= 0):
        kind = "positive and finite" if positive else "finite"
        raise InputError(
            f"{field} of {type(prior).__name__} must be {kind} but is {value!r}; give a number such as 1.0."
        )
    object.__setattr__(prior, field, float(value))
