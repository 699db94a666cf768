"""
6. Places and time
==================

Six stations stand between the sea and the hills. On summer days a sea breeze blows: the wind turns once a day, strongly
at the coast and hardly inland. Each station reports now and then. **What will the wind be at a place without a station,
in hours that nobody measured?**

Two things have to be carried over: from station to place, and from one day to the next. A kernel over space times a
kernel over time does both.
"""

# %%
# The data
# --------
#
# The wind has two parts: a steady one from the south-west, and a breeze that turns through an ellipse once a day and
# fades inland. This is the truth, as a formula. Readings stray from it by about 12°, and there are 54 of them within
# two and a half days, at odd times.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import vmqp
from vmqp import convert, kernels, priors
from vmqp.run import Converged

rng = np.random.default_rng(5)


def true_direction(inland, hour):
    """Where the wind comes from, in degrees, so many km from the sea at an hour since midnight of the first day."""
    turn, breeze = 2.0 * np.pi * (hour - 15.0) / 24.0, 4.0 * np.exp(-inland / 40.0)
    east, north = 2.5 + breeze * np.cos(turn), 1.5 - 0.6 * breeze * np.sin(turn)
    return np.mod(np.degrees(np.arctan2(-east, -north)), 360.0)


def scatter(count):
    """What readings stray by."""
    return np.degrees(rng.vonmises(0.0, 1.0 / np.radians(12.0) ** 2, count))


stations = pd.DataFrame(
    {"inland": [3.0, 9.0, 18.0, 27.0, 38.0, 52.0], "along": [10.0, 42.0, 25.0, 5.0, 33.0, 18.0]}
)
reports = stations.iloc[rng.integers(0, len(stations), 54)].reset_index(drop=True)
minutes = np.sort(rng.integers(0, 60 * 60, len(reports)))
reports["time"] = pd.Timestamp("2024-07-01") + pd.to_timedelta(minutes, unit="min")
reports["direction"] = np.mod(
    true_direction(reports["inland"], minutes / 60.0) + scatter(len(reports)), 360.0
)
print(reports.head().to_string(index=False, float_format="{:.1f}".format))

# %%
# The model wants numbers, so the times become hours since a moment that we choose. Give the same moment for the
# observations and for what you ask.

start = "2024-07-01"
reports["hour"] = convert.elapsed(reports["time"], "hours", since=start)

figure, axes = plt.subplots(2, 1, figsize=(7.0, 5.4), sharex=True, sharey=True, layout="constrained")
for ax, near, title in zip(axes, (True, False), ("within 20 km of the sea", "further inland"), strict=True):
    shown = reports[(reports["inland"] < 20.0) == near]
    ax.plot(shown["hour"], shown["direction"], "ko", markersize=5)
    ax.axvspan(60.0, 96.0, color="0.9")
    ax.text(78.0, 45.0, "asked for", ha="center")
    ax.set(title=title, ylabel="direction (degrees)", ylim=(0, 360), xlim=(0, 96))
    ax.set(yticks=range(0, 361, 90), xticks=range(0, 97, 12))
axes[1].set_xlabel("hour since midnight of 1 July")
plt.show()

# %%
# Near the sea there is a daily pattern, inland there is less of it.
#
# The kernel
# ----------
#
# A kernel says which readings are alike. A **product** says that two conditions must hold together: near in space
# *and* at a similar time of day. ``columns=`` says which inputs a factor looks at. `vmqp.kernels.Periodic` takes 3
# o'clock today and 3 o'clock tomorrow for the same. Each prior says what is plausible before the data: distances of
# some tens of kilometres, and a pattern that changes within some hours.

inputs = ["inland", "along", "hour"]
strength, nugget = priors.HalfNormal(1.0), kernels.Nugget(priors.HalfNormal(0.1))
space = kernels.Matern32(priors.LogNormal(np.log(40.0), 0.5), columns=["inland", "along"])
day = kernels.Periodic(priors.LogNormal(0.0, 0.5), period=24.0, columns=["hour"])

