"""The default kernel: of several families, the one whose leave-one-out predictions are best.

Each candidate's parameters are fitted by the pseudo-likelihood, whose terms are the leave-one-out log densities at
these parameters. Their sum, less `PENALTY` for each parameter more than the least, decides; of those within `MARGIN` of
the best the first is taken, so that candidates are listed from simple to flexible and from rough to smooth. Many
observations are not needed for it: some hundred in groups of near ones tell how smooth the angles are.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from vmqp.circle import FloatArray
from vmqp.kernels import Kernel
from vmqp.learning import Problem
from vmqp.learning.optimum import Maximum
from vmqp.learning.pseudolikelihood import Observed, maximize, some_rows
from vmqp.linalg.threads import one_blas_thread
from vmqp.run import machine

__all__ = ["MARGIN", "PENALTY", "ROWS", "Selection", "select_kernel"]

ROWS, SHARE, MOST = 300, 0.1, 4000
"""Observations that the choice is made with: so many, or this share of them up to a bound."""
_GROUPS = 10  # of near ones
PENALTY = 3.0
"""Nats that an additional parameter has to gain: fits of angles that do not need it gain 1 to 2 on average."""

MARGIN = 1.0
"""Nats that say nothing: on the wind data the rough kernel predicts new stations better than others that gain less."""


@dataclass(frozen=True)
class Selection:
    """The kernel that was chosen, and all candidates, that one first."""

    kernel: Kernel
    maximum: Maximum
    """Its fit."""
    table: list[dict[str, float | str]]
    """Of each candidate: name, leave-one-out log density, and its difference from that of the chosen with its error."""

    def fit(self, problem: Problem, deadline: float = math.inf) -> Maximum:
        """The fit to all observations."""
        if problem.n <= ROWS:
            return self.maximum
        return maximize(problem, start=self.maximum.t, workers=machine.cores(), deadline=deadline)

    def to_text(self) -> str:
        """Write the table as JSON."""
        return json.dumps(self.table, ensure_ascii=False)


def select_kernel(candidates: Mapping[str, Kernel], problem_of: Callable[[Kernel], Problem]) -> Selection:
    """Fit all candidates and choose; `problem_of` makes the problem of one."""
    found: dict[str, tuple[float, FloatArray, Maximum]] = {}
    problems = {name: problem_of(kernel) for name, kernel in candidates.items()}
    first = next(iter(problems.values()))
    count = max(ROWS, min(int(SHARE * first.n), MOST))
    rows = some_rows(first, count, group=count // _GROUPS)  # the same for all: their terms are compared
    for name, problem in problems.items():
        maximum = maximize(problem, rows=rows)
        assert isinstance(maximum.search.objective, Observed)
        with one_blas_thread():
            terms = maximum.search.objective.pointwise(maximum.t)
        found[name] = float(terms.sum()) - PENALTY * len(problem.learned), terms, maximum
    most = max(score for score, _, _ in found.values())
    chosen = next(name for name in found if found[name][0] >= most - MARGIN)
    order = sorted(found, key=lambda name: (name != chosen, -found[name][0]))
    _, best, maximum = found[chosen]
    table: list[dict[str, float | str]] = []
    for name in order:
        terms = found[name][1]
        gap = terms - best
        error = math.sqrt(len(gap)) * float(np.std(gap))
        table.append(
            {"kernel": name, "elpd": float(terms.sum()), "difference": float(gap.sum()), "se": error}
        )
    return Selection(candidates[chosen], maximum, table)
