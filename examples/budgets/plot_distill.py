"""
A fast student of a slow teacher
================================

**Question.** A support vector machine is accurate but slow. Can a small model learn its answers?

``distill`` lets the search learn from what the teacher says of rows that it has not seen. The
student is what fits inside the budget: here 150 times the multiply-adds of a linear model.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from nearlinear import distill
from nearlinear.displays import CostFrontDisplay

X, y = make_classification(
    2800, n_features=10, n_informative=6, n_redundant=0, n_clusters_per_class=4, class_sep=1.1,
    flip_y=0.05, random_state=2,
)  # fmt: skip
X_train, y_train, X_test, y_test = X[:800], y[:800], X[800:], y[800:]
student = distill(
    SVC(), X_train, y_train, families=["anchors"], max_times_linear=150, random_state=0
)
kept = student.report_["gain_kept"]
print(f"Of what the teacher gains over a linear model, the student keeps {100 * kept:.0f} %.")
print("It has learned from:", student.report_["targets"])

# %%
# Teacher, student and linear model on test rows that none of them has seen.
# ``CostFrontDisplay.from_estimators`` scores and times them.

models = {
    "teacher: SVC": SVC().fit(X_train, y_train),
    "student": student,
    "logistic regression": LogisticRegression().fit(X_train, y_train),
}
figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
CostFrontDisplay.from_estimators(
    models, X_test, y_test, ax=ax, title="Far above a line, far faster than the teacher"
)
plt.show()

# %%
# **Where it fails.** Where labels are clean and classes are many, they teach more than a teacher
# does; ``report_["targets"]`` then says "y". Where the teacher is no better than a linear model,
# there is nothing to keep. And times of small models are mostly those of the call: the difference
# grows with the number of support rows.
