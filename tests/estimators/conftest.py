"""Every public classifier in a small setting."""

import pytest

import nearlinear

SMALL = {
    "LLSVMClassifier": {"n_anchors": 8, "n_neighbors": 3, "random_state": 0},
    "LCCSVMClassifier": {"n_anchors": 15, "n_neighbors": 3, "random_state": 0},
    "LLCSAPLClassifier": {"n_anchors": 8, "n_neighbors": 3, "max_iter": 12, "random_state": 0},
    "ClusteredSVMClassifier": {"n_clusters": 5, "random_state": 0},
    "SVMKNNClassifier": {"n_neighbors": 12},
}


@pytest.fixture
def small():
    """Makes a classifier by name; further settings override the small ones."""

    def make(name, **settings):
        return getattr(nearlinear, name)(**{**SMALL[name], **settings})

    return make


def pytest_generate_tests(metafunc):
    """``name`` runs over all classifiers, ``sparse_name`` over those that take sparse rows, ..."""
    anchored = ["LLSVMClassifier", "LCCSVMClassifier", "LLCSAPLClassifier"]
    lists = {
        "name": list(SMALL),
        "sparse_name": [*anchored, "ClusteredSVMClassifier"],
        "anchor_name": anchored,
        "random_name": [*anchored, "ClusteredSVMClassifier"],
    }
    for argument, names in lists.items():
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, names)
