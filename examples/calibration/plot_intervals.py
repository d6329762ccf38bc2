"""
Intervals that keep their promise
=================================

**Question.** A regression says 42. Between which numbers does the truth lie in nine of ten cases?

``predict_interval`` of ``NearLinearRegressor`` takes the errors of rows that were held out during
the search (split conformal prediction). The promise needs no bell curve. It is about all rows
together; where there are enough held-out rows, widths differ from region to region of the answer.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from nearlinear import NearLinearRegressor
from nearlinear.displays.palette import CLASSES, INK

rng = np.random.default_rng(0)


def make_rows(n_rows):
    """The larger the flat, the less certain its price."""
    area = rng.uniform(20.0, 140.0, n_rows)
    spread = 0.02 * area**1.5
    price = 60.0 + 2.2 * area + 20.0 * np.sin(area / 18.0) + spread * rng.standard_normal(n_rows)
    return pd.DataFrame({"area": area}), price


X, y = make_rows(1500)
X_test, y_test = make_rows(3000)
model = NearLinearRegressor(families=["piecewise linear"], random_state=0).fit(X, y)

# %%
# New rows, the answer and its interval. Orange points are outside.

line = pd.DataFrame({"area": np.linspace(20.0, 140.0, 400)})
low, high = model.predict_interval(line, coverage=0.9).T
test_low, test_high = model.predict_interval(X_test, coverage=0.9).T
is_inside = (test_low <= y_test) & (y_test <= test_high)

figure, ax = plt.subplots(figsize=(6.8, 4.8), layout="constrained")
ax.fill_between(line["area"], low, high, color=CLASSES[0], alpha=0.3, linewidth=0, label="90 %")
ax.plot(line["area"], model.predict(line), color=CLASSES[0], linewidth=3, label="answer")
for chosen, color, marker in ((is_inside, INK, "o"), (~is_inside, CLASSES[2], "^")):
    rows = np.flatnonzero(chosen)[:: 1 if marker == "^" else 3]
    ax.scatter(X_test["area"].iloc[rows], y_test[rows], s=9, color=color, marker=marker)
ax.set(xlabel="area, square meters", ylabel="price, thousands")
covered = 100.0 * is_inside.mean()
ax.set_title(f"90 % were promised, {covered:.1f} % were kept", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
# **Where it fails.** The width follows the answer, not the row: two rows with the same answer have
# the same interval. And the promise is for rows that are drawn as the held-out ones were.

for first, last in ((20, 60), (60, 100), (100, 140)):
    group = X_test["area"].between(first, last).to_numpy()
    print(f"{first} to {last} square meters: {100 * is_inside[group].mean():.1f} % inside")
