"""A small problem for the solvers of local models: rows, targets, weights and a random model."""

import numpy as np

from nearlinear.solvers.solution import LocalModels

N_ANCHORS, N_NEIGHBORS = 6, 3


def make_problem(n_outputs, local_model, seed=0, n_rows=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 4))
    if n_outputs == 1:
        targets = np.where(X[:, :1] * X[:, 1:2] > 0, 1.0, -1.0)
    else:
        labels = rng.integers(n_outputs, size=n_rows)
        targets = np.where(labels[:, None] == np.arange(n_outputs), 1.0, -1.0)
    width = 4 if local_model == "affine" else 0
    model = LocalModels(
        rng.standard_normal((N_ANCHORS, 4)),
        0.4,
        rng.standard_normal((N_ANCHORS, width, n_outputs)),
        rng.standard_normal((N_ANCHORS, n_outputs)),
        rng.uniform(0.5, 2.0, 4),
    )
    return X, targets, rng.uniform(0.5, 1.5, n_rows), model
