"""
Do probabilities mean what they say?
====================================

**Question.** A model says 80 %. Is it right in 80 of 100 such cases?

With the log loss a model has probabilities of its own; a model of margins (hinge loss) has scores,
and scikit-learn's ``CalibratedClassifierCV`` makes probabilities of them. Taking scores for
probabilities without calibration is the mistake to avoid. ``CalibrationDisplay`` shows all three.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_moons
from sklearn.metrics import brier_score_loss

from nearlinear import LLSVMClassifier
from nearlinear.displays.palette import CLASSES, MARKERS

X, y = make_moons(9000, noise=0.35, random_state=0)
X_train, y_train, X_test, y_test = X[:1000], y[:1000], X[1000:], y[1000:]
settings = {"n_anchors": 30, "random_state": 0}
machine = LLSVMClassifier(C=10.0, max_iter=5000, **settings)
models = {
    "margins, calibrated": CalibratedClassifierCV(machine, ensemble=False),
    "log loss": LLSVMClassifier(loss="log_loss", **settings),
}
chances = {
    name: model.fit(X_train, y_train).predict_proba(X_test)[:, 1] for name, model in models.items()
}
margins = machine.fit(X_train, y_train).decision_function(X_test)
chances["margins, squeezed into 0 to 1"] = (margins - margins.min()) / (
    margins.max() - margins.min()
)

# %%
# A curve on the diagonal means what it says. Above it the model is too shy, below too bold.

figure, ax = plt.subplots(figsize=(6.2, 5.4), layout="constrained")
for (name, chance), color, marker in zip(chances.items(), CLASSES, MARKERS):
    loss = brier_score_loss(y_test, chance)
    CalibrationDisplay.from_predictions(
        y_test, chance, n_bins=10, ax=ax, color=color, marker=marker, markersize=8, linewidth=2.5,
        name=f"{name} (Brier {loss:.3f})",
    )  # fmt: skip
ax.set(
    xlabel="what the model says: probability of class 1", ylabel="what happens: share of class 1"
)
ax.set_title("A margin is not a probability", loc="left", fontweight="bold")
ax.legend(loc="upper left", frameon=False)
plt.show()

# %%
# **Where it fails.** Calibration is about rows like those it was fitted to. Where these change, a
# calibrated model is as wrong as any other, and says so with the same confidence. And a bin of ten
# rows may lie off the diagonal by chance.
