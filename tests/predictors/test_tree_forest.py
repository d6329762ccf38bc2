"""Several trees: their mean, their cost, their arrays."""

import io

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.predictors.tree_forest import TreeForest
from nearlinear.predictors.tree_path import TreePath
from reference.tree_problem import make_rows, make_tree


def make(n_trees=3, dtype=np.float64):
    models = [make_tree("tanh", 2, 2, seed=seed, dtype=dtype) for seed in range(n_trees)]
    return TreeForest(
        tuple(
            TreePath.of(m.splits, m.slopes, m.weights, np.zeros(2, dtype), m.node_gate)
            for m in models
        )
    )


@pytest.fixture
def X():
    return np.ascontiguousarray(make_rows(n_rows=30)[0][:, :-1])


@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_scores_are_the_mean_of_those_of_the_trees(X, form):
    forest = make()
    expected = np.mean([tree(X) for tree in forest.trees], axis=0)
    np.testing.assert_allclose(forest(form(X)), expected, atol=1e-12)


def test_plain_scores_are_the_compiled_ones(X):
    np.testing.assert_allclose(make().plain(X), make()(X), atol=1e-12)


def test_scores_do_not_change_those_of_a_tree(X):
    forest = make(1)
    np.testing.assert_array_equal(forest(X), forest(X))
    np.testing.assert_array_equal(forest(X), forest.trees[0](X))


def test_the_number_of_threads_does_not_change_a_bit():
    X = np.ascontiguousarray(make_rows(n_rows=4200)[0][:, :-1])
    np.testing.assert_array_equal(make()(X, n_jobs=2), make()(X))


def test_float32_scores_are_float32(X):
    assert make(dtype=np.float32)(X.astype(np.float32)).dtype == np.float32


def test_the_cost_is_that_of_all_trees():
    one, three = make(1).cost, make(3).cost
    assert three.multiply_adds == 3 * one.multiply_adds
    assert three.times_linear == pytest.approx(3 * one.times_linear)
    assert three.n_bytes == 3 * one.n_bytes


@pytest.mark.parametrize("n_trees", [1, 12])
def test_arrays_on_disk_hold_all_trees(X, n_trees):
    forest = make(n_trees)
    file = io.BytesIO()
    np.savez(file, **forest.to_arrays())
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        again = TreeForest.from_arrays(arrays)
    for one, other in zip(again.trees, forest.trees, strict=True):
        np.testing.assert_array_equal(one(X), other(X))


def test_the_order_of_the_arrays_does_not_matter(X):
    forest = make(12)
    again = TreeForest.from_arrays(dict(reversed(forest.to_arrays().items())))
    np.testing.assert_array_equal(again.trees[10](X), forest.trees[10](X))
