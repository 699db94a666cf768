"""The targets on which samplers are compared: 260 stations, priors and posteriors."""

import csv
from pathlib import Path

import numpy as np

from vmqp import kernels, model
from vmqp.precision import factorise
from vmqp.sampling import Target, make_target

WIND = Path(__file__).resolve().parents[2] / "shared" / "data" / "wind_germany.csv"


def stations() -> tuple[np.ndarray, np.ndarray, str]:
    """Places (260, 2), directions in radians, and where they come from."""
    if WIND.exists():
        with WIND.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        places = np.array([[float(row["longitude"]), float(row["latitude"])] for row in rows])
        return places, np.array([float(row["dir_rad"]) for row in rows]), "wind directions at 260 stations"
    rng = np.random.default_rng(18)
    places = np.array([[6.0, 47.3]]) + np.array([[9.0, 7.7]]) * rng.random((260, 2))
    return places, np.sin(places[:, 0]) + np.cos(places[:, 1]), "260 generated places"


def problems() -> dict[str, Target]:
    """Targets by name; a prior has all 260 angles free, a posterior 52 of them."""
    places, directions, _ = stations()
    new = np.random.RandomState(18).choice(260, 52, replace=False)
    order = np.concatenate([np.setdiff1d(np.arange(260), new), new])
    targets = {}
    for label, kernel in (
        ("exponential l=1", kernels.Exponential(1.0)),
        ("Gaussian l=0.3", kernels.Gaussian(0.3)),
        ("Gaussian l=0.55", kernels.Gaussian(0.55)),
    ):
        precision = factorise(kernel.bind(places[order]).covariance({}))
        nothing = np.zeros((260, 2))
        if label != "Gaussian l=0.55":
            part = model.conditional(precision.M, directions[order][:208], nothing)
            targets[f"posterior m=52, {label}"] = make_target(part.Q, part.rho)
        targets[f"prior d=260, {label}"] = make_target(precision.M, nothing)
        if label == "exponential l=1":
            drift = model.drift_field(precision.M, 2.0, 0.0, "constant")
            targets[f"prior d=260, {label}, drift 2"] = make_target(precision.M, drift)
    return targets
