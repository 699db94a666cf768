"""Checks that the commands share: numbers, choices, and what --noise means."""

import math

import pandas as pd

from vmqp.cli.options import at_least
from vmqp.cli.request import Noise
from vmqp.errors import InputError
from vmqp.tables import nearest

__all__ = ["check_choices", "check_counts", "check_fast", "read_noise"]


def check_counts(chains: int, warmup: int, draws: int | None, target_ess: float, seed: int) -> None:
    """Refuse numbers that are too small.

    >>> check_counts(1, 1000, None, 400, 0)
    Traceback (most recent call last):
    vmqp.errors.InputError: --chains is 1, but chains are compared with each other: give 2 or more.
    """
    at_least(chains, 2, "--chains", "chains are compared with each other")
    at_least(warmup, 0, "--warmup", "it is a number of iterations")
    at_least(seed, 0, "--seed", "it numbers a stream of random numbers")
    at_least(target_ess, 1, "--target-ess", "it is a number of samples")
    if draws is not None:
        at_least(draws, 1, "--draws", "it is a number of draws")


def check_choices(metric: str, drift: str | None, precision: str = "auto") -> None:
    """Refuse words that are not among the choices."""
    for option, value, choices in (
        ("--metric", metric, ("euclidean", "geographic")),
        ("--drift", drift, ("constant", "mean")),
        ("--precision", precision, ("auto", "dense", "vecchia")),
    ):
        if value is not None and value not in choices:
            near = nearest(value, choices)
            raise InputError(
                f"{option} {value!r} is not known: did you mean {near}? The choices are {', '.join(choices)}."
            )


def check_fast(fast: bool, transductive: bool) -> None:
    """Refuse a fast fit of a model that new locations belong to."""
    if fast and transductive:
        raise InputError(
            "--fast was given with --transductive, which draws parameters and new angles together: leave one of them "
            "out."
        )


def read_noise(text: str, frame: pd.DataFrame) -> Noise:
    """Read what --noise means: words first, then numbers, then the names of columns.

    >>> read_noise("50", pd.DataFrame({"lon": [1.0]}))
    Noise(kind='fixed', value=50.0, column=None)
    """
    if text in ("none", "learned"):
        return Noise(text)
    try:
        value = float(text)
    except ValueError:
        return Noise("column", column=_noise_column(text, frame))
    if not 0.0 < value < math.inf:
        raise InputError(f"--noise {text} is not a concentration: give a finite number above 0.")
    return Noise("fixed", value=value)


def _noise_column(text: str, frame: pd.DataFrame) -> str:
    if text not in frame.columns:
        near = nearest(text, ["learned", "none", *map(str, frame.columns)])
        raise InputError(
            f"--noise {text!r} is neither a number nor a column: did you mean {near!r}? Give none, learned, a "
            "concentration above 0, or the name of a column with one for each row."
        )
    if not pd.api.types.is_numeric_dtype(frame[text].dtype):
        raise InputError(f"--noise {text!r} is a column of text: give a column of concentrations above 0.")
    if not (frame[text].dropna() > 0).all():
        raise InputError(
            f"--noise {text!r} is a column with a value of {frame[text].min():g}: give concentrations above 0; a "
            "larger one is a more exact observation."
        )
    return text
