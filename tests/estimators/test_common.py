"""scikit-learn's own checks.

All on one estimator for each road through the code, on the others those that learn.
``pytest --all`` runs every check on every estimator.
"""

import pytest
from estimators.conftest import ROADS
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator
from small_estimators import FOREST

import nearlinear

NAMES = [n for n in nearlinear.__all__ if n.endswith(("Classifier", "Regressor"))]
# Settings that make a check quick; the checks' own data have about 30 rows.
QUICK = {
    "LLSVMClassifier": {"n_anchors": 4},
    "LCCSVMClassifier": {"n_anchors": 4},
    "LLCSAPLClassifier": {"n_anchors": 4, "max_iter": 5},
    "LDKLClassifier": {"depth": 1, "max_iter": 10},
    "LDKLRegressor": {"depth": 1, "max_iter": 10},
    "ClusteredSVMClassifier": {"n_clusters": 3},
    "SVMKNNClassifier": {"n_neighbors": 5},
    "CPSPClassifier": {"n_basis": 4, "max_iter": 10},
    "MLLKMClassifier": {"n_anchors": 10},
    "MLLKMRegressor": {"n_anchors": 10},
    "SPGGMKLClassifier": {"C": 1.0},
    "MWUMKLClassifier": {"C": 1.0},
    "LMKLClassifier": {"n_copies": 2, "max_iter": 5},
    "LMKLRegressor": {"n_copies": 2, "max_iter": 5},
    "ConvexLMKLClassifier": {"C": 1.0},
    "SwMKLClassifier": {"C": 1.0},
    "LDMKLClassifier": {"C": 1.0},
    "SAMKLClassifier": {"C": 1.0, "max_rounds": 1},
    "LocalForestClassifier": FOREST,
    "LocalForestRegressor": FOREST,
    "NearLinearClassifier": {"families": ["piecewise linear"]},
    "NearLinearRegressor": {"families": ["piecewise linear"]},
}
LEARN = {
    "check_class_weight_classifiers",
    "check_classifiers_classes",
    "check_classifiers_train",
    "check_estimators_dtypes",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_subset_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_regressors_int",
    "check_regressors_train",
    "check_sample_weight_equivalence_on_dense_data",
}

# One check is of sparse rows only.
DENSE = ["SVMKNNClassifier", "MLLKMClassifier", "MLLKMRegressor"]
DENSE += ["DCPredClassifier", "DCPredRegressor", "LocalForestClassifier", "LocalForestRegressor"]


def quick(name):
    return getattr(nearlinear, name)(**QUICK.get(name, {}))


def checks(name):
    """The name, the estimator and the check, for each check of an estimator."""
    for estimator, check in estimator_checks_generator(quick(name)):
        word = getattr(check, "func", check).__name__
        if word == "check_fit_score_takes_y" and "max_support" in estimator.get_params():
            # it calls partial_fit after fit, and MLLKM opens a stream there only when asked
            estimator = clone(estimator).set_params(max_support=100)
        if word.startswith("check_sample_weight_equivalence") and hasattr(estimator, "encoder"):
            # medians and spreads of a table count each row once
            estimator = clone(estimator).set_params(encoder=None)
        yield word, estimator, check


def pytest_generate_tests(metafunc):
    if "check" in metafunc.fixturenames:
        every = metafunc.config.getoption("--all")
        cases = [
            pytest.param(estimator, check, id=f"{name}-{word}")
            for name in NAMES
            for word, estimator, check in checks(name)
            if every or name in ROADS or word in LEARN
        ]
        metafunc.parametrize(("estimator", "check"), cases)


def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_all_checks_of_an_estimator_are_run():
    # Tags that say less than the truth would leave checks out without a word.
    counts = {name: sum(1 for _ in checks(name)) for name in NAMES}
    # forests take missing values: nothing is to be refused then
    least = {name: 60 - (name in DENSE) - name.startswith("LocalForest") for name in NAMES}
    assert {name: n for name, n in counts.items() if n < least[name]} == {}


def test_checks_that_learn_are_known():
    known = {word for name in ROADS for word, _, _ in checks(name)}
    assert known.issuperset(LEARN)
