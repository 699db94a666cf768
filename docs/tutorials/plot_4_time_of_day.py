"""
4. The time of day
==================

Eight people wear a wristband that notes when they fall asleep. Some nights are in summer and some in winter, and on
some evenings they sit in bright light. **When will somebody fall asleep on another night, and how much does the light
delay it?**

Times of day are angles: 23:50 and 0:10 are twenty minutes apart. With a period of 24 hours that is all that the
regression has to be told.
"""

# %%
# The data
# --------
#
# Measurements come as dates and times. We take those of `vmqp.datasets.circadian_times`, which makes up people whose
# true mean hour is known, and write them as a wristband would.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import vmqp
from vmqp import convert, datasets, kernels, priors
from vmqp.run import Converged

sleep = datasets.circadian_times(subjects=8, nights=12, held_out=3, seed=1)


def as_dates(nights):
    """When sleep began, as a date and a time; what is after midnight belongs to the evening before."""
    late = nights["hour"] < 12.0
    days = nights["day_of_year"] - 1.0 + late + nights["hour"] / 24.0
    return (pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D")).dt.floor("min")


nights = sleep.frame.assign(asleep=as_dates(sleep.frame))[["subject", "asleep", "light"]]
print(nights.head().to_string(index=False))

# %%
# `vmqp.convert.phase` turns a date into where it is in a cycle: the hour of the day, which is to be predicted, and the
# day of the year, which is an input. The season hardly changes overnight, so it does not matter here that some nights
# begin after midnight.

nights["hour"] = convert.phase(nights["asleep"], "day")
nights["season"] = convert.phase(nights["asleep"], "year")
print(nights.head().to_string(index=False, float_format="{:.2f}".format))

# %%
# Here is what goes wrong without the circle. The arithmetic mean of these hours is a time at which nobody fell asleep.
# The circular mean is what a person would say.

print("arithmetic mean:", convert.clock(nights["hour"].mean()))
print("circular mean:  ", convert.clock(vmqp.circle.mean(nights["hour"], period=24)))

figure, ax = plt.subplots(figsize=(5.2, 5.2), subplot_kw={"projection": "polar"}, layout="constrained")
ax.set(theta_zero_location="N", theta_direction=-1, yticks=[], ylim=(0, 9.5))
number = nights["subject"].str[1:].astype(float)
ax.plot(2.0 * np.pi * nights["hour"] / 24.0, number, "ko", markersize=3.5)
ax.set_xticks(2.0 * np.pi * np.arange(0, 24, 3) / 24.0, [f"{hour}:00" for hour in range(0, 24, 3)])
ax.set_title("one ring for each person")
plt.show()

# %%
# The kernel
# ----------
#
# Three things act on the hour, and each gets a term of its own. A **sum** says that they come one on top of the other:
#
# - the season: `vmqp.kernels.Periodic` with a period of one year, so that December and January are neighbours;
# - the light: a smooth curve of the hours in bright light;
# - the person: `vmqp.kernels.Categorical`. A column of names needs no numbers;
# - and the nugget, since no two nights are alike.
#
# A half-normal prior of 0.5 on each variance allows every term to be anything from nothing to some hours.

inputs = ["season", "light", "subject"]
share = priors.HalfNormal(0.5)
season = kernels.Periodic(priors.LogNormal(0.0, 0.5), period=365.25, columns=["season"], name="season")
light = kernels.Matern32(priors.LogNormal(np.log(2.0), 0.5), columns=["light"], name="light")
person = kernels.Categorical(columns=["subject"], name="person")
kernel = share * season + share * light + share * person + kernels.Nugget(priors.HalfNormal(0.1))

# %%
# ``fit`` learns from the nights. Then we ask for two things: nights that were held out, for the test, and one person at
# midsummer under more and more light, for the question.

held_out = sleep.held_out.rename(columns={"day_of_year": "season"})[inputs]
curve = pd.DataFrame({"season": 172.0, "light": np.linspace(0.0, 4.0, 9), "subject": "P3"})
model = vmqp.CircularRegressor(
    period=24,
    kernel=kernel,
    warmup=500,
    until=Converged(ess=200),
    seed=1,
    progress=False,
).fit(nights[inputs], nights["hour"])
post, delayed = model.posterior(held_out), model.posterior(curve)
print(post.verdict())

# %%
# The answer
# ----------
#
# The predictions are hours. `vmqp.convert.clock` writes them as on a clock. An arc whose end is before its beginning
# passes midnight.

first = post.to_frame().iloc[:6]
for column in ("mean", "lower", "upper"):
    first[column] = convert.clock(first[column])
print(first[["season", "light", "subject", "mean", "lower", "upper"]].round(1).to_string(index=False))

# %%
# And the question: how much does light delay the sleep of P3 at midsummer? The band is for one new night. It is wide
# because nights are: the nugget is most of it.

scale = vmqp.plots.Scale(24, origin=-12.0)  # from noon to noon, so that midnight is in the middle
ax = vmqp.plots.curve(
    curve["light"],
    delayed.mean,
    *delayed.interval(0.9).T,
    scale=scale,
    truth=sleep.truth(curve["season"], curve["light"], "P3"),
    label_x="hours in bright light in the evening",
    label_y="falls asleep",
)
hours = np.arange(-4, 7, 2)
ax.set(ylim=(-4, 6), ylabel="falls asleep (time of day)")
ax.set_yticks(hours, convert.clock(hours))
plt.show()

# %%
# A question about two nights needs draws of both together: ``simulate`` returns them, and each of its rows is one
# possible world with all that was asked for in it. The delay is a difference within each row. It is a difference of two
# single nights, with the scatter of both. (The draws of ``posterior`` are independent between locations, and would know
# nothing of what the two nights of one person have in common.)

worlds = model.simulate(curve.iloc[[0, 4]], draws=1000)
delay = vmqp.circle.difference(worlds[:, 1], worlds[:, 0], period=24)
mean_delay = vmqp.circle.difference(delayed.mean[4], delayed.mean[0], period=24)
truth = vmqp.circle.difference(*sleep.truth(172.0, [2.0, 0.0], "P3"), period=24)
print(f"Two hours of light delay sleep by {60.0 * mean_delay:.0f} minutes (truth: {60.0 * truth:.0f}).")
print(f"That a night with light is later than one without has the probability {(delay > 0.0).mean():.2f}.")

# %%
# Is it right?
# ------------
#
# The held-out nights judge: the mean error against the hours themselves, and against the true mean hours, which only a
# maker of data knows. In the long run nobody can be nearer to the hours than the true means are; on 24 nights, chance
# may have it otherwise.

observed, true_mean = sleep.held_out["hour"].to_numpy(), sleep.held_out["true_hour"].to_numpy()


def minutes_off(hours, others):
    """Mean distance on the clock, in minutes."""
    return 60.0 * np.abs(vmqp.circle.difference(hours, others, period=24)).mean()


print(f"mean error against the nights      {minutes_off(post.mean, observed):3.0f} minutes")
print(f"the true mean hour would have       {minutes_off(true_mean, observed):3.0f} minutes")
print(f"mean error against the true means   {minutes_off(post.mean, true_mean):3.0f} minutes")
print(
    f"90 % arcs hold {post.coverage(observed, 0.9):.2f} of {observed.size} nights, "
    f"and are {post.width(0.9).mean():.1f} hours wide"
)

# %%
# What each term does
# -------------------
#
# The table has the parameters of each term by its name. A variance is in radians squared, and 24 hours are 2π: a
# variance of 0.25 is a swing of about two hours to either side.

table = post.summary()[["mean", "lower", "upper", "rhat", "ess"]]
print(table.round(3).to_string())
spread = np.sqrt(post.parameters["nugget"].mean()) * 24.0 / (2.0 * np.pi)
print(f"scatter of a night: {spread:.2f} hours (truth: {sleep.noise_sd})")

# %%
# Time zones and clocks
# ---------------------
#
# Times that know their offset from UTC are taken by the clock on the wall, or in a zone that you name, with its summer
# time. Sleep follows the clock on the wall. Something that follows the sun wants ``timezone="UTC"``, or the local solar
# time.

print(convert.phase("2023-07-01T22:15+00:00", "day", timezone="Europe/Berlin"))
print(convert.phase("2023-07-01T22:15+00:00", "day"))

# %%
# What to try next
# ----------------
#
# - :doc:`plot_6_space_time`: time among the inputs.
# - :doc:`/howto/data`: dates, conventions and readers.
# - :doc:`/howto/own-prior`: what a prior on a variance says.
# - :doc:`/sharp-bits`: periods, and data that are rounded to the hour.
