"""How parameters are learned: the choices that a user can make, checked once."""

import math
from dataclasses import dataclass
from typing import Literal

from vmqp.checks import check_count
from vmqp.errors import InputError

__all__ = ["Method"]

_COUNTS = {
    "inner_steps": (1, "steps of the inner chain"),
    "outer_steps": (1, "steps of the latent angles"),
    "bridge": (0, "densities in between"),
    "drag": (0, "densities in between"),
    "cheap_moves": (0, "moves without a factorisation"),
}
_CHOSEN = ("inner_steps", "outer_steps", "cheap_moves")  # None leaves the choice to us


@dataclass(frozen=True)
class Method:
    """The block Gibbs sampler of angles and parameters.

    >>> Method(bridge=5).bridging
    'heatbath'
    """

    sampler: Literal["hybrid", "heatbath", "augmented"] = "hybrid"
    """Of the angles: hybrid, heat bath and over-relaxation alone, or the paper's augmentation with λ1."""
    inner_start: Literal["angles", "persistent", "aligned"] = "aligned"
    """Where an inner chain starts: from equal angles, where the last one ended, or (the paper's) at the current angles.

    "aligned" starts each from equal angles and takes twice the steps that are needed; "persistent" does so at every
    twentieth iteration, and is a fifth faster. But a field that is left over from other parameters can lead the chain
    away: with a smooth kernel and 30 observations every second chain ended at variances near 0. Along a closed curve of
    locations a field can also wind round the circle, and between dense ones hold a kink, for longer than any chain.

    Observed angles can lie far from what the model expects before it sees any, as about a vortex: a chain from there
    takes longer to forget its start than the probes of the warm-up, which begin at typical fields, can tell.
    """
    inner_steps: int | None = None
    """Length of the inner chain; None chooses it in warm-up."""
    outer_steps: int | None = None
    """Steps of the latent angles in an iteration; None takes the length of the inner chain."""
    bridge: int = 0
    """Densities between the proposed and the present parameters: K of the paper's appendix B."""
    bridging: Literal["heatbath", "augmented"] = "heatbath"
    drag: int = 0
    """Densities through which the latent angles are dragged along with the parameters; 0 leaves them in place."""
    cheap_moves: int | None = None
    """Moves along the common scale and κ for each one that needs a factorisation; None chooses, 1 to 6."""
    steps: tuple[float, ...] | None = None
    """Fixed standard deviations of joint proposals, one for each parameter; None adapts them in warm-up.

    They are on the unconstrained scale. One more than there are exchanged parameters is that of ν, which then walks
    with them, as in the paper, in place of its exact draw.
    """

    def __post_init__(self) -> None:
        choices = {
            "sampler": ("hybrid", "heatbath", "augmented"),
            "inner_start": ("angles", "persistent", "aligned"),
            "bridging": ("heatbath", "augmented"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"{name} is {getattr(self, name)!r}: give one of {', '.join(map(repr, allowed))}."
                )
        for name, (least, meaning) in _COUNTS.items():
            value = getattr(self, name)
            if value is not None or name not in _CHOSEN:
                object.__setattr__(self, name, check_count(value, name, least, meaning))
        if self.steps is not None:
            object.__setattr__(self, "steps", _positive(self.steps))


def _positive(steps: object) -> tuple[float, ...]:
    try:
        numbers = tuple(float(step) for step in steps)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        numbers = (math.nan,)
    if not all(0.0 < number < math.inf for number in numbers):
        raise InputError(f"steps are {steps!r}: give positive numbers, one for each learned parameter.")
    return numbers
