"""Each compiled pass from one row to its scores, beside the formula in NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest

import reference.codes
from nearlinear.gates.trees.linked import linked_subtree
from nearlinear.kernels.conformal import PROFILES
from nearlinear.maps import Quadratic
from nearlinear.predictors.combined import tree_predictor
from nearlinear.predictors.linked_tree import linked_tree
from nearlinear.runtime.columns.readings import Reading
from nearlinear.runtime.preparation import Preparation
from nearlinear.single_row import passes as row_passes
from nearlinear.single_row.makers import Scratch, pass_for
from nearlinear.single_row.preparation import preparing
from reference import conformal_linear, gated_linear, kronecker, tree
from reference.tree_problem import SIGMA, make_rows, make_tree

pytestmark = pytest.mark.passes
each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_size = pytest.mark.parametrize("n_outputs", [1, 3], ids=["one output", "three outputs"])
each_width = pytest.mark.parametrize("width", [4, 0], ids=["affine", "constant"])
each_depth = pytest.mark.parametrize("depth", [0, 1, 4])
each_profile = pytest.mark.parametrize("profile", PROFILES)
N_ANCHORS, N_FEATURES, K = 9, 4, 3


def local_models(dtype=np.float64, n_outputs=1, width=N_FEATURES):
    """Rows, anchors and local models whose outputs come before the features."""
    rng = np.random.default_rng(0)
    return SimpleNamespace(
        X=rng.standard_normal((20, N_FEATURES)).astype(dtype),
        anchors=rng.standard_normal((N_ANCHORS, N_FEATURES)).astype(dtype),
        metric=rng.uniform(0.2, 2.0, N_FEATURES).astype(dtype),
        weights=rng.standard_normal((N_ANCHORS, n_outputs, width)).astype(dtype),
        biases=rng.standard_normal((N_ANCHORS, n_outputs)).astype(dtype),
    )


def places_of(anchors, metric=1.0):
    """Directions u_j, offsets ½⟨u_j, u_j⟩ + ⟨v̄, u_j⟩ in the metric, the mean v̄ and the anchors."""
    mean = anchors.astype(float).mean(axis=0)
    away = anchors - mean
    directions = away * metric
    offsets = 0.5 * (away * directions).sum(axis=1) + directions @ mean
    return tuple(part.astype(anchors.dtype) for part in (directions, offsets, mean, anchors))


def score_rows(code, models, X, number, metric=1.0, n_neighbors=K):
    """Scores of rows, one after another in the same memory."""
    dtype, places = models.anchors.dtype, places_of(models.anchors, metric)
    near, halves = np.empty(n_neighbors, np.int64), np.empty(n_neighbors, dtype)
    found = []
    for x in X:
        scores = np.full(models.biases.shape[1], np.nan, dtype=dtype)
        tables = near, halves, models.weights, models.biases, scores
        code(x, places, dtype.type(number), *tables)
        found.append(scores)
    return np.array(found)


def blended(models, X, codes):
    """Σ_j γ_j (W_j x + b_j) with the reference's codes."""
    weights = models.weights.transpose(0, 2, 1)
    return kronecker.scores(X[:, : weights.shape[1]], codes, weights, models.biases)


@each_type
def test_scaling_takes_off_the_shift_and_multiplies(rng, dtype):
    x, shift, factor = rng.standard_normal((3, 5)).astype(dtype)
    out = np.empty(5, dtype=dtype)
    row_passes.scale(x, shift, factor, out)
    np.testing.assert_allclose(out, (x - shift) * factor, rtol=4 * np.finfo(dtype).eps)


_JUMPS = (np.array([-1.0, 0.25, 0.25, 0.25, 2.0]), np.array([3.0, 1.0, 7.0, 2.0, -1.0]))


