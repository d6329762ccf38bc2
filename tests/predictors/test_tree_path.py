"""The compiled tree, its plain form and its arrays."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.trees.node_gates import NODE_GATES
from nearlinear.maps import Affine
from nearlinear.predictors.combined import Mapped, tree_predictor
from reference import tree
from reference.tree_problem import SIGMA, make_rows, make_tree

pytestmark = pytest.mark.passes
each_kind = pytest.mark.parametrize("kind", NODE_GATES)
each_depth = pytest.mark.parametrize("depth", [0, 1, 4])
each_size = pytest.mark.parametrize("n_outputs", [1, 3], ids=["binary", "three classes"])
each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])
INTERCEPT = np.array([0.4, -1.5, 2.5])


def make(kind, depth=2, n_outputs=1, dtype=np.float64, n_features=3):
    model = make_tree(kind, depth, n_outputs, n_features=n_features, dtype=dtype)
    intercept = INTERCEPT[:n_outputs].astype(dtype)
    return tree_predictor(model.splits, model.slopes, model.weights, intercept, model.node_gate)


def rows(n_rows, dtype=np.float64, n_features=3):
    """Without the constant, which is the predictor's own business."""
    return np.ascontiguousarray(
        make_rows(n_rows=n_rows, n_features=n_features, dtype=dtype)[0][:, :-1]
    )


def expected_scores(X, kind, depth, n_outputs, dtype=np.float64):
    model = make_tree(kind, depth, n_outputs, dtype=dtype)
    Z = np.column_stack([X, np.ones(len(X))])
    arrays = model.splits, model.slopes, model.weights
    return tree.scores(Z, *arrays, kind, SIGMA) + INTERCEPT[:n_outputs]


@each_kind
@each_depth
@each_size
@each_type
def test_scores_follow_the_formula(kind, depth, n_outputs, dtype):
    X = rows(20, dtype)
    scores = make(kind, depth, n_outputs, dtype)(X)
    # sums of a few dozen products of size ten
    np.testing.assert_allclose(
        scores, expected_scores(X, kind, depth, n_outputs, dtype), atol=200 * np.finfo(dtype).eps
    )
    assert scores.dtype == dtype


@each_kind
@each_depth
@each_size
@each_type
def test_compiled_scores_are_the_plain_ones(kind, depth, n_outputs, dtype):
    predictor, X = make(kind, depth, n_outputs, dtype), rows(50, dtype)
    # sums of a few dozen products of size ten, in another order
    np.testing.assert_allclose(predictor(X), predictor.plain(X), atol=200 * np.finfo(dtype).eps)


@each_kind
@each_depth
@each_size
@each_type
def test_sparse_rows_score_as_dense_ones(kind, depth, n_outputs, dtype):
    predictor, X = make(kind, depth, n_outputs, dtype), rows(50, dtype)
    scores = predictor(csr_matrix(X))
    np.testing.assert_allclose(scores, predictor(X), atol=200 * np.finfo(dtype).eps)
    assert scores.dtype == dtype


@each_kind
@each_size
@pytest.mark.parametrize("n_features", [95, 96, 130])
def test_narrow_and_wide_rows_have_the_plain_scores(kind, n_outputs, n_features):
    predictor = make(kind, 3, n_outputs, n_features=n_features)
    X = rows(40, n_features=n_features)
    # sums of hundreds of products of size a hundred, in another order
    np.testing.assert_allclose(predictor(X), predictor.plain(X), atol=1e-10)


@each_kind
@pytest.mark.parametrize("n_rows", range(1, 10))
def test_any_number_of_rows_is_scored(kind, n_rows):
    predictor, X = make(kind), rows(9)
    np.testing.assert_allclose(predictor(X[:n_rows]), predictor(X)[:n_rows], atol=1e-13)


@each_kind
@each_size
def test_rows_of_many_blocks_score_as_they_do_alone(kind, n_outputs):
    predictor, X = make(kind, 3, n_outputs), rows(2100)  # a block has at most 2048
    picked = [0, 2047, 2048, 2099]
    alone = np.vstack([predictor(X[[i]]) for i in picked])
    np.testing.assert_allclose(predictor(X)[picked], alone, atol=1e-13)


@each_kind
def test_the_number_of_threads_does_not_change_a_bit(kind):
    predictor, X = make(kind, 3, 3), rows(4200)  # three blocks
    np.testing.assert_array_equal(predictor(X, n_jobs=4), predictor(X))


@each_size
def test_the_indicator_keeps_the_sum_of_each_path(n_outputs):
    model, predictor = make_tree("indicator", 2, n_outputs), make("indicator", 2, n_outputs)
    nodes_to_leaf = [[0, 1, 3], [0, 1, 4], [0, 2, 5], [0, 2, 6]]
    expected = [model.weights[nodes].sum(axis=0) for nodes in nodes_to_leaf]
    np.testing.assert_allclose(predictor.weights, expected, atol=1e-14)


def test_the_indicator_does_not_change_the_weights_it_is_given():
    model = make_tree("indicator")
    before = model.weights.copy()
    tree_predictor(model.splits, model.slopes, model.weights, np.zeros(1), model.node_gate)
    np.testing.assert_array_equal(model.weights, before)


