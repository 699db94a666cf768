"""Laws of one observation at each place, one for each draw: what a density is a mean of.

Which law it is depends on the model: von Mises given all other angles, wrapped normal given the winding numbers,
projected normal given the radii.
"""

from typing import NamedTuple, Protocol, Self

import numpy as np

from vmqp.circle import FloatArray
from vmqp.laws import projected_normal, wrapped_normal
from vmqp.learning.pointwise import log_density_of

__all__ = ["Laws", "ProjectedNormal", "VonMises", "WrappedNormal"]


class Laws(Protocol):
    """One law for each draw and place."""

    @property
    def direction(self) -> FloatArray:
        """Where each law points, (draws, m)."""

    def at(self, places: slice) -> Self:
        """Those of some places."""

    def widened(self, width: FloatArray | float) -> Self:
        """Those that are narrower than a standard deviation, (m,), made as wide as that."""

    def log_density(self, angle: FloatArray) -> FloatArray:
        """At angles that broadcast with (draws, m)."""


class VonMises(NamedTuple):
    """About the direction of the field; with noise, of an observation of that angle."""

    direction: FloatArray
    """Of the field, (draws, m)."""
    strength: FloatArray
    """k of the field, (draws, m)."""
    noise: FloatArray | None
    """χ, (draws, 1) or (draws, m); None for a law without noise."""

    def at(self, places: slice) -> "VonMises":
        """Those of some places."""
        noise = self.noise
        if noise is not None and noise.shape[1] > 1:
            noise = noise[:, places]
        return VonMises(self.direction[:, places], self.strength[:, places], noise)

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


class WrappedNormal(NamedTuple):
    """A normal law on the line, wrapped."""

    direction: FloatArray
    variance: FloatArray

    def at(self, places: slice) -> "WrappedNormal":
        """Those of some places."""
        return WrappedNormal(self.direction[:, places], self.variance[:, places])

    def widened(self, width: FloatArray | float) -> "WrappedNormal":
        """Widen the narrow ones."""
        return self._replace(variance=np.maximum(self.variance, np.square(width)))

    def log_density(self, angle: FloatArray) -> FloatArray:
        """At some angles."""
        return wrapped_normal(angle, *self)


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

    def at(self, places: slice) -> "ProjectedNormal":
        """Those of some places."""
        return ProjectedNormal(*(part[:, places] for part in self))

    def widened(self, width: FloatArray | float) -> "ProjectedNormal":
        """Widen the narrow ones: a vector's angle has about the deviation across it over its length."""
        c, s = np.cos(self.direction), np.sin(self.direction)
        across = self.xx * s * s - 2.0 * self.xy * c * s + self.yy * c * c
        needed = np.square(width) * (np.square(self.x) + np.square(self.y))
        factor = np.maximum(1.0, needed / np.maximum(across, np.finfo(float).tiny))
        return self._replace(xx=factor * self.xx, xy=factor * self.xy, yy=factor * self.yy)

    def log_density(self, angle: FloatArray) -> FloatArray:
        """At some angles."""
        return projected_normal(angle, *self)
