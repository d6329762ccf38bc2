"""MLLKM with the paper's parameters, which are not relative to the rows."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from nearlinear import MLLKMClassifier
from nearlinear.kernels.row_scales import RowScales


class PublishedMLLKM(ClassifierMixin, BaseEstimator):
    """Gaussian kernels as they are: neither divided by anything nor helped by a bias.

    MLLKMClassifier divides all kernels by the rows' median squared distance and takes bandwidths
    relative to it. ``C`` and ``gammas`` are those of kernels that nothing divides.
    """

    def __init__(self, C=100.0, gammas=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0), random_state=None):
        self.C = C
        self.gammas = gammas
        self.random_state = random_state

    def fit(self, X, y):
        unit = RowScales(X).squared_distance
        self.estimator_ = MLLKMClassifier(
            "gaussian",
            C=self.C * unit,
            bandwidths=unit * np.asarray(self.gammas),
            length_exponent=0.0,
            bias="none",
            n_anchors=None,
            random_state=self.random_state,
        )
        self.estimator_.fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X):
        return self.estimator_.predict(X)
