"""What a figure or table of the paper is made from (`Setting`) and what comes out (`Outcome`).

Each of the paper's figures and tables is one module beside this one, with a function ``make(setting) -> Outcome``.
It draws and counts but writes nothing: `vmqp.paper.write` puts pictures, numbers and text on disk.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Outcome", "Setting"]

_MANY = 100  # places, from which an iteration takes longer than threads can share


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How an item is to be made.

    >>> Setting(out=Path("paper/fig1"), quick=True).executor(47)
    'threads'
    """

    out: Path
    """The directory of this item, already made: for checkpoints, and for the results that are written afterwards."""
    quick: bool = False
    """Under 90 s on two cores, all told; a text that comes of it says that it was short."""
    engine: Any = None
    """None (chosen by the number of places), "threads", "processes", "dask://host:port", or an executor."""
    wind: Path | None = None
    """A table of winds, if one was given."""
    gait: Path | None = None
    """A table of gaits, if one was given."""
    progress: bool | None = None
    """As in `vmqp.run.run_chains`."""
    seed: int = 0

    def executor(self, places: int) -> Any:
        """What to hand to `regress`, `run_chains` or `compare`: processes from 100 places on, if left to us."""
        if self.engine is None or self.engine == "auto":
            return "processes" if places >= _MANY else "threads"
        return self.engine


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Pictures, numbers, and what they say beside the paper.

    >>> outcome = Outcome(paper="0.060", ours="0.061", agrees="yes: within the error", length="as long")
    >>> outcome.agrees, dict(outcome.figures)
    ('yes: within the error', {})
    """

    figures: Mapping[str, "Figure"] = field(default_factory=dict)
    """File stem -> figure; written as PNG and SVG."""
    tables: Mapping[str, "pd.DataFrame"] = field(default_factory=dict)
    """File stem -> numbers; written as CSV without the index."""
    paper: str
    """What the paper shows."""
    ours: str
    """What we got, with numbers."""
    agrees: str
    """'yes: …', 'in part: …' or 'no: …', with the reason."""
    length: str
    """How long the run was beside the paper's, in effective samples."""
    facts: Mapping[str, str | float | int] = field(default_factory=dict)
    """Draws, R-hat, …: they go into NAME.json with the versions, the seed and the wall time."""
