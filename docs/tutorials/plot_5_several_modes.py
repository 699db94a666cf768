"""
5. Several modes
================

An animal with a transmitter heads north-east. Then the signal is lost, and when it comes back the animal heads
south-west. **Where was it heading in between?** It turned round, but to the left or to the right? An honest answer
names two directions. The mean of both is one that it may never have had.

This page shows how to see several modes, how to report them, and a case in which the model does *not* find them.
"""

# %%
# A turn that nobody saw
# ----------------------
#
# The headings are generated: 30° before the signal is lost, 205° after it, with a scatter of 8°. Both ways round are
# nearly as long: 175° to the right, 185° to the left.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import vmqp
from vmqp import datasets

rng = np.random.default_rng(3)
minutes = np.concatenate([np.arange(0.0, 12.0), np.arange(22.0, 34.0)])
heading = np.mod(np.where(minutes < 15.0, 30.0, 205.0) + rng.normal(0.0, 8.0, minutes.size), 360.0)
track = pd.DataFrame({"minute": minutes, "heading": heading})

figure, ax = plt.subplots(figsize=(7.0, 3.4), layout="constrained")
ax.plot(track["minute"], track["heading"], "ko", markersize=5)
ax.axvspan(11.0, 22.0, color="0.9")
ax.text(16.5, 330.0, "no signal", ha="center")
ax.set(xlabel="minute", ylabel="heading (degrees)", ylim=(0, 360), yticks=range(0, 361, 90))
plt.show()

# %%
# How fast the animal turns is known from other tracks, let us say, so the kernel is given with numbers and nothing has
# to be learned. We ask for three minutes in the gap, first as usual, each on its own.

model = vmqp.CircularRegressor(
    period=360, kernel="0.5 * matern32(6.0) + nugget(0.02)", concentration=0, seed=1, progress=False
).fit(track[["minute"]], track["heading"])
asked = pd.DataFrame({"minute": [14.25, 16.5, 18.75]})
print(model.posterior(asked).to_frame().round(2).to_string(index=False))

# %%
# One location at a time, with known parameters, a prediction is one von Mises distribution. It can be wide, and in the
# middle of the gap it is nearly the whole circle, but it has one mode. The two ways of turning are not a matter of one
# minute: they differ in what *several* minutes do together. So draw these together. ``joint_posterior`` does, by Markov
# chains with diagnostics of their own.

post = model.joint_posterior(asked, draws=8000)
print(post.verdict())

# %%
# The usual table has one mean and one arc for each place. The means look reasonable. But the variance is high and the
# arcs are more than half of the circle: these are signs that something is hidden.

print(post.to_frame().round(2).to_string(index=False))

# %%
# The density shows what it is. It has two peaks at each place. The mean lies where it lies because one of the ways is a
# little more probable, or between the two.

grid = np.arange(0.0, 360.0)
density = post.density(grid)
figure, axes = plt.subplots(3, 1, figsize=(7.0, 5.6), sharex=True, sharey=True, layout="constrained")
for ax, minute, values, mean in zip(axes, asked["minute"], density, post.mean, strict=True):
    ax.fill_between(grid, values, color="#BFD9EA")
    ax.plot(grid, values, color="#0072B2")
    ax.axvline(mean, color="#D55E00", linestyle="--", label="mean")
    ax.set(title=f"minute {minute:g}", xlim=(0, 360), ylim=(0, None), xticks=range(0, 361, 45))
axes[0].legend(loc="upper center")
axes[1].set_ylabel("density per degree")
axes[2].set_xlabel("heading (degrees)")
plt.show()

# %%
# Report the modes, and the region of highest density, which may consist of several arcs:

for minute, modes, region in zip(asked["minute"], post.modes(), post.regions(0.8), strict=True):
    arcs = " and ".join(f"{lower:.0f}° to {upper:.0f}°" for lower, upper in region)
    print(
        f"minute {minute:5.2f}: most probable {' or '.join(f'{mode:.0f}°' for mode in modes)}; 80 % in {arcs}"
    )

# %%
# Together the arcs of a region are shorter than one arc with the same probability, which has to bridge what lies
# between:

for minute, region, width in zip(asked["minute"], post.regions(0.8), post.width(0.8), strict=True):
    total = vmqp.arcs.arc_width(*region.T, 360).sum()
    print(f"minute {minute:5.2f}: region {total:.0f}°, one arc {width:.0f}°")

# %%
# The question was: left or right? In the middle of the gap an animal that turned to the right heads somewhere between
# 30° and 205° on the side of east and south; one that turned to the left is on the other side. A rose shows the two
# sides, and the probability of a sector is one call.

ax = post.plot_rose(1, probability=0.8, compass=True)
ax.set_title("minute 16.5")
plt.show()

# %%

right = post.probability(30.0, 205.0)[1]
print(f"The animal turned to the right with probability {right:.2f}, to the left with {1.0 - right:.2f}.")

