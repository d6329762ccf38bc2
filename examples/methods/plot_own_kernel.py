"""
A kernel of your own
====================

**Question.** Hours of the day wrap around: 23:30 is near 0:30. How does a machine learn that?

A kernel is a function of two sets of rows. We write one that knows the circle, put it beside a
Gaussian that does not, and let ``SimpleMKLClassifier`` weigh them.
"""

import matplotlib.pyplot as plt
import numpy as np

from nearlinear import SimpleMKLClassifier
from nearlinear.displays.palette import CLASSES, INK


def around_the_clock(X, Z):
    """exp(cos of the angle between two hours − 1): the same after 24 hours."""
    angles = 2.0 * np.pi * (X[:, :1] - Z[:, :1].T) / 24.0
    return np.exp(4.0 * (np.cos(angles) - 1.0))


rng = np.random.default_rng(0)
hours = rng.uniform(0.0, 24.0, (1200, 1))
chance = 1.0 / (1.0 + np.exp(-6.0 * (np.cos(2.0 * np.pi * (hours[:, 0] - 0.5) / 24.0) - 0.4)))
is_noisy = rng.random(len(hours)) < chance
# nobody has listened in the small hours
seen = hours[:, 0] > 7.0
train, test = np.flatnonzero(seen)[:250], np.flatnonzero(~seen)
models = {
    "Gaussian": SimpleMKLClassifier("gaussian"),
    "around the clock": SimpleMKLClassifier([around_the_clock]),
    "both, weighed": SimpleMKLClassifier(["gaussian", around_the_clock]),
}

# %%
# Scores over the day. The gray band has no training rows: the Gaussian goes on there from the quiet
# morning, the clock knows that the evening before is near, too.

axis = np.linspace(0.0, 24.0, 300)[:, None]
figure, ax = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
ax.axvspan(0.0, 7.0, color="#dfe5ea")
styles = zip(models.items(), CLASSES[1::-1] + CLASSES[2:3], ("--", "-", ":"))
for (name, model), color, style in styles:
    model.fit(hours[train], is_noisy[train])
    score = 100.0 * model.score(hours[test], is_noisy[test])
    label = f"{name}: {score:.0f} % right in the gray band"
    ax.plot(axis, model.decision_function(axis), color=color, linestyle=style, lw=3, label=label)
ax.axhline(0.0, color=INK, linewidth=1)
ax.set(xlabel="hour of the day", ylabel="score (noisy above 0)", xlim=(0, 24))
ax.set_xticks(range(0, 25, 4))
ax.set_title("A kernel that knows the clock closes the night", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.55, 1.0))
plt.show()

# %%
# **Where it fails.** A function of your own must be positive semi-definite, which nobody checks for
# you, and does not travel: models with it are not exported. For that, write a kernel class and
# register it.

print("weights of both:", models["both, weighed"].kernel_weights_.round(2))
