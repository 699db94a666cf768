"""R-hat and effective sample sizes of parameters and of angles.

Both are for numbers on a line, so an angle enters by its cosine and its sine. Angles are taken in blocks of places,
for these copies would else need twice the memory of the draws.

Reference: Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and localization".
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vmqp.chain import Description
from vmqp.run.store import Group

__all__ = ["LEAST_DRAWS", "Block", "blocks", "circular_names", "smallest_ess"]

LEAST_DRAWS = 4
"""Below this many draws of a chain neither R-hat nor the effective sample size is defined."""

_BLOCK = 2_000_000  # numbers in a block


class Block(NamedTuple):
    """Some columns of numbers, (chains, draws, columns), that belong together."""

    name: str
    angular: bool
    first: int
    """The place of the first column: angles have two columns for each place, one after the other."""
    values: npt.NDArray[np.float64]

    def rhat(self) -> npt.NDArray[np.float64]:
        """R-hat of each column: 1 for a constant, infinite where it is undefined.

        >>> Block("x", False, 0, np.zeros((2, 8, 1))).rhat()
        array([1.])
        """
        return self._by_column("rhat", constant=1.0, undefined=np.inf)

    def ess(self) -> npt.NDArray[np.float64]:
        """Bulk effective sample size of each column: infinite for a constant, 0 where it is undefined."""
        return self._by_column("ess", constant=np.inf, undefined=0.0)

    def _by_column(self, statistic: str, constant: float, undefined: float) -> npt.NDArray[np.float64]:
        # Its import takes longer than all else here, and a run of one chain does without.
        from arviz_stats.base import array_stats  # type: ignore[attr-defined]

        with np.errstate(all="ignore"):
            found = np.atleast_1d(getattr(array_stats, statistic)(self.values, chain_axis=0, draw_axis=1))
        fixed = (self.values == self.values[:1, :1]).all(axis=(0, 1))
        return np.where(fixed, constant, np.where(np.isnan(found), undefined, found))


def circular_names(description: Description) -> set[str]:
    """Names of the parameters that are angles themselves.

    >>> circular_names(Description({}, {}, {}, {"circular": "direction, phase"})) == {"direction", "phase"}
    True
    """
    names = str(description.attributes.get("circular", "")).split(",")
    return {name.strip() for name in names} - {""}


def blocks(parameters: Group, angles: Group, circular: set[str]) -> Iterator[Block]:
    """Cut draws, (chains, draws) and (chains, draws, places), into blocks; parameters first.

    >>> draws = {"noise": np.ones((2, 5)), "direction": np.zeros((2, 5))}
    >>> [(block.name, block.values.shape) for block in blocks(draws, {}, {"direction"})]
    [('noise', (2, 5, 1)), ('direction', (2, 5, 2))]
    """
    for name, values in parameters.items():
        columns = values[..., None].astype(np.float64)
        yield Block(name, name in circular, 0, _on_circle(columns) if name in circular else columns)
    for name, values in angles.items():
        width = max(1, _BLOCK // max(1, 2 * values.shape[0] * values.shape[1]))
        for first in range(0, values.shape[2], width):
            yield Block(name, True, first, _on_circle(values[..., first : first + width]))


def smallest_ess(parameters: Group, circular: set[str]) -> float:
    """The smallest effective sample size over parameters; NaN for none or for few draws.

    >>> smallest_ess({"noise": np.random.default_rng(1).normal(size=(1, 500))}, set()) > 100
    True
    """
    sizes = [
        float(block.ess().min())
        for block in blocks(parameters, {}, circular)
        if block.values.shape[1] >= LEAST_DRAWS
    ]
    return min(sizes, default=np.nan)


def _on_circle(angles: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Cosine and sine in turn along the last axis."""
    columns = np.empty((*angles.shape[:-1], 2 * angles.shape[-1]))
    columns[..., ::2] = np.cos(angles)
    columns[..., 1::2] = np.sin(angles)
    return columns
