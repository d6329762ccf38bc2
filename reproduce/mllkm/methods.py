"""The methods of the paper by name."""

from functools import partial
from pathlib import Path

from sklearn.linear_model import LogisticRegression

from nearlinear import (
    LaSVMClassifier,
    LLSVMClassifier,
    SequentialMKLClassifier,
    SimpleMKLClassifier,
)
from nearlinear.kernels import Gaussian, bank
from reproduce.inner_search import chosen_by_folds
from reproduce.study import Study


def lasvm(widths, folds, **parameters):
    """A Gaussian machine whose width is chosen on the rows that it is fitted to."""
    kernels = [Gaussian(width=width) for width in widths]
    return chosen_by_folds(LaSVMClassifier(**parameters), "kernel", kernels, folds)


def with_bank_by_folds(maker, columns, folds, **parameters):
    """A mixture of kernels; where these live is chosen on the rows that it is fitted to."""
    banks = [bank(columns=where) for where in columns]
    return chosen_by_folds(maker(**parameters), "kernels", banks, folds)


MAKERS = {
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
