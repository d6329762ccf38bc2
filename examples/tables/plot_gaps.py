"""
Gaps that say something
=======================

**Question.** Cells are missing, and not by chance. What is lost if one fills them in?

``TableEncoder`` fills a gap *and* adds a column that says there was one. Here people of high
income do not like to tell it. We hide more and more of the incomes, once by chance and once
because they are high, and compare with the usual way: the median for a gap, and nothing else.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LLSVMClassifier, TableEncoder
from nearlinear.displays.palette import CLASSES

rng = np.random.default_rng(0)
n_rows = 3000
income, age = rng.standard_normal((2, n_rows))
says_yes = 1.5 * income + np.cos(2.0 * age) + 0.4 * rng.standard_normal(n_rows) > 0.0
full = pd.DataFrame({"income": income, "age": age})


def hidden(share, by_value):
    """The table without a share of the incomes: high ones first, or any."""
    rank = income + 0.3 * rng.standard_normal(n_rows) if by_value else rng.random(n_rows)
    table = full.copy()
    table.loc[rank > np.quantile(rank, 1.0 - share), "income"] = np.nan
    return table


machine = LLSVMClassifier(n_anchors=20, random_state=0)
ways = {
    "gap told by a column (TableEncoder)": make_pipeline(TableEncoder(), machine),
    "median alone": make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), machine),
}

# %%
# Every way sees the same gaps, in training rows and in test rows.

shares = [0.05, 0.2, 0.35, 0.5]
figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.2), sharey=True, layout="constrained")
for ax, by_value in zip(axes, (True, False)):
    for (name, model), color, marker in zip(ways.items(), CLASSES, "o^"):
        accuracies = []
        for share in shares:
            parts = train_test_split(hidden(share, by_value), says_yes, random_state=0)
            X_train, X_test, y_train, y_test = parts
            accuracies.append(100.0 * model.fit(X_train, y_train).score(X_test, y_test))
        percents = 100 * np.array(shares)
        ax.plot(percents, accuracies, color=color, marker=marker, linewidth=2.5, ms=8, label=name)
    ax.set_title("high incomes are hidden" if by_value else "any incomes are hidden", loc="left")
    ax.set_xlabel("incomes that are missing, %")
    ax.grid(axis="y", alpha=0.3)
axes[0].set_ylabel("test accuracy, %")
axes[1].legend(frameon=False, loc="lower left")
figure.suptitle("A gap tells something where it is no accident", fontweight="bold")
plt.show()

# %%
# At the left, the column that tells of gaps wins back almost all that is lost. At the right, gaps
# say nothing, and both ways are alike: nobody can know what was never written down.
#
# **Where it fails.** A model that reads gaps relies on *why* cells are missing. If that changes
# after training (a form with a new required field), it is wrong with confidence.
