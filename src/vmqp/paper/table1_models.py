"""The six models of Table 1, and the paper's numbers for four of them."""

from typing import Any

from vmqp import kernels, priors
from vmqp.paper.frame import Setting
from vmqp.paper.wind_task import paper_kernel
from vmqp.peers import ProjectedGP, WrappedGP
from vmqp.regression import CircularRegressor
from vmqp.run import Converged

__all__ = ["ELEVATION", "LONGER", "NUGGET", "PAPER", "make_models"]

PAPER = {
    "wrapped GP": {0.1: (0.221, 0.086), 0.2: (0.283, 0.093), 0.3: (0.305, 0.175), 0.4: (0.399, 0.204)},
    "projected GP": {0.1: (0.067, 0.015), 0.2: (0.068, 0.009), 0.3: (0.063, 0.005), 0.4: (0.072, 0.009)},
    "vMQP Gaussian": {0.1: (0.057, 0.011), 0.2: (0.064, 0.006), 0.3: (0.066, 0.007), 0.4: (0.066, 0.010)},
    "vMQP exponential": {0.1: (0.058, 0.015), 0.2: (0.060, 0.004), 0.3: (0.057, 0.006), 0.4: (0.061, 0.008)},
}
"""Model -> fraction of test stations -> mean and standard deviation of the CRPS in ``tab:wind``."""

LONGER = {"warmup": 1500, "draws": 40_000, "seed": 1}
"""Options of a fit that is made again because its chains did not agree."""

NUGGET = "vMQP exponential, nugget"
ELEVATION = "vMQP exponential, nugget, elevation"
_ON_MAP = ("longitude", "latitude")
_DEGREES = priors.LogNormal(0.6, 1.0)  # half the median distance of the stations, within a factor e
_METRES = priors.LogNormal(
    6.0, 0.5
)  # 400 m within a factor 1.6: about as deep as the air that the ground slows down


def make_models(setting: Setting, *, elevation: bool) -> dict[str, Any]:
    """Models by name. The noiseless ones have the priors of ``app:wind_experiment``, in degrees as there.

    Those of the paper's process are transductive, as in the paper; the others need not be, for they are consistent.
    """
    run: dict[str, Any] = {"period": 360, "seed": setting.seed, "progress": False}
    if setting.quick:
        run |= {"chains": 2, "warmup": 100, "draws": 100}
    else:
        run |= {
            "chains": 4,
            "warmup": 500,
            "draws": 10_000,
            "until": Converged(rhat=1.02, rhat_angles=1.02, ess=200),
        }
    paper = run | {"transductive": True, "drift": "constant"}
    one, long = priors.HalfNormal(1.0), priors.Squared(priors.HalfNormal(1.0))
    plain = kernels.Exponential(long, columns=_ON_MAP)
    nugget = kernels.Nugget(priors.HalfNormal(0.1))
    map_kernel = one * kernels.Exponential(_DEGREES, columns=_ON_MAP)
    models: dict[str, Any] = {
        "wrapped GP": WrappedGP(kernel=one * plain, **run),
        "projected GP": ProjectedGP(kernel=1.0 * plain, **run),
        "vMQP Gaussian": CircularRegressor(kernel=paper_kernel(kernels.Gaussian, _ON_MAP), **paper),
        "vMQP exponential": CircularRegressor(kernel=paper_kernel(kernels.Exponential, _ON_MAP), **paper),
        NUGGET: CircularRegressor(kernel=map_kernel + nugget, **paper),
    }
    if elevation:
        height = kernels.Exponential(_METRES, columns=("elevation_m",))
        models[ELEVATION] = CircularRegressor(kernel=map_kernel * height + nugget, **paper)
    return models
