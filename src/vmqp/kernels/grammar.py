"""The grammar of a kernel's text, one method for each rule.

    sum      = product { "+" product }
    product  = factor { "*" factor }                one of the factors may be a variance: a number or a prior
    factor   = "(" sum ")" | number | name [ "(" [ argument { "," argument } ] ")" ]
    argument = [ name "=" ] ( value | "[" [ value { "," value } ] "]" )
    value    = number | prior | word | 'quoted text'

A comma may stand before a closing bracket. An error points at the token that fits no rule.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import reduce
from operator import add, mul
from typing import Any, TypeVar

from vmqp import priors
from vmqp.errors import InputError
from vmqp.kernels import others, stationary
from vmqp.kernels.algebra import Kernel
from vmqp.kernels.inputs import Column, as_columns
from vmqp.kernels.leaf import Leaf
from vmqp.kernels.tokens import Token, fault, tokens, unquoted
from vmqp.priors import Prior

__all__ = ["Defaults", "Draft", "read"]

# A person's kernel is flatter; a deeper one would use up Python's stack.
_DEEPEST = 30

_SETTING = "a number or a prior such as HalfNormal(1)"

_T = TypeVar("_T")
_Kind = type[Leaf] | type[Prior]


@dataclass(frozen=True)
class Draft:
    """One kernel as the text has it, before the arguments that were left out are filled in."""

    kind: type[Leaf]
    """The kernel's class."""
    missing: tuple[str, ...]
    """Parameters that the text leaves out, such as ``lengthscale``; for a nugget, ``variance``."""
    columns: tuple[Column, ...] | None
    """Names or positions of the columns that the text chooses; None for all of them."""
    metric: str | None
    """The metric that the text names; None where it names none."""
    metrics: tuple[str, ...]
    """Metrics that the kernel is made for; none for a constant or a nugget, which know no distance."""


Defaults = Callable[[Draft], Mapping[str, object]]
"""Takes a draft and returns arguments for it by name: any of ``draft.missing``, and ``metric``.

What the text gives comes first, so the function may return more than is missing. An `InputError` that it
raises is shown with the kernel's place in the text.
"""


def _normal(name: str) -> str:
    """Write a name as it is looked up: without prefix, hyphens and underscores, in small letters."""
    return re.sub(r"[-_/]", "", name.rpartition(".")[2]).casefold()


def _by_name(room: Any, names: Iterable[str]) -> dict[str, _Kind]:
    return {_normal(name): getattr(room, name) for name in names}


_KERNELS = _by_name(stationary, ("Exponential", "Gaussian", "Matern32", "Matern52", "RationalQuadratic"))
_KERNELS |= _by_name(others, ("Periodic", "Categorical", "Linear", "Constant", "Nugget"))
_PRIORS = _by_name(priors, ("HalfNormal", "LogNormal", "Gamma", "InverseGamma"))
_PRIORS |= _by_name(priors, ("Uniform", "UniformAngle", "Squared", "Fixed"))


def _fields(kind: _Kind) -> tuple[Field[Any], ...]:
    """Return the arguments, those that need no name first."""
    return tuple(sorted(fields(kind), key=lambda item: bool(item.kw_only)))  # type: ignore[arg-type]


def _nearest(name: str, known: Mapping[str, str]) -> str:
    """Name the nearest of what is known, or all of it."""
    near = difflib.get_close_matches(_normal(name)[:40], list(known), n=1)
    return (
        f"did you mean {known[near[0]]!r}?" if near else f"known are: {', '.join(known.values()) or 'none'}"
    )


def read(text: str, defaults: Defaults | None) -> Kernel:
    """Read a text that is a kernel and nothing else."""
    reader = _Reader(text, defaults)
    kernel = reader.sum()
    if reader.token.kind != "end":
        raise reader.unexpected("'+', '*' or the end")
    if not isinstance(kernel, Kernel):
        raise fault(text, 0, f"found {kernel!r} alone, expected a kernel; write variance * kernel")
    return kernel


