"""Leaf values in order: the nearest ones, the refit among them, and the proof."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.ensemble import HistGradientBoostingRegressor

from nearlinear.gates.forests.gate import GrownTree, gather_trees
from nearlinear.gates.forests.readers.reading import read_forest
from nearlinear.losses import LogLoss, PoissonLoss, SquaredError
from nearlinear.solvers.forests.monotone import check_monotone, tree_orders
from nearlinear.solvers.forests.refit import refit_leaves, scores_of

CONSTRAINTS = np.array([1, -1, 0])


def random_tree(rng, n_leaves=8, n_columns=3):
    n_nodes = 2 * n_leaves - 1
    left, right, open_leaves = np.full(n_nodes, -1), np.full(n_nodes, -1), [0]
    for number in range(n_leaves - 1):
        node = open_leaves.pop(rng.integers(len(open_leaves)))
        left[node], right[node] = 2 * number + 1, 2 * number + 2
        open_leaves += [2 * number + 1, 2 * number + 2]
    return GrownTree(
        rng.integers(0, n_columns, n_nodes), rng.standard_normal(n_nodes), left, right,
        rng.integers(0, 2, n_nodes), rng.standard_normal((n_nodes, 1)), np.ones(n_nodes),
    )  # fmt: skip


def random_gate(rng, n_trees=2, **more):
    trees = [random_tree(rng, n_columns=3 + len(more.get("pairs", ()))) for _ in range(n_trees)]
    return gather_trees(trees, 3, np.float64, **more)[:2]


def conditions(gate):
    """A matrix with A v ≥ 0 for values in order: from paths, leaf by leaf."""
    found = []
    for tree in range(gate.n_trees):
        paths = {}

        def walk(node, path, paths=paths):
            if gate.columns[node] < 0:
                paths[int(gate.children[node])] = path
                return
            for side in (0, 1):
                walk(gate.children[node] + side, [*path, (node, side)])

        walk(gate.starts[tree], [])
        for one, first in paths.items():
            for other, second in paths.items():
                parted = [(a, b) for a, b in zip(first, second) if a != b][:1]
                if parted and parted[0][0][1] == 0:
                    direction = CONSTRAINTS[gate.columns[parted[0][0][0]]]
                    if direction:
                        row = np.zeros(gate.n_leaves)
                        row[other], row[one] = direction, -direction
                        found.append(row)
    return np.array(found)


def nearest(gate, values, weight):
    starts = gate.leaf_starts
    parts = zip(tree_orders(gate, CONSTRAINTS), starts[:-1], starts[1:], strict=True)
    return np.concatenate([order.nearest(values[a:b], weight[a:b]) for order, a, b in parts])


@pytest.mark.passes
@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_values_in_order(seed):
    rng = np.random.default_rng(seed)
    gate, values = random_gate(rng)
    v, weight, A = values[:, 0], rng.uniform(0.1, 3.0, len(values)), conditions(gate)
    found = nearest(gate, v, weight)
    best = minimize(
        lambda x: (weight @ (x - v) ** 2, 2 * weight * (x - v)), v, jac=True, method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: A @ x, "jac": lambda x: A},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    assert (A @ found).min() >= 0
    np.testing.assert_allclose(found, best.x, atol=1e-6)
    np.testing.assert_array_equal(nearest(gate, found, weight), found)


@pytest.mark.parametrize("loss", [LogLoss(), SquaredError(), PoissonLoss()])
def test_a_refit_in_order_is_the_best_and_certified(rng, loss):
    gate, values = random_gate(rng)
    X = rng.standard_normal((150, 3))
    leaves, base, outputs = gate(X), np.zeros((150, 1)), np.zeros(2, dtype=int)
    y = rng.standard_normal((150, 1)) - X[:, :1]
    y = np.where(y > 0, 1.0, -1.0) if loss == LogLoss() else np.round(np.abs(y))
    A, seen = conditions(gate), []

    def objective(v):
        scores = scores_of(leaves, gate.leaf_starts, v[:, None], None, outputs, None, base)
        slopes = np.bincount(leaves.ravel(), np.repeat(loss.slope(scores, y), 2), len(v))
        moved = v - values[:, 0]
        return loss.value(scores, y).sum() + 0.4 * moved @ moved, slopes + 0.8 * moved

    best = minimize(
        objective, nearest(gate, values[:, 0], np.ones(len(values))), jac=True, method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: A @ x, "jac": lambda x: A},
        options={"ftol": 1e-13, "maxiter": 500},
    )  # fmt: skip
    found = refit_leaves(
        leaves, gate.leaf_starts, values, outputs, base, y, None, loss=loss, lam=0.8, tol=1e-8,
        tree_orders=tree_orders(gate, CONSTRAINTS), max_passes=100,
        watch=lambda progress: seen.append((progress.objective, progress.gap)),
    )  # fmt: skip
    heights, gaps = np.array(seen).T
    assert check_monotone(gate, found.values, CONSTRAINTS)
    assert found.objective == pytest.approx(best.fun, rel=1e-7)
    assert np.all(np.diff(heights) <= 1e-12 * heights[0])
    assert np.all(heights - best.fun <= gaps + 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_proof_agrees_with_rows(seed):
    """Every row of a grid between thresholds, NaN in the free column too, with its column moved."""
    rng = np.random.default_rng(seed)
    gate, values = random_gate(rng, n_trees=1)
    ordered = nearest(gate, values[:, 0], np.ones(len(values)))
    ordered[rng.integers(len(values))] += 0.3  # some leaf leaves the order, seen or not
    marks = [np.sort(gate.thresholds[gate.columns == c]) for c in range(3)]
    cuts = [np.concatenate([m - 1e-9, m + 1e-9, [-9.0, 9.0]]) for m in marks]
    cuts = [np.sort(one) for one in cuts[:2]] + [np.append(np.sort(cuts[2]), np.nan)]
    for column, sign in ((0, 1), (1, -1)):
        grid = np.stack(np.meshgrid(*cuts, indexing="ij"), axis=-1)
        if column == 0:  # the other constrained column may be missing as well
            missing = grid[:, :1].copy()
            missing[..., 1] = np.nan
            grid = np.concatenate([grid, missing], axis=1)
        else:
            missing = grid[:1].copy()
            missing[..., 0] = np.nan
            grid = np.concatenate([grid, missing], axis=0)
        scores = ordered[gate(grid.reshape(-1, 3))[:, 0]].reshape(grid.shape[:3])
        steps = sign * np.diff(scores, axis=column)
        alone = np.where(np.arange(3) == column, sign, 0)
        assert check_monotone(gate, ordered[:, None], alone) == (steps.min() >= 0)


def test_pair_columns_and_categories_are_kept_in_order(rng):
    pairs, factors = np.array([[0, 2], [0, 1]]), np.array([[-2.0, 1.0], [1.0, 1.0]])
    gate, values = random_gate(rng, pairs=pairs, factors=factors)
    ordered = nearest(gate, values[:, 0], np.ones(len(values)))[:, None]
    assert not check_monotone(gate, values, CONSTRAINTS)
    assert check_monotone(gate, ordered, CONSTRAINTS)
    X = rng.standard_normal((2000, 3))
    told = ordered[gate(X)].sum(axis=(1, 2))
    for column, sign in ((0, 1), (1, -1)):
        moved = X.copy()
        moved[:, column] += rng.exponential(1.0, len(X))
        assert np.all(sign * (ordered[gate(moved)].sum(axis=(1, 2)) - told) >= -1e-12)


def test_grown_trees_of_scikit_learn_are_in_order(rng):
    X = rng.standard_normal((400, 3))
    y = X[:, 0] - X[:, 1] ** 3 + np.sin(3 * X[:, 2]) + 0.5 * rng.standard_normal(400)
    model = HistGradientBoostingRegressor(
        max_iter=3, max_leaf_nodes=15, monotonic_cst=CONSTRAINTS, early_stopping=False
    ).fit(X, y)
    read = read_forest(model, X)
    gate, values = read.gate, read.values
    assert check_monotone(gate, values, CONSTRAINTS)
    assert not check_monotone(gate, values, -CONSTRAINTS)
    np.testing.assert_array_equal(nearest(gate, values[:, 0], np.ones(len(values))), values[:, 0])


def test_constraints_that_are_none_are_refused(rng):
    gate, values = random_gate(rng)
    with pytest.raises(ValueError, match="one of -1, 0 and 1 for each of the 3 columns"):
        tree_orders(gate, [1, 0])
    with pytest.raises(ValueError, match="Leaves with slopes cannot obey monotone constraints"):
        refit_leaves(
            gate(np.zeros((2, 3))), gate.leaf_starts, values, [0, 0], np.zeros((2, 1)),
            np.zeros((2, 1)), None, loss=SquaredError(), lam=1.0, Z=np.ones((2, 1)),
            tree_orders=tree_orders(gate, CONSTRAINTS),
        )  # fmt: skip
