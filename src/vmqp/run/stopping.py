"""When to stop: the convergence rule, the rounds at which it is asked, and the worst R-hat of a result."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from vmqp.chain import Arrays
from vmqp.checks import check_count
from vmqp.errors import InputError
from vmqp.run.diagnostics import LEAST_DRAWS, Block, blocks
from vmqp.run.store import Group

__all__ = ["Converged", "Worst", "rounds", "worst_rhat"]

_GROWTH = 5  # a round adds a fifth: at most that much is drawn in vain, and few rounds are asked


@dataclass(frozen=True)
class Converged:
    """Stop when the chains agree and have drawn enough.

    **Parameters**

    rhat
        R-hat of every parameter must be below.
    rhat_angles
        R-hat of the cosine and of the sine of every angle must be below.
    ess
        The bulk effective sample size of all of these must reach it.
    first
        Draws of each chain after which the rule is asked for the first time; R-hat of fewer than 100 says little.

    >>> Converged()
    Converged(rhat=1.01, rhat_angles=1.02, ess=400, first=100)
    """

    rhat: float = 1.01
    rhat_angles: float = 1.02
    ess: float = 400
    first: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "first", check_count(self.first, "first", LEAST_DRAWS, "draws of each chain")
        )
        for name, least in (("rhat", 1.0), ("rhat_angles", 1.0), ("ess", 0.0)):
            value: Any = getattr(self, name)
            if isinstance(value, bool | str) or not _above(value, least):
                raise InputError(f"{name} is {value!r}, but it must be a number above {least:g}.")

    def limit(self, block: Block) -> float:
        """The limit on R-hat for a block."""
        return self.rhat_angles if block.angular else self.rhat

    def met(self, parameters: Group, angles: Group, circular: set[str]) -> bool:
        """Whether draws, (chains, draws) and (chains, draws, places), satisfy the rule.

        >>> import numpy as np
        >>> draws = np.random.default_rng(3).normal(size=(4, 500))
        >>> Converged().met({"noise": draws}, {}, set()), Converged(ess=1e6).met({"noise": draws}, {}, set())
        (True, False)
        """
        return all(
            (block.rhat() < self.limit(block)).all() and (block.ess() >= self.ess).all()
            for block in blocks(parameters, angles, circular)
        )


def rounds(draws: int, first: int = 100) -> Iterator[int]:
    """Draws of each chain at which the rule is asked, from `first` up to `draws`.

    They depend on nothing else, so that a run stops at the same draw on any machine.

    >>> list(rounds(200))
    [100, 120, 144, 172, 200]
    """
    count = min(first, draws)
    while count < draws:
        yield count
        count += max(1, count // _GROWTH)
    yield draws


class Worst(NamedTuple):
    """The largest R-hat in proportion to its limit."""

    label: str
    rhat: float
    limit: float


def worst_rhat(
    parameters: Group, angles: Group, circular: set[str], places: Arrays, rule: Converged
) -> Worst | None:
    """Find the worst R-hat, if it is not below its limit.

    >>> import numpy as np
    >>> apart = np.random.default_rng(3).normal(size=(2, 500)) + [[0.0], [3.0]]
    >>> worst_rhat({"noise": apart}, {}, set(), {}, Converged()).label
    "parameter 'noise'"
    """
    worst, height = None, 1.0
    for block in blocks(parameters, angles, circular):
        rhat, limit = block.rhat(), rule.limit(block)
        column = int(rhat.argmax())
        excess = (rhat[column] - 1.0) / (limit - 1.0)
        if excess >= height:
            label = f"parameter {block.name!r}"
            if block.name in places and block.name not in parameters:
                label = f"{block.name!r} at place {places[block.name][block.first + column // 2]}"
            worst, height = Worst(label, float(rhat[column]), limit), float(excess)
    return worst


def _above(value: Any, least: float) -> bool:
    try:
        return least < float(value) < float("inf")
    except (TypeError, ValueError):
        return False