class _Reader:
    """Reads the tokens from left to right; the first methods read one rule of the grammar each."""

    def __init__(self, text: str, defaults: Defaults | None) -> None:
        self.text = text
        self.defaults = defaults
        self.tokens = list(tokens(text))
        self.position = 0
        self.depth = 0

    def sum(self) -> Any:
        starts, terms = [self.token.start], [self.product()]
        while self.takes("+"):
            starts.append(self.token.start)
            terms.append(self.product())
        for start, term in zip(starts, terms, strict=True):
            if len(terms) > 1 and not isinstance(term, Kernel):
                remedy = "write constant(...) for an offset of all rows, nugget(...) for a variance of each"
                raise fault(self.text, start, f"found {term!r} in a sum, expected a kernel; {remedy}")
        return reduce(add, terms)

    def product(self) -> Any:
        variance_at, result = self.token.start, self.factor()
        has_variance = not isinstance(result, Kernel)
        while self.takes("*"):
            start, factor = self.token.start, self.factor()
            if not isinstance(factor, Kernel):
                if has_variance:
                    remedy = "multiply numbers yourself, or use brackets as in 2 * gaussian(1) * (3 * linear)"
                    reason = f"found a second variance, {factor!r}, expected a kernel; {remedy}"
                    raise fault(self.text, start, reason)
                has_variance, variance_at = True, start
            result = self.made(variance_at, mul, result, factor)
        return result

    def factor(self) -> Any:
        if self.token.kind == "word":
            return self.call(_KERNELS | _PRIORS, "a kernel or a prior")
        if self.at_number():
            return self.number()
        self.deeper()
        self.needs("(", "a kernel, a number, a prior or '('")
        inner = self.sum()
        self.needs(")", "'+', '*' or ')'")
        self.depth -= 1
        return inner

    def number(self) -> float:
        sign = -1 if self.takes("-") else 1
        if sign == 1:
            self.takes("+")
        if self.token.kind != "number":
            raise self.unexpected("a number")
        token = self.next()
        value = float(token.text)
        if value == float("inf"):
            raise fault(self.text, token.start, f"found {token}, expected a number below 1.8e308")
        # A column's position is a whole number.
        return sign * (int(token.text) if token.text.isdigit() and len(token.text) <= 15 else value)

    def call(self, known: Mapping[str, _Kind], expected: str) -> Any:
        """Read the name of a kernel or prior and its arguments."""
        kind = known.get(_normal(self.token.text))
        if kind is None:
            names = {key: key if key in _KERNELS else kind.__name__ for key, kind in known.items()}
            remedy = _nearest(self.token.text, names)
            if _normal(self.token.text) == "custom":
                remedy = "a Custom kernel holds a function, so build it in Python"
            raise self.unexpected(f"{expected}; {remedy}")
        self.deeper()
        start = self.next().start
        given = self.arguments(kind) if self.takes("(") else {}
        self.depth -= 1
        return self.made(start, self.finished, kind, given)

    def arguments(self, kind: _Kind) -> dict[str, Any]:
        """Read arguments up to the closing bracket."""
        given: dict[str, Any] = {}
        nameless = [item.name for item in _fields(kind) if not item.kw_only]
        while not self.takes(")"):
            token = self.token
            if token.kind == "word" and self.tokens[self.position + 1].text == "=":
                name, nameless = self.keyword(kind), []
            elif len(given) < len(nameless):
                name = nameless[len(given)]
            else:
                names = ", ".join(item.name for item in _fields(kind)) or "none"
                raise self.unexpected(f"')' or name=value; the arguments of {kind.__name__} are: {names}")
            if name in given:
                raise fault(
                    self.text, token.start, f"found {name} twice, expected it once; remove one of them"
                )
            given[name] = self.argument(name)
            if not self.takes(","):
                self.needs(")", "',' or ')'")
                break
        return given

    def keyword(self, kind: _Kind) -> str:
        """Read the name of an argument and the sign after it."""
        known = {_normal(item.name): item.name for item in _fields(kind)}
        name = known.get(_normal(self.token.text))
        if name is None:
            remedy = _nearest(self.token.text, known)
            raise self.unexpected(f"an argument of {kind.__name__}; {remedy}")
        self.position += 2
        return name

    def argument(self, name: str) -> Any:
        if name in ("metric", "name"):
            word = self.word("a word")
            return word.lower() if name == "metric" else word
        if not self.takes("["):
            return self.value(name)
        values: list[Any] = []
        while not self.takes("]"):
            values.append(self.value(name))
            if not self.takes(","):
                quotes = "; a column's name with other characters needs quotes" if name == "columns" else ""
                self.needs("]", "',' or ']'" + quotes)
                break
        return values

    def value(self, name: str) -> Any:
        if self.at_number():
            return self.number()
        if name == "columns":
            return self.word("the name of a column, in quotes if it does not begin with a letter")
        return self.call(_PRIORS, _SETTING) if self.token.kind == "word" else self.word(_SETTING, ())

    def word(self, expected: str, kinds: tuple[str, ...] = ("word", "quoted")) -> str:
        if self.token.kind not in kinds:
            raise self.unexpected(expected)
        token = self.next()
        return token.text if token.kind == "word" else unquoted(self.text, token)

    def finished(self, kind: _Kind, given: Mapping[str, Any]) -> Any:
        """Make the kernel or prior, with defaults for what is not given."""
        arguments = dict(given)
        if issubclass(kind, Leaf) and self.defaults is not None:
            missing = tuple(name for name in kind._parameters if name not in given)
            metrics = getattr(kind, "_metrics", ())
            draft = Draft(kind, missing, as_columns(given.get("columns")), given.get("metric"), metrics)
            allowed = (*missing, "metric") if metrics else missing
            supplied = self.defaults(draft)
            arguments = {name: supplied[name] for name in allowed if name in supplied} | arguments
        for item in _fields(kind):
            if item.name not in arguments and item.default is MISSING:
                raise InputError(_missing(kind, item.name))
        return kind(**arguments)

    def made(self, start: int, make: Callable[..., _T], *arguments: Any) -> _T:
        """Make a part, and show where it stands if it cannot be made."""
        try:
            return make(*arguments)
        except InputError as error:
            raise fault(self.text, start, str(error), "cannot be made") from error

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def next(self) -> Token:
        self.position += 1
        return self.tokens[self.position - 1]

    def at_number(self) -> bool:
        return self.token.kind == "number" or self.token.text in ("+", "-")

    def takes(self, mark: str) -> bool:
        """Go past the mark if it comes next."""
        found = self.token.kind == "mark" and self.token.text == mark
        self.position += found
        return found

    def needs(self, mark: str, expected: str) -> None:
        if not self.takes(mark):
            raise self.unexpected(expected)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise fault(
                self.text, self.token.start, f"found brackets more than {_DEEPEST} deep, expected fewer"
            )

    def unexpected(self, expected: str) -> InputError:
        return fault(self.text, self.token.start, f"found {self.token}, expected {expected}")


def _missing(kind: _Kind, name: str) -> str:
    """Say what to write for an argument that has no value."""
    if issubclass(kind, Leaf):
        call = f"{kind.__name__.lower()}({name}="
        remedy = f"{call}1.0) to fix it or {call}LogNormal(0, 1)) to learn it"
    else:
        remedy = f"{kind.__name__}({name}={'HalfNormal(1)' if kind is priors.Squared else '1.0'})"
    return f"found no {name} of {kind.__name__}, expected one; write {remedy}"
