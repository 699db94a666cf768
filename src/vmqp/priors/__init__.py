"""Priors: a parameter is a number (fixed) or a prior (learned).

A prior knows its density p(x) on its support and a coordinate u without bounds in which a chain walks:

=======  ===========================  ====================================================
support  x(u)                         ``log |dx/du|``
=======  ===========================  ====================================================
(0, ∞)   exp u                        u
[a, b]   a + (b - a) / (1 + exp(-u))  log(b - a) - log(1 + exp(-u)) - log(1 + exp u)
(-π, π]  u, wrapped                   0
=======  ===========================  ====================================================

so that ``log_density(from_unconstrained(u)) + log_jacobian(u)`` is the log density of u, for any finite u.
Densities are normalised, and -inf outside the support. The half-line is open: its priors have no density at
0, where some would be infinite.

>>> prior = LogNormal(0, 1)
>>> u = prior.to_unconstrained(2.0)
>>> round(prior.log_density(prior.from_unconstrained(u)) + prior.log_jacobian(u), 4)  # u is normal
-1.1592
"""

from vmqp.priors.base import Prior
from vmqp.priors.families import (
    Fixed,
    Gamma,
    HalfNormal,
    InverseGamma,
    LogNormal,
    Squared,
    Uniform,
    UniformAngle,
    as_prior,
)

__all__ = [
    "Fixed",
    "Gamma",
    "HalfNormal",
    "InverseGamma",
    "LogNormal",
    "Prior",
    "Squared",
    "Uniform",
    "UniformAngle",
    "as_prior",
]