@each_type
def test_a_row_is_prepared_as_the_plain_formula_says(rng, dtype):
    table = Preparation(
        3,
        source=np.array([2, 0, 4, 1, 3, 4]),
        missing=np.array([0.5, np.nan, 1.0, np.nan, np.nan, 2.5]),
        shift=np.array([1.0, 2.0, 0.5, 0.0, 0.25, 0.0]),
        scale=np.array([2.0, 0.5, 0.25, 1.0, 1.0, 1.0]),
        low=np.array([-1.0, -np.inf, -np.inf, 0.0, -np.inf, -np.inf]),
        high=np.array([0.25, np.inf, np.inf, 0.0, np.inf, np.inf]),
        readings=(Reading(1, (9.0, 7.0), "refused"), Reading(2, (3.0, -1.0))),
        equals=np.array([np.nan, np.nan, 0.0, np.nan, 1.0, np.nan]),
        curves=(None, _JUMPS, None, None, None, (None, np.array([0.5, 4.0, 8.0]))),
    )
    prepare, out = preparing(table, np.dtype(dtype)), np.empty(6, dtype=dtype)
    rows = [[1.5, 7.0, 3.0], [-4.0, 9.0, np.nan], [0.0, 7.0, -5.0], [0.25, 9.0, -1.0]]
    for x in [*rows, [2.0, 7.0, 3.0], [9.0, 7.0, 3.0]]:
        x = np.array(x, dtype=dtype)
        assert prepare(x, out)
        np.testing.assert_allclose(out, table(x[None])[0], rtol=4 * np.finfo(dtype).eps)
    for x in ([np.nan, 7.0, 3.0], [1.5, 8.0, 3.0], [1.5, np.nan, 3.0], [1.5, 7.0, np.inf], [1.5]):
        assert not prepare(np.array(x, dtype=dtype), out)


@each_type
def test_a_projection_multiplies_the_row_and_a_constant(rng, dtype):
    x, projection = rng.standard_normal(5).astype(dtype), rng.standard_normal((3, 6)).astype(dtype)
    out = np.empty(3, dtype=dtype)
    row_passes.project(x, projection, out)
    expected = projection.astype(float) @ np.append(x, 1.0)
    np.testing.assert_allclose(out, expected, atol=20 * np.finfo(dtype).eps)


@each_type
@pytest.mark.parametrize("n_neighbors", [1, 3, N_ANCHORS])
def test_the_nearest_anchors_come_in_order_of_their_distance(dtype, n_neighbors):
    models = local_models(dtype)
    directions, offsets, _, _ = places_of(models.anchors, models.metric)
    near, halves = np.empty(n_neighbors, np.int64), np.empty(n_neighbors, dtype)
    for x in models.X:
        row_passes._nearest(x, directions, offsets, near, halves)
        distances = ((x - models.anchors).astype(float) ** 2 * models.metric).sum(axis=1)
        expected = np.argsort(distances)[:n_neighbors]
        np.testing.assert_array_equal(near, expected)
        further = (distances[expected] - distances[expected[0]]) / 2.0
        np.testing.assert_allclose(halves - halves[0], further, atol=100 * np.finfo(dtype).eps)


def test_of_equal_anchors_the_first_comes_first():
    offsets = np.array([4.0, 1.0, 4.0, 1.0, 1.0])
    near, halves = np.empty(4, np.int64), np.empty(4)
    row_passes._nearest(np.ones(1), np.zeros((5, 1)), offsets, near, halves)
    assert near.tolist() == [1, 3, 4, 0]
    assert halves.tolist() == [1.0, 1.0, 1.0, 4.0]


@each_size
@each_width
def test_codes_are_divided_by_their_sum_before_models_are_blended(n_outputs, width):
    models = local_models(n_outputs=n_outputs, width=width)
    near, codes = np.array([5, 0, 7]), np.array([3.0, -1.0, 0.5])
    x, scores = models.X[0], np.full(n_outputs, np.nan)
    row_passes._blend(x, near, codes, models.weights, models.biases, scores)
    local = models.weights[near] @ x[:width] + models.biases[near]
    np.testing.assert_allclose(scores, codes @ local / 2.5, atol=1e-13)


@each_type
@each_size
@each_width
def test_a_soft_row_follows_the_formula(dtype, n_outputs, width):
    models = local_models(dtype, n_outputs, width)
    scores = score_rows(row_passes.soft_row, models, models.X, 0.8, models.metric)
    roots = np.sqrt(models.metric.astype(float))
    codes = reference.codes.soft(models.X * roots, models.anchors * roots, K, 0.8)
    expected = blended(models, models.X, codes)
    np.testing.assert_allclose(scores, expected, atol=100 * np.finfo(dtype).eps)


