"""
3. The phase of a stride
========================

A device on a runner's leg measures the angles of hip, knee and ankle. It should help the leg at the right moment, so it
has to know how far the stride is. **From three joint angles at one moment: where in the cycle is the runner, on a slope
that was never measured?**

The phase of a stride is an angle. It goes from 0 to 100 % and begins again: 99 % and 1 % are neighbours.
"""

# %%
# The data
# --------
#
# `vmqp.datasets.generated_gait` makes up running at five gradients, from 10 % downhill to 10 % uphill. The cycle
# begins when the right foot meets the ground. Each gradient has a curve of 25 moments, the mean over some strides. We
# learn from four of the curves and keep the level run for the test.

import matplotlib.pyplot as plt
import numpy as np

import vmqp
from vmqp import datasets, kernels, priors
from vmqp.run import Converged

gait = datasets.generated_gait(points=25, seed=1)
strides = gait.frame.assign(gradient=5.0 * gait.frame["level"])
level = strides["gradient"] == 0.0
learned, held_out = strides[~level], strides[level]
joints = ["hip", "knee", "ankle"]
print(learned[["gradient", "cycle_pct", *joints]].head().round(1).to_string(index=False))

# %%
# Over the cycle each joint bends and stretches. No single joint tells the phase: nearly every angle is passed at least
# twice, once on the way up and once on the way down.

figure, axes = plt.subplots(3, 1, figsize=(7.0, 6.2), sharex=True, layout="constrained")
colours = plt.get_cmap("cividis")(np.linspace(0.0, 0.9, len(gait.groups)))
for ax, joint in zip(axes, joints, strict=True):
    for colour, (name, curve) in zip(colours, strides.groupby("group", sort=False), strict=True):
        line = "--" if name == "0 %" else "-"
        ax.plot(curve["cycle_pct"], curve[joint], line, color=colour, label=name)
    ax.set(ylabel=f"{joint} (degrees)", xlim=(0, 100))
