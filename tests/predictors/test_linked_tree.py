"""An unbalanced tree is a balanced one in which the nodes that went answer with zeros."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.explain.explain import explain
from nearlinear.gates.trees.linked import END, linked_subtree, links_of_balanced
from nearlinear.predictors.linked_tree import linked_tree
from reference import tree
from reference.tree_problem import SIGMA, make_rows, make_tree

pytestmark = pytest.mark.passes
each_kind = pytest.mark.parametrize("kind", ["tanh", "compositional", "indicator"])
each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])
INTERCEPT = np.array([0.4, -1.5, 2.5])
DEPTH, HIDDEN = 3, 1
# Nodes of a tree of depth 3: the right half ends early, one side of node 3 ends there.
KEPT = np.array([1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1], dtype=bool)


def make(kind, kept=KEPT, n_outputs=3, dtype=np.float64, n_hidden=0):
    """The unbalanced tree, and the arrays of the balanced one that it equals."""
    model = make_tree(kind, DEPTH, n_outputs, n_features=4, dtype=dtype)
    splits, slopes = model.splits[:, n_hidden:], model.slopes[:, n_hidden:]
    intercept = INTERCEPT[:n_outputs].astype(dtype)
    nodes, children = linked_subtree(DEPTH, kept)
    weights = np.where(kept[:, None, None], model.weights, 0.0)
    found = linked_tree(splits, slopes, model.weights, intercept, model.node_gate, children, nodes)
    wide = [np.pad(array, [(0, 0), (n_hidden, 0)]) for array in (splits, slopes)]
    return found, (*wide, weights, kind, SIGMA)


def rows(n_rows=300, dtype=np.float64):
    return np.ascontiguousarray(make_rows(n_rows=n_rows, n_features=4, dtype=dtype)[0][:, :-1])


def expected_scores(X, arrays, n_outputs=3):
    Z = np.column_stack([X, np.ones(len(X))])
    return tree.scores(Z, *arrays) + INTERCEPT[:n_outputs]


@each_kind
@each_type
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_hidden", [0, HIDDEN])
def test_scores_are_those_of_the_balanced_tree(kind, dtype, n_outputs, n_hidden):
    predictor, arrays = make(kind, KEPT, n_outputs, dtype, n_hidden)
    X = rows(dtype=dtype)
    scores = predictor(X)
    # sums of a few dozen products of size ten
    tolerance = 300 * np.finfo(dtype).eps
    np.testing.assert_allclose(scores, expected_scores(X, arrays, n_outputs), atol=tolerance)
    np.testing.assert_allclose(predictor.plain(X), scores, atol=tolerance)
    assert scores.dtype == dtype
    np.testing.assert_array_equal(predictor(X, n_jobs=2), scores)
    if n_hidden == 0:
        np.testing.assert_allclose(predictor(csr_matrix(X)), scores, atol=tolerance)


@each_kind
def test_the_root_alone_and_the_whole_tree_are_trees(kind):
    X = rows(40)
    for kept in (np.arange(15) == 0, np.ones(15, dtype=bool)):
        predictor, arrays = make(kind, kept)
        np.testing.assert_allclose(predictor(X), expected_scores(X, arrays), atol=1e-12)
        assert len(predictor.weights) == kept.sum()
    np.testing.assert_array_equal(predictor.children, links_of_balanced(DEPTH))


@each_kind
def test_paths_end_where_nodes_went(kind):
    predictor, arrays = make(kind)
    nodes, _ = linked_subtree(DEPTH, KEPT)
    X = rows(60)
    for x, found in zip(X, predictor.paths(X), strict=True):
        whole = tree.path(np.append(x, 1.0), arrays[0], DEPTH)
        stays = [node for node in whole if KEPT[node]]
        assert nodes[found[found != END]].tolist() == stays


@each_kind
def test_an_explanation_adds_up(kind):
    predictor, _ = make(kind)
    X = rows(60)
    for form in (X, csr_matrix(X)):
        found = explain(predictor, form)
        np.testing.assert_allclose(found.scores, predictor(X), atol=1e-12)
        assert np.all((found.gates == 0.0) | (found.active >= 0))


def test_the_cost_is_that_of_the_longest_path():
    tanh, indicator = make("tanh")[0], make("indicator")[0]
    assert tanh.cost.multiply_adds == (3 + 4 + 4 * 3) * 4
    assert indicator.cost.multiply_adds == (3 + 3) * 4