def test_a_sharp_soft_row_belongs_to_its_nearest_anchor_alone():
    models = local_models()
    scores = score_rows(row_passes.soft_row, models, models.X, 1e6)
    alone = np.array([reference.codes.nearest(x, models.anchors, 1)[0] for x in models.X])
    expected = np.einsum("ncd,nd->nc", models.weights[alone], models.X) + models.biases[alone]
    np.testing.assert_allclose(scores, expected, atol=1e-12)


@each_type
@each_size
@each_width
def test_an_inverse_row_follows_the_formula(dtype, n_outputs, width):
    models = local_models(dtype, n_outputs, width)
    scores = score_rows(row_passes.inverse_row, models, models.X, 1e-12)
    codes = reference.codes.inverse(models.X, models.anchors, K)
    expected = blended(models, models.X, codes)
    np.testing.assert_allclose(scores, expected, atol=100 * np.finfo(dtype).eps)


@pytest.mark.parametrize("floor", [1e-8, 1e-4])
def test_the_floor_of_distances_is_what_an_anchor_itself_has(floor):
    models = local_models()
    scores = score_rows(row_passes.inverse_row, models, models.anchors, floor)
    squares = ((models.anchors[:, None] - models.anchors) ** 2).sum(axis=2)
    values = 1.0 / np.sqrt(np.maximum(squares, floor))
    values[np.argsort(np.argsort(squares, axis=1), axis=1) >= K] = 0.0
    codes = values / values.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(scores, blended(models, models.anchors, codes), atol=1e-12)


@each_type
@each_size
@each_width
def test_a_rebuilt_row_follows_the_formula(dtype, n_outputs, width):
    models = local_models(dtype, n_outputs, width)
    scores = score_rows(row_passes.rebuilt_row, models, models.X, 1e-4)
    codes = reference.codes.reconstruction(models.X, models.anchors, K, 1e-4)
    expected = blended(models, models.X, codes)
    # codes reach a size of ten and the products are rounded as the rows are
    np.testing.assert_allclose(scores, expected, atol=1000 * np.finfo(dtype).eps)


def test_a_rebuilt_row_of_one_neighbor_has_its_model():
    models = local_models()
    rows = np.vstack([models.X, models.anchors])
    scores = score_rows(row_passes.rebuilt_row, models, rows, 1e-4, n_neighbors=1)
    alone = np.array([reference.codes.nearest(x, models.anchors, 1)[0] for x in rows])
    expected = np.einsum("ncd,nd->nc", models.weights[alone], rows) + models.biases[alone]
    np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_a_row_on_equal_anchors_is_their_mean():
    models = local_models()
    models.anchors[:] = models.anchors[0]
    scores = score_rows(row_passes.rebuilt_row, models, models.anchors[:1], 1e-4)
    codes = np.zeros((1, N_ANCHORS))
    codes[0, :K] = 1.0 / K
    np.testing.assert_allclose(scores, blended(models, models.anchors[:1], codes), atol=1e-12)


def tree_scores(X, kind, depth, n_outputs, intercept):
    model = make_tree(kind, depth, n_outputs, dtype=X.dtype)
    Z = np.column_stack([X, np.ones(len(X))])
    arrays = model.splits, model.slopes, model.weights
    return tree.scores(Z, *arrays, kind, SIGMA) + intercept


@pytest.mark.parametrize("kind", ["tanh", "compositional"])
@each_type
@each_size
@each_depth
def test_a_path_row_follows_the_formula(kind, dtype, n_outputs, depth):
    model = make_tree(kind, depth, n_outputs, dtype=dtype)
    X = np.ascontiguousarray(make_rows(n_rows=20, dtype=dtype)[0][:, :-1])
    intercept = np.array([0.4, -1.5, 2.5], dtype=dtype)[:n_outputs]
    composes = kind == "compositional"
    own, sigma = (model.splits, 1.0) if composes else (model.slopes, SIGMA)
    scores = np.full((len(X), n_outputs), np.nan, dtype=dtype)
    for x, row in zip(X, scores):
        tables = model.splits, own, model.weights, intercept, dtype(sigma), composes
        row_passes.path_row(x, *tables, row)
    expected = tree_scores(X, kind, depth, n_outputs, intercept)
    # sums of a few dozen products of size ten
    np.testing.assert_allclose(scores, expected, atol=200 * np.finfo(dtype).eps)


