"""How much a chain's draws are worth beside independent ones."""

import numpy as np
from numpy.typing import ArrayLike

from vmqp.errors import InputError

__all__ = ["relative_ess"]

_LEAST_DRAWS = 4  # with fewer draws of a chain its autocorrelation is not defined


def relative_ess(values: ArrayLike) -> float:
    """Relative effective sample size 1 / (1 + 2 Σ ρ_l) of a number's draws, ρ_l its autocorrelation (eq:RESS).

    `values` are the draws of one chain, (draws,), or of several that are estimated together, (chains, draws). An angle
    enters by its cosine or its sine. 1 is as good as independent draws; draws that swing about their mean can be worth
    more. It is that of the mean, without ranks, after Geyer's initial monotone sequence as in ArviZ. A number that
    never changes has no autocorrelation, and the result is nan.

    >>> rng = np.random.default_rng(1)
    >>> 0.8 < relative_ess(rng.normal(size=(4, 1000))) < 1.2
    True
    >>> relative_ess(np.ones(100))
    nan
    """
    try:
        draws = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"values must be numbers but are not ({error}); convert them first.") from error
    if draws.ndim not in (1, 2) or draws.size == 0 or draws.shape[-1] < _LEAST_DRAWS:
        raise InputError(
            f"values have shape {draws.shape}: give (draws,) or (chains, draws), at least {_LEAST_DRAWS} draws."
        )
    if not np.isfinite(draws).all():
        raise InputError("values must be finite but hold nan or infinity; drop the draws where they do.")
    chains = np.atleast_2d(draws)
    if (chains == chains[0, 0]).all():
        return float("nan")
    # Its import takes longer than all else here.
    from arviz_stats.base import array_stats  # type: ignore[attr-defined]

    ess = getattr(array_stats, "ess")  # noqa: B009  # it has no types
    return float(ess(chains, chain_axis=0, draw_axis=1, method="mean", relative=True))
