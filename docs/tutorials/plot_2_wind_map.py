"""
2. A map of the wind
====================

Weather stations report where the wind comes from. They stand where people live, and not on a grid. **What is the wind
between them, and where on the map should nobody believe the arrow?**

The second question is the harder one. In the middle of a cyclone the wind turns through all directions within a short
way, and a map of means alone would show an arrow there as bold as everywhere else.
"""

# %%
# The data
# --------
#
# `vmqp.datasets.wind_field` makes up the weather of a region: a cyclone, a front that trails from it, and waves over
# everything. The direction is that of meteorology, where the wind comes *from*, in degrees clockwise from north. A
# station's reading strays from the truth by about 10°. Few stations stand near the centre of the cyclone. Thirty
# further stations are held out for the test.

import textwrap
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import vmqp
from vmqp import datasets

field = datasets.wind_field(stations=90, held_out=30, grid=(14, 11), seed=1)
print(field.frame.head().round(2).to_string(index=False))

# %%
# The stations first. ``compass=True`` makes angles run clockwise from north. An arrow points to where the angle points,
# which for a wind is where it comes from.

places = ["longitude", "latitude"]
scale = vmqp.plots.Scale(360, origin=0.0, compass=True)
direction = field.frame["direction"]


def arrow(degrees):
    """The parts to the east and to the north of an arrow of length one."""
    return np.sin(np.radians(degrees)), np.cos(np.radians(degrees))


figure, ax = plt.subplots(figsize=(7.0, 5.6), layout="constrained")
ax.quiver(*field.frame[places].to_numpy().T, *arrow(direction), angles="uv", width=0.004, scale=28)
ax.plot(*field.frame[places].to_numpy().T, "k.", markersize=5, label="station")
ax.plot(
    *field.centre, "x", color="#D55E00", markersize=10, markeredgewidth=2.5, label="centre of the cyclone"
)
ax.set(xlabel="longitude", ylabel="latitude", aspect=1.0 / np.cos(np.radians(51.0)))
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
plt.show()

# %%
# The map
# -------
#
# We ask for the middles of the cells of a grid and for the held-out stations, all in one call.
# ``metric="geographic"`` measures distances on the earth, in kilometres, from longitude and latitude.
#
# ``stages=2`` is the way of maps: the parameters are learned with some of the places, and then the directions of all
# are drawn. Maps of more than 2,000 places are made like this by default; a small one can be too, and is done sooner.
# See :doc:`/scale`.
#
# More places are asked for than were observed, and the first time that this happens the package says something that you
# should know. Here it is caught and printed:

