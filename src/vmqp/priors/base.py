"""What every prior is: a density on its support, draws, and an unconstrained coordinate."""

import math
from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit, logit

from vmqp.circle import FloatArray, FloatOrArray, as_result
from vmqp.errors import InputError

__all__ = ["HalfLine", "Prior", "Size", "Terms", "check_field", "is_finite_number"]

_LARGEST_LOG = math.log(np.finfo(float).max)

Size = int | tuple[int, ...] | None


class Prior(ABC):
    """A distribution for one parameter. A subclass gives its density, draws and median, and its support if bounded.

    >>> from vmqp.priors import Fixed, HalfNormal
    >>> HalfNormal(1).from_unconstrained([-1.0, 0.0, 1.0]).round(3).tolist()
    [0.368, 1.0, 2.718]
    >>> HalfNormal(1).size, Fixed(1).size
    (1, 0)
    >>> round(HalfNormal(1).typical(), 3), HalfNormal(1).sample(np.random.default_rng(1), 3).shape
    (0.674, (3,))
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

    def log_density(self, x: ArrayLike | float) -> FloatOrArray:
        """Log of the normalised density; -inf outside the support."""
        if isinstance(x, float):  # a chain asks often, for one number
            with np.errstate(over="ignore", divide="ignore"):
                number: Any = np.float64(x)
                return float(self._log_density(number)) if self._inside(number) else -math.inf
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

    def from_unconstrained(self, u: ArrayLike | float) -> FloatOrArray:
        """Map u to values of the support; far out to one of its ends."""
        lower, upper = self._ends()
        if isinstance(u, float) and math.isinf(upper):
            return math.exp(u) if u < _LARGEST_LOG else math.inf
        values = np.asarray(u, dtype=float)
        with np.errstate(over="ignore"):
            x = np.exp(values) if math.isinf(upper) else lower + (upper - lower) * expit(values)
        return as_result(x)

    def log_jacobian(self, u: ArrayLike | float) -> FloatOrArray:
        """Log ``|dx/du|`` of :meth:`from_unconstrained`."""
        lower, upper = self._ends()
        if isinstance(u, float) and math.isinf(upper):
            return u
        values = np.array(u, dtype=float)
        if math.isinf(upper):
            return as_result(values)
        return as_result(math.log(upper - lower) + log_expit(values) + log_expit(-values))

    def unconstrained(self, u: float) -> tuple[float, float, float]:
        """Log density of u, the Jacobian included, its derivative, and dx/du.

        >>> from vmqp.priors import HalfNormal
        >>> [round(number, 4) for number in HalfNormal(2).unconstrained(0.0)]
        [-1.0439, 0.75, 1.0]
        """
        lower, upper = self._ends()
        x = float(self.from_unconstrained(u))
        if math.isinf(upper):
            stretch, slope = x, 1.0
        else:
            part = (x - lower) / (upper - lower)
            stretch, slope = (upper - lower) * part * (1.0 - part), 1.0 - 2.0 * part
        value = float(self.log_density(x)) + float(self.log_jacobian(u))
        return value, slope + stretch * self._slope(x), stretch

    def _slope(self, x: float) -> float:
        """Derivative of the log density; a subclass may know better than differences."""
        step = 1e-6 * max(abs(x), 1e-300)
        ends = self.log_density(np.array([x - step, x + step]))
        return float(np.subtract(*np.asarray(ends)[::-1])) / (2.0 * step)

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


class Terms(NamedTuple):
    """The log density of u = log x as c + a u − (x/s)^g − ½ ((u − m)/w)²."""

    constant: float
    power: float
    scale: float
    exponent: float
    center: float = 0.0
    width: float = math.inf


class HalfLine(Prior):
    """A distribution of positive numbers that is given by its terms."""

    @abstractmethod
    def terms(self) -> Terms:
        """The coefficients of the log density."""

    def _log_density(self, x: FloatArray) -> Any:
        c, a, s, g, m, w = self.terms()
        log_x = np.log(x)
        return c + (a - 1.0) * log_x - (x / s) ** g - 0.5 * ((log_x - m) / w) ** 2

    def _slope(self, x: float) -> float:
        _, a, s, g, m, w = self.terms()
        part: float = (x / s) ** g
        return (a - 1.0 - g * part - (math.log(x) - m) / w**2) / x


def is_finite_number(value: object) -> TypeGuard[float]:
    """Whether a value is a finite real number."""
    # True and False are numbers to Python, but as a parameter a mistake.
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def check_field(prior: Prior, field: str, *, positive: bool = True) -> None:
    """Check one argument of a frozen prior and store it as a float."""
    value = getattr(prior, field)
    if not is_finite_number(value) or (positive and value <= 0):
        kind = "positive and finite" if positive else "finite"
        raise InputError(
            f"{field} of {type(prior).__name__} must be {kind} but is {value!r}; give a number such as 1.0."
        )
    object.__setattr__(prior, field, float(value))
