"""
Why this row got this score
===========================

**Question.** A model says "malignant". What in the row made it say so?

A locally linear model is linear around each row. Its explanation is no approximation: the parts of
the features and the intercept add up to the score, exactly. ``ExplanationDisplay`` draws the parts,
and which anchors answered.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LLSVMClassifier
from nearlinear.displays import ExplanationDisplay

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
model = make_pipeline(StandardScaler(), LLSVMClassifier(20, random_state=0)).fit(X, y)

# %%
# We take the row that the model is least sure of, and show the eight largest parts of its score,
# in standard deviations from the mean row.

scores = model.decision_function(X)
row = int(np.abs(scores).argmin())
scaled = model[0].transform(X.iloc[[row]])
display = ExplanationDisplay.from_estimator(
    model[-1], scaled, feature_names=X.columns, max_features=8,
    title="A close call: parts for and against cancel",
)  # fmt: skip
plt.show()

# %%
# **Where it fails.** Parts tell what the model has added up, not what would happen if a feature
# were changed: with another value, other anchors may answer. And parts of columns that say the
# same (radius, perimeter, area) may cancel each other.

found = model[-1].explain(scaled)
total = found.contributions[0, 0].sum() + found.intercepts[0, 0]
print(f"score {scores[row]:.6f}, sum of the parts {total:.6f}")
