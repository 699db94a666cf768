"""What a notebook shows for a posterior: the verdict, the parameters, and the first predictions."""

from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from vmqp.posterior.posterior import Posterior

__all__ = ["page"]

_ROWS = 8
_GOOD, _BAD = "#00563f", "#8c2d04"  # dark enough to read on white, told apart by their words


def page(posterior: "Posterior") -> str:
    """A short piece of HTML."""
    verdict = posterior.verdict()
    headline = "These draws can be trusted." if verdict.trusted else "Do not trust these numbers yet."
    colour = _GOOD if verdict.trusted else _BAD
    parts = [
        f"<p><strong>{escape(repr(posterior))}</strong></p>",
        f'<p style="color: {colour}"><strong>{headline}</strong> {escape(str(verdict))}</p>',
        _table(posterior.summary().drop(columns="meaning")),
    ]
    m = len(posterior.X_new)
    if m:
        frame = pd.DataFrame({name: list(values) for name, values in _columns(posterior).items()})
        more = f" The first {_ROWS} of {m} places; to_frame() has all." if m > _ROWS else ""
        unit = f" in {posterior.unit}" if posterior.unit else ""
        parts.append(f"<p>Predictions{unit}: circular mean, circular variance and 90 % arc.{more}</p>")
        parts.append(_table(frame.head(_ROWS)))
    return f"<div>{''.join(parts)}</div>"


def _columns(posterior: "Posterior") -> dict[str, Any]:
    frame = posterior.to_frame()
    return {str(name): frame[name] for name in frame.columns}


def _table(frame: pd.DataFrame) -> str:
    return str(frame.to_html(float_format=lambda value: f"{value:.4g}", border=0, escape=True))
