"""Training rows from arrays, without an estimator and its checks."""

import numpy as np

from nearlinear.estimators._base.rows import TrainingRows
from nearlinear.estimators._base.task import Classification, Regression
from nearlinear.estimators._base.values.units import TargetUnits


def merge_rows(X, labels, weight, n_classes):
    """Canonical training rows of classes."""
    task = Classification(np.arange(n_classes))
    targets = task.targets(labels, X.dtype)
    return TrainingRows(X, labels, targets, weight, X.shape[0], task).merged()


def merge_regression_rows(X, y, weight):
    """Canonical training rows of values."""
    labels, targets = np.zeros(len(y), dtype=np.intp), y[:, None].astype(X.dtype)
    task, numbers = Regression(TargetUnits()), np.unique(y, return_inverse=True)[1]
    return TrainingRows(X, labels, targets, weight, X.shape[0], task).merged(numbers)
