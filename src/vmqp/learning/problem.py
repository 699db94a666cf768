"""What is to be learned: places, observed angles, kernel, drift, noise, and the priors of all parameters.

The parameters fall into three blocks, by what their update needs:

=================  =====================================  =========================================
block              parameters                             update
=================  =====================================  =========================================
exchanged          the kernel's, and κ (concentration)    exchange algorithm: Z depends on them
direction          ν                                      exact von Mises conditional
noise              χ                                      Metropolis, its normaliser is known
=================  =====================================  =========================================

The exchanged ones form a vector u on the unconstrained scale of their priors. Rows of X are ordered: the n observed
places, then the m new ones. Learning is transductive: the new places belong to the model.

>>> import numpy as np
>>> from vmqp import kernels, priors
>>> kernel = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1))
>>> problem = make_problem([[0.0], [1.0]], [0.1, 0.3], [[2.0]], kernel=kernel)
>>> problem.exchanged
('variance', 'lengthscale', 'concentration')
>>> problem.values(np.zeros(3))
{'variance': 1.0, 'lengthscale': 1.0, 'concentration': 1.0}
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

import numpy as np
import numpy.typing as npt

from vmqp.checks import check_count
from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.kernels import Kernel
from vmqp.kernels.bound import Bound, BoundPairs
from vmqp.kernels.custom import Custom
from vmqp.kernels.inputs import Inputs
from vmqp.learning.memory import remembered
from vmqp.model import Drift
from vmqp.precision import KernelOnGraph
from vmqp.priors import HalfNormal, Prior, UniformAngle, as_prior

__all__ = ["Noise", "Problem", "make_problem"]

Noise = float | FloatArray | None
"""χ of the observations: one for all rows, one for each, or None where there is no noise."""

_KAPPA, _NU = HalfNormal(1.0), UniformAngle()
_SAME = 1e-9  # the largest difference of logs, from rounding, that is still one common scale
_MANY = 50_000  # places from which neighbours are looked for with all cores
_FAR = 300.0  # a scale beyond exp(±300) is no scale


@dataclass(frozen=True, eq=False)
class Problem:
    """A model and its data; made by `make_problem`, which checks them.

    >>> from vmqp import kernels, priors
    >>> kernel = priors.HalfNormal(1) * kernels.Exponential(2.0)
    >>> problem = make_problem([[0.0], [1.0]], [0.1, 0.3], [[2.0]], kernel=kernel)
    >>> problem.n, problem.d, problem.learned
    (2, 3, ('variance', 'concentration', 'direction'))
    """

    kernel: Kernel
    X: FloatArray
    """Places, (d, columns): the n observed ones first."""
    observed: FloatArray
    """Observed angles θ in radians, (n,)."""
    drift: Drift
    concentration: Prior
    direction: Prior
    noise: Prior | None
    column_names: tuple[str, ...] | None = None
    noise_rows: FloatArray | None = None
    """Known noise χ of each observed row, (n,); `noise` is then fixed at a typical one."""
    neighbors: int | None = None
    """Neighbours of a place in a sparse precision; None for a dense one."""
    metric_at: tuple[tuple[str, float], ...] = ()
    """Kernel parameters in whose metric neighbours are chosen; typical ones where they are not given."""

    def __getstate__(self) -> dict[str, Any]:
        # The geometry is d² numbers that a worker can compute faster than read.
        kept = {
            key: value for key, value in self.__dict__.items() if key not in ("bound", "on_graph", "named")
        }
        return kept | {"fingerprint": self.fingerprint}

    @property
    def is_sparse(self) -> bool:
        """Whether the precision is sparse, by neighbours."""
        return self.neighbors is not None

    @cached_property
    def bound(self) -> Bound:
        """The kernel tied to all pairs of places."""
        assert not self.is_sparse, "all pairs of so many places would not fit"
        return self.kernel.bind(self.X, self.column_names)

    @cached_property
    def on_graph(self) -> KernelOnGraph:
        """The kernel tied to pairs of neighbours; kept for the chunks that come to this process later."""
        found: KernelOnGraph = remembered(f"{self.fingerprint} graph", "", self._make_graph)
        # A fingerprint cannot tell all functions of users apart.
        return found if found.kernel == self.kernel else self._make_graph()

    def _make_graph(self) -> KernelOnGraph:
        assert self.neighbors is not None
        inputs = Inputs.check(self.X, self.column_names)
        workers = -1 if self.d > _MANY else 1  # of a KD-tree: all cores
        return KernelOnGraph(self.kernel, inputs, self.n, self.neighbors, dict(self.metric_at), workers)

    @cached_property
    def named(self) -> BoundPairs:
        """The kernel's parameters by name; tied to one pair of places only."""
        return self.kernel.bind_pairs(self.X[:1], [0], [0], self.column_names)

    @property
    def n(self) -> int:
        """The number of observed places."""
        return len(self.observed)

    @property
    def d(self) -> int:
        """The number of places."""
        return len(self.X)

    @property
    def latent(self) -> slice:
        """The rows whose angles are not known: the new ones, or all with noise."""
        return slice(self.n if self.noise is None else 0, self.d)

    @cached_property
    def priors(self) -> dict[str, Prior]:
        """Every parameter's prior, learned and fixed, by name."""
        priors = dict(self.named.parameters) | {"concentration": self.concentration}
        if not self.no_drift:
            priors["direction"] = self.direction
        return priors if self.noise is None else priors | {"noise": self.noise}

    def known_noise(self) -> dict[str, FloatArray]:
        """The noise χ that is not learned: one number, or one for each observed row."""
        if self.noise is None or not self.noise.is_fixed:
            return {}
        return {"noise": np.asarray(self.noise_of(self.noise.typical()))}

    def attributes(self) -> dict[str, str | int | float]:
        """What a result tells of the model; a drift that is not learned by its numbers, which predictions need."""
        found: dict[str, str | int | float] = {
            "model": "von Mises quasi-process",
            "kernel": repr(self.kernel),
            "drift": self.drift,
            "concentration": repr(self.concentration),
            "noise": repr(self.noise),
            "circular": "direction",
        }
        for name, prior in (("concentration", self.concentration), ("direction", self.direction)):
            if name not in self.learned:
                found[f"fixed_{name}"] = float(prior.typical())
        return found if self.neighbors is None else found | {"neighbors": self.neighbors}

    @property
    def no_drift(self) -> bool:
        """Whether κ is fixed at 0, so that ν means nothing."""
        return self.concentration.is_fixed and self.concentration.typical() == 0.0

    @cached_property
    def learned(self) -> tuple[str, ...]:
        """Names of all learned parameters."""
        return tuple(name for name, prior in self.priors.items() if not prior.is_fixed)

    @cached_property
    def exchanged(self) -> tuple[str, ...]:
        """Names of the learned parameters on which Z depends, in the order of the vector u."""
        return tuple(name for name in self.learned if name not in ("direction", "noise"))

    @cached_property
    def cheap_directions(self) -> FloatArray:
        """Orthonormal columns, (p, q): moves of u along them need no new factorisation.

        They are the common scale of all variances, where each of those walks on the log scale, and κ.
        """
        columns = []
        common, _ = self._scale_rows
        if common:
            columns.append([1.0 if i in common else 0.0 for i in range(len(self.exchanged))])
        if "concentration" in self.exchanged:
            columns.append([1.0 if name == "concentration" else 0.0 for name in self.exchanged])
        basis = np.array(columns).reshape(len(columns), len(self.exchanged)).T
        normalised: FloatArray = basis / np.linalg.norm(basis, axis=0)
        return normalised

    @cached_property
    def _scale_rows(self) -> tuple[list[int], list[int]]:
        """Positions in u of the kernel's parameters: those of its common scale, and the others."""
        scales = self.named.scale_parameters
        if scales is None or not all(_walks_on_logs(self.priors[name]) for name in scales):
            scales = ()
        kernel = [i for i, name in enumerate(self.exchanged) if name != "concentration"]
        common = [i for i in kernel if self.exchanged[i] in scales]
        return common, [i for i in kernel if i not in common]

    def scale_of(self, u: FloatArray, base: FloatArray) -> float | None:
        """Return c if the kernel matrix at u is c times that at `base`; None if it is not a multiple."""
        common, others = self._scale_rows
        change = (u - base).tolist()
        logs = [change[i] for i in common] or [0.0]
        if any(change[i] for i in others) or max(logs) - min(logs) > _SAME:
            return None
        return math.exp(logs[0]) if abs(logs[0]) < _FAR else math.inf

    def values(self, u: FloatArray) -> dict[str, float]:
        """Return the exchanged parameters by name."""
        numbers = u.tolist()
        return {
            name: float(self.priors[name].from_unconstrained(numbers[i]))
            for i, name in enumerate(self.exchanged)
        }

    def vector(self, values: Mapping[str, float]) -> FloatArray:
        """Return u, the inverse of `values`; other names are ignored."""
        return np.array([float(self.priors[name].to_unconstrained(values[name])) for name in self.exchanged])

    def kernel_values(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return those of the exchanged parameters that belong to the kernel."""
        return {name: value for name, value in values.items() if name != "concentration"}

    def concentration_of(self, values: Mapping[str, float]) -> float:
        """Return κ at given exchanged parameters."""
        return values["concentration"] if "concentration" in values else self.concentration.typical()

    def log_prior(self, u: FloatArray, values: Mapping[str, float] | None = None) -> float:
        """Return the log prior density of u, the Jacobian of the transform included; `values` are those at u."""
        values = self.values(u) if values is None else values
        total = 0.0
        for i, name in enumerate(self.exchanged):
            prior = self.priors[name]
            total += float(prior.log_density(values[name])) + float(prior.log_jacobian(float(u[i])))
        return total

    def noise_of(self, chi: float | None) -> "Noise":
        """Return the noise of the observed rows where the one that they share is χ: known ones by row are kept."""
        return chi if self.noise_rows is None else self.noise_rows

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the model and its data."""
        text = repr(
            (self.kernel, self.drift, self.concentration, self.direction, self.noise, self.column_names)
        )
        digest = hashlib.sha256(text.encode())
        for node in self.kernel.nodes():
            if isinstance(node, Custom):
                digest.update(_code(getattr(node.function, "__code__", None)))
                cells = getattr(node.function, "__closure__", None) or ()
                defaults = getattr(node.function, "__defaults__", None)
                digest.update(repr(([cell.cell_contents for cell in cells], defaults)).encode())
        if self.is_sparse:
            digest.update(repr((self.neighbors, self.metric_at)).encode())
        for array in (self.X, self.observed, *([] if self.noise_rows is None else [self.noise_rows])):
            digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def _code(code: Any) -> bytes:
    """What a function does, as far as its compiled code says: another body gives other bytes."""
    if code is None:
        return b""
    constants = [
        _code(value) if isinstance(value, CodeType) else repr(value).encode() for value in code.co_consts
    ]
    return b"|".join([code.co_code, repr((code.co_names, code.co_varnames)).encode(), *constants])


def _walks_on_logs(prior: Prior) -> bool:
    return not prior.is_fixed and prior.support == (0.0, np.inf)


def make_problem(
    X: npt.ArrayLike,
    angles: npt.ArrayLike,
    X_new: npt.ArrayLike | None = None,
    *,
    kernel: Kernel,
    drift: Drift = "constant",
    concentration: float | Prior = _KAPPA,
    direction: float | Prior = _NU,
    noise: Any = None,
    column_names: Sequence[str] | None = None,
    neighbors: int | None = None,
) -> Problem:
    """Check a model and its data at the door.

    `angles` are in radians, one for each row of X. Without `X_new` there are no places beside the observed ones.
    `concentration` is κ, `direction` ν and `noise` χ: each a number (fixed) or a prior (learned). The noise may be an
    array too, with a known χ for each row. Without noise the observed angles are those of the process itself.
    With `neighbors` the precision is sparse: Vecchia's approximation with so many neighbours of a place.

    >>> from vmqp import kernels, priors
    >>> kernel = 1.0 * kernels.Exponential(priors.LogNormal(0, 1))
    >>> make_problem([[0.0], [1.0]], [0.1, 0.3], kernel=kernel, concentration=0, noise=priors.HalfNormal(10)).learned
    ('lengthscale', 'noise')
    """
    if not isinstance(kernel, Kernel):
        raise InputError(f"kernel is {kernel!r}: give one such as 1.0 * kernels.Exponential(1.0).")
    places, observed = _table(X, "X"), _angles(angles)
    if len(observed) != len(places):
        raise InputError(
            f"X has {len(places)} rows and there are {len(observed)} angles: give one angle for each row."
        )
    if X_new is not None and np.size(X_new):
        new = _table(X_new, "X_new")
        if new.shape[1] != places.shape[1]:
            raise InputError(
                f"X has {places.shape[1]} columns and X_new has {new.shape[1]}: give both the same columns."
            )
        places = np.concatenate([places, new])
    if drift not in ("constant", "mean"):
        raise InputError(f"drift = {drift!r} was given: give 'constant' or 'mean'.")
    kappa = as_prior(concentration, "concentration", positive=False)
    if kappa.support[0] < 0.0:
        raise InputError(
            f"concentration is {concentration!r}: give a number or a prior of values from 0 up; "
            "a negative pull is one towards the opposite direction."
        )
    nu = as_prior(direction, "direction", positive=False)
    if not nu.is_fixed and not isinstance(nu, UniformAngle):
        raise InputError(f"direction is {direction!r}: give an angle in radians, or priors.UniformAngle().")
    by_row = None if noise is None or np.ndim(noise) == 0 else _noise_rows(noise, len(observed))
    shared = noise if by_row is None else float(np.median(by_row))
    chi = None if shared is None else as_prior(shared, "noise")
    names = None if column_names is None else tuple(column_names)
    k = None if neighbors is None else check_count(neighbors, "neighbors", 1, "neighbours of a place")
    Inputs.check(places, names)
    problem = Problem(kernel, places, observed, drift, kappa, nu, chi, names, by_row, k)
    taken = {"concentration", "direction", "noise"} & set(problem.named.parameters)
    if taken:
        raise InputError(f"a kernel's parameter is called {taken.pop()!r}: give the kernel another name=...")
    return problem


def _reals(values: npt.ArrayLike, name: str) -> FloatArray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} cannot be read as real numbers ({error}): give an array of numbers."
        ) from error


def _noise_rows(noise: npt.ArrayLike, n: int) -> FloatArray:
    rows = _reals(noise, "noise")
    if rows.shape != (n,):
        raise InputError(
            f"noise has shape {rows.shape} for {n} observed rows: give one χ for each, or one number."
        )
    wrong = ~(np.isfinite(rows) & (rows > 0.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"the noise of row {row} is {rows[row]}: give a positive χ, about 1 / (standard deviation in radians)²."
        )
    return rows


def _table(X: npt.ArrayLike, name: str) -> FloatArray:
    table = _reals(X, name)
    if table.ndim != 2:
        raise InputError(
            f"{name} has shape {table.shape}: give a table of rows and columns; one column is {name}[:, None]."
        )
    return table


def _angles(angles: npt.ArrayLike) -> FloatArray:
    values = _reals(angles, "angles")
    if values.ndim != 1 or not len(values):
        raise InputError(
            f"the angles have shape {values.shape}: give one number in radians for each row of X."
        )
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(f"the angle at row {row} is {values[row]}: give finite angles, or drop the row.")
    return values
