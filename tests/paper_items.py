"""Items of the paper that take no time, for the tests of the frame and of the command."""

import sys
import types
import warnings
from importlib.machinery import ModuleSpec

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from vmqp.errors import ConvergenceWarning, InterruptedWarning
from vmqp.paper import catalogue
from vmqp.paper.catalogue import Item
from vmqp.paper.frame import Outcome, Setting


def put_in(monkeypatch) -> None:
    """Put two items that take no time in the place of the catalogue."""
    items = {}
    for name, maker in (("fig0", line), ("fig9", stops)):
        module = types.ModuleType(f"fakes.{name}")
        module.make = maker
        module.__spec__ = ModuleSpec(module.__name__, None)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        items[name] = Item(module.__name__, f"Figure {name[3:]}: nothing", "a line")
    package = types.ModuleType("fakes")
    package.__path__ = []
    monkeypatch.setitem(sys.modules, "fakes", package)
    monkeypatch.setattr(catalogue, "NAMES", items)


def line(setting: Setting) -> Outcome:
    figure = Figure(figsize=(3, 2))
    figure.add_subplot().plot([0, 1], [0, setting.seed])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.warn("not yet", ConvergenceWarning, stacklevel=2)
    return Outcome(
        figures={"fig0": figure},
        tables={"fig0": pd.DataFrame({"x": [0.1, np.nan], "what": ["a|b", "ü"]})},
        paper="A line.",
        ours=f"A line, {'short' if setting.quick else 'long'}.",
        agrees="yes: both are lines.",
        length="Two points.",
        facts={"rhat": np.float64(1.25), "draws": np.int64(7), "nothing": float("nan"), "word": "κ"},
    )


def stops(setting: Setting) -> Outcome:
    warnings.warn("stopped by Ctrl-C", InterruptedWarning, stacklevel=2)
    return line(setting)
