"""The methods of the paper by name, localized and with one set of kernel weights."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sklearn.model_selection import ParameterGrid
from sklearn.svm import SVC

from nearlinear import (
    ConvexLMKLClassifier,
    LDMKLClassifier,
    LMKLClassifier,
    MWUMKLClassifier,
    SAMKLClassifier,
    SPGGMKLClassifier,
    SwMKLClassifier,
    UniformMKLClassifier,
)
from nearlinear.kernels import Gaussian, Linear, Polynomial
from reproduce import datasets
from reproduce.inner_search import chosen_by_folds
from reproduce.split import divide, scaled
from reproduce.study import Study


@dataclass(frozen=True)
class DrawnStudy(Study):
    """Adds three entries to the configuration.

    ``drawn_from``: an archive whose training part is divided anew by every seed, three quarters to
    train on. ``seeds`` of a method, by set: how many there are, where that is less than the set
    has. ``in_range`` of a method: the sets whose features lie between −1 and 1 for it.
    """

    def load_split(self, dataset, seed):
        entry = self.config["datasets"][dataset]
        if "drawn_from" not in entry:
            return super().load_split(dataset, seed)
        arrays = datasets.read(entry["drawn_from"])
        X, y = arrays["X_train"], arrays["y_train"]
        n_train = int(0.75 * len(y) + 0.5)
        return scaled(dataset, *divide(X, y, seed, train_size=n_train), entry["scaling"])

    def limited(self, split, method):
        if split.name in self.config["methods"][method].get("in_range", ()):
            split = split.in_range()
        return super().limited(split, method)

    def seeds_for(self, method, dataset, n_seeds):
        limit = self.config["methods"][method].get("seeds", {}).get(dataset, n_seeds)
        return super().seeds_for(method, dataset, min(n_seeds, limit))


AFFINE = "affine"


def three_kernels(gamma, n_features):
    """Linear, square and Gaussian; ``gamma`` of the Gaussian in units of 1 / n_features."""
    unit = 1.0 / n_features
    return [Linear(), Polynomial(2, gamma=unit), Gaussian(gamma=gamma * unit)]


def grids(kernels, choose=None, affine_copies=None):
    """Candidates: every entry of ``kernels`` with all that is to ``choose``.

    With ``affine_copies``, so many affine kernels stand beside them, scaled to unit variance.
    """
    choose = choose or {}
    found = [{"kernels": kernels, **choose}] if kernels else []
    if affine_copies is not None:
        copies = {"n_copies": [affine_copies], "normalization": ["variance"]}
        found.append({"kernels": [AFFINE], **copies, **choose})
    return found


def mixture(
    maker, gamma, n_features, search_rows=None, choose=None, affine_copies=None, **parameters
):
    """A machine on three kernels, of unit diagonal if not said otherwise; the best Gaussian."""
    kernels = [three_kernels(value, n_features) for value in gamma]
    model = maker(**{"normalization": "diagonal"} | parameters)
    return chosen_by_folds(model, grids(kernels, choose, affine_copies), max_rows=search_rows)


def gaussian_machine(gamma, n_features, search_rows=None, **parameters):
    """A machine on the best of several Gaussians."""
    candidates = [value / n_features for value in gamma]
    return chosen_by_folds(SVC(**parameters), {"gamma": candidates}, max_rows=search_rows)


def choice(row):
    """What the folds of a row have chosen: its γ (or "affine") as ``kernels``, and all else.

    Nothing where there was one candidate.
    """
    parameters = row["parameters"]
    options = {name: parameters[name] for name in ("choose", "affine_copies") if name in parameters}
    candidates = list(ParameterGrid(grids(parameters.get("gamma", []), **options)))
    return candidates[int(row["chosen"])] if len(candidates) > 1 else {}


GLOBAL = {
    "uniform": UniformMKLClassifier,
    "gmkl": SPGGMKLClassifier,
    "mwumkl": MWUMKLClassifier,
}
LOCAL = {
    "lmkl": LMKLClassifier,
    "clmkl": ConvexLMKLClassifier,
    "swmkl": SwMKLClassifier,
    "ldmkl": LDMKLClassifier,
}
MAKERS = {
    "linear": SVC,
    "kernel": gaussian_machine,
    "kernel_cv": gaussian_machine,
    **{method: partial(mixture, maker) for method, maker in GLOBAL.items()},
    **{f"{method}_cv": partial(mixture, maker) for method, maker in GLOBAL.items()},
    **{method: partial(mixture, maker) for method, maker in LOCAL.items()},
    **{f"{method}_fixed": partial(mixture, maker) for method, maker in LOCAL.items()},
    "lmkl_published": partial(mixture, LMKLClassifier),
    "swmkl_pairwise": partial(mixture, SwMKLClassifier),
    "samkl": partial(mixture, SAMKLClassifier),
    **{f"{method}_mwu": partial(mixture, maker) for method, maker in LOCAL.items()},
    **{
        f"{method}_{variant}": partial(mixture, maker)
        for variant in ("plain", "range", "range_cv")
        for method, maker in (GLOBAL | LOCAL).items()
    },
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
    "lmkl_published": "LMKL, no gate penalty",
    "lmkl_fixed": "LMKL",
    "lmkl": "LMKL, by CV",
    "clmkl_fixed": "C-LMKL",
    "clmkl": "C-LMKL, by CV",
    "swmkl_fixed": "SwMKL",
    "swmkl": "SwMKL, by CV",
    "swmkl_pairwise": "SwMKL, pairwise",
    "ldmkl_fixed": "LD-MKL",
    "ldmkl": "LD-MKL, by CV",
    "samkl": "SAMKL, by CV",
    "lmkl_mwu": "LMKL, MWU",
    "clmkl_mwu": "C-LMKL, MWU",
    "swmkl_mwu": "SwMKL, MWU",
    "ldmkl_mwu": "LD-MKL, MWU",
    "uniform_plain": "Uniform, plain kernels",
    "gmkl_plain": "SPG-GMKL, plain kernels",
    "mwumkl_plain": "MWUMKL, plain kernels",
    "lmkl_plain": "LMKL, plain kernels",
    "clmkl_plain": "C-LMKL, plain kernels",
    "swmkl_plain": "SwMKL, plain kernels",
    "ldmkl_plain": "LD-MKL, plain kernels",
    "uniform_range": "Uniform, features from −1 to 1",
    "gmkl_range": "SPG-GMKL, features from −1 to 1",
    "mwumkl_range": "MWUMKL, features from −1 to 1",
    "lmkl_range": "LMKL, features from −1 to 1",
    "clmkl_range": "C-LMKL, features from −1 to 1",
    "swmkl_range": "SwMKL, features from −1 to 1",
    "ldmkl_range": "LD-MKL, features from −1 to 1",
    "uniform_range_cv": "Uniform, features from −1 to 1, width by CV",
    "gmkl_range_cv": "SPG-GMKL, features from −1 to 1, width by CV",
    "mwumkl_range_cv": "MWUMKL, features from −1 to 1, width by CV",
    "lmkl_range_cv": "LMKL, features from −1 to 1, width by CV",
    "clmkl_range_cv": "C-LMKL, features from −1 to 1, width by CV",
    "swmkl_range_cv": "SwMKL, features from −1 to 1, width by CV",
    "ldmkl_range_cv": "LD-MKL, features from −1 to 1, width by CV",
}
# Several of our rows may stand beside one printed number.
_VARIANTS = ("_cv", "_fixed", "_published", "_pairwise", "_mwu", "_plain", "_range")
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


def printed_as(method):
    """The name under which the paper's numbers for a method stand."""
    for variant in _VARIANTS:
        method = method.removesuffix(variant)
    return method


def with_features(method, parameters, dataset):
    """Widths are relative to the number of features, but for those of ``absolute_gamma``."""
    n_features = STUDY.config["datasets"][dataset]["n_features"]
    if "absolute_gamma" in parameters:
        parameters = dict(parameters)
        gamma = [n_features * value for value in parameters.pop("absolute_gamma")]
        parameters["gamma"] = gamma
    return parameters | {"n_features": n_features} if "gamma" in parameters else parameters


STUDY = DrawnStudy(
    folder=Path(__file__).parent,
    makers=MAKERS,
    titles=TITLES,
    complete=with_features,
    measured=MEASURED,
)