# %%
# Two warnings go with this. Joint predictions depend on what is asked for: three minutes in the gap make a path that
# must turn one way or the other, one minute alone does not (:doc:`/explanation/transductive`). And the chains have to
# go over from the one way of turning to the other again and again, or the fractions of the two modes are chance. With
# three locations in the gap they do. The more you ask for in it, the more tightly these hold together and the more
# seldom a whole turn changes its side. R-hat shows it when chains took different sides, but not when all happened to
# take the same: the chains of a simulation all start at the same field. So ask for few locations where you expect such
# a choice, and run it again with other seeds.
#
# Two kinds of animals at one place
# ---------------------------------
#
# Not everything that has two modes is found like this. `vmqp.datasets.headings` has animals that are released at some
# places: a part of them flies home, the others fly the opposite way. These are two groups **at the same place**.

released = datasets.headings(places=30, animals=3, held_out=3, seed=1)
places = ["east", "north"]
print(released.frame.head(5).round(1).to_string(index=False))

figure, ax = plt.subplots(figsize=(7.0, 4.8), layout="constrained")
turn = np.radians(released.frame["heading"])
ax.quiver(released.frame["east"], released.frame["north"], np.sin(turn), np.cos(turn), width=0.004, scale=18)
ax.plot(0.0, 0.0, "*", color="#D55E00", markersize=14, label="home")
asked = released.held_out[places].drop_duplicates().reset_index(drop=True)
ax.plot(asked["east"], asked["north"], "s", color="#0072B2", label="asked for")
ax.set(xlabel="km east of home", ylabel="km north of home", aspect="equal", xlim=(-70, 70), ylim=(-50, 50))
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
plt.show()

# %%
# The model has one direction that changes from place to place, and scatter about it. Two opposite groups cancel: what
# is left is a weak pull to one side and a very broad law.

post = vmqp.regress(
    released.frame[places],
    released.frame["heading"],
    asked,
    period=360,
    warmup=500,
    seed=1,
    progress=False,
)
print(post.verdict())
print(post.to_frame().round(2).to_string(index=False))

# %%
# The chains agree, so the answer of *this model* is known well. That does not make the model right. Here the remedy is
# to ask for what all animals at a place share: the **axis**, home or straight away from it. Axes have a period of
# 180°, and the two groups become one.

axis = vmqp.regress(
    released.frame[places],
    np.mod(released.frame["heading"], 180.0),
    asked,
    period=180,
    warmup=500,
    seed=1,
    progress=False,
)
print(axis.verdict())
truth = released.pieces(asked["east"], asked["north"])
found = axis.to_frame()[["east", "north", "mean", "lower", "upper"]]
print(found.assign(true_axis=np.mod(truth["home_direction"], 180.0)).round(1).to_string(index=False))

# %%
# The axes are right within some degrees. The arcs are those of one animal: where they scatter by 20 to 25°, an arc of
# 90 % can't be much narrower than 80°.
#
# From a law of axes follows one of headings, if we take both ends for equally probable. Compare the three at the first
# place: the plain model, the axis, and the truth.

ends = axis.density(np.mod(grid, 180.0)[:180])
both = np.hstack([ends, ends]) / 2.0
true_density = np.array([released.density(grid, *place) for place in asked.to_numpy()])
figure, ax = plt.subplots(figsize=(7.0, 3.8), layout="constrained")
ax.plot(grid, true_density[0], color="#D55E00", linestyle=(0, (4, 1.5)), label="truth")
ax.plot(grid, post.density(grid)[0], color="black", linestyle=":", label="headings, period 360")
ax.plot(grid, both[0], color="#0072B2", label="axes, period 180")
ax.set(xlabel="heading (degrees)", ylabel="density per degree", xlim=(0, 360), ylim=(0, None))
ax.set_xticks(range(0, 361, 45))
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
plt.show()

# %%
# The held-out animals judge: the mean log density at their headings, larger is better. Someone who knows nothing gives
# 1/360 to every degree.

animals = released.held_out.merge(asked.reset_index(names="row"), on=places)
at = np.mod(animals["heading"].round().astype(int), 360), animals["row"]
for name, law in (("headings", post.density(grid)), ("axes", both), ("truth", true_density)):
    print(f"{name:9s} {np.log(law[at[1], at[0]]).mean():.2f}")
print(f"nothing   {np.log(1 / 360):.2f}")

# %%
# The axis takes both ends for equally probable, and the truth does not: nearer to home more animals know the way. How
# many go home is a question of yes and no, and not one for this package.
#
# What to try next
# ----------------
#
# - :doc:`/explanation/model`: where several modes come from, and where they can't.
# - :doc:`/explanation/transductive`: one location at a time, or all together.
# - :doc:`/howto/diagnostics`: what R-hat sees and what it does not.
# - :doc:`/samplers`: the samplers, and why none of them jumps between modes that are far apart.
