"""Where a posterior's predictions come from: closed form from a learned model, or joint draws.

In closed form, the predictive distribution at a location is a mixture over parameter draws that were learned from the
observed data alone, with one component for each draw: von Mises about the field of `vmqp.model.predictive_field`, or
what kriging gives for a wrapped or projected Gaussian process. Locations do not enter each other's prediction, so that
they are computed on demand, some at a time, and kept only where they are few.

Joint draws, of `CircularRegressor.simulate` and of the paper's transductive scheme, hold the angles of all locations
together, and with each draw the distribution of one angle given all others.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from copy import copy
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import xarray as xr

from vmqp import model
from vmqp.circle import TWO_PI, FloatArray
from vmqp.errors import InputError
from vmqp.kernels import Kernel
from vmqp.linalg.threads import one_blas_thread
from vmqp.posterior.components import Components, ProjectedNormal, VonMises, WrappedNormal
from vmqp.posterior.mixture import bandwidth
from vmqp.precision.kriging import Kriged, Kriging
from vmqp.run import machine

__all__ = [
    "FAST",
    "INFERENCE",
    "ClosedForm",
    "JointDraws",
    "Predictive",
    "default_draws",
    "is_fast",
    "sizes_of",
    "values_of",
]

INFERENCE, FAST = "inference", "fast"
"""The attribute of a result that says how its parameters were learned, and its value where not by chains."""
_BLOCK = 1_000_000  # components at a time
_KEPT = 4_000_000  # components that are kept in memory; to make them takes 300 MB
_PREDICTED, _MANY, _FEWER = (
    200,
    100_000,
    64,
)  # parameter draws of a prediction; fewer beyond so many locations
_SAMPLED = 1000  # draws of a new observation where there is one set of parameters
_PARTS = {"wrapped": ("mean", "variance"), "projected": ("x", "y", "xx", "xy", "yy")}
_Result = TypeVar("_Result")


def default_draws(locations: int) -> int:
    """Parameter draws that a prediction is made of where no number is given.

    >>> default_draws(100_000), default_draws(1_000_000)
    (200, 64)
    """
    return _PREDICTED if locations <= _MANY else _FEWER


def values_of(tree: xr.DataTree, group: str, name: str) -> FloatArray:
    """The array of one variable; not a copy."""
    values: FloatArray = tree[group].dataset[name].values
    return values


def is_fast(tree: xr.DataTree) -> bool:
    """Whether the parameters were not drawn but fitted."""
    return bool(tree.attrs.get(INFERENCE) == FAST)


class Predictive(Protocol):
    """Predictions at m new locations, in radians."""

    joint: bool
    """Whether draws hold all locations together."""

    @property
    def X_new(self) -> FloatArray:
        """The new locations, (m, columns)."""

    @property
    def m(self) -> int:
        """The number of new locations."""

    def components(self, rows: slice | npt.NDArray[np.intp], most: int | None = None) -> Components:
        """Components at some locations, for all draws or for about `most` of them, evenly chosen."""

    def draws(self, rows: slice | npt.NDArray[np.intp]) -> FloatArray:
        """Draws of a new observation at some locations, (chains, draws, rows)."""

    def latent(self, rows: slice | npt.NDArray[np.intp]) -> FloatArray:
        """The same of the angle of the process, without the noise of observations."""

    def blocks(self) -> list[slice]:
        """Cut the new locations into parts that are small enough to work on at a time."""

    def by_block(self, work: Callable[[slice], _Result]) -> list[_Result]:
        """Do some work on each block of locations, over threads where that pays."""


class ClosedForm:
    """Predictions one location at a time, from a learned model.

    Parameters
    ----------
    tree : DataTree
        Draws of the parameters, and of what is latent at the observed locations, with the data.
    kernel : Kernel
        The kernel whose parameters were learned.
    X_new : ndarray of shape (m, columns)
        New locations.
    column_names : tuple of str, optional
        Names of the columns.
    parameter_draws : int, optional
        How many of the draws are used, evenly thinned, the same number of each chain; `default_draws` by default.
    neighbors : int, optional
        As in `vmqp.precision.Kriging`.
    noise_of_new : {"same", "given", "none"}
        The noise of a new observation: that of the observed ones, `noise_new`, or none.
    noise_new : ndarray of shape (m,), optional
        The noise χ of each new observation.
    """

    joint = False

    def __init__(
        self,
        tree: xr.DataTree,
        kernel: Kernel,
        X_new: FloatArray,
        *,
        column_names: tuple[str, ...] | None = None,
        parameter_draws: int | None = None,
        neighbors: int | None = None,
        noise_of_new: str = "same",
        noise_new: FloatArray | None = None,
    ) -> None:
        self.X_new, self._tree, self._kernel, self._names = X_new, tree, kernel, column_names
        self._asked, self._neighbors = parameter_draws, neighbors
        self._noisy, self._noise_new = noise_of_new, noise_new
        wanted = default_draws(len(X_new)) if parameter_draws is None else parameter_draws
        self.chains, self.drawn = sizes_of(tree)
        self.kept = min(self.drawn, max(1, wanted // self.chains))
        """Draws used of each chain."""
        self.fast = is_fast(tree)
        """Whether there is one set of parameters, so that the number of draws is free."""
        self.sampled = max(self.drawn, _SAMPLED // self.chains) if self.fast else self.drawn
        """Draws of a new observation, of each chain."""
        self.watch: Callable[[float], object] | None = None
        """Told the fraction of the blocks that is done."""

    @property
    def m(self) -> int:
        """The number of new locations."""
        return len(self.X_new)

    def elsewhere(self, X_new: FloatArray, noise_new: FloatArray | None = None) -> "ClosedForm":
        """The same parameter draws at other locations; factorizations are shared."""
        _ = self.kriging, self._parameters, self._model, self._known_noise
        other = copy(self)
        other.X_new, other._noise_new, other.watch = X_new, noise_new, None
        other.__dict__.pop("_all", None)
        return other

    @cached_property
    def kriging(self) -> Kriging:
        """Kriging from the observed locations at the parameter draws that are used."""
        X = values_of(self._tree, "constant_data", "X")[: len(self._observed)]
        return Kriging(
            self._kernel,
            X,
            self._kriged_values(),
            self._parameters,
            column_names=self._names,
            neighbors=self._neighbors,
        )

    @property
    def _observed(self) -> FloatArray:
        return values_of(self._tree, "observed_data", "angle")

    @cached_property
    def _chosen(self) -> npt.NDArray[np.intp]:
        return np.linspace(0, self.drawn - 1, self.kept).round().astype(np.intp)

    def _used(self, values: npt.NDArray[Any]) -> FloatArray:
        """Of draws, (chains, draws, ...), those that are used, (sets, ...)."""
        used = np.asarray(values[:, self._chosen], dtype=np.float64)
        return used.reshape(-1, *used.shape[2:])

    @cached_property
    def _parameters(self) -> Mapping[str, FloatArray]:
        posterior = self._tree["posterior"].dataset
        return {str(name): self._used(v.values) for name, v in posterior.data_vars.items() if v.ndim == 2}

    @property
    def sets(self) -> int:
        """Components at a location."""
        return self.chains * self.kept

    @cached_property
    def _model(self) -> str:
        return str(self._tree.attrs["model"]).split()[0]

    @cached_property
    def _known_noise(self) -> float | None:
        """χ of all observations, where it is one number that is not learned."""
        known = self._tree["constant_data"].dataset
        return float(known["noise"].values) if "noise" in known and known["noise"].ndim == 0 else None

    def _latent(self, name: str) -> FloatArray:
        return self._used(values_of(self._tree, "latent", name))

    def _kriged_values(self) -> FloatArray:
        """What is kriged: unit vectors, unwrapped angles, or vectors with their lengths; (sets, n, q)."""
        observed = np.broadcast_to(self._observed, (self.sets, len(self._observed)))
        if self._model == "wrapped":
            return np.asarray(observed + TWO_PI * self._latent("winding"))[..., None]
        if self._model == "projected":
            return np.asarray(self._latent("radius")[..., None] * model.unit_vectors(observed))
        if "latent" in self._tree["posterior"]:
            observed = self._used(values_of(self._tree, "posterior", "latent"))
        return model.unit_vectors(observed)

    def _value(self, name: str) -> FloatArray:
        """A parameter, learned or fixed, (sets, 1)."""
        if name in self._parameters:
            return self._parameters[name][:, None]
        return np.full((self.sets, 1), float(self._tree.attrs.get(f"fixed_{name}", 0.0)))

    def _noise(self, rows: slice | npt.NDArray[np.intp]) -> FloatArray | None:
        """χ of a new observation, (sets, 1) or (sets, rows)."""
        if self._noisy == "none":
            return None
        if self._noise_new is not None:
            return np.broadcast_to(self._noise_new[rows], (self.sets, len(self._noise_new[rows])))
        if "noise" in self._parameters:
            return self._value("noise")
        return None if self._known_noise is None else np.full((self.sets, 1), self._known_noise)

    def _compute(self, rows: slice | npt.NDArray[np.intp], workers: int) -> Components:
        with one_blas_thread() if self.kriging.exact else nullcontext():
            found = self.kriging.at(self.X_new[rows], workers)
        if self._model == "wrapped":
            mean = self._value("direction")
            return WrappedNormal(mean + found.mean[:, 0] - mean * found.ones, found.variance)
        if self._model == "projected":
            return self._projected(found)
        h = model.predictive_field(
            np.moveaxis(found.mean, 1, 0),
            found.ones,
            found.variance,
            self._value("concentration"),
            self._value("direction"),
            self._tree.attrs["drift"],
        )
        return VonMises(np.arctan2(h[1], h[0]), np.hypot(h[0], h[1]), self._noise(rows))

    def _projected(self, found: Kriged) -> ProjectedNormal:
        mean = [
            mu + found.mean[:, part] - mu * found.ones
            for part, mu in enumerate((self._value("mean_x"), self._value("mean_y")))
        ]
        ex, ey = self._value("stretch_x"), self._value("stretch_y")
        size = np.hypot(ex, ey)
        ratio = np.divide(np.sinh(size), size, out=np.ones_like(size), where=size > 1e-8)
        T = (np.cosh(size) + ratio * ex, ratio * ey, np.cosh(size) - ratio * ex)
        return ProjectedNormal(*mean, *(part * found.variance for part in T))

    @property
    def keeps(self) -> bool:
        """Whether components are kept in memory: where they are few."""
        return self.sets * self.m <= _KEPT

    @cached_property
    def _all(self) -> Components | None:
        return self._compute(slice(0, self.m), machine.cores()) if self.keeps else None

    def as_data(self) -> dict[str, Any]:
        """Arrays of a file, beside the new locations."""
        return {} if self._noise_new is None else {"noise": (("X_dim_0",), self._noise_new)}

    def as_attributes(self) -> dict[str, int]:
        """Numbers of a file: 0 stands for a choice that was left open."""
        return {"parameter_draws": self._asked or 0, "neighbors": self._neighbors or 0}

    @classmethod
    def from_data(
        cls,
        tree: xr.DataTree,
        kernel: Kernel,
        new: xr.Dataset,
        column_names: tuple[str, ...] | None,
        noise_of_new: str,
    ) -> "ClosedForm":
        """Read what `as_data` and `as_attributes` wrote."""
        return cls(
            tree,
            kernel,
            new["X"].values,
            column_names=column_names,
            parameter_draws=int(new.attrs["parameter_draws"]) or None,
            neighbors=int(new.attrs["neighbors"]) or None,
            noise_of_new=noise_of_new,
            noise_new=new["noise"].values if "noise" in new else None,
        )

    def components(self, rows: slice | npt.NDArray[np.intp], most: int | None = None) -> Components:
        """Components at some locations, for all draws that are used."""
        if self._all is not None:
            return self._all.at(rows)
        # Where blocks fill the cores already, each is the work of one.
        return self._compute(rows, 1 if len(self.blocks()) > 1 else machine.cores())

    def draws(self, rows: slice | npt.NDArray[np.intp]) -> FloatArray:
        """Draws of a new observation at some locations, independent between locations, (chains, draws, rows)."""
        return self._sampled(rows, noise=True)

    def latent(self, rows: slice | npt.NDArray[np.intp]) -> FloatArray:
        """The same of the angle of the process, without the noise of observations."""
        return self._sampled(rows, noise=False)

    def _sampled(self, rows: slice | npt.NDArray[np.intp], *, noise: bool) -> FloatArray:
        """Each location has random numbers of its own, so that its draws do not depend on what else is asked."""
        numbers = np.arange(self.m)[rows]
        size = 8.0 * self.chains * self.sampled * len(numbers)
        if size > 0.5 * machine.memory():
            raise InputError(
                f"the draws of {len(numbers):,} locations need {size / 1e9:.3g} GB: ask for some of them with "
                "draws_at(rows), or use mean, variance, interval and density, which need none."
            )
        own = np.arange(self.sampled) * self.kept // self.sampled
        repeats = (np.arange(self.chains)[:, None] * self.kept + own).reshape(-1)
        out = np.empty((self.chains, self.sampled, len(numbers)))
        seed = int(self._tree.attrs["seed"])
        found = self.components(rows)
        for i, number in enumerate(numbers):
            rng = np.random.default_rng([seed, 2, int(number)])
            drawn = found.at(slice(i, i + 1)).sample(rng, repeats, noise=noise)
            out[..., i] = (np.remainder(drawn + np.pi, TWO_PI) - np.pi).reshape(out.shape[:2])
        return out

    def blocks(self) -> list[slice]:
        """Parts of the new locations."""
        width = max(1, _BLOCK // self.sets)
        return [slice(first, min(first + width, self.m)) for first in range(0, self.m, width)]

    def by_block(self, work: Callable[[slice], _Result]) -> list[_Result]:
        """Do some work on each block, several at a time."""
        parts = self.blocks()
        if len(parts) == 1 or machine.cores() == 1:
            return self._watched(map(work, parts), len(parts))
        with one_blas_thread(), ThreadPoolExecutor(machine.cores()) as pool:
            return self._watched(pool.map(work, parts), len(parts))

    def _watched(self, results: Iterable[_Result], count: int) -> list[_Result]:
        found = []
        for result in results:
            found.append(result)
            if self.watch is not None:
                self.watch(len(found) / count)
        return found

    def monte_carlo_error(self, effective: float) -> FloatArray:
        """Standard error of the mean direction in radians at up to 500 locations, evenly chosen.

        It is what the finite number of parameter draws leaves; `effective` is how many of all draws are worth.
        """
        rows = np.unique(np.linspace(0, self.m - 1, min(self.m, 500)).round().astype(np.intp))
        moments = self.components(rows).moment()
        mean = moments.mean(axis=0)
        across = (moments * np.exp(-1j * np.angle(mean))).imag
        count = min(float(self.sets), max(effective, 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            error = across.std(axis=0) / np.abs(mean) / math.sqrt(count)
        return np.asarray(np.minimum(np.nan_to_num(error, nan=np.pi, posinf=np.pi), np.pi))


class JointDraws:
    """Draws of all locations together, in a tree."""

    joint = True

    def __init__(self, tree: xr.DataTree, noise_of_new: str = "same") -> None:
        self._tree, self._noisy = tree, noise_of_new

    @property
    def X_new(self) -> FloatArray:
        """The new locations, (m, columns)."""
        return values_of(self._tree, "constant_data", "X")[len(self._tree["observed_data"]["angle"]) :]

    @cached_property
    def _angles(self) -> FloatArray:
        """Angles φ of the process at the new locations, (chains, draws, m)."""
        if "angle" not in self._tree["posterior"]:
            raise InputError("this posterior has no new locations, so it predicts nothing: give X_new.")
        return values_of(self._tree, "posterior", "angle")

    @property
    def m(self) -> int:
        """The number of new locations."""
        return int(self._angles.shape[2])

    @cached_property
    def _noise(self) -> FloatArray | None:
        """χ of a new observation: (chains, draws, 1), (1, 1, m) or (1, 1, 1); None where there is none."""
        if self._noisy == "none":
            return None
        if self._noisy == "given":
            return values_of(self._tree, "constant_data", "noise_new").reshape(1, 1, -1)
        if "noise" in self._tree["posterior"]:
            return values_of(self._tree, "posterior", "noise").astype(float)[..., None]
        if "noise" in self._tree["constant_data"]:
            return values_of(self._tree, "constant_data", "noise").reshape(1, 1, 1)
        return None

    @cached_property
    def _observations(self) -> FloatArray:
        """The angles themselves where there is no noise."""
        if self._noise is None:
            return self._angles
        # The seed of the run makes the noise the same each time, also after saving and loading.
        rng = np.random.default_rng([int(self._tree.attrs["seed"]), 1])
        result = np.empty_like(self._angles)
        noise = np.broadcast_to(self._noise, self._angles.shape)
        for rows in self.blocks():
            drawn = self._angles[..., rows] + rng.vonmises(0.0, noise[..., rows])
            result[..., rows] = np.remainder(drawn + np.pi, TWO_PI) - np.pi
        return result

    def draws(self, rows: slice | npt.NDArray[np.intp]) -> FloatArray:
        """Draws of a new observation at some locations."""
        return self._observations[..., rows]

    def latent(self, rows: slice | npt.NDArray[np.intp]) -> FloatArray:
        """Draws of the angle of the process."""
        return self._angles[..., rows]

    def blocks(self) -> list[slice]:
        """Parts of the new locations whose draws are small enough to copy."""
        chains, draws, m = self._angles.shape
        width = max(1, 2 * _BLOCK // max(1, chains * draws))
        return [slice(first, min(first + width, m)) for first in range(0, m, width)]

    def by_block(self, work: Callable[[slice], _Result]) -> list[_Result]:
        """Do some work on each block."""
        return [work(part) for part in self.blocks()]

    def components(self, rows: slice | npt.NDArray[np.intp], most: int | None = None) -> Components:
        """Distributions of a new observation given all other angles, never narrower than a density estimate's."""
        chains, draws, _ = self._angles.shape
        step = 1 if most is None else max(1, -(-chains * draws // most))

        def part(group: str, name: str) -> FloatArray:
            values = values_of(self._tree, group, name)[:, ::step][..., rows].astype(float)
            return values.reshape(-1, values.shape[2])

        found: Components
        if "wrapped" in self._tree.children:
            found = WrappedNormal(*(part("wrapped", name) for name in _PARTS["wrapped"]))
        elif "projected" in self._tree.children:
            found = ProjectedNormal(*(part("projected", name) for name in _PARTS["projected"]))
        elif "field" in self._tree.children:
            x, y = part("field", "x"), part("field", "y")
            noise = self._noise
            if noise is not None:
                every = np.broadcast_to(noise, (chains, draws, noise.shape[2]))[:, ::step]
                every = every[..., rows] if noise.shape[2] > 1 else every
                noise = every.reshape(-1, every.shape[2])
            found = VonMises(np.arctan2(y, x), np.hypot(x, y), noise)
        else:
            raise InputError(
                "this posterior was made without fields, so it has no density: run regress again."
            )
        return found.widened(bandwidth(found.direction))


def sizes_of(tree: xr.DataTree) -> tuple[int, int]:
    """Chains and draws of each; where nothing is learned, those of the statistics."""
    for group in ("posterior", "sample_stats"):
        sizes: Mapping[Any, int] = tree[group].sizes if group in tree.children else {}
        if "draw" in sizes:
            return int(sizes["chain"]), int(sizes["draw"])
    return 1, 1
