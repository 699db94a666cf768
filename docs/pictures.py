"""Makes the pictures of the documentation: ``python docs/pictures.py``."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import vmqp
from vmqp import datasets
from vmqp.run import Converged

HERE = Path(__file__).parent / "images"
INPUTS = ["longitude", "latitude"]


def wind() -> None:
    """The wind field of the demonstration: arrows, and the circular variance."""
    field = datasets.wind_field(stations=150, held_out=0, grid=(12, 10), seed=1)
    post = vmqp.regress(
        field.frame[INPUTS],
        field.frame["direction"],
        pd.DataFrame(field.grid[INPUTS]),
        period=360,
        metric="geographic",
        until=Converged(ess=200),
        draws=5000,
    )
    figure, axes = plt.subplots(1, 2, figsize=(12.0, 5.6), layout="constrained")
    post.plot_map(compass=True, ax=axes[0])
    post.plot_variance(ax=axes[1])
    HERE.mkdir(exist_ok=True)
    figure.savefig(HERE / "wind.png", dpi=110)


if __name__ == "__main__":
    wind()
