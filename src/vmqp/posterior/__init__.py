"""The result of a regression: predictions, scores, diagnostics, tables, files and pictures."""

from vmqp.posterior.diagnostics import Verdict
from vmqp.posterior.facts import Facts
from vmqp.posterior.loo import LeaveOneOut
from vmqp.posterior.posterior import Posterior, load

__all__ = ["Facts", "LeaveOneOut", "Posterior", "Verdict", "load"]
