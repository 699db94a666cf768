"""How good predictions were, once the truth is known: CRPS, PIT and coverage; and what a chain's draws are worth.

`draws` are angles in radians, (draws, m), from the predictive law of each of m places, and `truth` holds the
m angles that were then seen there. Draws of several chains are stacked: ``draws.reshape(-1, m)``. The width of arcs
is `vmqp.arcs.arc_width`, and the log score needs a density: `vmqp.posterior.Posterior.log_score`.

>>> import numpy as np
>>> rng = np.random.default_rng(1)
>>> truth = rng.vonmises(0, 4, size=3)
>>> draws = rng.vonmises(0, 4, size=(1000, 3))
>>> crps(draws, truth).shape, crps(draws, truth, distance="arc").shape, pit(draws, truth).shape
((3,), (3,), (3,))
"""

from vmqp.scores.calibration import coverage_band, covered, pit
from vmqp.scores.chains import relative_ess
from vmqp.scores.ranked import check_distance, crps

__all__ = ["check_distance", "coverage_band", "covered", "crps", "pit", "relative_ess"]
