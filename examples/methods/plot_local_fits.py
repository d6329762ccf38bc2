"""
A curve of three straight pieces
================================

**Question.** What does a localized regression (LMKR) blend its curve from?

``LocalFitsDisplay`` draws the fit with its tube, the straight lines it is blended from, as strongly
as their gates are open, and the gates below.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from nearlinear import LMKLRegressor
from nearlinear.displays import LocalFitsDisplay

rng = np.random.default_rng(0)
hour = np.sort(rng.uniform(0.0, 24.0, 250))
load = 20.0 + np.interp(hour, [0.0, 6.0, 9.0, 17.0, 24.0], [4.0, 0.0, 30.0, 38.0, 5.0])
load = load + 1.5 * rng.standard_normal(len(hour))
X = pd.DataFrame({"hour of the day": hour})
model = LMKLRegressor(n_copies=4, gate="gaussian", epsilon=0.1, gate_penalty=0.01, n_init=3,
                      C=10.0, random_state=0).fit(X, load)  # fmt: skip
display = LocalFitsDisplay.from_estimator(
    model, X, load, title="A day's load, put together from straight pieces"
)
display.ax_.set_ylabel("load, MW")
plt.show()

# %%
# Rows on the tube or outside are circled: they alone hold the fit.
#
# **Where it fails.** Beyond the last row the piece that is open there goes on as a straight line,
# midnight or not. A gate that knows that days come again is shown in *A gate of your own*.

print("mean absolute error:", round(float(np.abs(model.predict(X) - load).mean()), 2), "MW")
