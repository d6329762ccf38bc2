"""
A curve of three straight pieces
================================

**Question.** How does localized multiple kernel regression (LMKR) compose a curve of linear models?

The prediction is a sum of linear components. Each is weighted by its gate, a function of the
features with values from 0 to 1. The upper panel shows every component where its gate is above one
half, the lower panel the gates.
"""

import matplotlib.pyplot as plt
import numpy as np

from nearlinear import LMKLRegressor

rng = np.random.default_rng(0)
hour = np.sort(rng.uniform(0.0, 24.0, 250))
load = 20.0 + np.interp(hour, [0.0, 6.0, 9.0, 17.0, 24.0], [4.0, 0.0, 30.0, 38.0, 5.0])
load = load + 1.5 * rng.standard_normal(len(hour))
X = hour[:, None]
model = LMKLRegressor(n_copies=4, gate="gaussian", epsilon=0.1, gate_penalty=0.01, n_init=3,
                      C=10.0, random_state=0).fit(X, load)  # fmt: skip

grid = np.linspace(0.0, 24.0, 500)[:, None]
gates = model.gate_(grid)
components = model.predictor_.local(grid) + model.predictor_.intercept[0]
figure, (ax, gate_ax) = plt.subplots(
    2, 1, figsize=(7.2, 4.8), sharex=True, height_ratios=(3, 1), layout="constrained"
)
ax.scatter(hour, load, s=12, color="gray")
ax.plot(grid, np.where(gates > 0.5, components, np.nan), linewidth=5, alpha=0.5)
ax.plot(grid, model.predict(grid), color="black", label="prediction")
ax.set(ylabel="load, MW", title="The load of a day, composed of straight pieces")
ax.legend()
gate_ax.plot(grid, gates)
gate_ax.set(xlabel="hour of the day", ylabel="gate")
plt.show()

# %%
# **Where it fails.** Outside of the training range the component with the largest gate is
# extrapolated linearly. The example *A gate of your own* shows a periodic gate.

print("mean absolute error:", round(float(np.abs(model.predict(X) - load).mean()), 2), "MW")
