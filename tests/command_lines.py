"""Small tables and the usual command for the tests of the command line."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

# Only the drift is learned: the chains converge at once.
FIXED = "1.0 * exponential(lengthscale=2.0) + nugget(0.1)"
SHORT = ("--chains", "2", "--warmup", "60", "--draws", "60", "--allow-unconverged")
TINY = (*SHORT, "--quiet")


class Answer(NamedTuple):
    code: int
    out: str
    err: str


def write_stations(path: Path, rows: int = 24) -> Path:
    """Stations with a smooth field of directions; every eighth has none."""
    rng = np.random.default_rng(1)
    lon, lat = rng.uniform(8.0, 12.0, rows), rng.uniform(48.0, 52.0, rows)
    angle = np.mod(40.0 * (lon - 8.0) + 20.0 * (lat - 48.0) + 340.0 + rng.normal(0.0, 10.0, rows), 360.0)
    lines = ["name,lon,lat,dir"]
    for i in range(rows):
        lines.append(f"st{i},{lon[i]:.4f},{lat[i]:.4f},{f'{angle[i]:.1f}' if i % 8 else ''}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def predict(*more: str, file: str = "stations.csv") -> list[str]:
    """The usual command."""
    return ["predict", file, "--angle", "dir", "--inputs", "lon,lat", "--period", "360", *more]
