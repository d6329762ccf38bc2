"""Random forests, rows to send through them, and models that hold them."""

import numpy as np

from nearlinear import LocalForestClassifier, LocalForestRegressor
from nearlinear.estimators._base.model import Training
from nearlinear.gates.forests.gate import GrownTree, gather_trees
from nearlinear.predictors.forest import forest_of

N_CATEGORIES = 40  # more than a word of a set has bits


def random_forest(
    rng, n_trees, n_leaves, n_features, n_outputs=1, dtype=np.float32, *, pairs=0, missing=False,
    categories=False, slopes=0, root=False, vector=False, pure=False,
):  # fmt: skip
    """Trees of any shape, with all that is asked for; categories are in the last column."""
    n_told = n_outputs if vector else 1
    trees = [
        _random_tree(
            rng, n_leaves, n_features + pairs, n_told, 0 if vector else t % n_outputs, missing,
            n_features - 1 if categories else None,
        )
        for t in range(n_trees)
    ]  # fmt: skip
    both = np.array([rng.choice(n_features - 1, 2, replace=False) for _ in range(pairs)])
    factors = rng.choice([-1.0, 1.0], (pairs, 2)) * rng.uniform(0.3, 2.0, (pairs, 2))
    gate, values, covers = gather_trees(
        trees, n_features, dtype, both, factors, N_CATEGORIES if categories else 0
    )
    if pure:  # most leaves know one class
        others = rng.integers(0, n_outputs, len(values))[:, None] != np.arange(n_outputs)
        values[others & (rng.random((len(values), 1)) < 0.8)] = 0.0
    more = {}
    if slopes:
        more["slopes"] = rng.standard_normal((*values.shape, slopes)) / n_trees
        more["slope_columns"] = np.sort(rng.choice(n_features, slopes, replace=False))
    if root:
        more["root"] = rng.standard_normal((n_outputs, n_features))
    if missing and (slopes or root):
        more["fill"] = rng.standard_normal(n_features)
    outputs = [tree.output for tree in trees]
    return forest_of(gate, values, outputs, rng.standard_normal(n_outputs), covers, **more)


def _random_tree(rng, n_leaves, n_columns, n_told, output, missing, of_categories):
    n_nodes = 2 * n_leaves - 1
    left, right = np.full(n_nodes, -1), np.full(n_nodes, -1)
    column, sets, open_leaves = np.zeros(n_nodes, dtype=int), [None] * n_nodes, [0]
    for number in range(n_leaves - 1):
        # the newest leaves half of the time, so that some paths are long
        place = -1 if rng.random() < 0.5 else rng.integers(len(open_leaves))
        node = open_leaves.pop(place)
        left[node], right[node] = 2 * number + 1, 2 * number + 2
        open_leaves += [2 * number + 1, 2 * number + 2]
        column[node] = rng.integers(n_columns)
        if column[node] == of_categories:
            sets[node] = rng.choice(N_CATEGORIES, rng.integers(1, 30), replace=False)
    return GrownTree(
        column, rng.standard_normal(n_nodes), left, right,
        rng.integers(0, 2, n_nodes) if missing else np.zeros(n_nodes, dtype=int),
        rng.standard_normal((n_nodes, n_told)), rng.integers(1, 9, n_nodes).astype(float),
        output, tuple(sets) if of_categories is not None else None,
    )  # fmt: skip


def random_rows(rng, forest, n_rows, *, missing=False, categories=False):
    """Rows, some of them with values that are thresholds; missing ones, odd categories."""
    gate = forest.gate
    X = rng.standard_normal((n_rows, forest.n_features)).astype(forest.dtype)
    plain = gate.columns < forest.n_features
    plain &= (gate.columns >= 0) & np.isfinite(gate.thresholds)
    nodes = rng.choice(np.flatnonzero(plain), n_rows)
    X[np.arange(n_rows), gate.columns[nodes]] = gate.thresholds[nodes]
    if categories:
        X[:, -1] = rng.integers(-2, N_CATEGORIES + 40, n_rows)
        X[::5, -1] += 0.5
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X


# What the tests of every target go through, by name: shape and options of a forest.
FORESTS = {
    "plain": ((7, 20, 6), {}),
    "one leaf": ((2, 1, 3), {}),
    "pairs": ((6, 20, 6), {"pairs": 5}),
    "missing": ((6, 20, 6), {"pairs": 3, "missing": True}),
    "sets": ((6, 20, 6), {"pairs": 2, "missing": True, "categories": True}),
    "three outputs": ((7, 12, 6, 3), {"root": True, "missing": True}),
    "vector": ((4, 12, 6, 3), {"vector": True, "pairs": 2}),
    "pure": ((4, 12, 6, 4), {"vector": True, "pure": True, "root": True}),
    "slopes": ((5, 12, 6), {"slopes": 3, "root": True, "missing": True, "pairs": 2}),
    "vector slopes": ((4, 9, 6, 3), {"slopes": 4, "vector": True, "missing": True}),
    "slopes of outputs": ((6, 9, 6, 3), {"slopes": 2, "missing": True, "categories": True}),
    "wide": ((5, 400, 1100), {"missing": True}),
}


def forest_and_rows(name, dtype=np.float32, n_rows=300):
    """One of ``FORESTS`` and rows for it."""
    rng = np.random.default_rng(len(name))
    shape, options = FORESTS[name]
    forest = random_forest(rng, *shape, dtype=dtype, **options)
    if forest.gate.n_leaves == forest.gate.n_trees:
        return forest, rng.standard_normal((n_rows, forest.n_features)).astype(dtype)
    kinds = {word: options.get(word, False) for word in ("missing", "categories")}
    return forest, random_rows(rng, forest, n_rows, **kinds)


def held(forest, is_regression=False):
    """A fitted model with this forest."""
    model = LocalForestRegressor() if is_regression else LocalForestClassifier()
    model.predictor_, model.n_features_in_ = forest, forest.n_features
    model._training = Training(10)
    if not is_regression:
        model.classes_ = np.arange(max(2, forest.n_outputs))
    return model
