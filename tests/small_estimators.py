"""Every public estimator except NearLinear in a small setting."""

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
