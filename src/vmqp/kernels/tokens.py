r"""The words and signs of a kernel's text, and errors that point at a place in it.

>>> [token.text for token in tokens("2*gaussian(columns=['my lon', lat])")]
['2', '*', 'gaussian', '(', 'columns', '=', '[', "'my lon'", ',', 'lat', ']', ')', '']
>>> print(fault("gaussian(300", 12, "found the end, expected ')'"))
the kernel cannot be read: found the end, expected ')'
    gaussian(300
                ^
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from vmqp.errors import InputError

__all__ = ["Token", "fault", "shortened", "tokens", "unquoted"]

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<word>[^\W\d]\w*(?:[-./]\w+)*)
      | (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<mark>[-+*()\[\],=])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}


class Token(NamedTuple):
    """A piece of the text and where it starts; the kinds are number, word, quoted, mark and end."""

    kind: str
    text: str
    start: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else shortened(self.text)


def tokens(text: str) -> Iterator[Token]:
    """Yield the pieces of a text without the spaces between them, and one for its end."""
    start = 0
    while start < len(text):
        match = _TOKEN.match(text, start)
        if match is None:
            expected = "a name, a number or one of + * ( ) [ ] , ="
            if text[start] in "'\"":
                expected = "a second one that closes the quoted text"
            raise fault(text, start, f"found {text[start]!r}, expected {expected}")
        if match.lastgroup != "space":
            yield Token(str(match.lastgroup), match.group(), start)
        start = match.end()
    yield Token("end", "", len(text))


def unquoted(text: str, token: Token) -> str:
    r"""Return what a quoted piece of the text means; Python's ways to write a character with \ are known."""

    def character(match: re.Match[str]) -> str:
        *codes, letter = match.groups()
        code = next((int(digits, 16) for digits in codes if digits), None)
        if code is not None and code <= 0x10FFFF:
            return chr(code)
        if letter in _ESCAPED:
            return _ESCAPED[letter]
        at = token.start + 1 + match.start()
        raise fault(text, at, rf"found {match.group()!r}, expected \\ for a backslash")

    return _ESCAPE.sub(character, token.text[1:-1])


def fault(text: str, at: int, reason: str, failure: str = "cannot be read") -> InputError:
    """Make an error that shows the text around a place, with a caret below it."""
    line = "".join(character if character.isprintable() else " " for character in text)
    first, last = max(0, at - 60), at + 40
    before = ("… " if first > 0 else "") + line[first:at]
    after = line[at:last] + (" …" if last < len(line) else "")
    return InputError(f"the kernel {failure}: {reason}\n    {before}{after}\n    {' ' * len(before)}^")


def shortened(text: str) -> str:
    """Quote a text, without what follows its first 40 characters."""
    return repr(text if len(text) <= 40 else text[:40] + "…")
