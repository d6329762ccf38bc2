"""
A tree as a river
=================

**Question.** Where in a tree do the errors come from?

``TreeDiagramDisplay`` sends rows down the tree. A node is as wide as its share of the rows; its
color is the accuracy of those that pass. Above a split stand the features that it weighs most.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LDKLClassifier
from nearlinear.displays import TreeDiagramDisplay

data = load_wine(as_frame=True)
columns = ["alcohol", "malic_acid", "ash", "magnesium", "hue"]
X_train, X_test, y_train, y_test = train_test_split(
    data.data[columns], data.target, test_size=0.6, random_state=0
)
tree = LDKLClassifier(3, max_iter=30, random_state=0)
model = make_pipeline(StandardScaler(), tree).fit(X_train, y_train)

figure, ax = plt.subplots(figsize=(8.4, 5.0), layout="constrained")
TreeDiagramDisplay.from_estimator(
    model, X_test, y_test, feature_names=columns, ax=ax,
    title="Most errors come from two arms of the tree",
)  # fmt: skip
plt.show()

# %%
# Rows are test rows. A red leaf at the end of a wide arm is where more rows, or another column,
# would help most.
#
# **Where it fails.** A narrow leaf has few rows, and its accuracy is a coarse number. The model is
# the sum of what all nodes on a path say, not of its leaf alone.