axes[0].legend(title="gradient", ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
axes[-1].set_xlabel("phase (% of the cycle)")
plt.show()

# %%
# Together they do. Seen as a place with three coordinates, a stride is a closed loop, and the phase is where on the
# loop the leg is. A place of this regression is such a point, and not a spot on a map. Here are two of the
# coordinates:

figure, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
colours = {"cmap": "twilight", "vmin": 0, "vmax": 100, "edgecolors": "0.5", "linewidths": 0.6}
closed = held_out.iloc[[*range(len(held_out)), 0]]
dots = ax.scatter(learned["hip"], learned["knee"], c=learned["cycle_pct"], **colours)
ax.plot(closed["hip"], closed["knee"], "k--", linewidth=1.0, label="level run, held out")
figure.colorbar(dots, label="phase (% of the cycle)")
ax.set(xlabel="hip (degrees)", ylabel="knee (degrees)")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
plt.show()

# %%
# The kernel
# ----------
#
# Two moments are alike if the joints are near to each other **and** the gradients are. That is a product of two
# factors, each of which looks at its own columns. Joint angles are in degrees and gradients in per cent, so that each
# factor has a length scale of its own. The last term is the nugget: scatter of single moments.
#
# The leading number is the variance, and it is given rather than learned. A long length scale with a large variance
# looks nearly like a short one with a small variance, and these data can hardly tell them apart. To learn both, write
# ``priors.HalfNormal(1.0)`` in its place. The predictions hardly change, and the chains take longer: the smoother
# kernel below needs more than twice as many draws.

bent = kernels.Exponential(priors.LogNormal(np.log(100.0), 1.0), columns=joints)
slope = kernels.Exponential(priors.HalfNormal(50.0), columns=["gradient"])
scatter = kernels.Nugget(priors.HalfNormal(0.1))
kernel = 1.0 * bent * slope + scatter

# %%
# ``concentration=0`` says that no phase is more common than another. A stride passes through all of them alike, so
# there is no direction for the model to prefer. ``Converged(ess=200)`` draws until 200 effective samples are there,
# half of the default, to keep this page short.

inputs = [*joints, "gradient"]
options = {"period": 100, "concentration": 0, "until": Converged(ess=200), "seed": 1, "progress": False}
post = vmqp.regress(learned[inputs], learned["cycle_pct"], held_out[inputs], kernel=kernel, **options)
print(post.verdict())

# %%
# The answer
# ----------
#
# Each moment of the level run has a phase and an arc. Look at the last rows: an arc from 96 to 4 is 8 % wide and passes
# the moment when the foot meets the ground.

table = post.to_frame()[["mean", "lower", "upper", "width"]]
table.insert(0, "true_phase", held_out["cycle_pct"].to_numpy())
print(table.iloc[[0, 6, 12, 18, 23, 24]].round(1).to_string(index=False))

# %%
# What was learned? ``lengthscale_1`` belongs to the joints, in degrees, and ``lengthscale_2`` to the gradient, in per
# cent. Both are longer than the data are wide: along the whole loop one moment tells something about the next.

print(post.summary()[["mean", "lower", "upper", "rhat", "ess"]].round(4).to_string())

# %%
# Is it right?
# ------------
#
# The dots would lie on the diagonal if all were perfect. Bars are 90 % arcs, drawn from the mean to both sides.

truth = held_out["cycle_pct"].to_numpy()
error = vmqp.circle.difference(post.mean, truth, period=100)
lower, upper = np.abs(vmqp.circle.difference(post.interval(0.9).T, post.mean, period=100))
figure, ax = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
ax.plot([0, 100], [0, 100], color="0.7", linewidth=1.0)
ax.errorbar(truth, truth + error, yerr=(lower, upper), fmt="o", color="#0072B2", markersize=4, linewidth=1.2)
ax.set(xlabel="true phase (%)", ylabel="predicted phase (%)", aspect="equal")
plt.show()

# %%

print(f"mean error {np.abs(error).mean():.2f} % of the cycle, largest {np.abs(error).max():.2f} %")
print(f"90 % arcs hold {post.coverage(truth, 0.9):.2f}, and are {post.width(0.9).mean():.1f} % wide")

# %%
# The mean error is a fraction of the 4 % from one moment to the next. The arcs hold more than they say and are wider
# than need be: an exponential kernel expects a rough path, and this one is smooth. A smoother kernel is tried below.
#
# Knowing less
# ------------
#
# What if the ankle's sensor breaks? Run the same model with two columns. It should say that it knows less, and not make
# something up.

two = kernels.Exponential(priors.LogNormal(np.log(100.0), 1.0), columns=["hip", "knee"])
without_ankle = vmqp.regress(
    learned[["hip", "knee", "gradient"]],
    learned["cycle_pct"],
    held_out[["hip", "knee", "gradient"]],
    kernel=1.0 * two * slope + scatter,
    **options,
)
print(without_ankle.verdict())
off = np.abs(vmqp.circle.difference(without_ankle.mean, truth, period=100))
print(f"mean error {off.mean():.2f} %, 90 % arcs hold {without_ankle.coverage(truth, 0.9):.2f}")
print(
    f"arcs are {without_ankle.width(0.9).mean():.1f} % wide, and {post.width(0.9).mean():.1f} % with the ankle"
)
nuggets = [np.sqrt(one.parameters["nugget"].mean()) / (2.0 * np.pi) * 100.0 for one in (without_ankle, post)]
print(f"scatter of one moment: {nuggets[0]:.1f} % of the cycle, and {nuggets[1]:.1f} % with the ankle")

# %%
# Hip and knee still make a loop, but it comes close to itself: in the second picture, early and middle phases meet at
# the lower left. The model can't follow both, and takes the difference for scatter. Scatter is the same everywhere, so
# that the arcs are wider all round.
#
# Do not go on to the hip alone. Its angle is passed on the way up and on the way down, the same place at two phases.
# The model has one phase for each place and takes the rest for scatter: it would answer with arcs of half the cycle,
# and would not find that there are two phases. :doc:`plot_5_several_modes` has more on that.
#
# Which kernel?
# -------------
#
# Leave-one-out asks how well each learned moment is foretold by all the others, so it needs no held-out data. Compare
# the model with one that is smoother, and with one that does not look at the gradient.

smooth = kernels.Matern32(priors.LogNormal(np.log(100.0), 1.0), columns=joints)
smooth_slope = kernels.Matern32(priors.HalfNormal(50.0), columns=["gradient"])
tried = {"first model": post}
for name, other in (
    ("smoother", 1.0 * smooth * smooth_slope + scatter),
    ("no gradient", 1.0 * bent + scatter),
):
    tried[name] = vmqp.regress(
        learned[inputs], learned["cycle_pct"], held_out[inputs], kernel=other, **options
    )
for name, one in tried.items():
    off = np.abs(vmqp.circle.difference(one.mean, truth, period=100)).mean()
    print(f"{name}: {one.verdict()}")
    print(
        f"  leave-one-out {one.loo().elpd:.0f}; held out: mean error {off:.2f} %, "
        f"arcs {one.width(0.9).mean():.1f} % wide, hold {one.coverage(truth, 0.9):.2f}"
    )

# %%
# Larger is better for leave-one-out, so the smoother kernel is preferred and the gradient should stay. The smoother
# arcs are about a fifth as wide and hold the held-out moments too. One curve of 25 moments can't say it more exactly.
#
# What to try next
# ----------------
#
# - ``vmqp paper gait --data walking.csv``: the same on your own table of walking or running; `vmqp.datasets.read_gait`
#   says which columns it needs.
# - :doc:`plot_4_time_of_day`: another phase, with people in place of joints.
# - :doc:`/howto/own-kernel` and :doc:`/howto/compare`: other kernels, and models on the same splits.
# - :doc:`/paper`: the paper's own experiment on gait, beside ours.