@each_type
@each_size
@each_depth
def test_a_leaf_row_follows_the_formula(dtype, n_outputs, depth):
    model = make_tree("indicator", depth, n_outputs, dtype=dtype)
    intercept = np.array([0.4, -1.5, 2.5], dtype=dtype)[:n_outputs]
    leaves = tree_predictor(
        model.splits, model.slopes, model.weights, intercept, model.node_gate
    ).weights
    X = np.ascontiguousarray(make_rows(n_rows=20, dtype=dtype)[0][:, :-1])
    scores = np.full((len(X), n_outputs), np.nan, dtype=dtype)
    for x, row in zip(X, scores):
        row_passes.leaf_row(x, model.splits, leaves, intercept, row)
    expected = tree_scores(X, "indicator", depth, n_outputs, intercept)
    np.testing.assert_allclose(scores, expected, atol=200 * np.finfo(dtype).eps)


@pytest.mark.parametrize("kind", ["tanh", "compositional", "indicator"])
@each_type
@each_size
def test_a_row_down_an_unbalanced_tree_follows_the_formula(kind, dtype, n_outputs):
    """Nodes that are gone are nodes of zero weights; splits do not see the first column."""
    model = make_tree(kind, 2, n_outputs, dtype=dtype)
    kept = np.array([True, True, True, False, True, False, False])
    nodes, children = linked_subtree(2, kept)
    intercept = np.array([0.4, -1.5, 2.5], dtype=dtype)[:n_outputs]
    splits, slopes = model.splits[:, 1:], model.slopes[:, 1:]
    arrays = splits, slopes, model.weights, intercept, model.node_gate
    predictor = linked_tree(*arrays, children, nodes)
    X = np.ascontiguousarray(make_rows(n_rows=20, dtype=dtype)[0][:, :-1])
    score = pass_for(predictor, X.shape[1])
    found = np.array([score(x, Scratch()).copy() for x in X])
    wide = [np.pad(array, [(0, 0), (1, 0)]) for array in (splits, slopes)]
    weights = np.where(kept[:, None, None], model.weights, 0.0)
    Z = np.column_stack([X, np.ones(len(X))])
    expected = tree.scores(Z, *wide, weights, kind, SIGMA) + intercept
    np.testing.assert_allclose(found, expected, atol=200 * np.finfo(dtype).eps)
    assert score(X[0, :-1], Scratch()) is None


def test_products_of_features_are_those_of_the_map(rng):
    seen = Quadratic(rng.standard_normal(4), 1.7)
    X = rng.standard_normal((5, 4))
    out = np.empty(14)
    for x, expected in zip(X, seen(X), strict=True):
        assert row_passes.raise_to_pairs(x, seen.center, seen.scale, out)
        np.testing.assert_allclose(out, expected, atol=1e-14)
    Z = (X - seen.center) / 1.7
    pairs = [Z[:, i] * Z[:, j] for i in range(4) for j in range(i, 4)]
    np.testing.assert_allclose(seen(X), np.column_stack([*pairs, Z]), atol=1e-14)


def test_a_row_on_a_border_turns_as_the_formula_says():
    splits, weights = np.array([[1.0, 0.0]]), np.array([[[0.0, 10.0]], [[0.0, 20.0]]])
    scores = np.empty(1)
    for x, expected in [(1.0, 10.0), (0.0, 20.0), (-1.0, 20.0)]:
        row_passes.leaf_row(np.array([x]), splits, weights, np.zeros(1), scores)
        assert scores.tolist() == [expected]


