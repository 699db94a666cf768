"""A posterior that knows its answers, and contents that show every part of a page."""

import io
from functools import cache
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from vmqp import arcs, circle
from vmqp.errors import InputError
from vmqp.report.content import (
    Call,
    Column,
    Content,
    Dial,
    Fact,
    Measure,
    Picture,
    Place,
    Predictions,
    Term,
    Verdict,
)


@cache
def png():
    figure = Figure(figsize=(4, 3))
    figure.add_subplot().plot(np.random.default_rng(0).normal(size=50))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def make_page_content(count=60, **changes):
    """All sections; means in random order with some missing, so that a sort of text would be seen."""
    rng = np.random.default_rng(5)
    mean = rng.uniform(0, 360, count)
    mean[[3, 7]] = np.nan
    rows = tuple(
        (
            f"Station {i}",
            float(rng.normal(scale=50)),
            float(mean[i]),
            float(rng.uniform()),
            float((mean[i] - 20) % 360),
            float((mean[i] + 30) % 360),
        )
        for i in range(count)
    )
    table = Predictions(
        (
            Column("place", "Its name.", numeric=False),
            Column("east"),
            Column("mean", "The best guess.", digits=1),
            Column("variance", "0 is certain.", digits=3),
            Column("lower", digits=1),
            Column("upper", digits=1),
        ),
        rows,
        Dial(2, 4, 5, 360.0, compass=True),
    )
    picture = Picture("A map", "All places.", png(), "Some arrows")
    given = {
        "title": "Wind",
        "question": ("What is the direction?",),
        "verdict": Verdict(True, "These predictions can be trusted", ("The chains agree.",)),
        "predictions": table,
        "facts": (Fact("Observed", "200"),),
        "reading": ("Angles go round.",),
        "highlighted": (
            Place("Bergen", "A typical place", ("At Bergen it is 35°.",), Picture("", "A rose", png(), "R")),
            Place("Kiel", "The place known best", ("At Kiel it is 35°.",)),
        ),
        "overview": (picture,),
        "pictures": (picture,),
        "scores": (Measure("90 % arcs", ("92 %",), "of the truths.", True),),
        "parameter_columns": ("mean",),
        "parameters": (Measure("nugget", ("0.1",), "Scatter."),),
        "diagnostic_columns": ("R-hat", "ESS"),
        "diagnostics": (Measure("nugget", ("1.002", "900"), "the chains agree.", True),),
        "remarks": ("These places were predicted together.",),
        "calls": (Call("Python", "vmqp.regress(X, y, X_new, period=360)"),),
        "versions": (Fact("vmqp", "0"),),
        "glossary": (Term("Arc", "A piece of the circle."),),
    }
    return Content(**given | changes)


class FakeRange(SimpleNamespace):
    def to_radians(self, values):
        return circle.to_radians(values, self.period)


class FakePosterior:
    """The part of a posterior that a report asks for, from joint draws about known directions."""

    joint, fast = True, False
    kernel_choice = pd.DataFrame(columns=["elpd", "difference", "se"])

    def __init__(
        self, centres, spreads, *, trusted=True, stopped="draws", period=360.0, unit="degrees", **given
    ):
        rng = np.random.default_rng(1)
        m = len(centres)
        kappa = 1 / np.square(np.asarray(spreads, dtype=float))
        turns = np.asarray(centres, dtype=float) / period * 2 * np.pi
        self.draws = circle.from_radians(rng.vonmises(turns, kappa, (4, 250, m)), period, 0.0)
        self.range = FakeRange(period=period, centred=False, unit=unit, origin=0.0)
        self.period, self.unit, self.stopped = period, unit, stopped
        self.X, self.y = rng.uniform(size=(9, 2)), rng.uniform(0, period, 9)
        self.X_new = given.get("X_new", rng.uniform(size=(m, 2)))
        self.column_names = given.get("column_names", ("longitude", "latitude"))
        self.categories = given.get("categories", {})
        self.call = "vmqp.regress(X, y, X_new, period=360, seed=7)"
        self.attributes = {"kernel": "Exponential + Nugget", "seed": 7, "sampling_time": 1.5}
        self.parameters = {"lengthscale": rng.gamma(5, size=(4, 250)), "nugget": rng.gamma(2, size=(4, 250))}
        self._verdict = SimpleNamespace(
            trusted=trusted, sentences=given.get("sentences", ("The chains agree.",))
        )
        self.rhat = 1.001 if trusted else 1.7
        self.drawn = []

    def draws_at(self, rows):
        return self.draws[..., rows]

    @property
    def mean(self):
        return circle.mean(self._flat(), axis=0, period=self.period, origin=0.0)

    @property
    def variance(self):
        return circle.variance(self._flat(), axis=0, period=self.period)

    def _flat(self):
        return self.draws.reshape(-1, self.draws.shape[2])

    def interval(self, probability=0.9):
        return arcs.shortest_arc(self._flat(), probability, axis=0, period=self.period, origin=0.0)

    def crps(self, truth, distance="cosine"):
        from vmqp import scores

        draws, aim = self.range.to_radians(self._flat()), self.range.to_radians(truth)
        unit = self.period / (2 * np.pi) if distance == "arc" else 1.0
        return unit * scores.crps(draws, aim, distance=distance)

    def verdict(self):
        return self._verdict

    def diagnostics(self):
        names = [*self.parameters, *(f"angle[{i}]" for i in range(len(self.X_new)))]
        ess = 900.0 if self._verdict.trusted else 12.0
        return pd.DataFrame({"rhat": self.rhat, "ess": ess}, index=names)

    def summary(self, probability=0.9):
        rows = {name: (draws.mean(), draws.std()) for name, draws in self.parameters.items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "sd"])

    def plot(self, *, probability=0.9, compass=False):
        return self._plot("plot")

    def plot_map(self, *, compass=False):
        return self._plot("plot_map")

    def plot_variance(self):
        return self._plot("plot_variance")

    def plot_parameters(self, *, compass=False):
        return np.array([[self._plot("plot_parameters")]])

    def plot_calibration(self, y_true):
        return self._plot("plot_calibration")

    def plot_autocorrelation(self):
        raise InputError("too few draws")

    def _plot(self, name):
        self.drawn.append(name)
        ax = plt.subplots()[1]
        ax.plot([0, 1, 2], [0, 1, 0])
        return ax


@pytest.fixture
def page_content():
    return make_page_content


@pytest.fixture
def fake_posterior():
    return FakePosterior
