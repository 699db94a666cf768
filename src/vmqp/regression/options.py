"""Options at the door: what a person chose becomes what the model takes, or an error that says what to give."""

from contextlib import suppress
from typing import Any

import numpy as np

from vmqp.circle import FloatArray
from vmqp.errors import InputError
from vmqp.learning import Method
from vmqp.priors import Prior, UniformAngle
from vmqp.priors.base import is_finite_number
from vmqp.run import Converged
from vmqp.tables import AngleRange
from vmqp.tables.words import shown

__all__ = [
    "check_choices",
    "check_concentration",
    "in_radians",
    "read_length",
    "read_method",
    "read_noise",
    "read_noise_new",
]

_CHOICES = {
    "metric": ("euclidean", "geographic"),
    "drift": (None, "constant", "mean"),
    "precision": ("auto", "dense", "vecchia"),
    "sampler": ("hybrid", "heatbath", "augmented"),
    "inference": ("bayes", "fast"),
}
_LEAST, _MOST = 1000, 10_000  # draws of each chain where no number is given
_NUMBERS = 100_000_000  # draws times places and chains that they may come to
_LARGEST = 1e12  # a concentration: the angle is then known to a millionth of a radian
_NOISE = (
    "give a positive χ, about 1 / (standard deviation in radians)², a prior such as priors.HalfNormal(50)"
)


def check_choices(options: dict[str, Any]) -> None:
    """Refuse a word that is not among the choices of its option."""
    for name, choices in _CHOICES.items():
        if name not in options:  # of another model
            continue
        value = options[name]
        if not isinstance(value, str | None) or value not in choices:
            listed = ", ".join(map(repr, choices))
            raise InputError(f"{name} is {shown(value)}, but the choices are {listed}.")


def read_method(method: Any, sampler: str) -> Method:
    """The choices of the learner, or its defaults with one sampler of the angles."""
    if method is None:
        return Method(sampler=sampler)  # type: ignore[arg-type]  # checked among the choices
    if not isinstance(method, Method):
        raise InputError(f"method is {shown(method)}: give vmqp.learning.Method(...), or None.")
    return method


def read_length(draws: Any, until: Any, chains: Any, places: int) -> tuple[Any, Any]:
    """Draws of each chain, and the rule that ends them earlier; without either, from 1,000 until it is enough.

    >>> read_length(None, None, 4, 100)
    (10000, Converged(rhat=1.01, rhat_angles=1.02, ess=400, first=1000))
    >>> read_length(200, None, 4, 100)
    (200, None)
    """
    if draws is not None:
        return draws, until
    if until is None and chains == 1:  # nothing to compare
        return _LEAST, None
    room = _NUMBERS // (max(1, chains) * places) if isinstance(chains, int) else _MOST
    return max(_LEAST, min(_MOST, room)), Converged(first=_LEAST) if until is None else until


def check_concentration(concentration: Any) -> None:
    """Refuse a strength κ of the drift that is no number from 0 up, and no prior."""
    if isinstance(concentration, Prior) or (
        is_finite_number(concentration) and 0.0 <= float(concentration) <= _LARGEST
    ):
        return
    raise InputError(
        f"concentration is {shown(concentration)}: give a number from 0 (no drift) up to {_LARGEST:g}, or a prior such "
        "as priors.HalfNormal(1)."
    )


def in_radians(direction: Any, angles: AngleRange) -> Any:
    """A direction ν in radians; it is given in the period of the data.

    >>> round(in_radians(90, AngleRange(360.0, False, "degrees")), 4)
    1.5708
    """
    if isinstance(direction, UniformAngle):
        return direction
    if isinstance(direction, Prior) and direction.is_fixed:
        direction = direction.typical()
    if not is_finite_number(direction):
        raise InputError(
            f"direction is {shown(direction)}: give an angle in the period of the data, such as "
            f"{angles.period / 4:g}, or priors.UniformAngle() to learn it."
        )
    return float(angles.to_radians(float(direction)))


def read_noise(noise: Any, n: int) -> float | Prior | FloatArray | None:
    """The noise χ of the observations: none, a number, a prior, or one for each of n rows.

    >>> read_noise([4, 9], 2).tolist()
    [4.0, 9.0]
    """
    if noise is None or isinstance(noise, Prior):
        return noise
    values = _numbers(noise, "noise", f"{_NOISE}, or one χ for each row")
    if values.ndim == 0:
        if not 0.0 < values <= _LARGEST:
            raise InputError(
                f"noise is {shown(noise)}: {_NOISE}, or one χ for each row, at most {_LARGEST:g}; None for none."
            )
        return float(values)
    if values.shape != (n,):
        raise InputError(
            f"noise has shape {values.shape} for {n} observed rows: give one χ for each row, or one number."
        )
    return _positive(values, "noise")


def read_noise_new(noise_new: Any, m: int, *, noisy: bool) -> FloatArray | None:
    """The noise χ of an observation at each of m new places, where it is given."""
    if noise_new is None:
        return None
    remedy = f"give one positive χ, or one for each of {m} new rows"
    if not noisy:
        raise InputError("noise_new was given, but noise is None: give the noise of the observed rows too.")
    values = _numbers(noise_new, "noise_new", remedy)
    if values.shape not in ((), (m,)):
        raise InputError(f"noise_new has shape {values.shape} for {m} new rows: {remedy}.")
    return _positive(np.broadcast_to(values, (m,)).copy(), "noise_new")


def _numbers(given: Any, name: str, remedy: str) -> FloatArray:
    if not isinstance(given, bool | str | bytes):
        with suppress(Exception):  # an object of somebody else may raise anything when it becomes an array
            values = np.asarray(given)
            if values.dtype.kind in "fiuO":
                return np.asarray(values, dtype=np.float64)
    raise InputError(f"{name} is {shown(given)}: {remedy}.")


def _positive(values: FloatArray, name: str) -> FloatArray:
    wrong = ~((values > 0.0) & (values <= _LARGEST))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{name} of row {row} is {values[row]:g}: give a positive χ, about 1 / (standard deviation in radians)², "
            f"at most {_LARGEST:g}."
        )
    return values