@each_kind
@each_depth
@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_paths_are_those_of_the_splits(kind, depth, form):
    predictor, X = make(kind, depth), rows(20)
    expected = [tree.path(np.append(x, 1.0), predictor.splits, depth) for x in X]
    assert predictor.paths(form(X)).tolist() == expected


@each_kind
@each_depth
def test_the_depth_is_known_from_the_arrays(kind, depth):
    assert make(kind, depth).depth == depth


def across_the_first_border(predictor):
    """Two rows 1e-9 apart between which the path changes, by bisection of a segment."""
    ends = np.array([[-2.0, -1.0, 0.5], [2.0, 1.5, -0.5]])
    paths = [tuple(tree.path(np.append(x, 1.0), predictor.splits, predictor.depth)) for x in ends]
    assert paths[0] != paths[1]
    low, high = 0.0, 1.0
    while high - low > 1e-10:
        middle = 0.5 * (low + high)
        x = ends[0] + middle * (ends[1] - ends[0])
        stays = tuple(tree.path(np.append(x, 1.0), predictor.splits, predictor.depth)) == paths[0]
        low, high = (middle, high) if stays else (low, middle)
    return ends[0] + np.array([[low], [high]]) * (ends[1] - ends[0])


def test_the_compositional_feature_is_continuous_across_a_border():
    predictor = make("compositional", 3)
    first, second = predictor(across_the_first_border(predictor))[:, 0]
    assert first == pytest.approx(second, abs=1e-7)  # rows 1e-9 apart, slopes of size ten


@pytest.mark.parametrize("kind", ["tanh", "indicator"])
def test_the_other_features_jump_at_a_border(kind):
    predictor = make(kind, 3)
    first, second = predictor(across_the_first_border(predictor))[:, 0]
    assert abs(first - second) > 0.01


def make_projected(kind, dtype=np.float64):
    """A tree on three of five columns after a projection with an offset."""
    rng = np.random.default_rng(4)
    matrix = rng.standard_normal((3, 6)).astype(dtype)
    return Mapped(Affine(matrix), make(kind, 2, 3, dtype))


@each_kind
@each_type
@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_a_projection_comes_before_the_tree(kind, dtype, form):
    predictor, X = make_projected(kind, dtype), rows(30, dtype, n_features=5)
    matrix = predictor.map.matrix
    projected = X @ matrix[:, :-1].T + matrix[:, -1]
    scores = predictor(form(X))
    np.testing.assert_allclose(
        scores, make(kind, 2, 3, dtype)(projected), atol=500 * np.finfo(dtype).eps
    )  # two products in a row, of size ten
    assert scores.dtype == dtype


@each_kind
def test_a_projected_tree_has_plain_scores(kind):
    predictor, X = make_projected(kind), rows(30, n_features=5)
    np.testing.assert_allclose(predictor(X), predictor.plain(X), atol=1e-12)


def test_the_cost_of_a_projection_is_counted():
    predictor = make_projected("indicator")
    assert predictor.n_features == 5
    # three projected columns, two splits, three outputs
    assert predictor.cost.multiply_adds == 3 * 5 + 3 * (2 + 3)
    assert predictor.cost.times_linear == pytest.approx((3 * 5 + 3 * (2 + 3)) / (5 * 3))


def test_the_intercept_is_added_to_every_score():
    predictor, X = make("tanh", 2, 3), rows(20)
    shifted = replace(predictor, intercept=predictor.intercept + np.arange(1.0, 4.0))
    np.testing.assert_allclose(shifted(X) - predictor(X), [[1.0, 2.0, 3.0]] * 20, atol=1e-13)


# Dot products on the way down: at each of 4 nodes one with the feature's direction and one for each
# output, and 3 splits, which the compositional feature has in common with them.
@pytest.mark.parametrize(
    ("kind", "n_outputs", "dots"),
    [
        ("tanh", 1, 3 + 4 * 2),
        ("tanh", 3, 3 + 4 * 4),
        ("compositional", 1, 4 * 2),
        ("compositional", 3, 4 * 4),
        ("indicator", 1, 3 + 1),
        ("indicator", 3, 3 + 3),
    ],
)
def test_cost_counts_the_dot_products_of_one_path(kind, n_outputs, dots):
    cost = make(kind, 3, n_outputs, n_features=5).cost
    assert cost.multiply_adds == 5 * dots
    assert cost.times_linear == pytest.approx(dots / n_outputs)


def test_a_single_leaf_of_the_indicator_costs_what_a_linear_model_does():
    assert make("indicator", 0, 3).cost.times_linear == 1.0


@each_type
def test_bytes_are_those_of_the_arrays(dtype):
    numbers = 7 * 4 + 15 * 4 + 15 * 3 * 4 + 3  # splits, slopes, weights, intercept
    beside = make("tanh", 3, 3, dtype).cost.n_bytes - numbers * np.dtype(dtype).itemsize
    assert 0 <= beside < 100  # the feature's name and σ
