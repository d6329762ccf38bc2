"""Our estimators with every setting written out that shapes a fit.

Records were made with these values. They stay as they are when the library's defaults change; a
configuration overrules them.
"""

from functools import partial

from nearlinear import LDKLClassifier, LDKLRegressor, LLCSAPLClassifier

_TREE = {
    "depth": "auto",
    "n_components": None,
    "global_features": "identity",
    "node_gate": "tanh",
    "sigma": 1.0,
    "solver": "adam",
    "max_iter": 100,
    "batch_size": "auto",
    "learning_rate": "auto",
    "direction_penalty": 0.0,
    "splits": "top_down",
    "hard_fraction": 0.3,
    "pruning": None,
    "n_trees": 1,
    "linear_root": False,
}
ldkl_classifier = partial(LDKLClassifier, **_TREE, C=10.0, loss="log_loss", jitter=0.2)
ldkl_regressor = partial(
    LDKLRegressor, **_TREE, C=0.1, loss="squared_error", epsilon=0.1, jitter=0.1
)
llc_sapl_classifier = partial(
    LLCSAPLClassifier,
    n_anchors=100,
    n_neighbors=8,
    local_model="affine",
    learn_metric=True,
    C=1.0,
    loss="squared_hinge",
    solver="auto",
    max_iter=100,
    batch_size="auto",
    learning_rate=0.2,
    jitter=0.1,
)
