"""The alternatives that are not ready-made: kernel approximations, and boosted trees if present."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

try:
    import lightgbm
except ImportError:
    lightgbm = None
try:
    import xgboost
except ImportError:
    xgboost = None
else:

    class LabeledXGBClassifier(xgboost.XGBClassifier):
        """XGBoost takes no labels but 0, 1, 2, ..."""

        def fit(self, X, y):
            self.labels_, codes = np.unique(y, return_inverse=True)
            return super().fit(X, codes)

        def predict(self, X):
            return self.labels_[super().predict(X)]


# The epochs of a network are one of its parameters here; that it could go on is no news.
warnings.filterwarnings("ignore", category=ConvergenceWarning, module="sklearn.neural_network")


def random_features_svc(gamma=1.0, n_components=100, C=1.0):
    """A linear SVM on random Fourier features."""
    features = RBFSampler(gamma=gamma, n_components=n_components)
    return make_pipeline(features, LinearSVC(C=C))


class NystroemSVC(ClassifierMixin, BaseEstimator):
    """A linear SVM on Nyström features.

    scikit-learn's transformer multiplies the kernel values with a square matrix. Here that matrix
    goes into the weights once and for all, so that a prediction pays for the landmarks only.
    """

    def __init__(self, gamma=1.0, n_components=100, C=1.0, random_state=None):
        self.gamma = gamma
        self.n_components = n_components
        self.C = C
        self.random_state = random_state

    def fit(self, X, y):
        n_components = min(self.n_components, len(y))
        features = Nystroem(
            gamma=self.gamma, n_components=n_components, random_state=self.random_state
        )
        machine = LinearSVC(C=self.C, random_state=self.random_state)
        machine.fit(features.fit_transform(X), y)
        self.classes_ = machine.classes_
        self.landmarks_ = features.components_
        self.coef_ = machine.coef_ @ features.normalization_
        self.intercept_ = machine.intercept_
        return self

    def predict(self, X):
        scores = rbf_kernel(X, self.landmarks_, self.gamma) @ self.coef_.T + self.intercept_
        if len(self.classes_) == 2:
            return self.classes_[(scores[:, 0] > 0).astype(int)]
        return self.classes_[np.argmax(scores, axis=1)]


def boosted_trees():
    """Classifiers and regressors of the boosting libraries that can be imported."""
    classifiers, regressors = {}, {}
    if lightgbm is not None:
        classifiers["lightgbm"] = lightgbm.LGBMClassifier
        regressors["lightgbm"] = lightgbm.LGBMRegressor
    if xgboost is not None:
        classifiers["xgboost"] = LabeledXGBClassifier
        regressors["xgboost"] = xgboost.XGBRegressor
    return classifiers, regressors
