"""The seven observations behind the paper's figures 1 to 4, and the model on them.

The paper does not publish its observations, so these are our own. They hold three pairs of near places whose angles
differ, which keeps the length scale short, and their unit vectors nearly cancel, which leaves the direction ν of the
drift open. The curve through them crosses the cut at ±π.

The Gaussian kernel has no nugget and the paper's priors (``app:wind_experiment``): half-normal with variance 1 on σ²,
l² and κ, uniform on ν.
"""

import warnings
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from vmqp import kernels, model, priors
from vmqp.circle import FloatArray
from vmqp.errors import ConvergenceWarning
from vmqp.learning import Learner, Method, Problem, make_problem
from vmqp.learning.objective import precision_and_field
from vmqp.learning.optimum import Maximum
from vmqp.paper.frame import Setting
from vmqp.run import Converged, run_chains
from vmqp.run.diagnostics import blocks
from vmqp.sampling import Target, make_target

__all__ = [
    "ANGLES",
    "LONGER",
    "PLACES",
    "TYPICAL",
    "Draws",
    "learn",
    "new_places",
    "observations",
    "problem",
    "target",
]

PLACES = np.array([1.2, 1.7, 3.3, 5.2, 5.7, 7.7, 8.2])
ANGLES = np.array([2.8, 0.7, -0.6, -2.9, -0.7, 0.8, 3.1])
LENGTH = 10.0
"""New places divide the axis from 0 to this."""

TYPICAL = {"variance": 1.0, "lengthscale": 0.2, "concentration": 0.3, "direction": 0.0}
"""Parameters near the posterior mean for m = 10, for the figures that look at the angles alone."""

CLOSE = TYPICAL | {"lengthscale": 0.12, "concentration": 0.2}
"""Those for m = 40: the length scale is shorter."""

LONGER = 0.7
"""A length scale at which the coupling is felt; the paper states neither its observations nor its parameters."""

_LENGTH_PRIOR = priors.Squared(priors.HalfNormal(1.0))
_CONDITION = 1e3  # of the kernel matrix at which chains start
# Moves of σ² and κ alone are no help where l is what mixes slowly. With inner chains that go on where they ended a
# third of the chains for m = 40 ended at ten times the l² that chains with 400 inner steps from either start find.
_METHOD = Method(cheap_moves=1, inner_start="aligned")


def new_places(m: int) -> FloatArray:
    """The middles of m equal parts of the axis.

    >>> new_places(5)
    array([1., 3., 5., 7., 9.])
    """
    return np.asarray((np.arange(m) + 0.5) * LENGTH / m)


def observations() -> pd.DataFrame:
    """The seven observations as a table."""
    return pd.DataFrame({"x": PLACES, "angle": ANGLES})


def problem(m: int, lengthscale: priors.Prior = _LENGTH_PRIOR) -> Problem:
    """The model on the observations and m new places."""
    kernel = priors.HalfNormal(1.0) * kernels.Gaussian(lengthscale)
    return make_problem(
        PLACES[:, None],
        ANGLES,
        new_places(m)[:, None],
        kernel=kernel,
        drift="constant",
        concentration=priors.HalfNormal(1.0),
    )


def target(m: int, **changed: float) -> Target:
    """The density of the m new angles (``eq:conditional_density``) at `TYPICAL` parameters, some of them changed.

    >>> target(10).size
    10
    """
    whole = problem(m)
    M, field = precision_and_field(whole, TYPICAL | changed)
    part = model.conditional(M, whole.observed, field)
    return make_target(part.Q, part.rho)


class WellConditioned(Learner):
    """A learner whose chains start where the kernel matrix of all places is well conditioned.

    The maximum pseudo-likelihood knows the seven observed places only. Its length scale is several times the distance
    of the new ones where they are many, and no chain could start there.
    """

    @cached_property
    def maximum(self) -> Maximum:
        """The maximum pseudo-likelihood, with a shorter length scale where that is needed."""
        found: Maximum = Learner.maximum.func(self)  # type: ignore[attr-defined]
        own, u = self.problem, found.u.copy()
        row = own.exchanged.index("lengthscale")
        while np.linalg.cond(own.bound.covariance(own.kernel_values(own.values(u)))) > _CONDITION:
            u[row] -= 0.1
        return found.moved(u)


class Draws(NamedTuple):
    """What chains at m new places gave."""

    parameters: dict[str, FloatArray]
    """σ², l², κ, ν by these letters, (chains, draws)."""
    angles: FloatArray
    """At new places, (chains, draws, m)."""
    rhat: dict[str, float]
    """Of each parameter; of an angle the larger of its cosine's and sine's."""
    ess: dict[str, float]


def learn(setting: Setting, m: int, *, draws: int, warmup: int, ess: float) -> Draws:
    """Draw parameters and angles at m new places until the chains agree and `ess` is reached, at most `draws`."""
    task = WellConditioned(problem(m), _METHOD, warmup=warmup)
    # Iterations are short and mostly Python's, which threads cannot share; a long run pays for starting processes.
    long = setting.engine is None and not setting.quick
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # R-hat stands in every text and table
        tree = run_chains(
            task,
            draws=draws,
            seed=setting.seed,
            executor="processes" if long else setting.executor(m + len(PLACES)),
            progress=setting.progress,
            until=Converged(rhat=1.01, rhat_angles=1.02, ess=ess, first=min(draws, 1000)),
        )
    found = {name: np.asarray(tree["posterior"][name].values) for name in TYPICAL}
    letters = {
        "σ²": found["variance"],
        "l²": found["lengthscale"] ** 2,
        "κ": found["concentration"],
        "ν": found["direction"],
    }
    health = {block.name: (block.rhat().max(), block.ess().min()) for block in blocks(letters, {}, {"ν"})}
    return Draws(
        letters,
        np.asarray(tree["posterior"]["angle"].values),
        {name: float(pair[0]) for name, pair in health.items()},
        {name: float(pair[1]) for name, pair in health.items()},
    )
