"""Every public estimator in a small setting."""

import numpy as np
import pytest

import nearlinear
from nearlinear.kernels import bank

FOREST = {
    "n_trees": 20, "max_leaves": 8, "min_samples_leaf": 2, "pairs": 2, "leaf_penalty": 0.1,
    "leaf_model": "constant", "linear_root": False, "random_state": 0,
}  # fmt: skip
SMALL = {
    "LLSVMClassifier": {"n_anchors": 8, "n_neighbors": 3, "random_state": 0},
    "LCCSVMClassifier": {"n_anchors": 15, "n_neighbors": 3, "random_state": 0},
    "LLCSAPLClassifier": {"n_anchors": 8, "n_neighbors": 3, "max_iter": 12, "random_state": 0},
    "LDKLClassifier": {"depth": 2, "max_iter": 40, "random_state": 0},
    "ClusteredSVMClassifier": {"n_clusters": 5, "random_state": 0},
    "SVMKNNClassifier": {"n_neighbors": 12},
    "UniformMKLClassifier": {"C": 1.0},
    "SimpleMKLClassifier": {"C": 1.0},
    "SPGGMKLClassifier": {"C": 1.0},
    "SequentialMKLClassifier": {"kernels": bank(widths=3, degrees=(2,)), "C": 1.0},
    "MWUMKLClassifier": {"C": 1.0},
    "MLLKMClassifier": {"n_anchors": 25, "C": 1.0, "max_support": 1000, "random_state": 0},
    "LMKLClassifier": {"random_state": 0},
    "ConvexLMKLClassifier": {"C": 1.0, "random_state": 0},
    "SwMKLClassifier": {"C": 1.0},
    "LDMKLClassifier": {"C": 1.0},
    "SAMKLClassifier": {"C": 1.0, "max_rounds": 3},
    "LaSVMClassifier": {"random_state": 0},
    "CPSPClassifier": {"n_basis": 8, "max_iter": 20, "random_state": 0},
    "DCPredClassifier": {"n_clusters": 2, "n_landmarks": 8, "random_state": 0},
    "LocalForestClassifier": FOREST,
}
SMALL_REGRESSORS = {
    "LDKLRegressor": {"depth": 2, "max_iter": 40, "random_state": 0},
    "UniformMKLRegressor": {},
    "SimpleMKLRegressor": {},
    "SPGGMKLRegressor": {},
    "SequentialMKLRegressor": {"kernels": bank(widths=3, degrees=(2,))},
    "MLLKMRegressor": {"n_anchors": 25, "bias": "free", "max_support": 200, "random_state": 0},
    "LMKLRegressor": {"random_state": 0},
    "DCPredRegressor": {"n_clusters": 2, "n_landmarks": 8, "random_state": 0},
    "LocalForestRegressor": FOREST,
}
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
