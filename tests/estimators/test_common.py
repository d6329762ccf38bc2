"""scikit-learn's own checks on every public estimator."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

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
    "SAMKLClassifier": {"C": 1.0, "max_rounds": 3},
}

# One check is of sparse rows only.
DENSE = ["SVMKNNClassifier", "MLLKMClassifier", "MLLKMRegressor"]


def quick(name):
    return getattr(nearlinear, name)(**QUICK.get(name, {}))


@parametrize_with_checks([quick(name) for name in NAMES])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("public_name", NAMES)
def test_all_checks_of_an_estimator_are_run(public_name):
    # Tags that say less than the truth would leave checks out without a word.
    wanted = 59 if public_name in DENSE else 60
    assert sum(1 for _ in estimator_checks_generator(quick(public_name))) >= wanted