asked = pd.concat([field.grid[places], field.held_out[places]], ignore_index=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", vmqp.TransductiveWarning)
    post = vmqp.regress(
        field.frame[places],
        direction,
        asked,
        period=360,
        metric="geographic",
        stages=2,
        warmup=500,
        seed=1,
        progress=False,
    )
for warning in caught:
    print(textwrap.fill(str(warning.message), 100))

# %%
# What it says is a property of the model, which is explained in :doc:`/explanation/transductive`. For a map it means:
# choose the grid, and keep it while you compare.
#
# Can it be trusted?
# ------------------
#
# The verdict of a map judges the parameters, and the mean and the variance at every place.

print(textwrap.fill(str(post.verdict()), 100))
print(post.summary()[["mean", "lower", "upper", "rhat", "ess"]].round(3).to_string())

# %%
# The length scale is in kilometres.
#
# The answer
# ----------
#
# A predicted arrow is the shorter and the paler the less certain it is.

cells = np.arange(len(field.grid))
figure, ax = plt.subplots(figsize=(7.0, 5.8), layout="constrained")
vmqp.plots.arrows(
    post.X_new[cells],
    post.mean[cells],
    post.variance[cells],
    scale=scale,
    observed=(post.X, post.y),
    names=("longitude", "latitude"),
    ax=ax,
)
plt.show()

# %%
# And this is where not to believe it. The circular variance is 0 where the direction is sure, and 1 where it could be
# any.

figure, ax = plt.subplots(figsize=(7.0, 5.4), layout="constrained")
vmqp.plots.variance_map(
    post.X_new[cells], post.variance[cells], observed=post.X, names=("longitude", "latitude"), ax=ax
)
ax.plot(*field.centre, "x", color="#D55E00", markersize=12, markeredgewidth=3)
plt.show()

# %%
# The orange cross is the true centre of the cyclone, which the model was not told. Two cells in words, the surest and
# the least sure:

for name, row in (("surest", post.variance[cells].argmin()), ("least sure", post.variance[cells].argmax())):
    longitude, latitude = post.X_new[row]
    lower, upper = post.interval(0.9)[row]
    print(
        f"The {name} cell, {longitude:.1f}° E {latitude:.1f}° N: wind from {post.mean[row]:.0f}°, with 90 % "
        f"probability between {lower:.0f}° and {upper:.0f}°, clockwise; {post.width(0.9)[row]:.0f}° wide."
    )

# %%
# Is it right?
# ------------
#
# On the grid we know the true direction. The picture shows by how many degrees the predicted mean is off.

error = np.abs(vmqp.circle.difference(post.mean[cells], field.grid["true_direction"], period=360))
columns, rows = field.grid_shape
longitude, latitude = field.grid["longitude"].unique(), field.grid["latitude"].unique()
figure, ax = plt.subplots(figsize=(7.0, 5.2), layout="constrained")
shown = ax.pcolormesh(longitude, latitude, error.reshape(rows, columns), cmap="cividis", vmin=0.0, vmax=90.0)
figure.colorbar(shown, ax=ax, label="error of the mean (degrees; 90 or more: yellow)", ticks=range(0, 91, 30))
ax.plot(*post.X.T, "wo", markersize=4, markeredgecolor="k")
ax.plot(*field.centre, "x", color="#D55E00", markersize=12, markeredgewidth=3)
ax.set(xlabel="longitude", ylabel="latitude", aspect=1.0 / np.cos(np.radians(51.0)))
plt.show()

# %%
# Two places on the map can look alike in the mean and differ in worth. The variance knows it: split the cells into the
# surer and the less sure half.

sure = post.variance[cells] <= np.median(post.variance[cells])
print(f"median error in the surer half:     {np.median(error[sure]):.0f} degrees")
print(f"median error in the less sure half: {np.median(error[~sure]):.0f} degrees")

# %%
# The held-out stations are the fair test of the probabilities, since predictions are those of a new reading, scatter
# included. To score them alone, take the scores of all places and keep theirs. Of the grid we only know the true
# direction, without the scatter of a reading.

stations = np.arange(len(cells), len(asked))
truth = np.concatenate([field.grid["true_direction"], field.held_out["direction"]])
lower, upper = post.interval(0.9).T
inside = vmqp.arcs.in_arc(truth, lower, upper, 360)
print(f"held-out stations: 90 % arcs hold {inside[stations].mean():.2f} of the readings")
print(f"grid:              90 % arcs hold {inside[cells].mean():.2f} of the true directions")
print(f"CRPS at held-out stations: {post.crps(truth, distance='arc')[stations].mean():.1f} degrees")

# %%
# Thirty stations are few: a share of 0.9 comes with a standard error of about 0.05. The truth without the scatter of a
# reading is easier to hold, so of the grid a little more than 0.9 is to be expected.
#
# The same in the shell
# ---------------------
#
# The command line does the same with a table of stations. This reads the files of the German weather service from a
# folder (without ``--folder`` it downloads them), makes a table of one moment, and predicts on a grid:
#
# .. code-block:: sh
#
#    vmqp data dwd --folder files/ --at 2024-05-01T12:00 --out snapshot.csv
#    vmqp predict snapshot.csv --angle direction --inputs lon,lat --period 360 \
#        --metric geographic --grid 20x15 --out run/
#
# ``run/`` then holds the predictions as a table, all draws, and a report to open in a browser. With ``--holdout 0.2``
# in place of ``--grid`` it predicts one in five of the stations from the others and scores itself. See
# :doc:`/command-line`.
#
# What to try next
# ----------------
#
# - :doc:`plot_6_space_time`: when the stations report every few hours.
# - :doc:`/scale`: maps of many thousands of places, within a bound on memory.
# - :doc:`/peers`: the same map by other models, to compare.
# - :doc:`/howto/resume` and :doc:`/howto/cluster`: long runs.