# %%
# We ask for one place, 13 km from the sea, where there is no station, every three hours from noon of the third day to
# the end of the fourth. No station reported in these hours. To see what time is worth, a second model has the first
# factor only.
#
# ``Converged(ess=200)`` draws until 200 effective samples are there. The default of 400 gives the same picture, more
# smoothly.

asked = pd.DataFrame({"inland": 13.0, "along": 28.0, "hour": np.arange(60.0, 97.0, 3.0)})
options = {"period": 360, "warmup": 500, "until": Converged(ess=200), "seed": 1, "progress": False}
with_time = vmqp.regress(
    reports[inputs], reports["direction"], asked, kernel=strength * space * day + nugget, **options
)
without = vmqp.regress(
    reports[inputs], reports["direction"], asked, kernel=strength * space + nugget, **options
)

# %%
# Can they be trusted?
# --------------------

for name, post in (("with time", with_time), ("without", without)):
    print(f"{name}: {post.verdict()}")
print(with_time.summary()[["mean", "lower", "upper", "rhat", "ess"]].round(3).to_string())

# %%
# ``lengthscale_1`` belongs to space, in kilometres, and ``lengthscale_2`` to the time of day. The latter is measured
# on a circle of radius one, so that a value about 1 is a few hours.
#
# The answer
# ----------
#
# With time in the kernel the model foretells the breeze of the fourth day. Without it, it can only say what the wind is
# there on average, with an arc as wide as the whole day's turning.

scale = vmqp.plots.Scale(360, origin=0.0)
truth = true_direction(asked["inland"].to_numpy(), asked["hour"].to_numpy())
figure, axes = plt.subplots(2, 1, figsize=(7.0, 7.4), layout="constrained")
for ax, name, post in zip(axes, ("with time", "without time"), (with_time, without), strict=True):
    vmqp.plots.curve(
        asked["hour"],
        post.mean,
        *post.interval(0.9).T,
        scale=scale,
        truth=truth,
        label_x="hour since midnight of 1 July",
        label_y="direction",
        ax=ax,
    )
    ax.set_xticks(range(60, 97, 6))
    ax.set_title(name)
plt.show()

# %%
# One hour in words, three o'clock in the afternoon of the fourth day:

row = int(np.flatnonzero(asked["hour"] == 87.0)[0])
for name, post in (("with time", with_time), ("without time", without)):
    lower, upper = post.interval(0.9)[row]
    print(f"{name}: from {post.mean[row]:.0f}°, with 90 % probability between {lower:.0f}° and {upper:.0f}°.")
print(f"The truth is {truth[row]:.0f}°.")

# %%
# Is it right?
# ------------
#
# New readings at the asked hours judge both.

again = np.mod(truth + scatter(len(truth)), 360.0)
for name, post in (("with time", with_time), ("without time", without)):
    error = np.abs(vmqp.circle.difference(post.mean, again, period=360)).mean()
    crps, cover = post.crps(again, distance="arc").mean(), post.coverage(again, 0.9)
    print(f"{name:13s} mean error {error:4.1f}°, CRPS {crps:4.1f}°, 90 % arcs hold {cover:.2f}")

# %%
# On your own data there is no truth. Leave-one-out asks how well each reading is foretold by all others, and prefers a
# model by that; the better one stands first.

table = with_time.compare(without).rename(index={"this": "with time", "other": "without time"})
print(table[["elpd_loo", "elpd_difference", "difference_se"]].round(1).to_string())

# %%
# Where the model would be wrong
# ------------------------------
#
# The days of this page are all alike, and a periodic kernel takes them so: it would be as sure of a day next month. On
# real days the weather changes. Then multiply by a kernel that forgets, such as ``kernels.Exponential(72.0,
# columns=["hour"])``: hours are alike if they are the same time of day and not many days apart. Where there is no daily
# cycle at all, leave the periodic factor out.
#
# What to try next
# ----------------
#
# - :doc:`plot_2_wind_map`: one moment, the whole map.
# - :doc:`plot_4_time_of_day`: the time of day as what is predicted.
# - :doc:`/howto/own-kernel` and :doc:`/howto/own-prior`: other factors.
# - :doc:`/howto/compare`: comparing models on splits of the data.
# - :doc:`/learning`: how the parameters are learned.
