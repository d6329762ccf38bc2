"""
A threshold that follows the costs
==================================

**Question.** A missed illness costs twenty times a false alarm. Where should the border lie?

A classifier cuts at 50 %, which is right if both errors cost the same.
``TunedThresholdClassifierCV`` of scikit-learn moves the border to where a figure of yours is best,
around any model of nearlinear. The tuned model is saved and exported like any other.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split

from nearlinear import LDKLClassifier
from nearlinear.displays.palette import CLASSES, INK

MISSED, ALARM = 20.0, 1.0


def mean_cost(y, told):
    (_, alarms), (missed, _) = confusion_matrix(y, told, labels=[0, 1])
    return (MISSED * missed + ALARM * alarms) / len(y)


X, y = make_classification(
    6000, n_features=6, n_informative=4, n_redundant=0, weights=[0.9], class_sep=0.8, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=1500, random_state=0)
scorer = make_scorer(mean_cost, greater_is_better=False)
model = LDKLClassifier(3, max_iter=20, random_state=0)
tuned = TunedThresholdClassifierCV(
    model, scoring=scorer, cv=3, thresholds=50, store_cv_results=True
).fit(X_train, y_train)

# %%
# The curve is what each threshold would cost on test rows; the marks are where the two models cut.

chances = tuned.predict_proba(X_test)[:, 1]
thresholds = np.linspace(0.005, 0.9, 150)
costs = [mean_cost(y_test, (chances >= t).astype(int)) for t in thresholds]

figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
ax.plot(100 * thresholds, costs, color=INK, linewidth=2.5)
for name, at, marker, color in (
    ("the usual border: 50 %", 0.5, "s", CLASSES[1]),
    (f"tuned: {100 * tuned.best_threshold_:.0f} %", tuned.best_threshold_, "o", CLASSES[0]),
):
    cost = mean_cost(y_test, (chances >= at).astype(int))
    ax.scatter(
        100 * at,
        cost,
        s=140,
        marker=marker,
        color=color,
        zorder=3,
        label=f"{name}, cost {cost:.2f}",
    )
ax.set(xlabel="alarm from this probability on, %", ylabel="mean cost a row", ylim=(0, None))
ax.set_title("Cheap alarms move the border far down", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="lower right")
ax.grid(axis="y", alpha=0.3)
plt.show()

# %%
# With exact probabilities the best threshold is known: the price of an alarm over the sum of both
# prices, here 1 / 21 or 4.8 %. Tuning finds about that without trusting the probabilities.
#
# **Where it fails.** The optimum is flat but tuned on few missed cases: with rare classes the
# threshold itself is uncertain. And if the costs change tomorrow, so does the border: keep the
# probabilities, not only the labels.
