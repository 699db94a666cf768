"""
1. A first regression
=====================

A weather vane on a roof is read now and then while a storm passes. Within two days the wind turns round the compass
more than once, and for some hours nobody reads the vane. **Where did the wind come from in the hours between, and how
sure can we be?**

A line through the degrees will not do: 359° and 1° are neighbours, and a straight line, a spline or a common Gaussian
process does not know it. `vmqp.regress` does.
"""

# %%
# The data
# --------
#
# We make up the wind, so that we know the truth. It turns clockwise by about 12° an hour, sometimes faster and
# sometimes slower, and a reading strays from it by about 12°. From hour 26 to hour 34 there are no readings.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import vmqp

rng = np.random.default_rng(7)


def true_direction(hour):
    """Where the wind comes from, in degrees clockwise from north."""
    return np.mod(200.0 + 12.0 * hour + 35.0 * np.sin(hour / 6.0), 360.0)


def read_vane(hour):
    """A reading: the truth and some scatter."""
    scatter = np.degrees(rng.vonmises(0.0, 1.0 / np.radians(12.0) ** 2, np.shape(hour)))
    return np.mod(true_direction(hour) + scatter, 360.0)


hours = np.sort(np.concatenate([rng.uniform(0.0, 26.0, 26), rng.uniform(34.0, 48.0, 14)]))
readings = pd.DataFrame({"hour": hours, "direction": read_vane(hours)})
print(readings.head().round(1).to_string(index=False))

# %%
# Look at the data before you model them. The readings seem to jump from the top of the picture to its bottom. They do
# not: the top and the bottom are the same direction, north.

figure, ax = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
ax.plot(readings["hour"], readings["direction"], "ko", markersize=5)
ax.axvspan(26.0, 34.0, color="0.9", label="no readings")
ax.set(xlabel="hour", ylabel="direction (degrees)", ylim=(0, 360), yticks=range(0, 361, 90))
ax.legend(loc="lower right")
plt.show()

# %%
# The regression
# --------------
#
# There are two steps. ``fit`` learns from the readings: it needs their locations (here a location is an hour) and their
# angles. ``period=360`` says that the angles are degrees. This is the step that takes time. ``posterior`` then predicts
# wherever you ask, at once. (`vmqp.regress` does both in one call.)

model = vmqp.CircularRegressor(period=360, seed=1, progress=False)
model.fit(readings[["hour"]], readings["direction"])
asked = pd.DataFrame({"hour": np.arange(0.0, 49.0, 2.0)})
post = model.posterior(asked)
post

# %%
# Can it be trusted?
# ------------------
#
# What was learned is made of random draws from four Markov chains. Before you look at the answer, ask whether they
# agree. The verdict says it in a sentence or two. The last one tells how exact the mean directions are: a prediction is
# an average over some of the draws.

verdict = post.verdict()
print(verdict.trusted)
print(verdict)

# %%
# R-hat compares the chains with each other, and 1 means that they can't be told apart. The effective sample size, ESS,
# says how many independent draws the chains are worth. Both are there for every parameter that was learned:

print(post.diagnostics().round(3))

# %%
# If the verdict were no, it would say what to do, and ``fit`` would have ended with a `vmqp.ConvergenceWarning`. See
# :doc:`/howto/diagnostics`.
#
# The answer
# ----------
#
# For each hour there is a mean direction and an arc that holds 90 % of the probability:

print(post.to_frame().iloc[10:20].round(2).to_string(index=False))

# %%
# An arc runs from ``lower`` through growing angles to ``upper``. Where ``lower`` is larger than ``upper`` it passes
# through north, and that is right as it is: an arc from 350 to 20 is 30° wide. A picture shows it best. The band is
# narrow where there are readings and wide in the gap.

ax = post.plot()
ax.set_ylabel("direction (degrees)")
plt.show()

# %%
# The same for one hour, in words. Hour 30 is in the middle of the gap:

row = int(np.flatnonzero(asked["hour"] == 30.0)[0])
lower, upper = post.interval(0.9)[row]
west = post.probability(225.0, 315.0)[row]
print(f"At hour 30 the wind comes from about {post.mean[row]:.0f}°.")
print(f"With a probability of 90 % it comes from the arc from {lower:.0f}° to {upper:.0f}°.")
print(f"The probability that it is a west wind (225° to 315°) is {west:.2f}.")

# %%
# Another question costs no more learning. Every hour is predicted on its own, so that hour 30 has the same answer
# whether it is asked for alone or among others:

alone = model.posterior([[30.0]])
print(f"asked for alone: {alone.mean[0]:.4f}°, among {len(asked)} hours: {post.mean[row]:.4f}°")

# %%
# What was learned on the way? Each parameter has a name, an interval and a meaning. Their uncertainty is part of the
# predictions: nothing was plugged in.

table = post.summary()
print(table[["mean", "lower", "upper"]].round(3).to_string())
for name, meaning in table["meaning"].items():
    print(f"{name}: {meaning}")

# %%
# Is it right?
# ------------
#
# We know the truth, so we can look. The dashed curve is the wind as it was.

scale = vmqp.plots.Scale(360, origin=0.0)
ax = vmqp.plots.curve(
    asked["hour"],
    post.mean,
    *post.interval(0.9).T,
    scale=scale,
    truth=true_direction(asked["hour"].to_numpy()),
    label_x="hour",
    label_y="direction",
)
plt.show()

# %%
# A prediction is that of **a new reading**, scatter included. So the fair test is to read the vane again at the hours
# that we asked for. The mean error tells how far off the mean direction is. The CRPS judges the whole prediction, in
# degrees, and smaller is better. The coverage is the share of the new readings in the 90 % arcs: it should be near 0.9,
# and with so few readings it can't be exactly that.

again = read_vane(asked["hour"].to_numpy())
error = np.abs(vmqp.circle.difference(post.mean, again, period=360))
print(f"mean error {error.mean():.1f} degrees")
print(f"CRPS       {post.crps(again, distance='arc').mean():.1f} degrees")
print(f"coverage   {post.coverage(again, 0.9):.2f}")

# %%
# Is that good? Compare with something simpler: the last reading before each hour, or the first one for hours before it.

before = np.clip(np.searchsorted(hours, asked["hour"], side="right") - 1, 0, None)
last = readings["direction"].to_numpy()[before]
print(
    f"the last reading errs by {np.abs(vmqp.circle.difference(last, again, period=360)).mean():.1f} degrees"
)

# %%
# The default kernel takes the wind for rough: it may turn at any moment, and so the band is wide in the gap. This wind
# is smooth. If you know such a thing, say it. ``kernel="matern32 + nugget"`` is for smooth turning, and whether the
# data prefer it can be asked: see :doc:`/howto/compare`.
#
# What to try next
# ----------------
#
# - :doc:`plot_2_wind_map`: the same with two inputs, on the earth.
# - :doc:`/regression`: all that goes in and all that comes out.
# - :doc:`/sharp-bits`: where a newcomer trips.
# - :doc:`/explanation/model`: what is behind it.
