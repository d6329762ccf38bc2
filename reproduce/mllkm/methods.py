"""The methods of the paper by name."""

from functools import partial
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from nearlinear import (
    LaSVMClassifier,
    LLSVMClassifier,
    MLLKMClassifier,
    SequentialMKLClassifier,
    SimpleMKLClassifier,
)
from nearlinear.kernels import Gaussian, bank
from nearlinear.kernels.row_scales import RowScales
from reproduce.inner_search import chosen_by_folds
from reproduce.study import Study


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


def mllkm(profile, per_feature, candidates, folds, repeats, margin, **parameters):
    """Local kernels of one map; of ``candidates`` values are chosen on the rows it is fitted to."""
    model = MLLKMClassifier(profile, per_feature, **parameters)
    return chosen_by_folds(model, candidates, folds, repeats, margin=margin)


def lasvm(widths, folds, **parameters):
    """A Gaussian machine whose width is chosen on the rows that it is fitted to."""
    kernels = [Gaussian(width=width) for width in widths]
    return chosen_by_folds(LaSVMClassifier(**parameters), {"kernel": kernels}, folds)


def with_bank_by_folds(maker, columns, folds, **parameters):
    """A mixture of kernels; where these live is chosen on the rows that it is fitted to."""
    banks = [bank(columns=where) for where in columns]
    return chosen_by_folds(maker(**parameters), {"kernels": banks}, folds)


# The maps of the paper: how a kernel fades, and whether in every component by itself.
MAPS = {
    "mllkm_g": ("gaussian", False),
    "mllkm_s": ("square", False),
    "mllkm_comp_g": ("gaussian", True),
    "mllkm_comp_s": ("square", True),
    "mllkm_e": ("exponential", False),
    "mllkm_l": ("linear", False),
    "mllkm_comp_e": ("exponential", True),
    "mllkm_comp_l": ("linear", True),
}
MAKERS = {
    **{name: partial(mllkm, *parts) for name, parts in MAPS.items()},
    "mllkm_g_default": MLLKMClassifier,
    "mllkm_g_paper": PublishedMLLKM,
    "sag": partial(LogisticRegression, solver="sag"),
    "llsvm": LLSVMClassifier,
    "lasvm": lasvm,
    "simple_mkl": SimpleMKLClassifier,
    "sequential_mkl": SequentialMKLClassifier,
    "simple_mkl_cv": partial(with_bank_by_folds, SimpleMKLClassifier),
    "sequential_mkl_cv": partial(with_bank_by_folds, SequentialMKLClassifier),
}
TITLES = {
    "mllkm_g": "MLLKM, Gaussian",
    "mllkm_s": "MLLKM, square",
    "mllkm_comp_g": "MLLKM, Gaussian by component",
    "mllkm_comp_s": "MLLKM, square by component",
    "mllkm_e": "MLLKM, exponential",
    "mllkm_l": "MLLKM, linear",
    "mllkm_comp_e": "MLLKM, exponential by component",
    "mllkm_comp_l": "MLLKM, linear by component",
    "mllkm_g_default": "MLLKM, Gaussian, defaults",
    "mllkm_g_paper": "MLLKM, Gaussian, as published",
    "sag": "SAG",
    "llsvm": "LLSVM",
    "lasvm": "LaSVM, Gaussian",
    "simple_mkl": "SimpleMKL",
    "sequential_mkl": "SequentialMKL",
    "simple_mkl_cv": "SimpleMKL, bank by CV",
    "sequential_mkl_cv": "SequentialMKL, bank by CV",
}
MEASURED = (
    "accuracy",
    "fit_seconds",
    "predict_ms",
    "predict_us_per_row",
    "times_linear",
    "n_kernels",
    "n_support",
    "chosen",
    "model_bytes",
    "n_train",
    "n_test",
    "version",
)

STUDY = Study(folder=Path(__file__).parent, makers=MAKERS, titles=TITLES, measured=MEASURED)
