"""Every public estimator in a small setting."""

import numpy as np
import pytest
from small_estimators import SMALL, SMALL_REGRESSORS

import nearlinear

# They take tables, and have tests of their own in tests/search.
FRONT_DOORS = {
    "NearLinearClassifier": {"random_state": 0},
    "NearLinearRegressor": {"random_state": 0},
}
# One for each road through the code: fixed and learned anchors, trees, rows kept, sums of kernels,
# conformal kernels, gated kernels. What ``Model`` does for all is tested on these.
# Tests with the mark ``every_estimator`` and ``pytest --all`` run on all.
ROADS = [
    "LLSVMClassifier",
    "LLCSAPLClassifier",
    "LDKLClassifier",
    "LDKLRegressor",
    "SVMKNNClassifier",
    "SimpleMKLClassifier",
    "SimpleMKLRegressor",
    "MLLKMClassifier",
    "LMKLClassifier",
    "LocalForestClassifier",
]


def by_roads(names):
    """A list for ``parametrize``: without ``--all``, those that stand for a road."""
    only_all = pytest.mark.only_all
    return [name if name in ROADS else pytest.param(name, marks=only_all) for name in names]


@pytest.fixture
def small():
    """Makes an estimator by name; further settings override the small ones."""

    def make(name, **settings):
        usual = {**SMALL, **SMALL_REGRESSORS, **FRONT_DOORS}[name]
        return getattr(nearlinear, name)(**usual | settings)

    return make


@pytest.fixture(scope="session")
def wave():
    """A wave over a plane with a little noise: a linear model explains about a third of it."""
    rng = np.random.default_rng(7)
    X = rng.uniform(-2.0, 2.0, (200, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.05 * rng.standard_normal(200)
    X.flags.writeable = y.flags.writeable = False
    return X, y


def pytest_generate_tests(metafunc):
    """``name`` runs over classifiers, ``any_name`` over all kinds of estimators, ..."""
    anchored = ["LLSVMClassifier", "LCCSVMClassifier", "LLCSAPLClassifier"]
    random = [*anchored, "LDKLClassifier", "ClusteredSVMClassifier"]
    dense = ("MLLKMRegressor", "DCPredRegressor", "LocalForestRegressor")
    mixtures = (name for name in SMALL if name.endswith("MKLClassifier"))
    sparse = [*random, *mixtures, "LaSVMClassifier", "CPSPClassifier"]
    sparse_regressors = [name for name in SMALL_REGRESSORS if name not in dense]
    streams = [*anchored, "LDKLClassifier"]
    lists = {
        "name": list(SMALL),
        "regressor_name": list(SMALL_REGRESSORS),
        "any_name": [*SMALL, *SMALL_REGRESSORS],
        "sparse_name": sparse,
        "sparse_regressor_name": sparse_regressors,
        "any_sparse_name": [*sparse, *sparse_regressors],
        "anchor_name": anchored,
        "random_name": [
            *random,
            "LaSVMClassifier",
            "CPSPClassifier",
            "MLLKMClassifier",
            "DCPredClassifier",
        ],
        "loss_name": random,  # kernel machines have one loss each
        "stream_name": [*streams, "LaSVMClassifier", "MLLKMClassifier", "LocalForestClassifier"],
        "sparse_stream_name": [*streams, "LaSVMClassifier"],
        "shuffled_stream_name": streams,  # LaSVM and MLLKM take rows in the order they come in
        "loss_stream_name": streams,
        "stream_regressor_name": ["LDKLRegressor", "MLLKMRegressor", "LocalForestRegressor"],
        "random_regressor_name": [
            "LDKLRegressor",
            "MLLKMRegressor",
            "LMKLRegressor",
            "DCPredRegressor",
        ],
        "kernel_name": [
            *(name for name in SMALL if name.endswith("MKLClassifier")),
            *(name for name in SMALL_REGRESSORS if name.endswith("MKLRegressor")),
        ],
    }
    every = metafunc.config.getoption("--all") or metafunc.definition.get_closest_marker(
        "every_estimator"
    )
    for argument, names in lists.items():
        if argument in metafunc.fixturenames:
            metafunc.parametrize(
                argument, names if every or len(names) < 6 else [n for n in names if n in ROADS]
            )
