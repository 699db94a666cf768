"""The words of messages: the nearest name, a short form of any value, a list that does not fill the screen.

>>> nearest("Longitude", ["lat", "lon", "longitude_deg"])
'longitude_deg'
>>> listed(["lon", "lat"])
"'lon', 'lat'"
"""

import difflib
from collections.abc import Iterable
from itertools import islice
from typing import Any

__all__ = ["listed", "nearest", "shown"]

# difflib takes quadratic time: names beyond these lengths and numbers are not told apart.
_LONGEST = 100
_MOST = 1000


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return the choice that is spelled most like the name, capitals or not; "" where there is no choice.

    >>> nearest("latitute", ["longitude", "latitude"])
    'latitude'
    >>> nearest("wdir", ["WSPD", "WDIR"])
    'WDIR'
    >>> nearest("x", [])
    ''
    """
    spelled = {choice[:_LONGEST].casefold(): choice for choice in islice(choices, _MOST)}
    near = difflib.get_close_matches(name[:_LONGEST].casefold(), spelled, n=1, cutoff=0.0)
    return spelled[near[0]] if near else ""


def shown(value: Any) -> str:
    """Return the value as Python writes it, cut at 40 characters; of a value that cannot be written, its type.

    >>> shown("n/a"), shown(float("nan"))
    ("'n/a'", 'NaN')
    >>> len(shown(list(range(1000))))
    40
    """
    try:
        if (
            isinstance(value, int) and value.bit_length() > 1000
        ):  # Python refuses to write thousands of digits
            return f"an integer of {value.bit_length()} bits"
        text = repr(value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value)
    except Exception:  # a __repr__ of somebody else may raise anything
        text = f"an object of type {type(value).__name__}"
    if text in ("nan", "<NA>", "NaT", "masked", "None"):
        return "NaN" if text == "nan" else text
    return text if len(text) <= 40 else text[:37] + "..."


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return the names in quotation marks with commas between; beyond `most`, the first ones and how many more.

    >>> listed("abcd", most=2)
    "'a', 'b' and 2 more"
    """
    every = [shown(name) for name in names]
    rest = len(every) - most
    return ", ".join(every[:most]) + (f" and {rest} more" if rest > 0 else "")
