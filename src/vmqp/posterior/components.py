"""Distributions of one observation at each location, one for each draw: the components of a predictive mixture.

Which distribution it is depends on the model: von Mises about the field, wrapped normal given the winding numbers,
projected normal given the radii.
"""

from typing import NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy.special import i0e, i1e

from vmqp.circle import FloatArray
from vmqp.laws import projected_moment, projected_normal, wrapped_normal
from vmqp.learning.pointwise import log_density_of

__all__ = ["Components", "ProjectedNormal", "VonMises", "WrappedNormal"]

ComplexArray = npt.NDArray[np.complex128]

_TAIL = 8.0  # standard deviations: beyond, a von Mises distribution has less than 1e-9 of its mass
_FAR = 7.5  # the same of the distance of a normal vector from its mean


class Components(Protocol):
    """One distribution for each draw and location, arrays of shape (draws, m)."""

    @property
    def direction(self) -> FloatArray:
        """Where each distribution points."""

    @property
    def deviation(self) -> FloatArray:
        """The standard deviation of each in radians, roughly."""

    @property
    def reach(self) -> FloatArray:
        """How far from its direction each has mass; π for the whole circle."""

    def moment(self) -> ComplexArray:
        """The first trigonometric moment E exp(iy) of each."""

    def at(self, rows: slice | npt.NDArray[np.intp]) -> Self:
        """Those of some locations."""

    def widened(self, width: FloatArray | float) -> Self:
        """Those that are narrower than a standard deviation, (m,), made as wide as that."""

    def log_density(self, angle: FloatArray) -> FloatArray:
        """At angles that broadcast with (draws, m)."""

    def sample(self, rng: np.random.Generator, repeats: npt.NDArray[np.intp], *, noise: bool) -> FloatArray:
        """Draw an observation from the component of each row of `repeats`, (len(repeats), m).

        Without `noise` it is the angle of the process itself.
        """


def _resultant(k: FloatArray) -> FloatArray:
    """A(k) = I₁(k) / I₀(k), the mean resultant length of a von Mises distribution."""
    return np.asarray(i1e(k) / i0e(k))


class VonMises(NamedTuple):
    """About the direction of the field; with noise, of an observation of that angle."""

    direction: FloatArray
    """Of the field, (draws, m)."""
    strength: FloatArray
    """|h| of the field, (draws, m)."""
    noise: FloatArray | None = None
    """χ, (draws, 1) or (draws, m); None for a distribution without noise."""

    @property
    def deviation(self) -> FloatArray:
        """Of the angle, and of the noise about it."""
        variance = 1.0 / np.maximum(self.strength, 0.3)
        if self.noise is not None:
            variance = variance + 1.0 / np.maximum(self.noise, 0.3)
        return np.asarray(np.minimum(np.sqrt(variance), np.pi / np.sqrt(3.0)))

    @property
    def reach(self) -> FloatArray:
        """Eight deviations, or the whole circle."""
        with np.errstate(divide="ignore"):
            variance = 1.0 / self.strength
            if self.noise is not None:
                variance = variance + 1.0 / self.noise
        return np.minimum(_TAIL * np.sqrt(variance), np.pi)

    def moment(self) -> ComplexArray:
        """A(|h|) exp(i arg h), times A(χ) with noise."""
        length = _resultant(self.strength)
        if self.noise is not None:
            length = length * _resultant(self.noise)
        return np.asarray(length * np.exp(1j * self.direction))

    def at(self, rows: slice | npt.NDArray[np.intp]) -> "VonMises":
        """Those of some locations."""
        noise = self.noise
        if noise is not None and noise.shape[1] > 1:
            noise = noise[:, rows]
        return VonMises(self.direction[:, rows], self.strength[:, rows], noise)

    def widened(self, width: FloatArray | float) -> "VonMises":
        """Widen the narrow ones."""
        with np.errstate(divide="ignore"):
            most = np.asarray(1.0 / np.square(width))
        if self.noise is None:
            return self._replace(strength=np.minimum(self.strength, most))
        return self._replace(noise=np.minimum(self.noise, most))

    def log_density(self, angle: FloatArray) -> FloatArray:
        """At some angles."""
        return log_density_of(angle, *self)

    def sample(self, rng: np.random.Generator, repeats: npt.NDArray[np.intp], *, noise: bool) -> FloatArray:
        """Draw from some components."""
        drawn = rng.vonmises(self.direction[repeats], self.strength[repeats])
        if noise and self.noise is not None:
            chi = np.broadcast_to(self.noise[repeats], drawn.shape)
            drawn = drawn + rng.vonmises(0.0, chi)
        return np.asarray(drawn)


