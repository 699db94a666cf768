"""Posteriors with draws of our choice, for tests that need no chains."""

import numpy as np
import xarray as xr

from vmqp.posterior import Facts, Posterior
from vmqp.tables import AngleRange

SEED = 20261116


def made(
    angles,
    *,
    fields=None,
    parameters=None,
    noise=None,
    observed=(0.1, 0.2, 0.3),
    X=None,
    period=360.0,
    centred=False,
    log_likelihood=None,
    **facts,
):
    """A posterior of draws in radians, (chains, draws, m); `fields` are complex, of the same shape."""
    chains, draws, m = angles.shape
    n = len(observed)
    places = np.arange(n + m)
    coords = {"chain": np.arange(chains), "draw": np.arange(draws)}
    variables = {name: (("chain", "draw"), values) for name, values in (parameters or {}).items()}
    variables["angle"] = (("chain", "draw", "angle_place"), angles)
    groups = {"posterior": xr.Dataset(variables, coords={**coords, "angle_place": places[n:]})}
    if fields is not None:
        dims = ("chain", "draw", "x_place"), ("chain", "draw", "y_place")
        parts = {"x": (dims[0], fields.real), "y": (dims[1], fields.imag)}
        groups["field"] = xr.Dataset(parts, coords={**coords, "x_place": places[n:], "y_place": places[n:]})
    if log_likelihood is not None:
        own = {"angle": (("chain", "draw", "angle_place"), log_likelihood)}
        groups["log_likelihood"] = xr.Dataset(own, coords={**coords, "angle_place": places[:n]})
    groups["observed_data"] = xr.Dataset({"angle": ("angle_dim_0", np.asarray(observed))})
    inputs = np.arange(float(n + m))[:, None] if X is None else X
    given = {"X": (("X_dim_0", "X_dim_1"), inputs)}
    if noise is not None:
        given["noise"] = ((), np.asarray(noise))
    groups["constant_data"] = xr.Dataset(given)
    tree = xr.DataTree.from_dict(groups)
    tree.attrs |= {
        "seed": SEED,
        "stopped": "draws",
        "kernel": "1.0 * Exponential(lengthscale=1.0)",
        "creation_library": "vmqp",
        "creation_library_version": "0",
    }
    return Posterior(tree, Facts(AngleRange(period, centred, "degrees" if period == 360.0 else ""), **facts))