def fading_models(profile, per_feature, dtype=np.float64, n_features=5):
    """Five kernels of one term, of several and of none, and terms in the order of the kernels."""
    rng = np.random.default_rng(0)
    kernels, outputs = np.array([0, 1, 1, 1, 3, 4, 4]), np.array([2, 0, 1, 2, 0, 1, 2])
    typical = 2.0 * (1 if per_feature else n_features)
    return SimpleNamespace(
        anchors=rng.standard_normal((5, n_features)).astype(dtype),
        gammas=PROFILES[profile].gamma(rng.uniform(0.5, 4.0, 5), typical).astype(dtype),
        weights=rng.standard_normal((7, n_features)).astype(dtype),
        kernels=kernels,
        outputs=outputs,
        biases=rng.standard_normal(3).astype(dtype),
        profile=profile,
        per_feature=per_feature,
    )


def fading_scores(model, X):
    run = row_passes.feature_row if model.per_feature else row_passes.conformal_row
    starts = np.searchsorted(model.kernels, np.arange(6))
    shape = model.profile in ("exponential", "linear"), model.profile in ("linear", "square")
    found = np.full((len(X), 3), np.nan, dtype=X.dtype)
    for x, scores in zip(X, found):
        tables = model.anchors, model.gammas, model.weights, starts, model.outputs, model.biases
        run(x, *tables, *shape, scores)
    return found


@each_profile
@each_type
@pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])
@pytest.mark.parametrize("n_features", [1, 5])
def test_a_fading_row_follows_the_formula(profile, dtype, per_feature, n_features):
    model = fading_models(profile, per_feature, dtype, n_features)
    X = np.random.default_rng(1).standard_normal((20, n_features)).astype(dtype)
    sizes = np.abs(conformal_linear.products(X, model))
    allowed = conformal_linear.add_up(sizes, model, np.abs(model.biases))
    errors = np.abs(fading_scores(model, X) - conformal_linear.scores(X, model))
    assert (errors <= 20 * np.finfo(dtype).eps * allowed).all()


@each_profile
@pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])
@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 1e30), (np.float64, 1e200)])
def test_a_row_whose_squares_overflow_has_the_biases(profile, per_feature, dtype, far):
    model = fading_models(profile, per_feature, dtype)
    with np.errstate(over="ignore"):
        scores = fading_scores(model, np.full((1, 5), far, dtype=dtype))
    np.testing.assert_array_equal(scores, model.biases[None])


def gated_models(dtype=np.float64, n_components=4):
    rng = np.random.default_rng(3)
    return {
        "directions": 3.0 * rng.standard_normal((n_components, N_FEATURES)).astype(dtype),
        "offsets": rng.standard_normal(n_components).astype(dtype),
        "weights": rng.standard_normal((N_FEATURES, n_components)).astype(dtype),
        "biases": rng.standard_normal(n_components).astype(dtype),
        "bias": 0.7,
    }


def gated_scores(X, margin, directions, offsets, weights, biases, bias):
    found = []
    for x in X:
        gates, scores = np.empty(len(offsets), X.dtype), np.full(1, np.nan, X.dtype)
        tables = directions, offsets, np.ascontiguousarray(weights.T), biases
        row_passes.gated_row(
            x, *tables, X.dtype.type(bias), X.dtype.type(margin), gates, scores
        )  # fmt: skip
        found.append(scores[0])
    return np.array(found)


@each_type
@pytest.mark.parametrize("margin", [0.0, 1e-3, 0.3])
def test_a_gated_row_follows_the_formula(rng, dtype, margin):
    models, X = gated_models(dtype), rng.standard_normal((30, N_FEATURES)).astype(dtype)
    scores = gated_scores(X, margin, **models)
    expected = gated_linear.scores(X, margin=margin, **models)
    # an exponent of size ten is rounded before it is raised
    np.testing.assert_allclose(scores, expected, atol=200 * np.finfo(dtype).eps)


def test_gates_of_large_scores_do_not_overflow(rng):
    models, X = gated_models(), 1e5 * rng.standard_normal((30, N_FEATURES))
    expected = gated_linear.scores(X, margin=1e-3, **models)
    np.testing.assert_allclose(gated_scores(X, 1e-3, **models), expected, rtol=1e-12)
