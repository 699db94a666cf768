"""Entries of a legend that look like the arrows of a map."""

from typing import Any

from matplotlib.legend_handler import HandlerBase
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrow

__all__ = ["ArrowKey", "ArrowKeyHandler"]

_SHAFT = 0.1
_HEAD = 0.36


class ArrowKey(Line2D):
    """An arrow of the legend: its share of the longest one, its colours, and whether it has a head and a dot."""

    def __init__(
        self, label: str, share: float, ink: dict[str, Any], *, head: bool, dot: bool = False
    ) -> None:
        super().__init__([], [], label=label)
        self.share, self.ink, self.head, self.dot = share, ink, head, dot


class ArrowKeyHandler(HandlerBase):
    """Draws an :class:`ArrowKey`: an arrow, or a dot where an arrow would be too short."""

    def create_artists(
        self,
        legend: Any,
        orig_handle: Any,
        xdescent: float,
        ydescent: float,
        width: float,
        height: float,
        fontsize: float,
        trans: Any,
    ) -> list[Any]:
        """Make the artists of one entry, in points from its lower left corner."""
        key, middle = orig_handle, -ydescent + height / 2
        length = key.share * width
        start = -xdescent + (width - length) / 2
        artists: list[Any] = []
        if key.dot:
            dot = start if key.head else start + length / 2
            artists.append(Line2D([dot], [middle], marker="o", markersize=4, color=key.ink["facecolor"]))
        if length <= 2 * _SHAFT * width:
            ink = {
                "markerfacecolor": key.ink["facecolor"],
                "markeredgecolor": key.ink.get("edgecolor", key.ink["facecolor"]),
                "markeredgewidth": key.ink["linewidth"],
            }
            size = 2 * _SHAFT * width
            artists.append(Line2D([start + length / 2], [middle], marker="o", markersize=size, **ink))
        else:
            head = min(_HEAD * width, 0.6 * length) if key.head else 0.0
            shape: dict[str, Any] = {"width": _SHAFT * width, "head_length": head, "head_width": 0.9 * head}
            ink = {"edgecolor": "none", **key.ink}
            artists.append(FancyArrow(start, middle, length, 0.0, length_includes_head=True, **shape, **ink))
        for artist in artists:
            artist.set_transform(trans)
        return artists
