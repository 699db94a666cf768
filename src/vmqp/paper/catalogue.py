"""The names that ``vmqp paper`` knows, in the paper's order, and the module that makes each."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from vmqp.errors import InputError
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.sources import Kind
from vmqp.tables.words import nearest

__all__ = ["NAMES", "Item", "find", "list_items"]


@dataclass(frozen=True)
class Item:
    """One figure, table or passage of the paper.

    >>> item = list_items()["fig1"]
    >>> item.title, item.path
    ('Figure 1: transductive learning', 'vmqp.paper.fig1')
    """

    module: str
    """Its name in `vmqp.paper`, or a full one with dots."""
    title: str
    what: str
    """One line for the list."""
    data: tuple[Kind, ...] = ()
    """Which files of data it takes."""

    @property
    def path(self) -> str:
        """The full name of the module."""
        return self.module if "." in self.module else f"vmqp.paper.{self.module}"

    def maker(self) -> Callable[[Setting], Outcome]:
        """The function that makes it; heavy modules are loaded here and not before."""
        make: Callable[[Setting], Outcome] = import_module(self.path).make
        return make


NAMES: dict[str, Item] = {
    "fig1": Item(
        "fig1",
        "Figure 1: transductive learning",
        "seven observations; posterior of σ², l², κ, ν for 5 to 40 new locations",
    ),
    "fig2": Item(
        "fig2",
        "Figure 2: problems with maximum likelihood",
        "the two terms of the gradient with respect to κ, whose difference drowns in noise",
    ),
    "fig3": Item("fig3", "Figure 3: the choice of λ", "relative effective sample size against λ"),
    "fig4": Item(
        "fig4",
        "Figure 4: samplers compared",
        "autocorrelation of all samplers at equal CPU time, ours beside",
    ),
    "table1": Item(
        "table1",
        "Table 1: wind directions",
        "CRPS of six models for 10 to 40 % test stations, seven splits",
        ("wind",),
    ),
    "fig5": Item(
        "fig5",
        "Figure 5: the map of winds",
        "20 % of the stations held out; the variance on a grid, drawn jointly and one location at a time",
        ("wind",),
    ),
    "gait": Item(
        "gait",
        "Figures 6 and 7: the gait cycle",
        "phase from joint angles, transductive and one location at a time; its parameters",
        ("gait",),
    ),
    "traces": Item(
        "traces",
        "Figures S1 to S3: traces",
        "parameters of wind and gait, roses at four locations",
        ("wind", "gait"),
    ),
    "bridging": Item(
        "bridging", "The effect of bridging", "acceptance of parameter moves against the number of bridges"
    ),
}
"""Every item, in the paper's order."""


def list_items() -> dict[str, Item]:
    """The items whose module is there, in the paper's order.

    >>> "fig1" in list_items()
    True
    """
    return {name: item for name, item in NAMES.items() if find_spec(item.path) is not None}


def find(name: str) -> Item:
    """Return an item by its name.

    >>> find("figg1")
    Traceback (most recent call last):
    vmqp.errors.InputError: 'figg1' is not in the paper: did you mean 'fig1'? There are fig1, ...
    """
    items = list_items()
    if name not in items:
        raise InputError(
            f"{name!r} is not in the paper: did you mean {nearest(name, items)!r}? There are {', '.join(items)}."
        )
    return items[name]
