"""
From a raw table to a front of models
=====================================

**Question.** A table has numbers, texts and gaps. Which model is worth its price?

``NearLinearClassifier`` takes the table as it is, tries several families of models on rows that
were held out, and keeps those that nothing else beats in both accuracy and time. What is left is a
choice for you to make: the *front*.

The table here is made up: flats, and whether they were let within a week.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from nearlinear import NearLinearClassifier

rng = np.random.default_rng(0)
n_rows = 1500
area = rng.gamma(6.0, 12.0, n_rows) + 18.0
district = rng.choice(["center", "harbor", "hills", "north", "west"], n_rows)
worth = pd.Series(district).map({"center": 21, "harbor": 18, "hills": 24, "north": 12, "west": 14})
price = area * worth * rng.lognormal(0.0, 0.25, n_rows)
year = rng.integers(1900, 2024, n_rows).astype(float)
# new and old houses are liked, those in between are not
fair = area * worth * (1.0 + 0.15 * np.cos((year - 1900) / 20.0))
is_let = np.log(fair / price) + 0.12 * rng.standard_normal(n_rows) > 0.0

table = pd.DataFrame(
    {"area": area.round(), "price": price.round(-1), "district": district, "year": year}
)
table.loc[rng.random(n_rows) < 0.2, "year"] = np.nan
table.loc[rng.random(n_rows) < 0.1, "district"] = None
table.head()

# %%
# The encoder looks at each column once and says what it has done. The search then tries a few
# families; without ``families=`` it tries all of them, which takes some minutes.

model = NearLinearClassifier(families=["piecewise linear", "boosted trees"], random_state=0).fit(
    table, is_let
)
pd.DataFrame(model.encoder_.columns_)[["name", "kind", "done"]]

# %%
# Every point is a fitted model; the line joins those that nothing beats. The red one was chosen: an
# average of at most three.

figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
model.plot_front(ax, title="Bends are nearly free,\ntrees buy the last point")
plt.show()

# %%
# **Where it fails.** Scores of what was chosen are a little too good, as it was chosen by them:
# keep some rows apart to judge it. Rows that belong together (all flats of a house) must not stand
# on both sides of a fold, and the search does not know that they do.

model.front_[["model", "score", "score_error", "times_linear", "n_bytes"]].round(3)
