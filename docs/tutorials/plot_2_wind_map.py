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

import matplotlib.pyplot as plt
import numpy as np

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
# ``fit`` learns from the stations; ``metric="geographic"`` measures distances on the earth, in kilometres, from
# longitude and latitude. Then the model predicts at the middles of the cells of a grid, each cell on its own: another
# grid would give the same answer wherever the two have a cell in common, and needs no more learning.

model = vmqp.CircularRegressor(period=360, metric="geographic", warmup=500, seed=1, progress=False)
model.fit(field.frame[places], direction)
post = model.posterior(field.grid[places])

# %%
# Can it be trusted?
# ------------------
#
# The verdict judges what was learned, and says how exact the mean directions of the map are.

print(textwrap.fill(str(post.verdict()), 100))
print(post.summary()[["mean", "lower", "upper", "rhat", "ess"]].round(3).to_string())

# %%
# The length scale is in kilometres.
#
# The answer
# ----------
#
# A predicted arrow is the shorter and the paler the less certain it is.

figure, ax = plt.subplots(figsize=(7.0, 5.8), layout="constrained")
vmqp.plots.arrows(
    post.X_new,
    post.mean,
    post.variance,
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
vmqp.plots.variance_map(post.X_new, post.variance, observed=post.X, names=("longitude", "latitude"), ax=ax)
ax.plot(*field.centre, "x", color="#D55E00", markersize=12, markeredgewidth=3)
plt.show()

# %%
# The orange cross is the true centre of the cyclone, which the model was not told. Two cells in words, the surest and
# the least sure:

for name, row in (("surest", post.variance.argmin()), ("least sure", post.variance.argmax())):
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

error = np.abs(vmqp.circle.difference(post.mean, field.grid["true_direction"], period=360))
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

sure = post.variance <= np.median(post.variance)
print(f"median error in the surer half:     {np.median(error[sure]):.0f} degrees")
print(f"median error in the less sure half: {np.median(error[~sure]):.0f} degrees")

# %%
# The held-out stations are the fair test of the probabilities, since predictions are those of a new reading, scatter
# included. The model that was learned predicts there too. Of the grid we only know the true direction, without the
# scatter of a reading.

at_stations = model.posterior(field.held_out[places])
reading = field.held_out["direction"]
print(f"held-out stations: 90 % arcs hold {at_stations.coverage(reading, 0.9):.2f} of the readings")
true_direction = field.grid["true_direction"]
print(f"grid:              90 % arcs hold {post.coverage(true_direction, 0.9):.2f} of the true directions")
print(f"CRPS at held-out stations: {at_stations.crps(reading, distance='arc').mean():.1f} degrees")

# %%
# Thirty stations are few: a share of 0.9 comes with a standard error of about 0.05. The truth without the scatter of a
# reading is easier to hold, so of the grid a little more than 0.9 is to be expected.
#
# Several locations at once
# -------------------------
#
# A map says how sure each arrow is. It does not say how arrows go together: if the wind is more westerly than expected
# in one cell, is it so in the next? A flight along a route asks that. ``simulate`` draws whole fields, each of which is
# one possible wind at all locations together. Here is a flight to the east along the southern edge and
# beyond the last stations, and the headwind on it: 1 where the wind comes from straight ahead, −1 where it comes from
# behind, averaged over the route.

route = np.column_stack([np.linspace(12.0, 16.0, 16), np.full(16, 47.0)])


def headwind(directions):
    """The mean over the route, for each draw; the flight heads east, to 90 degrees."""
    return np.cos(np.radians(directions - 90.0)).mean(axis=1)


for name, draws in (("together", model.simulate(route, draws=400)), ("one by one", model.sample(route, 400))):
    print(
        f"drawn {name:10s}: headwind {headwind(draws).mean():5.2f}, give or take {headwind(draws).std():.2f}"
    )

# %%
# The mean is nearly the same. What the locations have in common does not average out over a route, so that the spread
# is larger when they are drawn together: for a route take that one.
#
# The next hour
# -------------
#
# When new readings come in, the parameters need not be learned again each time. ``condition`` returns a model with the
# same parameters and the new observations. Say that an hour later the wind has veered by 20° at every station:

later = model.condition(field.frame[places], np.mod(direction + 20.0, 360.0))
moved = vmqp.circle.difference(later.predict(field.grid[places]), post.mean, period=360)
print(f"the map has turned by {np.median(moved):.1f} degrees in the middle case")

# %%
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
# The same in two steps, with a model that is kept: ``vmqp fit snapshot.csv … --out model/``, then ``vmqp predict model/
# --grid 20x15 --out run/`` as often as needed.
#
# ``run/`` then holds the predictions as a table, all draws, and a report to open in a browser. With ``--holdout 0.2``
# in place of ``--grid`` it predicts one in five of the stations from the others and scores itself. See
# :doc:`/command-line`.
#
# What to try next
# ----------------
#
# - :doc:`plot_6_space_time`: when the stations report every few hours.
# - :doc:`/scale`: maps of many thousands of locations.
# - :doc:`/peers`: the same map by other models, to compare.
# - :doc:`/howto/resume` and :doc:`/howto/cluster`: long runs.
