"""Draw angles given the parameters: one entry point, six samplers.

>>> import numpy as np
>>> from vmqp.sampling import sample_angles
>>> sample_angles(np.zeros((3, 3)), np.zeros((3, 2)), draws=5, sampler="heatbath").shape
(5, 3)
"""

from vmqp.sampling.entry import SAMPLERS, build_sampler, sample_angles, sample_angles_batch
from vmqp.sampling.random import seed_streams
from vmqp.sampling.sampler import Info, Sampler, State
from vmqp.sampling.target import Target, make_target
from vmqp.sampling.vonmises import sample_vonmises

__all__ = [
    "SAMPLERS",
    "Info",
    "Sampler",
    "State",
    "Target",
    "build_sampler",
    "make_target",
    "sample_angles",
    "sample_angles_batch",
    "sample_vonmises",
    "seed_streams",
]
