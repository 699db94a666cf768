"""Metropolis moves of a kernel's parameters where the likelihood is known, with the latent variables held fixed.

A model gives two functions. The first reduces its latent variables at a factor of the kernel matrix to some sums; the
second is the log-likelihood of these sums if the kernel matrix is multiplied by c. So a move along the common scale of
all variances costs nothing, and a proposal that is refused costs one factorization and no inverse.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from vmqp.chain import State
from vmqp.circle import FloatArray
from vmqp.errors import NotPositiveDefiniteError
from vmqp.learning import Problem
from vmqp.peers.locations import factor_of
from vmqp.peers.proposer import Proposer, start_proposer
from vmqp.precision import Cholesky, factorise
from vmqp.sampling.sampler import Streams

__all__ = ["ParameterWalk", "start_parameters", "start_walk"]

SumsAt = Callable[[Cholesky], Any]
LogLikelihood = Callable[[Any, float], float]

_CHEAP = 4
_SPREAD, _TRIES = 1.0, 20


class ParameterWalk:
    """The kernel's parameters of one chain, with the factor at the current ones."""

    def __init__(self, problem: Problem, warmup: int, state: State) -> None:
        self._problem = problem
        self.u, self._base = state["u"].copy(), state["base"].copy()
        self.iteration = int(state["iteration"])
        self._proposer = Proposer(state, self._problem.cheap_directions, warmup)
        factor = factor_of(problem, problem.values(self._base))
        assert factor is not None, "the state's parameters have a factor"
        self.factor: Cholesky = factor
        self.scale = self._scale(self.u)

    def state(self) -> State:
        """Pack into arrays."""
        own = {"u": self.u.copy(), "base": self._base.copy(), "iteration": np.array(self.iteration)}
        return own | self._proposer.state()

    @property
    def acceptance(self) -> list[float]:
        """Of the last proposal with a factorization, and of the last one without."""
        return list(self._proposer.acceptance)

    @property
    def values(self) -> dict[str, float]:
        """The learned parameters of the kernel by name."""
        return self._problem.values(self.u)

    def move(self, rng: Streams, sums_at: SumsAt, log_likelihood: LogLikelihood) -> None:
        """One proposal with a factorization, then some along the common scale."""
        if self.u.size:
            p, q = self._problem.cheap_directions.shape
            sums = sums_at(self.factor)
            for kind in ([0] if p > q else []) + [1] * (_CHEAP if q else 0):
                sums = self._attempt(rng, kind, sums, sums_at, log_likelihood)
            self._proposer.adapt(self.u, self.iteration)
        self.iteration += 1

    def _attempt(
        self, rng: Streams, kind: int, sums: Any, sums_at: SumsAt, log_likelihood: LogLikelihood
    ) -> Any:
        """Propose; return the sums at where the chain then stands."""
        proposal = self._proposer.propose(rng, self.u, kind, self.iteration)
        proposed = self._at(proposal.u, kind)
        gain, new = -math.inf, sums
        if proposed is not None:
            factor, scale = proposed
            new = sums if factor is self.factor else sums_at(factor)
            gain = log_likelihood(new, scale) - log_likelihood(sums, self.scale) + proposal.log_back
            gain += self._problem.log_prior(proposal.u) - self._problem.log_prior(self.u)
        if not self._proposer.judge(rng, kind, gain, self.iteration) or proposed is None:
            return sums
        if proposed[0] is not self.factor:
            self._base = proposal.u.copy()
        self.u, (self.factor, self.scale) = proposal.u, proposed
        return new

    def _at(self, u: FloatArray, kind: int) -> tuple[Cholesky, float] | None:
        if kind == 0:
            factor = factor_of(self._problem, self._problem.values(u))
            return None if factor is None else (factor, 1.0)
        scale = self._scale(u)
        return (self.factor, scale) if 1e-100 < scale < 1e100 else None

    def _scale(self, u: FloatArray) -> float:
        scale = self._problem.scale_of(u, self._base)
        assert scale is not None, "the move leaves the common scale"
        return scale


def start_parameters(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """Parameters u about the middle of their priors, where the kernel matrix has a factor."""
    priors = [problem.priors[name] for name in problem.exchanged]
    middle = np.array([float(prior.to_unconstrained(prior.typical())) for prior in priors])
    shift, spread = rng.standard_normal(len(middle)), _SPREAD
    for _ in range(_TRIES):
        u = middle + spread * shift
        if factor_of(problem, problem.values(u)) is not None and math.isfinite(problem.log_prior(u)):
            return u
        spread *= 0.7
    factorise(problem.bound.covariance(problem.values(middle)))
    raise NotPositiveDefiniteError(
        "no parameters near the middle of their priors give the observed locations a usable kernel matrix: "
        "add a kernels.Nugget, or remove locations that are closer than the kernel can tell apart."
    )


def start_walk(problem: Problem, rng: np.random.Generator) -> State:
    """The state of a walk before its first iteration."""
    u = start_parameters(problem, rng)
    return {"u": u, "base": u.copy(), "iteration": np.array(0)} | start_proposer(u)
