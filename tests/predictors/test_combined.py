"""Several trees: their mean and their cost."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from small_predictors import mean_of

from nearlinear.maps import Affine
from nearlinear.predictors.combined import Mapped, tree_predictor
from reference.tree_problem import make_rows, make_tree


def make(n_trees=3, dtype=np.float64):
    models = [make_tree("tanh", 2, 2, seed=seed, dtype=dtype) for seed in range(n_trees)]
    return mean_of(
        *(
            tree_predictor(m.splits, m.slopes, m.weights, np.zeros(2, dtype), m.node_gate)
            for m in models
        )
    )


@pytest.fixture
def X():
    return np.ascontiguousarray(make_rows(n_rows=30)[0][:, :-1])


@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_scores_are_the_mean_of_those_of_the_trees(X, form):
    forest = make()
    expected = np.mean([tree(X) for tree in forest.members], axis=0)
    np.testing.assert_allclose(forest(form(X)), expected, atol=1e-12)


def test_plain_scores_are_the_compiled_ones(X):
    np.testing.assert_allclose(make().plain(X), make()(X), atol=1e-12)


def test_scores_do_not_change_those_of_a_tree(X):
    forest = make(1)
    np.testing.assert_array_equal(forest(X), forest(X))
    np.testing.assert_array_equal(forest(X), forest.members[0](X))


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


@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_a_tree_on_mapped_rows_is_the_tree_at_those_rows(X, form):
    rng = np.random.default_rng(0)
    seen = Affine(rng.standard_normal((X.shape[1], 8)))
    rows, tree = rng.standard_normal((5000, 7)), make(1).members[0]
    mapped = Mapped(seen, tree)
    np.testing.assert_allclose(mapped(form(rows)), tree(seen(rows)), atol=1e-12)
    np.testing.assert_array_equal(mapped(form(rows), n_jobs=2), mapped(form(rows)))
    assert (mapped.n_features, mapped.n_outputs, mapped.dtype) == (7, 2, np.float64)
    assert mapped.cost.multiply_adds == tree.cost.multiply_adds + 7 * X.shape[1]
    with pytest.raises(ValueError, match="X has 3 features"):
        mapped(form(rows[:, :3]))
