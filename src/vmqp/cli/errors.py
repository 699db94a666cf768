"""Exit codes, and errors and warnings in the words of a shell.

An error of ours is one paragraph without a traceback; one that is not ours is a fault of the program and shows it.
"""

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from vmqp.errors import ConvergenceWarning, InterruptedWarning

__all__ = ["DONE", "INTERRUPTED", "UNTRUSTED", "WRONG", "in_shell_words", "said"]

DONE = 0
WRONG = 2
"""What was given cannot be used."""
UNTRUSTED = 3
"""The files are there, but the diagnostics do not hold."""
INTERRUPTED = 130
"""Stopped by Ctrl-C."""

_WORDS = (
    (re.compile(r"\bperiod=([\w.]+)"), r"--period \1"),
    (re.compile(r"noise=priors\.HalfNormal\(50\)"), "--noise learned"),
    (
        re.compile(r"kernel \+ kernels\.Nugget\(priors\.HalfNormal\(0\.1\)\)"),
        '--kernel "exponential + nugget"',
    ),
    (re.compile(r"\badd a kernels\.Nugget\b"), 'add "+ nugget" to --kernel'),
    (re.compile(r" To silence this: .*?\)\."), ""),
    (re.compile(r"\bexecutor is '"), "--engine is '"),
    (re.compile(r"\bprecision='(\w+)'"), r"--precision \1"),
    (re.compile(r"\bX_new\b"), "the locations"),
    (re.compile(r"\bgive skip_broken=True\b"), "give --skip-broken"),
    (re.compile(r"\bgive its folder \(folder=\.\.\.\)"), "give its folder (--folder DIR)"),
    (re.compile(r"\b(u|v|lon|lat)='…'"), r"--\1 NAME"),
    (re.compile(r"\bselect=\{'(\w+)': '?([^'}]*)'?\}"), r"--select \1=\2"),
    (re.compile(r"choose one with dataset\.sel\(.*?\) first, and leave time out"), "leave --at out"),
    (re.compile(r"\bleave time out\b"), "leave --at out"),
    (re.compile(r"\bread it with ndbc\.read_latest\b"), "give it: vmqp data ndbc latest_obs.txt"),
)


def in_shell_words(message: str) -> str:
    """Say with options what an error of the library says with Python's arguments.

    >>> in_shell_words("y has values up to 355, outside a period of 6.283: did you mean period=360?")
    'y has values up to 355, outside a period of 6.283: did you mean --period 360?'
    """
    for pattern, words in _WORDS:
        message = pattern.sub(words, message)
    return message


@contextmanager
def said() -> Iterator[None]:
    """Print warnings as notes, one line each; what the verdict says at the end is left to it."""

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        print(f"note: {in_shell_words(str(message))}", file=sys.stderr, flush=True)

    shown: Literal["always", "ignore"]
    with warnings.catch_warnings():
        for category, shown in (
            (UserWarning, "always"),
            (ConvergenceWarning, "ignore"),
            (InterruptedWarning, "ignore"),
        ):
            warnings.simplefilter(shown, category)
        warnings.showwarning = show
        yield
