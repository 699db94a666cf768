"""The one entry point to all samplers of angles, and its form for several chains."""

import inspect
from typing import Any

import numpy as np
import numpy.typing as npt

from vmqp.checks import check_count
from vmqp.errors import InputError
from vmqp.sampling.augmented import Augmented
from vmqp.sampling.heatbath import HeatBath
from vmqp.sampling.hmc import Hmc, WhitenedHmc
from vmqp.sampling.hmc_augmented import AugmentedHmc
from vmqp.sampling.hybrid import Hybrid
from vmqp.sampling.random import seed_streams
from vmqp.sampling.sampler import Sampler
from vmqp.sampling.target import Array, Target, as_reals, make_target

__all__ = ["SAMPLERS", "build_sampler", "sample_angles", "sample_angles_batch"]

SAMPLERS: dict[str, type[Sampler]] = {
    kind.name: kind for kind in (Hybrid, HeatBath, Augmented, Hmc, AugmentedHmc, WhitenedHmc)
}
_INTERNAL = {"self", "target", "mass", "factor"}  # precomputed parts, for the layers above


def sample_angles(
    coupling: Any,
    field: Any,
    *,
    draws: int,
    sampler: str = "hybrid",
    warmup: int | None = None,
    thin: int = 1,
    seed: int = 0,
    initial: Any = None,
    **sampler_options: Any,
) -> npt.NDArray[np.float64]:
    """Draw angles from p(φ) ∝ exp(Σ_i field_i·x_i − ½ Σ_ij coupling_ij x_i·x_j), x_i = (cos φ_i, sin φ_i).

    This is the posterior of a von Mises quasi-process, ``eq:conditional_density``; with a coupling of −J between
    neighbours it is the XY model of statistical physics.

    **Parameters**

    coupling
        Any symmetric (m, m) matrix, as an array or a SciPy sparse matrix. Its diagonal does not matter.
    field
        Shape (m, 2): the pull on the cosine and on the sine of each angle.
    draws
        How many draws to keep.
    sampler
        "hybrid" (the default, nothing to tune), "heatbath" (option ``overrelax``), "augmented" (options ``scaling``
        "diagonal" or "scalar", and ``lam``), "hmc" (``step_size``, ``leapfrogs``), "hmc-augmented" (the options of
        both), "hmc-whitened" (``step_size``, ``duration``).
    warmup
        Steps before the first draw, 200 to 500 by sampler if not given. Step sizes are tuned in them.
    thin
        Steps for each draw kept.
    seed
        The same seed gives the same draws.
    initial
        Shape (m,): angles to start from.
    ``**sampler_options``
        The options of the sampler, named above.

    **Returns**

    array of shape (draws, m)
        Angles in radians, in (−π, π].

    Two angles that pull together, the first of them towards 0:

    >>> import numpy as np
    >>> import vmqp
    >>> angles = vmqp.sample_angles([[0.0, -3.0], [-3.0, 0.0]], [[2.0, 0.0], [0.0, 0.0]], draws=2000, seed=1)
    >>> angles.shape
    (2000, 2)
    >>> bool(np.cos(angles[:, 0] - angles[:, 1]).mean() > 0.7)
    True
    """
    batch = _sample(coupling, field, 1, draws, sampler, warmup, thin, seed, initial, sampler_options)
    angles: Array = batch[0]
    return angles


def sample_angles_batch(
    coupling: Any,
    field: Any,
    *,
    chains: int,
    draws: int,
    sampler: str = "hybrid",
    warmup: int | None = None,
    thin: int = 1,
    seed: int = 0,
    initial: Any = None,
    **sampler_options: Any,
) -> npt.NDArray[np.float64]:
    """Draw several chains side by side, with one pass over the coupling for all of them.

    The arguments are those of :func:`sample_angles`; ``initial`` may have shape (m,) or (chains, m).

    **Returns**

    array of shape (chains, draws, m)

    >>> import numpy as np
    >>> import vmqp
    >>> ring = -np.roll(np.eye(6), 1, axis=0)
    >>> vmqp.sample_angles_batch(ring + ring.T, np.zeros((6, 2)), chains=4, draws=10).shape
    (4, 10, 6)
    """
    chains = check_count(chains, "chains", 1, "chains")
    return _sample(coupling, field, chains, draws, sampler, warmup, thin, seed, initial, sampler_options)


def build_sampler(name: str, target: Target, options: dict[str, Any]) -> Sampler:
    """The sampler of that name for a target, its options checked.

    >>> target = make_target([[0.0, -2.0], [-2.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]])
    >>> build_sampler("heatbath", target, {"overrelax": 2}).name
    'heatbath'
    >>> build_sampler("heatbath", target, {"step_size": 0.1})
    Traceback (most recent call last):
    vmqp.errors.InputError: sampler 'heatbath' has no option 'step_size': it takes overrelax.
    """
    if not isinstance(name, str) or name not in SAMPLERS:
        raise InputError(f"sampler is {name!r}, but the choices are {', '.join(map(repr, SAMPLERS))}.")
    known = [p for p in inspect.signature(SAMPLERS[name].__init__).parameters if p not in _INTERNAL]
    for option in options:
        if option not in known:
            raise InputError(
                f"sampler {name!r} has no option {option!r}: it takes {', '.join(known) or 'no options'}."
            )
    return SAMPLERS[name](target, **options)


def _sample(
    coupling: Any,
    field: Any,
    chains: int,
    draws: Any,
    name: str,
    warmup: Any,
    thin: Any,
    seed: Any,
    initial: Any,
    options: dict[str, Any],
) -> Array:
    draws = check_count(draws, "draws", 0, "draws to keep")
    thin = check_count(thin, "thin", 1, "steps for each draw")
    seed = check_count(seed, "seed", 0, "a stream of random numbers")
    if warmup is not None:
        warmup = check_count(warmup, "warmup", 0, "steps before the first draw")
    target = make_target(coupling, field)
    start = _start(initial, chains, target.size)
    sampler = build_sampler(name, target, options)
    if target.size == 0 or draws == 0:
        return np.empty((chains, draws, target.size))
    rng = seed_streams(seed, chains)
    state = sampler.init(rng, start)
    state = sampler.warm_up(rng, state, sampler.default_warmup if warmup is None else warmup)
    return sampler.run(rng, state, draws, thin)[1]


def _start(initial: Any, chains: int, size: int) -> Array | None:
    if initial is None:
        return None
    angles = as_reals(initial, "initial")
    if angles.shape not in ((size,), (chains, size)):
        wanted = f"({size},)" if chains == 1 else f"({size},) or ({chains}, {size})"
        raise InputError(
            f"initial has shape {angles.shape}, but {wanted} is needed: give one angle for each row."
        )
    if not np.isfinite(angles).all():
        raise InputError("initial holds NaN or infinite values: give finite angles in radians.")
    return np.array(np.broadcast_to(angles, (chains, size)))
