"""Draws and laws of a new observation, from those of the process: noise is added where the model has it.

Angles are in radians. Nothing here copies all draws at once: they come in blocks of places.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.posterior.laws import Laws, ProjectedNormal, VonMises, WrappedNormal

__all__ = ["Observations", "values_of"]

_BLOCK = 2_000_000  # numbers at a time
_OTHERS: dict[str, type[Laws]] = {"wrapped": WrappedNormal, "projected": ProjectedNormal}
_PARTS = {"wrapped": ("mean", "variance"), "projected": ("x", "y", "xx", "xy", "yy")}


@dataclass(frozen=True, eq=False)
class Observations:
    """A view of the draws in a tree."""

    tree: xr.DataTree
    noisy: str
    """`Facts.noise_of_new`."""

    @cached_property
    def latent(self) -> FloatArray:
        """Angles φ of the process at the new places, (chains, draws, m)."""
        if "angle" not in self.tree["posterior"]:
            raise InputError("this posterior has no new places, so it predicts nothing: give X_new.")
        return values_of(self.tree, "posterior", "angle")

    @property
    def m(self) -> int:
        """The number of new places."""
        return int(self.latent.shape[2])

    @cached_property
    def noise(self) -> FloatArray | None:
        """χ of a new observation: (chains, draws, 1), (1, 1, m) or (1, 1, 1); None where there is none."""
        if self.noisy == "none":
            return None
        if self.noisy == "given":
            return values_of(self.tree, "constant_data", "noise_new").reshape(1, 1, -1)
        if "noise" in self.tree["posterior"]:
            return values_of(self.tree, "posterior", "noise").astype(float)[..., None]
        if "noise" in self.tree["constant_data"]:
            return values_of(self.tree, "constant_data", "noise").reshape(1, 1, 1)
        return None

    @cached_property
    def draws(self) -> FloatArray:
        """Draws of a new observation, (chains, draws, m): the angles themselves where there is no noise."""
        if self.noise is None:
            return self.latent
        # The seed of the run makes the noise the same each time, also after saving and loading.
        rng = np.random.default_rng([int(self.tree.attrs["seed"]), 1])
        result = np.empty_like(self.latent)
        noise = np.broadcast_to(self.noise, self.latent.shape)
        for places in self.blocks():
            drawn = self.latent[..., places] + rng.vonmises(0.0, noise[..., places])
            result[..., places] = np.remainder(drawn + np.pi, 2.0 * np.pi) - np.pi
        return result

    def blocks(self) -> Iterator[slice]:
        """Cut the new places into parts whose draws are small enough to copy."""
        chains, draws, m = self.latent.shape
        width = max(1, _BLOCK // max(1, chains * draws))
        for first in range(0, m, width):
            yield slice(first, min(first + width, m))

    def laws(self, places: slice, most: int | None = None) -> Laws:
        """Laws of a new observation at some places, for all draws or for about `most` of them, evenly chosen."""
        chains, draws, _ = self.latent.shape
        step = 1 if most is None else max(1, -(-chains * draws // most))

        def part(group: str, name: str) -> FloatArray:
            values = values_of(self.tree, group, name)[:, ::step, places].astype(float)
            return values.reshape(-1, places.stop - places.start)

        for group, law in _OTHERS.items():
            if group in self.tree.children:
                return law(*(part(group, name) for name in _PARTS[group]))
        if "field" not in self.tree.children:
            remedy = "give a larger memory" if "totals" in self.tree.children else "run regress again"
            raise InputError(f"this posterior was made without fields, so it has no density: {remedy}.")
        x, y = part("field", "x"), part("field", "y")
        noise = self.noise
        if noise is not None:
            shape = (chains, draws, noise.shape[2])
            every = np.broadcast_to(noise, shape)[:, ::step]
            every = every[..., places] if noise.shape[2] > 1 else every
            noise = every.reshape(-1, every.shape[2])
        return VonMises(np.arctan2(y, x), np.hypot(x, y), noise)


def values_of(tree: xr.DataTree, group: str, name: str) -> FloatArray:
    """The array of one variable; not a copy."""
    values: FloatArray = tree[group].dataset[name].values
    return values
