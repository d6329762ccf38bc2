"""The methods of the paper by name, and what ``config.toml`` says about each on each data set."""

import tomllib
from functools import cache, partial
from pathlib import Path

from sklearn.svm import SVC, LinearSVC

from nearlinear import (
    ClusteredSVMClassifier,
    LCCSVMClassifier,
    LLCSAPLClassifier,
    LLSVMClassifier,
    SVMKNNClassifier,
)
from reproduce import datasets

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"

MAKERS = {
    "linear": LinearSVC,
    "kernel": SVC,
    "llsvm": LLSVMClassifier,
    "llc_sapl": LLCSAPLClassifier,
    "lcc_svm": LCCSVMClassifier,
    "llc_sapl_lcc": partial(LLCSAPLClassifier, local_model="constant"),
    "svm_knn": SVMKNNClassifier,
    "csvm": ClusteredSVMClassifier,
}
TITLES = {
    "linear": "Linear SVM",
    "kernel": "Kernel SVM",
    "llsvm": "LLSVM",
    "llc_sapl": "LLC-SAPL",
    "lcc_svm": "LCC+SVM",
    "llc_sapl_lcc": "LLC-SAPL_lcc",
    "svm_knn": "SVM-KNN",
    "csvm": "CSVM",
    "ldkl": "LDKL",
}
# These draw no random numbers that matter: on a set with a split of its own one run says all.
DETERMINISTIC = {"linear", "kernel", "svm_knn"}


@cache
def config():
    with open(FOLDER / "config.toml", "rb") as file:
        return tomllib.load(file)


def build(method, parameters, seed):
    """An estimator of this method, seeded where it can be."""
    model = MAKERS[method](**parameters)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model


def parameters_for(method, dataset):
    """What all data sets share, overruled by what was chosen for this one."""
    entry = config()["methods"][method]
    return entry["common"] | entry.get("chosen", {}).get(dataset, {})


def grid_for(method, dataset):
    """Candidate values by parameter name."""
    entry = config()["methods"][method]
    return entry["grid"] | entry.get("grid_for", {}).get(dataset, {})


def reason_to_skip(method, dataset):
    """Why this method is not run on this set, or None."""
    return config()["methods"][method].get("skip", {}).get(dataset)


def seeds_for(method, dataset, n_seeds):
    if method in DETERMINISTIC and datasets.has_own_split(dataset):
        return range(1)
    return range(n_seeds)


def load_split(dataset, seed):
    """The data set split and scaled as the configuration says."""
    return datasets.load(dataset, seed, config()["datasets"][dataset]["scaling"])


def test_rows_for(method, dataset):
    """How many test rows a slow method is tried on, or None for all of them."""
    return config()["methods"][method].get("test_rows", {}).get(dataset)
