"""
Dates as a model sees them
==========================

**Question.** What becomes of a column of dates?

``TableEncoder`` makes days since 1970, month, day of the week and hour of it, as far as they vary.
A linear model on the number of days sees a trend and nothing else; with month and weekday it knows
that summer and Sundays come again. We predict the visitors of a park, day by day: learn from two
years, look at the third.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from nearlinear import LocalForestRegressor, TableEncoder
from nearlinear.displays.palette import CLASSES, INK

rng = np.random.default_rng(0)
days = pd.date_range("2021-01-01", "2023-12-31", freq="D")
season = 60.0 * np.cos(2.0 * np.pi * (days.day_of_year - 200) / 365.0)
weekend = np.where(days.day_of_week >= 5, 70.0, 0.0)
visitors = np.asarray(150.0 + season + weekend) + 12.0 * rng.standard_normal(len(days))

table = pd.DataFrame({"day": days})
is_past = days < "2023-01-01"
forest = LocalForestRegressor(n_trees=60, random_state=0)
model = make_pipeline(TableEncoder(), forest).fit(table[is_past], visitors[is_past])
line = Ridge().fit(np.arange(len(days))[is_past, None], visitors[is_past])
model[0].get_feature_names_out()

# %%
# Ten weeks of the year that the model has not seen.

told = model.predict(table[~is_past])
trend = line.predict(np.arange(len(days))[~is_past, None])
weeks = slice(120, 190)
figure, ax = plt.subplots(figsize=(7.4, 4.4), layout="constrained")
ax.scatter(
    days[~is_past][weeks], visitors[~is_past][weeks], s=24, color=INK, label="what came", zorder=3
)
ax.plot(
    days[~is_past][weeks], told[weeks], color=CLASSES[0], linewidth=2, label="TableEncoder + forest"
)
ax.plot(
    days[~is_past][weeks], trend[weeks], color=CLASSES[1], linewidth=2.5, linestyle="--",
    label="days as one number, linear",
)  # fmt: skip
ax.set(ylabel="visitors a day", xlabel="day of the third year", ylim=(100, 345))
ax.set_title("The model knows that Sundays come again", loc="left", fontweight="bold")
ax.legend(frameon=False, ncols=2, loc="upper left")
ax.tick_params(axis="x", labelrotation=25)
plt.show()

# %%
# **Where it fails.** A forest does not go on with a trend: beyond the last day it has seen, the
# number of days says nothing new to it. And folds of a search are drawn at random: with dates,
# judge a model on days after those it has learned from, as here.

errors = {name: np.abs(said - visitors[~is_past]).mean() for name, said in
          {"encoder and forest": told, "linear in days": trend}.items()}  # fmt: skip
print({name: round(float(error), 1) for name, error in errors.items()}, "visitors off, on average")