class WrappedNormal(NamedTuple):
    """A normal distribution on the line, wrapped."""

    direction: FloatArray
    variance: FloatArray

    @property
    def deviation(self) -> FloatArray:
        """On the line, at most that of the uniform distribution."""
        return np.asarray(np.minimum(np.sqrt(self.variance), np.pi / np.sqrt(3.0)))

    @property
    def reach(self) -> FloatArray:
        """Eight deviations, or the whole circle."""
        return np.minimum(_TAIL * np.sqrt(self.variance), np.pi)

    def moment(self) -> ComplexArray:
        """exp(iμ − σ²/2)."""
        return np.asarray(np.exp(1j * self.direction - 0.5 * self.variance))

    def at(self, rows: slice | npt.NDArray[np.intp]) -> "WrappedNormal":
        """Those of some locations."""
        return WrappedNormal(self.direction[:, rows], self.variance[:, rows])

    def widened(self, width: FloatArray | float) -> "WrappedNormal":
        """Widen the narrow ones."""
        return self._replace(variance=np.maximum(self.variance, np.square(width)))

    def log_density(self, angle: FloatArray) -> FloatArray:
        """At some angles."""
        return wrapped_normal(angle, *self)

    def sample(self, rng: np.random.Generator, repeats: npt.NDArray[np.intp], *, noise: bool) -> FloatArray:
        """Draw from some components."""
        return np.asarray(rng.normal(self.direction[repeats], np.sqrt(self.variance[repeats])))


class ProjectedNormal(NamedTuple):
    """The angle of a normal vector with a mean and a covariance."""

    x: FloatArray
    y: FloatArray
    xx: FloatArray
    xy: FloatArray
    yy: FloatArray

    @property
    def direction(self) -> FloatArray:
        """Of the mean vector, (draws, m)."""
        return np.asarray(np.arctan2(self.y, self.x))

    @property
    def _across(self) -> FloatArray:
        """Variance across the mean vector."""
        c, s = np.cos(self.direction), np.sin(self.direction)
        return np.asarray(self.xx * s * s - 2.0 * self.xy * c * s + self.yy * c * c)

    @property
    def deviation(self) -> FloatArray:
        """A vector's angle has about the deviation across it over its length."""
        length = np.maximum(np.hypot(self.x, self.y), np.finfo(float).tiny)
        return np.asarray(np.minimum(np.sqrt(self._across) / length, np.pi / np.sqrt(3.0)))

    @property
    def reach(self) -> FloatArray:
        """The whole circle, unless the vector is so long that it cannot turn round.

        An angle ψ away, the vector is |m| sin ψ or more from its mean: the probability of that is at most
        exp(−½ |m|² sin² ψ / λ), with λ the largest variance along any direction.
        """
        largest = 0.5 * (self.xx + self.yy) + np.hypot(0.5 * (self.xx - self.yy), self.xy)
        with np.errstate(divide="ignore", invalid="ignore"):
            sine = _FAR * np.sqrt(largest) / np.hypot(self.x, self.y)
            return np.where(sine < 1.0, np.arcsin(sine), np.pi)

    def moment(self) -> ComplexArray:
        """By `vmqp.laws.projected_moment`."""
        return projected_moment(*self)

    def at(self, rows: slice | npt.NDArray[np.intp]) -> "ProjectedNormal":
        """Those of some locations."""
        return ProjectedNormal(*(part[:, rows] for part in self))

    def widened(self, width: FloatArray | float) -> "ProjectedNormal":
        """Widen the narrow ones."""
        needed = np.square(width) * (np.square(self.x) + np.square(self.y))
        factor = np.maximum(1.0, needed / np.maximum(self._across, np.finfo(float).tiny))
        return self._replace(xx=factor * self.xx, xy=factor * self.xy, yy=factor * self.yy)

    def log_density(self, angle: FloatArray) -> FloatArray:
        """At some angles."""
        return projected_normal(angle, *self)

    def sample(self, rng: np.random.Generator, repeats: npt.NDArray[np.intp], *, noise: bool) -> FloatArray:
        """Draw from some components."""
        x, y, xx, xy, yy = (part[repeats] for part in self)
        first = np.sqrt(xx)
        one, other = rng.standard_normal((2, *x.shape))
        across = np.sqrt(np.maximum(yy - (xy / first) ** 2, 0.0))
        return np.asarray(np.arctan2(y + xy / first * one + across * other, x + first * one))
