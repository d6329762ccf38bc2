"""The methods of the paper with one set of kernel weights, and single kernels beside them."""

from functools import partial
from pathlib import Path

from sklearn.svm import SVC

from nearlinear import MWUMKLClassifier, SPGGMKLClassifier, UniformMKLClassifier
from nearlinear.kernels import Gaussian, Linear, Polynomial
from reproduce.inner_search import chosen_by_folds
from reproduce.study import Study


def three_kernels(gamma, n_features):
    """Linear, square and Gaussian; ``gamma`` of the Gaussian in units of 1 / n_features."""
    unit = 1.0 / n_features
    return [Linear(), Polynomial(2, gamma=unit), Gaussian(gamma=gamma * unit)]


def mixture(maker, gamma, n_features, search_rows=None, **parameters):
    """A machine on three kernels of unit diagonal, with the best of several Gaussians."""
    candidates = [three_kernels(value, n_features) for value in gamma]
    model = maker(normalisation="diagonal", **parameters)
    return chosen_by_folds(model, {"kernels": candidates}, max_rows=search_rows)


def gaussian_machine(gamma, n_features, search_rows=None, **parameters):
    """A machine on the best of several Gaussians."""
    candidates = [value / n_features for value in gamma]
    return chosen_by_folds(SVC(**parameters), {"gamma": candidates}, max_rows=search_rows)


GLOBAL = {
    "uniform": UniformMKLClassifier,
    "gmkl": SPGGMKLClassifier,
    "mwumkl": MWUMKLClassifier,
}
MAKERS = {
    "linear": SVC,
    "kernel": gaussian_machine,
    "kernel_cv": gaussian_machine,
    **{method: partial(mixture, maker) for method, maker in GLOBAL.items()},
    **{f"{method}_cv": partial(mixture, maker) for method, maker in GLOBAL.items()},
}
TITLES = {
    "linear": "Linear SVM",
    "kernel": "RBF-SVM",
    "kernel_cv": "RBF-SVM, width by CV",
    "uniform": "Uniform",
    "uniform_cv": "Uniform, width by CV",
    "gmkl": "SPG-GMKL",
    "gmkl_cv": "SPG-GMKL, width by CV",
    "mwumkl": "MWUMKL",
    "mwumkl_cv": "MWUMKL, width by CV",
    "swmkl": "SwMKL",
    "ldmkl": "LD-MKL",
    "lmkl": "LMKL",
    "clmkl": "C-LMKL",
}
MEASURED = (
    "accuracy",
    "fit_seconds",
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


def with_features(method, parameters, dataset):
    """Widths are relative to the number of features."""
    if "gamma" not in parameters:
        return parameters
    return parameters | {"n_features": STUDY.config["datasets"][dataset]["n_features"]}


STUDY = Study(
    folder=Path(__file__).parent,
    makers=MAKERS,
    titles=TITLES,
    complete=with_features,
    measured=MEASURED,
)
