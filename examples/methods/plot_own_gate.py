"""
A gate of your own
==================

**Question.** Something is in one of two states that take turns, and each state has a trend of its
own. About every seven days both have had their turn; the period is known no better than that. Can
a model learn it?

The gates that come with LMKL share out a line by thresholds or centers. They can learn the past,
but not that it comes again; shown the cosine and sine of the time, they take the seven days as
given. So we write a gate whose components take turns and whose period is learned. It needs five
things: ``start``, a call, ``parameters``, ``with_parameters`` and ``gradient``.
"""

from dataclasses import dataclass, replace

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import check_grad
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LMKLRegressor
from nearlinear.gates.learned import softmax, softmax_slopes

PERIOD, ABOUT = 7.6, 7.0  # the truth, and what we know of it
LAST_DAY = 30.0
TURN = 2.0 * np.pi


@dataclass(frozen=True)
class TakingTurns:
    """γ_m(t) ∝ exp(sharpness × cos(angle(t) − 2π m / M)): each is open once in a period."""

    period: float
    n_components: int = 2
    middle: float = 0.0
    parameters: np.ndarray | None = None  # shift, drift, sharpness

    def start(self, Z, n_components, rng):
        period = self.period * rng.uniform(0.8, 1.25)  # n_init starts differ
        begin = np.array([rng.uniform(-np.pi, np.pi), 0.0, 2.0])
        return TakingTurns(period, n_components, float(Z[:, 0].mean()), begin)

    def with_parameters(self, parameters):
        return replace(self, parameters=parameters)

    def __call__(self, Z):
        _, angles = self._angles(Z)
        return softmax(self.parameters[2] * np.cos(angles))

    def gradient(self, Z, slopes):
        since, angles = self._angles(Z)
        pull = softmax_slopes(self(Z), slopes)  # ∂L/∂scores
        turn = -self.parameters[2] * np.sin(angles) * pull  # ∂L/∂angles
        return np.array([turn.sum(), (turn * since).sum(), (np.cos(angles) * pull).sum()])

    def _angles(self, Z):
        shift, drift, _ = self.parameters
        since = (Z[:, :1] - self.middle) / self.period
        own = TURN * np.arange(self.n_components) / self.n_components
        return since, (TURN + drift) * since + shift - own

    @property
    def learned_period(self):
        return TURN * self.period / (TURN + self.parameters[1])


# %%
# Days to learn from, held-out rows of the same days, and days to come. The gradient is held against
# finite differences.

rng = np.random.default_rng(0)
t = np.concatenate([rng.uniform(0.0, LAST_DAY, 480), rng.uniform(LAST_DAY, 45.0, 240)])
is_first = np.sin(TURN * t / PERIOD + 1.0) > 0
y = np.where(is_first, 2.0 + 0.06 * t, -0.04 * t) + 0.1 * rng.standard_normal(len(t))
(X, same_days, later), (y, same_values, later_values) = np.split(t[:, None], 3), np.split(y, 3)

rng = np.random.default_rng(1)
gate = TakingTurns(ABOUT).start(X, 2, rng)
slopes = rng.standard_normal((len(X), 2))
off = check_grad(
    lambda parameters: float((slopes * gate.with_parameters(parameters)(X)).sum()),
    lambda parameters: gate.with_parameters(parameters).gradient(X, slopes),
    gate.parameters,
) / np.linalg.norm(gate.gradient(X, slopes))
print(f"gradient beside finite differences: off by {off:.0e}")

# %%
# The gates that come with LMKL, with few and many components, and our own.


def waves(X):
    """What a gate must be shown so that it comes again after ``ABOUT`` days."""
    return np.hstack([np.cos(TURN * X / ABOUT), np.sin(TURN * X / ABOUT)])


settings = {"C": 10.0, "gate_penalty": 0.01, "n_init": 5, "random_state": 0}
contenders = [
    ("softmax", 10, make_pipeline(StandardScaler(), LMKLRegressor(n_copies=10, **settings))),
    ("softmax of waves", 2, LMKLRegressor(n_copies=2, gating_features=waves, **settings)),
    ("softmax of waves", 10, LMKLRegressor(n_copies=10, gating_features=waves, **settings)),
    ("taking turns", 2, LMKLRegressor(n_copies=2, gate=TakingTurns(ABOUT), **settings)),
]
print(f"root mean square error\n{'':18}{'components':>12}{'same days':>12}{'later':>12}")
for name, n_copies, model in contenders:
    model.fit(X, y)
    errors = [
        np.sqrt(np.mean((model.predict(rows) - values) ** 2))
        for rows, values in ((same_days, same_values), (later, later_values))
    ]
    print(f"{name:18}{n_copies:12}" + "".join(f"{error:12.2f}" for error in errors))
learned = model.gate_.gate.learned_period  # gate_ rounds what is all but shut or open
print(f"period: {learned:.2f} days learned, {PERIOD} true, {ABOUT} known before")

# %%
# The model with the periodic gate, and its gates. Crosses are later days, which are no part of the
# training set.

days = np.linspace(0.0, 45.0, 1000)[:, None]
figure, (ax, gate_ax) = plt.subplots(
    2, 1, figsize=(8.4, 5.0), sharex=True, height_ratios=(3, 1), layout="constrained"
)
ax.scatter(X, y, s=12, color="gray", label="training set")
ax.scatter(later, later_values, s=14, marker="x", color="black", linewidth=0.7, label="later days")
ax.plot(days, model.predict(days), label="prediction")
ax.axvline(LAST_DAY, color="black", linewidth=0.8)
ax.set_title("The periodic gate extrapolates to later days")
ax.legend()
gate_ax.plot(days, model.gate_(days))
gate_ax.set(xlabel="day", ylabel="gate")
plt.show()

# %%
# **Where it fails.** The period is found by descent: from a guess that is off by half, no start
# comes near it. A gate of your own is saved and exported only if it is registered.
